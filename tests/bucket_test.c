/*
 * The bucket algorithm (1979, Lemma 4.4): the property table of its header for each robustness r,
 * and the violations of the printed version.
 *
 *     bucket_test [slow]
 */
#include "check/decide/property.h"
#include "papers/bucket.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

static bool slow;

static void explore(const struct step_machine *machine, unsigned n, unsigned k, unsigned r,
                    struct step_system *system, struct check_graph *graph,
                    struct check_report *report)
{
    char why[STEP_WHY_BYTES];
    struct check_options options = {0};
    EXPECT_EQ(step_system_init(system, machine, n, k, r, why), 0);
    EXPECT_EQ(check_explore(graph, system, &options), 0);
    EXPECT(graph->complete && graph->broken == NULL);
    EXPECT_EQ(check_decide(graph, report), 0);
}

static const struct row {
    unsigned n, k, r;
    uint32_t states, values;
} rows[] = {
    {2, 1, 1, 5116, 373},     {2, 1, 2, 5116, 373},     {2, 1, 3, 5873, 332},
    {3, 1, 1, 25650, 650},    {3, 1, 2, 25650, 650},    {3, 1, 3, 32715, 525},
    {4, 1, 1, 118594, 946},   {4, 1, 2, 118594, 946},   {4, 1, 3, 173050, 802},
    {2, 2, 1, 40501, 2423},   {2, 2, 2, 40501, 2423},   {2, 2, 3, 41391, 2263},
    {3, 2, 1, 293214, 5282},  {3, 2, 2, 293214, 5282},  {3, 2, 3, 367557, 5096},
    {5, 1, 1, 515902, 1242},  {5, 1, 2, 515902, 1242},  {5, 1, 3, 875782, 1098},
    {4, 2, 1, 1781958, 8791}, {4, 2, 2, 1781958, 8791}, {4, 2, 3, 2654002, 8186},
};

static void the_promises_are_kept_for_each_robustness(void)
{
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        struct step_system system;
        struct check_graph graph;
        struct check_report report;
        if (!slow && row->n + row->k > 5) {
            continue;
        }
        explore(&papers_bucket, row->n, row->k, row->r, &system, &graph, &report);
        (void)printf("  n=%u k=%u r=%u: %u states, %u values, C2 up to %lld, C4' %lld, over %lld\n",
                     row->n, row->k, row->r, check_states(&graph), graph.seen.shared.count,
                     (long long)report.results[STEP_C2].robust,
                     (long long)report.results[STEP_C4].bound,
                     (long long)report.results[STEP_OVERTAKINGS].bound);
        EXPECT_EQ(check_states(&graph), row->states);
        EXPECT_EQ(graph.seen.shared.count, row->values);
        EXPECT(check_claims_hold(&system, &report));
        /* with r = 1 a bucket holds one process, as with r = 2, so one failure is tolerated */
        int64_t survived = row->r > 2 ? row->r : 2;
        EXPECT_EQ(report.results[STEP_C2].robust, row->n < survived ? CHECK_UNBOUNDED : survived);
        EXPECT_EQ(report.results[STEP_C4].bound, 1);
        EXPECT(report.results[STEP_C4].tested > 0);
        EXPECT_EQ(report.results[STEP_OVERTAKINGS].bound, row->k < row->n ? row->n - 1 : 0);
        EXPECT_EQ(report.results[STEP_LOCKOUT].verdict, CHECK_HOLDS);
        check_report_free(&report);
        check_graph_free(&graph);
    }
}

static void expect_schedule(const struct check_schedule *schedule, const char *text)
{
    EXPECT_EQ(schedule->length, strlen(text));
    for (size_t i = 0; i < schedule->length; i++) {
        EXPECT_EQ(schedule->steps[i], text[i] == 'S' ? 2 : text[i] - '1');
    }
}

/* The supervisor asks the only process in main to move, and that process has failed. */
static void one_failure_deadlocks_it_as_printed(void)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    explore(papers_find("bucket-printed"), 2, 1, 2, &system, &graph, &report);
    const struct check_result *result = &report.results[STEP_C2];
    EXPECT_EQ(result->verdict, CHECK_VIOLATED);
    EXPECT_EQ(result->robust, 1);
    EXPECT_EQ(result->stopped, 1);
    expect_schedule(&result->trace, "1SSSS");
    expect_schedule(&result->loop, "S");
    check_report_free(&report);
    check_graph_free(&graph);
}

/* With r = 1 no failure is needed: the supervisor asks a process of an empty main to move. */
static void no_failure_is_needed_as_printed_with_r_of_one(void)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    explore(papers_find("bucket-printed"), 2, 1, 1, &system, &graph, &report);
    const struct check_result *result = &report.results[STEP_C2];
    EXPECT_EQ(result->verdict, CHECK_VIOLATED);
    EXPECT_EQ(result->robust, 0);
    EXPECT_EQ(result->stopped, 0);
    expect_schedule(&result->trace, "SS1S");
    check_report_free(&report);
    check_graph_free(&graph);
}

/* Two processes are in main and one is asked to move. The second arrival moves, and enters
   first. */
static void it_is_not_fifo(void)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    explore(&papers_bucket, 2, 1, 1, &system, &graph, &report);
    expect_schedule(&report.results[STEP_FIFO].trace, "12SSSSS2");
    expect_schedule(&report.results[STEP_C5].trace, "12SSSSS2SSS2");
    check_report_free(&report);
    check_graph_free(&graph);
}

int main(int count, char **arguments)
{
    slow = count > 1 && strcmp(arguments[1], "slow") == 0;
    RUN(the_promises_are_kept_for_each_robustness);
    RUN(one_failure_deadlocks_it_as_printed);
    RUN(no_failure_is_needed_as_printed_with_r_of_one);
    RUN(it_is_not_fifo);
    return 0;
}
