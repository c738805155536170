/*
 * The property tables in the headers of src/papers, row by row: every machine at all sizes n <= 4,
 * k <= 3 (with the argument "5", also n = 5).
 */
#include "check/decide/property.h"
#include "explore.h"
#include "papers/colored_printed.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

static unsigned most_n = 4;

enum { MOST_K = 3 };

/* Predicates: the sizes at which a property is violated. */
static bool never(unsigned n, unsigned k)
{
    (void)n;
    (void)k;
    return false;
}

static bool always(unsigned n, unsigned k)
{
    (void)n;
    (void)k;
    return true;
}

static bool if_k_below_n(unsigned n, unsigned k)
{
    return k < n;
}

/* The head of the line stops, and there are a second process and a second seat. */
static bool if_two_and_two(unsigned n, unsigned k)
{
    return n >= 2 && k >= 2;
}

static bool if_two(unsigned n, unsigned k)
{
    (void)k;
    return n >= 2;
}

static bool if_three(unsigned n, unsigned k)
{
    (void)k;
    return n >= 3;
}

static bool if_n_above_k_above_one(unsigned n, unsigned k)
{
    return n > k && k > 1;
}

/* GTEX: two leaves or more. */
static bool if_tree(unsigned n, unsigned k)
{
    return n >= 2 * k + 2;
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
        {&(machine), STEP_STARVATION, never}, {&(machine), STEP_OVERTAKINGS, never},               \
    {                                                                                              \
        &(machine), STEP_PROMPT, never                                                             \
    }

/* The algorithms on registers of 2002; NAIVE tolerates no stopped process. */
#define REGISTERS(machine, one_stopped_violates)                                                   \
    {&(machine), STEP_EXCLUSION, never}, {&(machine), STEP_C1, never},                             \
        {&(machine), STEP_STARVATION, never}, {&(machine), STEP_PROGRESS, one_stopped_violates},   \
        {&(machine), STEP_LOCKOUT, one_stopped_violates}, {&(machine), STEP_DEADLOCK, if_two},     \
        {&(machine), STEP_FIFO, if_two},                                                           \
    {                                                                                              \
        &(machine), STEP_OVERTAKINGS, if_three                                                     \
    }

/* The algorithms on shared queues of 2014, in which no process may stop. */
#define SHARED_QUEUES(machine)                                                                     \
    {&(machine), STEP_EXCLUSION, never}, {&(machine), STEP_C1, never},                             \
        {&(machine), STEP_PROGRESS, never}, {&(machine), STEP_LOCKOUT, never},                     \
        {&(machine), STEP_STARVATION, never}, {&(machine), STEP_INVARIANT, never},                 \
        {&(machine), STEP_DEADLOCK, if_two}, {&(machine), STEP_FIFO, if_two},                      \
        {&(machine), STEP_C5, if_two}, {&(machine), STEP_OVERTAKINGS, never},                      \
    {                                                                                              \
        &(machine), STEP_PROMPT, never                                                             \
    }

/* First-in, first-enabled (1994); a process in the doorway is in T. */
#define FIRST_IN(machine)                                                                          \
    {&(machine), STEP_EXCLUSION, never}, {&(machine), STEP_C1, never},                             \
        {&(machine), STEP_PROGRESS, never}, {&(machine), STEP_LOCKOUT, never},                     \
        {&(machine), STEP_STARVATION, never}, {&(machine), STEP_FIRST_IN, never},                  \
        {&(machine), STEP_FIRST_ENABLED, never}, {&(machine), STEP_DEADLOCK, if_k_below_n},        \
        {&(machine), STEP_FIFO, if_k_below_n},                                                     \
    {                                                                                              \
        &(machine), STEP_OVERTAKINGS, if_n_above_k_above_one                                       \
    }

static const struct row rows[] = {
    {&papers_naive, STEP_PROMPT, never},
    {&papers_excl, STEP_PROMPT, never},
    {&papers_gtex, STEP_PROMPT, if_tree},
    {&papers_fife, STEP_PROMPT, never},
    {&papers_semaphore, STEP_EXCLUSION, never},
    {&papers_semaphore, STEP_DEADLOCK, never},
    {&papers_semaphore, STEP_FIFO, if_k_below_n},
    {&papers_semaphore, STEP_LOCKOUT, if_k_below_n},
    {&papers_semaphore, STEP_OVERTAKINGS, if_k_below_n},
    {&papers_semaphore, STEP_PROMPT, never},
    {&papers_bank, STEP_EXCLUSION, never},
    {&papers_bank, STEP_DEADLOCK, if_two_and_two},
    {&papers_bank, STEP_FIFO, never},
    {&papers_bank, STEP_OVERTAKINGS, never},
    {&papers_bank, STEP_PROMPT, never},
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
    REGISTERS(papers_naive, if_two_and_two),
    REGISTERS(papers_excl, never),
    REGISTERS(papers_gtex, never),
    FIRST_IN(papers_fife),
    FIRST_IN(papers_fife_bounded),
    FIRST_IN(papers_fife_atomic),
    QUEUELIKE(papers_peek_queue),
    SHARED_QUEUES(papers_dqb),
    SHARED_QUEUES(papers_sq2),
    {&papers_bucket, STEP_EXCLUSION, never}, /* other r: bucket_test.c */
    {&papers_bucket, STEP_C1, never},
    {&papers_bucket, STEP_C2, never},
    {&papers_bucket, STEP_C4, never},
    {&papers_bucket, STEP_INVARIANT, never},
    {&papers_bucket, STEP_PROGRESS, never},
    {&papers_bucket, STEP_LOCKOUT, never},
    {&papers_bucket, STEP_STARVATION, never},
    {&papers_bucket, STEP_OVERTAKINGS, never},
    {&papers_bucket, STEP_DEADLOCK, if_k_below_n}, /* at most r-1 may stop */
    {&papers_bucket, STEP_FIFO, if_k_below_n},
    {&papers_bucket, STEP_C5, if_two},
    {&papers_bucket, STEP_C6, always},
    {&papers_bucket_eliminated, STEP_EXCLUSION, never}, /* more in eliminated_test.c */
    {&papers_bucket_eliminated, STEP_C1, never},
    {&papers_bucket_eliminated, STEP_C2, never},
    {&papers_bucket_eliminated, STEP_C4, never},
    {&papers_bucket_eliminated, STEP_INVARIANT, never},
    {&papers_bucket_eliminated, STEP_PROGRESS, never},
    {&papers_bucket_eliminated, STEP_LOCKOUT, never},
    {&papers_bucket_eliminated, STEP_STARVATION, never},
    {&papers_bucket_eliminated, STEP_OVERTAKINGS, never},
    {&papers_bucket_eliminated, STEP_DEADLOCK, if_k_below_n},
    {&papers_bucket_eliminated, STEP_FIFO, if_k_below_n},
    {&papers_bucket_eliminated, STEP_C5, if_two},
    {&papers_bucket_eliminated, STEP_C6, always},
    {&papers_hidden_queue_supervised, STEP_EXCLUSION, never}, /* more in hidden_queue_test.c */
    {&papers_hidden_queue_supervised, STEP_C1, never},
    {&papers_hidden_queue_supervised, STEP_C2, never},
    {&papers_hidden_queue_supervised, STEP_C4, never},
    {&papers_hidden_queue_supervised, STEP_C5, never},
    {&papers_hidden_queue_supervised, STEP_INVARIANT, never},
    {&papers_hidden_queue_supervised, STEP_FIFO, never},
    {&papers_hidden_queue_supervised, STEP_PROGRESS, never},
    {&papers_hidden_queue_supervised, STEP_LOCKOUT, never},
    {&papers_hidden_queue_supervised, STEP_STARVATION, never},
    {&papers_hidden_queue_supervised, STEP_OVERTAKINGS, never},
    {&papers_hidden_queue_supervised, STEP_DEADLOCK, if_k_below_n},
    {&papers_hidden_queue_supervised, STEP_C6, always},
    {&papers_hidden_queue, STEP_EXCLUSION, never},
    {&papers_hidden_queue, STEP_C1, never},
    {&papers_hidden_queue, STEP_C2, never},
    {&papers_hidden_queue, STEP_C4, never},
    {&papers_hidden_queue, STEP_C5, never},
    {&papers_hidden_queue, STEP_INVARIANT, never},
    {&papers_hidden_queue, STEP_FIFO, never},
    {&papers_hidden_queue, STEP_PROGRESS, never},
    {&papers_hidden_queue, STEP_LOCKOUT, never},
    {&papers_hidden_queue, STEP_STARVATION, never},
    {&papers_hidden_queue, STEP_OVERTAKINGS, never},
    {&papers_hidden_queue, STEP_DEADLOCK, if_k_below_n},
    {&papers_hidden_queue, STEP_C6, always},
};

static bool is_on_registers(const struct step_machine *machine)
{
    return machine == &papers_naive || machine == &papers_excl || machine == &papers_gtex;
}

/* Sizes with too many states, or too many for the quick test. */
static bool is_left_out(const struct step_machine *machine, unsigned n, unsigned k)
{
    if (machine == &papers_colored_printed) {
        return n > 4; /* after its first violation it has millions of states */
    }
    if (machine == &papers_fife) {
        return n > 3;
    }
    if (machine == &papers_fife_bounded || machine == &papers_fife_atomic) {
        return n > (machine == &papers_fife_atomic && most_n >= 5 ? 3 : 2);
    }
    if (machine == &papers_hidden_queue) { /* n = 3 is in hidden_queue_test.c */
        return n > 2;
    }
    if (machine == &papers_hidden_queue_supervised) {
        return n > 3 || (n == 3 && k > 1);
    }
    if (machine == &papers_bucket_eliminated) {
        return n > 3 || (n == 3 && k > 2);
    }
    if (machine == &papers_bucket) { /* n = 4, k = 2 in bucket_test.c */
        return n > 4 || (n == 4 && k > 1) || (n == 3 && k > 2);
    }
    if (!is_on_registers(machine) || n <= 3 || k + 1 >= n) {
        return false;
    }
    bool tree = machine == &papers_gtex && k == 1;
    return (n == 4 && !tree && most_n < 5) || (n == 5 && !tree) || n > 5;
}

/* Sizes that a machine need not take. */
static bool may_refuse(const struct step_machine *machine, unsigned n, unsigned k)
{
    if (machine == &papers_peek_queue || machine == &papers_dqb || machine == &papers_sq2) {
        return k > 1 || (machine == &papers_sq2 && n != 2);
    }
    return k >= n && (machine == &papers_colored_1979 || machine == &papers_colored_tight ||
                      is_on_registers(machine));
}

/* The numbers of the tables for a prompt process: no process overtakes it, and all others, or none,
   enter before it. */
static const struct {
    const struct step_machine *machine;
    bool others_enter;
} prompt_numbers[] = {
    {&papers_semaphore, false},   {&papers_bank, true},
    {&papers_queue, true},        {&papers_queue_two_step, true},
    {&papers_numbered, true},     {&papers_colored_unbounded, true},
    {&papers_colored, true},      {&papers_colored_tight, true},
    {&papers_colored_1979, true}, {&papers_naive, true},
    {&papers_excl, true},         {&papers_gtex, true},
    {&papers_fife, true},         {&papers_peek_queue, true},
    {&papers_sq2, false},
};

static void expect_numbers(const struct step_machine *machine, unsigned n, unsigned k,
                           const struct check_report *report)
{
    static const int dqb_overtakings[][2] = {{0, 0}, {0, 0}, {1, 0}, {1, 0}, {3, 2}, {6, 5}};
    static const int dqb_entries[][2] = {{0, 0}, {0, 0}, {1, 1}, {3, 2}, {6, 5}, {10, 9}};
    const struct check_result *any = &report->results[STEP_OVERTAKINGS];
    const struct check_result *prompt = &report->results[STEP_PROMPT];
    if (machine == &papers_dqb) {
        EXPECT_EQ(any->bound, dqb_overtakings[n][0]);
        EXPECT_EQ(any->entries, dqb_entries[n][0]);
        EXPECT_EQ(prompt->bound, dqb_overtakings[n][1]);
        EXPECT_EQ(prompt->entries, dqb_entries[n][1]);
    }
    for (size_t r = 0; r < sizeof prompt_numbers / sizeof prompt_numbers[0]; r++) {
        bool some_wait = k < n || machine == &papers_bank;
        if (prompt_numbers[r].machine == machine && prompt->verdict == CHECK_HOLDS) {
            EXPECT_EQ(prompt->bound, 0);
            EXPECT_EQ(prompt->entries, some_wait && prompt_numbers[r].others_enter ? n - 1 : 0);
        }
    }
    EXPECT(machine != &papers_sq2 || (any->bound == 1 && any->entries == 1));
    EXPECT(machine != &papers_peek_queue || any->entries == (int64_t)n - 1);
}

/* Decide all properties of a machine at one size, and compare them with its rows. */
static void check_rows_at(const struct step_machine *machine, unsigned n, unsigned k)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    if (!explore_at(machine, n, k, 0, &system, &graph)) {
        EXPECT(may_refuse(machine, n, k));
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
        if (p == STEP_EXCLUSION || p == STEP_LOCKOUT) { /* not vacuous */
            EXPECT(k >= n || report.results[p].tested > 0);
        }
        if (p == STEP_FIRST_IN || p == STEP_FIRST_ENABLED) {
            EXPECT(n < 2 || report.results[p].tested > 0);
        }
        if (p ==
            STEP_FIFO) { /* one process waits, k are in C or enabled, and one more must be in R */
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
    expect_numbers(machine, n, k, &report);
    double bound = machine->bound == NULL ? 0 : machine->bound(&system);
    EXPECT(bound == 0 || graph.seen.shared.count <= bound);
    EXPECT(machine != &papers_semaphore || graph.seen.shared.count == (n < k ? n : k) + 1);
    EXPECT(machine != &papers_queue || graph.seen.shared.count == bound);
    check_report_free(&report);
    check_graph_free(&graph);
}

static void every_row_of_every_table_holds(void)
{
    for (const struct step_machine *const *m = papers_all; *m != NULL; m++) {
        for (unsigned n = 1; n <= most_n; n++) {
            for (unsigned k = 1; k <= MOST_K; k++) {
                if (!is_left_out(*m, n, k)) {
                    check_rows_at(*m, n, k);
                }
            }
        }
    }
    for (unsigned n = 2; n <= 4; n++) {
        check_rows_at(&papers_printed_corrected, n, 2);
    }
    if (most_n >= 5) {
        check_rows_at(&papers_naive, 5, 4);
        check_rows_at(&papers_excl, 5, 4);
    }
}

int main(int argc, char **argv)
{
    most_n = argc > 1 ? (unsigned)atoi(argv[1]) : most_n;
    RUN(every_row_of_every_table_holds);
    return 0;
}
