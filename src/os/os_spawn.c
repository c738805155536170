/* Starting a program by vfork: see os_spawn.h. */
#include "os/os_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 127 };

/* A handler would run with the parent's memory, as if in the parent. */
static void drop_handlers(void)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
            action.sa_handler != SIG_IGN) {
            action.sa_handler = SIG_DFL;
            action.sa_flags = 0;
            (void)sigaction(number, &action, NULL);
        }
    }
}

/* The child. *error is in the parent's memory. */
static _Noreturn void run(const struct os_spawn *spawn, const sigset_t *mask, volatile int *error)
{
    drop_handlers();
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    int refused = spawn->begin(spawn->context);
    if (refused == 0) {
        if (spawn->envp != NULL) {
            (void)execvpe(spawn->file, spawn->argv, spawn->envp);
        } else {
            (void)execvp(spawn->file, spawn->argv);
        }
        refused = -errno;
    }
    spawn->failed(spawn->context);
    *error = refused;
    _exit(NOT_STARTED);
}

void os_await(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

int os_spawn(const struct os_spawn *spawn, pid_t *pid)
{
    volatile int error = 0;
    sigset_t all;
    sigset_t mask;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &mask);
    /* fork copies page tables, and its handlers would close the pools; posix_spawn has no place for
       `begin`. */
    pid_t child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
    if (child == 0) {
        run(spawn, &mask, &error); /* NOLINT(clang-analyzer-unix.Vfork): see os_spawn.h */
    }
    error = child < 0 ? -errno : error;
    if (child > 0 && error != 0) {
        os_await(child);
    }
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    *pid = child;
    return error;
}

int os_keep_open(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    return flags >= 0 && fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC) == 0 ? 0 : -errno;
}
