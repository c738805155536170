/* Pictures of the results: one SVG file for each workload, one panel for each table or series. */
#ifndef USHER_BENCH_PLOT_H
#define USHER_BENCH_PLOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Write DIRECTORY/bench-WORKLOAD.svg. 1: written; 0: this workload has no picture; -1: error. */
int bench_plot(const json_t *results, const char *workload, const char *directory);

/* A panel shows bars of a table, case by case; or lines, for the cases of one group. */
struct bench_panel {
    const json_t *table;
    char title[128], group[64];
    bool bars;
    double x, y, width, height; /* position of the axes */
};

/* A logarithmic scale from low to high, with marks at 1, 2, 5 times powers of ten. */
struct bench_scale {
    double low, high;
    bool log;
};
void bench_scale_add(struct bench_scale *scale, double value);
void bench_scale_round(struct bench_scale *scale);
/* Return 0 at low, 1 at high. */
double bench_scale_at(const struct bench_scale *scale, double value);
/* Store the marks of an axis, at most 16. Return the count. */
unsigned bench_scale_marks(const struct bench_scale *scale, double *marks);

/* How a peer is drawn, the same in all pictures. No two peers have the same stroke. */
struct bench_stroke {
    const char *colour, *dash; /* dash: an SVG attribute, or "" */
};
struct bench_stroke bench_stroke(const char *peer);

/* The number of lines in a bar panel: bars and case headings. */
unsigned bench_bar_rows(const json_t *table);
void bench_draw_bars(FILE *file, const struct bench_panel *panel);
void bench_draw_lines(FILE *file, const struct bench_panel *panel, const struct bench_scale *scale);
/* Return whether the row belongs to the panel's series. */
bool bench_in_group(const json_t *row, const char *group);

#endif
