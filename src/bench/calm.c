/*
 * Is the processor ours alone? On a machine that others share it may be half of one: the host runs
 * somebody else on the other half of the core, and tells nobody. Then whoever needs many
 * instructions takes half as long again, and whoever mostly waits for its atomics hardly longer: a
 * ratio of the two tells of the neighbour.
 *
 * It is seen in work that keeps a core busy, some microseconds of it: it takes longer then than the
 * least that it ever took. Before each round it is waited until it does not, and if it does after
 * the round, that is made again.
 */
#include "bench/calm.h"

#include "bench/bench.h"

enum { STEPS = 6000, LINES = 16, TRIES = 32 };
static const double much = 1.05; /* so many times the least: the neighbour is there */

/* ns: as many additions at a time as a core can do, and some loads and stores. */
static double work(void)
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

/* Whether the work takes no longer than it can. */
static bool is_ours(struct bench_calm *calm, double *took)
{
    *took = work();
    calm->least_ns = calm->least_ns == 0 || *took < calm->least_ns ? *took : calm->least_ns;
    return *took <= much * calm->least_ns;
}

/* Until it is, or the time is over. How long the work took then. */
static double await(struct bench_calm *calm)
{
    double took;
    for (double begin = bench_now_ns(); !is_ours(calm, &took) && calm->spare_ns > 0;) {
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
        double before = await(calm);
        double begin = bench_now_ns();
        run(times);
        double took = bench_now_ns() - begin;
        double after;
        bool ours = is_ours(calm, &after) && before <= much * calm->least_ns;
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
