/*
 * Draw a trace as SVG: one lane a process, time to the right. It is readable without colours: each
 * stretch of a region has its letter. Each step has its access as a tooltip.
 */
#include "lab/draw.h"

#include "lab/picture.h"

#include <string.h>

enum {
    LEFT = 70, /* left end of time */
    TOP = 84,  /* top of the lanes */
    LANE = 44, /* from one lane to the next */
    BAR = 26,  /* height of the coloured bar in a lane */
    RIGHT = 40,
    BOTTOM = 64,
    NAME = 16 /* bytes of the longest process name */
};

static const struct {
    char letter;
    const char *fill, *name;
} regions[] = {
    {'R', "#eceff1", "remainder"},
    {'T', "#ffd54f", "trying"},
    {'C', "#64b5f6", "critical"},
    {'E', "#ce93d8", "exit"},
};

static unsigned region_index(char letter)
{
    unsigned i = 0;
    while (i < 3 && regions[i].letter != letter) {
        i++;
    }
    return i;
}

struct canvas {
    FILE *file;
    const struct check_trace *trace;
    unsigned column; /* width of a step */
    unsigned width, height;
};

static unsigned x_of(const struct canvas *c, size_t step)
{
    return LEFT + (unsigned)step * c->column;
}

static unsigned y_of(unsigned process)
{
    return TOP + process * LANE;
}

static unsigned lanes_of(const struct check_trace *trace)
{
    return trace->n + trace->supervised;
}

/* "P2", or "S" for a supervisor. Returns `out`. */
static char *name_of(const struct canvas *c, unsigned process, char out[NAME])
{
    if (process == c->trace->n) {
        (void)snprintf(out, NAME, "S");
    } else {
        (void)snprintf(out, NAME, "P%u", process + 1);
    }
    return out;
}

/* The letter of a process's region after `step` steps. */
static char region_after(const struct canvas *c, unsigned process, size_t step)
{
    return step == 0 ? 'R' : c->trace->steps[step - 1].regions[process];
}

static void draw_lane(const struct canvas *c, unsigned process)
{
    size_t count = c->trace->count;
    char name[NAME];
    (void)fprintf(c->file, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s</text>\n", LEFT - 10,
                  y_of(process) + BAR / 2 + 5, name_of(c, process, name));
    if (process == c->trace->n) { /* a supervisor has no regions: its lane is a line */
        (void)fprintf(c->file,
                      "<line x1=\"%d\" y1=\"%u\" x2=\"%u\" y2=\"%u\" stroke=\"#90a4ae\"/>\n", LEFT,
                      y_of(process) + BAR / 2, x_of(c, count + 1), y_of(process) + BAR / 2);
        return;
    }
    for (size_t begin = 0; begin <= count;) {
        char letter = region_after(c, process, begin);
        size_t end = begin + 1;
        while (end <= count && region_after(c, process, end) == letter) {
            end++;
        }
        unsigned x = x_of(c, begin);
        unsigned width = x_of(c, end) - x;
        (void)fprintf(c->file,
                      "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" fill=\"%s\" "
                      "stroke=\"#90a4ae\" stroke-width=\"0.5\"/>\n"
                      "<text class=\"letter\" x=\"%u\" y=\"%u\">%c</text>\n",
                      x, y_of(process), width, BAR, regions[region_index(letter)].fill,
                      x + width / 2, y_of(process) + BAR / 2 + 5, letter);
        begin = end;
    }
}

/* A dot between the states before and after each step, numbered below all lanes. */
static void draw_steps(const struct canvas *c)
{
    for (size_t i = 0; i < c->trace->count; i++) {
        const struct check_trace_step *step = &c->trace->steps[i];
        char name[NAME];
        unsigned x = x_of(c, i + 1);
        (void)fprintf(c->file,
                      "<line x1=\"%u\" y1=\"%d\" x2=\"%u\" y2=\"%u\" stroke=\"#b0bec5\" "
                      "stroke-width=\"0.5\" stroke-dasharray=\"2 3\"/>\n",
                      x, TOP - 6, x, y_of(lanes_of(c->trace)) - LANE + BAR + 6);
        (void)fprintf(c->file,
                      "<circle cx=\"%u\" cy=\"%u\" r=\"5\" fill=\"#263238\"><title>step %zu, %s: ",
                      x, y_of(step->process) + BAR / 2, i + 1, name_of(c, step->process, name));
        svg_escape(c->file, step->access);
        (void)fprintf(c->file,
                      "</title></circle>\n<text class=\"small\" x=\"%u\" y=\"%u\">%zu</text>\n", x,
                      y_of(lanes_of(c->trace)) - LANE + BAR + 20, i + 1);
    }
}

static void draw_loop(const struct canvas *c)
{
    if (c->trace->loop_at >= c->trace->count) {
        return;
    }
    unsigned from = x_of(c, c->trace->loop_at) + c->column / 2;
    unsigned to = x_of(c, c->trace->count) + c->column / 2;
    (void)fprintf(c->file,
                  "<path d=\"M %u %d v -8 H %u v 8\" fill=\"none\" stroke=\"#c62828\" "
                  "stroke-width=\"1.5\"/>\n<text class=\"red\" x=\"%u\" y=\"%d\">for ever</text>\n",
                  from, TOP - 8, to, (from + to) / 2, TOP - 21);
    for (unsigned i = 0; i < c->trace->n; i++) {
        if (c->trace->stopped >> i & 1) {
            unsigned x = x_of(c, c->trace->loop_at) + c->column / 2;
            unsigned y = y_of(i) + BAR / 2;
            (void)fprintf(c->file,
                          "<g stroke=\"#c62828\" stroke-width=\"3\"><title>P%u has stopped</title>"
                          "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\"/>"
                          "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\"/></g>\n",
                          i + 1, x - 6, y - 6, x + 6, y + 6, x - 6, y + 6, x + 6, y - 6);
        }
    }
}

/* A red frame around the last state, with the violation below. */
static void draw_violation(const struct canvas *c)
{
    size_t last = c->trace->count;
    if (strcmp(c->trace->property, "schedule") == 0) {
        return;
    }
    (void)fprintf(
        c->file,
        "<rect x=\"%u\" y=\"%d\" width=\"%u\" height=\"%u\" fill=\"none\" stroke=\"#c62828\" "
        "stroke-width=\"2.5\" rx=\"4\"/>\n",
        x_of(c, last) - 1, TOP - 4, c->column + 2, (lanes_of(c->trace) - 1) * LANE + BAR + 8U);
}

static void draw_legend(const struct canvas *c)
{
    unsigned x = LEFT;
    unsigned y = c->height - 22;
    for (unsigned i = 0; i < 4; i++) {
        (void)fprintf(
            c->file,
            "<rect x=\"%u\" y=\"%u\" width=\"16\" height=\"14\" fill=\"%s\" stroke=\"#90a4ae\"/>"
            "<text x=\"%u\" y=\"%u\">%s</text>\n",
            x, y, regions[i].fill, x + 22, y + 12, regions[i].name);
        x += 100;
    }
    (void)fprintf(c->file,
                  "<circle cx=\"%u\" cy=\"%u\" r=\"5\" fill=\"#263238\"/><text x=\"%u\" y=\"%u\">a "
                  "step</text>\n",
                  x + 6, y + 7, x + 18, y + 12);
}

void lab_draw_svg(FILE *file, const struct check_trace *trace)
{
    struct canvas c = {.file = file, .trace = trace};
    c.column = trace->count <= 24 ? 44 : 26;
    c.width = x_of(&c, trace->count + 1) + RIGHT;
    c.width = c.width < 600 ? 600 : c.width;
    c.height = y_of(lanes_of(trace)) - LANE + BAR + BOTTOM;
    svg_begin(file, c.width, c.height,
              ".letter{text-anchor:middle;font-weight:bold}.small{text-anchor:middle;"
              "font-size:10px;fill:" SVG_SOFT "}.red{text-anchor:middle;fill:#c62828}");
    (void)fprintf(file,
                  "<text x=\"%d\" y=\"28\" font-size=\"17\" font-weight=\"bold\">%s, n=%u, k=%u",
                  LEFT, trace->algorithm, trace->n, trace->k);
    if (strcmp(trace->property, "schedule") != 0) {
        (void)fprintf(file, ": <tspan fill=\"#c62828\">%s violated</tspan>", trace->property);
    }
    (void)fprintf(file, "</text>\n");
    for (unsigned i = 0; i < lanes_of(trace); i++) {
        draw_lane(&c, i);
    }
    draw_steps(&c);
    draw_loop(&c);
    draw_violation(&c);
    draw_legend(&c);
    svg_end(file);
}
