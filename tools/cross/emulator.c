/*
 * What this machine, or the emulator of one, does not offer to programs. It uses nothing of usher.
 * Prints a line for each: a word, and "yes" or "no".
 *
 *     exec       a program can start itself again with execve(2). qemu-user cannot, unless the
 *                kernel knows the emulator (binfmt_misc): execve of a program for another
 *                processor fails
 *     seccomp    prctl(2) installs a filter
 *     vfork      a child of vfork(2) has the parent's memory. qemu-user makes it a fork(2)
 *     subreaper  prctl(2) makes a process the parent of orphans
 *
 * tools/cross/run takes a failing test for a failure of the emulator only if the word beside the
 * test in tests/cross.cmake is printed here with "no".
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child)
{
    int status = -1;
    (void)waitpid(child, &status, 0);
    return status;
}

static bool has_exec(void)
{
    pid_t child = fork();
    if (child == 0) {
        (void)execl("/proc/self/exe", "emulator", "again", (char *)NULL);
        _exit(1);
    }
    return status_of(child) == 0;
}

static bool has_seccomp(void)
{
    struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, allow};
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        _exit(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : 1);
    }
    return status_of(child) == 0;
}

static bool has_vfork(void)
{
    volatile bool written = false;
    pid_t child = vfork();
    if (child == 0) {
        written = true;
        _exit(0);
    }
    return status_of(child) == 0 && written;
}

static bool has_subreaper(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

static void say(const char *word, bool offered)
{
    (void)printf("%s %s\n", word, offered ? "yes" : "no");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "again") == 0) {
        return 0;
    }
    say("exec", has_exec());
    say("seccomp", has_seccomp());
    say("vfork", has_vfork());
    say("subreaper", has_subreaper());
    return 0;
}
