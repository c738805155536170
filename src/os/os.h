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

/* This process, as others can recognise it. */
struct os_self {
    uint32_t pid, pid_namespace; /* namespace 0: cannot be known here */
    uint64_t identity;           /* 0: this kernel gives processes none */
};
void os_self(struct os_self *self);
/* The identity of the process that is `pid` now; 0: this kernel cannot tell. -ESRCH: there is none;
   -EMFILE and the like. */
int os_identity(pid_t pid, uint64_t *identity);

/* Whether the process that was `pid` with that identity has ended. OS_OTHER_BOOT: there is one like
   it, but its identity is of another boot, by what is to be seen of the boot here. */
enum os_end { OS_CANNOT_TELL, OS_ENDED, OS_OTHER_BOOT, OS_LIVES };
enum os_end os_process_ended(pid_t pid, uint64_t identity);
/* Whether it has exited by itself, with any status, and its parent has not called waitpid yet. */
bool os_process_exited(pid_t pid, uint64_t identity);
/* Keep a descriptor in reserve until os_unreserve has been called as often as this. With it the two
   questions above are answered even if the process has used up its descriptors. */
void os_reserve(void);
void os_unreserve(void);
/* A descriptor that becomes readable when that process ends; -ESRCH: it has, or it is another;
   -EXDEV: OS_OTHER_BOOT; any other error: cannot tell. */
int os_watch_process(pid_t pid, uint64_t identity);

/* Locks of one byte of a file that belong to the open description: gone with its last copy. */
int os_lock(int fd, off_t byte); /* -EAGAIN: another description has it */
int os_unlock(int fd, off_t byte);
int os_locked(int fd, off_t byte); /* by another description: 1 or 0 */

/* A number that is 0 in every process until it is set, and 0 again in each that is forked. NULL:
   out of memory. */
uint64_t *os_forget_on_fork(void);

#endif
