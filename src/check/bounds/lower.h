/*
 * Lower bounds of the 1979 report (section 5), executed: Theorems 5.1, 5.2 and 5.3.
 *
 * Each proof leads a system into states q(i,j) and shows that no two of them have the same shared
 * value; so there are at least as many values as states. Here the schedules are built and executed
 * on a machine, for any n, and the values are counted. If two states have the same value, the proof
 * gives a schedule to a violation: check_lower_refute executes it.
 *
 * k is the report's l, the number of seats; r, the robustness, is what the report calls k.
 */
#ifndef USHER_CHECK_LOWER_H
#define USHER_CHECK_LOWER_H

#include "check/explore/instance.h"
#include "check/explore/search.h"

enum check_theorem { CHECK_THEOREM_5_1, CHECK_THEOREM_5_2, CHECK_THEOREM_5_3, CHECK_THEOREMS };

/* "5.1", and the bound as a formula. */
const char *check_theorem_name(enum check_theorem theorem);
const char *check_theorem_formula(enum check_theorem theorem);

/* 5.1 and 5.3: k(n-k) values. 5.2: k binom(n-k-1, 2). 0 if the theorem does not cover n and k. */
uint64_t check_theorem_bound(enum check_theorem theorem, unsigned n, unsigned k);

/* The number of states q(i,j) of the proof. It is the bound; for 5.2 it is n-k-1 more: its
   induction ends with one seat, where the Lemma gives more than the theorem uses. */
unsigned check_theorem_states(enum check_theorem theorem, unsigned n, unsigned k);

/* q(i,j); for 5.2 at a depth of the induction at which `held` processes keep a seat for ever. */
struct check_place {
    unsigned held, i, j;
};

/* A run and the steps taken so far. */
struct check_run {
    struct check_instance at;
    struct check_schedule made;
    int error; /* -ENOMEM: `made` is not complete */
};

void check_run_init(struct check_run *run, const struct step_system *system);
/* Copy into `to`, which is initialized or all zero. 0 or -ENOMEM. */
int check_run_copy(struct check_run *to, const struct check_run *from);
void check_run_free(struct check_run *run);

/* Execute one step and return the region of the process after it. */
enum step_region check_run_step(struct check_run *run, unsigned process);

/* Let a process take steps alone until it enters a region. False if it never does. */
bool check_run_until(struct check_run *run, unsigned process, enum step_region region);

/* Let a process alone go from R to C `times` times; it ends in C. */
bool check_run_cycles(struct check_run *run, unsigned process, unsigned times);

/*
 * The number of cycles for "b+1 times" in the proofs, where the bound b is not known. It must be
 * large enough; whether it was is checked in each state, by trying what the proof claims of it.
 */
enum { CHECK_ENOUGH_CYCLES = 8 };

/* Called with each state; it may change `run`. 0, or an error that ends the walk. */
typedef int check_place_visitor(void *context, struct check_run *run, struct check_place place);

/*
 * Lead `system` through all states q(i,j). *executable is false if a process did not get where the
 * proof needs it, or is not enabled where it must be; the walk ends there. It is also false for
 * systems with a supervisor, which the proofs do not cover. 0, -ENOMEM, or the error of a visitor.
 */
int check_lower_walk(enum check_theorem theorem, const struct step_system *system,
                     check_place_visitor *visit, void *context, bool *executable);

struct check_lower {
    unsigned states;   /* q(i,j) that were reached */
    unsigned distinct; /* their distinct values */
    bool executable;
    struct check_place same[2]; /* if distinct < states: the first two with one value */
};

/* 0 or -ENOMEM. */
int check_lower_run(enum check_theorem theorem, const struct step_system *system,
                    struct check_lower *lower);

/* The violation that the proof derives from two states with one value. */
struct check_refutation {
    bool refuted;
    enum step_property property; /* exclusion, or C4: bounded waiting (5.1: C4, 5.3: C4') */
    unsigned waiter, other;      /* of bounded waiting: `waiter` stays in T while `other` enters */
    struct check_schedule trace; /* from the start to the violation */
};

/* 0 or -ENOMEM. */
int check_lower_refute(enum check_theorem theorem, const struct step_system *system,
                       const struct check_lower *lower, struct check_refutation *refutation);

#endif
