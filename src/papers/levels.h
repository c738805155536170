/*
 * The code shared by NAIVE, EXCL and GTEX (Omori, Obokata, Motegi, Igarashi, 2002). A process wins
 * competitions one after the other; when it has won the last it is in C. This is not a machine:
 * each of the three machines defines its competitions.
 *
 * Shared memory is registers; a step reads one or writes one. Words 0..n-1 are level(i), written by
 * process i only. The words from n on are the turn registers, one for each competition. A process i
 * wins a competition as follows:
 *
 *        level(i) := level                                          one step
 *        turn := i                                                  one step
 *     L: count := the others j of the group with level(j) >= level  one step for each j
 *        if count <= bound or turn is not i: won, else goto L       one step
 *
 * To leave, it writes level(i) := 0, one step.
 *
 * The paper allows any initial value of turn. A process reads a turn register only after it has
 * written it in the same competition, so the initial value is never read, and one value stands for
 * all. tests/known_test.c explores others too.
 */
#ifndef USHER_PAPERS_LEVELS_H
#define USHER_PAPERS_LEVELS_H

#include "step/step.h"

/* The guard that a broken variant drops: bits of step_machine.variant. */
enum levels_broken {
    LEVELS_NO_TURN = 1 << 0,    /* a process also wins if turn is not i */
    LEVELS_TURN_FIRST = 1 << 1, /* level is written before turn */
    LEVELS_ABOVE = 1 << 2,      /* processes at the same level are counted */
    LEVELS_STAY = 1 << 3,       /* level is 0 after leaving */
    LEVELS_COUNT_ON = 1 << 4,   /* count starts at 0 in each loop */
    LEVELS_BOUND_MORE = 1 << 5, /* the bound is not one higher */
    LEVELS_BOUND_LESS = 1 << 6, /* the bound is not one lower */
    LEVELS_ONE_FEWER = 1 << 7,  /* the last competition is played */
    LEVELS_ALL_COUNT = 1 << 8,  /* only processes of the group are counted */
    LEVELS_SAME = 1 << 9,       /* a level at a node is above all levels at its sons */
    LEVELS_PRINTED = 1 << 10    /* a leaf has its own size, not 2k processes */
};

#define LEVELS_HAS(system, bit) (((system)->machine->variant & (unsigned)(bit)) != 0)

/* One competition of one process. */
struct levels_competition {
    unsigned first, past; /* the group: processes first..past-1, at least two */
    unsigned turn;        /* the word of its turn register */
    unsigned level;       /* the value of level(i); not 0; grows from one competition to the next */
    int bound;            /* won if at most this many others of the group are at `level` or above */
};

/* Find the competition of this number, from 0, of a process. False behind the last. */
typedef bool levels_find(const struct step_system *system, unsigned process, unsigned number,
                         struct levels_competition *competition);

/* The private state; all zero in R. */
struct levels_state {
    uint8_t stage;
    uint8_t number; /* the competition */
    uint8_t at;     /* the process whose level is read next */
    uint8_t count;  /* processes found at the level or above; the count stops at bound+1 */
};

/* Set the sizes for this many turn registers, and the claims of EXCL. Return 0, or -1 with a
   sentence in `why`. */
int levels_prepare(struct step_system *system, unsigned turns, char why[STEP_WHY_BYTES]);

void levels_init(const struct step_system *system, uint64_t *words);

void levels_step(const struct step_system *system, struct step_memory *memory,
                 struct levels_state *state, unsigned process, levels_find *find);

/* Is the next read heedless? The levels of others do not matter once the count exceeds the bound.
   turn does not matter while the count is within the bound, unless the step leads to C. */
bool levels_heedless(const struct step_system *system, const struct levels_state *state,
                     unsigned process, levels_find *find);

enum step_region levels_region(const struct step_system *system, const void *state);

/* For NAIVE and EXCL: all processes are one group, and turn(s) is word n+s-1. */
int levels_flat_print_word(const struct step_system *system, unsigned word, uint64_t value,
                           char *out, size_t size);

/* For NAIVE and EXCL: n^(n-k) (n-k+1)^n values (2002, section 7). */
double levels_flat_bound(const struct step_system *system);
extern const struct step_space levels_flat_space;

/* Mutants, defined in naive.c, excl.c and gtex.c. */
extern const struct step_machine papers_mutant_excl_no_turn, papers_mutant_excl_turn_first,
    papers_mutant_excl_above, papers_mutant_excl_stay, papers_mutant_excl_count_on,
    papers_mutant_excl_bound_more, papers_mutant_excl_bound_less, papers_mutant_excl_one_fewer,
    papers_mutant_gtex_printed, papers_mutant_gtex_all_count, papers_mutant_gtex_same,
    papers_mutant_gtex_bound_more, papers_mutant_gtex_one_fewer, papers_mutant_naive_bound_more,
    papers_mutant_naive_one_fewer;

#endif
