/*
 * Decide FIFO enabling (1989, 3.4): P_j overtakes P_i if P_i is T-waiting throughout a run at whose
 * beginning P_j is in R and at whose end P_j is C-enabled; or P_i is E-waiting throughout, P_j in C
 * at the beginning and R-enabled at the end.
 *
 * For each i, while i waits, pass on from state to state the set of processes that have been in R
 * (or C) since the wait began: the fresh. A fresh process that is enabled has overtaken i.
 */
#include "check/decide/property.h"

#include <errno.h>
#include <string.h>

struct overtaking {
    const struct check_enabled *enabled;
    bool exit;              /* the second clause: E-waiting, C, R-enabled */
    unsigned waiter, other; /* for the trace */
};

static bool waits(const struct overtaking *o, uint32_t state)
{
    unsigned waiting =
        o->exit ? check_e_waiting(o->enabled, state) : check_t_waiting(o->enabled, state);
    return waiting >> o->waiter & 1;
}

static unsigned beginners(const struct overtaking *o, uint32_t state)
{
    return check_in_region(o->enabled->graph, state, o->exit ? STEP_CRITICAL : STEP_REMAINDER);
}

static unsigned enabled_ones(const struct overtaking *o, uint32_t state)
{
    unsigned not_enabled =
        o->exit ? o->enabled->not_r_enabled[state] : o->enabled->not_c_enabled[state];
    return ~not_enabled & check_workers(o->enabled->graph->system);
}

/* The processes that overtake the waiter anywhere, as a mask; *tested counts the states tested. */
static int overtakers(const struct overtaking *o, unsigned *mask, uint64_t *tested)
{
    const struct check_graph *graph = o->enabled->graph;
    uint32_t states = check_states(graph);
    uint16_t *fresh = calloc(states, sizeof *fresh);
    uint32_t *stack = malloc(((size_t)states + 1) * sizeof *stack);
    struct check_bits queued;
    uint32_t count = 0;
    if (fresh == NULL || stack == NULL || check_bits_init(&queued, states) != 0) {
        free(fresh);
        free(stack);
        return -ENOMEM;
    }
    for (uint32_t s = 0; s < states; s++) {
        if (waits(o, s)) {
            fresh[s] = (uint16_t)beginners(o, s);
            if (fresh[s] != 0) {
                stack[count++] = s;
                check_bits_add(&queued, s);
            }
            *tested += fresh[s] != 0;
        }
    }
    while (count > 0) {
        uint32_t s = stack[--count];
        queued.words[s / 64] &= ~(1ULL << s % 64);
        *mask |= fresh[s] & enabled_ones(o, s);
        for (unsigned i = 0; i < graph->system->n; i++) {
            uint32_t to = check_edge(graph, s, i);
            if ((fresh[s] & ~fresh[to]) == 0 || !waits(o, to)) {
                continue;
            }
            fresh[to] |= fresh[s];
            if (!check_bits_has(&queued, to)) {
                check_bits_add(&queued, to);
                stack[count++] = to;
            }
        }
    }
    free(fresh);
    free(stack);
    check_bits_free(&queued);
    return 0;
}

/* Nodes of the search for a trace: 2s before the wait has begun in state s, 2s+1 after. */
static uint32_t pair_node(const struct overtaking *o, uint32_t state, bool begun)
{
    /* The wait begins as soon as it can: a run that begins later is a part of it. */
    begun = begun || (waits(o, state) && (beginners(o, state) >> o->other & 1));
    return 2 * state + begun;
}

static uint32_t pair_next(void *context, uint32_t node, unsigned process)
{
    const struct overtaking *o = context;
    uint32_t to = check_edge(o->enabled->graph, node / 2, process);
    return pair_node(o, to, (node & 1) && waits(o, to));
}

static bool pair_goal(void *context, uint32_t node)
{
    const struct overtaking *o = context;
    return (node & 1) && (enabled_ones(o, node / 2) >> o->other & 1);
}

static int decide_clause(struct overtaking *o, struct check_result *result)
{
    unsigned n = o->enabled->graph->system->n;
    for (o->waiter = 0; o->waiter < o->enabled->graph->system->workers; o->waiter++) {
        unsigned mask = 0;
        int error = overtakers(o, &mask, &result->tested);
        mask &= ~(1U << o->waiter);
        for (o->other = 0; o->other < n && error == 0; o->other++) {
            struct check_schedule schedule = {0};
            struct check_search search = {o, 2 * check_states(o->enabled->graph), n, pair_next,
                                          pair_goal};
            uint32_t found;
            if (mask >> o->other & 1) {
                error = check_search_run(&search, pair_node(o, 0, false), false, &schedule, &found);
                result->verdict = CHECK_VIOLATED;
                check_schedule_keep_first(&result->trace, &schedule);
            }
        }
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

int check_decide_fifo(struct check_graph *graph, const struct check_enabled *enabled,
                      struct check_report *report)
{
    struct check_result *result = &report->results[STEP_FIFO];
    struct overtaking entering = {.enabled = enabled};
    struct overtaking leaving = {.enabled = enabled, .exit = true};
    (void)graph;
    int error = decide_clause(&entering, result);
    if (error == 0 && enabled->has_exit) {
        error = decide_clause(&leaving, result);
    }
    if (error == 0 && result->verdict != CHECK_VIOLATED) {
        result->verdict = CHECK_HOLDS;
    }
    return error;
}
