/*
 * Which process is which, and which has ended: see os.h.
 *
 * Tests are also built without pidfs (OS_WITHOUT_PIDFS: Linux 5.3 to 6.8) and without pidfds at all
 * (OS_WITHOUT_PIDFD: Linux 4.18 to 5.2).
 */
#include "os/os.h"
#include "os/os_proc.h"

#include "os/compat.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PIDFS_MAGIC 0x50494446 /* since Linux 6.9 a pidfd's inode is never used twice */

enum {
    BOOT_BITS = 20,
    BOOT_MASK = (1 << BOOT_BITS) - 1,
    START_BOOT_BITS = 12,
    START_BOOT_MASK = (1 << START_BOOT_BITS) - 1,
    SHIFT_BITS = 20
};

/* Which boot this is; 0 is asked for again the next time. */
static uint32_t boot_hash(void)
{
    static _Atomic uint32_t boot;
    if (boot == 0) {
        boot = os_proc_boot();
    }
    return boot;
}

static int pidfd_of(pid_t pid)
{
#ifdef OS_WITHOUT_PIDFD
    (void)pid;
    return -ENOSYS;
#else
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return fd < 0 ? -errno : fd;
#endif
}

static bool is_pidfs(int pidfd)
{
#ifdef OS_WITHOUT_PIDFS
    (void)pidfd;
    return false;
#else
    struct statfs kind;
    return fstatfs(pidfd, &kind) == 0 && kind.f_type == PIDFS_MAGIC;
#endif
}

/* OS_BY_INODE; 0: this kernel has none. */
static uint64_t by_inode(int pidfd)
{
    static _Atomic uint64_t pidfs; /* its device, once it is known */
    struct stat status;
    if (fstat(pidfd, &status) != 0) {
        return 0;
    }
    if (pidfs == 0 || status.st_dev != pidfs) {
        if (!is_pidfs(pidfd)) {
            return 0;
        }
        pidfs = status.st_dev;
    }
    return (uint64_t)status.st_ino << BOOT_BITS | boot_hash();
}

/* OS_BY_START, of a process that /proc has described. An error of os_proc_shift. */
static int by_start(const struct os_stat *stat, uint64_t *value)
{
    uint32_t shift;
    uint32_t boot = boot_hash();
    int error = os_proc_shift(&shift);
    boot = boot == 0 ? 0 : 1 + boot % START_BOOT_MASK;
    *value = (uint64_t)(uint32_t)stat->start << (SHIFT_BITS + START_BOOT_BITS) |
             (uint64_t)shift << START_BOOT_BITS | boot;
    return error;
}

static int identify_by_start(pid_t pid, bool is_process, struct os_identity *identity)
{
    struct os_stat stat;
    int error = os_proc_stat(pid, &stat);
    if (error == 0 && !is_process) {
        error = os_proc_is_process(pid, &is_process);
    }
    if (error == 0 && !is_process) {
        return -ESRCH; /* a thread, and not the first of its process */
    }
    error = error != 0 ? error : by_start(&stat, &identity->value);
    identity->witness = error == 0 ? OS_BY_START : OS_UNKNOWN;
    identity->value = error == 0 ? identity->value : 0;
    return error == -ENODATA ? 0 : error;
}

static int identify(pid_t pid, struct os_identity *identity)
{
    *identity = (struct os_identity){OS_UNKNOWN, 0};
    int fd = pidfd_of(pid);
    if (fd == -EINVAL || fd == -ENOENT) {
        return -ESRCH; /* a thread, and not the first of its process */
    }
    if (fd < 0 && fd != -ENOSYS && fd != -EPERM) {
        return fd;
    }
    if (fd >= 0) {
        identity->value = by_inode(fd);
        identity->witness = identity->value != 0 ? OS_BY_INODE : OS_UNKNOWN;
        (void)close(fd);
    }
    return identity->witness != OS_UNKNOWN ? 0 : identify_by_start(pid, fd >= 0, identity);
}

int os_identify(pid_t pid, struct os_identity *identity)
{
    int cancel = os_cancel_off();
    int error = identify(pid, identity);
    os_cancel_restore(cancel);
    return error;
}

void os_self(struct os_self *self)
{
    struct stat status;
    self->pid = (uint32_t)getpid();
    self->pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? (uint32_t)status.st_ino : 0;
    if (os_identify((pid_t)self->pid, &self->identity) != 0) {
        self->identity = (struct os_identity){OS_UNKNOWN, 0};
    }
}

/* What the identity of the process with that pid says of another that had it. */
static enum os_end compare_inodes(uint64_t now, uint64_t then)
{
    uint64_t differs = now ^ then;
    if (differs >> BOOT_BITS != 0) {
        return OS_ENDED; /* whichever boot it was: this is another, and it has its pid */
    }
    return differs != 0 && (now & BOOT_MASK) != 0 && (then & BOOT_MASK) != 0 ? OS_OTHER_BOOT
                                                                             : OS_LIVES;
}

static enum os_end compare_starts(uint64_t now, uint64_t then)
{
    uint64_t differs = now ^ then;
    if ((differs & START_BOOT_MASK) != 0 && (now & START_BOOT_MASK) != 0 &&
        (then & START_BOOT_MASK) != 0) {
        return OS_OTHER_BOOT;
    }
    if ((differs >> START_BOOT_BITS & ((1 << SHIFT_BITS) - 1)) != 0) {
        return OS_CANNOT_TELL; /* start times that are shifted differently */
    }
    return differs >> (SHIFT_BITS + START_BOOT_BITS) != 0 ? OS_ENDED : OS_LIVES;
}

/* -EMFILE and -ENFILE, or 0 and *end. */
static int ended_by_start(pid_t pid, uint64_t value, enum os_end *end)
{
    struct os_stat stat;
    uint64_t now;
    int error = os_proc_stat(pid, &stat);
    if (error == 0 && !stat.ended) {
        error = by_start(&stat, &now);
        *end = error == 0 ? compare_starts(now, value) : OS_CANNOT_TELL;
    } else { /* a zombie: the owner, or a process that got its pid later */
        *end = error == 0 || error == -ESRCH ? OS_ENDED : OS_CANNOT_TELL;
    }
    return error == -EMFILE || error == -ENFILE ? error : 0;
}

static bool is_over(int pidfd)
{
    struct pollfd watched = {.fd = pidfd, .events = POLLIN};
    return poll(&watched, 1, 0) == 1 && (watched.revents & POLLIN);
}

/* If the process of the pidfd still lives, it had the pid while the start time was read, and the
   start time is its own. If it has ended, so has every process that had its pid before. */
static int watch_by_start(int pidfd, pid_t pid, uint64_t value, enum os_end *end)
{
    int error = ended_by_start(pid, value, end);
    *end = is_over(pidfd) ? OS_ENDED : *end;
    return error;
}

int os_watch_process(pid_t pid, const struct os_identity *identity)
{
    enum os_end end = OS_CANNOT_TELL;
    int fd = pidfd_of(pid);
    int error = 0;
    if (fd < 0) {
        return fd;
    }
    if (identity->witness == OS_BY_INODE) {
        uint64_t now = by_inode(fd);
        end = now == 0 ? OS_CANNOT_TELL : compare_inodes(now, identity->value);
    } else if (identity->witness == OS_BY_START) {
        error = watch_by_start(fd, pid, identity->value, &end);
    }
    if (end == OS_LIVES) {
        return fd;
    }
    (void)close(fd);
    return error != 0 ? error : end == OS_ENDED ? -ESRCH : end == OS_OTHER_BOOT ? -EXDEV : -ENOTSUP;
}

/*
 * The descriptor in reserve: a pidfd of this process, or a socket, because each has an inode number
 * of its own. It is closed when a question needs a descriptor and none is left, and opened again
 * after that. Another thread may take the free place in between: then this question is not
 * answered, and the reserve is filled by a later one.
 */
static _Atomic int spare = -1; /* -1: there is none now */
static _Atomic uint64_t spare_device, spare_inode;
static _Atomic unsigned reserves;

static int open_spare(void)
{
    int fd = pidfd_of(getpid());
    if (fd >= 0 && by_inode(fd) != 0) {
        return fd;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static void refill_spare(void)
{
    int none = -1;
    struct stat status;
    if (atomic_load(&reserves) == 0 || atomic_load(&spare) >= 0) {
        return;
    }
    int fd = open_spare();
    bool known = fd >= 0 && fstat(fd, &status) == 0;
    if (known) {
        atomic_store(&spare_device, status.st_dev);
        atomic_store(&spare_inode, status.st_ino);
    }
    if (fd >= 0 && (!known || !atomic_compare_exchange_strong(&spare, &none, fd))) {
        (void)close(fd);
    }
}

/* Whether there was one. A program may have closed all its descriptors behind our back, and have
   another one with this number: that one is not ours to close. */
static bool close_spare(void)
{
    struct stat status;
    int fd = atomic_exchange(&spare, -1);
    bool other =
        fd < 0 || (fstat(fd, &status) == 0 && (status.st_dev != atomic_load(&spare_device) ||
                                               status.st_ino != atomic_load(&spare_inode)));
    return !other && close(fd) == 0;
}

/* Whether a call that failed with this error can be made again, with the descriptor in reserve. */
static bool spend_spare(int error)
{
    return (error == -EMFILE || error == -ENFILE) && close_spare();
}

void os_reserve(void)
{
    atomic_fetch_add(&reserves, 1);
    refill_spare();
}

void os_unreserve(void)
{
    if (atomic_fetch_sub(&reserves, 1) == 1) {
        (void)close_spare();
    }
}

static int ended_by_inode(pid_t pid, const struct os_identity *identity, enum os_end *end)
{
    int fd = os_watch_process(pid, identity);
    if (fd < 0) {
        *end = fd == -ESRCH ? OS_ENDED : fd == -EXDEV ? OS_OTHER_BOOT : OS_CANNOT_TELL;
        return fd;
    }
    *end = is_over(fd) ? OS_ENDED : OS_LIVES;
    (void)close(fd);
    return 0;
}

static int ended(pid_t pid, const struct os_identity *identity, enum os_end *end)
{
    *end = OS_CANNOT_TELL;
    return identity->witness == OS_BY_INODE   ? ended_by_inode(pid, identity, end)
           : identity->witness == OS_BY_START ? ended_by_start(pid, identity->value, end)
                                              : 0;
}

enum os_end os_process_ended(pid_t pid, const struct os_identity *identity)
{
    enum os_end end;
    int cancel = os_cancel_off();
    if (spend_spare(ended(pid, identity, &end))) {
        (void)ended(pid, identity, &end);
    }
    refill_spare();
    os_cancel_restore(cancel);
    return end;
}

/* Whether that process, of which /proc said that it has ended, is the one with the identity. */
static bool is_the_one(pid_t pid, const struct os_identity *identity, const struct os_stat *stat)
{
    uint64_t now;
    if (identity->witness == OS_BY_START) {
        return by_start(stat, &now) == 0 && compare_starts(now, identity->value) == OS_LIVES;
    }
    int fd = os_watch_process(pid, identity);
    if (spend_spare(fd)) {
        fd = os_watch_process(pid, identity);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return fd >= 0;
}

bool os_process_exited(pid_t pid, const struct os_identity *identity)
{
    struct os_stat stat;
    int cancel = os_cancel_off();
    int error = os_proc_stat(pid, &stat);
    if (spend_spare(error)) {
        error = os_proc_stat(pid, &stat);
    }
    bool exited = error == 0 && stat.ended && (stat.status & 0x7f) == 0 && /* no signal in it */
                  is_the_one(pid, identity, &stat);
    refill_spare();
    os_cancel_restore(cancel);
    return exited;
}
