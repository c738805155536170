/* Write and replay traces: see trace.h. trace_read.c reads them. */
#include "check/explore/trace.h"

#include "check/explore/instance.h"

#include <errno.h>
#include <string.h>

/* Print all shared words of a machine whose words are one variable. */
static void print_all(struct check_instance *instance, char *out, size_t size)
{
    uint64_t words[STEP_MAX_SHARED_WORDS];
    for (unsigned w = 0; w < instance->system->shared_words; w++) {
        words[w] = atomic_load(&instance->words[w]);
    }
    (void)instance->system->machine->print_all(instance->system, words, out, size);
}

/* Execute a label and describe its access: "update ISSUE=.. -> ISSUE=..". False if it cannot
   happen. */
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
    for (unsigned l = 0; l < CHECK_TRACE_LIMITS; l++) {
        if (*check_trace_limit(&limits, l) != 0) {
            (void)fprintf(file, "%s %u\n", check_trace_limit_names[l],
                          *check_trace_limit(&limits, l));
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

/* The label of a line: an event if it has the name of one, else a step. */
static unsigned label_of(const struct step_system *system, const struct check_trace_step *step)
{
    for (unsigned event = 1; event < system->machine->events; event++) {
        if (strcmp(step->access, system->machine->event_names[event]) == 0) {
            return event * system->n + step->process;
        }
    }
    return step->process;
}

/* Execute one step and compare it with the file. */
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
        (void)snprintf(why, CHECK_TRACE_WHY, "step %zu: the event cannot happen there", index + 1);
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
            (void)snprintf(why, CHECK_TRACE_WHY, "the loop does not lead back to its first state");
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
