/*
 * The seam to the operating system: everything that libusher asks of Linux beyond plain files and
 * memory. 0 or -errno unless it says otherwise.
 */
#ifndef USHER_LIB_OS_H
#define USHER_LIB_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Sleep while the high half of the word, which is all that a grant changes, is as in `seen`; at the
   latest until `deadline_ns` of CLOCK_MONOTONIC (INT64_MAX: for ever). Returns for any reason;
   -EINTR: for a signal. */
int os_sleep(const _Atomic uint64_t *word, uint64_t seen, int64_t deadline_ns, bool shared);
/* Wake the thread that sleeps on the word. How many slept: 0 or 1. */
int os_wake(const _Atomic uint64_t *word, bool shared);

/* Does a thread sleep on the word? A thread of a stopped process does not. True if that cannot be
   known. */
bool os_is_slept_on(const _Atomic uint64_t *word, bool shared);

int64_t os_now_ns(void);

/* How many processors there are, as of the first call of this process. */
unsigned os_processors(void);
/* Let another thread run on this processor, if one can: it may be long until this returns. */
void os_yield(void);
/* Between two reads of a word that another processor will change. */
static inline void os_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* A barrier for every thread of this process: after it, what they wrote before is seen here, and
   what was written here before is seen by them. os_has_barrier: whether this kernel has one; not
   any more once os_barrier has failed. -ENOSYS: it did not happen. */
bool os_has_barrier(void);
int os_barrier(void);

/* Between these two the calling thread is not cancelled: pthread_cancel in the middle of a call
   would leave a mutex locked, a descriptor open, or a row that seems to wait. The second takes what
   the first returned. */
static inline int os_cancel_off(void)
{
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}
static inline void os_cancel_restore(int before)
{
    (void)pthread_setcancelstate(before, NULL);
}

/*
 * What tells a process from every other that has or had its pid. A row of a pool says which of the
 * two its owner has (FORMAT_BY_PID, FORMAT_BY_START); one is never compared with the other.
 *
 *     OS_BY_INODE   the inode number of its pidfd 44 | a hash of the boot 20. Linux 6.9 or later:
 *                   no other process gets that number until the next boot.
 *     OS_BY_START   its start time in clock ticks 32 | a hash of how the reader's time namespace
 *                   shifts start times 20 (0: not at all) | a hash of the boot 12. Any kernel. A
 *                   process that gets the pid within the same tick (10 ms) is taken for the owner:
 *                   that errs towards "alive".
 *
 * A hash of the boot is 0 if the boot cannot be known.
 */
enum os_witness { OS_UNKNOWN, OS_BY_INODE, OS_BY_START };
struct os_identity {
    enum os_witness witness; /* OS_UNKNOWN: none, and the value is 0 */
    uint64_t value;
};

/* This process, as others can recognise it. */
struct os_self {
    uint32_t pid, pid_namespace; /* namespace 0: cannot be known here */
    struct os_identity identity;
};
void os_self(struct os_self *self);
/* The identity of the process that is `pid` now; OS_UNKNOWN: none can be had here, because /proc is
   missing, hides that process or belongs to another pid namespace. -ESRCH: there is no such
   process; -EMFILE and the like. Async-signal-safe. */
int os_identify(pid_t pid, struct os_identity *identity);

/* Whether the process that was `pid` with that identity has ended. OS_OTHER_BOOT: there is one like
   it, but its identity is of another boot, by what is to be seen of the boot here. */
enum os_end { OS_CANNOT_TELL, OS_ENDED, OS_OTHER_BOOT, OS_LIVES };
enum os_end os_process_ended(pid_t pid, const struct os_identity *identity);
/* Whether it has ended by itself, with whatever status, and its parent has not asked for that yet.
   */
bool os_process_exited(pid_t pid, const struct os_identity *identity);
/* Keep a descriptor in reserve until os_unreserve has been called as often as this. With it the two
   questions above are answered even if the process has used up its descriptors. */
void os_reserve(void);
void os_unreserve(void);
/* A descriptor that becomes readable when that process ends (Linux 5.3 or later); -ESRCH: it has,
   or it is another; -EXDEV: OS_OTHER_BOOT; any other error: cannot tell. */
int os_watch_process(pid_t pid, const struct os_identity *identity);

/* Locks of one byte of a file that belong to the open description: gone with its last copy. */
int os_lock(int fd, off_t byte); /* -EAGAIN: another description has it */
int os_unlock(int fd, off_t byte);
int os_locked(int fd, off_t byte); /* by another description: 1 or 0 */

/* A number that is 0 in every process until it is set, and 0 again in each that is forked. NULL:
   out of memory. */
uint64_t *os_forget_on_fork(void);

#endif
