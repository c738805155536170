/*
 * The process of first-in, first-enabled l-exclusion on registers (Afek, Dolev, Gafni, Merritt,
 * Shavit, 1994, Fig. 2; l is k here), over any timestamp system. fife.c and fife_bounded.c have the
 * machines, with one system each.
 *
 *     0.  remainder
 *     1.  x_i := true                                             one step; the doorway begins
 *     2.  Label_i
 *     4.  S_i := the others j with x_j                            n-1 reads; the doorway ends
 *     6.  y_j := x_j for all j in S_i                             |S_i| reads; the waiting room
 *     7.  Scan_i, about those of S_i with y_j
 *     9.  goto 6 unless fewer than k of them are before i
 *     10. critical section
 *     11. x_i := false                                            one step; the exit begins
 *     12. Label_i
 *
 * What is not read is what makes no difference: the process's own flag, and the order of those that
 * cannot be in Test_i. Words 0..n-1 are the flags x_i; those of the timestamps follow.
 */
#ifndef USHER_PAPERS_FIFE_MACHINE_H
#define USHER_PAPERS_FIFE_MACHINE_H

#include "step/step.h"

/*
 * What Fig. 2 asks of a timestamp system; a machine's `subject`. A process does one operation at a
 * time. Its part of the system is all zero at first, and lies behind its own private state.
 */
struct fife_timestamps {
    unsigned state_bytes; /* of a process's part */

    /* Begin to label. True if there is nothing to do: nobody else is there. */
    bool (*label)(const struct step_system *system, void *part, unsigned process);
    /* One step of labelling; true if it is finished. */
    bool (*label_step)(const struct step_system *system, struct step_memory *memory, void *part,
                       unsigned process);
    /* Begin to scan, asking about those in `whom`, at least one and not the process itself. */
    void (*scan)(const struct step_system *system, void *part, unsigned process, uint64_t whom);
    /* One step of scanning; true if it is finished. *before is how many of those asked about this
       step has found to be before the process. */
    bool (*scan_step)(const struct step_system *system, struct step_memory *memory, void *part,
                      unsigned process, unsigned *before);
};

/* What a broken variant drops: bits of step_machine.variant. All others are the timestamps'. */
enum fife_broken {
    FIFE_NO_RELABEL = 1 << 4,  /* line 12 */
    FIFE_LABEL_FIRST = 1 << 5, /* line 1 comes before line 2 */
    FIFE_EVERYONE = 1 << 6,    /* line 4 */
    FIFE_ONE_MORE = 1 << 7     /* fewer than k, not k+1 */
};

/* What any timestamp system gives (1994, Lemmas 4.1, 4.3, 4.4). */
#define FIFE_CLAIMS                                                                                \
    (STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_PROGRESS) |                \
     STEP_CLAIM(STEP_LOCKOUT) | STEP_CLAIM(STEP_STARVATION) | STEP_CLAIM(STEP_FIRST_IN))

/* Bytes of a whole private state. */
unsigned fife_private_bytes(const struct fife_timestamps *timestamps);

/* The first process's part of the timestamps; the others lie private_bytes apart. */
void *fife_parts(void *states);

/* For step_machine. */
void fife_step(const struct step_system *system, struct step_memory *memory, void *state,
               unsigned process);
enum step_region fife_region(const struct step_system *system, const void *state);
bool fife_waiting_room(const struct step_system *system, const void *state);

/* Over timestamps whose Scan_i is a read for each that is asked about, and keeps nothing of it:
   once enough are before i, the rest of the scan makes no difference. */
bool fife_heedless(const struct step_system *system, const void *state, unsigned process);

#endif
