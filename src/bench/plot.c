/* Choose and lay out the pictures. plot.h is the contract. */
#include "bench/plot.h"

#include "bench/peers.h"
#include "bench/results.h"
#include "svg/svg.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
    MOST_PANELS = 12,
    BAR = 22,
    LINE_WIDTH = 290,
    LINE_HEIGHT = 190,
    BAR_WIDTH = 300,
    BAR_MARGIN = 110,
    NAMES = 220
};

/* The workloads with a picture, and the number of panel columns. */
static const struct {
    const char *workload, *title;
    unsigned columns;
    const char *only; /* name of the only table to draw; NULL: all */
    bool bars;        /* bars even with many cases */
} pictures[] = {
    {"uncontended", "Acquire and release without contention", 1, NULL, false},
    {"contended", "Many processes: entries a second", 3, "speed", false},
    {"handover", "A seat handed to a sleeping process", 1, NULL, false},
    {"parked", "A seat handed down a line of sleepers", 2, NULL, false},
    {"growth", "Cost as guests and seats grow", 2, NULL, false},
    {"recovery", "A holder is killed: time until the next holder", 1, NULL, false},
    {"idle", "Waiting while nothing happens", 1, NULL, true},
    {"job", "One job, by itself and under a command", 1, NULL, false},
    {"zookeeper", "Pools on ZooKeeper", 1, NULL, true},
};

void bench_scale_add(struct bench_scale *scale, double value)
{
    if (value > 0 || !scale->log) {
        scale->low = scale->high == 0 || value < scale->low ? value : scale->low;
        scale->high = value > scale->high ? value : scale->high;
    }
}

/* Round to 1, 2 or 5 times a power of ten, up or down. */
static double round_to(double value, bool up)
{
    static const double steps[] = {1, 2, 5, 10};
    double decade = pow(10, floor(log10(value)));
    double found = decade;
    for (unsigned s = 0; s < 4; s++) {
        if (steps[s] * decade <= value * 1.0001) {
            found = steps[s] * decade;
        } else if (up) {
            return found * 1.0001 >= value ? found : steps[s] * decade;
        }
    }
    return found;
}

void bench_scale_round(struct bench_scale *scale)
{
    if (scale->high <= 0) {
        *scale = (struct bench_scale){1, 10, scale->log};
    }
    if (scale->log) {
        scale->low = round_to(scale->low, false);
        scale->high = round_to(scale->high, true);
        scale->high = scale->high > scale->low ? scale->high : 10 * scale->low;
    } else {
        scale->low = 0;
    }
}

double bench_scale_at(const struct bench_scale *scale, double value)
{
    if (scale->log) {
        value = value < scale->low ? scale->low : value;
        return log(value / scale->low) / log(scale->high / scale->low);
    }
    return (value - scale->low) / (scale->high - scale->low);
}

unsigned bench_scale_marks(const struct bench_scale *scale, double *marks)
{
    unsigned count = 0;
    if (!scale->log) {
        for (; count <= 4; count++) {
            marks[count] = scale->low + (scale->high - scale->low) * count / 4;
        }
        return count;
    }
    bool fine = scale->high / scale->low < 101;
    double decade = pow(10, floor(log10(scale->low * 1.0001)));
    for (; decade <= scale->high * 1.0001 && count < 14; decade *= 10) {
        for (double step = 1; step < 10 && count < 14; step = step == 2 ? 5 : 2 * step) {
            double mark = step * decade;
            if ((fine || step == 1) && mark >= scale->low * 0.9999 &&
                mark <= scale->high * 1.0001) {
                marks[count++] = mark;
            }
        }
    }
    return count;
}

struct bench_stroke bench_stroke(const char *peer)
{
    static const char *const others[] = {"#ef6c00", "#7cb342", "#8e24aa", "#d32f2f",
                                         "#795548", "#f9a825", "#ec407a", "#37474f"};
    static const char dash[] = " stroke-dasharray=\"5 3\"";
    const unsigned colours = sizeof others / sizeof others[0];
    if (strstr(peer, "limit") != NULL) {
        return (struct bench_stroke){"#90a4ae", strcmp(peer, "limit_fifo") == 0 ? "" : dash};
    }
    if (strstr(peer, "gate") != NULL) {
        return (struct bench_stroke){"#26a69a", ""};
    }
    if (strstr(peer, "usher") != NULL) {
        return (struct bench_stroke){"#1565c0", ""};
    }
    unsigned at = bench_index(bench_peers, bench_peer_count, peer);
    if (at == bench_peer_count) { /* a peer of one workload only: any stroke will do */
        return (struct bench_stroke){others[strlen(peer) % colours], ""};
    }
    /* before it: our peers and the limits */
    at -= bench_index(bench_peers, bench_peer_count, "sem_t");
    return (struct bench_stroke){others[at % colours], at / colours % 2 == 0 ? "" : dash};
}

/* The case without its last part: "k=1, 0 us inside, 4 processes" becomes "k=1, 0 us inside". */
static void group_of(const json_t *row, char *group, size_t room)
{
    (void)snprintf(group, room, "%s", bench_text(row, "case"));
    char *comma = strrchr(group, ',');
    *(comma != NULL ? comma : group) = '\0';
}

bool bench_in_group(const json_t *row, const char *group)
{
    char own[64];
    group_of(row, own, sizeof own);
    return strcmp(own, group) == 0;
}

/* Add one panel for a table of bars, or one for each of its series. */
static unsigned add_panels(const json_t *table, bool bars, struct bench_panel *panels,
                           unsigned count)
{
    size_t r;
    const json_t *row;
    json_array_foreach(json_object_get(table, "rows"), r, row)
    {
        struct bench_panel panel = {.table = table};
        panel.bars = bars || bench_text(row, "case")[0] == '\0';
        if (!panel.bars) {
            group_of(row, panel.group, sizeof panel.group);
        }
        bool known = false;
        for (unsigned p = 0; p < count; p++) {
            known =
                known || (panels[p].table == table && strcmp(panels[p].group, panel.group) == 0);
        }
        (void)snprintf(panel.title, sizeof panel.title, "%s",
                       panel.group[0] != '\0' ? panel.group : bench_text(table, "title"));
        if (!known && count < MOST_PANELS) {
            panels[count++] = panel;
        }
    }
    return count;
}

/* Return the width of bars: that of the titles above them. */
static double bar_width(const struct bench_panel *panels, unsigned count)
{
    double width = BAR_WIDTH;
    for (unsigned p = 0; p < count; p++) {
        size_t letters = strlen(panels[p].title) + strlen(bench_text(panels[p].table, "unit"));
        width = fmax(width, 8.1 * (double)letters - NAMES - BAR_MARGIN);
    }
    return width;
}

/* Place the panels. Return the total height. */
static double lay_out(struct bench_panel *panels, unsigned count, unsigned columns)
{
    double y = 70;
    double bars = bar_width(panels, count);
    for (unsigned p = 0; p < count; p++) {
        struct bench_panel *panel = &panels[p];
        panel->x = panel->bars ? NAMES : 70 + (p % columns) * (LINE_WIDTH + 70.0);
        panel->y = y;
        panel->width = panel->bars ? bars : LINE_WIDTH;
        panel->height = panel->bars ? BAR * bench_bar_rows(panel->table) : LINE_HEIGHT;
        if (p % columns == columns - 1 || p + 1 == count) {
            y += panel->height + 75;
        }
    }
    return y;
}

static double draw_legend(FILE *file, const struct bench_panel *panels, double y, double width)
{
    const char *peers[BENCH_MAX_NAMES];
    unsigned count = bench_names(panels[0].table, "peer", peers);
    double x = 30;
    for (unsigned p = 0; p < count; p++) {
        double needed = 47 + 8.2 * (double)strlen(peers[p]);
        if (x + needed > width) {
            x = 30;
            y += 20;
        }
        struct bench_stroke stroke = bench_stroke(peers[p]);
        (void)fprintf(file,
                      "<line x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\" stroke=\"%s\" "
                      "stroke-width=\"3\"%s/>\n",
                      x, y - 4, x + 21, y - 4, stroke.colour, stroke.dash);
        svg_text(file, x + 26, y, "start", "", peers[p]);
        x += needed;
    }
    return y + 20;
}

/* All panels of one table share one scale, so that they can be compared. */
static struct bench_scale scale_of(const json_t *table)
{
    struct bench_scale scale = {0, 0, true};
    size_t r;
    const json_t *row;
    json_array_foreach(json_object_get(table, "rows"), r, row)
    {
        bench_scale_add(&scale, bench_number(row, "median"));
    }
    bench_scale_round(&scale);
    return scale;
}

static int draw(const char *path, const char *title, struct bench_panel *panels, unsigned count,
                unsigned columns)
{
    unsigned wide = count < columns ? count : columns;
    double height = lay_out(panels, count, columns);
    double width =
        panels[0].bars ? NAMES + panels[0].width + BAR_MARGIN : 50 + wide * (LINE_WIDTH + 70.0);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        (void)fprintf(stderr, "usher-bench: cannot write %s\n", path);
        return -1;
    }
    svg_begin(
        file, (unsigned)width, (unsigned)height + (panels[0].bars ? 0 : 60),
        ".t{font-size:17px;font-weight:bold}.h{font-weight:bold}.s{font-size:11px;fill:" SVG_SOFT
        "}.o{font-weight:bold}");
    svg_text(file, 20, 30, "start", "t", title);
    for (unsigned p = 0; p < count; p++) {
        if (panels[p].bars) {
            bench_draw_bars(file, &panels[p]);
        } else {
            struct bench_scale scale = scale_of(panels[p].table);
            bench_draw_lines(file, &panels[p], &scale);
        }
    }
    if (!panels[0].bars) {
        (void)draw_legend(file, panels, height, width - 20);
    }
    svg_end(file);
    return fclose(file) == 0 ? 0 : -1;
}

int bench_plot(const json_t *results, const char *workload, const char *directory)
{
    struct bench_panel panels[MOST_PANELS];
    char path[4096];
    size_t t;
    const json_t *table;
    unsigned at = 0;
    unsigned count = 0;
    while (at < sizeof pictures / sizeof pictures[0] &&
           strcmp(pictures[at].workload, workload) != 0) {
        at++;
    }
    if (at == sizeof pictures / sizeof pictures[0]) {
        return 0;
    }
    json_array_foreach(json_object_get(results, "tables"), t, table)
    {
        if (strcmp(bench_text(table, "workload"), workload) == 0 &&
            (pictures[at].only == NULL ||
             strcmp(bench_text(table, "name"), pictures[at].only) == 0)) {
            count = add_panels(table, pictures[at].bars, panels, count);
        }
    }
    if (count == 0) {
        return 0;
    }
    (void)snprintf(path, sizeof path, "%s/bench-%s.svg", directory, workload);
    return draw(path, pictures[at].title, panels, count, pictures[at].columns) == 0 ? 1 : -1;
}
