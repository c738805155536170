/*
 * Death and idleness: how soon the next in line enters after its holder was killed; what a thousand
 * waiters cost while nothing happens; how big a pool is.
 */
#include "bench/bench.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEATHS = 100, FAR = 1000 };

struct shared {
    _Atomic uint32_t held;
    double entered[1];
};

static struct usher_pool *attach(void)
{
    struct usher_pool *pool;
    struct usher_options options = {.seats = 1, .guests = 2048};
    if (usher_open(&pool, bench_pool(), &options) != 0) {
        _exit(1);
    }
    return pool;
}

static void nap(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

static pid_t start_holder(struct shared *shared)
{
    pid_t holder = fork();
    if (holder == 0) {
        struct usher_seat seat;
        (void)usher_acquire(attach(), &seat);
        atomic_store(&shared->held, 1);
        for (;;) {
            (void)pause();
        }
    }
    while (atomic_load(&shared->held) == 0) {
        nap(1);
    }
    return holder;
}

static pid_t start_waiter(struct shared *shared)
{
    pid_t waiter = fork();
    if (waiter == 0) {
        struct usher_seat seat;
        struct usher_pool *pool = attach();
        (void)usher_acquire(pool, &seat);
        shared->entered[0] = bench_now_ns();
        (void)usher_release(pool, &seat);
        _exit(0);
    }
    return waiter;
}

void bench_death(void)
{
    double took[DEATHS];
    struct shared *shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct usher_pool *pool = attach();
    for (unsigned d = 0; d < DEATHS; d++) {
        struct usher_info info = {0};
        atomic_store(&shared->held, 0);
        pid_t holder = start_holder(shared);
        pid_t waiter = start_waiter(shared);
        while (info.waiters == 0) {
            (void)usher_inspect(pool, &info, NULL, 0);
            nap(1);
        }
        nap(rand() % 100);
        double begin = bench_now_ns();
        (void)kill(holder, SIGKILL);
        (void)waitpid(waiter, NULL, 0);
        took[d] = (shared->entered[0] - begin) / 1e6;
        (void)waitpid(holder, NULL, 0);
    }
    double median = bench_median(took, DEATHS);
    (void)printf("\nholder killed, next in line enters, %d times\n\n"
                 "  median %.1f ms, 99 of 100 within %.1f ms (wanted: 100), at most %.1f ms\n",
                 DEATHS, median, took[DEATHS * 99 / 100 - 1], took[DEATHS - 1]);
    usher_close(pool);
    (void)usher_remove(bench_pool());
}

static void measure_idle(unsigned waiters)
{
    struct shared *shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct usher_pool *pool = attach();
    struct usher_info info = {0};
    pid_t parent = fork(); /* a process of its own, whose children's time can be told */
    if (parent == 0) {
        pid_t *all = malloc(waiters * sizeof *all);
        pid_t holder = start_holder(shared);
        for (unsigned w = 0; w < waiters; w++) {
            all[w] = start_waiter(shared);
        }
        while (info.waiters < waiters) {
            struct usher_pool *own = attach();
            (void)usher_inspect(own, &info, NULL, 0);
            usher_close(own);
            nap(10);
        }
        nap(1000);
        double cpu = 0;
        const long seconds = 10;
        for (int end = 0; end < 2; end++) {
            double sum = 0;
            for (unsigned w = 0; w < waiters; w++) {
                clockid_t clock;
                struct timespec t = {0, 0};
                if (clock_getcpuclockid(all[w], &clock) == 0) {
                    (void)clock_gettime(clock, &t);
                }
                sum += (double)t.tv_sec + (double)t.tv_nsec / 1e9;
            }
            cpu = end == 0 ? sum : sum - cpu;
            nap(end == 0 ? seconds * 1000 : 0);
        }
        (void)printf("  %5u waiters: %.4f %% of a core (wanted: below 0.1)\n", waiters,
                     100 * cpu / (double)seconds);
        (void)fflush(stdout);
        for (unsigned w = 0; w < waiters; w++) {
            (void)kill(all[w], SIGKILL);
        }
        (void)kill(holder, SIGKILL);
        while (wait(NULL) > 0) {
        }
        _exit(0);
    }
    (void)waitpid(parent, NULL, 0);
    usher_close(pool);
    (void)usher_discard(bench_pool());
    (void)munmap(shared, 4096);
}

void bench_idle(void)
{
    (void)printf("\nprocessor time of waiters while nothing happens, 10 s each\n\n");
    (void)fflush(stdout);
    measure_idle(1);
    measure_idle(10);
    measure_idle(FAR);
}

void bench_memory(void)
{
    static const struct {
        uint32_t guests, seats;
    } sizes[] = {{1024, 1}, {1024, 8}, {16, 4}, {100, 10}, {65534, 1000}};
    (void)printf("\nsize of a pool\n\n  %8s %8s %10s %12s %8s\n", "guests", "seats", "bytes",
                 "wanted <=", "");
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct usher_options options = {.seats = sizes[s].seats, .guests = sizes[s].guests};
        struct usher_pool *pool;
        struct stat status;
        if (usher_open(&pool, bench_pool(), &options) == 0 && stat(bench_pool(), &status) == 0) {
            long most = 64L * (sizes[s].guests + sizes[s].seats) + 4096;
            (void)printf("  %8u %8u %10ld %12ld %8s\n", sizes[s].guests, sizes[s].seats,
                         (long)status.st_size, most, status.st_size <= most ? "yes" : "NO");
            usher_close(pool);
        }
        (void)usher_remove(bench_pool());
    }
    (void)printf("  a gate: %zu bytes\n", sizeof(struct usher_gate));
}
