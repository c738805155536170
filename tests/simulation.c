/* (S4) on a state graph: see simulation.h. */
#include "simulation.h"

#include "check/decide/scc.h"
#include "papers/eliminated.h"
#include "test.h"

/* Steps that no step of the supervisor follows. */
static bool is_without(const struct check_view *view, uint32_t from, unsigned process, uint32_t to)
{
    const struct check_seen *seen = &view->graph->seen;
    const uint64_t *key = check_seen_key(seen, from);
    size_t shared = check_seen_part(seen, key, 0) * seen->shared.bytes;
    size_t private = check_seen_part(seen, key, 1 + process) * seen->private.bytes;
    (void)to;
    return !eliminated_simulates(view->graph->system,
                                 (const uint64_t *)(const void *)(seen->shared.values + shared),
                                 seen->private.values + private);
}

/* In a component of such steps some processes continue; a process without a step there that is in T
   or E has failed. */
static void visit(void *context, const struct check_component *component)
{
    const struct check_graph *graph = component->view->graph;
    unsigned *fewest = context;
    unsigned steppers = check_component_steppers(component);
    uint32_t state = component->states[0];
    unsigned protocol =
        check_in_region(graph, state, STEP_TRYING) | check_in_region(graph, state, STEP_EXIT);
    unsigned failed = (unsigned)__builtin_popcount(protocol & ~steppers);
    if (steppers != 0 && failed < *fewest) {
        *fewest = failed;
    }
}

unsigned simulation_failures_to_cease(const struct check_graph *graph)
{
    unsigned fewest = SIMULATION_NEVER;
    struct check_view view = {.graph = graph, .edge = is_without};
    EXPECT(graph->complete && graph->edges != NULL);
    EXPECT_EQ(check_scc(&view, visit, &fewest), 0);
    return fewest;
}
