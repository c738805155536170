/*
 * Known facts about the algorithms beside their property tables: counts of states, shortest traces,
 * equivalences, lower bounds, and steps to enter. With the argument "5", also at n = 5.
 */
#include "check/bounds/space.h"
#include "check/decide/property.h"
#include "check/explore/equal.h"
#include "explore.h"
#include "papers/colored_printed.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

static unsigned most_n = 4;

enum { MOST_K = 3 };

static void expect_counts(const struct step_machine *machine, unsigned n, unsigned k,
                          uint32_t states, uint32_t values)
{
    struct step_system system;
    struct check_graph graph;
    EXPECT(explore_at(machine, n, k, 0, &system, &graph));
    EXPECT_EQ(check_states(&graph), states);
    EXPECT_EQ(graph.seen.shared.count, values);
    check_graph_free(&graph);
}

static void the_colored_ticket_has_the_known_counts(void)
{
    expect_counts(&papers_colored, 3, 1, 186, 24);
    expect_counts(&papers_colored, 4, 2, 16311, 123);
    expect_counts(&papers_printed_corrected, 4, 2, 16311, 123);
    if (most_n >= 5) {
        expect_counts(&papers_colored, 5, 3, 3307636, 760);
    }
}

/* Is the trace of a violation exactly this schedule (and this loop)? */
static void expect_trace(const struct step_machine *machine, unsigned n, unsigned k,
                         enum step_property property, const char *trace, const char *loop)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    EXPECT(explore_at(machine, n, k, 0, &system, &graph));
    EXPECT_EQ(check_decide(&graph, &report), 0);
    const struct check_result *result = &report.results[property];
    EXPECT_EQ(result->verdict, CHECK_VIOLATED);
    EXPECT_EQ(result->trace.length, strlen(trace));
    EXPECT_EQ(result->loop.length, strlen(loop));
    for (size_t i = 0; i < result->trace.length; i++) {
        EXPECT_EQ(result->trace.steps[i], trace[i] - '1');
    }
    for (size_t i = 0; i < result->loop.length; i++) {
        EXPECT_EQ(result->loop.steps[i], loop[i] - '1');
    }
    check_report_free(&report);
    check_graph_free(&graph);
}

static void the_known_violations_have_the_known_shortest_traces(void)
{
    expect_trace(&papers_colored_printed, 2, 1, STEP_EXCLUSION, "12", "");
    expect_trace(&papers_mutant_printed_quant, 2, 1, STEP_EXCLUSION, "12", "");
    expect_trace(&papers_mutant_printed_leads, 2, 1, STEP_EXCLUSION, "12", "");
    expect_trace(&papers_semaphore, 2, 1, STEP_FIFO, "1211", "");
    expect_trace(&papers_bank, 3, 2, STEP_DEADLOCK, "12", "2");
    expect_trace(&papers_bank, 2, 2, STEP_LOCKOUT, "12", "2");
    expect_trace(&papers_naive, 3, 2, STEP_LOCKOUT, "112", "111");
    expect_trace(papers_find("gtex-printed"), 3, 1, STEP_EXCLUSION, "111112222332", "");
    expect_trace(papers_find("fife-printed"), 2, 1, STEP_EXCLUSION, "22211111", "");
    expect_trace(papers_find("fife-printed"), 2, 1, STEP_FIRST_IN, "1112221111111", "");
    expect_trace(papers_find("fife-printed"), 2, 1, STEP_FIRST_ENABLED, "11122211111", "");
}

/* C2 of the bank: it is deadlock-free without failures; one failure deadlocks it. */
static void check_bank_at(unsigned n, unsigned k, unsigned robustness)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    EXPECT(explore_at(&papers_bank, n, k, robustness, &system, &graph));
    EXPECT_EQ(check_decide(&graph, &report), 0);
    EXPECT_EQ(report.results[STEP_C2].verdict, robustness == 1 ? CHECK_HOLDS : CHECK_VIOLATED);
    EXPECT_EQ(report.results[STEP_C2].robust, 1);
    EXPECT_EQ(system.claims >> STEP_C2 & 1, robustness == 1);
    check_report_free(&report);
    check_graph_free(&graph);
}

static void the_bank_survives_no_failure_but_needs_one_to_hang(void)
{
    for (unsigned n = 2; n <= 4; n++) {
        for (unsigned k = 1; k <= MOST_K; k++) {
            check_bank_at(n, k, 1);
            check_bank_at(n, k, 2);
        }
    }
}

static bool equal_at(const struct step_machine *a, const struct step_machine *b, unsigned n,
                     unsigned k)
{
    struct step_system system_a;
    struct step_system system_b;
    struct check_graph graph_a;
    struct check_graph graph_b;
    struct check_equality equality;
    if (!explore_at(a, n, k, 0, &system_a, &graph_a)) {
        return true;
    }
    if (explore_at(b, n, k, 0, &system_b, &graph_b)) {
        EXPECT_EQ(check_equal(&graph_a, &graph_b, &equality), 0);
        EXPECT(equality.equivalent == (equality.trace.length == 0));
        check_schedule_free(&equality.trace);
        check_graph_free(&graph_b);
    } else {
        equality.equivalent = true;
    }
    check_graph_free(&graph_a);
    return equality.equivalent;
}

static void the_four_algorithms_of_1989_are_pairwise_equivalent(void)
{
    static const struct step_machine *const four[] = {&papers_queue, &papers_numbered,
                                                      &papers_colored_unbounded, &papers_colored};
    for (unsigned n = 1; n <= most_n; n++) {
        for (unsigned k = 1; k <= MOST_K; k++) {
            for (unsigned a = 0; a < 4; a++) {
                for (unsigned b = a + 1; b < 4; b++) {
                    EXPECT(equal_at(four[a], four[b], n, k));
                }
            }
            /* not with each other: blocks of different sizes have tens of millions of pairs */
            EXPECT(equal_at(&papers_queue, &papers_colored_tight, n, k));
            EXPECT(equal_at(&papers_queue_two_step, &papers_colored_1979, n, k));
        }
    }
}

static void different_algorithms_are_told_apart(void)
{
    EXPECT(!equal_at(&papers_queue, &papers_semaphore, 2, 1));
    EXPECT(!equal_at(&papers_queue, &papers_bank, 2, 1));
    EXPECT(!equal_at(&papers_queue, &papers_colored_1979, 2, 1));
    EXPECT(!equal_at(&papers_colored, &papers_colored_printed, 2, 1));
}

static void the_schedules_of_the_lower_bound_lead_to_different_values(void)
{
    static const struct step_machine *const solving[] = {&papers_queue, &papers_numbered,
                                                         &papers_colored_unbounded, &papers_colored,
                                                         &papers_colored_1979};
    for (unsigned m = 0; m < 5; m++) {
        for (unsigned n = 3; n <= 12; n++) {
            for (unsigned k = 1; k <= 4 && k + 2 <= n; k++) {
                struct step_system system;
                struct check_schedules schedules;
                char why[STEP_WHY_BYTES];
                EXPECT_EQ(step_system_init(&system, solving[m], n, k, 0, why), 0);
                EXPECT_EQ(check_schedules_run(&system, &schedules), 0);
                EXPECT(schedules.executable);
                EXPECT_EQ(schedules.tried, (n - k) * (n - k - 1) / 2);
                EXPECT_EQ(schedules.distinct, schedules.tried);
            }
        }
    }
    EXPECT_EQ(check_lower_bound(5, 2), 4);
    EXPECT_EQ(check_lower_bound(6, 1), 10);
    EXPECT_EQ(check_lower_bound(3, 2), 0);
}

static void the_register_algorithms_have_the_known_counts(void)
{
    expect_counts(&papers_naive, 3, 1, 3625, 129);
    expect_counts(&papers_naive, 4, 3, 15320, 64);
    expect_counts(&papers_excl, 3, 1, 6500, 213);
    expect_counts(&papers_excl, 4, 3, 50356, 64);
    expect_counts(&papers_gtex, 3, 1, 6500, 213);
    expect_counts(&papers_gtex, 4, 1, 17776, 672);
}

/* Turn registers with arbitrary initial values: `first_turns` is a number of n digits to base n. */
static unsigned first_turns;
static const struct step_machine *original;

static void init_with_turns(const struct step_system *system, uint64_t *words)
{
    unsigned rest = first_turns;
    original->init(system, words);
    for (unsigned w = system->n; w < system->shared_words; w++) {
        words[w] = rest % system->n;
        rest /= system->n;
    }
}

static void the_initial_turn_changes_nothing(void)
{
    static const struct {
        const struct step_machine *machine;
        unsigned n, k, vectors; /* n to the power of n-k */
    } cases[] = {{&papers_naive, 2, 1, 2}, {&papers_naive, 3, 1, 9}, {&papers_naive, 3, 2, 3},
                 {&papers_excl, 2, 1, 2},  {&papers_excl, 3, 1, 9},  {&papers_excl, 3, 2, 3},
                 {&papers_gtex, 3, 1, 9},  {&papers_gtex, 4, 1, 64}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        original = cases[c].machine;
        struct step_machine other = *original;
        other.init = init_with_turns;
        for (first_turns = 0; first_turns < cases[c].vectors; first_turns++) {
            EXPECT(equal_at(original, &other, cases[c].n, cases[c].k));
        }
    }
}

/* The own steps that each of the first `come` processes needs to enter, if no other process takes
   part: the same in all schedules, or the test fails. */
static void expect_steps_to_enter(const struct step_machine *machine, unsigned n, unsigned k,
                                  unsigned come, unsigned expected)
{
    struct step_system system;
    struct check_graph graph;
    EXPECT(explore_at(machine, n, k, 0, &system, &graph));
    uint32_t count = 1;
    uint32_t *queue = calloc(check_states(&graph), sizeof *queue);
    uint8_t *steps = calloc(check_states(&graph), n); /* of each process since it left R */
    bool *seen = calloc(check_states(&graph), sizeof *seen);
    EXPECT(queue != NULL && steps != NULL && seen != NULL);
    seen[0] = true;
    for (uint32_t at = 0; at < count; at++) {
        for (unsigned i = 0; i < come; i++) {
            uint32_t to = check_edge(&graph, queue[at], i);
            uint8_t now[CHECK_MAX_PROCESSES];
            memcpy(now, steps + (size_t)queue[at] * n, n);
            now[i]++;
            EXPECT(check_region(&graph, to, i) != STEP_CRITICAL || now[i] == expected);
            now[i] = check_region(&graph, to, i) == STEP_TRYING ? now[i] : 0;
            if (!seen[to]) {
                seen[to] = true;
                memcpy(steps + (size_t)to * n, now, n);
                queue[count++] = to;
            }
            EXPECT(memcmp(steps + (size_t)to * n, now, n) == 0);
        }
    }
    EXPECT(count > expected);
    free(queue);
    free(steps);
    free(seen);
    check_graph_free(&graph);
}

static void as_few_as_there_are_seats_do_not_wait(void)
{
    for (unsigned n = 2; n <= 4; n++) {
        for (unsigned k = 1; k < n; k++) {
            if (n < 4 || k == 3 || most_n >= 5) { /* the other sizes have many states */
                expect_steps_to_enter(&papers_naive, n, k, 1, (n - k) * (n + 2));
                expect_steps_to_enter(&papers_excl, n, k, k, (n - k) * (n + 2));
                EXPECT(n >= 2 * k + 2 || equal_at(&papers_excl, &papers_gtex, n, k));
            }
        }
    }
    expect_steps_to_enter(&papers_gtex, 4, 1, 1, (2 + 2) + (4 + 2));
    if (most_n >= 5) { /* process 1 is in a group of three at a leaf, and of five at the root */
        expect_steps_to_enter(&papers_gtex, 5, 1, 1, 2 * (3 + 2) + (5 + 2));
    }
}

/* A machine in which only some processes take part: the others stay in R, and are not explored. */
static struct step_system whole;
static const char *who_comes; /* their numbers, a digit each */

static int prepare_some(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words = whole.shared_words;
    system->private_bytes = whole.private_bytes;
    system->claims = whole.claims;
    return 0;
}

static void init_some(const struct step_system *system, uint64_t *words)
{
    (void)system;
    whole.machine->init(&whole, words);
}

static void step_some(const struct step_system *system, struct step_memory *memory, void *state,
                      unsigned process)
{
    (void)system;
    whole.machine->step(&whole, memory, state, (unsigned)(who_comes[process] - '1'));
}

static void expect_claims_if_some_come(const struct step_machine *machine, unsigned n, unsigned k,
                                       const char *some, uint32_t states)
{
    struct step_machine part = *machine;
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    char why[STEP_WHY_BYTES];
    part.prepare = prepare_some;
    part.init = init_some;
    part.step = step_some;
    who_comes = some;
    EXPECT_EQ(step_system_init(&whole, machine, n, k, 0, why), 0);
    EXPECT(explore_at(&part, (unsigned)strlen(some), k, 0, &system, &graph));
    EXPECT_EQ(check_states(&graph), states);
    EXPECT_EQ(check_decide(&graph, &report), 0);
    EXPECT(check_claims_hold(&system, &report));
    EXPECT(report.results[STEP_EXCLUSION].tested > 0 && report.results[STEP_LOCKOUT].tested > 0);
    check_report_free(&report);
    check_graph_free(&graph);
}

/* Trees that are too large to explore with all processes. */
static void a_tournament_keeps_its_promises_if_only_some_come(void)
{
    expect_claims_if_some_come(&papers_gtex, 6, 2, "123", 89835); /* two leaves of three */
    expect_claims_if_some_come(&papers_gtex, 8, 1, "135", 19088); /* four leaves of two */
    expect_claims_if_some_come(&papers_gtex, 8, 1, "1235", 174726);
    if (most_n >= 5) {
        expect_claims_if_some_come(&papers_gtex, 6, 2, "124", 427178);
        expect_claims_if_some_come(&papers_gtex, 6, 2, "1234", 7138753);
        expect_claims_if_some_come(&papers_gtex, 7, 1, "123", 345582); /* leaves of 4 and 3 */
        expect_claims_if_some_come(&papers_gtex, 7, 1, "125", 166662);
    }
}

int main(int argc, char **argv)
{
    most_n = argc > 1 ? (unsigned)atoi(argv[1]) : most_n;
    RUN(the_colored_ticket_has_the_known_counts);
    RUN(the_known_violations_have_the_known_shortest_traces);
    RUN(the_bank_survives_no_failure_but_needs_one_to_hang);
    RUN(the_four_algorithms_of_1989_are_pairwise_equivalent);
    RUN(different_algorithms_are_told_apart);
    RUN(the_schedules_of_the_lower_bound_lead_to_different_values);
    RUN(the_register_algorithms_have_the_known_counts);
    RUN(the_initial_turn_changes_nothing);
    RUN(as_few_as_there_are_seats_do_not_wait);
    RUN(a_tournament_keeps_its_promises_if_only_some_come);
    return 0;
}
