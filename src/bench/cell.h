/* One cell of contended.c: so many processes, so many seats, so long inside. */
#ifndef USHER_BENCH_CELL_H
#define USHER_BENCH_CELL_H

#include "bench/peers.h"

#include <stdbool.h>

struct cell {
    unsigned processes, seats, inside_ns;
    char name[48];
};

/* What a round finds out about a peer: all 0 if it failed. */
struct found {
    double turns_a_second, worst_us, overtaken, out_of_turn;
};

/* Once. `watched`: for order, and the rest is 0. */
struct found cell_run(const struct bench_peer *peer, const struct cell *cell, bool watched);

#endif
