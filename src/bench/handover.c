/*
 * One seat, two processes, and it goes back and forth between them: whoever has it gives it back
 * only when the other wants it, so that each turn is a hand-over to one that waits. Against two
 * processes that only wake each other by a futex, a bare FIFO ticket semaphore, and SysV
 * semaphores.
 */
#include "bench/bench.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 2000 };

struct shared {
    _Atomic uint32_t wants[2];
    _Atomic uint32_t ball;            /* ping-pong: whose turn */
    _Atomic uint32_t issued, serving; /* the bare ticket semaphore */
};

static struct shared *shared;
static struct usher_pool *pool;
static struct usher_seat seat;
static uint32_t me, ticket;
static int set = -1;

static void futex_wait(_Atomic uint32_t *word, uint32_t while_)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT, while_, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void ball_get(void)
{
    while (atomic_load(&shared->ball) != me) {
        futex_wait(&shared->ball, 1 - me);
    }
}

static void ball_pass(void)
{
    atomic_store(&shared->ball, 1 - me);
    futex_wake(&shared->ball);
}

static void ticket_get(void)
{
    ticket = atomic_fetch_add(&shared->issued, 1);
    for (uint32_t now = atomic_load(&shared->serving); now != ticket;
         now = atomic_load(&shared->serving)) {
        futex_wait(&shared->serving, now);
    }
}

static void ticket_pass(void)
{
    atomic_fetch_add(&shared->serving, 1);
    if (atomic_load(&shared->issued) != ticket + 1) {
        futex_wake(&shared->serving);
    }
}

static void sysv_get(void)
{
    struct sembuf wait = {0, -1, SEM_UNDO};
    (void)semop(set, &wait, 1);
}

static void sysv_pass(void)
{
    struct sembuf post = {0, 1, SEM_UNDO};
    (void)semop(set, &post, 1);
}

static void pool_get(void)
{
    (void)usher_acquire(pool, &seat);
}

static void pool_pass(void)
{
    (void)usher_release(pool, &seat);
}

static const struct peer {
    const char *name;
    void (*get)(void);
    void (*pass)(void);
} peers[] = {
    {"futex ping-pong", ball_get, ball_pass},
    {"bare FIFO ticket semaphore", ticket_get, ticket_pass},
    {"SysV semop, SEM_UNDO", sysv_get, sysv_pass},
    {"usher pool", pool_get, pool_pass},
};

enum { PEERS = sizeof peers / sizeof peers[0] };

static void take_turns(const struct peer *peer, unsigned turns)
{
    for (unsigned turn = 0; turn < turns; turn++) {
        atomic_store(&shared->wants[me], 1);
        peer->get();
        atomic_store(&shared->wants[me], 0);
        while (atomic_load(&shared->wants[1 - me]) == 0 && turn + 1 < turns) {
            (void)sched_yield();
        }
        peer->pass();
    }
    atomic_store(&shared->wants[me], 1); /* for the other's last turn */
}

static bool attach(void)
{
    struct usher_options options = {.seats = 1};
    return usher_open(&pool, bench_pool(), &options) == 0;
}

/* ns for a turn of two processes that take turns. */
static double measure(const struct peer *peer)
{
    *shared = (struct shared){.ball = 0};
    (void)semctl(set, 0, SETVAL, 1);
    pid_t child = fork();
    if (child == 0) {
        me = 1;
        if (attach()) {
            take_turns(peer, TURNS);
        }
        _exit(0);
    }
    me = 0;
    if (child < 0 || !attach()) {
        return 0;
    }
    double begin = bench_now_ns();
    take_turns(peer, TURNS);
    double took = (bench_now_ns() - begin) / (2.0 * TURNS);
    (void)waitpid(child, NULL, 0);
    usher_close(pool);
    return took;
}

void bench_handover(void)
{
    double took[PEERS][BENCH_ROUNDS];
    double row[BENCH_ROUNDS];
    double ratios[BENCH_ROUNDS];
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    set = semget(IPC_PRIVATE, 1, 0600);
    if (shared == MAP_FAILED || set < 0) {
        perror("usher-bench: handover");
        return;
    }
    (void)printf("\none seat back and forth between two processes, %d rounds of %d turns each\n\n"
                 "  %-34s %10s %12s\n",
                 BENCH_ROUNDS, TURNS, "", "ns a turn", "ratio");
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        for (unsigned p = 0; p < PEERS; p++) {
            took[p][round] = measure(&peers[p]);
        }
    }
    for (unsigned p = 0; p < PEERS; p++) {
        for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
            row[round] = took[p][round];
            ratios[round] = took[p][round] / took[0][round];
        }
        (void)printf("  %-34s %10.0f %11.2fx\n", peers[p].name, bench_median(row, BENCH_ROUNDS),
                     bench_median(ratios, BENCH_ROUNDS));
    }
    (void)fflush(stdout);
    (void)semctl(set, 0, IPC_RMID);
    (void)munmap(shared, 4096);
    (void)usher_remove(bench_pool());
}
