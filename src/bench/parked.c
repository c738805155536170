/*
 * A thousand and ten thousand waiters asleep in line, and one seat that is handed down the line.
 * Does a hand-over cost more when more wait behind? How many waiters does it wake?
 *
 * A chain: all members wait, we release, and each member that gets the seat releases at once. A
 * hand-over's time runs from just before a pass to just after the next get. A chain's result is the
 * median of its first hand-overs, while nearly all still wait. The waiters are threads of 100
 * processes at every size, so the sizes differ only in the number of waiters behind. They have
 * slept long enough that each waiter's single scan at the start of a wait is over.
 *
 * Wake-ups are counted by the kernel: each is followed by a sleep, and a sleep is a voluntary
 * context switch (ru_nvcsw). So useless wake-ups count as well, and the count is the same for all
 * peers.
 */
#include "bench/bench.h"
#include "bench/crowd.h"
#include "bench/peers.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 3, ROUNDS = 16, FIRST = 100, PROCESSES = 100 };

static struct shared {
    const struct bench_peer *peer;
    double passed_ns; /* written by the holder only; the chain orders the writes */
    unsigned chain, expected;
    _Atomic uint32_t ended;
    double took[]; /* by position in the chain */
} * shared;

static const struct bench_peer *peers[BENCH_MAX_PEERS];
static unsigned peer_count;

static int attach_all(void)
{
    int error = 0;
    for (unsigned p = 0; p < peer_count; p++) {
        error |= peers[p]->attach();
    }
    return error;
}

static void wait_and_pass(unsigned member)
{
    const struct bench_peer *peer = shared->peer;
    (void)member;
    peer->get();
    shared->took[shared->chain++] = bench_now_ns() - shared->passed_ns;
    bool last = shared->chain == shared->expected;
    shared->passed_ns = bench_now_ns();
    peer->pass();
    if (last) {
        atomic_store(&shared->ended, 1);
        bench_futex_wake(&shared->ended, 1);
    }
}

/* Run one chain: the ns and the wake-ups of a hand-over. */
static void run_chain(struct crowd *crowd, const struct bench_peer *peer, unsigned waiters,
                      double *ns, double *wakes)
{
    shared->peer = peer;
    shared->chain = 0;
    atomic_store(&shared->ended, 0);
    shared->expected = waiters;
    peer->get();
    crowd_tell(crowd, waiters, wait_and_pass);
    crowd_settle(crowd);
    long before = crowd_sleeps(crowd);
    shared->passed_ns = bench_now_ns();
    peer->pass();
    while (atomic_load(&shared->ended) == 0) {
        bench_futex_wait(&shared->ended, 0);
    }
    crowd_await(crowd);
    *wakes = (double)(crowd_sleeps(crowd) - before) / waiters;
    *ns = bench_summarise(shared->took, waiters < FIRST ? waiters : FIRST).median;
}

/* A gate whose sleepers are not in ticket order wakes 1 in 32 of its waiters. With ten thousand
   that takes minutes. */
static unsigned most_waiters(const struct bench_peer *one)
{
    return one == &bench_usher_gate ? 1000 : UINT32_MAX;
}

static double ns[BENCH_MAX_PEERS][SIZES][ROUNDS], wakes[BENCH_MAX_PEERS][SIZES][ROUNDS];

/* Open the peers that can have `most` waiters. */
static void open_all(unsigned most)
{
    unsigned count = bench_choose(peers, PEER_IN_ORDER, PEER_SPINS | PEER_THREADS | PEER_LIMIT);
    peer_count = 0;
    for (unsigned p = 0; p < count; p++) {
        if (peers[p]->open(1, most + 1) == 0 && peers[p]->attach() == 0) {
            peers[peer_count++] = peers[p];
            if (most > most_waiters(peers[p])) {
                bench_absent("parked", peers[p]->name,
                             "may wake every 32nd waiter; not measured beyond 1,000");
            }
        } else {
            bench_absent("parked", peers[p]->name, "too many guests for it");
        }
    }
}

static void measure(struct crowd *crowd, const unsigned *sizes, unsigned rounds)
{
    for (unsigned p = 0; p < peer_count; p++) { /* one turn first: threads create their own data */
        unsigned last = SIZES - 1;
        last -= sizes[last] > most_waiters(peers[p]);
        run_chain(crowd, peers[p], sizes[last], &ns[p][0][0], &wakes[p][0][0]);
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < peer_count * SIZES; i++) {
            unsigned p = (i + round) % peer_count;
            unsigned s = (i / peer_count + round) % SIZES;
            if (sizes[s] <= most_waiters(peers[p])) {
                run_chain(crowd, peers[p], sizes[s], &ns[p][s][round], &wakes[p][s][round]);
            }
        }
    }
}

static void report(const char *name, const char *title, const char *unit, const unsigned *sizes,
                   double (*samples)[SIZES][ROUNDS], unsigned rounds)
{
    bench_table("parked", name, title, unit, "less");
    for (unsigned s = 0; s < SIZES; s++) {
        char where[32];
        (void)snprintf(where, sizeof where, "%u waiters", sizes[s]);
        for (unsigned p = 0; p < peer_count; p++) {
            if (sizes[s] <= most_waiters(peers[p])) {
                bench_row(where, sizes[s], peers[p]->name, samples[p][s], rounds);
            }
        }
    }
    bench_show();
}

static bool ours(const struct bench_peer *one)
{
    return one == &bench_usher_pool || one == &bench_usher_gate;
}

static void want_wakes(const struct bench_peer *one, double (*samples)[ROUNDS],
                       const unsigned *sizes, unsigned rounds)
{
    for (unsigned s = 1; s < SIZES && sizes[s] <= most_waiters(one); s++) {
        char what[96];
        (void)snprintf(what, sizeof what, "%s, wake-ups a release, %u waiters", one->name,
                       sizes[s]);
        bench_want(what, bench_summarise(samples[s], rounds), true, 1.1);
    }
}

static void want_same(const struct bench_peer *one, double (*samples)[ROUNDS],
                      const unsigned *sizes, unsigned rounds)
{
    for (unsigned s = 1; s < SIZES; s++) {
        char what[96];
        if (sizes[s] > most_waiters(one)) {
            continue;
        }
        (void)snprintf(what, sizeof what, "%s, hand-over with %u / with %u waiters", one->name,
                       sizes[s], sizes[0]);
        bench_want(what, bench_ratio(samples[s], samples[0], rounds), true, 1.1);
    }
}

static void report_all(const unsigned *sizes, unsigned rounds)
{
    report("wakes", "wake-ups a hand-over", "wake-ups", sizes, wakes, rounds);
    for (unsigned p = 0; p < peer_count; p++) {
        if (ours(peers[p])) {
            want_wakes(peers[p], wakes[p], sizes, rounds);
        }
    }
    report("time", "a hand-over with others asleep in line", "ns", sizes, ns, rounds);
    for (unsigned p = 0; p < peer_count; p++) {
        if (ours(peers[p])) {
            want_same(peers[p], ns[p], sizes, rounds);
        }
    }
}

void bench_parked(void)
{
    const unsigned sizes[SIZES] = {FIRST, bench_pick(1000, 1000, 150),
                                   bench_pick(10000, 4000, 200)};
    const unsigned most = sizes[SIZES - 1];
    const unsigned rounds = bench_pick(9, 1, 1);
    const size_t room = sizeof *shared + most * sizeof shared->took[0];
    shared = bench_shared(room);
    open_all(most);
    struct crowd *crowd = crowd_new(PROCESSES, (most + PROCESSES - 1) / PROCESSES, attach_all);
    if (crowd == NULL || attach_all() != 0) {
        bench_absent("parked", "all", "this machine cannot start so many threads");
        return;
    }
    measure(crowd, sizes, rounds);
    crowd_end(crowd);
    report_all(sizes, rounds);
    for (unsigned p = 0; p < peer_count; p++) {
        peers[p]->detach();
        peers[p]->close();
    }
    bench_unshare(shared, room);
}
