/* Reads that make no difference: see reduce.h. */
#include "check/explore/reduce.h"

#include "check/explore/instance.h"

#include <errno.h>
#include <string.h>

enum { MOST_HEEDLESS = 4096 }; /* in a row; a pass over n registers has n */

static bool in_room(const struct step_system *system, const void *state)
{
    return system->machine->waiting_room != NULL && system->machine->waiting_room(system, state);
}

/* Execute one step. True if it was a read that kept the region and the side of the doorway. */
static bool read_and_stay(const struct step_system *system, struct step_memory *memory, void *state,
                          unsigned process)
{
    struct step_access access = {0};
    struct step_access *outside = memory->access;
    enum step_region region = system->machine->region(system, state);
    bool room = in_room(system, state);
    memory->access = &access;
    system->machine->step(system, memory, state, process);
    memory->access = outside;
    return access.count == 1 && access.kind == STEP_READ &&
           system->machine->region(system, state) == region && in_room(system, state) == room;
}

int check_reduce_run(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process, struct check_seen *seen)
{
    for (unsigned steps = 0; system->machine->heedless(system, state, process); steps++) {
        uint32_t number;
        if (seen != NULL && check_parts_number(seen, &seen->private, state, &number) != 0) {
            return -ENOMEM;
        }
        if (!read_and_stay(system, memory, state, process) || steps == MOST_HEEDLESS) {
            return -EDOM;
        }
    }
    return 0;
}

/* Does the step of the process lead to the same private state on every shared memory? */
static bool is_heedless(const struct check_graph *graph, const void *state, unsigned process)
{
    const struct step_system *system = graph->system;
    const struct check_parts *shared = &graph->seen.shared;
    _Alignas(8) unsigned char first[STEP_MAX_PRIVATE_BYTES];
    _Alignas(8) unsigned char own[STEP_MAX_PRIVATE_BYTES];
    _Atomic uint64_t words[STEP_MAX_SHARED_WORDS];
    struct step_memory memory = {.words = words};
    for (uint32_t v = 0; v < shared->count; v++) {
        uint64_t values[STEP_MAX_SHARED_WORDS];
        memcpy(values, shared->values + v * shared->bytes, shared->bytes);
        for (unsigned w = 0; w < system->shared_words; w++) {
            atomic_init(&words[w], values[w]);
        }
        memcpy(own, state, system->private_bytes);
        if (!read_and_stay(system, &memory, own, process)) {
            return false;
        }
        if (v == 0) {
            memcpy(first, own, system->private_bytes);
        }
        if (memcmp(own, first, system->private_bytes) != 0) {
            return false;
        }
    }
    return true;
}

bool check_reduce_certify(const struct check_graph *graph)
{
    const struct step_system *system = graph->system;
    const struct check_parts *parts = &graph->seen.private;
    for (uint32_t x = 0; x < parts->count; x++) {
        _Alignas(8) unsigned char state[STEP_MAX_PRIVATE_BYTES];
        memcpy(state, parts->values + x * parts->bytes, parts->bytes);
        for (unsigned i = 0; i < system->n; i++) {
            if (system->machine->heedless(system, state, i) && !is_heedless(graph, state, i)) {
                return false;
            }
        }
    }
    return true;
}

/* Execute a schedule of the reduced graph, and replace it by the schedule with all steps. */
static int expand(struct check_instance *instance, struct check_schedule *schedule)
{
    const struct step_system *system = instance->system;
    struct check_schedule all = {0};
    int error = 0;
    for (size_t s = 0; s < schedule->length && error == 0; s++) {
        unsigned process = schedule->steps[s];
        void *own = step_state_of(system, instance->states, process);
        do {
            struct step_access access;
            (void)check_instance_step(instance, process, &access);
            error = check_schedule_add(&all, process);
        } while (error == 0 && system->machine->heedless(system, own, process));
    }
    check_schedule_free(schedule);
    *schedule = all;
    return error;
}

int check_reduce_expand(const struct check_graph *graph, struct check_report *report)
{
    int error = 0;
    for (unsigned p = 0; p < STEP_PROPERTIES && error == 0; p++) {
        static _Thread_local struct check_instance instance;
        check_instance_init(&instance, graph->system);
        error = expand(&instance, &report->results[p].trace);
        if (error == 0) {
            error = expand(&instance, &report->results[p].loop);
        }
    }
    return error;
}

bool check_reduce_keeps(enum step_property property)
{
    return property != STEP_C2 && property != STEP_C4 && property != STEP_C5 &&
           property != STEP_C6 && property != STEP_INVARIANT;
}
