/*
 * One seat, back and forth between two processes, on one CPU and across two. Each turn is a
 * wake-up. The limit is two processes that only wake each other. Only peers that serve in order
 * alternate by themselves.
 */
#include "bench/bench.h"
#include "bench/peers.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TURNS = 4000, ASLEEP_NS = 10000 };

static struct shared {
    _Alignas(64) _Atomic uint32_t wants[2];
    _Alignas(64) _Atomic uint32_t ball;
    _Alignas(64) _Atomic uint32_t ready;
    _Alignas(64) double passed_ns; /* these are written by the holder */
    unsigned count;
    double took[2 * MOST_TURNS];
} * shared;

static uint32_t me;

static int ball_open(unsigned seats, unsigned guests)
{
    (void)guests;
    return seats == 1 ? 0 : -1;
}

static void ball_get(void)
{
    while (atomic_load(&shared->ball) != me) {
        bench_futex_wait(&shared->ball, 1 - me);
    }
}

static void ball_pass(void)
{
    atomic_store(&shared->ball, 1 - me);
    bench_futex_wake(&shared->ball, 1);
}

static const struct bench_peer ping_pong = {
    "limit: futex ping-pong",
    PEER_LIMIT,
    ball_open,
    bench_no_attach,
    ball_get,
    ball_pass,
    NULL,
    bench_no_detach,
    bench_no_detach,
    NULL,
};

/*
 * The holder waits until the other process wants the seat, and a little longer, so that it sleeps.
 * So every pass is a hand-over to a sleeper. The new holder records the time.
 */
static void take_turns(const struct bench_peer *peer, unsigned turns)
{
    for (unsigned turn = 0; turn < turns; turn++) {
        atomic_store(&shared->wants[me], 1);
        peer->get();
        shared->took[shared->count++] = bench_now_ns() - shared->passed_ns;
        atomic_store(&shared->wants[me], 0);
        while (atomic_load(&shared->wants[1 - me]) == 0) {
            (void)sched_yield();
        }
        double seen = bench_now_ns();
        while (bench_now_ns() - seen < ASLEEP_NS) {
            (void)sched_yield();
        }
        shared->passed_ns = bench_now_ns();
        peer->pass();
    }
    atomic_store(&shared->wants[me], 1); /* lets the other process finish its last turn */
}

static void be_player(const struct bench_peer *peer, unsigned turns)
{
    int error = peer->attach();
    (void)atomic_fetch_add(&shared->ready, 1);
    while (atomic_load(&shared->ready) < 2) {
        (void)sched_yield();
    }
    if (error == 0) {
        take_turns(peer, turns);
    }
    _exit(error == 0 ? 0 : 1);
}

/* Return the median ns of a hand-over; 0: failed. */
static double measure(const struct bench_peer *peer, const unsigned *processors)
{
    const unsigned turns = bench_pick(2000, 200, 20);
    double took = 0;
    bool failed = false;
    shared = bench_shared(sizeof *shared);
    if (peer->open(1, 2) != 0) {
        bench_unshare(shared, sizeof *shared);
        return 0;
    }
    for (me = 0; me < 2; me++) {
        if (bench_fork() == 0) {
            bench_stay_on(processors[me]);
            be_player(peer, turns);
        }
    }
    for (unsigned w = 0; w < 2; w++) {
        int status = 1;
        (void)wait(&status);
        failed = failed || status != 0;
    }
    if (!failed && shared->count > 1) { /* the first entry was no hand-over */
        took = bench_summarise(shared->took + 1, shared->count - 1).median;
    }
    peer->close();
    bench_unshare(shared, sizeof *shared);
    return took;
}

/* Record a wanted ratio; most == 0: only print it. */
static void want(const char *peer, const char *against, const char *title,
                 struct bench_summary ratio, double most)
{
    char what[128];
    (void)snprintf(what, sizeof what, "%s / %s, %s", peer, against, title);
    if (most > 0) {
        bench_want(what, ratio, true, most);
    } else {
        bench_tell(what, ratio);
    }
}

static void compare(const char *name, const char *title, const unsigned *processors)
{
    static double took[BENCH_MAX_PEERS][BENCH_MAX_ROUNDS];
    const struct bench_peer *peers[BENCH_MAX_PEERS] = {&ping_pong};
    unsigned rounds = bench_pick(11, 3, 1);
    unsigned count = 1 + bench_choose(peers + 1, PEER_IN_ORDER, PEER_SPINS | PEER_THREADS);
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < count; i++) {
            unsigned p = (i + round) % count;
            took[p][round] = measure(peers[p], processors);
        }
    }
    bench_table("handover", name, title, "ns", "less");
    for (unsigned p = 0; p < count; p++) {
        bench_row("", 0, peers[p]->name, took[p], rounds);
    }
    bench_show();
    unsigned limit = bench_index(peers, count, "limit_fifo");
    unsigned pool = bench_index(peers, count, "usher pool");
    unsigned undo = bench_index(peers, count, "semop+SEM_UNDO");
    unsigned least = bench_index(peers, count, "limit: could be repaired");
    want("usher pool", "limit_fifo", title, bench_ratio(took[pool], took[limit], rounds), 1 / 0.9);
    want("usher pool", "semop+SEM_UNDO", title, bench_ratio(took[pool], took[undo], rounds), 1);
    want("limit: could be repaired", "limit_fifo", title,
         bench_ratio(took[least], took[limit], rounds), 0);
    want("limit: could be repaired", "semop+SEM_UNDO", title,
         bench_ratio(took[least], took[undo], rounds), 0);
}

void bench_handover(void)
{
    unsigned two[2];
    unsigned count = bench_processors(two);
    const unsigned same[2] = {two[0], two[0]};
    compare("same", "a hand-over to a sleeper on the same processor", same);
    if (count == 2) {
        compare("across", "a hand-over to a sleeper on another processor", two);
    } else {
        bench_absent("handover", "two processors", "there is one");
    }
}
