/*
 * Decide C4' and C5' (1979): how many times P_j can go from R to C while P_i in T (or E) does not
 * become enabled. Bounded: C4', with the largest number over all i and j. Never: C5', FIFO
 * enabling.
 *
 * A cycle of j counts at the step that takes j into C, if i was still waiting before that step.
 * While i waits: if j enters C inside a strongly connected component, there is no bound; otherwise
 * the longest path through the components gives the number.
 */
#include "check/decide/property.h"
#include "check/explore/parallel.h"

#include <errno.h>
#include <string.h>

struct waiting {
    const struct check_enabled *enabled;
    unsigned waiter;
    unsigned other;  /* for the trace */
    uint8_t *best;   /* n for each state: entries of each other process from there on, saturated */
    uint64_t tested; /* states in which the waiter waits and another process is in R */
    unsigned overtakers; /* processes that enter C at least once after being in R */
    unsigned most;
    bool unbounded;
    struct check_witness witness; /* a component in which another enters C */
    uint32_t edge_from;           /* a step into C in the present component */
    unsigned edge_process;
    int error;
};

static bool waits(const struct waiting *w, uint32_t state)
{
    return check_waiting_1979(w->enabled, state) >> w->waiter & 1;
}

static bool node_waits(const struct check_view *view, uint32_t state)
{
    return waits(view->data, state);
}

/* Does the waiter keep waiting in its region? */
static bool edge_waits(const struct check_view *view, uint32_t from, unsigned process, uint32_t to)
{
    const struct waiting *w = view->data;
    (void)process;
    return check_region(view->graph, from, w->waiter) == check_region(view->graph, to, w->waiter);
}

static bool enters(const struct check_graph *graph, uint32_t from, unsigned process, uint32_t to)
{
    return check_region(graph, from, process) != STEP_CRITICAL &&
           check_region(graph, to, process) == STEP_CRITICAL;
}

/* Add one step to `best` of its component; entries inside the component go to *inside. */
static void count_step(struct waiting *w, const struct check_component *component, uint32_t from,
                       unsigned process, uint8_t *best, unsigned *inside)
{
    const struct check_graph *graph = component->view->graph;
    unsigned n = graph->system->n;
    uint32_t to = check_edge(graph, from, process);
    unsigned counts = process != w->waiter && enters(graph, from, process, to);
    if (!check_view_edge(component->view, from, process, to)) {
        best[process] = counts > best[process] ? 1 : best[process]; /* the last step of the wait */
        return;
    }
    if (check_component_has(component, to)) {
        if (counts) {
            *inside |= 1U << process;
            w->edge_from = from;
            w->edge_process = process;
        }
        return;
    }
    for (unsigned j = 0; j < n; j++) {
        unsigned there = w->best[(size_t)to * n + j] + (j == process ? counts : 0);
        if (there > best[j]) {
            best[j] = (uint8_t)(there > 254 ? 254 : there);
        }
    }
}

static void visit(void *context, const struct check_component *component)
{
    struct waiting *w = context;
    unsigned n = component->view->graph->system->n;
    uint8_t best[CHECK_MAX_PROCESSES] = {0};
    unsigned inside = 0;
    for (uint32_t s = 0; s < component->count; s++) {
        for (unsigned i = 0; i < n; i++) {
            count_step(w, component, component->states[s], i, best, &inside);
        }
    }
    if (inside != 0) {
        uint32_t before = w->witness.state;
        w->unbounded = true;
        w->overtakers |= inside;
        if (check_witness_offer(&w->witness, component, w->waiter, 0, 0) != 0) {
            w->error = -ENOMEM;
        }
        if (w->witness.state != before) {
            w->witness.edge_from = w->edge_from;
            w->witness.edge_process = w->edge_process;
        }
    }
    for (uint32_t s = 0; s < component->count; s++) {
        memcpy(w->best + (size_t)component->states[s] * n, best, n);
    }
}

/* Nodes of the search for a shortest schedule to a cycle of `other` while `waiter` waits: states,
   before and after the wait has begun, and one node for "done". */
static uint32_t done_node(const struct waiting *w)
{
    return 2 * check_states(w->enabled->graph);
}

static uint32_t pair_node(const struct waiting *w, uint32_t state, bool begun)
{
    bool begins =
        waits(w, state) && check_region(w->enabled->graph, state, w->other) == STEP_REMAINDER;
    return 2 * state + (begun || begins);
}

static uint32_t pair_next(void *context, uint32_t node, unsigned process)
{
    const struct waiting *w = context;
    const struct check_graph *graph = w->enabled->graph;
    uint32_t from = node / 2;
    uint32_t to = check_edge(graph, from, process);
    if ((node & 1) && process == w->other && enters(graph, from, process, to)) {
        return done_node(w);
    }
    bool still = (node & 1) && waits(w, to) &&
                 check_region(graph, from, w->waiter) == check_region(graph, to, w->waiter);
    return pair_node(w, to, still);
}

static bool pair_goal(void *context, uint32_t node)
{
    return node == done_node(context);
}

static int trace_fifo(struct waiting *w, struct check_result *result)
{
    struct check_search search = {w, done_node(w) + 1, w->enabled->graph->system->n, pair_next,
                                  pair_goal};
    struct check_schedule schedule = {0};
    uint32_t found;
    int error = check_search_run(&search, pair_node(w, 0, false), false, &schedule, &found);
    if (error == 0 && found != CHECK_NO_STATE) {
        result->verdict = CHECK_VIOLATED;
        check_schedule_keep_first(&result->trace, &schedule);
    }
    check_schedule_free(&schedule);
    return error;
}

/* Find the cycles of all others while one process waits. */
static int decide_waiter(void *context, unsigned waiter)
{
    struct waiting *w = (struct waiting *)context + waiter;
    const struct check_graph *graph = w->enabled->graph;
    unsigned n = graph->system->n;
    struct check_view view = {graph, w, node_waits, edge_waits};
    w->best = calloc((size_t)check_states(graph) * n, 1);
    if (w->best == NULL) {
        return -ENOMEM;
    }
    int error = check_scc(&view, visit, w);
    for (uint32_t s = 0; s < check_states(graph) && error == 0; s++) {
        unsigned resting = waits(w, s) ? check_in_region(graph, s, STEP_REMAINDER) : 0;
        w->tested += resting != 0;
        for (unsigned j = 0; j < n; j++) {
            unsigned best = resting >> j & 1 ? w->best[(size_t)s * n + j] : 0;
            w->overtakers |= (unsigned)(best > 0) << j;
            w->most = best > w->most ? best : w->most;
        }
    }
    free(w->best);
    return error != 0 ? error : w->error;
}

/* The loop that shows an unbounded wait: around the component, with a step of the other into C. */
static int trace_unbounded(struct check_graph *graph, const struct check_witness *witness,
                           struct check_result *result)
{
    struct check_view all = {.graph = graph};
    int error = check_schedule_to(graph, witness->state, &result->trace);
    return error != 0
               ? error
               : check_schedule_loop_via(&all, &witness->part, witness->state, witness->edge_from,
                                         witness->edge_process, &result->loop);
}

/* Merge the result of one waiter into the report. */
static int merge(struct waiting *w, struct check_report *report, const struct check_witness **first)
{
    struct check_result *bounded = &report->results[STEP_C4];
    int error = 0;
    bounded->tested += w->tested;
    bounded->bound = w->most > bounded->bound ? w->most : bounded->bound;
    if (w->unbounded && (*first == NULL || w->witness.state < (*first)->state)) {
        *first = &w->witness;
    }
    for (w->other = 0; w->other < w->enabled->graph->system->n && error == 0; w->other++) {
        if (w->overtakers >> w->other & 1) {
            error = trace_fifo(w, &report->results[STEP_C5]);
        }
    }
    return error;
}

int check_decide_waiting(struct check_graph *graph, const struct check_enabled *enabled,
                         struct check_report *report)
{
    struct check_result *bounded = &report->results[STEP_C4];
    struct check_result *fifo = &report->results[STEP_C5];
    struct waiting waiting[CHECK_MAX_PROCESSES];
    const struct check_witness *first = NULL;
    unsigned n = graph->system->n;
    for (unsigned i = 0; i < n; i++) {
        waiting[i] =
            (struct waiting){.enabled = enabled, .waiter = i, .witness = {.state = CHECK_NO_STATE}};
    }
    int error = check_parallel(graph->options.threads, n, decide_waiter, waiting);
    fifo->verdict = CHECK_HOLDS;
    for (unsigned i = 0; i < n && error == 0; i++) {
        error = merge(&waiting[i], report, &first);
    }
    fifo->tested = bounded->tested;
    bounded->has_bound = true;
    bounded->verdict = CHECK_HOLDS;
    if (error == 0 && first != NULL) {
        bounded->bound = CHECK_UNBOUNDED;
        bounded->verdict = CHECK_VIOLATED;
        error = trace_unbounded(graph, first, bounded);
    }
    for (unsigned i = 0; i < n; i++) {
        check_bits_free(&waiting[i].witness.part);
    }
    return error;
}
