/* Draw one panel: bars, or lines with quartiles. See plot.h. */
#include "bench/plot.h"

#include "bench/results.h"
#include "svg/svg.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct bench_stroke ink = {SVG_INK, ""}, soft = {SVG_SOFT, ""}, grid = {SVG_LINE, ""};

static void line(FILE *file, double x1, double y1, double x2, double y2, struct bench_stroke stroke,
                 double width)
{
    (void)fprintf(file,
                  "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                  "stroke-width=\"%.2g\"%s/>\n",
                  x1, y1, x2, y2, stroke.colour, width, stroke.dash);
}

static bool is_ours(const char *peer)
{
    return strstr(peer, "usher") != NULL;
}

/* Return whether there is only one case, which needs no heading. */
static bool has_one_case(const json_t *table)
{
    return bench_text(json_array_get(json_object_get(table, "rows"), 0), "case")[0] == '\0';
}

unsigned bench_bar_rows(const json_t *table)
{
    const char *cases[BENCH_MAX_NAMES];
    unsigned names = has_one_case(table) ? 0 : bench_names(table, "case", cases);
    return names + (unsigned)json_array_size(json_object_get(table, "rows"));
}

static void draw_bar(FILE *file, const struct bench_panel *panel, const struct bench_scale *scale,
                     const json_t *row, double y, double high)
{
    const char *peer = bench_text(row, "peer");
    char text[16];
    double end = panel->width * bench_scale_at(scale, bench_number(row, "median"));
    double q1 = panel->width * bench_scale_at(scale, bench_number(row, "q1"));
    double q3 = panel->width * fmin(bench_scale_at(scale, bench_number(row, "q3")), 1.03);
    svg_text(file, panel->x - 8, y + high / 2 + 5, "end", is_ours(peer) ? "o" : "", peer);
    (void)fprintf(file,
                  "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                  panel->x, y + 3, fmax(end, 1), high - 6, bench_stroke(peer).colour);
    line(file, panel->x + q1, y + high / 2, panel->x + q3, y + high / 2, ink, 1.5);
    bench_figure(text, sizeof text, bench_number(row, "median"));
    svg_text(file, panel->x + fmax(end, q3) + 6, y + high / 2 + 5, "start", "s", text);
}

/* Draw bars on a logarithmic scale, so that 5 ns and 5,000 ns are both visible. */
void bench_draw_bars(FILE *file, const struct bench_panel *panel)
{
    const json_t *rows = json_object_get(panel->table, "rows");
    struct bench_scale scale = {0, 0, true};
    const char *where = "";
    double high = panel->height / bench_bar_rows(panel->table);
    double y = panel->y;
    double marks[16];
    char text[160];
    size_t r;
    const json_t *row;
    json_array_foreach(rows, r, row)
    {
        bench_scale_add(&scale, bench_number(row, "median"));
    }
    scale.low /= 2; /* gives the shortest bar some length */
    bench_scale_round(&scale);
    (void)snprintf(text, sizeof text, "%s, %s", panel->title, bench_text(panel->table, "unit"));
    svg_text(file, 20, panel->y - 12, "start", "h", text);
    unsigned mark_count = bench_scale_marks(&scale, marks);
    for (unsigned m = 0; m < mark_count; m++) {
        double x = panel->x + panel->width * bench_scale_at(&scale, marks[m]);
        line(file, x, panel->y, x, panel->y + panel->height, grid, 1);
        bench_figure(text, sizeof text, marks[m]);
        svg_text(file, x, panel->y + panel->height + 14, "middle", "s", text);
    }
    json_array_foreach(rows, r, row)
    {
        if (strcmp(bench_text(row, "case"), where) != 0) { /* the rows of a case are adjacent */
            where = bench_text(row, "case");
            svg_text(file, 20, y + high / 2 + 5, "start", "s", where);
            y += high;
        }
        draw_bar(file, panel, &scale, row, y, high);
        y += high;
    }
}

/* Return the unit of the x axis: the case without its number, "N" or "waiters". */
static const char *name_of_x(const char *where)
{
    static char letter[2];
    const char *comma = strrchr(where, ',');
    where = comma != NULL ? comma + 2 : where;
    letter[0] = where[0];
    return strchr(where, '=') != NULL ? letter : where + strspn(where, "0123456789 ");
}

/* Draw the numbers below the axis, as many as fit. */
static void draw_numbers(FILE *file, const struct bench_panel *panel,
                         const struct bench_scale *across)
{
    size_t r;
    const json_t *row;
    double last = panel->x - 100;
    double bottom = panel->y + panel->height;
    const char *where = "";
    json_array_foreach(json_object_get(panel->table, "rows"), r, row)
    {
        double x = panel->x + panel->width * bench_scale_at(across, bench_number(row, "x"));
        if (!bench_in_group(row, panel->group)) {
            continue;
        }
        where = bench_text(row, "case");
        line(file, x, bottom, x, bottom + 4, soft, 1);
        if (x - last > 26) {
            char text[16];
            (void)snprintf(text, sizeof text, "%.0f", bench_number(row, "x"));
            svg_text(file, x, bottom + 17, "middle", "s", text);
            last = x;
        }
    }
    svg_text(file, panel->x + panel->width, bottom + 32, "end", "s", name_of_x(where));
}

static void draw_axes(FILE *file, const struct bench_panel *panel, const struct bench_scale *across,
                      const struct bench_scale *up)
{
    double marks[16];
    char text[160];
    unsigned count = bench_scale_marks(up, marks);
    (void)snprintf(text, sizeof text, "%s, %s", panel->title, bench_text(panel->table, "unit"));
    svg_text(file, panel->x - 50, panel->y - 12, "start", "h", text);
    for (unsigned m = 0; m < count; m++) {
        double y = panel->y + panel->height * (1 - bench_scale_at(up, marks[m]));
        line(file, panel->x, y, panel->x + panel->width, y, grid, 1);
        bench_figure(text, sizeof text, marks[m]);
        svg_text(file, panel->x - 6, y + 4, "end", "s", text);
    }
    draw_numbers(file, panel, across);
}

static void draw_series(FILE *file, const struct bench_panel *panel, const char *peer,
                        const struct bench_scale *across, const struct bench_scale *up)
{
    size_t r;
    const json_t *row;
    double before[2] = {0, 0};
    bool first = true;
    double width = is_ours(peer) ? 2.8 : 1.6;
    struct bench_stroke stroke = bench_stroke(peer);
    const struct bench_stroke spread = {stroke.colour, ""};
    json_array_foreach(json_object_get(panel->table, "rows"), r, row)
    {
        if (strcmp(bench_text(row, "peer"), peer) != 0 || !bench_in_group(row, panel->group)) {
            continue;
        }
        double x = panel->x + panel->width * bench_scale_at(across, bench_number(row, "x"));
        double y = panel->y + panel->height * (1 - bench_scale_at(up, bench_number(row, "median")));
        double q1 = panel->y + panel->height * (1 - bench_scale_at(up, bench_number(row, "q1")));
        double q3 = panel->y +
                    panel->height * (1 - fmin(bench_scale_at(up, bench_number(row, "q3")), 1.03));
        if (!first) {
            line(file, before[0], before[1], x, y, stroke, width);
        }
        line(file, x, q1, x, q3, spread, 1);
        (void)fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y,
                      width + 0.6, stroke.colour);
        before[0] = x;
        before[1] = y;
        first = false;
    }
}

void bench_draw_lines(FILE *file, const struct bench_panel *panel, const struct bench_scale *scale)
{
    const char *peers[BENCH_MAX_NAMES];
    unsigned count = bench_names(panel->table, "peer", peers);
    bool percent = strcmp(bench_text(panel->table, "name"), "quantiles") == 0;
    struct bench_scale across = {0, 0, !percent};
    size_t r;
    const json_t *row;
    json_array_foreach(json_object_get(panel->table, "rows"), r, row)
    {
        bench_scale_add(&across, bench_number(row, "x"));
    }
    if (across.high <= across.low) {
        across.high = across.low * 2 + 1; /* a single point */
    }
    draw_axes(file, panel, &across, scale);
    for (unsigned pass = 0; pass < 2; pass++) { /* draw our peers last, on top */
        for (unsigned p = 0; p < count; p++) {
            if (is_ours(peers[p]) == (pass == 1)) {
                draw_series(file, panel, peers[p], &across, scale);
            }
        }
    }
}
