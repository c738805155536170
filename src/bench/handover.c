/*
 * One seat, two processes that want it all the time: each hand-over wakes a sleeper. Against a bare
 * FIFO ticket semaphore that sleeps on a futex, and against two processes that only wake each other.
 */
#include "bench/bench.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    _Atomic uint32_t ball;            /* ping-pong: whose turn */
    _Atomic uint32_t issued, serving; /* the bare ticket semaphore */
    _Atomic uint32_t ready;           /* the other is at it */
};

static struct shared *shared;
static pid_t child;

static void futex_wait(_Atomic uint32_t *word, uint32_t while_)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT, while_, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

static int share(void (*other)(void))
{
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return -1;
    }
    child = fork();
    if (child == 0) {
        other();
        _exit(0);
    }
    while (child > 0 && atomic_load(&shared->ready) == 0) {
        (void)sched_yield();
    }
    return child < 0 ? -1 : 0;
}

static void ready(void)
{
    atomic_store(&shared->ready, 1);
}

static void part(void)
{
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)munmap(shared, 4096);
}

static void pass_ball(uint32_t me)
{
    while (atomic_load(&shared->ball) != me) {
        futex_wait(&shared->ball, 1 - me);
    }
    atomic_store(&shared->ball, 1 - me);
    futex_wake(&shared->ball, 1);
}

static void pong(void)
{
    ready();
    for (;;) {
        pass_ball(1);
    }
}

static int ping_open(void)
{
    return share(pong);
}

static void ping_run(uint64_t times)
{
    while (times-- > 0) {
        pass_ball(0);
    }
}

static void ticket_once(void)
{
    uint32_t mine = atomic_fetch_add(&shared->issued, 1);
    for (uint32_t now = atomic_load(&shared->serving); now != mine;
         now = atomic_load(&shared->serving)) {
        futex_wait(&shared->serving, now);
    }
    atomic_fetch_add(&shared->serving, 1);
    if (atomic_load(&shared->issued) != mine + 1) {
        futex_wake(&shared->serving, 1);
    }
}

static void ticket_other(void)
{
    ready();
    for (;;) {
        ticket_once();
    }
}

static int ticket_open(void)
{
    return share(ticket_other);
}

static void ticket_run(uint64_t times)
{
    while (times-- > 0) {
        ticket_once();
    }
}

static struct usher_pool *pool;

static void pool_cycle(uint64_t times)
{
    struct usher_seat seat;
    while (times-- > 0) {
        (void)usher_acquire(pool, &seat);
        (void)usher_release(pool, &seat);
    }
}

static int pool_attach(void)
{
    struct usher_options options = {.seats = 1};
    return usher_open(&pool, bench_pool(), &options);
}

static void pool_other(void)
{
    if (pool_attach() == 0) {
        ready();
        pool_cycle(UINT64_MAX);
    }
}

static int pool_open(void)
{
    return share(pool_other) == 0 ? pool_attach() : -1;
}

static void pool_close(void)
{
    part();
    usher_close(pool);
    (void)usher_remove(bench_pool());
}

static int set = -1;

static void sysv_run(uint64_t times)
{
    while (times-- > 0) {
        struct sembuf wait = {0, -1, SEM_UNDO};
        struct sembuf post = {0, 1, SEM_UNDO};
        (void)semop(set, &wait, 1);
        (void)semop(set, &post, 1);
    }
}

static void sysv_other(void)
{
    ready();
    sysv_run(UINT64_MAX);
}

static int sysv_open(void)
{
    set = semget(IPC_PRIVATE, 1, 0600);
    return set < 0 || semctl(set, 0, SETVAL, 1) != 0 ? -1 : share(sysv_other);
}

static void sysv_close(void)
{
    part();
    (void)semctl(set, 0, IPC_RMID);
}

/* The peers' other processes run all the time, so each workload is measured by itself. */
void bench_handover(void)
{
    static const struct bench_peer peers[] = {
        {"futex ping-pong", ping_open, ping_run, part},
        {"bare FIFO ticket semaphore", ticket_open, ticket_run, part},
        {"SysV semop, SEM_UNDO", sysv_open, sysv_run, sysv_close},
        {"usher pool", pool_open, pool_cycle, pool_close},
    };
    double took[4][BENCH_ROUNDS];
    double row[BENCH_ROUNDS];
    double ratios[BENCH_ROUNDS];
    const uint64_t times = 5000;
    (void)printf("\none seat, two processes, k = 1, %d rounds of %d\n\n  %-34s %10s %12s\n",
                 BENCH_ROUNDS, (int)times, "", "ns a turn", "ratio");
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        for (unsigned p = 0; p < 4; p++) {
            if (peers[p].open() != 0) {
                took[p][round] = 0;
                continue;
            }
            peers[p].run(times / 10);
            double begin = bench_now_ns();
            peers[p].run(times);
            took[p][round] = (bench_now_ns() - begin) / (double)times;
            peers[p].close();
        }
    }
    for (unsigned p = 0; p < 4; p++) {
        for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
            row[round] = took[p][round];
            ratios[round] = took[p][round] / took[0][round];
        }
        (void)printf("  %-34s %10.0f %11.2fx\n", peers[p].name, bench_median(row, BENCH_ROUNDS),
                     bench_median(ratios, BENCH_ROUNDS));
    }
    (void)fflush(stdout);
}
