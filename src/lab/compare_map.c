/*
 * Draw a comparison at several sizes as maps: for each measure and each demand, the best algorithm
 * at each n and k. A cell has the name and the value; the colours, one for each algorithm, only
 * help to see where the same one wins.
 */
#include "lab/compare.h"
#include "lab/picture.h"

#include <math.h>

enum {
    MARGIN = 20,
    LABELS = 140, /* width of the labels of measures, left of the maps */
    N_LABEL = 34, /* width of the n beside each row of a map */
    CELL = 102,
    CELL_HEIGHT = 28,
    GAP = 18,     /* between maps */
    TOP = 118,    /* top of the maps */
    K_LABEL = 18, /* height of the k above a map */
    DEMANDS = 3,
    MEASURES = 5
};

static const struct {
    enum lab_demand demand;
    const char *head[2];
} demands[DEMANDS] = {
    {LAB_ANY, {"at most k inside", "no other demand"}},
    {LAB_IN_ORDER, {"in order of arrival", "FIFO enabling; all others enter even if k-1 stop"}},
    {LAB_REGISTERS, {"on registers", "reads and writes only; all others enter even if k-1 stop"}},
};

static const struct {
    enum lab_measure measure;
    const char *label[3];
} measures[MEASURES] = {
    {LAB_ALONE, {"accesses alone", "of one passage", "fewest"}},
    {LAB_CONTENDED, {"accesses", "contended, average", "fewest"}},
    {LAB_CYCLES, {"passages a second", "of all together", "most"}},
    {LAB_P99, {"wait, p99", "99 of 100 are less", "shortest"}},
    {LAB_BITS, {"shared memory", "bits", "fewest"}},
};

/* The distinct n, or k, of the sizes, in order. */
struct axis {
    unsigned values[64];
    unsigned count;
};

static void add(struct axis *axis, unsigned value)
{
    for (unsigned i = 0; i < axis->count; i++) {
        if (axis->values[i] == value) {
            return;
        }
    }
    axis->values[axis->count++] = value;
}

struct map {
    FILE *file;
    const struct lab_comparison *all;
    struct axis ns, ks;
};

static const struct lab_size *size_at(const struct map *map, unsigned n, unsigned k)
{
    for (unsigned s = 0; s < map->all->size_count; s++) {
        if (map->all->sizes[s].n == n && map->all->sizes[s].k == k) {
            return &map->all->sizes[s];
        }
    }
    return NULL;
}

/* The first row that meets the demand and is as good as the best, so that noise does not choose
   among equals; *others counts the other such rows. NULL if no row meets the demand. */
static const struct lab_compared *choose(const struct map *map, const struct lab_size *size,
                                         enum lab_measure measure, enum lab_demand demand,
                                         unsigned *others)
{
    const struct lab_compared *best = lab_best(map->all, size, measure, demand);
    const struct lab_compared *first = NULL;
    *others = 0;
    for (unsigned m = 0; best != NULL && m < map->all->machine_count; m++) {
        const struct lab_compared *row = &size->rows[m];
        if (lab_meets(row, demand) &&
            lab_as_good(measure, lab_value(row, measure), lab_value(best, measure))) {
            *others += first != NULL;
            first = first == NULL ? row : first;
        }
    }
    return first;
}

static void draw_cell(const struct map *map, const struct lab_size *size, double x, double y,
                      enum lab_measure measure, enum lab_demand demand)
{
    char value[LAB_SHORT_BYTES];
    char text[2 * LAB_SHORT_BYTES];
    unsigned others = 0;
    const struct lab_compared *best =
        size == NULL ? NULL : choose(map, size, measure, demand, &others);
    if (best == NULL) {
        (void)fprintf(map->file, "<path d=\"M%g %gh%dv%dh-%dz\" fill=\"#f5f7f8\"/>\n", x, y,
                      CELL - 2, CELL_HEIGHT - 2, CELL - 2);
        return;
    }
    (void)lab_value_text(best, measure, value);
    (void)snprintf(text, sizeof text, others > 0 ? "%s  +%u" : "%s", value, others);
    (void)fprintf(map->file, "<path d=\"M%g %gh%dv%dh-%dz\" class=\"a%u\"/>\n", x, y, CELL - 2,
                  CELL_HEIGHT - 2, CELL - 2, (unsigned)(best - size->rows));
    svg_text(map->file, x + CELL / 2.0 - 1, y + 11, "start", "", best->system.machine->name);
    svg_text(map->file, x + CELL / 2.0 - 1, y + 22, "start", "v", text);
}

static void draw_map(const struct map *map, double x, double y, enum lab_measure measure,
                     enum lab_demand demand)
{
    char text[LAB_SHORT_BYTES];
    for (unsigned k = 0; k < map->ks.count; k++) {
        (void)snprintf(text, sizeof text, "k=%u", map->ks.values[k]);
        svg_text(map->file, x + N_LABEL + (k + 0.5) * CELL, y + 13, "start", "v", text);
    }
    for (unsigned n = 0; n < map->ns.count; n++) {
        double row = y + K_LABEL + n * CELL_HEIGHT;
        (void)snprintf(text, sizeof text, "n=%u", map->ns.values[n]);
        svg_text(map->file, x + N_LABEL - 6, row + 16, "start", "v end", text);
        for (unsigned k = 0; k < map->ks.count; k++) {
            draw_cell(map, size_at(map, map->ns.values[n], map->ks.values[k]),
                      x + N_LABEL + (double)k * CELL, row, measure, demand);
        }
    }
}

/* Pale colours, each far from its neighbours in the list: steps of the golden angle. */
static void write_style(char *style, size_t bytes, unsigned count)
{
    size_t at = (size_t)snprintf(style, bytes,
                                 ".maps text{text-anchor:middle;font-size:10px}"
                                 ".maps .v{font-size:9px;fill:" SVG_SOFT "}"
                                 ".maps .end{text-anchor:end}"
                                 ".soft{fill:" SVG_SOFT "}.small{font-size:11px;fill:" SVG_SOFT
                                 "}.bold{font-weight:bold}"
                                 ".title{font-size:18px;font-weight:bold}");
    for (unsigned i = 0; i < count && at < bytes; i++) {
        double rgb[3];
        for (unsigned c = 0; c < 3; c++) {
            rgb[c] = 214 + 34 * cos(2.39996 * i - c * 2.0944);
        }
        at += (size_t)snprintf(style + at, bytes - at, ".a%u{fill:#%02x%02x%02x}", i,
                               (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
    }
}

static void draw_heads(const struct map *map, double map_width)
{
    char how[LAB_HOW_BYTES];
    svg_text(map->file, MARGIN, 34, "start", "title",
             "The best algorithm for n processes and k seats");
    svg_text(map->file, MARGIN, 56, "start", "soft", lab_compare_how(map->all, how));
    for (unsigned d = 0; d < DEMANDS; d++) {
        double x = MARGIN + LABELS + d * (map_width + GAP) + N_LABEL;
        svg_text(map->file, x, TOP - 26, "start", "bold", demands[d].head[0]);
        svg_text(map->file, x, TOP - 10, "start", "small", demands[d].head[1]);
    }
}

void lab_compare_draw_maps(FILE *file, const struct lab_comparison *all)
{
    static const char *const foot[] = {
        "Each cell: the best algorithm and its value; +3: three others are as good (equal, or "
        "within "
        "a fifth if measured), and the first of the list is shown.",
        "Accesses alone and bits are exact; the rest is from one run. Only bounded bits count. "
        "Empty: no algorithm takes that size.",
    };
    struct map map = {.file = file, .all = all};
    char style[2048];
    for (unsigned s = 0; s < all->size_count; s++) {
        add(&map.ns, all->sizes[s].n);
        add(&map.ks, all->sizes[s].k);
    }
    double map_width = N_LABEL + map.ks.count * (double)CELL;
    double map_height = K_LABEL + map.ns.count * (double)CELL_HEIGHT + GAP;
    double width = MARGIN + LABELS + DEMANDS * (map_width + GAP) - GAP + MARGIN;
    double height = TOP + MEASURES * map_height + 34 + MARGIN;
    write_style(style, sizeof style, all->machine_count);
    svg_begin(file, (unsigned)fmax(width, 880), (unsigned)height, style);
    draw_heads(&map, map_width);
    for (unsigned m = 0; m < MEASURES; m++) {
        double y = TOP + m * map_height;
        for (unsigned line = 0; line < 3; line++) {
            svg_text(file, MARGIN, y + K_LABEL + 13 + line * 15, "start",
                     line == 0 ? "bold" : "small", measures[m].label[line]);
        }
        (void)fprintf(file, "<g class=\"maps\">\n");
        for (unsigned d = 0; d < DEMANDS; d++) {
            draw_map(&map, MARGIN + LABELS + d * (map_width + GAP), y, measures[m].measure,
                     demands[d].demand);
        }
        (void)fprintf(file, "</g>\n");
    }
    for (unsigned line = 0; line < 2; line++) {
        svg_text(file, MARGIN, TOP + MEASURES * map_height + 14 + line * 16, "start", "small",
                 foot[line]);
    }
    svg_end(file);
}
