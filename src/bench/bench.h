/*
 * usher-bench: peers x workloads. Every figure is measured in rounds, the peers in turn within each
 * round, so that all see the same noise; what is printed is the median, and the median of the
 * ratios round by round.
 */
#ifndef USHER_BENCH_H
#define USHER_BENCH_H

#include "usher.h"

#include <stdint.h>

enum { BENCH_ROUNDS = 15, BENCH_MAX_PEERS = 12 };

/* Somebody who can do the workload. */
struct bench_peer {
    const char *name;
    int (*open)(void);           /* 0, or it is left out */
    void (*run)(uint64_t times); /* the operation, that many times */
    void (*close)(void);
};

/* Measure the peers against the first of them; at most `limit` times it, if not 0, is asked of
   those that have one. */
struct bench_budget {
    const char *peer, *against;
    double at_most; /* times */
};
void bench_table(const char *title, const struct bench_peer *peers, unsigned count, uint64_t times,
                 const struct bench_budget *budgets, unsigned budget_count);

double bench_now_ns(void);
double bench_median(double *values, unsigned count);
/* A name for a pool that nobody else has. */
const char *bench_pool(void);

void bench_uncontended(void);
void bench_handover(void);
void bench_death(void);
void bench_idle(void);
void bench_memory(void);
void bench_job(void);

#endif
