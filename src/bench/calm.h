/* Measuring while no other runs on the same core: calm.c says how that is seen. */
#ifndef USHER_BENCH_CALM_H
#define USHER_BENCH_CALM_H

#include <stdint.h>

/* Of all that is measured so. All 0 but the time to begin with. */
struct bench_calm {
    double least_ns;      /* that the work has taken */
    double spare_ns;      /* so much time is left to measure again */
    double counted, ours; /* so many rounds were kept, and in so many of these the core was ours */
    double redone;        /* so many were not, and were made again */
};

/* ns for one of `times` runs, of the calmest try if one had to be made again. */
double bench_calmly(struct bench_calm *calm, void (*run)(uint64_t times), uint64_t times);

#endif
