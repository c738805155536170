/*
 * Supervisor elimination (Fischer, Lynch, Burns, Borodin, 1979, Lemma 4.3): from any system of n
 * workers and a supervisor, construct an ordinary system of n processes that simulates it.
 *
 * A process that takes a step makes its worker's step and then, if it can, one step of the
 * supervisor.
 *
 * - SHARE: at most `threshold` processes are in T. The supervisor's state is in shared memory, and
 *   every step is followed by a step of the supervisor.
 * - DIST: more processes are in T. At least r helpers keep copies of the supervisor's state in
 *   their private memories; fewer than r of them can fail.
 *
 * A helper holds one of 3r-1 slots. A slot has a status:
 *
 *     FREE      it has no holder
 *     RECEIVE   its holder has no copy, and is receiving one
 *     CURRENT   its holder has a copy of the supervisor's state
 *     PREVIOUS  its holder has a copy that is one supervisor step behind
 *     DEAD      its holder has no useful copy, and frees the slot with its next step
 *
 * A stage begins with a step of the supervisor, which any holder of a CURRENT copy can make once r
 * helpers (`stateholders`) have one. CURRENT slots then become PREVIOUS. The shared variable `step`
 * is the number of the transition, one of a few, and the holder of a PREVIOUS copy applies it to
 * its copy. The other helpers receive the state bit by bit from holders of CURRENT copies, through
 * a channel for each pair of slots: READY -> bit -> READY -> .. -> DONE.
 *
 *     shared variable   value | xs | step, stateholders, loccur, locprev | status | channels
 *     private state     worker | x | slot, prevhelper | n and rbuf, of each slot
 *
 * Corrections to the report as scanned:
 *
 * - `step` is computed from the value before the step (the scan computes it after).
 * - `s := t` is added where a process takes a slot.
 * - xs keeps the old state on SHARE -> DIST: processes that take slots in that stage start from it.
 *
 * Variables that no process will read again are zeroed, so that states with the same behaviour are
 * equal: xs on DIST -> DIST; step and channels on the return to SHARE; in private states everything
 * that belongs to a freed slot, and prevhelper without a slot. The report keeps the old contents.
 *
 * Invariants (eliminated_wrong, and with a ghost eliminated_watched_wrong):
 *     SHARE: xs is the supervisor's state, every slot is FREE or DEAD, stateholders = 0
 *     DIST after SHARE: xs is the state before the last step
 *     a slot is FREE or has exactly one holder, which is in T, or became a drone in T
 *     x of CURRENT is the supervisor's state; x of PREVIOUS is the state one step before
 *     stateholders = the helpers whose slot is CURRENT <= r
 *     rbuf of RECEIVE: a prefix of the supervisor's state; with DONE in the channel, all of it
 */
#ifndef USHER_PAPERS_ELIMINATED_H
#define USHER_PAPERS_ELIMINATED_H

#include "papers/supervised.h"

enum {
    ELIMINATED_MOST_R = 5,      /* limit of the robustness r */
    ELIMINATED_MOST_BITS = 512, /* limit of the encoding of a supervisor's state */
    ELIMINATED_SLOTS = 3 * ELIMINATED_MOST_R - 1
};

/* machine.variant: the lower half belongs to the subject; the upper half is the broken part. */
enum eliminated_broken {
    ELIMINATED_TRANSNO_LATE = 1 << 16, /* step := transno(v) with v after the step: as printed */
    ELIMINATED_XS_NEW = 2 << 16,       /* xs is the new state also on SHARE -> DIST */
    ELIMINATED_QUITTER_LEAVES =
        3 << 16, /* a holder of PREVIOUS that is not a helper now frees its slot */
    ELIMINATED_QUITTER_STAYS =
        4 << 16, /* prevhelper is ignored: a quitter never frees a PREVIOUS slot */
    ELIMINATED_DRONE_STAYS = 5 << 16,     /* a drone keeps its slot */
    ELIMINATED_NOT_DEAD = 6 << 16,        /* slots are not made DEAD on the return to SHARE */
    ELIMINATED_RECEIVE_ON = 7 << 16,      /* a supervisor step does not make RECEIVE DEAD */
    ELIMINATED_PREVIOUS_ON = 8 << 16,     /* a supervisor step does not make PREVIOUS DEAD */
    ELIMINATED_CURRENT_ON = 9 << 16,      /* a supervisor step does not make CURRENT PREVIOUS */
    ELIMINATED_HOLDERS_KEPT = 10 << 16,   /* a supervisor step does not reset stateholders */
    ELIMINATED_HOLDERS_FEWER = 11 << 16,  /* r-1 stateholders are enough */
    ELIMINATED_HOLDERS_ANY = 12 << 16,    /* quitters are counted in stateholders too */
    ELIMINATED_CHANNELS_KEPT = 13 << 16,  /* a supervisor step does not reset channels */
    ELIMINATED_RBUF_KEPT = 14 << 16,      /* rbuf is not cleared when a slot is taken */
    ELIMINATED_SENT_KEPT = 15 << 16,      /* n is not reset when a copy becomes CURRENT */
    ELIMINATED_SLOT_FEWER = 16 << 16,     /* 3r-2 slots */
    ELIMINATED_ANYBODY_TAKES = 17 << 16,  /* quitters take slots too */
    ELIMINATED_ALWAYS_SERVES = 18 << 16,  /* slots are serviced also with r stateholders */
    ELIMINATED_NO_CHANNELS = 19 << 16,    /* nothing is sent */
    ELIMINATED_THRESHOLD_LESS = 20 << 16, /* the state is distributed at c1 processes in T */
    /* Combined with one of these, or alone: a message is one bit long, and the ghost supplies the
       state. For watched machines only; it breaks nothing. */
    ELIMINATED_SHORT = 1 << 30
};

/* Members of a step machine whose subject is a struct supervised; machine.wide is true. `wrong`
   checks that copies agree, and the invariants above. */
int eliminated_prepare(struct step_system *system, char why[STEP_WHY_BYTES]);
void eliminated_init(const struct step_system *system, uint64_t *words);
void eliminated_step(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process);
enum step_region eliminated_region(const struct step_system *system, const void *state);
const char *eliminated_wrong(const struct step_system *system, const uint64_t *words,
                             const void *states);
int eliminated_print_all(const struct step_system *system, const uint64_t *words, char *out,
                         size_t size);

/* Bits of a shared word behind value and xs, if the supervisor has at most `steps` transitions from
   one state (c3). The subject knows the bits of value and xs. */
unsigned eliminated_bits(const struct step_system *system, unsigned word, unsigned steps);

/* Will the next step of the process with this private state simulate a step of the supervisor? */
bool eliminated_simulates(const struct step_system *system, const uint64_t *words,
                          const void *state);

/*
 * The same machine with a ghost behind the shared words: the state of a supervisor that runs
 * alongside, and its previous state. No step reads the ghost (except with ELIMINATED_SHORT). Each
 * step is compared with the subject's own: (S1) to (S3). For the checker only; the ghost's words
 * are not shared values of the algorithm.
 */
int eliminated_watched_prepare(struct step_system *system, char why[STEP_WHY_BYTES]);
void eliminated_watched_init(const struct step_system *system, uint64_t *words);
void eliminated_watched_step(const struct step_system *system, struct step_memory *memory,
                             void *state, unsigned process);
const char *eliminated_watched_wrong(const struct step_system *system, const uint64_t *words,
                                     const void *states);

/* A canonical form for the checker, for a machine without a broken part: eliminated_rebase.c. */
void eliminated_rebase(const struct step_system *system, uint64_t *words, void *states);

/* The watched version of `machine`, which must consist of the functions above. */
struct step_machine eliminated_watched(const struct step_machine *machine);

#endif
