/*
 * Do two CPUs run at the same time? On a shared host the guest's virtual CPUs may run in turns, and
 * the kernel does not know it. Then the times of wake-ups, hand-overs and lines depend on the host,
 * and figures of several processes measure the host.
 *
 * The probe: two processes, one on each CPU, pass a cache line to each other. A pass takes some
 * hundred nanoseconds unless one of the CPUs is not running. So if CPUs run in turns, the mean is
 * far above the median.
 */
#include "bench/bench.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PASSES = 64000, OVER = 2 }; /* some ten milliseconds if both CPUs run */
static const double most_ns = 200e6;

static struct relay {
    _Alignas(64) _Atomic uint32_t turn; /* whose turn it is; OVER: the end */
    _Alignas(64) unsigned count;
    double took[PASSES];
} * relay;

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

/* Wait for our turn. False: the end, or `until` has passed. */
static bool await_turn(uint32_t me, double until)
{
    for (unsigned polls = 1; atomic_load(&relay->turn) != me; polls++) {
        if (atomic_load(&relay->turn) == OVER || (polls % 1024 == 0 && bench_now_ns() > until)) {
            return false;
        }
    }
    return true;
}

static void pass_turns(uint32_t me)
{
    double before = bench_now_ns();
    const double until = before + most_ns;
    while (await_turn(me, until)) {
        double now = bench_now_ns();
        if (me == 0) {
            relay->took[relay->count++] = now - before;
        }
        before = now;
        if (relay->count == PASSES || now > until) {
            break;
        }
        atomic_store(&relay->turn, 1 - me);
    }
    atomic_store(&relay->turn, OVER);
}

double bench_together(void)
{
    unsigned two[2];
    double ratio = 0;
    if (bench_processors(two) < 2) {
        return 0;
    }
    relay = bench_shared(sizeof *relay);
    for (uint32_t me = 0; me < 2; me++) {
        if (bench_fork() == 0) {
            bench_stay_on(two[me]);
            pass_turns(me);
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    if (relay->count > 2) { /* the first is the start */
        double sum = 0;
        for (unsigned n = 1; n < relay->count; n++) {
            sum += relay->took[n];
        }
        struct bench_summary passes = bench_summarise(relay->took + 1, relay->count - 1);
        ratio = passes.median > 0 ? sum / (relay->count - 1) / passes.median : 0;
    }
    bench_unshare(relay, sizeof *relay);
    return ratio;
}
