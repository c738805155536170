/*
 * Decide progress, lockout and starvation, with processes that may stop anywhere.
 *
 * A fair run in which a set of processes has stopped ends in a strongly connected component in
 * which exactly the others step; a process in R need not step. A walk through a whole component has
 * the largest set of steppers. So it is enough to visit each component once and to count the
 * processes outside R without a step in it: the stopped.
 */
#include "check/decide/property.h"

#include <errno.h>

/* Steps that do not enter C. */
static bool enters_no_c(const struct check_view *view, uint32_t from, unsigned process, uint32_t to)
{
    return check_region(view->graph, to, process) != STEP_CRITICAL ||
           check_region(view->graph, from, process) == STEP_CRITICAL;
}

struct deciding {
    struct check_witness witness;
    uint64_t tested;
    int error;
};

static void visit(void *context, const struct check_component *component)
{
    struct deciding *d = context;
    const struct check_graph *graph = component->view->graph;
    unsigned steppers = check_component_steppers(component);
    if ((steppers & check_in_region(graph, component->states[0], STEP_TRYING)) == 0 ||
        !check_admissible(graph->system, steppers)) {
        return; /* no process in T steps, or the supervisor would have stopped */
    }
    unsigned rest = check_workers(graph->system) & ~steppers;
    unsigned stopped = check_outside_remainder(graph, component->states[0], rest);
    d->tested++;
    if ((unsigned)__builtin_popcount(stopped) < graph->system->k &&
        check_witness_offer(&d->witness, component, 0, steppers, stopped) != 0) {
        d->error = -ENOMEM;
    }
}

static int report_witness(struct check_graph *graph, const struct check_view *view,
                          const struct check_witness *witness, struct check_result *result)
{
    if (witness->state == CHECK_NO_STATE) {
        result->verdict = CHECK_HOLDS;
        return 0;
    }
    result->verdict = CHECK_VIOLATED;
    result->stopped = witness->stopped;
    int error = check_schedule_to(graph, witness->state, &result->trace);
    return error != 0 ? error
                      : check_schedule_loop(view, &witness->part, witness->state, witness->steppers,
                                            &result->loop);
}

int check_decide_lockout(struct check_graph *graph, const struct check_enabled *enabled,
                         struct check_report *report)
{
    struct check_result *progress = &report->results[STEP_PROGRESS];
    struct check_result *lockout = &report->results[STEP_LOCKOUT];
    struct check_result *starvation = &report->results[STEP_STARVATION];
    struct check_view entering_cut = {.graph = graph, .edge = enters_no_c};
    struct check_view all = {.graph = graph};
    struct deciding d = {.witness = {.state = CHECK_NO_STATE}};
    lockout->tested = starvation->tested = enabled->trying_cycles;
    int error = report_witness(graph, &all, &enabled->lockout, lockout);
    if (error == 0) {
        error = report_witness(graph, &all, &enabled->starvation, starvation);
    }
    if (error == 0) {
        error = check_scc(&entering_cut, visit, &d);
    }
    if (error == 0) {
        error = d.error;
    }
    if (error == 0) {
        progress->tested = d.tested;
        error = report_witness(graph, &entering_cut, &d.witness, progress);
    }
    check_bits_free(&d.witness.part);
    return error;
}
