/* Which lower bounds of the 1979 report apply: see conditions.h. */
#include "check/bounds/conditions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool promises(const struct step_system *system, enum step_property property)
{
    return system->claims & STEP_CLAIM(property);
}

/* The largest r for which this system promises C2. A machine that is built differently for each r
   promises nothing about other values of r. */
static unsigned promised_robustness(const struct step_system *system)
{
    for (unsigned r = system->robustness; r >= 1; r--) {
        struct step_system twin;
        char why[STEP_WHY_BYTES];
        if (step_system_init_with(&twin, system->machine, system->workers, system->k, r,
                                  &system->limits, why) == 0 &&
            promises(&twin, STEP_C2) && twin.shared_words == system->shared_words &&
            twin.private_bytes == system->private_bytes &&
            memcmp(twin.constants, system->constants, sizeof twin.constants) == 0) {
            return r;
        }
    }
    return 0;
}

/* Does a process that runs alone pass through E? */
static bool passes_exit(const struct step_system *system)
{
    struct check_run *run = malloc(sizeof *run);
    bool seen = true;
    if (run != NULL) {
        check_run_init(run, system);
        seen = check_run_until(run, 0, STEP_CRITICAL) && check_run_step(run, 0) == STEP_EXIT;
        check_run_free(run);
        free(run);
    }
    return seen;
}

void check_conditions_promised(const struct step_system *system,
                               struct check_conditions *conditions)
{
    *conditions = (struct check_conditions){
        .supervised = system->workers != system->n,
        .exclusion = promises(system, STEP_C1),
        .waiting = system->machine->bounded_waiting,
        .waiting_enabled = promises(system, STEP_C4) || system->machine->bounded_waiting,
        .queuelike = promises(system, STEP_C6),
    };
    if (conditions->supervised) {
        return; /* the rest is not needed */
    }
    conditions->robust = promised_robustness(system);
    conditions->null_exit = conditions->queuelike || !passes_exit(system);
    if (system->k == 1 && conditions->null_exit && conditions->exclusion) {
        conditions->waiting = conditions->waiting_enabled;
    }
}

/* For C4: one process stays in T or E, stopped or not. */
struct stay {
    unsigned who;
    bool bounded;
};

static bool node_stays(const struct check_view *view, uint32_t state)
{
    const struct stay *stay = view->data;
    enum step_region region = check_region(view->graph, state, stay->who);
    return region == STEP_TRYING || region == STEP_EXIT;
}

static bool edge_stays(const struct check_view *view, uint32_t from, unsigned process, uint32_t to)
{
    const struct stay *stay = view->data;
    (void)process;
    return check_region(view->graph, from, stay->who) == check_region(view->graph, to, stay->who);
}

/* A process that enters C inside a component can do so without bound. */
static void visit(void *context, const struct check_component *component)
{
    struct stay *stay = context;
    const struct check_graph *graph = component->view->graph;
    for (uint32_t s = 0; s < component->count && stay->bounded; s++) {
        uint32_t from = component->states[s];
        for (unsigned p = 0; p < graph->system->workers; p++) {
            uint32_t to = check_edge(graph, from, p);
            if (p != stay->who && check_region(graph, from, p) != STEP_CRITICAL &&
                check_region(graph, to, p) == STEP_CRITICAL &&
                check_view_edge(component->view, from, p, to) &&
                check_component_has(component, to)) {
                stay->bounded = false;
            }
        }
    }
}

int check_bounded_waiting(const struct check_graph *graph, bool *bounded)
{
    int error = 0;
    *bounded = true;
    for (unsigned who = 0; who < graph->system->workers && *bounded && error == 0; who++) {
        struct stay stay = {who, true};
        struct check_view view = {graph, &stay, node_stays, edge_stays};
        error = check_scc(&view, visit, &stay);
        *bounded = stay.bounded;
    }
    return error;
}

int check_conditions_decide(const struct check_graph *graph, const struct check_report *report,
                            struct check_conditions *conditions)
{
    const struct check_result *results = report->results;
    bool exits = false;
    for (uint32_t s = 0; s < check_states(graph) && !exits; s++) {
        exits = check_in_region(graph, s, STEP_EXIT) != 0;
    }
    *conditions = (struct check_conditions){
        .decided = true,
        .supervised = graph->system->workers != graph->system->n,
        .exclusion = results[STEP_C1].verdict == CHECK_HOLDS,
        .waiting_enabled = results[STEP_C4].verdict == CHECK_HOLDS,
        .queuelike = results[STEP_C6].verdict == CHECK_HOLDS,
        .null_exit = !exits,
    };
    if (results[STEP_C2].robust == CHECK_UNBOUNDED) {
        conditions->robust = CHECK_EVERY_R;
    } else if (results[STEP_C2].verdict != CHECK_NOT_CHECKED) {
        conditions->robust = (unsigned)results[STEP_C2].robust;
    }
    return check_bounded_waiting(graph, &conditions->waiting);
}

static const char *lacks_waiting(const struct step_system *system,
                                 const struct check_conditions *conditions)
{
    if (conditions->waiting) {
        return NULL;
    }
    return system->k > 1 && conditions->robust > 1 ? "C4 is not met; for k > 1 it excludes r > 1"
                                                   : "C4, bounded waiting, is not met";
}

const char *check_theorem_lacks(enum check_theorem theorem, const struct step_system *system,
                                const struct check_conditions *conditions)
{
    unsigned needed = theorem == CHECK_THEOREM_5_3 ? system->k : 1;
    if (conditions->supervised) {
        return "it does not cover systems with a supervisor";
    }
    if (theorem == CHECK_THEOREM_5_2) {
        return system->n < system->k + 2 ? "it needs n >= k+2"
               : !conditions->queuelike  ? "C6, k-queuelike, is not met"
                                         : NULL;
    }
    if (system->n <= system->k) {
        return "it needs k < n";
    }
    if (!conditions->exclusion) {
        return "C1, exclusion, is not met";
    }
    if (conditions->robust < needed) {
        return needed == 1 ? "C2 for r = 1 is not met" : "C2 for an r of at least k is not met";
    }
    if (theorem == CHECK_THEOREM_5_3) {
        return conditions->waiting_enabled ? NULL : "C4', bounded waiting for enabling, is not met";
    }
    return !conditions->null_exit ? "the exit regions are not null"
                                  : lacks_waiting(system, conditions);
}
