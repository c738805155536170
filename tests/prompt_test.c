/*
 * Prompt processes: how many times others enter before a prompt process. This test lets the process
 * run alone, after every step of another, until it runs around a cycle. The verdict `prompt` of
 * usher-lab check (src/check/decide/prompt.h), which considers every place of such a cycle, must be
 * the same.
 *
 *     prompt_test [N]       with 5, also n = 5 and more of n = 4
 */
#include "check/decide/property.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

static unsigned most_n = 4;

enum { NOT_BOUNDED = 50 };

/* Let i alone take steps until it is in C (CHECK_NO_STATE) or runs around a cycle; then return the
   lowest state of the cycle. */
static uint32_t settle(const struct check_graph *graph, uint32_t state, unsigned i)
{
    for (unsigned step = 0; step < 100; step++) {
        if (check_region(graph, state, i) == STEP_CRITICAL) {
            return CHECK_NO_STATE;
        }
        state = check_edge(graph, state, i);
    }
    uint32_t lowest = state;
    for (uint32_t at = check_edge(graph, state, i); at != state; at = check_edge(graph, at, i)) {
        lowest = at < lowest ? at : lowest;
    }
    return lowest;
}

/* Pairs of a state and a set of processes, with the largest number of entries on a path to them. */
struct pairs {
    int16_t *most; /* -1: not reached */
    size_t *stack;
    size_t count, capacity;
    int highest;
};

static void reach(struct pairs *pairs, size_t pair, int entries)
{
    pairs->highest = entries > pairs->highest ? entries : pairs->highest;
    if (entries <= pairs->most[pair]) {
        return;
    }
    if (pairs->count == pairs->capacity) {
        pairs->capacity = 2 * pairs->capacity + 1024;
        pairs->stack = realloc(pairs->stack, pairs->capacity * sizeof *pairs->stack);
        EXPECT(pairs->stack != NULL);
    }
    pairs->most[pair] = (int16_t)entries;
    pairs->stack[pairs->count++] = pair;
}

/*
 * The largest number of entries of others while i is in T, if i takes all useful steps after every
 * step of another; NOT_BOUNDED if there is no bound. With `late` only processes count that have
 * been in R since i began to wait.
 */
static int entries_while_prompt(const struct check_graph *graph, unsigned i, bool late)
{
    unsigned n = graph->system->n;
    size_t all = (size_t)check_states(graph) << n;
    struct pairs pairs = {.most = malloc(all * sizeof *pairs.most)};
    EXPECT(pairs.most != NULL);
    memset(pairs.most, 0xff, all * sizeof *pairs.most);
    for (uint32_t s = 0; s < check_states(graph); s++) {
        if (check_region(graph, s, i) == STEP_REMAINDER) {
            uint32_t to = settle(graph, check_edge(graph, s, i), i);
            if (to != CHECK_NO_STATE) {
                reach(&pairs, (size_t)to << n | check_in_region(graph, to, STEP_REMAINDER), 0);
            }
        }
    }
    while (pairs.count > 0 && pairs.highest < NOT_BOUNDED) {
        size_t pair = pairs.stack[--pairs.count];
        uint32_t from = (uint32_t)(pair >> n);
        for (unsigned j = 0; j < n; j++) {
            unsigned fresh = (unsigned)pair & ((1U << n) - 1);
            uint32_t to = j == i ? from : check_edge(graph, from, j);
            bool enters = check_region(graph, from, j) != STEP_CRITICAL &&
                          check_region(graph, to, j) == STEP_CRITICAL;
            bool counts = enters && (!late || fresh >> j & 1);
            fresh =
                (enters ? fresh & ~(1U << j) : fresh) | check_in_region(graph, to, STEP_REMAINDER);
            int entries = pairs.most[pair] + counts;
            pairs.highest = entries > pairs.highest ? entries : pairs.highest;
            to = settle(graph, to, i);
            if (to != CHECK_NO_STATE) {
                reach(&pairs, (size_t)to << n | fresh, entries);
            }
        }
    }
    free(pairs.most);
    free(pairs.stack);
    return pairs.highest;
}

static void expect_prompt(const struct step_machine *machine, unsigned n, unsigned k, int entries,
                          int late)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    char why[STEP_WHY_BYTES];
    struct check_options options = {0};
    EXPECT_EQ(step_system_init(&system, machine, n, k, 0, why), 0);
    EXPECT_EQ(check_explore(&graph, &system, &options), 0);
    EXPECT(graph.complete && graph.broken == NULL);
    for (unsigned i = 0; i < n; i++) {
        EXPECT_EQ(entries_while_prompt(&graph, i, false), entries);
        EXPECT_EQ(entries_while_prompt(&graph, i, true), late);
    }
    EXPECT_EQ(check_decide(&graph, &report),
              0); /* by other means, and from every place of a cycle */
    const struct check_result *prompt = &report.results[STEP_PROMPT];
    EXPECT_EQ(prompt->bound, late == NOT_BOUNDED ? CHECK_UNBOUNDED : late);
    EXPECT_EQ(prompt->entries, entries == NOT_BOUNDED ? CHECK_UNBOUNDED : entries);
    check_report_free(&report);
    check_graph_free(&graph);
}

static void a_prompt_process_is_overtaken_only_in_a_tournament(void)
{
    for (unsigned n = 2; n <= 4; n++) {
        for (unsigned k = 1; k < n; k++) {
            if (n < 4 || k == 3 || most_n >= 5) { /* the other sizes have too many states */
                expect_prompt(&papers_naive, n, k, (int)n - 1, 0);
                expect_prompt(&papers_excl, n, k, (int)n - 1, 0);
            }
        }
    }
    expect_prompt(&papers_gtex, 3, 1, 2, 0);
    expect_prompt(&papers_gtex, 4, 1, NOT_BOUNDED, NOT_BOUNDED);
}

static void a_prompt_process_in_shared_queues_is_overtaken_less(void)
{
    static const int dqb[][2] = {[2] = {1, 0}, [3] = {2, 0}, [4] = {5, 2}, [5] = {9, 5}};
    for (unsigned n = 2; n <= most_n; n++) {
        expect_prompt(&papers_peek_queue, n, 1, (int)n - 1, 0);
        expect_prompt(&papers_dqb, n, 1, dqb[n][0], dqb[n][1]);
    }
    expect_prompt(&papers_sq2, 2, 1, 0, 0);
}

int main(int argc, char **argv)
{
    most_n = argc > 1 ? (unsigned)atoi(argv[1]) : most_n;
    RUN(a_prompt_process_is_overtaken_only_in_a_tournament);
    RUN(a_prompt_process_in_shared_queues_is_overtaken_less);
    return 0;
}
