/*
 * Other work on the machine: one or two processes that only compute, beside the processes that
 * share seats. What the bystanders get done shows what waiting takes from others; the entries a
 * second show what a peer loses when its waiters must wait for a processor.
 */
#include "bench/grid.h"

#include <stdio.h>

static void add_cells(struct grid *grid)
{
    static const struct {
        unsigned seats, processes, inside_us;
        bool asleep;
    } kinds[] = {
        {1, 4, 0, false},    {1, 16, 1, false}, {2, 4, 20, false}, {2, 16, 20, false},
        {8, 16, 20, false},  {1, 8, 100, true}, {2, 8, 100, true}, {2, 32, 300, true},
        {4, 32, 1000, true}, {1, 64, 0, false}, {8, 4, 1, false},  {1, 4, 20, false},
    };
    const unsigned step = bench_pick(1, 3, 11);
    for (unsigned busy = 1; busy <= 2; busy++) {
        for (unsigned c = 0; c < sizeof kinds / sizeof kinds[0]; c += step) {
            grid_add(grid, (struct cell){.processes = kinds[c].processes,
                                         .seats = kinds[c].seats,
                                         .inside_ns = kinds[c].inside_us * 1000,
                                         .asleep = kinds[c].asleep,
                                         .bystanders = busy,
                                         .count_ms = 150});
        }
    }
}

/* Of the cells with one bystander: entries a second against limit_fifo. */
static void want_speed(struct grid *grid, unsigned peer, unsigned against)
{
    const unsigned all = grid->cells;
    char what[192];
    grid->cells = all / 2; /* those with one bystander come first */
    struct grid_spread spread = grid_spread(grid, GRID_SPEED, peer, against, 0.8);
    (void)snprintf(what, sizeof what,
                   "%s / %s, one bystander, entries a second, least of all cells (%s; %u of %u "
                   "at least 0.8)",
                   grid->peer[peer]->name, grid->peer[against]->name,
                   grid->cell[spread.least_at].name, spread.at_least, grid->cells);
    bench_want(what, spread.least_ratio, false, 0.8);
    grid->cells = all;
}

static void want_bystanders(const struct grid *grid, unsigned peer, unsigned against, bool wanted)
{
    struct grid_spread spread = grid_spread(grid, GRID_BYSTANDERS, peer, against, 0.95);
    char what[192];
    (void)snprintf(what, sizeof what,
                   "beside %s / beside %s, what bystanders compute, least of all cells (%s; %u of "
                   "%u at least 0.95)",
                   grid->peer[peer]->name, grid->peer[against]->name,
                   grid->cell[spread.least_at].name, spread.at_least, grid->cells);
    if (wanted) {
        bench_want(what, spread.least_ratio, false, 0.95);
    } else {
        bench_tell(what, spread.least_ratio);
    }
}

void bench_bystander(void)
{
    static struct grid grid = {.workload = "bystander"};
    add_cells(&grid);
    grid.peer[grid.peers++] = &bench_usher_pool;
    grid.peer[grid.peers++] = &bench_usher_gate;
    grid.peer[grid.peers++] = &bench_semop_undo;
    grid.peer[grid.peers++] = &bench_limit_fifo;
    grid.rounds = bench_pick(7, 2, 1);
    grid_measure(&grid, bench_pick(20, 3, 0));
    grid_report(&grid, GRID_BYSTANDERS, "bystanders", "other work: what bystanders compute",
                "loops/s", "more");
    grid_report(&grid, GRID_SPEED, "speed", "other work: entries a second", "1/s", "more");
    want_bystanders(&grid, 0, 2, true);
    want_bystanders(&grid, 1, 2, true);
    want_bystanders(&grid, 3, 2, false);
    want_speed(&grid, 0, 3);
    want_speed(&grid, 1, 3);
}
