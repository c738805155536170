/*
 * Explore the gate as it ships: the property table of src/gate/gate_word.h row by row; guests that
 * sleep, that only try, that find no room; and a violation for each guard that is left out.
 *
 *     gate_model_test      n <= 4, k <= 3
 *     gate_model_test 5    also n = 5, and more sleepers
 */
#include "check/decide/property.h"
#include "check/explore/equal.h"
#include "explore.h"
#include "gate/gate_word.h"
#include "model/gate_machine.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

enum { MOST_K = 3 };

static unsigned most_n = 4;

/* Every claim holds, and is not vacuous where guests can wait. */
static void hold_at(const struct step_machine *machine, unsigned n, unsigned k)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    EXPECT(explore_at(machine, n, k, 0, &system, &graph));
    EXPECT_EQ(check_decide(&graph, &report), 0);
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        if ((system.claims >> p & 1) && report.results[p].verdict != CHECK_HOLDS) {
            (void)fprintf(stderr, "%s n=%u k=%u %s: %s\n", machine->name, n, k,
                          step_property_name((enum step_property)p),
                          report.results[p].why == NULL ? "violated" : report.results[p].why);
            exit(1);
        }
    }
    if (system.claims >> STEP_FIFO & 1) {
        EXPECT_EQ(report.results[STEP_OVERTAKINGS].bound, 0);
        EXPECT(k + 2 > n || report.results[STEP_FIFO].tested > 0);
        EXPECT(k >= n || report.results[STEP_LOCKOUT].tested > 0);
    }
    double bound = machine->bound(&system);
    EXPECT(bound == 0 || graph.seen.shared.count <= bound);
    check_report_free(&report);
    check_graph_free(&graph);
}

static void the_gate_keeps_every_promise_of_the_colored_ticket(void)
{
    for (unsigned n = 1; n <= most_n; n++) {
        for (unsigned k = 1; k <= MOST_K; k++) {
            struct step_system gate;
            struct step_system colored;
            char why[STEP_WHY_BYTES];
            hold_at(&model_gate, n, k);
            EXPECT_EQ(step_system_init(&gate, &model_gate, n, k, 0, why), 0);
            EXPECT_EQ(step_system_init(&colored, &papers_colored, n, k, 0, why), 0);
            EXPECT_EQ(gate.claims, colored.claims | STEP_CLAIM(STEP_INVARIANT));
            EXPECT_EQ(gate.shared_words, 1);
        }
    }
}

static void sleepers_are_woken_or_wake_themselves_if_their_waker_stopped(void)
{
    for (unsigned n = 1; n <= 3; n++) {
        hold_at(&model_gate_sleep, n, 1);
        hold_at(&model_gate_sleep, n, 2);
    }
    hold_at(&model_gate_sleep, 4, 1);
    if (most_n > 4) {
        hold_at(&model_gate_sleep, 3, 3);
        hold_at(&model_gate_sleep, 4, 2);
    }
}

static void guests_that_try_do_not_disturb_waiters(void)
{
    for (unsigned n = 1; n <= most_n; n++) {
        for (unsigned k = 1; k <= MOST_K; k++) {
            hold_at(&model_gate_try, n, k);
        }
    }
}

static void more_guests_than_there_is_room_for_are_sent_away(void)
{
    hold_at(&model_gate_crowded, 3, 1);
    hold_at(&model_gate_crowded, 4, 1);
    hold_at(&model_gate_crowded, 5, 1);
}

/* The number of pairs of states that one schedule leads to; 0 if the systems differ. */
static uint64_t pairs_at(const struct step_machine *other, unsigned n, unsigned k, bool same_size)
{
    struct step_system systems[2];
    struct check_graph graphs[2];
    struct check_equality equality;
    EXPECT(explore_at(&model_gate, n, k, 0, &systems[0], &graphs[0]));
    EXPECT(explore_at(other, n, k, 0, &systems[1], &graphs[1]));
    EXPECT_EQ(check_equal(&graphs[0], &graphs[1], &equality), 0);
    if (same_size) {
        EXPECT_EQ(check_states(&graphs[0]), check_states(&graphs[1]));
        EXPECT_EQ(graphs[0].seen.shared.count, graphs[1].seen.shared.count);
        EXPECT_EQ(equality.pairs, check_states(&graphs[0]));
    }
    check_schedule_free(&equality.trace);
    check_graph_free(&graphs[0]);
    check_graph_free(&graphs[1]);
    return equality.equivalent ? equality.pairs : 0;
}

static void the_gate_is_equivalent_to_the_queue_and_to_colored_with_equal_blocks(void)
{
    unsigned same = 0;
    for (unsigned n = 1; n <= 4; n++) {
        for (unsigned k = 1; k <= MOST_K; k++) {
            uint32_t m = colored_paper_m(n, k);
            EXPECT(pairs_at(&papers_queue, n, k, false) > 0);
            if ((m & (m - 1)) == 0) {
                EXPECT(pairs_at(&papers_colored, n, k, true) > 0);
                same++;
            }
        }
    }
    EXPECT_EQ(same, 7); /* n,k = 1,1 2,1 4,1 and all four n with k = 3 */
    EXPECT_EQ(pairs_at(&papers_semaphore, 2, 1, false), 0);
}

/* For each mutant sizes and verdicts: at least one is violated. */
static const struct row {
    const char *mutant;
    unsigned n, k;
    enum step_property property;
    enum check_verdict verdict;
} rows[] = {
    {"mutant-gate-take-free", 2, 1, STEP_EXCLUSION, CHECK_VIOLATED},
    {"mutant-gate-take-near", 2, 1, STEP_EXCLUSION, CHECK_HOLDS},
    {"mutant-gate-take-near", 3, 1, STEP_EXCLUSION, CHECK_VIOLATED},
    {"mutant-gate-leave-block", 2, 1, STEP_EXCLUSION, CHECK_VIOLATED},
    /* two guests must hold tickets of one old colour */
    {"mutant-gate-leave-before", 3, 2, STEP_INVARIANT, CHECK_HOLDS},
    {"mutant-gate-leave-before", 3, 3, STEP_INVARIANT, CHECK_VIOLATED},
    {"mutant-gate-leave-alone", 2, 1, STEP_STARVATION, CHECK_VIOLATED},
    {"mutant-gate-room", 2, 1, STEP_INVARIANT, CHECK_HOLDS},
    {"mutant-gate-room", 3, 1, STEP_INVARIANT, CHECK_VIOLATED},
    {"mutant-gate-room", 4, 1, STEP_EXCLUSION, CHECK_VIOLATED},
    {"mutant-gate-try-valid", 2, 1, STEP_EXCLUSION, CHECK_VIOLATED},
    {"mutant-gate-wake-last", 2, 1, STEP_STARVATION, CHECK_VIOLATED},
    {"mutant-gate-sleep-blind", 2, 1, STEP_STARVATION, CHECK_VIOLATED},
    /* without a timeout a sleeper is lost only if the guest that should wake it has stopped */
    {"mutant-gate-sleep-untimed", 3, 2, STEP_STARVATION, CHECK_HOLDS},
    {"mutant-gate-sleep-untimed", 3, 2, STEP_INVARIANT, CHECK_HOLDS},
    {"mutant-gate-sleep-untimed", 3, 2, STEP_LOCKOUT, CHECK_VIOLATED},
};

static const struct step_machine *find(const char *name)
{
    for (const struct step_machine *const *m = model_gate_mutants; *m != NULL; m++) {
        if (strcmp((*m)->name, name) == 0) {
            return *m;
        }
    }
    return NULL;
}

static void each_mutant_is_found(void)
{
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct step_system system;
        struct check_graph graph;
        struct check_report report;
        const struct step_machine *mutant = find(rows[r].mutant);
        EXPECT(mutant != NULL);
        EXPECT(explore_at(mutant, rows[r].n, rows[r].k, 0, &system, &graph));
        EXPECT_EQ(check_decide(&graph, &report), 0);
        if (report.results[rows[r].property].verdict != rows[r].verdict) {
            (void)fprintf(stderr, "%s n=%u k=%u %s: found %d, not %d\n", rows[r].mutant, rows[r].n,
                          rows[r].k, step_property_name(rows[r].property),
                          report.results[rows[r].property].verdict, rows[r].verdict);
            exit(1);
        }
        check_report_free(&report);
        check_graph_free(&graph);
    }
}

static void every_mutant_has_a_violation(void)
{
    for (const struct step_machine *const *m = model_gate_mutants; *m != NULL; m++) {
        bool caught = false;
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            caught = caught ||
                     (strcmp(rows[r].mutant, (*m)->name) == 0 && rows[r].verdict == CHECK_VIOLATED);
        }
        EXPECT(caught);
    }
}

int main(int argc, char **argv)
{
    most_n = argc > 1 ? (unsigned)atoi(argv[1]) : most_n;
    RUN(every_mutant_has_a_violation);
    RUN(the_gate_keeps_every_promise_of_the_colored_ticket);
    RUN(sleepers_are_woken_or_wake_themselves_if_their_waker_stopped);
    RUN(guests_that_try_do_not_disturb_waiters);
    RUN(more_guests_than_there_is_room_for_are_sent_away);
    RUN(the_gate_is_equivalent_to_the_queue_and_to_colored_with_equal_blocks);
    RUN(each_mutant_is_found);
    return 0;
}
