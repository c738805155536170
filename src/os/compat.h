/*
 * What glibc 2.36 declares and an older glibc (2.28 and later) or musl does not, with the kernel's
 * constants where its headers are not installed. Macros and small functions, no state. Any layer
 * may include it.
 */
#ifndef USHER_OS_COMPAT_H
#define USHER_OS_COMPAT_H

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __GLIBC_PREREQ
#define COMPAT_GLIBC(major, minor) __GLIBC_PREREQ(major, minor)
#else
#define COMPAT_GLIBC(major, minor) 0
#endif

/* Constants of the kernel: the same on every processor that usher supports. musl-gcc does not find
   the kernel's headers. */
#if __has_include(<linux/futex.h>)
#include <linux/futex.h>
#include <linux/magic.h>
#include <linux/membarrier.h>
#else
#define FUTEX_WAKE 1
#define FUTEX_REQUEUE 3
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAKE_BITSET 10
#define FUTEX_PRIVATE_FLAG 128
#define FUTEX_BITSET_MATCH_ANY 0xffffffff
#define PROC_SUPER_MAGIC 0x9fa0
#define MEMBARRIER_CMD_QUERY 0
#define MEMBARRIER_CMD_GLOBAL (1 << 0)
#define MEMBARRIER_CMD_PRIVATE_EXPEDITED (1 << 3)
#define MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED (1 << 4)
#endif

/* System calls that are newer than the oldest headers. Their numbers are the same on every
   processor that usher supports. A kernel without the call returns ENOSYS. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

#if __has_include(<sys/pidfd.h>)
#include <sys/pidfd.h>
#else
static inline int pidfd_open(pid_t pid, unsigned flags)
{
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

static inline int pidfd_getfd(int pidfd, int fd, unsigned flags)
{
    return (int)syscall(SYS_pidfd_getfd, pidfd, fd, flags);
}

static inline int pidfd_send_signal(int pidfd, int number, siginfo_t *info, unsigned flags)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, number, info, flags);
}
#endif

static inline int compat_close_range(unsigned first, unsigned last, unsigned flags)
{
    return (int)syscall(SYS_close_range, first, last, flags);
}

/* Return a description of an errno value that stays valid; NULL if there is none. */
static inline const char *compat_errno_text(int error)
{
#if COMPAT_GLIBC(2, 32)
    return strerrordesc_np(error);
#else
    return error < 0 || error > 4095 ? NULL
                                     : strerror(error); /* constant for the errors of Linux */
#endif
}

/* Return the name of a signal without SIG; NULL if there is none. */
static inline const char *compat_signal_name(int number)
{
#if COMPAT_GLIBC(2, 32)
    return sigabbrev_np(number);
#else
#define NAME(name) [SIG##name] = #name
    static const char *const names[] = {
        NAME(HUP),    NAME(INT),  NAME(QUIT),  NAME(ILL),  NAME(TRAP), NAME(ABRT),
        NAME(BUS),    NAME(FPE),  NAME(KILL),  NAME(USR1), NAME(SEGV), NAME(USR2),
        NAME(PIPE),   NAME(ALRM), NAME(TERM),  NAME(CHLD), NAME(CONT), NAME(STOP),
        NAME(TSTP),   NAME(TTIN), NAME(TTOU),  NAME(URG),  NAME(XCPU), NAME(XFSZ),
        NAME(VTALRM), NAME(PROF), NAME(WINCH), NAME(POLL), NAME(PWR),  NAME(SYS),
#ifdef SIGSTKFLT
        NAME(STKFLT),
#endif
    };
#undef NAME
    return number > 0 && (size_t)number < sizeof names / sizeof names[0] ? names[number] : NULL;
#endif
}

/* Return the absolute path of the shared library that contains the function; NULL if the program
   itself contains it. Valid as long as the library is loaded. */
static inline const char *compat_library_path(const void *function)
{
    Dl_info here;
#ifdef RTLD_DL_LINKMAP
    struct link_map *map = NULL;
    int found = dladdr1(function, &here, (void **)&map, RTLD_DL_LINKMAP);
    const char *path = found != 0 && map != NULL ? map->l_name : "";
#else
    Dl_info program; /* its name is argv[0], which may be anything */
    const void *headers = (const void *)getauxval(AT_PHDR);
    int found = dladdr(function, &here) != 0 &&
                (dladdr(headers, &program) == 0 || program.dli_fbase != here.dli_fbase);
    const char *path = found ? here.dli_fname : "";
#endif
    return path[0] == '/' ? path : NULL;
}

#endif
