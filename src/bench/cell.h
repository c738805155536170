/* One cell of a workload: processes that all want a seat, all the time, at one peer. */
#ifndef USHER_BENCH_CELL_H
#define USHER_BENCH_CELL_H

#include "bench/peers.h"

#include <stdbool.h>

struct cell {
    unsigned processes, seats;
    unsigned inside_ns;  /* each holder computes for this long, or .. */
    bool asleep;         /* .. sleeps for this long */
    unsigned bystanders; /* processes that compute beside them and use no seat */
    unsigned count_ms;   /* how long entries are counted; 0: as for computing holders */
    char name[64];
};

/* What one round finds out about a peer. All 0 if it failed. */
struct found {
    double turns_a_second, worst_us, overtaken, out_of_turn;
    double cpu_us;     /* processor time of all processes for one entry */
    double bystanders; /* what the bystanders computed, loops a second, all together */
};

/* Run one round. `watched`: find out about order only; everything else is 0. */
struct found cell_run(const struct bench_peer *peer, const struct cell *cell, bool watched);

/* The same, repeated a few times if the host takes processors away meanwhile, while *spare_ns is
   left. Returns the round with the least taken away, adds to the counters. */
struct cell_calm {
    double spare_ns;              /* time that is left for repetitions */
    double counted, calm, redone; /* rounds that count, those of them undisturbed, rounds dropped */
};
struct found cell_run_calmly(const struct bench_peer *peer, const struct cell *cell,
                             struct cell_calm *calm);

#endif
