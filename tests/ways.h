/*
 * Count yields and sleeps on their way to the kernel (-Wl,--wrap=sched_yield, -Wl,--wrap=syscall),
 * and give a test its own clock (-Wl,--wrap=clock_gettime).
 */
#ifndef USHER_WAYS_H
#define USHER_WAYS_H

#include "syscalls.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum {
    NEAR = 16,
    LONG_NS = 1000000,
    PACE_NS = 100000,
    MOST_PROCESSORS = 40, /* a line of more than twice as many still has rows on the board */
    HANG_SECONDS = 100
};

static _Thread_local unsigned ways, naps;        /* yields and sleeps of this thread */
static _Thread_local void (*on_way)(unsigned n); /* called at its nth yield */
static _Thread_local int64_t time_ns;            /* its clock; 0: the real one */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_sched_yield(void);
int __wrap_sched_yield(void);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (time_ns == 0) {
        return __real_clock_gettime(clock, now);
    }
    *now = (struct timespec){.tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000};
    return 0;
}

int __wrap_sched_yield(void)
{
    ways++;
    if (on_way != NULL) {
        on_way(ways);
        return 0;
    }
    return __real_sched_yield();
}

static long on_syscall(long number, long *a)
{
    naps += sleeps(number, a);
    return call_it(number, a);
}

#endif
