/* Cells x peers x rounds: see grid.h. */
#include "bench/grid.h"

#include "bench/results.h"

#include <math.h>
#include <stdio.h>

void grid_add(struct grid *grid, struct cell cell)
{
    char inside[24];
    char beside[24] = "";
    if (cell.inside_ns >= 1000000) {
        (void)snprintf(inside, sizeof inside, "%u ms", cell.inside_ns / 1000000);
    } else {
        (void)snprintf(inside, sizeof inside, "%u us", cell.inside_ns / 1000);
    }
    if (cell.bystanders != 0) {
        (void)snprintf(beside, sizeof beside, ", %u busy", cell.bystanders);
    }
    (void)snprintf(cell.name, sizeof cell.name, "k=%u, %s %s, %u processes%s", cell.seats, inside,
                   cell.asleep ? "asleep" : "inside", cell.processes, beside);
    grid->cell[grid->cells++] = cell;
}

void grid_measure(struct grid *grid, double spare_s)
{
    struct cell_calm calm = {.spare_ns = spare_s * 1e9};
    bench_work_ns(1); /* measure the speed of the processor before any worker is forked */
    for (unsigned round = 0; round < grid->rounds; round++) {
        for (unsigned c = 0; c < grid->cells; c++) {
            for (unsigned i = 0; i < grid->peers; i++) {
                unsigned p = (i + round) % grid->peers;
                grid->found[c][p][round] = cell_run_calmly(grid->peer[p], &grid->cell[c], &calm);
            }
        }
    }
}

static double figure_of(const struct found *found, enum grid_figure figure)
{
    return figure == GRID_SPEED ? found->turns_a_second
           : figure == GRID_CPU ? found->cpu_us
                                : found->bystanders;
}

static void samples_of(const struct grid *grid, enum grid_figure figure, unsigned cell,
                       unsigned peer, double *samples)
{
    for (unsigned r = 0; r < grid->rounds; r++) {
        samples[r] = figure_of(&grid->found[cell][peer][r], figure);
    }
}

void grid_report(const struct grid *grid, enum grid_figure figure, const char *name,
                 const char *title, const char *unit, const char *better)
{
    bench_table(grid->workload, name, title, unit, better);
    for (unsigned c = 0; c < grid->cells; c++) {
        for (unsigned p = 0; p < grid->peers; p++) {
            double samples[GRID_ROUNDS];
            samples_of(grid, figure, c, p, samples);
            bench_row(grid->cell[c].name, grid->cell[c].processes, grid->peer[p]->name, samples,
                      grid->rounds);
        }
    }
    bench_show();
}

struct bench_summary grid_ratio(const struct grid *grid, enum grid_figure figure, unsigned cell,
                                unsigned peer, unsigned against)
{
    double one[GRID_ROUNDS];
    double other[GRID_ROUNDS];
    samples_of(grid, figure, cell, peer, one);
    samples_of(grid, figure, cell, against, other);
    return bench_ratio(one, other, grid->rounds);
}

struct grid_spread grid_spread(const struct grid *grid, enum grid_figure figure, unsigned peer,
                               unsigned against, double limit)
{
    struct grid_spread spread = {0};
    double logs = 0;
    for (unsigned c = 0; c < grid->cells; c++) {
        struct bench_summary ratio = grid_ratio(grid, figure, c, peer, against);
        logs += log(ratio.median);
        spread.at_least += ratio.median >= limit;
        if (c == 0 || ratio.median < spread.least) {
            spread.least = ratio.median;
            spread.least_at = c;
            spread.least_ratio = ratio;
        }
        if (c == 0 || ratio.median > spread.most) {
            spread.most = ratio.median;
            spread.most_at = c;
            spread.most_ratio = ratio;
        }
    }
    spread.mean = exp(logs / grid->cells);
    return spread;
}
