/*
 * Compare the checker with the oracle (oracle.h) on thousands of small random systems, and on the
 * published algorithms at small sizes: every verdict, bound and trace.
 *
 *     oracle_test [SEED [SYSTEMS]]   random systems
 *     oracle_test papers             published algorithms and their mutants
 */
#include "check/decide/oracle.h"

#include "papers/papers.h"
#include "test.h"

#include <string.h>

enum { MOST_BYTES = 1 << 20 }; /* enough for the largest system of the oracle */

static uint64_t first_seed = 1979;
static unsigned systems = 2000;

/* Number of times each verdict was found and not vacuous. */
static unsigned seen_holds[STEP_PROPERTIES];
static unsigned seen_violated[STEP_PROPERTIES];
static unsigned seen_bounds[STEP_PROPERTIES];   /* bounds other than 0 and none */
static unsigned supervised[STEP_PROPERTIES][2]; /* for systems with a supervisor: violated, holds */
static unsigned seen_entries;                   /* numbers of entries other than 0 and none */
static unsigned asked;                          /* systems that were small enough */
static enum check_verdict verdicts[STEP_PROPERTIES]; /* of the last system */

/* What is wrong with one answer of the checker, or NULL. */
static const char *compare(const struct oracle *oracle, enum step_property property,
                           const struct check_result *result)
{
    bool enters = property == STEP_OVERTAKINGS || property == STEP_PROMPT;
    bool bounded = property == STEP_C4 || enters;
    bool of_doorway = property == STEP_FIRST_IN || property == STEP_FIRST_ENABLED;
    if ((property == STEP_INVARIANT && !oracle->states_invariant) ||
        (of_doorway && !oracle->tells_rooms)) {
        return result->verdict == CHECK_NOT_CHECKED ? NULL
                                                    : "decided, but the machine states nothing";
    }
    if (result->verdict == CHECK_NOT_CHECKED) {
        return "not checked";
    }
    if ((result->verdict == CHECK_HOLDS) != oracle->holds[property]) {
        return oracle->holds[property] ? "reported as violated, but it holds"
                                       : "reported as holding, but it does not";
    }
    if (bounded != result->has_bound || (bounded && result->bound != oracle->bounds[property])) {
        return "the bound is wrong";
    }
    if (enters && result->entries != oracle->entries[property]) {
        return "the number of entries is wrong";
    }
    if (property == STEP_C2 && result->robust != oracle->robust) {
        return "the robustness is wrong";
    }
    supervised[property][result->verdict == CHECK_HOLDS] +=
        oracle->supervisor != 0 && (result->tested > 0 || result->verdict == CHECK_VIOLATED);
    if (result->verdict == CHECK_VIOLATED) {
        seen_violated[property]++;
        return oracle_trace_fault(oracle, property, result);
    }
    seen_holds[property] += result->tested > 0;
    seen_bounds[property] += bounded && result->bound > 0;
    seen_entries += enters && result->entries > 0;
    return NULL;
}

/* Print one schedule of a result, with process numbers from 1. */
static void print_schedule(const char *what, const struct check_schedule *schedule)
{
    (void)fprintf(stderr, "  %s", what);
    for (size_t i = 0; i < schedule->length; i++) {
        (void)fprintf(stderr, " %u", schedule->steps[i] + 1U);
    }
    (void)fprintf(stderr, "\n");
}

/* Compare both on a system, if it is small enough. Return the number of answers that differ. */
static unsigned ask(const struct step_system *system)
{
    static struct oracle oracle;
    struct check_options options = {.memory = MOST_BYTES, .threads = 1};
    struct check_graph graph;
    struct check_report report;
    unsigned wrong = 0;
    if (system->n > ORACLE_PROCESSES) {
        return 0;
    }
    EXPECT_EQ(check_explore(&graph, system, &options), 0);
    EXPECT(graph.broken == NULL);
    bool small = graph.complete && oracle_decide(&oracle, &graph);
    if (!small) {
        check_graph_free(&graph);
        return 0;
    }
    EXPECT_EQ(check_decide(&graph, &report), 0);
    asked++;
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        const struct check_result *result = &report.results[p];
        verdicts[p] = result->verdict;
        const char *fault = compare(&oracle, (enum step_property)p, result);
        if (fault != NULL) {
            (void)fprintf(stderr, "%s n=%u k=%u, %u states: %s: %s (bound %lld, oracle %lld)\n",
                          system->machine->name, system->n, system->k, oracle.states,
                          step_property_name((enum step_property)p), fault,
                          (long long)result->bound, (long long)oracle.bounds[p]);
            print_schedule("trace", &result->trace);
            print_schedule("loop", &result->loop);
            wrong++;
        }
    }
    check_report_free(&report);
    check_graph_free(&graph);
    return wrong;
}

static void the_checker_and_the_oracle_agree_about_random_systems(void)
{
    unsigned wrong = 0;
    for (unsigned number = 0; number < systems && wrong < 20; number++) {
        struct step_system system;
        EXPECT_EQ(oracle_system_make(&system, first_seed, number), 0);
        unsigned here = ask(&system);
        if (here > 0) {
            (void)fprintf(stderr, "system %u of seed %llu: ", number,
                          (unsigned long long)first_seed);
            oracle_system_print();
        }
        wrong += here;
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(asked, systems);
}

static void both_verdicts_of_each_property_occurred(void)
{
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        (void)printf("  %-13s holds %u, violated %u, bounds above 0 %u; supervised %u, %u\n",
                     step_property_name((enum step_property)p), seen_holds[p], seen_violated[p],
                     seen_bounds[p], supervised[p][1], supervised[p][0]);
    }
    for (unsigned p = 0; p < STEP_PROPERTIES && systems >= 2000; p++) {
        EXPECT(seen_holds[p] >= 50);
        EXPECT(seen_violated[p] >= 50);
    }
    for (unsigned p = STEP_PROGRESS; p <= STEP_STARVATION && systems >= 2000; p++) {
        EXPECT(supervised[p][0] >= 10 && supervised[p][1] >= 10);
    }
    EXPECT(systems < 2000 || (supervised[STEP_DEADLOCK][1] >= 10 && supervised[STEP_C2][1] >= 10));
    EXPECT(systems < 2000 || seen_bounds[STEP_C4] >= 20);
    EXPECT(systems < 2000 || seen_bounds[STEP_OVERTAKINGS] >= 20);
    EXPECT(systems < 2000 || seen_bounds[STEP_PROMPT] >= 20);
    EXPECT(systems < 2000 || seen_entries >= 100);
}

static void they_agree_about_the_published_algorithms_and_their_mutants(void)
{
    const struct step_machine *const *const lists[] = {papers_all, papers_mutants};
    unsigned wrong = 0;
    asked = 0;
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned m = 0; lists[list][m] != NULL; m++) {
            const struct step_machine *machine = lists[list][m];
            bool large = machine == &papers_fife_bounded || machine == &papers_fife_atomic;
            for (unsigned size = 0; size < (large ? 2 : 4); size++) { /* millions at n = 3 */
                struct step_system system;
                char why[STEP_WHY_BYTES];
                if (step_system_init(&system, machine, 2 + size / 2, 1 + size % 2, 0, why) == 0) {
                    wrong += ask(&system);
                }
            }
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT(asked >= 40);
}

static void they_agree_about_one_worker_and_a_supervisor(void)
{
    static const char *const names[] = {"bucket", "bucket-printed", "mutant-bucket-uncounted"};
    asked = 0;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct step_system system;
        char why[STEP_WHY_BYTES];
        EXPECT_EQ(step_system_init(&system, papers_find(names[i]), 1, 1, 0, why), 0);
        EXPECT_EQ(ask(&system), 0);
        EXPECT_EQ(verdicts[STEP_C2], i == 0 ? CHECK_HOLDS : CHECK_VIOLATED);
    }
    EXPECT_EQ(asked, 3);
}

static void leaving_for_ever_is_not_a_lack_of_progress(void)
{
    static const char *const next[] = {"CTEE"};
    struct step_system system;
    EXPECT_EQ(oracle_system_walk(&system, 1, 1, next), 0);
    EXPECT_EQ(ask(&system), 0);
    EXPECT_EQ(verdicts[STEP_PROGRESS], CHECK_HOLDS);
}

static void passing_a_stuck_process_without_waiting_is_unbounded_overtaking(void)
{
    static const char *const next[] = {"TTRR", "CCRR"};
    struct step_system system;
    EXPECT_EQ(oracle_system_walk(&system, 2, 1, next), 0);
    EXPECT_EQ(ask(&system), 0);
    EXPECT_EQ(verdicts[STEP_OVERTAKINGS], CHECK_VIOLATED);
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "papers") == 0) {
        RUN(they_agree_about_the_published_algorithms_and_their_mutants);
        RUN(they_agree_about_one_worker_and_a_supervisor);
        return 0;
    }
    first_seed = count > 1 ? strtoull(arguments[1], NULL, 10) : first_seed;
    systems = count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : systems;
    (void)printf("seed %llu\n", (unsigned long long)first_seed);
    RUN(the_checker_and_the_oracle_agree_about_random_systems);
    RUN(both_verdicts_of_each_property_occurred);
    RUN(leaving_for_ever_is_not_a_lack_of_progress);
    RUN(passing_a_stuck_process_without_waiting_is_unbounded_overtaking);
    return 0;
}
