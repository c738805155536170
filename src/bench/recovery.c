/*
 * A holder is killed with SIGKILL while another process waits: how long until the waiter gets the
 * seat? Peers that survive this are measured in turn; each of the others is tried once, to see
 * whether any process gets in at all. The pool is measured again with a moving line: the holder has
 * just come from the line, and more waiters stand behind.
 */
#include "bench/bench.h"
#include "bench/peers.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000, MOST_BEHIND = 3 };

static struct shared {
    _Atomic uint32_t held, waits, entered;
    double entered_ns;
} * shared;

static pid_t start_holder(const struct bench_peer *peer)
{
    pid_t holder = bench_fork();
    if (holder == 0) {
        if (peer->attach() == 0) {
            peer->get();
        }
        atomic_store(&shared->held, 1);
        for (;;) {
            (void)pause();
        }
    }
    while (atomic_load(&shared->held) == 0) {
        bench_nap_us(200);
    }
    return holder;
}

static pid_t start_waiter(const struct bench_peer *peer)
{
    pid_t waiter = bench_fork();
    if (waiter == 0) {
        int error = peer->attach();
        atomic_store(&shared->waits, 1);
        if (error == 0) {
            peer->get();
            shared->entered_ns = bench_now_ns();
            atomic_store(&shared->entered, 1);
            peer->pass();
        }
        _exit(0);
    }
    while (atomic_load(&shared->waits) == 0) {
        bench_nap_us(200);
    }
    return waiter;
}

/* Return the ms from one death until the next holder, or -1: there was none. */
static double one_death(const struct bench_peer *peer)
{
    shared->held = shared->waits = shared->entered = 0;
    pid_t holder = start_holder(peer);
    pid_t waiter = start_waiter(peer);
    /* Kill at a random point of the wait. */
    bench_nap_us(10000 + (unsigned)rand() % 100000);
    double begin = bench_now_ns();
    (void)kill(holder, SIGKILL);
    (void)waitpid(holder, NULL, 0);
    for (unsigned ms = 0; ms < PATIENCE_MS && atomic_load(&shared->entered) == 0; ms++) {
        bench_nap_us(1000);
    }
    double took = atomic_load(&shared->entered) != 0 ? (shared->entered_ns - begin) / 1e6 : -1;
    if (took < 0) {
        (void)kill(waiter, SIGKILL);
    }
    (void)waitpid(waiter, NULL, 0);
    return took;
}

/* Start a process that waits; if `stays`, it holds its seat until it is killed. */
static pid_t start_in_line(const struct bench_peer *peer, uint32_t number, bool stays)
{
    pid_t child = bench_fork();
    if (child == 0) {
        int error = peer->attach();
        atomic_store(&shared->waits, number);
        if (error == 0) {
            peer->get();
        }
        if (stays) {
            atomic_store(&shared->held, 1);
            for (;;) {
                (void)pause();
            }
        }
        uint32_t none = 0;
        double now = bench_now_ns();
        if (atomic_compare_exchange_strong(&shared->entered, &none, 1)) {
            shared->entered_ns = now;
            atomic_store(&shared->entered, 2);
        }
        peer->pass();
        _exit(0);
    }
    while (atomic_load(&shared->waits) != number) {
        bench_nap_us(200);
    }
    bench_nap_us(2000); /* in line by now */
    return child;
}

/* One death in a line that has just moved: ms until the next holder, or -1. */
static double one_in_line(const struct bench_peer *peer, unsigned behind)
{
    pid_t others[MOST_BEHIND];
    shared->held = shared->waits = shared->entered = 0;
    peer->get();
    pid_t holder = start_in_line(peer, 1, true);
    for (unsigned b = 0; b < behind; b++) {
        others[b] = start_in_line(peer, b + 2, false);
    }
    bench_nap_us(150000 + (unsigned)rand() % 150000); /* every waiter has scanned once */
    peer->pass();
    while (atomic_load(&shared->held) == 0) {
        bench_nap_us(50);
    }
    bench_nap_us((unsigned)rand() % 20000);
    double begin = bench_now_ns();
    (void)kill(holder, SIGKILL);
    (void)waitpid(holder, NULL, 0);
    for (unsigned ms = 0; ms < PATIENCE_MS && atomic_load(&shared->entered) != 2; ms++) {
        bench_nap_us(1000);
    }
    double took = atomic_load(&shared->entered) == 2 ? (shared->entered_ns - begin) / 1e6 : -1;
    for (unsigned b = 0; b < behind; b++) {
        if (took < 0) {
            (void)kill(others[b], SIGKILL);
        }
        (void)waitpid(others[b], NULL, 0);
    }
    return took;
}

static void measure_in_line(void)
{
    static double took[MOST_BEHIND][BENCH_MAX_ROUNDS];
    const struct bench_peer *peer = &bench_usher_pool;
    unsigned deaths = bench_pick(25, 2, 1);
    double most = 0;
    if (peer->open(1, 16) != 0 || peer->attach() != 0) {
        bench_absent("recovery", peer->name, "could not be opened");
        return;
    }
    for (unsigned d = 0; d < deaths; d++) {
        for (unsigned b = 0; b < MOST_BEHIND; b++) {
            took[b][d] = one_in_line(peer, b + 1);
            double value = took[b][d] < 0 ? PATIENCE_MS : took[b][d];
            most = value > most ? value : most;
        }
    }
    bench_table("recovery", "line",
                "holder killed just after its grant: time until the next holder", "ms", "less");
    for (unsigned b = 0; b < MOST_BEHIND; b++) {
        char where[32];
        (void)snprintf(where, sizeof where, "%u behind it", b + 1);
        bench_row(where, b + 1, peer->name, took[b], deaths);
    }
    bench_show();
    bench_want("usher pool, ms until the next holder after a grant, maximum",
               bench_summarise(&most, 1), true, 100);
    peer->detach();
    peer->close();
}

static void try_the_others(void)
{
    const struct bench_peer *peers[BENCH_MAX_PEERS];
    unsigned count = bench_choose(peers, 0, PEER_SURVIVES | PEER_SPINS | PEER_THREADS | PEER_LIMIT);
    for (unsigned p = 0; p < count; p++) {
        char why[64];
        if (peers[p]->open(1, 4) != 0) {
            continue;
        }
        double took = one_death(peers[p]);
        (void)snprintf(why, sizeof why,
                       took < 0 ? "no process gets in any more" : "next holder after %.1f ms",
                       took);
        bench_absent("recovery", peers[p]->name, why);
        peers[p]->close();
    }
}

static void report(const struct bench_peer *const *peers, unsigned count,
                   double (*took)[BENCH_MAX_ROUNDS], unsigned deaths)
{
    static const double quantiles[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};
    bench_table("recovery", "quantiles", "holder killed: time until the next holder", "ms", "less");
    for (unsigned q = 0; q < sizeof quantiles / sizeof quantiles[0]; q++) {
        char where[32];
        (void)snprintf(where, sizeof where, "%.0f %% within", 100 * quantiles[q]);
        for (unsigned p = 0; p < count; p++) {
            double value = bench_quantile(took[p], deaths, quantiles[q]);
            bench_row(where, 100 * quantiles[q], peers[p]->name, &value, 1);
        }
    }
    bench_show();
    unsigned pool = bench_index(peers, count, "usher pool");
    double half = bench_quantile(took[pool], deaths, 0.5);
    double nearly_all = bench_quantile(took[pool], deaths, 0.99);
    double missed = 0;
    for (unsigned d = 0; d < deaths; d++) {
        missed += took[pool][d] < 0;
    }
    bench_want("usher pool, ms until the next holder, median", bench_summarise(&half, 1), true, 5);
    bench_want("usher pool, ms until the next holder, 99 %", bench_summarise(&nearly_all, 1), true,
               100);
    bench_want("usher pool, deaths without a next holder", bench_summarise(&missed, 1), true, 0);
}

void bench_recovery(void)
{
    static double took[BENCH_MAX_PEERS][BENCH_MAX_ROUNDS];
    const struct bench_peer *peers[BENCH_MAX_PEERS];
    unsigned deaths = bench_pick(120, 8, 2);
    unsigned count = bench_choose(peers, PEER_SURVIVES, PEER_SPINS | PEER_THREADS);
    shared = bench_shared(sizeof *shared);
    for (unsigned p = 0; p < count; p++) {
        (void)peers[p]->open(1, 16);
    }
    for (unsigned d = 0; d < deaths; d++) {
        for (unsigned i = 0; i < count; i++) {
            unsigned p = (i + d) % count;
            took[p][d] = one_death(peers[p]);
        }
    }
    report(peers, count, took, deaths);
    for (unsigned p = 0; p < count; p++) {
        peers[p]->close();
    }
    try_the_others();
    measure_in_line();
    bench_unshare(shared, sizeof *shared);
}
