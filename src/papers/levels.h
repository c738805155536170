/*
 * What NAIVE, EXCL and GTEX (Omori, Obokata, Motegi, Igarashi, 2002) have in common: a process wins
 * competitions, one after the other, and is in C when it has won the last. Not a machine: each of
 * the three says which competitions there are.
 *
 * Shared memory is registers, and a step reads one or writes one. Words 0..n-1 are level(i), which
 * only process i writes; the words from n on are the turn registers, one for each competition. To
 * win one:
 *
 *        level(i) := level                                      one step
 *        turn := i                                              one step
 *     L: count := the others j of the group with level(j) >= level   one step for each j
 *        if count <= bound or turn is not i: won, else goto L   one step
 *
 * Leaving is level(i) := 0, one step.
 *
 * The paper lets turn begin with any value. A process reads a turn register only after it has
 * written it in the same competition, so what was there at first is never read, and one value
 * stands for all. tests/known_test.c explores others too.
 */
#ifndef USHER_PAPERS_LEVELS_H
#define USHER_PAPERS_LEVELS_H

#include "step/step.h"

/* What a broken variant drops: bits of step_machine.variant. */
enum levels_broken {
    LEVELS_NO_TURN = 1 << 0,    /* turn that is not i wins */
    LEVELS_TURN_FIRST = 1 << 1, /* level is written before turn */
    LEVELS_ABOVE = 1 << 2,      /* those at the same level count */
    LEVELS_STAY = 1 << 3,       /* level is 0 after leaving */
    LEVELS_COUNT_ON = 1 << 4,   /* count begins with 0 each time */
    LEVELS_BOUND_MORE = 1 << 5, /* the bound is not higher, */
    LEVELS_BOUND_LESS = 1 << 6, /* and not lower */
    LEVELS_ONE_FEWER = 1 << 7,  /* the last competition takes place */
    LEVELS_ALL_COUNT = 1 << 8,  /* only the group counts */
    LEVELS_SAME = 1 << 9,       /* a level at a node is above all levels at its sons */
    LEVELS_PRINTED = 1 << 10    /* a leaf is as large as it is, not of 2k processes */
};

#define LEVELS_HAS(system, bit) (((system)->machine->variant & (unsigned)(bit)) != 0)

/* One competition of one process. */
struct levels_competition {
    unsigned first, past; /* the group: processes first..past-1, at least two */
    unsigned turn;        /* the word of its turn register */
    unsigned level;       /* the value of level(i) in it; grows from one to the next; never 0 */
    int bound;            /* it is won if at most so many others of the group are that far */
};

/* The competition of this number, from 0, that a process has to win; false behind the last. */
typedef bool levels_find(const struct step_system *system, unsigned process, unsigned number,
                         struct levels_competition *competition);

/* The private state: all zero in R. */
struct levels_state {
    uint8_t stage;
    uint8_t number; /* of the competition */
    uint8_t at;     /* the process whose level is read next */
    uint8_t count; /* those found that far; more than bound+1 make no difference and are not kept */
};

/* Set the sizes for so many turn registers, and what EXCL claims. 0, or -1 with a sentence. */
int levels_prepare(struct step_system *system, unsigned turns, char why[STEP_WHY_BYTES]);

void levels_init(const struct step_system *system, uint64_t *words);

void levels_step(const struct step_system *system, struct step_memory *memory,
                 struct levels_state *state, unsigned process, levels_find *find);

/* The levels of others no longer matter once there are more than the bound; nor does turn if there
   are not, unless the step is the one that leads to C. */
bool levels_heedless(const struct step_system *system, const struct levels_state *state,
                     unsigned process, levels_find *find);

enum step_region levels_region(const struct step_system *system, const void *state);

/* Of NAIVE and EXCL, where everybody is in one group and turn(s) is word n+s-1. */
int levels_flat_print_word(const struct step_system *system, unsigned word, uint64_t value,
                           char *out, size_t size);

/* The same two: n^(n-k) (n-k+1)^n values (2002, section 7). */
double levels_flat_bound(const struct step_system *system);
extern const struct step_space levels_flat_space;

/* In naive.c, excl.c and gtex.c, for mutants.c. */
extern const struct step_machine papers_mutant_excl_no_turn, papers_mutant_excl_turn_first,
    papers_mutant_excl_above, papers_mutant_excl_stay, papers_mutant_excl_count_on,
    papers_mutant_excl_bound_more, papers_mutant_excl_bound_less, papers_mutant_excl_one_fewer,
    papers_mutant_gtex_printed, papers_mutant_gtex_all_count, papers_mutant_gtex_same,
    papers_mutant_gtex_bound_more, papers_mutant_gtex_one_fewer, papers_mutant_naive_bound_more,
    papers_mutant_naive_one_fewer;

#endif
