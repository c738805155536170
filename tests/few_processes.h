/*
 * A /proc with few processes. usher_open reads all of /proc before it creates a pool
 * (src/pool/deleted.c). So a test that stops at each instruction of usher_open must not see the
 * processes of the whole machine.
 */
#ifndef USHER_TESTS_FEW_PROCESSES_H
#define USHER_TESTS_FEW_PROCESSES_H

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool few__write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && dprintf(fd, "%s", text) > 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return written;
}

/* A user other than root needs a user namespace, and keeps its ids in it. */
static bool few__unshare(void)
{
    char users[64];
    char groups[64];
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) == 0) {
        return true;
    }
    (void)snprintf(users, sizeof users, "%u %u 1", (unsigned)getuid(), (unsigned)getuid());
    (void)snprintf(groups, sizeof groups, "%u %u 1", (unsigned)getgid(), (unsigned)getgid());
    return unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) == 0 &&
           few__write("/proc/self/setgroups", "deny") && few__write("/proc/self/gid_map", groups) &&
           few__write("/proc/self/uid_map", users);
}

/* Fork, and continue in the child. The parent waits for it and ends like it. */
static void few__fork(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        return;
    }
    while (child > 0 && waitpid(child, &status, 0) != child) {
    }
    _exit(child < 0 ? 1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Continue in a child that sees only its own children in /proc. If that is not allowed here, say so
   and continue as before. */
static inline void few_processes(void)
{
    if (!few__unshare()) {
        (void)printf("no pid namespace may be made here: this takes long if there are many "
                     "processes\n");
        return;
    }
    few__fork(); /* the first process of the namespace .. */
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", 0, NULL) != 0) {
        perror("mount /proc");
        _exit(1);
    }
    few__fork(); /* .. gets the orphans; the test is its child */
}

#endif
