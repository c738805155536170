/*
 * Intercept syscall(2) (-Wl,--wrap=syscall). A test that includes this, in one file, defines
 * on_syscall, which may inspect and change the arguments and makes the call itself.
 */
#ifndef USHER_SYSCALLS_H
#define USHER_SYSCALLS_H

#include <linux/futex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static long on_syscall(long number, long *a);

long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is just above */
        a[i] = va_arg(rest, long);
    }
    va_end(rest);
    return on_syscall(number, a);
}

static inline long call_it(long number, const long *a)
{
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static inline bool sleeps(long number, const long *a)
{
    long command = number == SYS_futex ? a[1] & FUTEX_CMD_MASK : -1;
    return command == FUTEX_WAIT_BITSET || command == FUTEX_WAIT;
}

static inline bool wakes_waiter(long number, const long *a)
{
    return number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE;
}

#endif
