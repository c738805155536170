/*
 * Do two processors run at the same time? On a machine that others share the kernel's processors
 * are at times only some that run in turns, and it does not know. Then a wake-up, a hand-over, a
 * line take what the host makes of them, and figures of several processes tell of that.
 *
 * It is seen in a cache line that two processes, one on each, hand to each other: each way is some
 * hundred nanoseconds, but for those in which one of them does not run. So the mean is far above
 * the median where that happens.
 */
#include "bench/bench.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAYS = 64000, OVER = 2 }; /* some ten milliseconds, if both run */
static const double most_ns = 200e6;

static struct court {
    _Alignas(64) _Atomic uint32_t ball; /* whose it is; OVER: nobody's */
    _Alignas(64) unsigned count;
    double took[WAYS];
} * court;

unsigned bench_processors(unsigned found[2])
{
    cpu_set_t set;
    unsigned count = 0;
    (void)sched_getaffinity(0, sizeof set, &set);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++) {
        if (CPU_ISSET(cpu, &set)) {
            found[count++] = cpu;
        }
    }
    return count;
}

void bench_stay_on(unsigned processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

/* Whether it is ours, before that time. */
static bool await_ball(uint32_t me, double until)
{
    for (unsigned looks = 1; atomic_load(&court->ball) != me; looks++) {
        if (atomic_load(&court->ball) == OVER || (looks % 1024 == 0 && bench_now_ns() > until)) {
            return false;
        }
    }
    return true;
}

static void play(uint32_t me)
{
    double before = bench_now_ns();
    const double until = before + most_ns;
    while (await_ball(me, until)) {
        double now = bench_now_ns();
        if (me == 0) {
            court->took[court->count++] = now - before;
        }
        before = now;
        if (court->count == WAYS || now > until) {
            break;
        }
        atomic_store(&court->ball, 1 - me);
    }
    atomic_store(&court->ball, OVER);
}

double bench_together(void)
{
    unsigned two[2];
    double ratio = 0;
    if (bench_processors(two) < 2) {
        return 0;
    }
    court = bench_shared(sizeof *court);
    for (uint32_t me = 0; me < 2; me++) {
        if (bench_fork() == 0) {
            bench_stay_on(two[me]);
            play(me);
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    if (court->count > 2) { /* the first is the start */
        double sum = 0;
        for (unsigned n = 1; n < court->count; n++) {
            sum += court->took[n];
        }
        struct bench_summary ways = bench_summarise(court->took + 1, court->count - 1);
        ratio = ways.median > 0 ? sum / (court->count - 1) / ways.median : 0;
    }
    bench_unshare(court, sizeof *court);
    return ratio;
}
