/*
 * Explore a machine whose states do not fit in memory: group by group, each forgotten when done.
 *
 * The machine tells how far a state has progressed (step_machine.stage and phase): bytes that no
 * step and no event makes smaller. States with the same bytes form a group. A step leads to the
 * same group or to one with a larger sum of bytes. The sweep explores the groups in order of their
 * sums, each to its end; after that no step leads back to it, and its states are freed. Memory
 * holds the groups being explored and the states already found of later groups; those go to a file
 * if memory runs short. States are compared in full, never by a hash alone.
 *
 * Decided, with the same result as on the whole graph:
 *
 *     exclusion, invariant    in each state, when it is found
 *     lockout                 a loop never leaves its group, and a process in T stays in T there:
 *                             so the loops of each group are judged in the group. Lockout implies
 *                             starvation and progress
 *     solo                    a process that runs alone ends its operation: a violation is a loop
 *
 * No other property is decided, and no steps are counted. There are no traces: the sweep shows the
 * state in which a property is violated.
 *
 * Mirrored: some processes may swap names without any effect (step_machine.mirror). The sweep then
 * keeps one of a state and its mirror image when a step enters a group. Steps inside a group stay
 * as they are, so that a loop keeps its processes. The machine does not define images: for every
 * step executed, the image's process executes it on the image of the memory, and the results are
 * each other's images. The sweep checks for every step that each part has exactly one image. So the
 * images of explored states are reachable, and together with the explored states they are all.
 *
 * Settled: a machine may replace a private state by one with the same future in the present shared
 * memory (step_machine.settle). The sweep does so after each step for the process that stepped,
 * and for all others if shared memory changed. This leaves out steps that change nothing. It
 * changes no shared memory and no phase, and no process loses all its steps in a loop: the decided
 * properties stay the same. The sweep cannot check `settle` itself; tests/pool_sweep_test.c
 * compares with the whole graph at small sizes.
 *
 * Everything else that the machine promises is checked: a byte that becomes smaller, a process
 * without an image or a step with more than one access ends the sweep with a sentence.
 */
#ifndef USHER_CHECK_SWEEP_H
#define USHER_CHECK_SWEEP_H

#include "check/decide/property.h"
#include "step/step.h"

#include <stdio.h>

struct check_sweep_options {
    size_t memory;    /* bytes for states; 0: check_budget_default() */
    unsigned threads; /* groups explored at once, all of one sum; 0: one a processor */
    bool mirrored, settled;
    const char *spill; /* directory for a file of states that do not fit in memory, or NULL */
    FILE *progress;    /* a line every five seconds goes here, or NULL */
    FILE *violation;   /* the state that violates a property goes here; NULL: to `progress` */
};

struct check_sweep {
    uint64_t states;          /* explored */
    uint64_t all_states;      /* explored, plus mirror images; if not complete: explored */
    uint64_t transitions;     /* steps and events from the explored states */
    uint64_t full_states;     /* states with k in C and a process in T: these test exclusion */
    uint64_t loops;           /* loops with a process in T: these test lockout */
    uint32_t groups, largest; /* number of groups, states of the largest */
    uint32_t shared_parts, private; /* distinct shared memories, distinct private states */
    size_t most;                    /* bytes used at most */
    uint64_t spilled;               /* states written to the file; a state may count twice */
    double seconds;
    bool complete;        /* false: no more room, or a violation, ended the sweep */
    const char *violated; /* the violated property, or NULL */
    const char *why;      /* how, for a violated invariant */
    const char *broken;   /* how the machine broke its contract, or NULL */
};

/* The largest n that can be swept. */
enum { CHECK_SWEEP_PROCESSES = 5 };

/* The name of the property that only a sweep decides: a process that runs alone ends its
   operation. */
#define CHECK_SWEEP_SOLO "solo"

/* Why the system cannot be swept, as a sentence without its subject; NULL if it can. */
const char *check_sweep_refusal(const struct step_system *system);

/* Explore `system` into `sweep`. 0; -EINVAL if check_sweep_refusal has a reason; -ENOMEM; or the
   error of creating the file in options->spill. */
int check_sweep(struct check_sweep *sweep, const struct step_system *system,
                const struct check_sweep_options *options);

/* Write the verdicts of a sweep into `report`, and that on CHECK_SWEEP_SOLO, which has no place
   there, into `solo`. A violated property has no trace. */
void check_sweep_report(const struct step_system *system, const struct check_sweep *sweep,
                        struct check_report *report, struct check_result *solo);

#endif
