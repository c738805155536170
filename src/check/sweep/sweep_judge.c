/*
 * Judge the loops of one group: see sweep_judge.h.
 *
 * As in lockout.c, a fair run in which some processes have stopped ends in a component in which
 * exactly the others step. That component is in one group. All other groups are represented by one
 * additional state that every step leads back to.
 */
#include "check/sweep/sweep_judge.h"

#include "check/decide/scc.h"

#include <errno.h>

struct judging {
    const struct check_sweep_parts *parts;
    const struct check_groups *groups;
    const struct check_group *group;
    struct check_loops *loops;
};

/* The processes in a region, as a mask. */
static unsigned in_region(const struct judging *j, uint32_t state, enum step_region region)
{
    const uint32_t *key = check_group_key(j->groups, j->group, state);
    unsigned mask = 0;
    for (unsigned i = 0; i < j->parts->system->n; i++) {
        mask |= (unsigned)(j->parts->region[key[1 + i]] == region) << i;
    }
    return mask;
}

/* Can the process, running alone, stay in the component and in its operation for ever? It has one
   step from each state, so it does if it does for more steps than the component has states. */
static bool never_ends(const struct judging *j, const struct check_component *component,
                       unsigned process)
{
    const struct check_graph *graph = component->view->graph;
    for (uint32_t s = 0; s < component->count; s++) {
        uint32_t at = component->states[s];
        uint32_t steps = 0;
        while (steps <= component->count && check_component_has(component, at) &&
               j->parts->busy[check_group_key(j->groups, j->group, at)[1 + process]]) {
            at = check_edge(graph, at, process);
            steps++;
        }
        if (steps > component->count) {
            return true;
        }
    }
    return false;
}

static void visit(void *context, const struct check_component *component)
{
    const struct judging *j = context;
    const struct step_system *system = j->parts->system;
    uint32_t first = component->states[0];
    if (first == j->group->count) {
        return;
    }
    unsigned steppers = check_component_steppers(component);
    unsigned trying = steppers & in_region(j, first, STEP_TRYING);
    unsigned stopped = ~steppers & ((1U << system->n) - 1) & ~in_region(j, first, STEP_REMAINDER);
    j->loops->trying += trying != 0;
    if ((system->claims & STEP_CLAIM(STEP_LOCKOUT)) && trying != 0 &&
        (unsigned)__builtin_popcount(stopped) < system->k) {
        j->loops->what = "lockout";
        j->loops->state = first;
    }
    for (unsigned i = 0; i < system->n; i++) {
        if ((steppers >> i & 1) && never_ends(j, component, i)) {
            j->loops->what = CHECK_SWEEP_SOLO;
            j->loops->state = first;
        }
    }
}

int check_sweep_judge(const struct check_sweep_parts *parts, const struct check_groups *groups,
                      const struct check_group *group, uint32_t *edges, struct check_loops *loops)
{
    struct judging judging = {parts, groups, group, loops};
    struct check_graph graph = {.system = parts->system, .edges = edges};
    struct check_view view = {.graph = &graph};
    graph.labels = parts->system->n;
    graph.seen.count = group->count + 1;
    for (unsigned i = 0; i < graph.labels; i++) {
        edges[(size_t)group->count * graph.labels + i] = group->count;
    }
    *loops = (struct check_loops){0};
    return check_scc(&view, visit, &judging);
}
