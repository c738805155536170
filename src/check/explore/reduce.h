/*
 * Exploration without the reads that make no difference.
 *
 * A machine may say of a private state that the next step is heedless: it reads, and whatever it
 * reads it leads to the same private state, in the same region and on the same side of the doorway
 * (step_machine.heedless). In a reduced graph a process takes such steps together with the step
 * before them: an edge is one step, and then all heedless ones of the same process that follow.
 *
 * What is the same in the full and the reduced graph. Let h be a heedless step of P_i, and g a step
 * of another. h changes nothing that g sees, and g nothing that matters to h, so gh and hg lead to
 * the same state. So in any run each heedless step can be moved forward until it is next to the
 * step of P_i before it; that gives a run of the reduced graph. Every run of the reduced graph is a
 * run of the full one anyway. Between the two runs only the places of heedless steps differ, and
 * regions, shared memory and the sides of doorways are as they were, but for repetitions.
 * There are no infinitely many heedless steps in a row (an exploration that finds too many ends
 * with a complaint), so who takes infinitely many steps, or finitely many, does so in both. One
 * that stops in the midst of heedless steps stops behind them: nobody sees the difference.
 *
 * Thus everything that is said by regions, waiting rooms, shared values, and who goes on for ever
 * and who stops, is the same: exclusion; C-enabled and R-enabled (1989), and with them deadlock,
 * fifo, first-in, first-enabled, overtakings and entries; progress, lockout, starvation. So is
 * prompt: a process rests before a heedless step of its own if and only if it rests behind it. What
 * counts single steps is not: "its next step takes it to C" (1979), and so C2, C4', C5' and C6. Nor
 * is what looks at each state: invariant. These are not decided on a reduced graph.
 *
 * The machine's word is not taken for it: check_reduce_certify.
 */
#ifndef USHER_CHECK_REDUCE_H
#define USHER_CHECK_REDUCE_H

#include "check/decide/property.h"

/*
 * Let a process take its heedless steps. Each private state before one is numbered among the
 * private parts of `seen`, if that is not NULL. 0; -ENOMEM; -EDOM if a step is not what the machine
 * says, or there are too many.
 */
int check_reduce_run(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process, struct check_seen *seen);

/*
 * Execute every heedless step that was left out on every shared memory that was found. If all are
 * heedless indeed, then no run of the full graph meets one that is not: the first that did would
 * have read what is in no shared memory of the reduced graph, although up to there the runs have
 * the same ones. (Of machines with a canonical form this is evidence, not a proof: there the step
 * is tried on canonical memories only.) False if one is not.
 */
bool check_reduce_certify(const struct check_graph *graph);

/* Put the heedless steps back into all traces and loops. 0 or -ENOMEM. */
int check_reduce_expand(const struct check_graph *graph, struct check_report *report);

/* Is the property the same in a reduced graph? */
bool check_reduce_keeps(enum step_property property);

#endif
