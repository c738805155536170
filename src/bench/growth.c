/*
 * Cost as N and k grow. N series: N threads have used the peer before, k = 4; then either one
 * thread acquires and releases repeatedly, or the threads do it in turn, once each. k series: k
 * threads acquire one after the other and stay, until all seats are taken.
 *
 * A peer with numbered seats must find a free one. In the first filling each thread has used the
 * peer only alone. In the second each has had a seat before, and they arrive in another order. Each
 * time is that of one call in a thread that was asleep, so caches are cold for all peers; the
 * repeated series is the exception.
 *
 * A peer that survives deaths has a row for each guest, and more guests make each row colder.
 * "limit_fifo + a row each" measures that cost alone.
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
static double began, acquired, released;

static void take_turn(unsigned member)
{
    (void)member;
    began = bench_now_ns();
    peer->get();
    acquired = bench_now_ns();
    peer->pass();
    released = bench_now_ns();
}

/* Time only the second half: caches are warm by then. */
static void repeat_turns(unsigned member)
{
    (void)member;
    for (unsigned turn = 0; turn < 2 * TURNS; turn++) {
        if (turn == TURNS) {
            began = bench_now_ns();
        }
        peer->get();
        peer->pass();
    }
    released = bench_now_ns();
}

static void acquire(unsigned member)
{
    (void)member;
    began = bench_now_ns();
    peer->get();
    acquired = bench_now_ns();
}

static void release(unsigned member)
{
    (void)member;
    acquired = bench_now_ns();
    peer->pass();
    released = bench_now_ns();
}

static void run_job(struct herd *herd, unsigned member, herd_job *job)
{
    herd_tell(herd, member, job);
    herd_await(herd, member);
}

/* Return the i-th number of a fixed shuffle of 0 .. count - 1; `count` is a power of two. */
static unsigned shuffled(unsigned i, unsigned count)
{
    return (i * 2654435761U + 97) % count;
}

/* Return the median time of one acquire and release over a sample of the members. If there are
   few, sample each several times: small N is the base of the comparison. */
static double turn_ns(struct herd *herd, unsigned guests)
{
    double took[SAMPLES];
    assert(guests > 0);
    for (unsigned i = 0; i < SAMPLES; i++) {
        run_job(herd, shuffled(i % guests, guests), take_turn);
        took[i] = released - began;
    }
    return bench_summarise(took, SAMPLES).median;
}

/* The same for one member that acquires and releases repeatedly, after all members have used the
   peer. */
static double repeated_turn_ns(struct herd *herd, unsigned guests)
{
    double took[SAMPLES];
    assert(guests > 0);
    for (unsigned i = 0; i < SAMPLES; i++) {
        run_job(herd, shuffled(i % guests, guests), repeat_turns);
        took[i] = (released - began) / TURNS;
    }
    return bench_summarise(took, SAMPLES).median;
}

/* Return the mean time of an acquire while `seats` members acquire and stay; then all release. */
static double fill_ns(struct herd *herd, unsigned seats, bool mixed)
{
    double sum = 0;
    for (unsigned i = 0; i < seats; i++) {
        run_job(herd, mixed ? shuffled(i, seats) : i, acquire);
        sum += acquired - began;
    }
    for (unsigned i = 0; i < seats; i++) {
        run_job(herd, i, release);
    }
    return sum / seats;
}

/* The same for later fillings, repeated until the sample is large enough. */
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
    bool by_seats, again; /* by_seats: k series, else N series; again: repeated */
    unsigned sizes[MOST_SIZES];
    unsigned count;
};

typedef double figures[BENCH_MAX_PEERS][MOST_SIZES][ROUNDS];
static figures took, took_again; /* first call or turn; repeated turns of one thread */
static bool fits[BENCH_MAX_PEERS][MOST_SIZES];

static double measure(const struct series *series, struct herd *herd, unsigned size)
{
    double found;
    for (unsigned m = 0; m < size; m++) {
        run_job(herd, m, take_turn); /* creates each thread's own data */
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
                took_again[p][s][round] = series->by_seats ? 0 : repeated_turn_ns(herd, size);
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
        return series->again ? "one thread repeatedly" : "threads in turn";
    }
    return series->again ? "later acquires" : "first acquires";
}

/* Compare a peer's growth with that of a limit, because memory gets colder for both. Where that
   does not matter, compare with 1: `limit` is the peer. */
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
                   when(series), limit == p ? "" : "; relative to ",
                   limit == p ? "" : peers[limit]->name);
    struct bench_summary ratio = bench_ratio(own, beside, rounds);
    if (peers[p] == &bench_limit_rows) {
        bench_tell(what, ratio); /* the cost of a row */
    } else {
        bench_want(what, ratio, true, 1.5);
    }
}

/* The first two peers are the limits: without a row for each guest (compared with the gate), and
   with one. */
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
            bench_absent("growth", peers[p]->name, "too many guests for it");
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
         "acquire and release once, after N threads have used it",
         false,
         false,
         {16, 64, 256, 1024, 4096, 16384},
         6},
        {"first",
         "acquire until k are held, first time",
         true,
         false,
         {16, 64, 256, 1024, 4096},
         5},
        {"again",
         "acquire until k are held, later times",
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
            bench_absent("growth", "all", "this machine cannot start so many threads");
            return;
        }
        run(&series, peers, count, herd, rounds);
        herd_end(herd);
        report(&series, peers, count, rounds);
        if (!series.by_seats) {
            series.table = "hot";
            series.title = "acquire and release repeatedly, after N threads have used it";
            series.again = true;
            report(&series, peers, count, rounds);
        }
    }
}
