/*
 * Shared space: the theorems' lower bound (1989, section 5) and the schedules that prove it.
 */
#ifndef USHER_CHECK_SPACE_H
#define USHER_CHECK_SPACE_H

#include "step/step.h"

/* Theorem 5.8: k binom(N-k-1, 2) + N-k-1 values for N >= k+2; 0 for fewer processes, where the
   theorem says nothing. */
uint64_t check_lower_bound(unsigned n, unsigned k);

struct check_schedules {
    unsigned tried;    /* schedules h(i,j), k <= j < i <= N-1, executed to their end */
    unsigned distinct; /* different shared values they lead to */
    bool executable;   /* false: some process did not get where the schedule needs it */
};

/* Execute the schedules h(i,j) of section 5.2 from the initial state. By Lemma 5.7 they lead to
   different shared values in every system that solves the k-critical section problem. */
int check_schedules_run(const struct step_system *system, struct check_schedules *schedules);

#endif
