/*
 * A concurrent timestamp system in bounded space: who labelled itself earlier? Labels of
 * bounded_labels.h, in an atomic snapshot. Not a machine: a component for machines, with the
 * operations of timestamps.h.
 *
 *     Label   a snapshot of all labels; unless the caller has the last it takes the label that
 *             bounded_labels_next chooses from that snapshot
 *     Scan    a snapshot; who of those asked about is before the caller?
 *
 * The snapshot comes in two kinds:
 *
 *     from registers   snapshot.h. Label is an update of it: n-1 reads, at least 4(n-1) steps of a
 *                      scan, and a write or none; Scan is a scan. A register has 39 bits at n = 4
 *                      and 61 at n = 5 (bounded_timestamps_bits); 88 at n = 6, more than a word
 *     atomic           one word holds all labels. A snapshot is one step, a write of one's own
 *                      label another. It takes more than a register to do that; it is here to be
 *                      explored where the registers have too many states
 *
 * Both operations are resumed step by step: begin one, then call its step until that says that it
 * is finished. A process does one at a time.
 *
 * Of no three labels that are there at once is each before the next and the last before the first;
 * and Proposition 3.1 of Afek, Dolev, Gafni, Merritt, Shavit (1994), (1) to (5), holds:
 * tests/bounded_timestamps_test.c says at which sizes.
 */
#ifndef USHER_PAPERS_BOUNDED_TIMESTAMPS_H
#define USHER_PAPERS_BOUNDED_TIMESTAMPS_H

#include "papers/bounded_labels.h"
#include "papers/snapshot.h"

enum { BOUNDED_TIMESTAMPS_MOST = SNAPSHOT_MOST }; /* processes, of either kind */

/* Where the labels are. bounded_timestamps_at fills it in. */
struct bounded_timestamps {
    struct bounded_labels labels;
    struct snapshot registers;
    bool atomic; /* one word in place of the registers: registers.first */
};

/* n <= BOUNDED_TIMESTAMPS_MOST processes, from word `first` on; what is broken of the two parts. */
struct bounded_timestamps bounded_timestamps_at(unsigned n, unsigned first, bool atomic,
                                                unsigned labels_broken, unsigned snapshot_broken);

/* How many words they need. */
unsigned bounded_timestamps_words(const struct bounded_timestamps *ts);

/* The bits of a register r(i), for any n. */
unsigned bounded_timestamps_bits(unsigned n);

/* The bits of a word. */
unsigned bounded_timestamps_word_bits(const struct bounded_timestamps *ts, unsigned word);

/* One process's part. All zero is a process that has not labelled itself yet and does nothing.
   Without padding, so that equal states are equal bytes. */
struct bounded_timestamps_state {
    struct snapshot_state x; /* atomic: x.value alone is used, the label */
    uint32_t next;           /* atomic: the label that is yet to be written */
    uint16_t labels;         /* 1: it labels; atomic, 2: and has yet to write the label */
    uint16_t whom;           /* while it scans: those it asks about */
};

void bounded_timestamps_init(const struct bounded_timestamps *ts, uint64_t *words);

/* Begin to label. True if there is nothing to do: nobody else is there. */
bool bounded_timestamps_label(const struct bounded_timestamps *ts,
                              struct bounded_timestamps_state *x, unsigned process);

/* One step of labelling; true if it is finished. */
bool bounded_timestamps_label_step(const struct bounded_timestamps *ts, struct step_memory *memory,
                                   struct bounded_timestamps_state *x, unsigned process);

/* Begin to scan those in `whom`, at least one and not the process itself. */
void bounded_timestamps_scan(const struct bounded_timestamps *ts,
                             struct bounded_timestamps_state *x, unsigned process, uint64_t whom);

/* One step of scanning; true if it is finished: then `all` are the labels of the snapshot, and
   *before is those of `whom` that are before the process. */
bool bounded_timestamps_scan_step(const struct bounded_timestamps *ts, struct step_memory *memory,
                                  struct bounded_timestamps_state *x, unsigned process,
                                  uint32_t all[BOUNDED_TIMESTAMPS_MOST], uint64_t *before);

/* The label that `process` has, for one who looks at all words at once. */
uint32_t bounded_timestamps_label_of(const struct bounded_timestamps *ts, const uint64_t *words,
                                     unsigned process);

/* Write a word for people, as snprintf does. */
int bounded_timestamps_print(const struct bounded_timestamps *ts, unsigned word, uint64_t value,
                             char *out, size_t size);

#endif
