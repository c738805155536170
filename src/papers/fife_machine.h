/*
 * The process of first-in, first-enabled l-exclusion on registers (Afek, Dolev, Gafni, Merritt,
 * Shavit, 1994, Fig. 2; l is k here), over any timestamp system. fife.c and fife_bounded.c have the
 * machines, each with one timestamp system.
 *
 *     0.  remainder
 *     1.  x_i := true                                 one step; the doorway begins
 *     2.  Label_i
 *     4.  S_i := the others j with x_j                n-1 reads; the doorway ends
 *     6.  y_j := x_j for all j in S_i                 |S_i| reads; the waiting room
 *     7.  Scan_i, about the j in S_i with y_j
 *     9.  goto 6 unless fewer than k of them are before i
 *     10. critical region
 *     11. x_i := false                                one step; the exit region begins
 *     12. Label_i
 *
 * Reads that make no difference are left out: the process's own flag, and labels of processes that
 * cannot be in Test_i. Words 0..n-1 are the flags x_i; the words of the timestamps follow.
 */
#ifndef USHER_PAPERS_FIFE_MACHINE_H
#define USHER_PAPERS_FIFE_MACHINE_H

#include "step/step.h"

/*
 * The timestamp system that Fig. 2 needs; a machine's `subject`. A process runs one operation at a
 * time. Its part of the timestamp state is all zero at first, and follows its own private state.
 */
struct fife_timestamps {
    unsigned state_bytes; /* bytes of a process's part */

    /* Begin Label_i. True if it is already finished, because there is no other process. */
    bool (*label)(const struct step_system *system, void *part, unsigned process);
    /* Take one step of Label_i; true if it is finished. */
    bool (*label_step)(const struct step_system *system, struct step_memory *memory, void *part,
                       unsigned process);
    /* Begin Scan_i about the processes in `whom`: at least one, and not the process itself. */
    void (*scan)(const struct step_system *system, void *part, unsigned process, uint64_t whom);
    /* Take one step of Scan_i; true if it is finished. *before is the number of processes asked
       about that this step found before process i. */
    bool (*scan_step)(const struct step_system *system, struct step_memory *memory, void *part,
                      unsigned process, unsigned *before);
};

/* The guard that a broken variant drops: bits of step_machine.variant. The other bits belong to the
   timestamps. */
enum fife_broken {
    FIFE_NO_RELABEL = 1 << 4,  /* line 12 */
    FIFE_LABEL_FIRST = 1 << 5, /* line 1 is before line 2 */
    FIFE_EVERYONE = 1 << 6,    /* line 4 */
    FIFE_ONE_MORE = 1 << 7     /* fewer than k before, not fewer than k+1 */
};

/* The properties over any correct timestamp system (1994, Lemmas 4.1, 4.3, 4.4). */
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

/* Is the next read heedless? For timestamps whose Scan_i is one read for each process asked about:
   once k of them are before i, the rest of the scan makes no difference. */
bool fife_heedless(const struct step_system *system, const void *state, unsigned process);

#endif
