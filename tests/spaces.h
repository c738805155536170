/*
 * Pid and mount namespaces for tests. A process in a new pid namespace has another number outside,
 * can choose the number of its next child, and can see another file at a path. A namespace ends
 * with its processes.
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
    bool proc; /* with its own /proc, in its own mount namespace */
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

/* Run `body` as process 1 of a new pid namespace. Return the pid of its parent, which ends when the
   body ends; killing it kills all processes of the namespace. */
static inline pid_t space_start(void (*body)(void *), void *context, bool proc)
{
    struct space inside = {body, context, proc};
    return scene_start(space__enter, &inside);
}

/* Can this process create pid and mount namespaces? If not, print SKIPPED. */
static inline bool space_allowed(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(own_mounts() && unshare(CLONE_NEWPID) == 0 ? 0 : 77);
    }
    bool allowed = scene_end(child) == 0;
    if (!allowed) {
        (void)printf("  SKIPPED: no permission to create namespaces\n");
    }
    return allowed;
}

/* Choose the pid of the next child, in a pid namespace where no other process forks. False if this
   kernel does not allow that. */
static inline bool space_next_pid(pid_t pid)
{
    FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "we");
    bool may = last != NULL && fprintf(last, "%ld", (long)pid - 1) > 0;
    may = last != NULL && fclose(last) == 0 && may;
    if (!may) {
        (void)printf("  SKIPPED: this kernel does not allow choosing a pid\n");
    }
    return may;
}

#endif
