/*
 * The proofs of the 1979 report's lower bounds, applied to systems with too few shared values: the
 * schedules of the proofs lead to a violation. Each is executed again and checked here.
 */
#include "check/bounds/lower.h"
#include "papers/papers.h"
#include "test.h"
#include "toy_short.h"

/* Execute a refutation again, and check that it is a violation. */
static void expect_true(const struct step_system *system, const struct check_refutation *said)
{
    static struct check_instance instance;
    unsigned entries = 0;
    check_instance_init(&instance, system);
    for (size_t step = 0; step < said->trace.length; step++) {
        struct step_access access;
        unsigned who = said->trace.steps[step];
        bool outside = check_instance_region(&instance, who) != STEP_CRITICAL;
        check_instance_step(&instance, who, &access);
        entries +=
            who == said->other && outside && check_instance_region(&instance, who) == STEP_CRITICAL;
        entries = who == said->waiter ? 0 : entries; /* since the waiter's last step */
        EXPECT(check_instance_critical(&instance) <= system->k || step + 1 == said->trace.length);
    }
    if (said->property == STEP_EXCLUSION) {
        EXPECT(check_instance_critical(&instance) == system->k + 1);
    } else {
        EXPECT(said->property == STEP_C4 && said->waiter != said->other);
        EXPECT(check_instance_region(&instance, said->waiter) == STEP_TRYING);
        EXPECT(entries >= CHECK_ENOUGH_CYCLES);
    }
}

static void expect_refuted_at(const struct step_system *system, enum check_theorem theorem,
                              const struct check_lower *lower, enum step_property property)
{
    struct check_refutation refutation;
    EXPECT_EQ(check_lower_refute(theorem, system, lower, &refutation), 0);
    EXPECT(refutation.refuted);
    EXPECT_EQ(refutation.property, property);
    expect_true(system, &refutation);
    check_schedule_free(&refutation.trace);
}

/* A system in which two states of the proof have the same value is refuted, by this violation. */
static void expect_refuted(const struct step_machine *machine, unsigned n, unsigned k,
                           enum check_theorem theorem, enum step_property property)
{
    struct step_system system;
    struct check_lower lower;
    char why[STEP_WHY_BYTES];
    EXPECT_EQ(step_system_init(&system, machine, n, k, 0, why), 0);
    EXPECT_EQ(check_lower_run(theorem, &system, &lower), 0);
    EXPECT(lower.distinct < lower.states);
    expect_refuted_at(&system, theorem, &lower, property);
}

static void too_few_values_are_refuted(void)
{
    for (unsigned n = 3; n <= 20; n++) {
        expect_refuted(&papers_semaphore, n, 1, CHECK_THEOREM_5_1, STEP_C4);
        expect_refuted(&papers_semaphore, n, 1, CHECK_THEOREM_5_3, STEP_C4);
        expect_refuted(&toy_forgets, n, 2, CHECK_THEOREM_5_1, STEP_EXCLUSION);
    }
    for (unsigned n = 6; n <= 20; n++) {
        toy_modulus = n - 3; /* q(2,1) and q(n-1,1) have the same value */
        expect_refuted(&toy_tickets, n, 1, CHECK_THEOREM_5_2, STEP_EXCLUSION);
        toy_modulus = 2; /* q(2,1) and q(4,1) have the same value, and so on */
        expect_refuted(&toy_tickets, n, 1, CHECK_THEOREM_5_2, STEP_EXCLUSION);
        toy_modulus = n - 1; /* two levels of the induction have the same value */
        expect_refuted(&toy_guest, n, 2, CHECK_THEOREM_5_2, STEP_EXCLUSION);
    }
}

/* Case 2 of Lemma 5.1, where P_{j'+1} must take the step, not P_{j+1}: tickets modulo m cannot
   distinguish q(i,j) from q(i,j+m). */
static void a_queue_that_is_longer_than_its_numbers_is_refuted(void)
{
    for (unsigned n = 6; n <= 20; n++) {
        for (toy_modulus = 2; toy_modulus + 3 < n; toy_modulus++) {
            struct step_system system;
            char why[STEP_WHY_BYTES];
            EXPECT_EQ(step_system_init(&system, &toy_tickets, n, 1, 0, why), 0);
            for (unsigned j = 1; j + toy_modulus < n - 2; j++) {
                struct check_lower lower = {.same = {{0, n - 2, j}, {0, n - 2, j + toy_modulus}}};
                expect_refuted_at(&system, CHECK_THEOREM_5_2, &lower, STEP_EXCLUSION);
            }
        }
    }
}

enum { MOST_PLACES = 64 };

struct places {
    struct check_place list[MOST_PLACES];
    unsigned count;
};

static int note_place(void *context, struct check_run *run, struct check_place place)
{
    struct places *places = context;
    (void)run;
    EXPECT(places->count < MOST_PLACES);
    places->list[places->count++] = place;
    return 0;
}

/* If all states have the same value, each pair of them refutes the system. */
static void any_two_states_of_a_proof_refute(void)
{
    struct step_system system;
    char why[STEP_WHY_BYTES];
    for (unsigned t = 0; t < CHECK_THEOREMS; t++) {
        enum check_theorem theorem = (enum check_theorem)t;
        struct places places = {.count = 0};
        bool executable;
        EXPECT_EQ(step_system_init(&system, &toy_anarchy, 7, 3, 0, why), 0);
        EXPECT_EQ(check_lower_walk(theorem, &system, note_place, &places, &executable), 0);
        EXPECT(executable);
        EXPECT_EQ(places.count, check_theorem_states(theorem, 7, 3));
        for (unsigned pair = 0; pair < places.count * places.count; pair++) {
            struct check_lower lower = {
                .same = {places.list[pair / places.count], places.list[pair % places.count]}};
            struct check_refutation refutation;
            EXPECT_EQ(check_lower_refute(theorem, &system, &lower, &refutation), 0);
            if (pair / places.count != pair % places.count) {
                EXPECT(refutation.refuted);
                expect_true(&system, &refutation);
            }
            check_schedule_free(&refutation.trace);
        }
    }
}

int main(void)
{
    RUN(too_few_values_are_refuted);
    RUN(a_queue_that_is_longer_than_its_numbers_is_refuted);
    RUN(any_two_states_of_a_proof_refute);
    return 0;
}
