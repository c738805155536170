/* Starting a program, with work to do in the child before exec. */
#ifndef USHER_OS_SPAWN_H
#define USHER_OS_SPAWN_H

#include <sys/types.h>

/* What to start. The two functions run in the child, with the parent's memory, while the thread
   that called os_spawn sleeps; other threads run on. They may call async-signal-safe functions
   only. */
struct os_spawn {
    const char *file;              /* found as execvp(3) does */
    char *const *argv;             /* as for execve(2) */
    char *const *envp;             /* NULL: environ, as it is after `begin` */
    int (*begin)(void *context);   /* before exec: 0, or a negative error that replaces it */
    void (*failed)(void *context); /* after `begin` or exec has failed */
    void *context;
};

/*
 * Start a program. The child begins with the caller's signal mask; signals that have a handler are
 * set to their default before one can be delivered to it. 0 and *pid if the child has called exec,
 * or was killed before. Otherwise the error is that of vfork, of `begin` or of exec; the child has
 * been waited for.
 */
int os_spawn(const struct os_spawn *spawn, pid_t *pid);

/* Wait until a child has ended, and drop its status. */
void os_await(pid_t child);

/* Make a descriptor survive exec, in this process. 0 or -errno. */
int os_keep_open(int fd);

#endif
