/*
 * Processor time for one entry while the holders sleep: a job that waits for a disk, a device or a
 * server. Nothing is won by staying awake then, so a waiter should cost what a sleeping waiter of
 * the kernel's own semaphore costs. k = 1, 2, 4, 8; 2, 8, 32 processes; 100 us to 5 ms inside.
 */
#include "bench/grid.h"

#include <stdio.h>

static void want_cpu(const struct grid *grid, unsigned peer, unsigned against)
{
    struct grid_spread spread = grid_spread(grid, GRID_CPU, peer, against, 0);
    const double mean = spread.mean;
    char what[192];
    (void)snprintf(what, sizeof what, "%s / %s, processor time for an entry, geometric mean",
                   grid->peer[peer]->name, grid->peer[against]->name);
    bench_want(what, bench_summarise(&mean, 1), true, 1.1);
    (void)snprintf(
        what, sizeof what, "%s / %s, processor time for an entry, most of all cells (%s)",
        grid->peer[peer]->name, grid->peer[against]->name, grid->cell[spread.most_at].name);
    bench_want(what, spread.most_ratio, true, 1.25);
    spread = grid_spread(grid, GRID_SPEED, peer, against, 0);
    (void)snprintf(what, sizeof what, "%s / %s, entries a second, least of all cells (%s)",
                   grid->peer[peer]->name, grid->peer[against]->name,
                   grid->cell[spread.least_at].name);
    bench_tell(what, spread.least_ratio);
}

void bench_cpu(void)
{
    static const unsigned seats[] = {1, 2, 4, 8};
    static const unsigned processes[] = {2, 8, 32};
    static const unsigned inside_us[] = {100, 300, 1000, 5000};
    static struct grid grid = {.workload = "cpu"};
    const unsigned step = bench_pick(1, 5, 17);
    for (unsigned c = 0; c < 48; c += step) {
        struct cell cell = {.processes = processes[c % 3],
                            .seats = seats[c / 3 % 4],
                            .inside_ns = inside_us[c / 12] * 1000,
                            .asleep = true};
        cell.count_ms = inside_us[c / 12] == 5000 ? 200 : 100;
        grid_add(&grid, cell);
    }
    grid.peer[grid.peers++] = &bench_usher_pool;
    grid.peer[grid.peers++] = &bench_usher_gate;
    grid.peer[grid.peers++] = &bench_semop_undo;
    grid.peer[grid.peers++] = &bench_limit_fifo;
    grid.rounds = bench_pick(5, 2, 1);
    grid_measure(&grid, bench_pick(20, 3, 0));
    grid_report(&grid, GRID_CPU, "cpu", "holders asleep: processor time for an entry", "us",
                "less");
    grid_report(&grid, GRID_SPEED, "speed", "holders asleep: entries a second", "1/s", "more");
    want_cpu(&grid, 0, 2);
    want_cpu(&grid, 1, 2);
    struct grid_spread spread = grid_spread(&grid, GRID_CPU, 3, 2, 0);
    const double mean = spread.mean;
    bench_tell("limit_fifo / semop+SEM_UNDO, processor time for an entry, geometric mean",
               bench_summarise(&mean, 1));
}
