/*
 * Detect whether this process has a whole core. On a shared host a virtual CPU may be one
 * hyperthread; the host may run another guest on the sibling without notice. Then code with many
 * instructions takes 1.5 times as long, and code that mostly waits for atomics hardly longer. A
 * ratio of two such peers then measures the neighbour.
 *
 * The probe is a few microseconds of work that keeps a core busy. If it takes longer than its
 * minimum so far, the core is shared. Before each round we wait until the probe is fast. If it is
 * slow after the round, we repeat the round.
 */
#include "bench/calm.h"

#include "bench/bench.h"

enum { STEPS = 6000, LINES = 16, TRIES = 32 };
static const double shared_core_factor =
    1.05; /* above this multiple of the minimum, the core is shared */

/* Run the probe: independent additions, some loads and stores. Return its time in ns. */
static double probe_ns(void)
{
    static _Alignas(64) volatile uint64_t lines[LINES][8];
    uint64_t a = 1;
    uint64_t b = 2;
    uint64_t c = 3;
    double begin = bench_now_ns();
    for (uint64_t step = 0; step < STEPS; step++) {
        volatile uint64_t *line = lines[step % LINES];
        a += *line;
        b ^= step;
        c += step;
        *line = c;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c));
    }
    return bench_now_ns() - begin;
}

/* Run the probe once. Return whether it was as fast as its minimum. */
static bool probe_is_fast(struct bench_calm *calm, double *took)
{
    *took = probe_ns();
    calm->least_ns = calm->least_ns == 0 || *took < calm->least_ns ? *took : calm->least_ns;
    return *took <= shared_core_factor * calm->least_ns;
}

/* Wait until the probe is fast, or no time is left. Return its last time in ns. */
static double wait_for_core(struct bench_calm *calm)
{
    double took;
    for (double begin = bench_now_ns(); !probe_is_fast(calm, &took) && calm->spare_ns > 0;) {
        double now = bench_now_ns();
        calm->spare_ns -= now - begin;
        begin = now;
    }
    return took;
}

double bench_calmly(struct bench_calm *calm, void (*run)(uint64_t times), uint64_t times)
{
    double best = 0;
    double least = 0;
    for (unsigned tries = 1;; tries++) {
        double before = wait_for_core(calm);
        double begin = bench_now_ns();
        run(times);
        double took = bench_now_ns() - begin;
        double after;
        bool ours = probe_is_fast(calm, &after) && before <= shared_core_factor * calm->least_ns;
        double slower = before > after ? before : after;
        if (tries == 1 || slower < least) {
            best = took / (double)times;
            least = slower;
        }
        if (ours || tries == TRIES || calm->spare_ns <= 0) {
            calm->counted++;
            calm->ours += ours;
            return best;
        }
        calm->spare_ns -= took;
        calm->redone++;
    }
}
