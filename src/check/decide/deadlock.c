/*
 * Decide avoidance of k-deadlock (1989, 3.4): there is no infinite run in which no process makes
 * progress while a process is T-waiting in a state that is not k-full, or E-waiting.
 *
 * No process makes progress as long as the regions and the sets of T-waiting and E-waiting
 * processes stay the same. So: keep the steps that change none of them, and find the states from
 * which an infinite run of such steps starts.
 */
#include "check/decide/property.h"

#include <errno.h>

static bool no_progress(const struct check_view *view, uint32_t from, unsigned process, uint32_t to)
{
    const struct check_enabled *enabled = view->data;
    (void)process;
    return view->graph->regions[from] == view->graph->regions[to] &&
           check_t_waiting(enabled, from) == check_t_waiting(enabled, to) &&
           check_e_waiting(enabled, from) == check_e_waiting(enabled, to);
}

struct deciding {
    const struct check_enabled *enabled;
    struct check_bits on_cycle, goes_on;
    uint32_t first; /* the first state in which the system hangs */
};

static bool hangs(const struct check_enabled *enabled, uint32_t state)
{
    return (check_t_waiting(enabled, state) != 0 && !check_k_full(enabled, state)) ||
           check_e_waiting(enabled, state) != 0;
}

static bool leads_to_going_on(const struct deciding *d, const struct check_component *component)
{
    const struct check_graph *graph = component->view->graph;
    for (uint32_t s = 0; s < component->count; s++) {
        for (unsigned i = 0; i < graph->system->n; i++) {
            uint32_t to = check_edge(graph, component->states[s], i);
            if (check_bits_has(&d->goes_on, to) &&
                check_view_edge(component->view, component->states[s], i, to)) {
                return true;
            }
        }
    }
    return false;
}

static void visit(void *context, const struct check_component *component)
{
    struct deciding *d = context;
    unsigned steppers = check_component_steppers(component);
    bool cycle = steppers != 0 && check_admissible(component->view->graph->system, steppers);
    if (!cycle && !leads_to_going_on(d, component)) {
        return;
    }
    for (uint32_t s = 0; s < component->count; s++) {
        uint32_t state = component->states[s];
        check_bits_add(&d->goes_on, state);
        if (cycle) {
            check_bits_add(&d->on_cycle, state);
        }
        if (state < d->first && hangs(d->enabled, state)) {
            d->first = state;
        }
    }
}

/* A search through the states in which the system hangs: to a cycle, and around it. A node is a
   state, with a lowest bit that tells whether the supervisor, if any, has stepped on the way. */
struct walk {
    const struct check_view *view;
    const struct check_bits *goal;
    uint32_t home;
};

static uint32_t walk_next(void *context, uint32_t node, unsigned process)
{
    const struct walk *walk = context;
    const struct check_graph *graph = walk->view->graph;
    uint32_t to = check_edge(graph, node / 2, process);
    if (!check_view_edge(walk->view, node / 2, process, to)) {
        return CHECK_NO_STATE;
    }
    return 2 * to + ((node & 1) || check_supervises(graph->system, process));
}

static bool walk_goal(void *context, uint32_t node)
{
    const struct walk *walk = context;
    const struct step_system *system = walk->view->graph->system;
    return walk->goal != NULL
               ? check_bits_has(walk->goal, node / 2)
               : node / 2 == walk->home && check_admissible(system, (node & 1) << system->workers);
}

static int trace(struct check_graph *graph, const struct check_view *view, const struct deciding *d,
                 struct check_result *result)
{
    struct walk walk = {view, &d->on_cycle, 0};
    struct check_search search = {&walk, 2 * check_states(graph), graph->system->n, walk_next,
                                  walk_goal};
    uint32_t onto;
    int error = check_schedule_to(graph, d->first, &result->trace);
    if (error == 0) {
        error = check_search_run(&search, 2 * d->first, false, &result->trace, &onto);
    }
    if (error == 0) {
        uint32_t back;
        walk.goal = NULL;
        walk.home = onto / 2;
        error = check_search_run(&search, 2 * walk.home, true, &result->loop, &back);
    }
    return error;
}

int check_decide_deadlock(struct check_graph *graph, const struct check_enabled *enabled,
                          struct check_report *report)
{
    struct check_result *result = &report->results[STEP_DEADLOCK];
    struct check_view view = {.graph = graph, .data = enabled, .edge = no_progress};
    struct deciding d = {.enabled = enabled, .first = CHECK_NO_STATE};
    int error = 0;
    if (check_bits_init(&d.on_cycle, check_states(graph)) != 0 ||
        check_bits_init(&d.goes_on, check_states(graph)) != 0) {
        error = -ENOMEM;
    }
    if (error == 0) {
        error = check_scc(&view, visit, &d);
    }
    for (uint32_t s = 0; error == 0 && s < check_states(graph); s++) {
        result->tested += (check_t_waiting(enabled, s) | check_e_waiting(enabled, s)) != 0;
    }
    if (error == 0) {
        result->verdict = d.first == CHECK_NO_STATE ? CHECK_HOLDS : CHECK_VIOLATED;
        error = d.first == CHECK_NO_STATE ? 0 : trace(graph, &view, &d, result);
    }
    check_bits_free(&d.on_cycle);
    check_bits_free(&d.goes_on);
    return error;
}
