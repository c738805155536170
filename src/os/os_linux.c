/* The seam to Linux: see os.h. (os_identity.c has processes, os_proc.c /proc, os_spawn.c
   spawning.) */
#include "os/os.h"

#include "os/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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
