/*
 * Namespaces of their own for tests: processes whose numbers mean others outside, that choose the
 * number of their next child, and see another file where a path leads others elsewhere. All of it
 * ends with the processes that are in there.
 */
#ifndef USHER_SPACES_H
#define USHER_SPACES_H

#include "scene.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

struct space {
    void (*body)(void *);
    void *context;
    bool proc; /* with a /proc of its own, in a mount namespace of its own */
};

static inline bool own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static inline void space__first(void *context)
{
    struct space *inside = context;
    EXPECT_EQ(getpid(), 1);
    if (inside->proc) {
        EXPECT(own_mounts());
        EXPECT_EQ(mount("proc", "/proc", "proc", 0, NULL), 0);
    }
    inside->body(inside->context);
}

static inline void space__enter(void *context)
{
    struct space *inside = context;
    EXPECT_EQ(unshare(CLONE_NEWPID), 0);
    int status = scene_end(scene_start(space__first, inside));
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Run `body` as process 1 of a new pid namespace. What it returns is its parent here, which ends
   when the body does; to kill it is to kill all that is in there. */
static inline pid_t space_start(void (*body)(void *), void *context, bool proc)
{
    struct space inside = {body, context, proc};
    return scene_start(space__enter, &inside);
}

/* Whether pid and mount namespaces can be made here. If not, it says so. */
static inline bool space_allowed(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(own_mounts() && unshare(CLONE_NEWPID) == 0 ? 0 : 77);
    }
    bool allowed = scene_end(child) == 0;
    if (!allowed) {
        (void)printf("  SKIPPED: may not make namespaces\n");
    }
    return allowed;
}

/* In a pid namespace where nobody else forks: the next child has this number. False: this kernel
   lets nobody choose. */
static inline bool space_next_pid(pid_t pid)
{
    FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "we");
    bool may = last != NULL && fprintf(last, "%ld", (long)pid - 1) > 0;
    may = last != NULL && fclose(last) == 0 && may;
    if (!may) {
        (void)printf("  SKIPPED: this kernel lets nobody choose a pid\n");
    }
    return may;
}

#endif
