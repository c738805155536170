/*
 * Explore more states than memory holds: in groups, one after the other, that are forgotten when
 * they are done.
 *
 * A machine may say how far all has come (step_machine.stage and phase): bytes that no step and no
 * event ever makes smaller. States with the same bytes are a group. From a group there is a way to
 * groups with a larger sum of bytes only; so groups are explored in the order of their sums, each
 * to its end, and then nothing leads back to it. What is kept is the group at hand, and of those to
 * come the states already found, in a file where memory is short. That is exact: no state is told
 * from another by a hash alone.
 *
 * What is decided, as on the whole graph:
 *
 *     exclusion, invariant    in each state when it is found
 *     lockout                 a loop never leaves its group, nor does who tries then cease to: so a
 *                             component of the graph is one of its group, and is judged there. If
 *                             lockout holds so do starvation and progress, which ask for less
 *     nobody is stuck         running alone for ever is a loop, too
 *
 * Not decided: whatever else there is; how many steps anyone takes. There are no traces: of what is
 * violated the state is shown.
 *
 * Mirrored, if asked: a machine may say that it does not matter if two processes change their names
 * (step_machine.mirror). Then of a state and its mirror image only one need be kept, and is, where
 * their groups differ or where a group is entered; inside a group steps are left as they are, so
 * that a component has its own processes and not their images. What the image of a part is nobody
 * need say: every step that is executed is executed by the image's process on the image of the
 * memory, too, and what that leads to is the image of what this leads to. That an image never has
 * two originals, nor two images, is checked for every step of every state; so the mirror images of
 * the states explored are states of the system, and with these they are all.
 *
 * Settled, if asked: a machine may bring a private state into a form that nobody can tell from it
 * in the shared memory as it is (step_machine.settle). That is done to whoever steps, and to all
 * others when the shared memory has changed. What is left has fewer steps that change nothing, and
 * the same of all that is decided here: settling changes neither shared memory nor phase, and from
 * a loop it takes nobody's steps altogether. Whether a machine settles what it may is not seen
 * here; a test compares with all states (tests/pool_sweep_test.c), where there are not too many.
 *
 * For all else the machine's word is not taken: a byte that becomes smaller, a process that has no
 * image, a step that makes more than one access, end the exploration with a sentence.
 */
#ifndef USHER_CHECK_SWEEP_H
#define USHER_CHECK_SWEEP_H

#include "step/step.h"

#include <stdio.h>

struct check_sweep_options {
    size_t memory;    /* bytes; 0: check_budget_default() */
    unsigned threads; /* groups with one sum at once; 0: as many as there are processors */
    bool mirrored, settled;
    const char *spill; /* a directory on a disk, for states that memory has no room for; or NULL */
    FILE *progress;    /* where to show it, or NULL: a line now and then */
};

struct check_sweep {
    uint64_t states;      /* explored */
    uint64_t all_states;  /* those, and mirror images that were not */
    uint64_t transitions; /* steps and events from these */
    uint64_t full_states; /* states with k in C and somebody trying: exclusion put to the test */
    uint64_t loops;       /* components in which somebody tries: lockout put to the test */
    uint32_t groups, largest;       /* groups, and the states of the largest */
    uint32_t shared_parts, private; /* different shared memories, private states */
    size_t most;                    /* bytes used at most */
    uint64_t spilled;               /* states that were on the disk, some of them more than once */
    double seconds;
    bool complete;        /* false: the memory limit, or what is violated, ended it */
    const char *violated; /* what is, or NULL; */
    const char *why;      /* and how, if it is an invariant */
    const char *broken;   /* the machine does not keep to its word: what it did, or NULL */
};

/* 0, with what was found in `sweep`; or -EINVAL if the machine says nothing of stages, or has more
   processes than bytes; or why there is no file in the directory for states. */
int check_sweep(struct check_sweep *sweep, const struct step_system *system,
                const struct check_sweep_options *options);

#endif
