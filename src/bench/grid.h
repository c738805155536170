/*
 * Cells x peers x rounds, for workloads that compare several figures of a cell (cpu.c, bystander.c,
 * ablation.c). All cells have their first round before any has its second, and in each round every
 * peer has its turn in every cell: a disturbance of a minute hits one round of many cells.
 */
#ifndef USHER_BENCH_GRID_H
#define USHER_BENCH_GRID_H

#include "bench/bench.h"
#include "bench/cell.h"

enum { GRID_CELLS = 64, GRID_PEERS = 8, GRID_ROUNDS = 12 };

struct grid {
    const char *workload;
    unsigned cells, peers, rounds;
    struct cell cell[GRID_CELLS];
    const struct bench_peer *peer[GRID_PEERS];
    struct found found[GRID_CELLS][GRID_PEERS][GRID_ROUNDS];
};

/* Which figure of a round. */
enum grid_figure { GRID_SPEED, GRID_CPU, GRID_BYSTANDERS };

/* Add a cell; its name is made from its numbers. */
void grid_add(struct grid *grid, struct cell cell);
/* Measure all rounds, with at most spare_s seconds for repetitions. */
void grid_measure(struct grid *grid, double spare_s);
/* A table of one figure of all cells and peers. */
void grid_report(const struct grid *grid, enum grid_figure figure, const char *name,
                 const char *title, const char *unit, const char *better);
/* The figure of one peer divided by another's in a cell, round by round. */
struct bench_summary grid_ratio(const struct grid *grid, enum grid_figure figure, unsigned cell,
                                unsigned peer, unsigned against);
/* The medians of a ratio in all cells: their geometric mean, least and most, and where. */
struct grid_spread {
    double mean, least, most;
    unsigned least_at, most_at;
    unsigned at_least; /* cells whose ratio is `limit` or more */
    struct bench_summary least_ratio, most_ratio;
};
struct grid_spread grid_spread(const struct grid *grid, enum grid_figure figure, unsigned peer,
                               unsigned against, double limit);

#endif
