/* Enabled processes: see enabled.h. One pass over the graph for each process and definition. */
#include "check/decide/enabled.h"

#include "check/explore/parallel.h"

#include <errno.h>
#include <string.h>

/* One pass: find the states in which process i is not enabled, component by component, backwards.
   */
struct pass {
    const struct check_graph *graph;
    unsigned process;
    enum step_region zone; /* Z */
    struct check_bits not_enabled;
    uint64_t trying_cycles;
    struct check_witness lockout, starvation;
    int error;
};

enum { PASS_C, PASS_R, PASS_1979, PASSES };

struct passes {
    struct pass pass[PASSES][CHECK_MAX_PROCESSES];
    bool wanted[PASSES];
};

unsigned check_outside_remainder(const struct check_graph *graph, uint32_t state, unsigned mask)
{
    return mask & ~check_in_region(graph, state, STEP_REMAINDER);
}

static uint32_t first_state(const struct check_component *component)
{
    uint32_t first = component->states[0];
    for (uint32_t s = 1; s < component->count; s++) {
        first = component->states[s] < first ? component->states[s] : first;
    }
    return first;
}

int check_witness_offer(struct check_witness *witness, const struct check_component *component,
                        unsigned process, unsigned steppers, unsigned stopped)
{
    uint32_t first = first_state(component);
    uint32_t states = check_states(component->view->graph);
    if (first >= witness->state) {
        return 0;
    }
    if (witness->part.words == NULL && check_bits_init(&witness->part, states) != 0) {
        return -ENOMEM;
    }
    memset(witness->part.words, 0, ((size_t)states / 64 + 1) * sizeof(uint64_t));
    for (uint32_t s = 0; s < component->count; s++) {
        check_bits_add(&witness->part, component->states[s]);
    }
    witness->state = first;
    witness->process = process;
    witness->steppers = steppers;
    witness->stopped = stopped;
    return 0;
}

static bool outside_zone(const struct check_view *view, uint32_t state)
{
    const struct pass *pass = view->data;
    return check_region(view->graph, state, pass->process) != pass->zone;
}

/* Does a step lead from the component to a state known as not enabled? */
static bool leads_on(const struct check_component *component, const struct check_bits *not_enabled)
{
    const struct check_graph *graph = component->view->graph;
    for (uint32_t s = 0; s < component->count; s++) {
        uint32_t from = component->states[s];
        for (unsigned i = 0; i < graph->system->n; i++) {
            uint32_t to = check_edge(graph, from, i);
            if (check_bits_has(not_enabled, to) && check_view_edge(component->view, from, i, to)) {
                return true;
            }
        }
    }
    return false;
}

static void mark_component(struct pass *pass, const struct check_component *component)
{
    for (uint32_t s = 0; s < component->count; s++) {
        check_bits_add(&pass->not_enabled, component->states[s]);
    }
}

/* Offer a component in which the process steps for ever inside T as a witness. */
static void note_trying(struct pass *pass, const struct check_component *component,
                        unsigned steppers)
{
    const struct step_system *system = pass->graph->system;
    unsigned rest = check_workers(system) & ~steppers;
    unsigned stopped = check_outside_remainder(pass->graph, component->states[0], rest);
    pass->trying_cycles++;
    if ((unsigned)__builtin_popcount(stopped) < system->k &&
        check_witness_offer(&pass->lockout, component, pass->process, steppers, stopped) != 0) {
        pass->error = -ENOMEM;
    }
    if (stopped == 0 &&
        check_witness_offer(&pass->starvation, component, pass->process, steppers, 0) != 0) {
        pass->error = -ENOMEM;
    }
}

static void visit_1989(void *context, const struct check_component *component)
{
    struct pass *pass = context;
    unsigned steppers = check_component_steppers(component);
    bool stuck = (steppers >> pass->process & 1) && check_admissible(pass->graph->system, steppers);
    if (stuck && pass->zone == STEP_CRITICAL &&
        check_region(pass->graph, component->states[0], pass->process) == STEP_TRYING) {
        note_trying(pass, component, steppers);
    }
    if (stuck || leads_on(component, &pass->not_enabled)) {
        mark_component(pass, component);
    }
}

static bool steps_of_others(const struct check_view *view, uint32_t from, unsigned process,
                            uint32_t to)
{
    (void)from;
    (void)to;
    return process != ((const struct pass *)view->data)->process;
}

static void visit_1979(void *context, const struct check_component *component)
{
    struct pass *pass = context;
    bool unable = false;
    for (uint32_t s = 0; s < component->count && !unable; s++) {
        uint32_t state = component->states[s];
        enum step_region here = check_region(pass->graph, state, pass->process);
        uint32_t to = check_edge(pass->graph, state, pass->process);
        bool entering = here == STEP_REMAINDER || here == STEP_TRYING;
        unable = check_region(pass->graph, to, pass->process) !=
                 (entering ? STEP_CRITICAL : STEP_REMAINDER);
    }
    if (unable || leads_on(component, &pass->not_enabled)) {
        mark_component(pass, component);
    }
}

static int run_pass(void *context, unsigned part)
{
    struct passes *passes = context;
    unsigned kind = part % PASSES;
    struct pass *pass = &passes->pass[kind][part / PASSES];
    if (!passes->wanted[kind]) {
        return 0;
    }
    struct check_view view = {.graph = pass->graph, .data = pass};
    if (kind == PASS_1979) {
        view.edge = steps_of_others;
    } else {
        view.node = outside_zone;
    }
    if (check_bits_init(&pass->not_enabled, check_states(pass->graph)) != 0) {
        return -ENOMEM;
    }
    int error = check_scc(&view, kind == PASS_1979 ? visit_1979 : visit_1989, pass);
    return error != 0 ? error : pass->error;
}

/* Keep the earlier of two witnesses. */
static void merge_witness(struct check_witness *into, struct check_witness *from)
{
    if (from->state < into->state) {
        struct check_witness swap = *into;
        *into = *from;
        *from = swap;
    }
    check_bits_free(&from->part);
}

static uint16_t *combine(struct pass *passes, const struct check_graph *graph)
{
    uint32_t states = check_states(graph);
    uint16_t *masks = calloc(states, sizeof *masks);
    for (unsigned i = 0; i < graph->system->workers; i++) {
        for (uint32_t s = 0; masks != NULL && s < states; s++) {
            unsigned bit = check_bits_has(&passes[i].not_enabled, s);
            masks[s] = (uint16_t)(masks[s] | bit << i);
        }
        check_bits_free(&passes[i].not_enabled);
    }
    return masks;
}

static bool has_process_in_exit(const struct check_graph *graph)
{
    for (uint32_t s = 0; s < check_states(graph); s++) {
        if (check_in_region(graph, s, STEP_EXIT) != 0) {
            return true;
        }
    }
    return false;
}

int check_enabled_init(struct check_enabled *enabled, const struct check_graph *graph)
{
    struct passes *passes = calloc(1, sizeof *passes);
    struct check_witness none = {.state = CHECK_NO_STATE};
    unsigned workers = graph->system->workers;
    if (passes == NULL) {
        return -ENOMEM;
    }
    *enabled = (struct check_enabled){.graph = graph, .lockout = none, .starvation = none};
    enabled->has_exit = has_process_in_exit(graph);
    for (unsigned kind = 0; kind < PASSES; kind++) {
        passes->wanted[kind] = kind == PASS_C || (!graph->system->machine->loose_regions &&
                                                  (kind != PASS_R || enabled->has_exit) &&
                                                  (kind != PASS_1979 || !graph->options.reduced));
        for (unsigned i = 0; i < workers; i++) {
            enum step_region zone = kind == PASS_R ? STEP_REMAINDER : STEP_CRITICAL;
            passes->pass[kind][i] = (struct pass){
                .graph = graph, .process = i, .zone = zone, .lockout = none, .starvation = none};
        }
    }
    int error = check_parallel(graph->options.threads, PASSES * workers, run_pass, passes);
    for (unsigned i = 0; i < workers; i++) {
        struct pass *pass = &passes->pass[PASS_C][i];
        merge_witness(&enabled->lockout, &pass->lockout);
        merge_witness(&enabled->starvation, &pass->starvation);
        enabled->trying_cycles += pass->trying_cycles;
    }
    if (error == 0) {
        enabled->not_c_enabled = combine(passes->pass[PASS_C], graph);
        enabled->not_enabled_1979 =
            passes->wanted[PASS_1979] ? combine(passes->pass[PASS_1979], graph) : NULL;
        enabled->not_r_enabled =
            passes->wanted[PASS_R] ? combine(passes->pass[PASS_R], graph) : NULL;
        if (enabled->not_c_enabled == NULL ||
            (passes->wanted[PASS_1979] && enabled->not_enabled_1979 == NULL) ||
            (passes->wanted[PASS_R] && enabled->not_r_enabled == NULL)) {
            error = -ENOMEM;
        }
    }
    for (unsigned kind = 0; kind < PASSES; kind++) {
        for (unsigned i = 0; i < workers; i++) {
            check_bits_free(&passes->pass[kind][i].not_enabled);
        }
    }
    free(passes);
    return error;
}

void check_enabled_free(struct check_enabled *enabled)
{
    free(enabled->not_c_enabled);
    free(enabled->not_r_enabled);
    free(enabled->not_enabled_1979);
    check_bits_free(&enabled->lockout.part);
    check_bits_free(&enabled->starvation.part);
}
