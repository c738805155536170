/*
 * Draw a comparison at one size: a row for each algorithm, a column for each measure. A value is a
 * number and a bar; bars are logarithmic, since values differ by factors. The best of a column is
 * bold on green, so it is visible without colours too.
 */
#include "lab/compare.h"
#include "lab/picture.h"

#include <math.h>

enum {
    MARGIN = 20,
    NAMES = 150, /* width of the column of names, */
    ON = 76,     /* of updates or registers, */
    MARK = 62,   /* of each promise */
    COLUMN = 86, /* of each measure */
    MARKS = 3,
    TOP = 116, /* top of the rows */
    ROW = 24,
    BAR = 5 /* height of a bar, below its number */
};

static const char *const mark_heads[MARKS][2] = {
    {"none", "starves"}, {"even if", "k-1 stop"}, {"in order", "of arrival"}};

static const char *const foot[] = {
    "on: words that are read and written in one step (updates), or registers that a step reads or "
    "writes.",
    "Promises: no process waits for ever if none stops; nor if any k-1 stop anywhere; FIFO "
    "enabling "
    "(half a disc: first-in, first-enabled).",
    "Accesses to shared memory in one passage, in and out: alone, the most of any process (exact); "
    "contended, the average while all n repeat their cycle.",
    "Overtaken: certain overtakings in a thousand entries, and the most in one wait. Bars are "
    "logarithmic, each column by itself.",
    "Marked: the best of a column and values as good (equal, or within a fifth if measured).",
};

enum { FOOT_LINES = sizeof foot / sizeof foot[0], FOOT_LINE = 17 };

static double column_at(unsigned measure)
{
    return MARGIN + NAMES + ON + MARKS * MARK + (double)measure * COLUMN;
}

static void draw_heads(FILE *file, double width)
{
    double y = TOP - 22;
    svg_text(file, MARGIN, y + 14, "start", "head", "algorithm");
    svg_text(file, MARGIN + NAMES, y + 14, "start", "head", "on");
    for (unsigned m = 0; m < MARKS; m++) {
        double x = MARGIN + NAMES + ON + (m + 0.5) * MARK;
        svg_text(file, x, y, "middle", "head", mark_heads[m][0]);
        svg_text(file, x, y + 14, "middle", "head", mark_heads[m][1]);
    }
    for (unsigned m = 0; m < LAB_MEASURES; m++) {
        double x = column_at(m) + COLUMN - 10;
        svg_text(file, x, y, "end", "head", lab_measures[m].head[0]);
        svg_text(file, x, y + 14, "end", "head", lab_measures[m].head[1]);
    }
    (void)fprintf(file, "<line x1=\"%d\" y1=\"%d\" x2=\"%g\" y2=\"%d\" stroke=\"" SVG_SOFT "\"/>\n",
                  MARGIN, TOP, width - MARGIN, TOP);
}

/* A disc: full, half or a ring. */
static void draw_mark(FILE *file, double x, double y, char mark)
{
    const double r = 5;
    (void)fprintf(file,
                  "<circle cx=\"%g\" cy=\"%g\" r=\"%g\" fill=\"%s\" stroke=\"" SVG_SOFT "\"/>\n", x,
                  y, r, mark == '-' || mark == 'f' ? "white" : SVG_SOFT);
    if (mark == 'f') {
        (void)fprintf(file, "<path d=\"M %g %g a %g %g 0 0 1 0 %g z\" fill=\"" SVG_SOFT "\"/>\n", x,
                      y - r, r, r, 2 * r);
    }
}

/* The least and the greatest positive value of a column. */
static void range_of(const struct lab_comparison *all, enum lab_measure measure, double *least,
                     double *most)
{
    *least = INFINITY;
    *most = 0;
    for (unsigned m = 0; m < all->machine_count; m++) {
        double value = lab_value(&all->sizes[0].rows[m], measure);
        if (value > 0) {
            *least = fmin(*least, value);
            *most = fmax(*most, value);
        }
    }
}

static void draw_value(FILE *file, const struct lab_comparison *all, const struct lab_compared *row,
                       enum lab_measure measure, double y)
{
    char text[LAB_SHORT_BYTES];
    const struct lab_compared *best = lab_best(all, &all->sizes[0], measure, LAB_ANY);
    double value = lab_value(row, measure);
    bool is_best = best != NULL && lab_as_good(measure, value, lab_value(best, measure));
    double right = column_at(measure) + COLUMN - 10;
    double least;
    double most;
    range_of(all, measure, &least, &most);
    if (is_best) {
        (void)fprintf(file,
                      "<rect x=\"%g\" y=\"%g\" width=\"%d\" height=\"%d\" rx=\"3\" "
                      "fill=\"#c8e6c9\"/>\n",
                      right - COLUMN + 16, y + 2, COLUMN - 12, ROW - 3);
    }
    if (value > 0) {
        double share = most > least ? log(value / least) / log(most / least) : 0;
        double width = 2 + share * (COLUMN - 26);
        (void)fprintf(
            file, "<rect x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
            right - width, y + ROW - BAR - 2, width, BAR - 1, is_best ? "#66bb6a" : "#b0bec5");
    }
    svg_text(file, right, y + ROW - BAR - 5, "end", is_best ? "best" : "",
             lab_value_text(row, measure, text));
}

static void draw_row(FILE *file, const struct lab_comparison *all, const struct lab_compared *row,
                     double y, double width, bool shaded)
{
    char promises[LAB_SHORT_BYTES];
    if (shaded) {
        (void)fprintf(file,
                      "<rect x=\"%d\" y=\"%g\" width=\"%g\" height=\"%d\" fill=\"#f5f7f8\"/>\n",
                      MARGIN, y, width - 2 * MARGIN, ROW);
    }
    svg_text(file, MARGIN, y + 16, "start", "", row->system.machine->name);
    svg_text(file, MARGIN + NAMES, y + 16, "start", "soft",
             row->alone.updates ? "updates" : "registers");
    (void)lab_promises(row, promises);
    for (unsigned m = 0; m < MARKS; m++) {
        draw_mark(file, MARGIN + NAMES + ON + (m + 0.5) * MARK, y + ROW / 2.0, promises[m]);
    }
    for (unsigned m = 0; m < LAB_MEASURES; m++) {
        draw_value(file, all, row, (enum lab_measure)m, y);
    }
}

void lab_compare_draw_table(FILE *file, const struct lab_comparison *all)
{
    const struct lab_size *size = &all->sizes[0];
    char how[LAB_HOW_BYTES];
    char title[LAB_HOW_BYTES];
    unsigned shown = 0;
    for (unsigned m = 0; m < all->machine_count; m++) {
        shown += size->rows[m].takes;
    }
    unsigned width = (unsigned)column_at(LAB_MEASURES) + MARGIN;
    unsigned height = TOP + shown * ROW + 18 + FOOT_LINES * FOOT_LINE + MARGIN;
    svg_begin(file, width, height,
              ".head{font-size:11px;fill:" SVG_SOFT "}.soft{fill:" SVG_SOFT
              "}.best{font-weight:bold}.title{font-size:18px;font-weight:bold}");
    (void)snprintf(title, sizeof title, "%u processes, at most %u inside: n=%u, k=%u", size->n,
                   size->k, size->n, size->k);
    svg_text(file, MARGIN, 34, "start", "title", title);
    svg_text(file, MARGIN, 56, "start", "soft", lab_compare_how(all, how));
    (void)fprintf(file,
                  "<rect x=\"%u\" y=\"44\" width=\"34\" height=\"16\" rx=\"3\" fill=\"#c8e6c9\"/>",
                  width - MARGIN - 147);
    svg_text(file, width - MARGIN - 130, 56, "middle", "best", "1");
    svg_text(file, width - MARGIN, 56, "end", "soft", "a column's best");
    draw_heads(file, width);
    double y = TOP;
    for (unsigned m = 0; m < all->machine_count; m++) {
        if (size->rows[m].takes) {
            draw_row(file, all, &size->rows[m], y, width, (unsigned)((y - TOP) / ROW) % 2 == 1);
            y += ROW;
        }
    }
    for (unsigned line = 0; line < FOOT_LINES; line++) {
        svg_text(file, MARGIN, y + 26 + line * FOOT_LINE, "start", "head", foot[line]);
    }
    svg_end(file);
}
