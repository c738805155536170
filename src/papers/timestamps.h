/*
 * UCTSS, the concurrent timestamp system with unbounded labels (Afek, Dolev, Gafni, Merritt,
 * Shavit, 1994, Fig. 1): which of two processes took its label earlier? This is not a machine but a
 * component for machines on registers.
 *
 * Label(i) is a register that only process i writes; all start with 0. A process has two
 * operations:
 *
 *     Label   reads Label(j) of all others. Unless its own pair (label, process) is the greatest of
 *             all pairs, it writes the greatest label + 1.          one step for each access
 *     Scan    reads Label(j) of the processes asked about, and says which are before itself:
 *             those whose pair is less than its own.                one step for each read
 *
 * Pairs are compared by label, then by process. Both operations run step by step: begin one, then
 * call its step function until it returns true. A process runs one operation at a time.
 *
 * Differences from the print:
 *
 * - The figure as scanned compares labels alone to decide whether to write. Two processes that
 *   start together then both keep their label, although the pair order puts one of them behind:
 *   TIMESTAMPS_PRINTED.
 * - The paper's processes read their own label too, and scan all processes. Only process i writes
 *   Label(i), so here it remembers its label; and it scans only the processes whose answer it uses.
 *   The reads that are left out change nothing.
 *
 * Proposition 3.1 of the paper, (1) to (5), holds at n = 2 and 3: tests/timestamps_test.c.
 *
 *     label = Label(i), always, of the process i that has this state
 *     highest >= label, during Label
 */
#ifndef USHER_PAPERS_TIMESTAMPS_H
#define USHER_PAPERS_TIMESTAMPS_H

#include "step/step.h"

/* The guard that a broken variant drops. */
enum timestamps_broken {
    TIMESTAMPS_PRINTED = 1 << 0, /* a tie of labels is decided by the process */
    TIMESTAMPS_EQUAL = 1 << 1    /* a new label is greater than all labels read */
};

/* The place of the labels in shared memory. */
struct timestamps {
    unsigned n;
    unsigned first;  /* the word of Label(0); the others follow */
    unsigned broken; /* bits of enum timestamps_broken; 0: correct */
};

/* One process's part. All zero: label 0 and no operation. There is no padding, so that equal states
   are equal bytes. */
struct timestamps_state {
    uint64_t label;   /* the value of Label(i) */
    uint64_t highest; /* in Label: the greatest label seen, its own included; else 0 */
    uint64_t whom;    /* in Scan: a bit for each process whose label is not yet read */
    uint32_t at;      /* in Label: the process whose label is read next; n: write */
    uint16_t labels;  /* 1: in Label */
    uint16_t behind;  /* in Label: 1 if another pair was greater than its own */
};

/* Begin Label. True if it is already finished, because there is no other process. */
bool timestamps_label(const struct timestamps *ts, struct timestamps_state *x, unsigned process);

/* Take one step of Label; true if it is finished. */
bool timestamps_label_step(const struct timestamps *ts, struct step_memory *memory,
                           struct timestamps_state *x, unsigned process);

/* Begin Scan of the processes in `whom`: at least one, and not the process itself. */
void timestamps_scan(struct timestamps_state *x, uint64_t whom);

/* Take one step of Scan: read the label of the lowest process not yet read. *before is whether that
   process is before this one. True if it was the last. */
bool timestamps_scan_step(const struct timestamps *ts, struct step_memory *memory,
                          struct timestamps_state *x, unsigned process, bool *before);

/*
 * Bring labels into canonical form. `labels` are Label(0..n-1); the states of the processes lie
 * `stride` bytes apart, the first at `states`. timestamps.c says why this is sound.
 */
void timestamps_rebase(const struct timestamps *ts, uint64_t *labels, void *states, size_t stride);

#endif
