/* Measure while no other guest runs on the same core. calm.c says how that is detected. */
#ifndef USHER_BENCH_CALM_H
#define USHER_BENCH_CALM_H

#include <stdint.h>

/* State of all measurements together. All zero at first except spare_ns. calm.c writes the rest.
   ours <= counted. */
struct bench_calm {
    double least_ns;      /* fastest probe so far */
    double spare_ns;      /* time left for waiting and for repeated rounds */
    double counted, ours; /* rounds kept; those of them with the core to ourselves */
    double redone;        /* rounds that were repeated */
};

/* Return the ns of one of `times` runs. If rounds were repeated, use the one with the fastest
   probes. */
double bench_calmly(struct bench_calm *calm, void (*run)(uint64_t times), uint64_t times);

#endif
