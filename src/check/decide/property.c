/* Decide all properties in order: see property.h. Exclusion, C1, C6 and invariant are here. */
#include "check/decide/property.h"

#include "check/explore/parallel.h"
#include "check/explore/reduce.h"

#include <errno.h>
#include <string.h>

static void not_checked(struct check_report *report, const char *why)
{
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        if (report->results[p].verdict == CHECK_NOT_CHECKED && report->results[p].why == NULL) {
            report->results[p].why = why;
        }
    }
}

static int decide_exclusion(struct check_graph *graph, struct check_report *report)
{
    for (unsigned p = 0; p < 2; p++) {
        struct check_result *result = &report->results[p == 0 ? STEP_EXCLUSION : STEP_C1];
        result->tested = graph->full_states;
        if (graph->first_crowded != CHECK_NO_STATE) {
            result->verdict = CHECK_VIOLATED;
            if (check_schedule_to(graph, graph->first_crowded, &result->trace) != 0) {
                return -ENOMEM;
            }
        } else if (graph->complete) {
            result->verdict = CHECK_HOLDS;
        }
    }
    return 0;
}

/* Decide what step_machine.wrong found. */
static int decide_invariant(struct check_graph *graph, struct check_report *report)
{
    struct check_result *result = &report->results[STEP_INVARIANT];
    if (graph->system->machine->wrong == NULL) {
        result->why = "the machine states no invariant";
        return 0;
    }
    result->tested = check_states(graph);
    if (graph->first_wrong != CHECK_NO_STATE) {
        result->verdict = CHECK_VIOLATED;
        result->why = graph->wrong;
        return check_schedule_to(graph, graph->first_wrong, &result->trace);
    }
    result->verdict = graph->complete && !graph->options.reduced ? CHECK_HOLDS : CHECK_NOT_CHECKED;
    return 0;
}

/* C6 asks that exactly min(k - |C|, |T|) be critical-enabled. */
static bool k_full_1979(const struct check_enabled *enabled, uint32_t state)
{
    const struct check_graph *graph = enabled->graph;
    unsigned k = graph->system->k;
    unsigned critical = (unsigned)__builtin_popcount(check_in_region(graph, state, STEP_CRITICAL));
    unsigned trying = (unsigned)__builtin_popcount(check_in_region(graph, state, STEP_TRYING));
    unsigned entering =
        check_in_region(graph, state, STEP_TRYING) | check_in_region(graph, state, STEP_REMAINDER);
    unsigned able =
        (unsigned)__builtin_popcount(entering & ~(unsigned)enabled->not_enabled_1979[state]);
    unsigned room = k > critical ? k - critical : 0;
    return able == (room < trying ? room : trying);
}

/* C6: exclusion, null exit regions, k-full, and C5'. */
static int decide_queuelike(struct check_graph *graph, const struct check_enabled *enabled,
                            struct check_report *report)
{
    struct check_result *result = &report->results[STEP_C6];
    uint32_t first = graph->first_crowded;
    for (uint32_t s = 0; s < check_states(graph) && s < first; s++) {
        result->tested += check_in_region(graph, s, STEP_TRYING) != 0;
        if (check_in_region(graph, s, STEP_EXIT) != 0 || !k_full_1979(enabled, s)) {
            first = s;
        }
    }
    const struct check_result *fifo = &report->results[STEP_C5];
    result->verdict = CHECK_VIOLATED;
    if (first != CHECK_NO_STATE) {
        return check_schedule_to(graph, first, &result->trace);
    }
    if (fifo->verdict == CHECK_VIOLATED) {
        return check_schedule_join(&result->trace, &fifo->trace);
    }
    result->verdict = CHECK_HOLDS;
    return 0;
}

/* The properties of the 1979 report, which count single steps. */
static int decide_1979(struct check_graph *graph, const struct check_enabled *enabled,
                       struct check_report *report)
{
    int error = check_decide_allocation(graph, enabled, report);
    if (error == 0) {
        error = check_decide_waiting(graph, enabled, report);
    }
    return error != 0 ? error : decide_queuelike(graph, enabled, report);
}

static int decide_with_edges(struct check_graph *graph, struct check_report *report)
{
    struct check_enabled enabled;
    int error = check_enabled_init(&enabled, graph);
    if (graph->system->machine->loose_regions) {
        if (error == 0) {
            error = check_decide_lockout(graph, &enabled, report);
        }
        if (error == 0 && graph->system->machine->events == 0) {
            error = check_decide_first_in(graph, &enabled, report);
        }
        not_checked(report, "defined only if nothing but steps happens");
        check_enabled_free(&enabled);
        return error;
    }
    if (error == 0) {
        error = check_decide_deadlock(graph, &enabled, report);
    }
    if (error == 0) {
        error = check_decide_fifo(graph, &enabled, report);
    }
    if (error == 0) {
        error = check_decide_lockout(graph, &enabled, report);
    }
    if (error == 0 && !graph->options.reduced) {
        error = decide_1979(graph, &enabled, report);
    }
    if (error == 0) {
        error = check_decide_overtakings(graph, &enabled, report);
    }
    if (error == 0) {
        error = check_decide_first_in(graph, &enabled, report);
    }
    check_enabled_free(&enabled);
    return error;
}

/*
 * Does the memory for deciding fit? It needs, for each state and thread, the marks, stack and
 * frames of scc.c, grown by halves (30 bytes), and the counts of waiting.c (n bytes); for each
 * state once, the masks of enabled.h and the sets and queues of the rest (24 bytes). Marks are 31
 * bits.
 */
static bool analysis_fits(const struct check_graph *graph)
{
    size_t threads = check_parallel_threads(graph->options.threads, graph->system->n);
    size_t each = threads * (30 + graph->system->n) + 24;
    return graph->budget.used + each * check_states(graph) <= graph->budget.limit &&
           check_states(graph) < 1U << 31;
}

static int decide_all(struct check_graph *graph, struct check_report *report)
{
    int error = decide_exclusion(graph, report);
    if (error == 0) {
        error = decide_invariant(graph, report);
    }
    if (error != 0) {
        return error;
    }
    if (!graph->complete) {
        not_checked(report, "the exploration did not fit the memory limit");
        return 0;
    }
    if (graph->options.only_exclusion) {
        not_checked(report, "not asked for");
        return 0;
    }
    if (!analysis_fits(graph)) {
        not_checked(report, "the analysis does not fit the memory limit");
        return 0;
    }
    error = decide_with_edges(graph, report);
    not_checked(report, "not the same in a reduced graph");
    return error;
}

int check_decide(struct check_graph *graph, struct check_report *report)
{
    memset(report, 0, sizeof *report);
    int error = decide_all(graph, report);
    return error != 0 || !graph->options.reduced ? error : check_reduce_expand(graph, report);
}

void check_report_free(struct check_report *report)
{
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        check_schedule_free(&report->results[p].trace);
        check_schedule_free(&report->results[p].loop);
    }
}

bool check_claims_hold(const struct step_system *system, const struct check_report *report)
{
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        if ((system->claims >> p & 1) && report->results[p].verdict != CHECK_HOLDS) {
            return false;
        }
    }
    return true;
}
