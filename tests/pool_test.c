/*
 * The core, as it ships, explored. Its properties: never more guests are in than there are seats;
 * no two holders have one seat; at rest and reaped, the pool has exactly k seats; tickets are
 * granted in order; every waiter has a place; every guest that tries enters, even with any k - 1
 * others stopped; and no process is stuck in an operation. Each guard is needed: the core without
 * it is caught.
 *
 *     pool_test                the sizes that take seconds
 *     pool_test guards         the mutants: the core without each guard
 *     pool_test repeats        words that repeat, and store buffers: sizes and mutants
 *     pool_test slow-repeats   the same, minutes
 *     pool_test slow           sizes and mutants that take minutes
 *     pool_test large [MiB [WHICH]]   the largest sizes, swept: hours (default 16384 MiB, all)
 */
#include "alone.h"
#include "check/decide/property.h"
#include "check/sweep/sweep.h"
#include "pool_repeats.h"
#include "test.h"

#include <string.h>

static size_t large_memory, large_only;

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
        pool_print_size(&sizes[s]);
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

/* Check what is claimed of states, without edges. Where operations are interrupted or stores are
   buffered, nothing else is claimed. */
static void stay_safe_at(const struct step_machine *machine, const struct size *size)
{
    struct check_options options = {.only_exclusion = true};
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    (void)printf("  %s", machine->name);
    pool_print_size(size);
    explore(machine, size, &options, &system, &graph, &report);
    (void)printf(": %u states, %.1f s\n", check_states(&graph), graph.seconds);
    (void)fflush(stdout);
    EXPECT(graph.complete);
    expect_claims(&system, &report);
    check_report_free(&report);
    check_graph_free(&graph);
}

static void stay_safe(const struct size *sizes, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        stay_safe_at(&model_pool, &sizes[s]);
    }
}

/* As hold_at, at sizes that memory cannot hold as a whole. only: one of them; 0: all. */
static void sweep_at(const struct size *sizes, size_t count, size_t only)
{
    for (size_t s = 0; s < count; s++) {
        struct check_sweep_options options = {.memory = large_memory,
                                              .mirrored = true,
                                              .settled = true,
                                              .progress = stderr,
                                              .spill = getenv("TMPDIR") != NULL ? getenv("TMPDIR")
                                                                                : "/var/tmp"};
        struct step_system system;
        struct check_sweep sweep;
        char why[STEP_WHY_BYTES];
        if (only != 0 && s != only - 1) {
            continue;
        }
        EXPECT_EQ(step_system_init_with(&system, &model_pool, sizes[s].n, sizes[s].k, 0,
                                        &sizes[s].limits, why),
                  0);
        pool_print_size(&sizes[s]);
        (void)printf("\n");
        EXPECT_EQ(check_sweep(&sweep, &system, &options), 0);
        (void)printf(
            "    %llu states, for %llu with their images, %s; %llu transitions, %u groups, "
            "%zu MiB, %.0f s\n",
            (unsigned long long)sweep.states, (unsigned long long)sweep.all_states,
            sweep.complete ? "all" : "not all", (unsigned long long)sweep.transitions, sweep.groups,
            sweep.most >> 20, sweep.seconds);
        if (sweep.violated != NULL || sweep.broken != NULL) {
            (void)printf("    %s\n", sweep.why != NULL        ? sweep.why
                                     : sweep.violated != NULL ? sweep.violated
                                                              : sweep.broken);
        }
        (void)fflush(stdout);
        EXPECT(sweep.violated == NULL);
        EXPECT(sweep.broken == NULL);
        EXPECT(sweep.complete);
    }
}

/* Is the mutant caught at this size? Some mutants have endless states: what is found within the
   memory counts. */
static bool is_caught(const struct row *row, size_t memory, bool only_safety)
{
    struct check_options options = {
        .memory = memory, .only_exclusion = only_safety, .until_wrong = only_safety};
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    const char *how = NULL;
    const char *why = NULL;
    EXPECT(pool_find(row->mutant) != NULL);
    explore(pool_find(row->mutant), &row->size, &options, &system, &graph, &report);
    for (unsigned p = 0; p < STEP_PROPERTIES && how == NULL; p++) {
        if ((system.claims >> p & 1) && report.results[p].verdict == CHECK_VIOLATED) {
            how = step_property_name((enum step_property)p);
            why = report.results[p].why;
        }
    }
    if (how == NULL && graph.complete && !only_safety && alone_longest(&graph) < 0) {
        how = "a process is stuck";
    }
    if (how != NULL) {
        (void)printf("  %s: %s\n", row->mutant, why != NULL ? why : how);
        (void)fflush(stdout);
    }
    check_report_free(&report);
    check_graph_free(&graph);
    return how != NULL;
}

/* Is the mutant caught by a broken rule? Most are near the initial state, so try with little memory
   first. */
static bool breaks_a_rule(const struct row *row, size_t memory)
{
    return is_caught(row, memory / 8, true) || is_caught(row, memory, true);
}

static void expect_caught(const struct row *row, bool found)
{
    if (!found) {
        (void)fprintf(stderr, "%s is not caught\n", row->mutant);
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

static unsigned times_named(const char *mutant, const char *const *names, size_t count)
{
    unsigned listed = 0;
    for (size_t m = 0; m < count; m++) {
        listed += strcmp(mutant, names[m]) == 0;
    }
    return listed;
}

static void every_mutant_is_listed_once(void)
{
    for (const struct step_machine *const *m = model_pool_mutants; *m != NULL; m++) {
        const char *mutant = (*m)->name + PREFIX;
        EXPECT_EQ(times_listed(mutant, quick_rows, QUICK_ROWS) +
                      times_listed(mutant, stuck_rows, STUCK_ROWS) +
                      times_listed(mutant, slow_rows, SLOW_ROWS) +
                      times_listed(mutant, swept_rows, SWEPT_ROWS) +
                      times_listed(mutant, repeat_rows, REPEAT_ROWS) +
                      times_listed(mutant, slow_repeat_rows, SLOW_REPEAT_ROWS) +
                      times_named(mutant, caught_elsewhere, CAUGHT_ELSEWHERE),
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

static void the_core_holds_at_the_largest_sizes(void)
{
    sweep_at(large_sizes, LARGE_SIZES, large_only);
}

static void mutants_are_caught(void)
{
    caught(quick_rows, QUICK_ROWS, (size_t)48 << 20);
}

static void mutants_that_get_stuck_are_caught(void)
{
    for (size_t r = 0; r < STUCK_ROWS; r++) {
        expect_caught(&stuck_rows[r], is_caught(&stuck_rows[r], (size_t)192 << 20, false));
    }
}

static void mutants_are_caught_at_larger_sizes(void)
{
    caught(slow_rows, SLOW_ROWS, (size_t)2 << 30);
}

static void break_rules(const struct row *rows, size_t count, size_t memory)
{
    for (size_t r = 0; r < count; r++) {
        expect_caught(&rows[r], is_caught(&rows[r], memory, true));
    }
}

static void the_core_holds_where_words_repeat(void)
{
    stay_safe(repeat_sizes, REPEAT_SIZES);
}

static void the_core_holds_with_store_buffers(void)
{
    stay_safe(tso_sizes, TSO_SIZES);
}

static void mutants_are_caught_where_words_repeat(void)
{
    break_rules(repeat_rows, REPEAT_ROWS, (size_t)1 << 30);
}

static void words_that_repeat_do_harm(void)
{
    break_rules(harm_rows, HARM_ROWS, (size_t)1 << 30);
}

static void the_core_holds_where_words_repeat_at_larger_sizes(void)
{
    stay_safe(slow_repeat_sizes, SLOW_REPEAT_SIZES);
    stay_safe(slow_tso_sizes, SLOW_TSO_SIZES);
}

static void mutants_are_caught_where_words_repeat_at_larger_sizes(void)
{
    break_rules(slow_repeat_rows, SLOW_REPEAT_ROWS, (size_t)4 << 30);
    break_rules(slow_harm_rows, SLOW_HARM_ROWS, (size_t)4 << 30);
}

static void some_mutants_break_no_rule_at_some_sizes(void)
{
    for (size_t r = 0; r < SPARE_ROWS; r++) {
        stay_safe_at(pool_find(spare_rows[r].mutant), &spare_rows[r].size);
    }
}

/* A reaper that keeps publishing although the row has changed. The other processes lose nothing. */
static void a_stuck_process_is_found(void)
{
    const struct size size = {2, 1, {.cycles = 1, .crashes = 1}};
    struct check_options options = {.memory = (size_t)64 << 20};
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    explore(pool_find("leaving-still"), &size, &options, &system, &graph, &report);
    EXPECT(graph.complete);
    EXPECT_EQ(alone_longest(&graph), ALONE_FOR_EVER);
    check_report_free(&report);
    check_graph_free(&graph);
}

int main(int argc, char **argv)
{
    RUN(every_mutant_is_listed_once);
    if (argc > 1 && strcmp(argv[1], "slow") == 0) {
        RUN(the_core_holds_at_larger_sizes);
        RUN(mutants_are_caught_at_larger_sizes);
    } else if (argc > 1 && strcmp(argv[1], "large") == 0) {
        large_memory = (argc > 2 ? strtoull(argv[2], NULL, 10) : 16384) << 20;
        large_only = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
        RUN(the_core_holds_at_the_largest_sizes);
    } else if (argc > 1 && strcmp(argv[1], "guards") == 0) {
        RUN(mutants_are_caught);
        RUN(mutants_that_get_stuck_are_caught);
    } else if (argc > 1 && strcmp(argv[1], "repeats") == 0) {
        RUN(the_core_holds_where_words_repeat);
        RUN(the_core_holds_with_store_buffers);
        RUN(mutants_are_caught_where_words_repeat);
        RUN(words_that_repeat_do_harm);
    } else if (argc > 1 && strcmp(argv[1], "slow-repeats") == 0) {
        RUN(the_core_holds_where_words_repeat_at_larger_sizes);
        RUN(mutants_are_caught_where_words_repeat_at_larger_sizes);
        RUN(some_mutants_break_no_rule_at_some_sizes);
    } else {
        RUN(a_stuck_process_is_found);
        RUN(the_core_holds_at_small_sizes);
    }
    return 0;
}
