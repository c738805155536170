/*
 * Lower bounds of the 1979 report (section 5), executed: Theorems 5.1, 5.2 and 5.3.
 *
 * Each proof leads a system into states q(i,j) and shows that no two of them have the same shared
 * value; so there are at least as many values as states. Here the schedules are built and executed
 * on a machine, for any n, and the values counted. If two states do have the same value, the
 * proof's own argument says how the machine comes to grief: check_lower_refute executes that, too.
 *
 * k is the report's l, the number of seats; r, the robustness, is what the report calls k.
 */
#ifndef USHER_CHECK_LOWER_H
#define USHER_CHECK_LOWER_H

#include "check/explore/instance.h"
#include "check/explore/search.h"

enum check_theorem { CHECK_THEOREM_5_1, CHECK_THEOREM_5_2, CHECK_THEOREM_5_3, CHECK_THEOREMS };

/* "5.1", and the bound for people. */
const char *check_theorem_name(enum check_theorem theorem);
const char *check_theorem_formula(enum check_theorem theorem);

/* 5.1 and 5.3: k(n-k) values. 5.2: k binom(n-k-1, 2). 0 where the theorem says nothing. */
uint64_t check_theorem_bound(enum check_theorem theorem, unsigned n, unsigned k);

/* The states q(i,j) of the proof. As many as the bound, but of 5.2 there are n-k-1 more: its
   induction ends with one seat, where the Lemma gives more than the theorem takes. */
unsigned check_theorem_states(enum check_theorem theorem, unsigned n, unsigned k);

/* q(i,j); of 5.2 at some depth of the induction, where so many processes hold a seat for ever. */
struct check_place {
    unsigned held, i, j;
};

/* A run under way, and the steps that were taken. */
struct check_run {
    struct check_instance at;
    struct check_schedule made;
    int error; /* -ENOMEM: `made` is not complete */
};

void check_run_init(struct check_run *run, const struct step_system *system);
/* `to` has been initialized, or is all zero. 0 or -ENOMEM. */
int check_run_copy(struct check_run *to, const struct check_run *from);
void check_run_free(struct check_run *run);

/* One step; where does it lead? */
enum step_region check_run_step(struct check_run *run, unsigned process);

/* Let a process take steps alone until it enters a region; false if it never does. */
bool check_run_until(struct check_run *run, unsigned process, enum step_region region);

/* From R to C so often, by steps of the process alone; it ends in C. */
bool check_run_cycles(struct check_run *run, unsigned process, unsigned times);

/*
 * How often "b+1 times" is, for a bound b that is not known. The proofs only need it to be enough;
 * that it was is seen from what they promise of the states, which is tried out in each of them.
 */
enum { CHECK_ENOUGH_CYCLES = 8 };

/* Called with each state; it may use up `run`. 0, or an error that ends the walk. */
typedef int check_place_visitor(void *context, struct check_run *run, struct check_place place);

/*
 * Lead `system` through all states q(i,j). *executable is false if somebody did not get where the
 * proof needs it, or somebody who must be enabled is not; then the walk ended there. So it is for
 * systems with a supervisor, of whom the proofs know nothing. 0 or -ENOMEM, or what a visitor
 * returned.
 */
int check_lower_walk(enum check_theorem theorem, const struct step_system *system,
                     check_place_visitor *visit, void *context, bool *executable);

struct check_lower {
    unsigned states;   /* q(i,j) that were reached */
    unsigned distinct; /* their different values */
    bool executable;
    struct check_place same[2]; /* if distinct < states: the first two that look alike */
};

/* 0 or -ENOMEM. */
int check_lower_run(enum check_theorem theorem, const struct step_system *system,
                    struct check_lower *lower);

/* What the proof makes of two states with one value. */
struct check_refutation {
    bool refuted;
    enum step_property property; /* exclusion, or C4: bounded waiting (5.1: C4, 5.3: C4') */
    unsigned waiter, other;      /* of bounded waiting: who waits for whom */
    struct check_schedule trace; /* from the start to the violation */
};

/* 0 or -ENOMEM. */
int check_lower_refute(enum check_theorem theorem, const struct step_system *system,
                       const struct check_lower *lower, struct check_refutation *refutation);

#endif
