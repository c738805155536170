/* CPU time of waiting processes while nothing happens. */
#include "bench/bench.h"
#include "bench/peers.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t *came;

/* A holder reports after its acquire, a waiter before it. */
static pid_t start(const struct bench_peer *peer, bool holder)
{
    pid_t child = bench_fork();
    if (child == 0) {
        bool able = peer->attach() == 0;
        if (able && holder) {
            peer->get();
        }
        (void)atomic_fetch_add(came, 1);
        if (able && !holder) {
            peer->get();
        }
        for (;;) {
            (void)pause();
        }
    }
    return child;
}

static double cpu_s(const pid_t *processes, unsigned count)
{
    double sum = 0;
    for (unsigned p = 0; p < count; p++) {
        clockid_t clock;
        struct timespec t = {0, 0};
        if (clock_getcpuclockid(processes[p], &clock) == 0) {
            (void)clock_gettime(clock, &t);
        }
        sum += (double)t.tv_sec + (double)t.tv_nsec / 1e9;
    }
    return sum;
}

static void await_all(unsigned count)
{
    while (atomic_load(came) < count) {
        bench_nap_us(1000);
    }
}

/* Measure all waiters together, in percent of a core, once a second. */
static bool measure(const struct bench_peer *peer, unsigned waiters, double *percent,
                    unsigned seconds)
{
    pid_t *all = malloc((waiters + 1) * sizeof *all);
    if (all == NULL || peer->open(1, waiters + 8) != 0) {
        free(all);
        return false;
    }
    came = bench_shared(sizeof *came);
    for (unsigned w = 0; w <= waiters; w++) {
        all[w] = start(peer, w == 0);
        await_all(w == 0);
    }
    await_all(waiters + 1);
    bench_nap_us(bench_pick(1500, 1000, 20) * 1000);
    for (unsigned s = 0; s < seconds; s++) {
        double before = cpu_s(all + 1, waiters);
        double begin = bench_now_ns();
        bench_nap_us(bench_pick(1000, 1000, 20) * 1000);
        percent[s] = 100 * (cpu_s(all + 1, waiters) - before) * 1e9 / (bench_now_ns() - begin);
    }
    for (unsigned w = waiters + 1; w-- > 0;) {
        (void)kill(all[w], SIGKILL); /* holder last: its death must wake no waiter */
        (void)waitpid(all[w], NULL, 0);
    }
    free(all);
    bench_unshare(came, sizeof *came);
    peer->close();
    return true;
}

void bench_idle(void)
{
    static const struct bench_peer *const peers[] = {&bench_usher_pool, &bench_usher_gate};
    unsigned seconds = bench_pick(8, 1, 1);
    double most[2] = {0, 0};
    bench_table("idle", "time", "processor time of all waiters while nothing happens",
                "% of a core", "less");
    for (unsigned s = bench_pick(0, 2, 1); s < bench_pick(3, 3, 2); s++) {
        static const unsigned sizes[] = {1, 10, 1000};
        char where[32];
        (void)snprintf(where, sizeof where, "%u waiters", sizes[s]);
        for (unsigned p = 0; p < 2; p++) {
            double percent[16];
            double sum = 0;
            if (!measure(peers[p], sizes[s], percent, seconds)) {
                bench_absent("idle", peers[p]->name, "too many guests for it");
                continue;
            }
            bench_row(where, sizes[s], peers[p]->name, percent, seconds);
            for (unsigned i = 0; i < seconds; i++) {
                sum += percent[i];
            }
            most[p] = sum / seconds > most[p] ? sum / seconds : most[p];
        }
    }
    bench_show();
    for (unsigned p = 0; p < 2; p++) {
        char what[96];
        (void)snprintf(what, sizeof what, "%s, %% of a core, mean, most of all sizes",
                       peers[p]->name);
        bench_want(what, bench_summarise(&most[p], 1), true, 0.1);
    }
}
