/* OS services for the workloads: clocks, children, shared memory, futexes. */
#include "bench/bench.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum bench_effort bench_effort = BENCH_FULL;

unsigned bench_pick(unsigned full, unsigned quick, unsigned smoke)
{
    return bench_effort == BENCH_FULL ? full : bench_effort == BENCH_QUICK ? quick : smoke;
}

double bench_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void bench_nap_us(unsigned us)
{
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    (void)nanosleep(&t, NULL);
}

/* A chain of dependent multiplications in a register. Its time does not depend on memory or on
   branch prediction after a context switch. It is not inlined, so calibration and use run the
   same code. */
static __attribute__((noinline, aligned(64))) void spin(unsigned long times)
{
    unsigned long chain = times;
    while (times-- > 0) {
        chain *= 0x9e3779b97f4a7c15UL;
        __asm__ volatile("" : "+r"(chain));
    }
}

/* Loops per microsecond: the maximum ever measured, because noise only slows. */
static double loops_a_us(void)
{
    static double best;
    for (unsigned try = 0; best == 0 || (try > 0 && try < 50); try++) {
        const unsigned long loops = 20000;
        double begin = bench_now_ns();
        spin(loops);
        double found = (double)loops * 1000 / (bench_now_ns() - begin);
        best = found > best ? found : best;
    }
    return best;
}

void bench_work_ns(unsigned ns)
{
    static double a_us;
    if (a_us == 0) {
        a_us = loops_a_us();
    }
    spin((unsigned long)(a_us * ns / 1000));
}

pid_t bench_fork(void)
{
    pid_t parent = getpid();
    (void)fflush(stdout); /* otherwise the child may write it again */
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1); /* the parent had ended before prctl */
        }
    }
    if (child < 0) {
        perror("usher-bench: fork");
        exit(71);
    }
    return child;
}

void *bench_shared(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("usher-bench: mmap");
        exit(71);
    }
    return memory;
}

void bench_unshare(void *memory, size_t size)
{
    (void)munmap(memory, size);
}

void bench_futex_wait(const void *word, uint32_t seen)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

void bench_futex_wait_for(const void *word, uint32_t seen, unsigned ms)
{
    struct timespec most = {ms / 1000, (long)(ms % 1000) * 1000000};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
}

void bench_futex_wake(const void *word, unsigned count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

static long owner; /* pid in the names of our files; children keep their parent's */

void bench_name_after(pid_t process)
{
    owner = (long)process;
}

void bench_path(char *path, size_t room, const char *suffix)
{
    if (owner == 0) {
        owner = (long)getpid();
    }
    (void)snprintf(path, room, "/dev/shm/usher-bench-%ld%s%s", owner, *suffix == '\0' ? "" : "-",
                   suffix);
}

const char *bench_pool(void)
{
    static char path[64];
    if (path[0] == '\0') {
        bench_path(path, sizeof path, "");
    }
    return path;
}

void bench_program(char *path, size_t room, const char *name)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        (void)snprintf(path, room, "%s", name);
        return;
    }
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    (void)snprintf(path, room, "%s/%s", self, name);
}
