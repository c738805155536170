/*
 * Count how many times other processes, taken together, enter C while P_i is in T once: along any
 * schedule, or along schedules that are prompt for P_i.
 *
 * If a process enters inside a strongly connected component of the states with P_i in T, there is
 * no bound. Otherwise the longest path through the components gives the count; each component is
 * visited after all components that its steps lead to.
 */
#include "check/decide/property.h"

#include <errno.h>

struct entering {
    const struct check_graph *graph;
    const struct check_prompt *prompt; /* NULL: any schedule */
    unsigned process;
    int32_t *most; /* of each state: entries from there on */
    int32_t best;
    bool unbounded;
};

static bool node_tries(const struct check_view *view, uint32_t state)
{
    const struct entering *e = view->data;
    return check_region(e->graph, state, e->process) == STEP_TRYING &&
           check_prompt_reached(e->prompt, state);
}

static bool edge_let(const struct check_view *view, uint32_t from, unsigned process, uint32_t to)
{
    const struct entering *e = view->data;
    (void)to;
    return check_prompt_lets(e->prompt, from, process);
}

static void visit(void *context, const struct check_component *component)
{
    struct entering *e = context;
    int32_t best = 0;
    for (uint32_t s = 0; s < component->count; s++) {
        uint32_t from = component->states[s];
        for (unsigned p = 0; p < e->graph->system->n; p++) {
            uint32_t to = check_edge(e->graph, from, p);
            bool other = p != e->process && !check_supervises(e->graph->system, p);
            bool enters = other && check_region(e->graph, to, p) == STEP_CRITICAL &&
                          check_region(e->graph, from, p) != STEP_CRITICAL;
            if (!check_prompt_lets(e->prompt, from, p)) {
                continue;
            }
            bool goes_on = node_tries(component->view, to);
            bool inside = goes_on && check_component_has(component, to);
            e->unbounded = e->unbounded || (inside && enters);
            int32_t count = enters + (goes_on && !inside ? e->most[to] : 0);
            best = count > best ? count : best;
        }
    }
    for (uint32_t s = 0; s < component->count; s++) {
        e->most[component->states[s]] = best;
    }
    e->best = best > e->best ? best : e->best;
}

int check_count_entries(const struct check_graph *graph, const struct check_prompt *prompt,
                        unsigned process, int64_t *entries)
{
    struct entering e = {.graph = graph, .prompt = prompt, .process = process};
    struct check_view view = {.graph = graph, .data = &e, .node = node_tries, .edge = edge_let};
    e.most = calloc(check_states(graph), sizeof *e.most);
    int error = e.most == NULL ? -ENOMEM : check_scc(&view, visit, &e);
    *entries = e.unbounded ? CHECK_UNBOUNDED : e.best;
    free(e.most);
    return error;
}
