/* One acquire and one release with nobody else about: what the atomics cost, and nothing more. */
#include "bench/bench.h"
#include "bench/peers.h"

#include <stddef.h>
#include <stdio.h>

static const struct bench_peer *peers[BENCH_MAX_PEERS];
static unsigned peer_count;
static double took[BENCH_MAX_PEERS][BENCH_MAX_ROUNDS];

/* How often a peer can do it in a round. */
static uint64_t times_a_round(const struct bench_peer *peer)
{
    const double wanted_ns = 1e6; /* short: few of them are interrupted */
    uint64_t times = 64;
    double needed = 0;
    while (needed < wanted_ns / 4) {
        times *= 2;
        double begin = bench_now_ns();
        peer->run(times);
        needed = bench_now_ns() - begin;
    }
    return (uint64_t)((double)times * wanted_ns / needed) + 1;
}

static void choose(unsigned seats)
{
    const struct bench_peer *all[BENCH_MAX_PEERS];
    unsigned count = bench_choose(all, 0, seats > 1 ? PEER_ONE : 0);
    peer_count = 0;
    for (unsigned p = 0; p < count; p++) {
        if (all[p]->open(seats, 16) == 0 && all[p]->attach() == 0) {
            peers[peer_count++] = all[p];
        } else {
            bench_absent("uncontended", all[p]->name, "could not be opened");
        }
    }
}

static unsigned measure(unsigned seats, const char *name, const char *title)
{
    uint64_t times[BENCH_MAX_PEERS];
    unsigned rounds = bench_pick(201, 51, 2);
    choose(seats);
    for (unsigned p = 0; p < peer_count; p++) {
        times[p] = times_a_round(peers[p]);
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < peer_count; i++) {
            unsigned p = (i + round) % peer_count;
            double begin = bench_now_ns();
            peers[p]->run(times[p]);
            took[p][round] = (bench_now_ns() - begin) / (double)times[p];
        }
    }
    bench_table("uncontended", name, title, "ns", "less");
    for (unsigned p = 0; p < peer_count; p++) {
        bench_row("", seats, peers[p]->name, took[p], rounds);
        peers[p]->detach();
        peers[p]->close();
    }
    bench_show();
    return rounds;
}

/* limit 0: only told. */
static void want(const char *peer, const char *against, unsigned seats, unsigned rounds,
                 double limit)
{
    char what[128];
    unsigned one = bench_index(peers, peer_count, peer);
    unsigned other = bench_index(peers, peer_count, against);
    if (one == peer_count || other == peer_count) {
        return;
    }
    (void)snprintf(what, sizeof what, "%s / %s, k = %u", peer, against, seats);
    struct bench_summary ratio = bench_ratio(took[one], took[other], rounds);
    if (limit > 0) {
        bench_want(what, ratio, true, limit);
    } else {
        bench_tell(what, ratio);
    }
}

void bench_uncontended(void)
{
    unsigned rounds = measure(4, "four", "acquire and release, one thread, alone, k = 4");
    want("usher pool", "sem_t", 4, rounds, 1.5);
    want("usher gate", "sem_t", 4, rounds, 1.2);
    want("usher pool", "semop+SEM_UNDO", 4, rounds, 0.1);
    want("usher pool", "limit: could be repaired", 4, rounds, 1.25);
    want("limit: could be repaired", "sem_t", 4, rounds, 0);
    rounds = measure(1, "one", "acquire and release, one thread, alone, k = 1");
    want("usher pool", "sem_t", 1, rounds, 1.5);
    want("usher pool", "robust mutex", 1, rounds, 1.2);
    want("usher pool", "semop+SEM_UNDO", 1, rounds, 0.1);
    want("usher pool", "limit: could be repaired", 1, rounds, 1.25);
    bench_peers_absent("uncontended");
}
