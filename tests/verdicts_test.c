/*
 * The property tables in the headers of src/papers, row by row: every machine at all sizes n <= 4,
 * k <= 3 (with the argument "5", also n = 5), and the equivalences and counts the papers give.
 */
#include "check/equal.h"
#include "check/property.h"
#include "check/space.h"
#include "papers/colored_printed.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

static unsigned most_n = 4;

enum { MOST_K = 3 };

/* When is a property violated? */
static bool never(unsigned n, unsigned k)
{
    (void)n;
    (void)k;
    return false;
}

static bool if_k_below_n(unsigned n, unsigned k)
{
    return k < n;
}

/* One process at the head of the line stops, and there is a second one and a second seat. */
static bool if_two_and_two(unsigned n, unsigned k)
{
    return n >= 2 && k >= 2;
}

static bool if_two(unsigned n, unsigned k)
{
    (void)k;
    return n >= 2;
}

/* A row of a table: a machine, a property, and when it is violated. */
struct row {
    const struct step_machine *machine;
    enum step_property property;
    bool (*violated)(unsigned n, unsigned k);
};

#define QUEUELIKE(machine)                                                                         \
    {&(machine), STEP_EXCLUSION, never}, {&(machine), STEP_C1, never},                             \
        {&(machine), STEP_DEADLOCK, never}, {&(machine), STEP_FIFO, never},                        \
        {&(machine), STEP_C2, never}, {&(machine), STEP_C4, never}, {&(machine), STEP_C5, never},  \
        {&(machine), STEP_PROGRESS, never}, {&(machine), STEP_LOCKOUT, never},                     \
        {&(machine), STEP_STARVATION, never},                                                      \
    {                                                                                              \
        &(machine), STEP_OVERTAKINGS, never                                                        \
    }

static const struct row rows[] = {
    {&papers_semaphore, STEP_EXCLUSION, never},
    {&papers_semaphore, STEP_DEADLOCK, never},
    {&papers_semaphore, STEP_FIFO, if_k_below_n},
    {&papers_semaphore, STEP_LOCKOUT, if_k_below_n},
    {&papers_semaphore, STEP_OVERTAKINGS, if_k_below_n},
    {&papers_bank, STEP_EXCLUSION, never},
    {&papers_bank, STEP_DEADLOCK, if_two_and_two},
    {&papers_bank, STEP_FIFO, never},
    {&papers_bank, STEP_OVERTAKINGS, never},
    {&papers_bank, STEP_LOCKOUT, if_two_and_two},
    {&papers_bank, STEP_STARVATION, never},
    {&papers_bank, STEP_C6, if_two},
    QUEUELIKE(papers_queue),
    QUEUELIKE(papers_queue_two_step),
    QUEUELIKE(papers_numbered),
    QUEUELIKE(papers_colored_unbounded),
    QUEUELIKE(papers_colored),
    QUEUELIKE(papers_colored_tight),
    QUEUELIKE(papers_colored_1979),
    QUEUELIKE(papers_printed_corrected),
    {&papers_colored_printed, STEP_EXCLUSION, if_k_below_n},
};

/* Explore a machine at a size; false if it does not take that size. */
static bool explore(const struct step_machine *machine, unsigned n, unsigned k, unsigned robustness,
                    struct step_system *system, struct check_graph *graph)
{
    char why[STEP_WHY_BYTES];
    struct check_options options = {0};
    if (step_system_init(system, machine, n, k, robustness, why) != 0) {
        return false;
    }
    EXPECT_EQ(check_explore(graph, system, &options), 0);
    EXPECT(graph->complete);
    EXPECT(graph->broken == NULL);
    return true;
}

/* Nothing that decides may depend on the rows: C6 is promised below n only, all else always. */
static void check_rows_at(const struct step_machine *machine, unsigned n, unsigned k)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    if (!explore(machine, n, k, 0, &system, &graph)) {
        EXPECT(k >= n && (machine == &papers_colored_1979 || machine == &papers_colored_tight));
        return;
    }
    EXPECT_EQ(check_decide(&graph, &report), 0);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        enum step_property p = rows[r].property;
        if (rows[r].machine != machine) {
            continue;
        }
        enum check_verdict expected = rows[r].violated(n, k) ? CHECK_VIOLATED : CHECK_HOLDS;
        if (report.results[p].verdict != expected) {
            (void)fprintf(stderr, "%s n=%u k=%u %s: found %d, not %d\n", machine->name, n, k,
                          step_property_name(p), report.results[p].verdict, expected);
            exit(1);
        }
        if (p == STEP_EXCLUSION || p == STEP_LOCKOUT) { /* not vacuously so */
            EXPECT(k >= n || report.results[p].tested > 0);
        }
        if (p ==
            STEP_FIFO) { /* one waits, k are in C or enabled, and there must be one more in R */
            EXPECT(k + 2 > n || report.results[p].tested > 0);
        }
    }
    if (system.claims & STEP_CLAIM(STEP_C6)) {
        EXPECT(k < n);
        EXPECT(machine == &papers_colored_printed ||
               report.results[STEP_C6].verdict == CHECK_HOLDS);
    }
    if (system.claims & STEP_CLAIM(STEP_OVERTAKINGS) && machine != &papers_colored_printed) {
        EXPECT_EQ(report.results[STEP_OVERTAKINGS].bound, 0);
        EXPECT_EQ(report.results[STEP_C4].bound, 0);
        EXPECT_EQ(report.results[STEP_C2].robust, CHECK_UNBOUNDED);
    }
    double bound = machine->bound == NULL ? 0 : machine->bound(&system);
    EXPECT(bound == 0 || graph.seen.shared.count <= bound);
    EXPECT(machine != &papers_semaphore || graph.seen.shared.count == (n < k ? n : k) + 1);
    EXPECT(machine != &papers_queue || graph.seen.shared.count == bound);
    check_report_free(&report);
    check_graph_free(&graph);
}

static void every_row_of_every_table_is_so(void)
{
    for (const struct step_machine *const *m = papers_all; *m != NULL; m++) {
        for (unsigned n = 1; n <= most_n; n++) {
            for (unsigned k = 1; k <= MOST_K; k++) {
                /* behind its first violation the printed version grows into millions of states */
                if (*m != &papers_colored_printed || n <= 4) {
                    check_rows_at(*m, n, k);
                }
            }
        }
    }
    for (unsigned n = 2; n <= 4; n++) {
        check_rows_at(&papers_printed_corrected, n, 2);
    }
}

static void expect_counts(const struct step_machine *machine, unsigned n, unsigned k,
                          uint32_t states, uint32_t values)
{
    struct step_system system;
    struct check_graph graph;
    EXPECT(explore(machine, n, k, 0, &system, &graph));
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
    EXPECT(explore(machine, n, k, 0, &system, &graph));
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
}

/* C2 of the bank: no failure is needed to be free of deadlock, one suffices to bring it about. */
static void check_bank_at(unsigned n, unsigned k, unsigned robustness)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    EXPECT(explore(&papers_bank, n, k, robustness, &system, &graph));
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
    if (!explore(a, n, k, 0, &system_a, &graph_a)) {
        return true;
    }
    if (explore(b, n, k, 0, &system_b, &graph_b)) {
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
            /* not to each other: blocks of different sizes have tens of millions of pairs */
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

int main(int argc, char **argv)
{
    most_n = argc > 1 ? (unsigned)atoi(argv[1]) : most_n;
    RUN(every_row_of_every_table_is_so);
    RUN(the_colored_ticket_has_the_known_counts);
    RUN(the_known_violations_have_the_known_shortest_traces);
    RUN(the_bank_survives_no_failure_but_needs_one_to_hang);
    RUN(the_four_algorithms_of_1989_are_pairwise_equivalent);
    RUN(different_algorithms_are_told_apart);
    RUN(the_schedules_of_the_lower_bound_lead_to_different_values);
    return 0;
}
