/* Make calls fail. faults.h is the contract. */
#include "faults.h"
#include "syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <time.h>

static _Thread_local bool armed;
static unsigned calls, failing;
static const char *failed;
static int failed_error;
static atomic_long memory;
static atomic_int other_clocks;

void fault_begin(unsigned nth)
{
    calls = 0;
    failing = nth;
    failed = NULL;
    failed_error = 0;
    armed = true;
}

bool fault_end(const char **what, int *error)
{
    armed = false;
    *what = failed;
    *error = failed_error;
    return failed != NULL;
}

long fault_memory(void)
{
    return atomic_load(&memory);
}

int fault_clocks(void)
{
    return atomic_load(&other_clocks);
}

static bool fails(const char *what, int error)
{
    if (!armed || ++calls != failing) {
        return false;
    }
    failed = what;
    failed_error = error;
    errno = error;
    return true;
}

/* real: the result if it does not fail */
#define WRAP(type, name, parameters, arguments, error, failure)                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails(#name, error) ? (failure) : __real_##name arguments;                          \
    }

WRAP(void *, mmap, (void *at, size_t size, int may, int flags, int fd, off_t from),
     (at, size, may, flags, fd, from), ENOMEM, MAP_FAILED)
WRAP(int, posix_fallocate, (int fd, off_t from, off_t size), (fd, from, size), ENOSPC, ENOSPC)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), EIO, -1)
WRAP(int, fstat, (int fd, struct stat *status), (fd, status), EIO, -1)
WRAP(int, stat, (const char *path, struct stat *status), (path, status), EIO, -1)
WRAP(int, fstatat, (int fd, const char *path, struct stat *status, int flags),
     (fd, path, status, flags), EIO, -1)
WRAP(int, fstatfs, (int fd, struct statfs *status), (fd, status), EIO, -1)
WRAP(int, linkat, (int from, const char *a, int to, const char *b, int flags),
     (from, a, to, b, flags), ENOSPC, -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), ENOSPC, -1)
WRAP(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags), EIO, -1)
WRAP(ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), EIO, -1)
WRAP(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), EIO, -1)
WRAP(int, poll, (struct pollfd * which, nfds_t count, int ms), (which, count, ms), ENOMEM, -1)
WRAP(int, madvise, (void *at, size_t size, int what), (at, size, what), EINVAL, -1)
WRAP(int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end), EAGAIN,
     EAGAIN)
WRAP(int, pthread_atfork, (void (*a)(void), void (*b)(void), void (*c)(void)), (a, b, c), ENOMEM,
     ENOMEM)
WRAP(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value), ENOMEM, ENOMEM)

void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t to, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *old);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t to, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *old);

void *__wrap_calloc(size_t count, size_t size)
{
    void *new = fails("calloc", ENOMEM) ? NULL : __real_calloc(count, size);
    atomic_fetch_add(&memory, new != NULL);
    return new;
}

void *__wrap_aligned_alloc(size_t to, size_t size)
{
    void *new = fails("aligned_alloc", ENOMEM) ? NULL : __real_aligned_alloc(to, size);
    atomic_fetch_add(&memory, new != NULL);
    return new;
}

void *__wrap_realloc(void *old, size_t size)
{
    void *new = fails("realloc", ENOMEM) ? NULL : __real_realloc(old, size);
    atomic_fetch_add(&memory, new != NULL &&old == NULL);
    return new;
}

char *__wrap_strdup(const char *text)
{
    char *new = fails("strdup", ENOMEM) ? NULL : __real_strdup(text);
    atomic_fetch_add(&memory, new != NULL);
    return new;
}

void __wrap_free(void *old)
{
    atomic_fetch_sub(&memory, old != NULL);
    __real_free(old);
}

/* Functions with optional arguments: a missing argument is read but not used. */
int __real_open(const char *path, int flags, ...);
int __real_openat(int fd, const char *path, int flags, ...);
int __real_fcntl(int fd, int command, ...);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_open(const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails("open", EMFILE) ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int fd, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails("openat", EMFILE) ? -1 : __real_openat(fd, path, flags, mode);
}

int __wrap_fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *what = va_arg(rest, void *);
    va_end(rest);
    return fails("fcntl", ENOLCK) ? -1 : __real_fcntl(fd, command, what);
}

/* Futex calls do not fail in ways that matter; pidfd_open returns a descriptor and can fail. */
static long on_syscall(long number, long *a)
{
    bool counts = number == SYS_pidfd_open || number == SYS_membarrier;
    if (counts && fails(number == SYS_pidfd_open ? "pidfd_open" : "membarrier",
                        number == SYS_pidfd_open ? EMFILE : EPERM)) {
        return -1;
    }
    return call_it(number, a);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    atomic_fetch_add(&other_clocks, clock != CLOCK_MONOTONIC);
    return __real_clock_gettime(clock, now);
}
