/*
 * Supervisor elimination (Fischer, Lynch, Burns, Borodin, 1979, Lemma 4.3): from any system of
 * n workers and a supervisor, an ordinary system of n processes that simulates it.
 *
 * Whoever steps makes its worker's step, and then, if it can, one step of the supervisor. While few
 * are in T (at most `threshold`) the supervisor's state is in shared memory, and every step of
 * anybody is followed by one of the supervisor: SHARE. While there are more, it is kept by helpers,
 * in their private memories, r times at least, of whom fewer than r can fail: DIST. Helpers hold
 * slots, 3r-1 of them, and each slot has a status:
 *
 *     FREE      nobody holds it
 *     RECEIVE   its holder has no copy, and receives one
 *     CURRENT   its holder has a copy of the supervisor's state
 *     PREVIOUS  its holder has a copy that is one supervisor step behind
 *     DEAD      its holder has nothing of worth, and gives the slot back with its next step
 *
 * A stage begins with a step of the supervisor, by any holder of a CURRENT copy once r helpers
 * (`stateholders`) have one. What was CURRENT is then PREVIOUS; `step`, in shared memory, says
 * which of the few possible steps it was, so who is PREVIOUS can follow. Everybody else receives
 * the state bit by bit from those who have it, through a channel for each pair of slots:
 * READY -> bit -> READY -> .. -> DONE.
 *
 *     shared variable   value | xs | step, stateholders, loccur, locprev | status | channels
 *     private state     worker | x | slot, prevhelper | n and rbuf, of each slot
 *
 * Corrections to the report as scanned: the number of the supervisor's step is that of the value
 * before the step (the scan computes it after); `s := t` where a slot is taken; xs keeps the old
 * state on SHARE -> DIST, for those who take slots in that stage start from it.
 *
 * What nobody will read again is zero, so that states that behave alike are one state: xs on
 * DIST -> DIST, step and channels on the return to SHARE, of private states what belongs to a slot
 * that was given back, and prevhelper without a slot. The report leaves the old contents there.
 *
 * What holds in every state (eliminated_wrong, and with a ghost eliminated_watched_wrong):
 *     SHARE: xs is the supervisor's state, every slot is FREE or DEAD, stateholders = 0
 *     DIST after SHARE: xs is the state before the last step
 *     a slot is FREE or has exactly one holder; who holds one is in T, or was made a drone in T
 *     x of CURRENT is the supervisor's state; x of PREVIOUS, the state before, and follows to it
 *     stateholders = the helpers whose slot is CURRENT <= r
 *     rbuf of RECEIVE: a prefix of the supervisor's state; with DONE in the channel, all of it
 */
#ifndef USHER_PAPERS_ELIMINATED_H
#define USHER_PAPERS_ELIMINATED_H

#include "papers/supervised.h"

enum {
    ELIMINATED_MOST_R = 5,      /* the largest robustness, */
    ELIMINATED_MOST_BITS = 512, /* and the longest encoding of a supervisor's state */
    ELIMINATED_SLOTS = 3 * ELIMINATED_MOST_R - 1
};

/* machine.variant: the lower half is the subject's, the upper half says what of this is broken. */
enum eliminated_broken {
    ELIMINATED_TRANSNO_LATE = 1 << 16,    /* step := transno(v) with v after the step: as printed */
    ELIMINATED_XS_NEW = 2 << 16,          /* xs is the new state on SHARE -> DIST, too */
    ELIMINATED_QUITTER_LEAVES = 3 << 16,  /* who is PREVIOUS and no helper now gives its slot up */
    ELIMINATED_QUITTER_STAYS = 4 << 16,   /* prevhelper is not asked: nobody gives it up for that */
    ELIMINATED_DRONE_STAYS = 5 << 16,     /* a drone keeps its slot */
    ELIMINATED_NOT_DEAD = 6 << 16,        /* slots stay what they are on the return to SHARE */
    ELIMINATED_RECEIVE_ON = 7 << 16,      /* RECEIVE is not made DEAD by a step */
    ELIMINATED_PREVIOUS_ON = 8 << 16,     /* nor PREVIOUS */
    ELIMINATED_CURRENT_ON = 9 << 16,      /* CURRENT is not made PREVIOUS by a step */
    ELIMINATED_HOLDERS_KEPT = 10 << 16,   /* stateholders is not reset by a step */
    ELIMINATED_HOLDERS_FEWER = 11 << 16,  /* r-1 of them are enough */
    ELIMINATED_HOLDERS_ANY = 12 << 16,    /* who quits is counted, too */
    ELIMINATED_CHANNELS_KEPT = 13 << 16,  /* channels are not reset by a step */
    ELIMINATED_RBUF_KEPT = 14 << 16,      /* rbuf is not cleared when a slot is taken */
    ELIMINATED_SENT_KEPT = 15 << 16,      /* n is not reset when a copy is new */
    ELIMINATED_SLOT_FEWER = 16 << 16,     /* 3r-2 slots */
    ELIMINATED_ANYBODY_TAKES = 17 << 16,  /* who quits takes slots, too */
    ELIMINATED_ALWAYS_SERVES = 18 << 16,  /* slots are serviced with r stateholders, too */
    ELIMINATED_NO_CHANNELS = 19 << 16,    /* nothing is ever sent */
    ELIMINATED_THRESHOLD_LESS = 20 << 16, /* the state is distributed with one fewer in T */
    /* Beside one of these, or alone: a message is one bit long, and the ghost supplies the rest.
       Of watched machines only; nothing is broken by it. */
    ELIMINATED_SHORT = 1 << 30
};

/* The functions of a step machine whose subject is a struct supervised; machine.wide is true. A
   state is wrong if two copies disagree, or as the table above says. */
int eliminated_prepare(struct step_system *system, char why[STEP_WHY_BYTES]);
void eliminated_init(const struct step_system *system, uint64_t *words);
void eliminated_step(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process);
enum step_region eliminated_region(const struct step_system *system, const void *state);
const char *eliminated_wrong(const struct step_system *system, const uint64_t *words,
                             const void *states);
int eliminated_print_all(const struct step_system *system, const uint64_t *words, char *out,
                         size_t size);

/* Bits that a shared word behind value and xs needs, with `steps` possible steps of the supervisor
   from one state (c3); the bits of value and xs are the subject's to tell. */
unsigned eliminated_bits(const struct step_system *system, unsigned word, unsigned steps);

/* Will the next step of the process with this private state simulate the supervisor's? */
bool eliminated_simulates(const struct step_system *system, const uint64_t *words,
                          const void *state);

/*
 * The same machine with a ghost behind the shared words: the state of a supervisor that runs
 * alongside, and its state one step before. No step reads it (but see ELIMINATED_SHORT). Each step
 * is compared with the subject's own: (S1) to (S3). For the checker; its shared values are not
 * those of the algorithm.
 */
int eliminated_watched_prepare(struct step_system *system, char why[STEP_WHY_BYTES]);
void eliminated_watched_init(const struct step_system *system, uint64_t *words);
void eliminated_watched_step(const struct step_system *system, struct step_memory *memory,
                             void *state, unsigned process);
const char *eliminated_watched_wrong(const struct step_system *system, const uint64_t *words,
                                     const void *states);

/* A canonical form for the checker, of a machine with nothing broken: eliminated_rebase.c. */
void eliminated_rebase(const struct step_system *system, uint64_t *words, void *states);

/* `machine`, which is made of the functions above, watched. */
struct step_machine eliminated_watched(const struct step_machine *machine);

#endif
