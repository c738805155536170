/*
 * What each trick of the waiting policy (src/wait/wait.h) wins and what it costs: the library as it
 * ships beside the same without the trick, in cells with computing holders, with sleeping holders
 * and with a bystander. A trick that wins 10 % in several cells and costs no processor time earns
 * its place.
 */
#include "bench/grid.h"

#include <stdio.h>

enum { WINS = 110, LOSES = 90 }; /* per cent that make a difference */

static void add_cells(struct grid *grid)
{
    static const unsigned processes[] = {4, 16, 64};
    static const unsigned seats[] = {1, 2, 8};
    static const unsigned inside_us[] = {0, 1, 20};
    static const unsigned asleep_us[] = {100, 300, 1000};
    const unsigned step = bench_pick(1, 4, 13);
    for (unsigned c = 0; c < 27; c += step) {
        grid_add(grid, (struct cell){.processes = processes[c % 3],
                                     .seats = seats[c / 3 % 3],
                                     .inside_ns = inside_us[c / 9] * 1000});
    }
    for (unsigned c = 0; c < 27; c += step) {
        grid_add(grid, (struct cell){.processes = processes[c % 3] / 2,
                                     .seats = seats[c / 3 % 3] - (c / 3 % 3 == 2 ? 4 : 0),
                                     .inside_ns = asleep_us[c / 9] * 1000,
                                     .asleep = true,
                                     .count_ms = 100});
    }
    for (unsigned c = 0; c < 27; c += bench_pick(3, 9, 26)) {
        grid_add(grid, (struct cell){.processes = processes[c / 3 % 2],
                                     .seats = seats[c / 6 % 3],
                                     .inside_ns = inside_us[c / 9] * 1000,
                                     .bystanders = 1,
                                     .count_ms = 100});
    }
}

/* The library with the trick against the library without it. */
static void show(const struct grid *grid, unsigned without, enum grid_figure figure)
{
    (void)printf("\n%s: %s, as it ships / %s\n", grid->peer[without]->name,
                 figure == GRID_SPEED ? "entries a second" : "processor time for an entry",
                 grid->peer[without]->name);
    unsigned same = 0;
    for (unsigned c = 0; c < grid->cells; c++) {
        struct bench_summary ratio = grid_ratio(grid, figure, c, 0, without);
        if (ratio.median * 100 >= WINS || ratio.median * 100 <= LOSES) {
            (void)printf("  %-42s %6.2f (%.2f to %.2f)\n", grid->cell[c].name, ratio.median,
                         ratio.q1, ratio.q3);
        } else {
            same++;
        }
    }
    (void)printf("  all others: %u of %u cells within 10 %%\n", same, grid->cells);
}

void bench_ablation(void)
{
    static struct grid grid = {.workload = "ablation"};
    add_cells(&grid);
    grid.peer[grid.peers++] = &bench_usher_pool;
    grid.peer[grid.peers++] = &bench_without_yield;
    grid.peer[grid.peers++] = &bench_without_backoff;
    grid.peer[grid.peers++] = &bench_without_both;
    grid.peer[grid.peers++] = &bench_limit_fifo;
    grid.peer[grid.peers++] = &bench_semop_undo;
    grid.rounds = bench_pick(5, 2, 1);
    grid_measure(&grid, bench_pick(20, 3, 0));
    grid_report(&grid, GRID_SPEED, "speed", "tricks of waiting: entries a second", "1/s", "more");
    grid_report(&grid, GRID_CPU, "cpu", "tricks of waiting: processor time for an entry", "us",
                "less");
    for (unsigned p = 1; p <= 3; p++) {
        show(&grid, p, GRID_SPEED);
        show(&grid, p, GRID_CPU);
    }
}
