/*
 * Exploration without the reads that make no difference.
 *
 * A machine may mark the next step of a private state as heedless: the step reads, and whatever it
 * reads it leads to the same private state, in the same region and on the same side of the doorway
 * (step_machine.heedless). In a reduced graph a process takes such steps together with the step
 * before them: an edge is one step, and then all heedless ones of the same process that follow.
 *
 * Which properties stay the same. Let h be a heedless step of P_i, and g a step of another process.
 * h changes nothing that g sees, and g changes nothing that matters to h, so gh and hg lead to the
 * same state. So in any run each heedless step can be moved to directly after the previous step of
 * P_i; the result is a run of the reduced graph. Every run of the reduced graph is also a run of
 * the full one. The two runs differ only in the positions of heedless steps: regions, shared memory
 * and sides of doorways are the same, except for repetitions. There are never infinitely many
 * heedless steps in a row (an exploration that finds too many fails), so each process takes
 * infinitely many steps in both runs or in neither. A process that stops between heedless steps is
 * taken to stop after them: no other process sees the difference.
 *
 * So every property stays the same that depends only on regions, waiting rooms, shared values and
 * the sets of processes that step for ever and that stop: exclusion; C-enabled and R-enabled
 * (1989), and with them deadlock, fifo, first-in, first-enabled, overtakings and entries; progress,
 * lockout, starvation. So does prompt: a process rests before its heedless step if and only if it
 * rests after it. Properties that count single steps do not: "its next step takes it to C" (1979),
 * and so C2, C4', C5' and C6. Neither does invariant, which is about each state. These are not
 * decided on a reduced graph.
 *
 * check_reduce_certify checks the marks of the machine.
 */
#ifndef USHER_CHECK_REDUCE_H
#define USHER_CHECK_REDUCE_H

#include "check/decide/property.h"

/*
 * Execute the heedless steps of a process. If `seen` is not NULL, number the private state before
 * each among its private parts. 0; -ENOMEM; -EDOM if a marked step is not heedless, or there are
 * too many in a row.
 */
int check_reduce_run(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process, struct check_seen *seen);

/*
 * Execute every heedless step that was left out on every shared memory that was found. False if one
 * of them is not heedless. If all are, no run of the full graph contains a marked step that is not
 * heedless: up to the first such step both runs have the same shared memories, so it would have
 * read a memory that was tried. (For machines with a canonical form this is evidence, not a proof:
 * the step is tried on canonical memories only.)
 */
bool check_reduce_certify(const struct check_graph *graph);

/* Put the heedless steps back into all traces and loops. 0 or -ENOMEM. */
int check_reduce_expand(const struct check_graph *graph, struct check_report *report);

/* Is the property the same in a reduced graph? */
bool check_reduce_keeps(enum step_property property);

#endif
