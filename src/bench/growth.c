/*
 * Cost as N and k grow. N: so many threads have used it before, and one after the other comes and
 * goes, k = 4. k: so many come and stay, until all seats are taken.
 *
 * A peer that numbers seats must find a free one. The first time all come at once each has only
 * ever been in alone; the second time each has had a seat before, and they come in another order.
 * Each time is of one call in a thread that was asleep, so caches are cold for all alike.
 *
 * Whoever survives deaths has a row for each guest, and the more guests there are the colder is
 * each row. What that alone costs is seen with limit_fifo + a row each.
 */
#include "bench/bench.h"
#include "bench/herd.h"
#include "bench/peers.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SIZES = 8, ROUNDS = 16, SAMPLES = 256 };

static const struct bench_peer *peer;
static double began, came, gone;

static void come_and_go(unsigned member)
{
    (void)member;
    began = bench_now_ns();
    peer->get();
    came = bench_now_ns();
    peer->pass();
    gone = bench_now_ns();
}

static void come(unsigned member)
{
    (void)member;
    began = bench_now_ns();
    peer->get();
    came = bench_now_ns();
}

static void go(unsigned member)
{
    (void)member;
    came = bench_now_ns();
    peer->pass();
    gone = bench_now_ns();
}

static void do_it(struct herd *herd, unsigned member, herd_job *job)
{
    herd_tell(herd, member, job);
    herd_await(herd, member);
}

/* The i-th of so many in an order that is all over the place; `count` is a power of two. */
static unsigned shuffled(unsigned i, unsigned count)
{
    return (i * 2654435761U + 97) % count;
}

/* The median of coming and going, over a sample of the members; if they are few, of all of them,
   several times: the fewest are what the others are compared with. */
static double turn_ns(struct herd *herd, unsigned guests)
{
    double took[SAMPLES];
    assert(guests > 0);
    for (unsigned i = 0; i < SAMPLES; i++) {
        do_it(herd, shuffled(i % guests, guests), come_and_go);
        took[i] = gone - began;
    }
    return bench_summarise(took, SAMPLES).median;
}

/* The mean of coming, while so many come and stay; then all leave. */
static double fill_ns(struct herd *herd, unsigned seats, bool mixed)
{
    double sum = 0;
    for (unsigned i = 0; i < seats; i++) {
        do_it(herd, mixed ? shuffled(i, seats) : i, come);
        sum += came - began;
    }
    for (unsigned i = 0; i < seats; i++) {
        do_it(herd, i, go);
    }
    return sum / seats;
}

/* The same not for the first time: as often as it takes to have a sample. */
static double refill_ns(struct herd *herd, unsigned seats)
{
    double sum = 0;
    assert(seats > 0);
    unsigned times = seats < SAMPLES ? SAMPLES / seats : 1;
    for (unsigned n = 0; n < times; n++) {
        sum += fill_ns(herd, seats, true);
    }
    return sum / times;
}

struct series {
    const char *table, *title;
    bool by_seats, again;
    unsigned sizes[MOST_SIZES];
    unsigned count;
};

static double took[BENCH_MAX_PEERS][MOST_SIZES][ROUNDS];
static bool fits[BENCH_MAX_PEERS][MOST_SIZES];

static double measure(const struct series *series, struct herd *herd, unsigned size)
{
    double found;
    for (unsigned m = 0; m < size; m++) {
        do_it(herd, m, come_and_go); /* they claim what they keep */
    }
    if (series->by_seats) {
        found = fill_ns(herd, size, false);
        return series->again ? refill_ns(herd, size) : found;
    }
    return turn_ns(herd, size);
}

static void run(const struct series *series, const struct bench_peer *const *peers, unsigned count,
                struct herd *herd, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < count * series->count; i++) {
            unsigned p = (i + round) % count;
            unsigned s = (i / count + round) % series->count;
            unsigned size = series->sizes[s];
            peer = peers[p];
            fits[p][s] = peer->open(series->by_seats ? size : 4, size) == 0;
            if (fits[p][s] && peer->attach() == 0) {
                took[p][s][round] = measure(series, herd, size);
                peer->detach();
                peer->close();
            }
        }
    }
}

/* A peer's growth beside a limit's: memory is colder for all, the more there are. */
static void want(const struct series *series, const struct bench_peer *const *peers, unsigned p,
                 unsigned limit, unsigned rounds)
{
    unsigned last = series->count - 1;
    double growth[ROUNDS];
    double beside[ROUNDS];
    char what[160];
    for (unsigned r = 0; r < rounds; r++) {
        growth[r] = took[p][last][r] / took[p][0][r];
        beside[r] = took[limit][last][r] / took[limit][0][r];
    }
    (void)snprintf(what, sizeof what, "%s, %s %u / %u%s; beside %s", peers[p]->name,
                   series->by_seats ? "k" : "N", series->sizes[last], series->sizes[0],
                   !series->by_seats ? ""
                   : series->again   ? ", coming again"
                                     : ", all at once for the first time",
                   peers[limit]->name);
    bench_want(what, bench_ratio(growth, beside, rounds), true, 1.5);
}

/* The limits are the first two: without a row for each guest, which is the gate's, and with. */
static void report(const struct series *series, const struct bench_peer *const *peers,
                   unsigned count, unsigned rounds)
{
    bench_table("growth", series->table, series->title, "ns", "less");
    for (unsigned s = 0; s < series->count; s++) {
        char where[32];
        (void)snprintf(where, sizeof where, "%s = %u", series->by_seats ? "k" : "N",
                       series->sizes[s]);
        for (unsigned p = 0; p < count; p++) {
            if (fits[p][s]) {
                bench_row(where, series->sizes[s], peers[p]->name, took[p][s], rounds);
            }
        }
    }
    bench_show();
    for (unsigned p = 0; p < count; p++) {
        bool pool = peers[p] == &bench_usher_pool;
        if (!pool && peers[p] != &bench_usher_gate) {
            continue;
        }
        if (!fits[p][series->count - 1]) {
            bench_absent("growth", peers[p]->name, "does not fit so many");
            continue;
        }
        want(series, peers, p, 0, rounds);
        if (pool) {
            want(series, peers, p, 1, rounds);
        }
    }
}

void bench_growth(void)
{
    static const struct series full[] = {
        {"guests",
         "coming and going, N have been there",
         false,
         false,
         {16, 64, 256, 1024, 4096, 16384},
         6},
        {"first",
         "coming, k at once, for the first time",
         true,
         false,
         {16, 64, 256, 1024, 4096},
         5},
        {"again",
         "coming, k at once, not for the first time",
         true,
         true,
         {16, 64, 256, 1024, 4096},
         5},
    };
    const struct bench_peer *peers[BENCH_MAX_PEERS];
    unsigned count = 0;
    unsigned rounds = bench_pick(4, 1, 1);
    const struct bench_peer *const wanted[] = {&bench_limit_fifo, &bench_limit_rows,
                                               &bench_usher_pool, &bench_usher_gate,
                                               &bench_sem_t,      &bench_semop_undo};
    for (unsigned p = 0; p < sizeof wanted / sizeof wanted[0]; p++) {
        peers[count++] = wanted[p];
    }
    for (unsigned s = 0; s < 3; s++) {
        struct series series = full[s];
        series.count = bench_pick(series.count, series.count - 1, 2);
        struct herd *herd = herd_new(series.sizes[series.count - 1]);
        if (herd == NULL) {
            bench_absent("growth", "all", "this machine does not have so many threads for us");
            return;
        }
        run(&series, peers, count, herd, rounds);
        herd_end(herd);
        report(&series, peers, count, rounds);
    }
}
