/*
 * The core, as it ships, explored: never more granted than there are seats, never two with one
 * seat, exactly k seats when all is quiet and reaped, granted in order, whoever waits has a place,
 * everyone who tries enters, with any k-1 stopped, and nobody is stuck in any operation. And each
 * of its guards, dropped, is found out.
 *
 *     pool_test            the sizes that take seconds
 *     pool_test guards     without each of the guards
 *     pool_test slow       sizes and guards that take minutes
 *     pool_test large      safety only, breadth first, as far as memory goes (MiB, default 16384)
 */
#include "alone.h"
#include "check/property.h"
#include "model/pool.h"
#include "test.h"

#include <string.h>

static size_t large_memory;

struct size {
    unsigned n, k;
    struct step_limits limits;
};

static const struct size quick_sizes[] = {
    {1, 1, {.cycles = 3, .crashes = 2}},
    {2, 1, {.cycles = 2, .crashes = 1}},
    {2, 2, {.cycles = 2, .crashes = 1}},
    {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1}},
    {2, 1, {.cycles = 5, .fewer = 4, .crashes = 1, .tag_bits = 2}},
    {2, 1, {.cycles = 1, .crashes = 1, .grows = 1}},
    {2, 2, {.cycles = 1, .crashes = 1, .shrinks = 1}},
    {2, 1, {.cycles = 1, .grows = 1, .shrinks = 1}},
    {2, 1, {.cycles = 2, .crashes = 1, .stale = 1}},
    {2, 1, {.cycles = 2, .crashes = 1, .stale = 3}},
    {3, 1, {.cycles = 1, .crashes = 1, .queue = 2, .sleeper = 1}},
    {3, 1, {.cycles = 1, .crashes = 1, .queue = 2, .sleeper = 2}},
    {3, 1, {.cycles = 2, .fewer = 2, .crashes = 2}},
    {3, 1, {.cycles = 1, .line = 2}}, /* too short for all: one finds it full */
};

static const struct size slow_sizes[] = {
    {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1, .tag_bits = 2}},
    {2, 1, {.cycles = 2, .crashes = 1, .stale = 2}},
    {2, 1, {.cycles = 3, .crashes = 1, .gives_up = 1}},
    {2, 2, {.cycles = 3, .crashes = 1, .gives_up = 1}},
    {2, 1, {.cycles = 3, .crashes = 1, .gives_up = 1, .tag_bits = 2}},
    {2, 1, {.cycles = 1, .crashes = 1, .grows = 1, .shrinks = 1}},
    {2, 2, {.cycles = 2, .shrinks = 1}},
    {2, 2, {.cycles = 2, .grows = 1, .shrinks = 1, .queue = 2}},
    {3, 1, {.cycles = 1, .crashes = 2}},
    {3, 2, {.cycles = 1, .crashes = 2}},
    {3, 1, {.cycles = 1, .gives_up = 2}},
    {3, 1, {.cycles = 1, .crashes = 1, .gives_up = 1, .line = 2}},
    {4, 1, {.cycles = 1, .gives_up = 2, .queue = 4}},
    {4, 2, {.cycles = 1, .gives_up = 1, .queue = 4}},
    {3, 1, {.cycles = 2, .fewer = 1, .crashes = 1}},
};

static const struct size large_sizes[] = {
    {3, 2, {.cycles = 2, .fewer = 1, .crashes = 1}},
    {3, 1, {.cycles = 2, .crashes = 1}},
    {3, 2, {.cycles = 2, .crashes = 1}},
};

/* Where each guard, dropped, is found out. */
struct row {
    const char *mutant;
    struct size size;
};

static const struct row quick_rows[] = {
    {"take-i-still", {4, 1, {.cycles = 1, .queue = 3, .sleeper = 1}}},
    {"take-tag", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"entering-i-still", {2, 1, {.cycles = 1, .fewer = 1, .crashes = 1, .sleeper = 1}}},
    {"v-still", {3, 1, {.cycles = 1, .queue = 2, .sleeper = 2}}},
    {"author-v-still", {2, 1, {.cycles = 1, .fewer = 1, .crashes = 1, .sleeper = 2}}},
    {"line-tag", {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1}}},
    {"served", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"skipped", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"lap", {2, 1, {.cycles = 1}}},
    {"reap-finish-take", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"fresh-tag",
     {2,
      1,
      {.cycles = 3,
       .fewer = 3,
       .crashes = 1,
       .gives_up = 1,
       .grows = 1,
       .shrinks = 1,
       .tag_bits = 1}}},
    {"finish-v", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"adopt-hole", {3, 1, {.cycles = 1}}},
    {"adopt-valid", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"slide-live", {4, 1, {.cycles = 1, .gives_up = 1, .queue = 4}}},
    {"named", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"reap-cycle", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"hole-granted", {3, 1, {.cycles = 1}}},
    {"decided-still", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"same-author", {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1}}},
    {"room", {4, 1, {.cycles = 1, .line = 2, .queue = 4}}},
    {"enter-valid", {2, 1, {.cycles = 1}}},
    {"leave-deliver", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"absorb", {1, 2, {.cycles = 1, .shrinks = 1}}},
    {"owed", {2, 2, {.cycles = 1, .crashes = 1, .shrinks = 1}}},
    {"stale-place", {2, 1, {.cycles = 1, .stale = 2}}},
    {"stale-still", {2, 1, {.cycles = 1, .gives_up = 1, .grows = 1, .shrinks = 1}}},
    {"counted", {2, 1, {.cycles = 1, .grows = 1, .shrinks = 1}}},
    {"count-v-still", {2, 1, {.cycles = 1, .grows = 1, .shrinks = 1}}},
    {"count-tag", {1, 1, {.cycles = 4, .grows = 2, .tag_bits = 2}}},
    {"resize-limit", {1, 1, {.cycles = 1, .shrinks = 2}}},
    {"seat-held", {2, 2, {.cycles = 1}}},
    {"seat-asked", {2, 2, {.cycles = 2, .fewer = 1}}},
    {"seat-first", {2, 2, {.cycles = 2, .fewer = 1}}},
    {"seat-count", {3, 1, {.cycles = 2, .fewer = 2, .crashes = 1}}},
    {"seat-entering", {2, 2, {.cycles = 2, .fewer = 1}}},
    {"died-still", {3, 1, {.cycles = 2, .fewer = 2, .crashes = 1}}},
    {"grant-valid", {2, 1, {.cycles = 1}}},
    {"issued", {2, 1, {.cycles = 2, .crashes = 1, .stale = 2}}},
    {"slide-place", {3, 1, {.cycles = 1, .gives_up = 1, .queue = 3}}},
    {"slide-next", {3, 1, {.cycles = 1, .gives_up = 2, .queue = 2}}},
    {"again-until", {2, 1, {.cycles = 5, .fewer = 4, .crashes = 1, .tag_bits = 2}}},
    {"again-v", {2, 1, {.cycles = 2, .shrinks = 1}}},
};

/* These break no rule: somebody is stuck, or does not get in. */
static const struct row stuck_rows[] = {
    {"author-tag", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"finish-i", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"leaving-still", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"skip-decided", {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1}}},
    {"seat-not-in", {2, 1, {.cycles = 2}}},
    {"seat-helped", {2, 1, {.cycles = 2, .crashes = 1}}},
};

static const struct row slow_rows[] = {
    {"seat-said", {2, 2, {.cycles = 2, .grows = 1, .shrinks = 1, .queue = 2}}},
    {"own-ticket", {5, 2, {.cycles = 1, .gives_up = 1, .queue = 5}}},
};

enum {
    PREFIX = sizeof "mutant-pool-" - 1, /* letters of a mutant's name that no row repeats */
    QUICK_SIZES = sizeof quick_sizes / sizeof quick_sizes[0],
    SLOW_SIZES = sizeof slow_sizes / sizeof slow_sizes[0],
    LARGE_SIZES = sizeof large_sizes / sizeof large_sizes[0],
    QUICK_ROWS = sizeof quick_rows / sizeof quick_rows[0],
    STUCK_ROWS = sizeof stuck_rows / sizeof stuck_rows[0],
    SLOW_ROWS = sizeof slow_rows / sizeof slow_rows[0]
};

static void explore(const struct step_machine *machine, const struct size *size,
                    const struct check_options *options, struct step_system *system,
                    struct check_graph *graph, struct check_report *report)
{
    char why[STEP_WHY_BYTES];
    EXPECT_EQ(step_system_init_with(system, machine, size->n, size->k, 0, &size->limits, why), 0);
    EXPECT_EQ(check_explore(graph, system, options), 0);
    EXPECT(graph->broken == NULL);
    EXPECT_EQ(check_decide(graph, report), 0);
}

static void print_size(const struct size *size)
{
    const struct step_limits *l = &size->limits;
    const struct {
        const char *name;
        unsigned value;
    } parts[] = {
        {"cycles", l->cycles},     {"fewer", l->fewer},     {"crashes", l->crashes},
        {"gives up", l->gives_up}, {"grows", l->grows},     {"shrinks", l->shrinks},
        {"tag bits", l->tag_bits}, {"line", l->line},       {"queue", l->queue},
        {"stale", l->stale},       {"sleeper", l->sleeper},
    };
    (void)printf("  n=%u k=%u", size->n, size->k);
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        if (parts[p].value != 0) {
            (void)printf(" %s %u", parts[p].name, parts[p].value);
        }
    }
}

static void expect_claims(const struct step_system *system, const struct check_report *report)
{
    EXPECT(system->claims & STEP_CLAIM(STEP_INVARIANT));
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        const struct check_result *result = &report->results[p];
        if ((system->claims & STEP_CLAIM(p)) && result->verdict != CHECK_HOLDS) {
            (void)fprintf(stderr, "%s: %s\n", step_property_name((enum step_property)p),
                          result->why == NULL ? "violated" : result->why);
            exit(1);
        }
    }
}

static void hold_at(const struct size *sizes, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        struct check_options options = {0};
        struct step_system system;
        struct check_graph graph;
        struct check_report report;
        print_size(&sizes[s]);
        explore(&model_pool, &sizes[s], &options, &system, &graph, &report);
        (void)printf(": %u states", check_states(&graph));
        EXPECT(graph.complete);
        expect_claims(&system, &report);
        int64_t steps = alone_longest(&graph);
        (void)printf(", at most %lld steps alone, %.1f s\n", (long long)steps, graph.seconds);
        EXPECT(steps > 0);
        (void)fflush(stdout);
        check_report_free(&report);
        check_graph_free(&graph);
    }
}

/* Nothing is wrong as far as memory goes: all states up to some distance from the start. */
static void safe_at(const struct size *sizes, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        struct check_options options = {.memory = large_memory, .only_exclusion = true};
        struct step_system system;
        struct check_graph graph;
        struct check_report report;
        print_size(&sizes[s]);
        explore(&model_pool, &sizes[s], &options, &system, &graph, &report);
        (void)printf(": %u states, %s %u steps, %.1f s\n", check_states(&graph),
                     graph.complete ? "all, within" : "all within", graph.level_count - 2,
                     graph.seconds);
        (void)fflush(stdout);
        EXPECT(report.results[STEP_EXCLUSION].verdict != CHECK_VIOLATED);
        EXPECT(report.results[STEP_INVARIANT].verdict != CHECK_VIOLATED);
        check_report_free(&report);
        check_graph_free(&graph);
    }
}

static const struct step_machine *find(const char *name)
{
    for (const struct step_machine *const *m = model_pool_mutants; *m != NULL; m++) {
        if (strcmp((*m)->name + PREFIX, name) == 0) {
            return *m;
        }
    }
    return NULL;
}

/* Is the mutant found out at this size? Some mutants have no end of states: what is found within
   the memory is found. */
static bool is_caught(const struct row *row, size_t memory, bool only_safety)
{
    struct check_options options = {.memory = memory, .only_exclusion = only_safety};
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    const char *how = NULL;
    const char *why = NULL;
    EXPECT(find(row->mutant) != NULL);
    explore(find(row->mutant), &row->size, &options, &system, &graph, &report);
    for (unsigned p = 0; p < STEP_PROPERTIES && how == NULL; p++) {
        if ((system.claims >> p & 1) && report.results[p].verdict == CHECK_VIOLATED) {
            how = step_property_name((enum step_property)p);
            why = report.results[p].why;
        }
    }
    if (how == NULL && graph.complete && !only_safety && alone_longest(&graph) < 0) {
        how = "somebody is stuck";
    }
    if (how != NULL) {
        (void)printf("  %s: %s\n", row->mutant, why != NULL ? why : how);
        (void)fflush(stdout);
    }
    check_report_free(&report);
    check_graph_free(&graph);
    return how != NULL;
}

/* By a rule that is broken, mostly near the start: so first in little memory. */
static bool breaks_a_rule(const struct row *row, size_t memory)
{
    return is_caught(row, memory / 8, true) || is_caught(row, memory, true);
}

static void expect_caught(const struct row *row, bool found)
{
    if (!found) {
        (void)fprintf(stderr, "%s is not found out\n", row->mutant);
        exit(1);
    }
}

static void caught(const struct row *rows, size_t count, size_t memory)
{
    for (size_t r = 0; r < count; r++) {
        expect_caught(&rows[r],
                      breaks_a_rule(&rows[r], memory) || is_caught(&rows[r], 4 * memory, false));
    }
}

static unsigned times_listed(const char *mutant, const struct row *rows, size_t count)
{
    unsigned listed = 0;
    for (size_t r = 0; r < count; r++) {
        listed += strcmp(mutant, rows[r].mutant) == 0;
    }
    return listed;
}

static void no_guard_is_forgotten(void)
{
    for (const struct step_machine *const *m = model_pool_mutants; *m != NULL; m++) {
        const char *mutant = (*m)->name + PREFIX;
        EXPECT_EQ(times_listed(mutant, quick_rows, QUICK_ROWS) +
                      times_listed(mutant, stuck_rows, STUCK_ROWS) +
                      times_listed(mutant, slow_rows, SLOW_ROWS),
                  1);
    }
}

static void the_core_holds_at_small_sizes(void)
{
    hold_at(quick_sizes, QUICK_SIZES);
}

static void the_core_holds_at_larger_sizes(void)
{
    hold_at(slow_sizes, SLOW_SIZES);
}

static void the_core_is_safe_at_the_largest_sizes(void)
{
    safe_at(large_sizes, LARGE_SIZES);
}

static void guards_dropped_are_found_out(void)
{
    caught(quick_rows, QUICK_ROWS, (size_t)48 << 20);
}

static void who_gets_stuck_without_a_guard_is_found(void)
{
    for (size_t r = 0; r < STUCK_ROWS; r++) {
        expect_caught(&stuck_rows[r], is_caught(&stuck_rows[r], (size_t)192 << 20, false));
    }
}

static void guards_dropped_are_found_out_at_larger_sizes(void)
{
    caught(slow_rows, SLOW_ROWS, (size_t)2 << 30);
}

/* A reaper that goes on publishing though the row has gone on: the others lose nothing by it. */
static void one_that_is_stuck_is_found(void)
{
    const struct size size = {2, 1, {.cycles = 1, .crashes = 1}};
    struct check_options options = {.memory = (size_t)64 << 20};
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    explore(find("leaving-still"), &size, &options, &system, &graph, &report);
    EXPECT(graph.complete);
    EXPECT_EQ(alone_longest(&graph), ALONE_FOR_EVER);
    check_report_free(&report);
    check_graph_free(&graph);
}

int main(int argc, char **argv)
{
    RUN(no_guard_is_forgotten);
    if (argc > 1 && strcmp(argv[1], "slow") == 0) {
        RUN(the_core_holds_at_larger_sizes);
        RUN(guards_dropped_are_found_out_at_larger_sizes);
    } else if (argc > 1 && strcmp(argv[1], "large") == 0) {
        large_memory = (argc > 2 ? strtoull(argv[2], NULL, 10) : 16384) << 20;
        RUN(the_core_is_safe_at_the_largest_sizes);
    } else if (argc > 1 && strcmp(argv[1], "guards") == 0) {
        RUN(guards_dropped_are_found_out);
        RUN(who_gets_stuck_without_a_guard_is_found);
    } else {
        RUN(one_that_is_stuck_is_found);
        RUN(the_core_holds_at_small_sizes);
    }
    return 0;
}
