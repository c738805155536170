/* What several commands print: schedules and verdicts, as text and as JSON. */
#include "lab/lab.h"

#include <string.h>
#include <unistd.h>

const char *lab_verdict_name(enum check_verdict verdict)
{
    static const char *const names[] = {"not checked", "holds", "violated"};
    return names[verdict];
}

/* Write one label of a schedule: "2", "S", or "2:crash". */
static void label_text(const struct step_system *system, unsigned label, char *out, size_t size)
{
    unsigned event = check_label_event(system, label);
    char name[CHECK_PROCESS_NAME];
    (void)snprintf(out, size, "%s%s%s",
                   check_process_name(system, check_label_process(system, label), name),
                   event == 0 ? "" : ":", event == 0 ? "" : system->machine->event_names[event]);
}

char *lab_schedule_text(const struct step_system *system, const struct check_schedule *schedule,
                        char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < schedule->length; i++) {
        char label[32];
        label_text(system, schedule->steps[i], label, sizeof label);
        if (at + strlen(label) + 6 > size) {
            (void)snprintf(out + at, size - at, " ...");
            break;
        }
        at += (size_t)snprintf(out + at, size - at, "%s%s", i == 0 ? "" : " ", label);
    }
    return out;
}

json_t *lab_schedule_json(const struct step_system *system, const struct check_schedule *schedule)
{
    json_t *array = json_array();
    for (size_t i = 0; i < schedule->length; i++) {
        char label[32];
        label_text(system, schedule->steps[i], label, sizeof label);
        (void)json_array_append_new(array, schedule->steps[i] < system->workers
                                               ? json_integer(schedule->steps[i] + 1)
                                               : json_string(label));
    }
    return array;
}

bool lab_shows(const struct step_system *system, enum step_property property)
{
    bool of_doorway = property == STEP_FIRST_IN || property == STEP_FIRST_ENABLED;
    return (property != STEP_INVARIANT || system->machine->wrong != NULL) &&
           (!of_doorway || system->machine->waiting_room != NULL);
}

json_t *lab_processes_json(unsigned mask)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < 32; i++) {
        if (mask >> i & 1) {
            (void)json_array_append_new(array, json_integer(i + 1));
        }
    }
    return array;
}

json_t *lab_result_json(const struct step_system *system, const struct check_result *result,
                        enum step_property property)
{
    json_t *object = json_object();
    (void)json_object_set_new(object, "verdict", json_string(lab_verdict_name(result->verdict)));
    if (result->verdict == CHECK_NOT_CHECKED) {
        (void)json_object_set_new(object, "why", json_string(result->why));
        return object;
    }
    if (result->verdict == CHECK_HOLDS && result->tested == 0) {
        (void)json_object_set_new(object, "vacuous", json_true());
    }
    if (result->verdict == CHECK_VIOLATED && result->why != NULL) {
        (void)json_object_set_new(object, "why", json_string(result->why));
    }
    if (result->verdict == CHECK_VIOLATED) {
        (void)json_object_set_new(object, "trace", lab_schedule_json(system, &result->trace));
        if (result->loop.length > 0) {
            (void)json_object_set_new(object, "loop", lab_schedule_json(system, &result->loop));
        }
        if (result->stopped != 0) {
            (void)json_object_set_new(object, "stopped", lab_processes_json(result->stopped));
        }
    }
    if (result->has_bound) {
        (void)json_object_set_new(object, "most",
                                  result->bound == CHECK_UNBOUNDED ? json_string("unbounded")
                                                                   : json_integer(result->bound));
    }
    if (result->has_bound && (property == STEP_OVERTAKINGS || property == STEP_PROMPT)) {
        (void)json_object_set_new(object, "entries",
                                  result->entries == CHECK_UNBOUNDED
                                      ? json_string("unbounded")
                                      : json_integer(result->entries));
    }
    if (property == STEP_C2) {
        (void)json_object_set_new(object, "robust",
                                  result->robust == CHECK_UNBOUNDED ? json_string("unbounded")
                                                                    : json_integer(result->robust));
    }
    return object;
}

int lab_print_json(json_t *document)
{
    int error = document == NULL ? -1 : json_dumpf(document, stdout, JSON_INDENT(2));
    json_decref(document);
    if (error != 0) {
        return lab_fail(LAB_OS, "cannot write the JSON document");
    }
    (void)fputc('\n', stdout);
    return LAB_OK;
}

int lab_explore(const struct lab_options *options, const struct step_system *system,
                struct check_graph *graph)
{
    struct check_options how = {
        .memory = options->memory,
        .only_exclusion = options->only_exclusion,
        .reduced = options->reduced,
        .threads = options->threads,
        .progress = isatty(STDERR_FILENO) ? stderr : NULL,
    };
    if (options->reduced && system->machine->heedless == NULL) {
        return lab_fail(LAB_USAGE,
                        "%s has no reads that --reduced could leave out: leave out --reduced",
                        system->machine->name);
    }
    if (system->n > CHECK_MAX_PROCESSES) {
        return lab_fail(LAB_USAGE, "%s: n may be at most %u to be explored, not %u",
                        system->machine->name, CHECK_MAX_PROCESSES - (system->n - system->workers),
                        system->workers);
    }
    if (check_explore(graph, system, &how) != 0) {
        return lab_fail(LAB_OS,
                        "%s: not even the first state fits the memory limit; raise --memory",
                        system->machine->name);
    }
    if (graph->broken != NULL) {
        char name[CHECK_PROCESS_NAME];
        return lab_fail(LAB_BUG, "%s: %s (process %s in state %u): a bug in the machine",
                        system->machine->name, graph->broken,
                        check_process_name(system, graph->broken_process, name), graph->broken_at);
    }
    return LAB_OK;
}

int lab_decide(struct check_graph *graph, struct check_report *report)
{
    bool tell = isatty(STDERR_FILENO) && check_states(graph) >= 100000;
    if (tell) {
        (void)fprintf(stderr, "\r\033[K%s: %.2f million states; deciding",
                      graph->system->machine->name, check_states(graph) * 1e-6);
        (void)fflush(stderr);
    }
    int error = check_decide(graph, report);
    if (tell) {
        (void)fprintf(stderr, "\r\033[K");
    }
    return error;
}

int lab_name_width(const struct step_machine *const *machines)
{
    size_t width = 0;
    for (; *machines != NULL; machines++) {
        size_t length = strlen((*machines)->name);
        width = length > width ? length : width;
    }
    return (int)width;
}

const char *lab_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
