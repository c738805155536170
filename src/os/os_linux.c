/* The seam to Linux: see os.h. */
#include "os/os.h"

#include "os/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PIDFS_MAGIC 0x50494446 /* since Linux 6.9 a pidfd's inode is never used twice */

enum { BOOT_BITS = 20, BOOT_MASK = (1 << BOOT_BITS) - 1 };

static const uint32_t *high_half(const _Atomic uint64_t *word)
{
    const uint32_t *halves = (const uint32_t *)(uintptr_t)word;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return halves + 1;
#else
    return halves;
#endif
}

int os_sleep(const _Atomic uint64_t *word, uint64_t seen, int64_t deadline_ns, bool shared)
{
    struct timespec until = {deadline_ns / 1000000000, deadline_ns % 1000000000};
    long slept =
        syscall(SYS_futex, high_half(word), FUTEX_WAIT_BITSET | (shared ? 0 : FUTEX_PRIVATE_FLAG),
                (uint32_t)(seen >> 32), deadline_ns == INT64_MAX ? NULL : &until, NULL,
                FUTEX_BITSET_MATCH_ANY);
    return slept == -1 ? -errno : 0;
}

int os_wake(const _Atomic uint64_t *word, bool shared)
{
    long woken = syscall(SYS_futex, high_half(word), FUTEX_WAKE | (shared ? 0 : FUTEX_PRIVATE_FLAG),
                         1, NULL, NULL, 0);
    return woken > 0;
}

/* To move one sleeper from the word to the same word leaves it asleep, and counts it. SIGSTOP ends
   the sleep of a thread in the kernel; SIGCONT begins it again. */
bool os_is_slept_on(const _Atomic uint64_t *word, bool shared)
{
    long moved =
        syscall(SYS_futex, high_half(word), FUTEX_REQUEUE | (shared ? 0 : FUTEX_PRIVATE_FLAG), 0,
                1UL, high_half(word), 0);
    return moved != 0;
}

static _Atomic int barrier_known; /* 1: the kernel has one, 2: it has none, or has refused it */

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

bool os_has_barrier(void)
{
    int has = atomic_load(&barrier_known);
    if (has == 0) {
        long commands = membarrier(MEMBARRIER_CMD_QUERY);
        has = commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) ? 1 : 2;
        atomic_store(&barrier_known, has);
    }
    return has == 1;
}

/* The first command fails in a process that has not registered for it, for want of memory, and in a
   sandbox that was begun after os_has_barrier. The last one is slow, and needs neither. */
int os_barrier(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) {
        return 0;
    }
    (void)membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0 ||
        membarrier(MEMBARRIER_CMD_GLOBAL) == 0) {
        return 0;
    }
    atomic_store(&barrier_known, 2);
    return -ENOSYS;
}

int64_t os_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

unsigned os_processors(void)
{
    static _Atomic unsigned known;
    unsigned count = atomic_load_explicit(&known, memory_order_relaxed);
    if (count == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online > 0 ? (unsigned)online : 1;
        atomic_store_explicit(&known, count, memory_order_relaxed);
    }
    return count;
}

void os_yield(void)
{
    (void)sched_yield();
}

/* Which boot this is, in 20 bits; 0: it cannot be known now, or what stands there is made up: some
   containers put a file of their own in its place, and others in the same pid namespace do not see
   that. */
static uint64_t boot_hash(void)
{
    char id[64] = "";
    struct statfs kind;
    uint64_t hash = 0xcbf29ce484222325ULL;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        bool genuine = fstatfs(fd, &kind) == 0 && kind.f_type == PROC_SUPER_MAGIC;
        ssize_t got = genuine ? read(fd, id, sizeof id - 1) : 0;
        id[got > 0 ? got : 0] = '\0';
        (void)close(fd);
    }
    for (const char *at = id; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3ULL;
    }
    hash = id[0] == '\0' ? 0 : (hash ^ hash >> 20 ^ hash >> 40) & BOOT_MASK;
    return id[0] != '\0' && hash == 0 ? 1 : hash;
}

/* (inode number 44, boot 20): inodes start over with each boot. */
static uint64_t identity_of(int pidfd)
{
    static _Atomic uint64_t boot;
    static _Atomic uint64_t pidfs; /* its device, once it is known */
    struct stat status;
    struct statfs kind;
    if (fstat(pidfd, &status) != 0) {
        return 0;
    }
    if (pidfs == 0 || status.st_dev != pidfs) {
        if (fstatfs(pidfd, &kind) != 0 || kind.f_type != PIDFS_MAGIC) {
            return 0;
        }
        pidfs = status.st_dev;
    }
    if (boot == 0) {
        boot = boot_hash();
    }
    return (uint64_t)status.st_ino << BOOT_BITS | boot;
}

static int pidfd_of(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return fd < 0 ? -errno : fd;
}

int os_identity(pid_t pid, uint64_t *identity)
{
    int cancel = os_cancel_off();
    int fd = pidfd_of(pid);
    *identity = fd >= 0 ? identity_of(fd) : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    os_cancel_restore(cancel);
    if (fd >= 0) {
        return 0;
    }
    if (fd == -EINVAL || fd == -ENOENT) {
        return -ESRCH; /* a thread, and not the first of its process */
    }
    return fd == -ENOSYS || fd == -EPERM ? 0 : fd;
}

void os_self(struct os_self *self)
{
    struct stat status;
    self->pid = (uint32_t)getpid();
    self->pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? (uint32_t)status.st_ino : 0;
    (void)os_identity((pid_t)self->pid, &self->identity);
}

int os_watch_process(pid_t pid, uint64_t identity)
{
    int fd = pidfd_of(pid);
    if (fd < 0) {
        return fd;
    }
    uint64_t now = identity_of(fd);
    uint64_t differs = now ^ identity;
    int error = 0;
    if (now == 0) {
        error = -ENOTSUP;
    } else if (differs >> BOOT_BITS != 0) {
        error = -ESRCH; /* whichever boot it was: this is another, and it has its number */
    } else if (differs != 0 && (now & BOOT_MASK) != 0 && (identity & BOOT_MASK) != 0) {
        error = -EXDEV;
    }
    if (error != 0) {
        (void)close(fd);
    }
    return error != 0 ? error : fd;
}

/*
 * The descriptor in reserve: a pidfd of this process. It is closed when a question needs a
 * descriptor and none is left, and opened again after that. Another thread may take the free place
 * in between: then this question is not answered, and the reserve is filled by a later one.
 */
static _Atomic int spare = -1; /* -1: there is none now */
static _Atomic uint64_t spare_device, spare_inode;
static _Atomic unsigned reserves;

static void refill_spare(void)
{
    int none = -1;
    struct stat status;
    if (atomic_load(&reserves) == 0 || atomic_load(&spare) >= 0) {
        return;
    }
    int fd = pidfd_of(getpid());
    bool known = fd >= 0 && identity_of(fd) != 0 && fstat(fd, &status) == 0;
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

static enum os_end process_ended(pid_t pid, uint64_t identity)
{
    int fd = os_watch_process(pid, identity);
    if (spend_spare(fd)) {
        fd = os_watch_process(pid, identity);
    }
    if (fd < 0) {
        return fd == -ESRCH ? OS_ENDED : fd == -EXDEV ? OS_OTHER_BOOT : OS_CANNOT_TELL;
    }
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    int ready = poll(&watched, 1, 0);
    (void)close(fd);
    return ready == 0                                 ? OS_LIVES
           : ready == 1 && (watched.revents & POLLIN) ? OS_ENDED
                                                      : OS_CANNOT_TELL;
}

enum os_end os_process_ended(pid_t pid, uint64_t identity)
{
    int cancel = os_cancel_off();
    enum os_end end = process_ended(pid, identity);
    refill_spare();
    os_cancel_restore(cancel);
    return end;
}

/* What /proc says about the process: how many bytes. */
static ssize_t read_stat(pid_t pid, char *text, size_t room)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && spend_spare(-errno)) {
        file = open(path, O_RDONLY | O_CLOEXEC);
    }
    ssize_t got = file < 0 ? -1 : read(file, text, room);
    if (file >= 0) {
        (void)close(file);
    }
    return got;
}

static bool process_exited(pid_t pid, uint64_t identity)
{
    char text[1024];
    char *at = NULL;
    ssize_t got = read_stat(pid, text, sizeof text - 1);
    if (got > 0) {
        text[got] = '\0';
        at = strrchr(text, ')'); /* the name before it may hold anything */
    }
    if (at == NULL || at[1] != ' ' || at[2] != 'Z') {
        return false;
    }
    for (int field = 3; at != NULL && field <= 52; field++) {
        at = strchr(at + 1, ' ');
    }
    /* field 52 is the status as wait gives it: no signal in it */
    bool exited = at != NULL && (strtol(at, NULL, 10) & 0x7f) == 0;
    int fd = exited ? os_watch_process(pid, identity) : -1; /* and it was this one */
    if (exited && spend_spare(fd)) {
        fd = os_watch_process(pid, identity);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return fd >= 0;
}

bool os_process_exited(pid_t pid, uint64_t identity)
{
    int cancel = os_cancel_off();
    bool exited = process_exited(pid, identity);
    refill_spare();
    os_cancel_restore(cancel);
    return exited;
}

static int lock_with(int fd, off_t byte, short type, int command, struct flock *lock)
{
    memset(lock, 0, sizeof *lock);
    lock->l_type = type;
    lock->l_whence = SEEK_SET;
    lock->l_start = byte;
    lock->l_len = 1;
    return fcntl(fd, command, lock) == 0 ? 0 : -errno;
}

int os_lock(int fd, off_t byte)
{
    struct flock lock;
    int error = lock_with(fd, byte, F_WRLCK, F_OFD_SETLK, &lock);
    return error == -EACCES ? -EAGAIN : error;
}

int os_unlock(int fd, off_t byte)
{
    struct flock lock;
    return lock_with(fd, byte, F_UNLCK, F_OFD_SETLK, &lock);
}

int os_locked(int fd, off_t byte)
{
    struct flock lock;
    int error = lock_with(fd, byte, F_WRLCK, F_OFD_GETLK, &lock);
    return error != 0 ? error : lock.l_type != F_UNLCK;
}

enum { FORGET_AT = 0xec0 / 8 };

/* Not at the beginning of its page: it is read on the way in and out, and what was just written at
   the same place of another page, as the first row is at the beginning of its, makes that wait. */
uint64_t *os_forget_on_fork(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(memory, page, MADV_WIPEONFORK); /* the fork handlers do it, too */
    return (uint64_t *)memory + FORGET_AT;
}
