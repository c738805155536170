/* The loops of one group: for sweep.c alone. */
#ifndef USHER_CHECK_SWEEP_JUDGE_H
#define USHER_CHECK_SWEEP_JUDGE_H

#include "check/sweep/sweep_group.h"
#include "check/sweep/sweep_parts.h"

struct check_loops {
    uint64_t trying;  /* loops in which somebody tries */
    const char *what; /* a promise that one of them breaks, or NULL, */
    uint32_t state;   /* and a state of it */
};

/*
 * Judge the loops of a group, all of whose states are known. `edges` has for each state the state
 * that each process's step leads to, and the number of states where that is in another group; there
 * must be room for one state more. 0 or -ENOMEM.
 */
int check_sweep_judge(const struct check_sweep_parts *parts, const struct check_groups *groups,
                      const struct check_group *group, uint32_t *edges, struct check_loops *loops);

#endif
