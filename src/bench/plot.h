/* Pictures of the results: one SVG file a workload, a panel for each table or each series of it. */
#ifndef USHER_BENCH_PLOT_H
#define USHER_BENCH_PLOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* DIRECTORY/bench-WORKLOAD.svg. 1: drawn; 0: this workload has no picture; -1: not written. */
int bench_plot(const json_t *results, const char *workload, const char *directory);

/* What a panel shows: bars of a table, case by case; or lines, for the cases that begin so. */
struct bench_panel {
    const json_t *table;
    char title[128], group[64];
    bool bars;
    double x, y, width, height; /* where its axes are */
};

/* The values of a panel go from low to high, with steps of 1, 2, 5, .. between. */
struct bench_scale {
    double low, high;
    bool log;
};
void bench_scale_add(struct bench_scale *scale, double value);
void bench_scale_round(struct bench_scale *scale);
/* 0 at low, 1 at high. */
double bench_scale_at(const struct bench_scale *scale, double value);
/* The marks of an axis, at most 16. How many. */
unsigned bench_scale_marks(const struct bench_scale *scale, double *marks);

/* How a peer is drawn, the same in all pictures: no two have lines that look alike. */
struct bench_stroke {
    const char *colour, *dash; /* dash: an attribute, or "" */
};
struct bench_stroke bench_stroke(const char *peer);

/* The bars of a panel, and the lines that say of which case they are. */
unsigned bench_bar_rows(const json_t *table);
void bench_draw_bars(FILE *file, const struct bench_panel *panel);
void bench_draw_lines(FILE *file, const struct bench_panel *panel, const struct bench_scale *scale);
/* Does the row belong to the panel's series? */
bool bench_in_group(const json_t *row, const char *group);

#endif
