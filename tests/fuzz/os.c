/*
 * A simulated operating system (os/os.h). Its clock advances by itself, no call sleeps, and whether
 * a process is dead is a function of the pid. So each input has exactly one outcome. Between any
 * two calls a peer may change the pool.
 */
#include "os/os.h"

#include "stage.h"

#include <errno.h>
#include <sys/eventfd.h>

enum { REMOVE_BYTE = 1 << 30, LOCKS = 64, SELF = 1000, MOST_PID = 3000 };

static int64_t clock_ns;
static struct {
    int fd;
    off_t byte;
} locks[LOCKS];
static unsigned locked, wakes;

/* Every third process has the identity of a kernel without pidfs. */
static struct os_identity identity_of(pid_t pid)
{
    return (struct os_identity){pid % 3 == 2 ? OS_BY_START : OS_BY_INODE, (uint64_t)pid * 7 + 1};
}

static bool is_of(pid_t pid, const struct os_identity *identity)
{
    struct os_identity right = identity_of(pid);
    return identity->witness == right.witness && identity->value == right.value;
}

void stage_reset_os(void)
{
    clock_ns = 1000000000;
    locked = wakes = 0;
}

void stage_forget_locks(int fd)
{
    for (unsigned l = 0; l < locked;) {
        if (locks[l].fd == fd) {
            locks[l] = locks[--locked];
        } else {
            l++;
        }
    }
}

int os_sleep(const _Atomic uint64_t *word, uint64_t seen, int64_t deadline_ns, bool shared)
{
    (void)shared;
    stage_moment();
    if (++stage_sleeps > STAGE_MOST_SLEEPS) {
        stage_fail("the call does not end after %u sleeps", stage_sleeps);
    }
    if (stage_sleeps % 64 == 0) {
        stage_enough = true;
        if (stage_interrupt != NULL) {
            stage_interrupt();
        }
        return -EINTR;
    }
    if (*word >> 32 != seen >> 32) {
        return -EAGAIN;
    }
    if (deadline_ns != INT64_MAX && deadline_ns > clock_ns) {
        clock_ns = deadline_ns;
    }
    return deadline_ns == INT64_MAX ? 0 : -ETIMEDOUT;
}

int os_wake(const _Atomic uint64_t *word, bool shared)
{
    (void)word;
    (void)shared;
    stage_moment();
    return (int)(wakes++ % 2);
}

bool os_is_slept_on(const _Atomic uint64_t *word, bool shared)
{
    (void)word;
    (void)shared;
    stage_moment();
    return wakes % 2 == 0;
}

unsigned os_processors(void)
{
    return 2;
}

void os_yield(void)
{
}

int64_t os_now_ns(void)
{
    return clock_ns += 1000;
}

bool os_has_barrier(void)
{
    return true;
}

int os_barrier(void)
{
    stage_moment();
    return 0;
}

void os_self(struct os_self *self)
{
    *self = (struct os_self){.pid = SELF, .pid_namespace = 1, .identity = identity_of(SELF)};
}

int os_identify(pid_t pid, struct os_identity *identity)
{
    stage_moment();
    *identity = pid % 5 == 4 ? (struct os_identity){OS_UNKNOWN, 0} : identity_of(pid);
    return pid > MOST_PID ? -ESRCH : 0;
}

enum os_end os_process_ended(pid_t pid, const struct os_identity *identity)
{
    stage_moment();
    if (pid > MOST_PID || !is_of(pid, identity) || (pid != SELF && pid % 3 == 0)) {
        return OS_ENDED;
    }
    return pid % 7 == 6 ? OS_OTHER_BOOT : pid % 2 == 0 ? OS_LIVES : OS_CANNOT_TELL;
}

bool os_process_exited(pid_t pid, const struct os_identity *identity)
{
    stage_moment();
    return is_of(pid, identity) && pid % 2 == 0;
}

void os_reserve(void)
{
}

void os_unreserve(void)
{
}

int os_watch_process(pid_t pid, const struct os_identity *identity)
{
    enum os_end end = os_process_ended(pid, identity);
    return end == OS_ENDED ? -ESRCH : end == OS_OTHER_BOOT ? -EXDEV : eventfd(0, EFD_CLOEXEC);
}

static bool is_locked(int fd, off_t byte, bool by_us)
{
    for (unsigned l = 0; l < locked; l++) {
        if (locks[l].byte == byte && (locks[l].fd == fd) == by_us) {
            return true;
        }
    }
    /* An open of a pool that is being removed retries a thousand times; make that rare, because
       it is slow. */
    return !by_us && (byte == REMOVE_BYTE ? stage_locked == 0xff : stage_locked >> byte % 8 & 1);
}

int os_lock(int fd, off_t byte)
{
    stage_moment();
    if (is_locked(fd, byte, false)) {
        return -EAGAIN;
    }
    if (!is_locked(fd, byte, true)) {
        if (locked == LOCKS) {
            return -ENOLCK;
        }
        locks[locked].fd = fd;
        locks[locked++].byte = byte;
    }
    return 0;
}

int os_unlock(int fd, off_t byte)
{
    for (unsigned l = 0; l < locked; l++) {
        if (locks[l].fd == fd && locks[l].byte == byte) {
            locks[l] = locks[--locked];
            break;
        }
    }
    return 0;
}

int os_locked(int fd, off_t byte)
{
    stage_moment();
    return is_locked(fd, byte, false);
}

uint64_t *os_forget_on_fork(void)
{
    static uint64_t number;
    return &number;
}
