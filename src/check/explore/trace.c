/* Traces: see trace.h. */
#include "check/explore/trace.h"

#include "check/explore/instance.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* The lines that say what may happen beside steps. */
static const char *const limit_names[] = {
    "crashes", "gives-up", "grows",  "shrinks", "cycles",     "tag-bits",
    "line",    "fewer",    "queue",  "stale",   "cycle-bits", "ticket-bits",
    "pauses",  "buffer",   "simple", "last",    "fewer-only"};

enum { LIMITS = sizeof limit_names / sizeof limit_names[0] };

static unsigned *limit_of(struct step_limits *limits, unsigned which)
{
    unsigned *const all[LIMITS] = {&limits->crashes, &limits->gives_up,   &limits->grows,
                                   &limits->shrinks, &limits->cycles,     &limits->tag_bits,
                                   &limits->line,    &limits->fewer,      &limits->queue,
                                   &limits->stale,   &limits->cycle_bits, &limits->ticket_bits,
                                   &limits->pauses,  &limits->buffer,     &limits->simple,
                                   &limits->last,    &limits->fewer_only};
    return all[which];
}

/* All shared words for people, where they are one variable. */
static void print_all(struct check_instance *instance, char *out, size_t size)
{
    uint64_t words[STEP_MAX_SHARED_WORDS];
    for (unsigned w = 0; w < instance->system->shared_words; w++) {
        words[w] = atomic_load(&instance->words[w]);
    }
    (void)instance->system->machine->print_all(instance->system, words, out, size);
}

/* Let it happen, and tell what it did, for people: "update ISSUE=.. -> ISSUE=..". False if it
   cannot happen. */
static bool step_and_describe(struct check_instance *instance, unsigned label, char *out,
                              size_t size)
{
    static const char *const verbs[] = {"read", "write", "update"};
    char before[CHECK_TRACE_LINE / 3];
    char after[CHECK_TRACE_LINE / 3];
    const struct step_system *system = instance->system;
    const struct step_machine *machine = system->machine;
    struct step_access access;
    if (machine->print_all != NULL) {
        print_all(instance, before, sizeof before);
    }
    if (!check_instance_step(instance, label, &access)) {
        return false;
    }
    if (label >= system->n) {
        (void)snprintf(out, size, "%s", machine->event_names[check_label_event(system, label)]);
        return true;
    }
    if (machine->print_all != NULL) {
        print_all(instance, after, sizeof after);
    } else {
        (void)machine->print_word(system, access.word, access.before, before, sizeof before);
        (void)machine->print_word(system, access.word, access.after, after, sizeof after);
    }
    if (access.before == access.after) {
        (void)snprintf(out, size, "%s %s", verbs[access.kind], before);
    } else {
        (void)snprintf(out, size, "%s %s -> %s", verbs[access.kind], before, after);
    }
    return true;
}

static void regions_of(struct check_instance *instance, char *out)
{
    unsigned n = instance->system->workers;
    for (unsigned i = 0; i < n; i++) {
        out[i] = step_region_letter(check_instance_region(instance, i));
    }
    out[n] = '\0';
}

static void write_steps(FILE *file, struct check_instance *instance,
                        const struct check_schedule *schedule)
{
    for (size_t i = 0; i < schedule->length; i++) {
        char text[CHECK_TRACE_LINE];
        char regions[STEP_MAX_PROCESSES + 1];
        char name[CHECK_PROCESS_NAME];
        unsigned label = schedule->steps[i];
        unsigned process = check_label_process(instance->system, label);
        (void)step_and_describe(instance, label, text, sizeof text);
        regions_of(instance, regions);
        (void)fprintf(file, "%s\t%s\t%s\n", check_process_name(instance->system, process, name),
                      text, regions);
    }
}

int check_trace_write(FILE *file, const struct step_system *system, const char *property,
                      const struct check_result *result)
{
    struct check_instance *instance = malloc(sizeof *instance);
    struct step_limits limits = system->limits;
    if (instance == NULL) {
        return -ENOMEM;
    }
    check_instance_init(instance, system);
    (void)fprintf(file, "usher-trace 1\nalgorithm %s\nn %u\nk %u\n", system->machine->name,
                  system->workers, system->k);
    if (system->robustness != system->k) {
        (void)fprintf(file, "r %u\n", system->robustness);
    }
    for (unsigned l = 0; l < LIMITS; l++) {
        if (*limit_of(&limits, l) != 0) {
            (void)fprintf(file, "%s %u\n", limit_names[l], *limit_of(&limits, l));
        }
    }
    (void)fprintf(file, "property %s\n", property);
    write_steps(file, instance, &result->trace);
    if (result->stopped != 0) {
        (void)fprintf(file, "stopped");
        for (unsigned i = 0; i < system->n; i++) {
            if (result->stopped >> i & 1) {
                (void)fprintf(file, " %u", i + 1);
            }
        }
        (void)fprintf(file, "\n");
    }
    if (result->loop.length > 0) {
        (void)fprintf(file, "loop\n");
        write_steps(file, instance, &result->loop);
    }
    (void)fprintf(file, "end\n");
    free(instance);
    return ferror(file) ? -EIO : 0;
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

/* Read a number from 1 to `most`; *end behind it. 0 if there is none. */
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
    for (unsigned l = 0; header && l < LIMITS; l++) {
        size_t length = strlen(limit_names[l]);
        if (strncmp(text, limit_names[l], length) == 0 && text[length] == ' ') {
            return read_size(r, text + length + 1, 1000, limit_of(&trace->limits, l));
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

/* What a line of the file stands for: an event if it has the name of one, else a step. */
static unsigned label_of(const struct step_system *system, const struct check_trace_step *step)
{
    for (unsigned event = 1; event < system->machine->events; event++) {
        if (strcmp(step->access, system->machine->event_names[event]) == 0) {
            return event * system->n + step->process;
        }
    }
    return step->process;
}

/* Compare one step with the file. */
static int replay_step(struct check_instance *instance, const struct check_trace *trace,
                       size_t index, char why[CHECK_TRACE_WHY])
{
    const struct check_trace_step *step = &trace->steps[index];
    char text[CHECK_TRACE_LINE];
    char regions[STEP_MAX_PROCESSES + 1];
    if (index >= trace->loop_at && (trace->stopped >> step->process & 1)) {
        (void)snprintf(why, CHECK_TRACE_WHY, "step %zu: process %u has stopped", index + 1,
                       step->process + 1);
        return -EINVAL;
    }
    unsigned label = label_of(instance->system, step);
    if (!step_and_describe(instance, label, text, sizeof text)) {
        (void)snprintf(why, CHECK_TRACE_WHY, "step %zu: this cannot happen there any more",
                       index + 1);
        return -EINVAL;
    }
    regions_of(instance, regions);
    if (strcmp(text, step->access) != 0) {
        (void)snprintf(why, CHECK_TRACE_WHY,
                       "step %zu: the trace says \"%.90s\", the code does \"%.90s\"", index + 1,
                       step->access, text);
        return -EINVAL;
    }
    if (strcmp(regions, step->regions) != 0) {
        (void)snprintf(why, CHECK_TRACE_WHY, "step %zu: the trace leads to %s, the code to %s",
                       index + 1, step->regions, regions);
        return -EINVAL;
    }
    return 0;
}

int check_trace_replay(const struct check_trace *trace, const struct step_system *system,
                       char why[CHECK_TRACE_WHY])
{
    struct check_instance *instance = malloc(sizeof *instance);
    struct check_snapshot *begin = calloc(1, sizeof *begin);
    struct check_snapshot *end = calloc(1, sizeof *end);
    int error = instance == NULL || begin == NULL || end == NULL ? -ENOMEM : 0;
    if (error == 0 && trace->supervised && !system->machine->supervised) {
        (void)snprintf(why, CHECK_TRACE_WHY, "there is no supervisor S in %s", trace->algorithm);
        error = -EINVAL;
    }
    if (error == 0) {
        check_instance_init(instance, system);
    }
    for (size_t i = 0; i < trace->count && error == 0; i++) {
        if (i == trace->loop_at) {
            check_instance_snapshot(instance, begin);
        }
        error = replay_step(instance, trace, i, why);
    }
    if (error == 0 && trace->loop_at < trace->count) {
        check_instance_snapshot(instance, end);
        if (memcmp(begin, end, sizeof *begin) != 0) {
            (void)snprintf(why, CHECK_TRACE_WHY, "the loop does not lead back to where it begins");
            error = -EINVAL;
        }
    }
    bool crowded = strcmp(trace->property, "exclusion") == 0 || strcmp(trace->property, "C1") == 0;
    if (error == 0 && crowded && check_instance_critical(instance) <= system->k) {
        (void)snprintf(why, CHECK_TRACE_WHY,
                       "no more than k are in C at the end: exclusion holds here");
        error = -EINVAL;
    }
    if (error == -ENOMEM) {
        (void)snprintf(why, CHECK_TRACE_WHY, "out of memory");
    }
    free(instance);
    free(begin);
    free(end);
    return error;
}
