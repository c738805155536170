/*
 * The schedules of the proofs of Theorems 5.1, 5.2 and 5.3 (1979): see lower.h.
 *
 * P_1..P_N of the report are processes 0..n-1 here, so P_p is process p-1; loops below count as the
 * report does. The claims of a proof about a state are tried on a copy: a process that it calls
 * critical-enabled must enter with its next step.
 */
#include "check/bounds/lower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct walk {
    const struct step_system *system;
    check_place_visitor *visit;
    void *context;
    struct check_run line;  /* the main schedule of the proof */
    struct check_run side;  /* a branch of it */
    struct check_run trial; /* a trial, or the run given to the visitor */
    bool executable;
    int error;
};

static bool alone_to(struct walk *walk, struct check_run *run, unsigned p, enum step_region region)
{
    walk->executable = walk->executable && check_run_until(run, p - 1, region);
    return walk->executable;
}

/* Execute one step that must lead to a region. */
static bool step_to(struct walk *walk, struct check_run *run, unsigned p, enum step_region region)
{
    walk->executable = walk->executable && check_run_step(run, p - 1) == region;
    return walk->executable;
}

static bool branch(struct walk *walk, struct check_run *to, const struct check_run *from)
{
    if (walk->error == 0) {
        walk->error = check_run_copy(to, from);
    }
    return walk->error == 0 && walk->executable;
}

static bool is_going_on(const struct walk *walk)
{
    return walk->executable && walk->error == 0;
}

/* P_first..P_last must each enter with one step. */
static void expect_enabled(struct walk *walk, unsigned first, unsigned last)
{
    for (unsigned p = first; p <= last && is_going_on(walk); p++) {
        (void)step_to(walk, &walk->trial, p, STEP_CRITICAL);
    }
}

static void arrive(struct walk *walk, const struct check_run *at, unsigned held, unsigned i,
                   unsigned j)
{
    if (branch(walk, &walk->trial, at)) {
        walk->error = walk->trial.error != 0 ? walk->trial.error
                                             : walk->visit(walk->context, &walk->trial,
                                                           (struct check_place){held, i, j});
    }
}

/* 5.1: P_1..P_k sit down, P_{k+1}..P_{k+j} try, P_1..P_i leave. */
static void walk_5_1(struct walk *walk)
{
    unsigned n = walk->system->n;
    unsigned k = walk->system->k;
    for (unsigned p = 1; p <= k; p++) {
        (void)alone_to(walk, &walk->line, p, STEP_CRITICAL);
    }
    for (unsigned j = 0; j + k < n && is_going_on(walk); j++) {
        if (j > 0) {
            (void)step_to(walk, &walk->line, k + j, STEP_TRYING);
        }
        (void)branch(walk, &walk->side, &walk->line);
        for (unsigned i = 1; i <= k && is_going_on(walk); i++) {
            (void)step_to(walk, &walk->side, i, STEP_REMAINDER);
            arrive(walk, &walk->side, 0, i, j);
        }
    }
}

/* P_p enters and leaves, with two steps. */
static void pass(struct walk *walk, unsigned p)
{
    if (step_to(walk, &walk->line, p, STEP_CRITICAL)) {
        (void)step_to(walk, &walk->line, p, STEP_REMAINDER);
    }
}

/* q(i,s..i-1): P_{s+1}..P_j have arrived again. */
static void line_up_again(struct walk *walk, unsigned held, unsigned i)
{
    unsigned n = walk->system->n;
    unsigned seats = walk->system->k - held;
    (void)branch(walk, &walk->side, &walk->line);
    for (unsigned j = seats; j < i && is_going_on(walk); j++) {
        if (j > seats) {
            (void)step_to(walk, &walk->side, j, STEP_TRYING);
        }
        if (branch(walk, &walk->trial, &walk->side)) {
            expect_enabled(walk, i + 1, i + 1);
            expect_enabled(walk, n - held + 1, n);
        }
        arrive(walk, &walk->side, held, i, j);
    }
}

/*
 * 5.2, a level of the induction: P_{n-held+1}..P_n sleep in T, each enabled, so that the others
 * have `held` fewer seats. P_last is enabled in no state of this level and in all states of the
 * next, so the values of the two levels differ. With one seat left there is no next level, and
 * P_last may be enabled.
 */
static void walk_5_2_level(struct walk *walk, unsigned held)
{
    unsigned seats = walk->system->k - held;
    unsigned last = walk->system->n - held;
    for (unsigned p = 1; p <= seats; p++) {
        (void)alone_to(walk, &walk->line, p, STEP_CRITICAL);
    }
    for (unsigned p = seats + 1; p <= last; p++) {
        (void)step_to(walk, &walk->line, p, STEP_TRYING);
    }
    (void)step_to(walk, &walk->line, 1, STEP_REMAINDER);
    for (unsigned i = seats + 1; i < last && is_going_on(walk); i++) {
        pass(walk, i);
        if (seats == 1 || i + 1 < last) {
            line_up_again(walk, held, i);
        }
    }
    for (unsigned p = 2; p <= seats; p++) {
        (void)step_to(walk, &walk->line, p, STEP_REMAINDER);
    }
}

static void walk_5_2(struct walk *walk)
{
    for (unsigned held = 0; held < walk->system->k && is_going_on(walk); held++) {
        walk_5_2_level(walk, held);
    }
}

/* From q(i,1) to q(i+1,1): P_{i+2} cycles until P_i, which sleeps, must be enabled. */
static void make_enabled(struct walk *walk, unsigned i)
{
    (void)alone_to(walk, &walk->line, i + 1, STEP_REMAINDER);
    (void)alone_to(walk, &walk->line, i + 2, STEP_REMAINDER);
    walk->executable =
        walk->executable && check_run_cycles(&walk->line, i + 1, CHECK_ENOUGH_CYCLES);
    (void)step_to(walk, &walk->line, i + 1, STEP_TRYING);
}

/* 5.3: q(i,1) has P_1..P_{i-1} enabled, P_i in T and P_{i+1}..P_{k+1} in C. */
static void walk_5_3(struct walk *walk)
{
    unsigned n = walk->system->n;
    unsigned k = walk->system->k;
    for (unsigned p = 2; p <= k + 1; p++) {
        (void)alone_to(walk, &walk->line, p, STEP_CRITICAL);
    }
    (void)step_to(walk, &walk->line, 1, STEP_TRYING);
    for (unsigned i = 1; i <= k && is_going_on(walk); i++) {
        if (i > 1) {
            make_enabled(walk, i - 1);
        }
        (void)branch(walk, &walk->side, &walk->line);
        for (unsigned j = 1; j <= n - k && is_going_on(walk); j++) {
            if (j > 1) {
                (void)step_to(walk, &walk->side, k + j, STEP_TRYING);
            }
            if (branch(walk, &walk->trial, &walk->side)) {
                expect_enabled(walk, 1, i - 1);
            }
            arrive(walk, &walk->side, 0, i, j);
        }
    }
}

int check_lower_walk(enum check_theorem theorem, const struct step_system *system,
                     check_place_visitor *visit, void *context, bool *executable)
{
    static void (*const walks[CHECK_THEOREMS])(struct walk *) = {
        [CHECK_THEOREM_5_1] = walk_5_1,
        [CHECK_THEOREM_5_2] = walk_5_2,
        [CHECK_THEOREM_5_3] = walk_5_3,
    };
    struct walk *walk = calloc(1, sizeof *walk);
    if (walk == NULL) {
        return -ENOMEM;
    }
    walk->system = system;
    walk->visit = visit;
    walk->context = context;
    walk->executable = true;
    check_run_init(&walk->line, system);
    if (system->workers != system->n) { /* a supervisor's state is not part of the shared value */
        walk->executable = false;
    } else if (check_theorem_states(theorem, system->n, system->k) != 0) {
        walks[theorem](walk);
    }
    *executable = walk->executable;
    int error = walk->error != 0 ? walk->error : walk->line.error;
    check_run_free(&walk->line);
    check_run_free(&walk->side);
    check_run_free(&walk->trial);
    free(walk);
    return error;
}
