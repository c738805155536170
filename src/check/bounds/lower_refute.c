/*
 * Derive a violation from two states q and q' with one shared value, as the proofs of 1979, section
 * 5, do. Some processes cannot distinguish q from q', so a schedule of theirs that is correct from
 * q has the same effect from q', where it is a violation. The schedule is executed: see lower.h.
 */
#include "check/bounds/lower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 1 << 14 };

struct refuter {
    const struct step_system *system;
    struct check_place place[2]; /* ordered as the case needs them */
    struct check_run at[2];
    struct check_refutation *result;
    unsigned entries; /* of `other` into C while `waiter` is in T */
};

static int catch_place(void *context, struct check_run *run, struct check_place place)
{
    struct refuter *refuter = context;
    int error = 0;
    for (unsigned which = 0; which < 2 && error == 0; which++) {
        if (memcmp(&place, &refuter->place[which], sizeof place) == 0) {
            error = check_run_copy(&refuter->at[which], run);
        }
    }
    return error;
}

/* Execute a step of P_p in the second state, and note if more than k are in C after it. */
static void step_there(struct refuter *refuter, unsigned p)
{
    struct check_run *there = &refuter->at[1];
    struct check_refutation *result = refuter->result;
    enum step_region before = check_instance_region(&there->at, p - 1);
    if (result->refuted) {
        return; /* the trace ends with the violation */
    }
    enum step_region after = check_run_step(there, p - 1);
    refuter->entries += p - 1 == result->other && before != STEP_CRITICAL && after == STEP_CRITICAL;
    if (check_instance_critical(&there->at) > refuter->system->k) {
        result->refuted = true;
        result->property = STEP_EXCLUSION;
    }
}

/* Execute in the second state the steps that the first made since it was reached. */
static void repeat_there(struct refuter *refuter, size_t since)
{
    const struct check_schedule *made = &refuter->at[0].made;
    for (size_t step = since; step < made->length; step++) {
        step_there(refuter, made->steps[step] + 1U);
    }
}

/* Has the waiter been in T without a step while the other entered more than CHECK_ENOUGH_CYCLES
   times? */
static void judge_waiting(struct refuter *refuter)
{
    struct check_refutation *result = refuter->result;
    if (!result->refuted && refuter->entries >= CHECK_ENOUGH_CYCLES &&
        check_instance_region(&refuter->at[1].at, result->waiter) == STEP_TRYING) {
        result->refuted = true;
        result->property = STEP_C4;
    }
}

/* In the first state: P_first..P_last step in turn, through C, until all of them are in R. */
static bool all_to_remainder(struct refuter *refuter, unsigned first, unsigned last)
{
    struct check_run *here = &refuter->at[0];
    for (unsigned round = 0; round < MOST_ROUNDS; round++) {
        bool done = true;
        for (unsigned p = first; p <= last; p++) {
            if (check_instance_region(&here->at, p - 1) != STEP_REMAINDER) {
                (void)check_run_step(here, p - 1);
                done = false;
            }
        }
        if (done) {
            return true;
        }
    }
    return false;
}

/* In the first state: P_1..P_i and P_{k+1}..P_n step in turn until i+1 of them are in C. */
static bool one_more_than_left(struct refuter *refuter, unsigned i)
{
    struct check_run *here = &refuter->at[0];
    unsigned n = refuter->system->n;
    unsigned k = refuter->system->k;
    unsigned inside = 0;
    for (unsigned round = 0; round < MOST_ROUNDS; round++) {
        for (unsigned p = 1; p <= n; p = p == i ? k + 1 : p + 1) {
            if (check_instance_region(&here->at, p - 1) != STEP_CRITICAL) {
                inside += check_run_step(here, p - 1) == STEP_CRITICAL;
            }
            if (inside == i + 1) {
                return true;
            }
        }
    }
    return false;
}

/* Order the two places by a and b: the smaller first if `up`, else last. */
static void put_in_order(struct refuter *refuter, unsigned a, unsigned b, bool up)
{
    if (a != b && (a < b) != up) {
        struct check_place place = refuter->place[0];
        refuter->place[0] = refuter->place[1];
        refuter->place[1] = place;
    }
}

/* 5.1. Fewer are in T in the first state; when they have passed, P_n cycles, and in the second
   state a process is left in T. Or fewer sit in the first state, so one more can sit than in the
   second. */
static void refute_5_1(struct refuter *refuter, size_t since)
{
    const struct check_place *q = refuter->place;
    unsigned k = refuter->system->k;
    unsigned n = refuter->system->n;
    if (q[0].j != q[1].j) {
        refuter->result->waiter = k + q[0].j;
        refuter->result->other = n - 1;
        if (all_to_remainder(refuter, k + 1, k + q[0].j) &&
            check_run_cycles(&refuter->at[0], n - 1, CHECK_ENOUGH_CYCLES)) {
            repeat_there(refuter, since);
            judge_waiting(refuter);
        }
    } else if (one_more_than_left(refuter, q[1].i)) {
        repeat_there(refuter, since);
    }
}

/* P_first..P_last take two steps each in the first state. */
static void pass_here(struct refuter *refuter, unsigned first, unsigned last)
{
    for (unsigned p = first; p <= last; p++) {
        (void)check_run_step(&refuter->at[0], p - 1);
        (void)check_run_step(&refuter->at[0], p - 1);
    }
}

/* 5.2. Two processes can enter and one seat is left; the sleeping processes then take their seats.
   The first state only shows which processes can enter. */
static void refute_5_2(struct refuter *refuter, size_t since)
{
    const struct check_place *q = refuter->place;
    unsigned n = refuter->system->n;
    unsigned held = q[1].held;
    unsigned last = n - held;
    unsigned seats = refuter->system->k - held;
    if (q[0].held != q[1].held) { /* P_last holds a seat in the first state */
        step_there(refuter, last);
        step_there(refuter, q[1].i + 1);
    } else if (q[0].i != q[1].i) {
        step_there(refuter, q[0].i + 1);
        step_there(refuter, q[1].i + 1);
    } else { /* P_{j'+1} is last, behind P_{k+1}..P_j, in the first state only */
        (void)check_run_step(&refuter->at[0], q[1].j);
        pass_here(refuter, q[0].i + 1, last);
        pass_here(refuter, seats + 1, q[0].j);
        repeat_there(refuter, since);
        step_there(refuter, q[1].j + 1);
        step_there(refuter, q[0].j + 1);
    }
    for (unsigned p = last + 1; p <= n; p++) {
        step_there(refuter, p);
    }
}

/* 5.3. More are enabled in the first state than in the second, where all seats but theirs are
   taken. Or fewer are in T: they all pass, and P_k cycles; in the second state one is left in T. */
static void refute_5_3(struct refuter *refuter, size_t since)
{
    const struct check_place *q = refuter->place;
    struct check_run *here = &refuter->at[0];
    unsigned k = refuter->system->k;
    if (q[0].i != q[1].i) {
        for (unsigned p = 1; p <= q[1].i; p++) {
            step_there(refuter, p);
        }
        return;
    }
    refuter->result->waiter = k + q[1].j - 1;
    refuter->result->other = k - 1;
    bool ok = all_to_remainder(refuter, 1, k + q[0].j);
    for (unsigned p = 1; p < k && ok; p++) {
        ok = check_run_until(here, p - 1, STEP_CRITICAL);
    }
    if (ok && check_run_cycles(here, k - 1, CHECK_ENOUGH_CYCLES)) {
        repeat_there(refuter, since);
        judge_waiting(refuter);
    }
}

/* Assign the two states to the roles of the proof. */
static void arrange(struct refuter *refuter, enum check_theorem theorem)
{
    const struct check_place *q = refuter->place;
    if (q[0].held != q[1].held) {
        put_in_order(refuter, q[0].held, q[1].held, false);
    } else if (q[0].j != q[1].j && (theorem == CHECK_THEOREM_5_1 || q[0].i == q[1].i)) {
        put_in_order(refuter, q[0].j, q[1].j, true);
    } else {
        put_in_order(refuter, q[0].i, q[1].i, false);
    }
}

int check_lower_refute(enum check_theorem theorem, const struct step_system *system,
                       const struct check_lower *lower, struct check_refutation *refutation)
{
    static void (*const refute[CHECK_THEOREMS])(struct refuter *, size_t) = {
        [CHECK_THEOREM_5_1] = refute_5_1,
        [CHECK_THEOREM_5_2] = refute_5_2,
        [CHECK_THEOREM_5_3] = refute_5_3,
    };
    struct refuter *refuter = calloc(1, sizeof *refuter);
    bool executable;
    memset(refutation, 0, sizeof *refutation);
    if (refuter == NULL) {
        return -ENOMEM;
    }
    refuter->system = system;
    refuter->result = refutation;
    memcpy(refuter->place, lower->same, sizeof lower->same);
    arrange(refuter, theorem);
    int error = check_lower_walk(theorem, system, catch_place, refuter, &executable);
    if (error == 0 && refuter->at[0].at.system != NULL && refuter->at[1].at.system != NULL) {
        refute[theorem](refuter, refuter->at[0].made.length);
        error = refuter->at[0].error != 0 ? refuter->at[0].error : refuter->at[1].error;
    }
    refutation->trace = refuter->at[1].made;
    check_run_free(&refuter->at[0]);
    free(refuter);
    if (error != 0 || !refutation->refuted) {
        check_schedule_free(&refutation->trace);
    }
    return error;
}
