/*
 * Supervisor elimination (1979, Lemma 4.3), applied to a toy and to the bucket algorithm. Every
 * reached state is compared with a supervisor that runs alongside, (S1) to (S3), and the
 * supervisor's steps never cease, (S4). Every mutant is caught. With the argument "slow" also n =
 * 4.
 */
#include "check/decide/property.h"
#include "check/explore/equal.h"
#include "papers/bucket.h"
#include "papers/eliminated.h"
#include "simulation.h"
#include "test.h"
#include "toy_supervised.h"

#include <string.h>

enum kind {
    PLAIN,    /* the machine that runs */
    WATCHED,  /* with the ghost */
    CANONICAL /* with the ghost, in canonical form */
};

static struct step_machine machine_of(const struct supervised *subject, enum kind kind,
                                      unsigned variant)
{
    struct step_machine machine = {.name = "eliminated",
                                   .title = "Supervisor elimination",
                                   .variant = variant,
                                   .subject = subject,
                                   .wide = true,
                                   .prepare = eliminated_prepare,
                                   .init = eliminated_init,
                                   .step = eliminated_step,
                                   .region = eliminated_region,
                                   .wrong = eliminated_wrong,
                                   .print_all = eliminated_print_all};
    if (kind != PLAIN) {
        machine = eliminated_watched(&machine);
    }
    machine.rebase = kind == CANONICAL ? eliminated_rebase : NULL;
    return machine;
}

struct explored {
    struct step_machine machine;
    struct step_system system;
    struct check_graph graph;
};

struct size {
    unsigned n, k, r;
};

/* Explore. The result must not be moved in memory, because it points at itself. */
static void explore(struct explored *e, const struct supervised *subject, enum kind kind,
                    unsigned variant, struct size size)
{
    struct check_options options = {.memory = (size_t)4 << 30};
    char why[STEP_WHY_BYTES];
    e->machine = machine_of(subject, kind, variant);
    EXPECT_EQ(step_system_init(&e->system, &e->machine, size.n, size.k, size.r, why), 0);
    EXPECT_EQ(check_explore(&e->graph, &e->system, &options), 0);
    EXPECT(e->graph.complete);
}

/* No state is wrong, and the supervisor's steps cease with r failures and not with fewer. */
static void expect_simulation(const struct explored *e)
{
    if (e->graph.wrong != NULL) {
        (void)fprintf(stderr, "n=%u k=%u r=%u: %s\n", e->system.n, e->system.k,
                      e->system.robustness, e->graph.wrong);
    }
    EXPECT(e->graph.broken == NULL && e->graph.wrong == NULL);
    EXPECT_EQ(e->graph.first_crowded, CHECK_NO_STATE);
    unsigned failures = simulation_failures_to_cease(&e->graph);
    EXPECT(failures == e->system.robustness || failures == SIMULATION_NEVER);
}

static const struct count {
    const struct supervised *subject;
    enum kind kind;
    unsigned variant;
    struct size size;
    uint32_t states;
    bool distributed; /* do helpers ever keep the state? */
    bool slow;
} counts[] = {
    {&toy, PLAIN, 0, {2, 1, 1}, 227, true, false},
    {&toy, WATCHED, 0, {2, 1, 1}, 227, true, false},
    {&toy, PLAIN, 0, {3, 1, 1}, 5280, true, false},
    {&toy, WATCHED, 0, {3, 1, 1}, 5280, true, false},
    {&toy, CANONICAL, 0, {3, 1, 1}, 1404, true, false},
    {&toy, WATCHED, 0, {4, 2, 1}, 328308, true, false},
    {&toy, CANONICAL, 0, {4, 1, 2}, 71520, true, false},
    {&toy, CANONICAL, ELIMINATED_SHORT, {4, 1, 2}, 34800, true, false},
    {&papers_bucket_system, PLAIN, 0, {2, 1, 1}, 28861, true, false},
    {&papers_bucket_system, WATCHED, 0, {2, 1, 1}, 28861, true, false},
    {&papers_bucket_system, CANONICAL, 0, {2, 1, 1}, 13761, true, false},
    {&papers_bucket_system, CANONICAL, 0, {3, 1, 1}, 169876, true, false},
    {&toy, WATCHED, TOY_AT_ONCE, {4, 2, 1}, 253588, true, false},
    {&toy, CANONICAL, TOY_AT_ONCE | ELIMINATED_SHORT, {5, 2, 2}, 763360, true, true},
    {&papers_bucket_system, CANONICAL, 0, {4, 1, 1}, 1549101, true, true},
    {&papers_bucket_system, CANONICAL, ELIMINATED_SHORT, {4, 1, 2}, 13602157, true, true},
};

static bool slow;

static void every_copy_is_the_supervisors_state_and_it_never_ceases(void)
{
    static struct explored e;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const struct count *count = &counts[c];
        if (count->slow == slow) {
            explore(&e, count->subject, count->kind, count->variant, count->size);
            expect_simulation(&e);
            EXPECT_EQ(check_states(&e.graph), count->states);
            EXPECT_EQ(simulation_failures_to_cease(&e.graph) != SIMULATION_NEVER,
                      count->distributed);
            check_graph_free(&e.graph);
        }
    }
}

/* With at most c1 processes in T at all times, the state never leaves shared memory. */
static void few_processes_need_no_slots(void)
{
    static struct explored e;
    explore(&e, &toy, WATCHED, 0, (struct size){3, 2, 2});
    expect_simulation(&e);
    EXPECT_EQ(simulation_failures_to_cease(&e.graph), SIMULATION_NEVER);
    check_graph_free(&e.graph);
}

/* Lemma 4.2: the promises of the subject carry over. */
static void the_promises_of_the_subject_are_kept(void)
{
    static struct explored e;
    static const struct size sizes[] = {{2, 1, 1}, {3, 1, 1}, {3, 2, 2}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct check_report report;
        explore(&e, &toy, PLAIN, 0, sizes[s]);
        EXPECT_EQ(check_decide(&e.graph, &report), 0);
        EXPECT(check_claims_hold(&e.system, &report));
        check_report_free(&report);
        check_graph_free(&e.graph);
    }
}

static void the_canonical_form_changes_nothing_that_can_be_seen(void)
{
    static struct explored plain;
    static struct explored canonical;
    static const struct {
        const struct supervised *subject;
        struct size size;
    } rows[] = {{&toy, {3, 1, 1}}, {&toy, {4, 1, 1}}, {&papers_bucket_system, {2, 1, 1}}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct check_equality equality;
        explore(&plain, rows[r].subject, PLAIN, 0, rows[r].size);
        explore(&canonical, rows[r].subject, CANONICAL, 0, rows[r].size);
        EXPECT(check_states(&canonical.graph) < check_states(&plain.graph));
        EXPECT_EQ(check_equal(&plain.graph, &canonical.graph, &equality), 0);
        EXPECT(equality.equivalent);
        check_schedule_free(&equality.trace);
        check_graph_free(&plain.graph);
        check_graph_free(&canonical.graph);
    }
}

enum found { INVARIANT, CEASES };

static const struct mutant {
    unsigned variant;
    enum kind kind;
    struct size size;
    enum found found;
    const char *says;
} mutants[] = {
    {ELIMINATED_TRANSNO_LATE, WATCHED, {3, 1, 1}, INVARIANT, "xs is not the supervisor's"},
    {ELIMINATED_XS_NEW, WATCHED, {3, 1, 1}, INVARIANT, "not one step behind"},
    {ELIMINATED_QUITTER_LEAVES, WATCHED, {3, 1, 1}, INVARIANT, "no process holds a copy"},
    {ELIMINATED_QUITTER_LEAVES, WATCHED, {3, 1, 1}, CEASES, NULL},
    {ELIMINATED_QUITTER_LEAVES, CANONICAL, {4, 1, 2}, CEASES, NULL},
    /* two quitters fill both slots: there must be two seats */
    {ELIMINATED_QUITTER_STAYS, CANONICAL, {4, 2, 1}, CEASES, NULL},
    {ELIMINATED_NOT_DEAD, WATCHED, {3, 1, 1}, INVARIANT, "CURRENT copy is not"},
    {ELIMINATED_NOT_DEAD, WATCHED, {3, 1, 1}, CEASES, NULL},
    {ELIMINATED_RECEIVE_ON, WATCHED, {3, 1, 1}, INVARIANT, "a receiver is not a helper"},
    {ELIMINATED_PREVIOUS_ON, WATCHED, {3, 1, 1}, INVARIANT, "not one step behind"},
    {ELIMINATED_CURRENT_ON, WATCHED, {3, 1, 1}, INVARIANT, "CURRENT copy is not"},
    {ELIMINATED_HOLDERS_KEPT, WATCHED, {3, 1, 1}, INVARIANT, "stateholders"},
    {ELIMINATED_HOLDERS_KEPT, WATCHED, {3, 1, 1}, CEASES, NULL},
    {ELIMINATED_HOLDERS_FEWER, CANONICAL, {4, 1, 2}, CEASES, NULL},
    {ELIMINATED_HOLDERS_ANY, WATCHED, {3, 1, 1}, INVARIANT, "stateholders"},
    {ELIMINATED_HOLDERS_ANY, WATCHED, {3, 1, 1}, CEASES, NULL},
    {ELIMINATED_CHANNELS_KEPT, WATCHED, {3, 1, 1}, INVARIANT, NULL},
    {ELIMINATED_SENT_KEPT, WATCHED, {3, 1, 1}, INVARIANT, "wrong length"},
    {ELIMINATED_SLOT_FEWER, WATCHED, {3, 1, 1}, CEASES, NULL},
    {ELIMINATED_ANYBODY_TAKES, WATCHED, {3, 1, 1}, INVARIANT, "a receiver is not a helper"},
    {ELIMINATED_ALWAYS_SERVES, WATCHED, {3, 1, 1}, INVARIANT, "stateholders"},
    {ELIMINATED_NO_CHANNELS, WATCHED, {3, 1, 1}, CEASES, NULL},
    {ELIMINATED_THRESHOLD_LESS, WATCHED, {3, 1, 1}, CEASES, NULL},
};

static void every_mutant_is_caught(void)
{
    static struct explored e;
    for (size_t m = 0; m < sizeof mutants / sizeof mutants[0]; m++) {
        const struct mutant *mutant = &mutants[m];
        explore(&e, &toy, mutant->kind, mutant->variant, mutant->size);
        bool says = mutant->says == NULL ||
                    (e.graph.wrong != NULL && strstr(e.graph.wrong, mutant->says) != NULL);
        bool caught = mutant->found == INVARIANT
                          ? e.graph.wrong != NULL
                          : simulation_failures_to_cease(&e.graph) < mutant->size.r;
        if (!caught || !says) {
            (void)fprintf(stderr, "mutant %u: %s\n", mutant->variant >> 16,
                          e.graph.wrong == NULL ? "no state is wrong" : e.graph.wrong);
        }
        EXPECT(caught && says);
        check_graph_free(&e.graph);
    }
}

/* What was received for one slot is used for the next. The buffers grow with every slot held, and
   so does the number of states: a part of the states is enough. */
static void an_rbuf_that_is_not_cleared_is_caught(void)
{
    struct check_options options = {.only_exclusion = true, .memory = (size_t)48 << 20};
    struct step_machine machine = machine_of(&toy, WATCHED, ELIMINATED_RBUF_KEPT);
    struct step_system system;
    struct check_graph graph;
    char why[STEP_WHY_BYTES];
    EXPECT_EQ(step_system_init(&system, &machine, 3, 1, 1, why), 0);
    EXPECT_EQ(check_explore(&graph, &system, &options), 0);
    EXPECT(graph.wrong != NULL && strstr(graph.wrong, "wrong length") != NULL);
    check_graph_free(&graph);
}

/* With r = 2 and 3r-2 slots: two processes that quit in one step and one failed process leave one
   slot, but two helpers need one. If only one process can quit in a step, 3r-2 slots are enough. */
static void one_slot_fewer_is_enough_unless_r_quit_at_once(void)
{
    static struct explored e;
    unsigned variant = ELIMINATED_SLOT_FEWER | ELIMINATED_SHORT;
    explore(&e, &toy, CANONICAL, variant | TOY_AT_ONCE, (struct size){5, 2, 2});
    EXPECT(e.graph.wrong == NULL);
    EXPECT_EQ(simulation_failures_to_cease(&e.graph), 1);
    check_graph_free(&e.graph);
    explore(&e, &toy, CANONICAL, variant, (struct size){5, 2, 2});
    expect_simulation(&e);
    EXPECT_EQ(simulation_failures_to_cease(&e.graph), 2);
    check_graph_free(&e.graph);
}

/* The report lets drones release their slots. The other two rules already do that: a drone quit in
   an earlier stage, so its slot is DEAD, or PREVIOUS with prevhelper false. */
static void the_release_by_drones_is_not_needed(void)
{
    static struct explored e;
    explore(&e, &toy, WATCHED, ELIMINATED_DRONE_STAYS, (struct size){4, 2, 1});
    expect_simulation(&e);
    EXPECT_EQ(check_states(&e.graph), 328308);
    check_graph_free(&e.graph);
}

static void other_sizes_are_refused_with_a_sentence(void)
{
    struct step_machine machine = machine_of(&papers_bucket_system, PLAIN, 0);
    struct step_system system;
    char why[STEP_WHY_BYTES] = "";
    EXPECT_EQ(step_system_init(&system, &machine, 16, 3, 3, why), 0);
    EXPECT_EQ(step_system_init(&system, &machine, 16, 3, ELIMINATED_MOST_R + 1, why), -1);
    EXPECT(strstr(why, "robustness must be") != NULL);
}

int main(int argc, char **argv)
{
    slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    RUN(every_copy_is_the_supervisors_state_and_it_never_ceases);
    if (slow) {
        RUN(one_slot_fewer_is_enough_unless_r_quit_at_once);
    } else {
        RUN(few_processes_need_no_slots);
        RUN(the_promises_of_the_subject_are_kept);
        RUN(the_canonical_form_changes_nothing_that_can_be_seen);
        RUN(every_mutant_is_caught);
        RUN(an_rbuf_that_is_not_cleared_is_caught);
        RUN(the_release_by_drones_is_not_needed);
        RUN(other_sizes_are_refused_with_a_sentence);
    }
    return 0;
}
