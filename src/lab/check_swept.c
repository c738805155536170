/* usher-lab check --sweep: explore group by group, with verdicts but no traces. */
#include "check/explore/budget.h"
#include "check/sweep/sweep.h"
#include "lab/check_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A sweep and what it was asked. */
struct swept {
    const struct step_system *system;
    struct check_sweep_options options;
    struct check_sweep sweep;
    struct check_report report;
    struct check_result solo;
    char *state; /* the state that violates a property, as lines; empty if none does */
    size_t state_bytes;
};

static const char *spill_directory(void)
{
    const char *directory = getenv("TMPDIR");
    return directory != NULL && directory[0] != '\0' ? directory : "/var/tmp";
}

/* Options and systems that a sweep does not take. */
static int refuse(const struct lab_options *options, const struct step_system *system)
{
    const char *name = system->machine->name;
    const char *why = check_sweep_refusal(system);
    if (system->machine->stage == NULL) {
        return lab_fail(LAB_USAGE,
                        "%s cannot be swept: it %s; --sweep is for pool and its mutants "
                        "(mutant-pool-..)",
                        name, why);
    }
    if (why != NULL) {
        return lab_fail(LAB_USAGE, "%s cannot be swept: it %s; leave out --sweep", name, why);
    }
    if (options->trace_file != NULL || options->property != NULL) {
        return lab_fail(LAB_USAGE, "--sweep writes no trace: leave out --trace and --property, or "
                                   "check a smaller size without --sweep");
    }
    if (options->only_exclusion) {
        return lab_fail(LAB_USAGE, "--sweep always decides more than exclusion: leave out --only");
    }
    return LAB_OK;
}

/* The properties; a violated one has no trace here. */
static json_t *properties_json(const struct swept *swept, json_t *claims)
{
    json_t *properties = lab_properties_json(swept->system, &swept->report, claims);
    (void)json_array_append_new(claims, json_string(CHECK_SWEEP_SOLO));
    (void)json_object_set_new(properties, CHECK_SWEEP_SOLO,
                              lab_result_json(swept->system, &swept->solo, STEP_INVARIANT));
    const char *name;
    json_t *property;
    json_object_foreach(properties, name, property)
    {
        (void)json_object_del(property, "trace");
    }
    return properties;
}

static json_t *state_json(const struct swept *swept)
{
    json_t *lines = json_array();
    for (const char *at = swept->state; *at != '\0';) {
        size_t length = strcspn(at, "\n");
        size_t blanks = strspn(at, " ");
        (void)json_array_append_new(lines, json_stringn(at + blanks, length - blanks));
        at += at[length] == '\n' ? length + 1 : length;
    }
    return lines;
}

static json_t *document(const struct swept *swept)
{
    const struct step_system *system = swept->system;
    const struct check_sweep *sweep = &swept->sweep;
    json_t *claims = json_array();
    json_t *properties = properties_json(swept, claims);
    return json_pack("{s:s, s:i, s:i, s:i, s:b, s:I, s:I, s:I, s:b, s:f, s:o, s:o, s:o, "
                     "s:{s:I, s:I, s:I, s:I, s:I}}",
                     "algorithm", system->machine->name, "n", (int)system->workers, "k",
                     (int)system->k, "r", (int)system->robustness, "reduced",
                     swept->options.settled, "states", (json_int_t)sweep->all_states, "transitions",
                     (json_int_t)sweep->transitions, "values", (json_int_t)sweep->shared_parts,
                     "complete", sweep->complete, "seconds", sweep->seconds, "claims", claims,
                     "properties", properties, "state",
                     swept->state_bytes > 0 ? state_json(swept) : json_null(), "sweep", "explored",
                     (json_int_t)sweep->states, "groups", (json_int_t)sweep->groups,
                     "largest_group", (json_int_t)sweep->largest, "memory", (json_int_t)sweep->most,
                     "spilled", (json_int_t)sweep->spilled);
}

static void show(const struct swept *swept)
{
    const struct check_sweep *sweep = &swept->sweep;
    lab_show_title(swept->system);
    (void)printf("%llu state%s%s", (unsigned long long)sweep->all_states,
                 lab_plural(sweep->all_states), swept->options.settled ? ", reduced" : "");
    if (sweep->states != sweep->all_states) {
        (void)printf(" (%llu explored, the others are their mirror images)",
                     (unsigned long long)sweep->states);
    }
    (void)printf(", %llu transition%s, %u shared value%s, %.2f s\n",
                 (unsigned long long)sweep->transitions, lab_plural(sweep->transitions),
                 sweep->shared_parts, lab_plural(sweep->shared_parts), sweep->seconds);
    (void)printf("swept in %u group%s of up to %u state%s, %.0f MiB", sweep->groups,
                 lab_plural(sweep->groups), sweep->largest, lab_plural(sweep->largest),
                 (double)sweep->most / (1 << 20));
    if (sweep->spilled > 0) {
        (void)printf(", %llu state%s written to disk", (unsigned long long)sweep->spilled,
                     lab_plural(sweep->spilled));
    }
    (void)printf("\n\n");
    if (!sweep->complete) {
        (void)printf("Not complete: %s.\n\n", sweep->violated != NULL
                                                  ? "the first violation ended the sweep"
                                                  : "the memory limit was reached");
    }
    lab_show_results(swept->system, &swept->report);
    lab_show_result(swept->system, CHECK_SWEEP_SOLO, true, &swept->solo, STEP_INVARIANT);
    if (swept->state_bytes > 0) {
        (void)printf("\nThe state that shows the violation:\n\n%s", swept->state);
    }
}

static int verdict(const struct swept *swept)
{
    const struct check_sweep *sweep = &swept->sweep;
    if (sweep->violated != NULL) {
        return LAB_VIOLATED;
    }
    if (!sweep->complete) {
        return lab_fail(LAB_OS,
                        "%s: the sweep did not fit %.1f MiB of memory and the disk of %s "
                        "(%llu states); raise --memory, set TMPDIR to a larger disk, or take a "
                        "smaller size",
                        swept->system->machine->name, (double)swept->options.memory / (1 << 20),
                        swept->options.spill, (unsigned long long)sweep->states);
    }
    return LAB_OK;
}

static int sweep_and_print(const struct lab_options *options, struct swept *swept)
{
    const char *name = swept->system->machine->name;
    int error = check_sweep(&swept->sweep, swept->system, &swept->options);
    (void)fflush(swept->options.violation);
    if (error == -ENOMEM) {
        return lab_fail(LAB_OS, "%s: out of memory before the first state", name);
    }
    if (error != 0) {
        return lab_fail(LAB_CANNOT_CREATE, "cannot create a file in %s: %s; set TMPDIR",
                        swept->options.spill, strerror(-error));
    }
    if (swept->sweep.broken != NULL) {
        return lab_fail(LAB_BUG, "%s: %s: a bug in the machine", name, swept->sweep.broken);
    }
    check_sweep_report(swept->system, &swept->sweep, &swept->report, &swept->solo);
    if (!options->json) {
        show(swept);
        return verdict(swept);
    }
    int status = lab_print_json(document(swept));
    return status != LAB_OK ? status : verdict(swept);
}

int lab_check_swept(const struct lab_options *options, const struct step_system *system)
{
    int status = refuse(options, system);
    if (status != LAB_OK) {
        return status;
    }
    struct swept swept = {.system = system};
    FILE *state = open_memstream(&swept.state, &swept.state_bytes);
    if (state == NULL) {
        return lab_fail(LAB_OS, "%s: out of memory", system->machine->name);
    }
    swept.options = (struct check_sweep_options){
        .memory = options->memory != 0 ? options->memory : check_budget_default(),
        .threads = options->threads,
        .mirrored = true,
        .settled = options->reduced,
        .spill = spill_directory(),
        .progress = stderr,
        .violation = state,
    };
    status = sweep_and_print(options, &swept);
    (void)fclose(state);
    free(swept.state);
    return status;
}
