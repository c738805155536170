/*
 * Cost as N and k grow. N: so many threads have used it before, k = 4, and one of them comes and
 * goes again and again; or one after the other does, once. k: so many come and stay, until all
 * seats are taken.
 *
 * A peer that numbers seats must find a free one. The first time all come at once each has only
 * ever been in alone; the second time each has had a seat before, and they come in another order.
 * Each time is of one call in a thread that was asleep, so caches are cold for all alike; but for
 * one that comes again and again.
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

enum { MOST_SIZES = 8, ROUNDS = 16, SAMPLES = 256, TURNS = 200 };

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

/* Only the second half counts: what it needs is near at hand by then. */
static void come_again_and_again(unsigned member)
{
    (void)member;
    for (unsigned turn = 0; turn < 2 * TURNS; turn++) {
        if (turn == TURNS) {
            began = bench_now_ns();
        }
        peer->get();
        peer->pass();
    }
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

/* The same of one that is not the only one to have been there, but the only one to come now. */
static double again_ns(struct herd *herd, unsigned guests)
{
    double took[SAMPLES];
    assert(guests > 0);
    for (unsigned i = 0; i < SAMPLES; i++) {
        do_it(herd, shuffled(i % guests, guests), come_again_and_again);
        took[i] = (gone - began) / TURNS;
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
    bool by_seats, again; /* by guests, otherwise; for the first time, or not */
    unsigned sizes[MOST_SIZES];
    unsigned count;
};

typedef double figures[BENCH_MAX_PEERS][MOST_SIZES][ROUNDS];
static figures took, took_again; /* a call, or a turn; of one that comes again and again */
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
                took_again[p][s][round] = series->by_seats ? 0 : again_ns(herd, size);
                peer->detach();
                peer->close();
            }
        }
    }
}

static double growth(const struct series *series, unsigned p, unsigned round)
{
    figures *of = series->again && !series->by_seats ? &took_again : &took;
    return (*of)[p][series->count - 1][round] / (*of)[p][0][round];
}

static const char *when(const struct series *series)
{
    if (!series->by_seats) {
        return series->again ? "one again and again" : "one after the other";
    }
    return series->again ? "coming again" : "all at once for the first time";
}

/* A peer's growth beside a limit's: memory is colder for all, the more there are. Where it is not,
   by itself: `limit` is the peer. */
static void want(const struct series *series, const struct bench_peer *const *peers, unsigned p,
                 unsigned limit, unsigned rounds)
{
    double own[ROUNDS];
    double beside[ROUNDS];
    char what[160];
    for (unsigned r = 0; r < rounds; r++) {
        own[r] = growth(series, p, r);
        beside[r] = limit == p ? 1 : growth(series, limit, r);
    }
    (void)snprintf(what, sizeof what, "%s, %s %u / %u, %s%s%s", peers[p]->name,
                   series->by_seats ? "k" : "N", series->sizes[series->count - 1], series->sizes[0],
                   when(series), limit == p ? "" : "; beside ",
                   limit == p ? "" : peers[limit]->name);
    struct bench_summary ratio = bench_ratio(own, beside, rounds);
    if (peers[p] == &bench_limit_rows) {
        bench_tell(what, ratio); /* what a row costs */
    } else {
        bench_want(what, ratio, true, 1.5);
    }
}

/* The limits are the first two: without a row for each guest, which is the gate's, and with. */
static void report(const struct series *series, const struct bench_peer *const *peers,
                   unsigned count, unsigned rounds)
{
    const bool hot = series->again && !series->by_seats;
    bench_table("growth", series->table, series->title, "ns", "less");
    for (unsigned s = 0; s < series->count; s++) {
        char where[32];
        (void)snprintf(where, sizeof where, "%s = %u", series->by_seats ? "k" : "N",
                       series->sizes[s]);
        for (unsigned p = 0; p < count; p++) {
            if (fits[p][s]) {
                bench_row(where, series->sizes[s], peers[p]->name,
                          hot ? took_again[p][s] : took[p][s], rounds);
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
        if (hot) {
            want(series, peers, p, p, rounds);
            continue;
        }
        want(series, peers, p, pool, rounds);
        if (pool) {
            want(series, peers, p, 0, rounds);
            want(series, peers, 1, 0, rounds);
        }
    }
}

void bench_growth(void)
{
    static const struct series full[] = {
        {"guests",
         "coming and going once, N have been there",
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
    for (unsigned s = 0; s < sizeof full / sizeof full[0]; s++) {
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
        if (!series.by_seats) {
            series.table = "hot";
            series.title = "again and again, N have been there";
            series.again = true;
            report(&series, peers, count, rounds);
        }
    }
}
