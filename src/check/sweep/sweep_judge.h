/* Judge the loops of one group: for sweep.c alone. */
#ifndef USHER_CHECK_SWEEP_JUDGE_H
#define USHER_CHECK_SWEEP_JUDGE_H

#include "check/sweep/sweep_group.h"
#include "check/sweep/sweep_parts.h"

struct check_loops {
    uint64_t trying;  /* loops with a process in T */
    const char *what; /* a property that a loop violates, or NULL */
    uint32_t state;   /* a state of that loop */
};

/*
 * Judge the loops of a group that is fully explored. `edges` has, for each state and process, the
 * state that the step leads to, or the number of states if the step leaves the group; it must have
 * room for one more state. 0 or -ENOMEM.
 */
int check_sweep_judge(const struct check_sweep_parts *parts, const struct check_groups *groups,
                      const struct check_group *group, uint32_t *edges, struct check_loops *loops);

#endif
