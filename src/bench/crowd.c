/*
 * Processes with threads. crowd.h is the contract. The first thread of each process obeys the
 * driver. A command has a number and goes to all processes; each answers.
 */
#include "bench/crowd.h"

#include "bench/bench.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PROCESSES = 128 };
enum command { TELL, AWAIT, COUNT };

struct crowd {
    _Alignas(64) _Atomic uint32_t number; /* of the command */
    _Alignas(64) _Atomic uint32_t answers, failures;
    enum command command;
    unsigned members;
    herd_job *job; /* valid in all processes: they are forks of one */
    long sleeps[MOST_PROCESSES];
    unsigned processes, threads;
    pid_t pids[MOST_PROCESSES];
};

/* Return how many of the first `members` members belong to this process. */
static unsigned share(const struct crowd *crowd, unsigned process)
{
    return (crowd->members + crowd->processes - 1 - process) / crowd->processes;
}

static void obey(struct crowd *crowd, struct herd *herd, unsigned process)
{
    struct rusage usage;
    switch (crowd->command) {
    case TELL:
        for (unsigned t = 0; t < share(crowd, process); t++) {
            herd_tell(herd, t, crowd->job);
        }
        break;
    case AWAIT:
        for (unsigned t = 0; t < share(crowd, process); t++) {
            herd_await(herd, t);
        }
        break;
    case COUNT:
        (void)getrusage(RUSAGE_SELF, &usage);
        crowd->sleeps[process] = usage.ru_nvcsw;
        break;
    }
}

static _Noreturn void serve(struct crowd *crowd, unsigned process, int (*prepare)(void))
{
    struct herd *herd = prepare() == 0 ? herd_new(crowd->threads) : NULL;
    if (herd == NULL) {
        (void)atomic_fetch_add(&crowd->failures, 1);
    }
    for (uint32_t seen = 0;; seen++) {
        (void)atomic_fetch_add(&crowd->answers, 1);
        while (atomic_load(&crowd->number) == seen) {
            bench_futex_wait(&crowd->number, seen);
        }
        if (herd != NULL) {
            obey(crowd, herd, process);
        }
    }
}

static void await_answers(struct crowd *crowd)
{
    while (atomic_load(&crowd->answers) < crowd->processes) {
        bench_nap_us(500);
    }
}

static void command(struct crowd *crowd, enum command what)
{
    atomic_store(&crowd->answers, 0);
    crowd->command = what;
    (void)atomic_fetch_add(&crowd->number, 1);
    bench_futex_wake(&crowd->number, MOST_PROCESSES);
    await_answers(crowd);
}

struct crowd *crowd_new(unsigned processes, unsigned threads, int (*prepare)(void))
{
    struct crowd *crowd = bench_shared(sizeof *crowd);
    crowd->processes = processes < MOST_PROCESSES ? processes : MOST_PROCESSES;
    crowd->threads = threads;
    for (unsigned p = 0; p < crowd->processes; p++) {
        pid_t child = bench_fork();
        if (child == 0) {
            serve(crowd, p, prepare);
        }
        crowd->pids[p] = child; /* the child does not write it: the memory is shared */
    }
    await_answers(crowd);
    if (crowd->failures != 0) {
        crowd_end(crowd);
        return NULL;
    }
    return crowd;
}

void crowd_tell(struct crowd *crowd, unsigned members, herd_job *job)
{
    crowd->members = members;
    crowd->job = job;
    command(crowd, TELL);
}

void crowd_await(struct crowd *crowd)
{
    command(crowd, AWAIT);
}

static double cpu_ns(const struct crowd *crowd)
{
    double sum = 0;
    for (unsigned p = 0; p < crowd->processes; p++) {
        clockid_t clock;
        struct timespec t = {0, 0};
        if (clock_getcpuclockid(crowd->pids[p], &clock) == 0) {
            (void)clock_gettime(clock, &t);
        }
        sum += (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
    }
    return sum;
}

/* In a pool each waiter scans once, 60 ms after it began to wait; a sleep before that is short.
   So wait at least 150 ms, the last 100 of them quiet. Do not wait much longer: at a gate all
   waiters check again every 300 ms. */
void crowd_settle(struct crowd *crowd)
{
    bench_nap_us(50000);
    double before = cpu_ns(crowd);
    unsigned quiet = 0;
    for (unsigned poll = 0; poll < 200 && quiet < 5; poll++) {
        bench_nap_us(20000);
        double now = cpu_ns(crowd);
        /* 2 % of the interval: no more than scans for dead guests need */
        quiet = now - before < 4e5 ? quiet + 1 : 0;
        before = now;
    }
}

/* Subtract the sleep of each first thread after each command; it is not a member's. */
long crowd_sleeps(struct crowd *crowd)
{
    long sum = 0;
    command(crowd, COUNT);
    for (unsigned p = 0; p < crowd->processes; p++) {
        sum += crowd->sleeps[p];
    }
    return sum - (long)(atomic_load(&crowd->number) * crowd->processes);
}

void crowd_end(struct crowd *crowd)
{
    for (unsigned p = 0; p < crowd->processes; p++) {
        (void)kill(crowd->pids[p], SIGKILL);
        (void)waitpid(crowd->pids[p], NULL, 0);
    }
    bench_unshare(crowd, sizeof *crowd);
}
