/*
 * UCTSS, the concurrent timestamp system with unbounded labels (Afek, Dolev, Gafni, Merritt,
 * Shavit, 1994, Fig. 1): who labelled itself earlier? Not a machine: a component for machines on
 * registers.
 *
 * Label(i) is a register that only process i writes; all begin with 0. A process has
 *
 *     Label   reads Label(j) of all others; unless its own pair (label, process) is the greatest of
 *             all pairs it writes the greatest label + 1            one step for each access
 *     Scan    reads Label(j) of all it is asked about and says who of them is before itself: whose
 *             pair is less than its own                             one step for each read
 *
 * Pairs are compared by label, then by process. Both operations are resumed step by step: begin
 * one, then call its step until that says that it is finished. A process does one at a time.
 *
 * The figure as scanned compares labels alone when it asks whether to write. Two who begin together
 * then both keep what they have, although the tie has an order: TIMESTAMPS_PRINTED.
 *
 * The paper's processes read their own label too, and scan everyone. Nobody else writes a process's
 * own label, so here it remembers what it wrote; and an answer that nobody looks at is not asked
 * for. What is left out is reads that change nothing.
 *
 * Proposition 3.1 of the paper, (1) to (5), holds at n = 2 and 3: tests/timestamps_test.c.
 *
 *     label = Label(i), always, of the process i whose state it is
 *     highest >= label, while it labels
 */
#ifndef USHER_PAPERS_TIMESTAMPS_H
#define USHER_PAPERS_TIMESTAMPS_H

#include "step/step.h"

/* What a broken variant drops. */
enum timestamps_broken {
    TIMESTAMPS_PRINTED = 1 << 0, /* a tie is decided by the process */
    TIMESTAMPS_EQUAL = 1 << 1    /* a new label is above all that were read */
};

/* Where the labels are. */
struct timestamps {
    unsigned n;
    unsigned first;  /* Label(0) is this word, the others follow */
    unsigned broken; /* bits of enum timestamps_broken; 0: as it should be */
};

/* One process's part. All zero is a process that has not labelled itself yet and does nothing.
   Without padding, so that equal states are equal bytes. */
struct timestamps_state {
    uint64_t label;   /* what Label(i) holds */
    uint64_t highest; /* while it labels: the greatest label seen, its own included; else 0 */
    uint64_t whom;    /* while it scans: a bit for each process whose label is yet to be read */
    uint32_t at;      /* while it labels: the process whose label is read next; n: write */
    uint16_t labels;  /* 1: it labels */
    uint16_t behind;  /* while it labels: 1 if somebody's pair was greater than its own */
};

/* Begin to label. True if there is nothing to do: nobody else is there. */
bool timestamps_label(const struct timestamps *ts, struct timestamps_state *x, unsigned process);

/* One step of labelling; true if it is finished. */
bool timestamps_label_step(const struct timestamps *ts, struct step_memory *memory,
                           struct timestamps_state *x, unsigned process);

/* Begin to scan those in `whom`, at least one and not the process itself. */
void timestamps_scan(struct timestamps_state *x, uint64_t whom);

/* One step of scanning: read the label of the lowest process yet to be read; *before tells whether
   it is before this one. True if it was the last. */
bool timestamps_scan_step(const struct timestamps *ts, struct step_memory *memory,
                          struct timestamps_state *x, unsigned process, bool *before);

/*
 * Bring labels into canonical form: `labels` are Label(0..n-1); the states of the processes lie
 * `stride` bytes apart, the first at `states`. timestamps.c says why it is sound.
 */
void timestamps_rebase(const struct timestamps *ts, uint64_t *labels, void *states, size_t stride);

#endif
