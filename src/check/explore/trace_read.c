/* Read a trace: see trace.h. */
#include "check/explore/trace.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

const char *const check_trace_limit_names[CHECK_TRACE_LIMITS] = {
    "crashes", "gives-up", "grows",  "shrinks", "cycles",     "tag-bits",
    "line",    "fewer",    "queue",  "stale",   "cycle-bits", "ticket-bits",
    "pauses",  "buffer",   "simple", "last",    "fewer-only"};

unsigned *check_trace_limit(struct step_limits *limits, unsigned which)
{
    unsigned *const all[CHECK_TRACE_LIMITS] = {
        &limits->crashes,   &limits->gives_up, &limits->grows,      &limits->shrinks,
        &limits->cycles,    &limits->tag_bits, &limits->line,       &limits->fewer,
        &limits->queue,     &limits->stale,    &limits->cycle_bits, &limits->ticket_bits,
        &limits->pauses,    &limits->buffer,   &limits->simple,     &limits->last,
        &limits->fewer_only};
    return all[which];
}

struct reader {
    struct check_trace *trace;
    unsigned line;
    bool ended;
    char *why;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reader *r, const char *format, ...)
{
    va_list arguments;
    int at = snprintf(r->why, CHECK_TRACE_WHY, "line %u: ", r->line);
    va_start(arguments, format);
    (void)vsnprintf(r->why + at, (size_t)(CHECK_TRACE_WHY - at), format, arguments);
    va_end(arguments);
    return -EINVAL;
}

/* Read a number from 1 to `most`, and set *end behind it. 0 if there is none. */
static unsigned number(const char *text, unsigned long most, char **end)
{
    unsigned long value = strtoul(text, end, 10);
    return *end == text || value < 1 || value > most ? 0 : (unsigned)value;
}

static int read_stopped(struct reader *r, const char *text)
{
    while (*text != '\0') {
        char *end;
        unsigned process = number(text, r->trace->n, &end);
        if (process == 0) {
            return refuse(r, "after \"stopped\" come process numbers from 1 to n");
        }
        r->trace->stopped |= 1ULL << (process - 1);
        text = end;
    }
    return 0;
}

static int read_step(struct reader *r, char *text)
{
    struct check_trace *trace = r->trace;
    bool supervisor = text[0] == 'S';
    char *end = text + 1;
    unsigned process = supervisor ? trace->n + 1 : number(text, trace->n, &end);
    char *regions = process != 0 && *end == '\t' ? strchr(end + 1, '\t') : NULL;
    if (regions == NULL) {
        return refuse(r, "a step is: process (1 to n, or S), tab, the access, tab, the regions");
    }
    *regions++ = '\0';
    if (strlen(regions) != trace->n || strspn(regions, "RTCE") != trace->n) {
        return refuse(r, "the regions must be n letters, each R, T, C or E");
    }
    if (trace->count == trace->capacity) {
        size_t capacity = 2 * trace->capacity + 64;
        struct check_trace_step *steps = realloc(trace->steps, capacity * sizeof *steps);
        if (steps == NULL) {
            return refuse(r, "out of memory");
        }
        trace->steps = steps;
        trace->capacity = capacity;
    }
    struct check_trace_step *step = &trace->steps[trace->count++];
    step->process = process - 1;
    trace->supervised = trace->supervised || supervisor;
    (void)snprintf(step->access, sizeof step->access, "%s", end + 1);
    (void)snprintf(step->regions, sizeof step->regions, "%s", regions);
    return 0;
}

static int read_size(struct reader *r, const char *text, unsigned long most, unsigned *value)
{
    char *end;
    *value = number(text, most, &end);
    return *value == 0 || *end != '\0' ? refuse(r, "not a number from 1 to %lu: %s", most, text)
                                       : 0;
}

static int read_name(struct reader *r, const char *text, char *out)
{
    size_t length = strlen(text);
    if (length == 0 || length >= CHECK_TRACE_NAME) {
        return refuse(r, "a name of 1 to %d characters is expected", CHECK_TRACE_NAME - 1);
    }
    memcpy(out, text, length + 1);
    return 0;
}

static int read_property(struct reader *r, const char *text)
{
    bool known = strcmp(text, "schedule") == 0;
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        known = known || strcmp(text, step_property_name((enum step_property)p)) == 0;
    }
    return known ? read_name(r, text, r->trace->property)
                 : refuse(r, "no such property: %.40s", text);
}

static int read_line(struct reader *r, char *text)
{
    struct check_trace *trace = r->trace;
    if (r->line == 1) {
        return strcmp(text, "usher-trace 1") == 0 ? 0
                                                  : refuse(r, "not a trace (\"usher-trace 1\")");
    }
    if (r->ended) {
        return refuse(r, "nothing may follow \"end\"");
    }
    bool header = trace->property[0] == '\0'; /* the property is its last line */
    if (header && strncmp(text, "algorithm ", 10) == 0) {
        return read_name(r, text + 10, trace->algorithm);
    }
    if (header && strncmp(text, "n ", 2) == 0) {
        return read_size(r, text + 2, STEP_MAX_PROCESSES, &trace->n);
    }
    if (header && strncmp(text, "k ", 2) == 0) {
        return read_size(r, text + 2, UINT32_MAX, &trace->k);
    }
    if (header && strncmp(text, "r ", 2) == 0) {
        return read_size(r, text + 2, UINT32_MAX, &trace->robustness);
    }
    for (unsigned l = 0; header && l < CHECK_TRACE_LIMITS; l++) {
        size_t length = strlen(check_trace_limit_names[l]);
        if (strncmp(text, check_trace_limit_names[l], length) == 0 && text[length] == ' ') {
            return read_size(r, text + length + 1, 1000, check_trace_limit(&trace->limits, l));
        }
    }
    bool sized = trace->n != 0 && trace->k != 0 && trace->algorithm[0] != '\0';
    if (header && sized && strncmp(text, "property ", 9) == 0) {
        return read_property(r, text + 9);
    }
    if (header) {
        return refuse(r, "algorithm, n, k and then property must come before the steps");
    }
    if (strncmp(text, "stopped ", 8) == 0) {
        return read_stopped(r, text + 8);
    }
    if (strcmp(text, "loop") == 0 && trace->loop_at == SIZE_MAX) {
        trace->loop_at = trace->count;
        return 0;
    }
    if (strcmp(text, "end") == 0) {
        r->ended = true;
        return 0;
    }
    return read_step(r, text);
}

int check_trace_read(FILE *file, struct check_trace *trace, char why[CHECK_TRACE_WHY])
{
    char text[CHECK_TRACE_LINE];
    struct reader r = {.trace = trace, .why = why};
    memset(trace, 0, sizeof *trace);
    trace->loop_at = SIZE_MAX;
    while (fgets(text, sizeof text, file) != NULL) {
        size_t length = strlen(text);
        r.line++;
        if (length == 0 || text[length - 1] != '\n') {
            return refuse(&r, "the line is too long or has no end");
        }
        text[length - 1] = '\0';
        int error = read_line(&r, text);
        if (error != 0) {
            return error;
        }
    }
    if (!r.ended) {
        r.line++;
        return refuse(&r, r.line == 1 ? "the file is empty" : "the trace is cut off: no \"end\"");
    }
    if (trace->loop_at > trace->count) {
        trace->loop_at = trace->count;
    }
    return 0;
}

void check_trace_free(struct check_trace *trace)
{
    free(trace->steps);
    memset(trace, 0, sizeof *trace);
}
