/* The lower bound on shared values (1989, section 5) and the schedules of its proof. */
#ifndef USHER_CHECK_SPACE_H
#define USHER_CHECK_SPACE_H

#include "step/step.h"

/* Theorem 5.8: k binom(N-k-1, 2) + N-k-1 values for N >= k+2; 0 for fewer processes, which the
   theorem does not cover. */
uint64_t check_lower_bound(unsigned n, unsigned k);

struct check_schedules {
    unsigned tried;    /* schedules h(i,j), k <= j < i <= N-1, executed to their end */
    unsigned distinct; /* distinct shared values they lead to */
    bool executable;   /* false: some process did not get where the schedule needs it */
};

/* Execute the schedules h(i,j) of section 5.2 from the initial state. By Lemma 5.7 they lead to
   distinct shared values in every system that solves the k-critical section problem. 0 or -ENOMEM.
   */
int check_schedules_run(const struct step_system *system, struct check_schedules *schedules);

#endif
