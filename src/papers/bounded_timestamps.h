/*
 * A concurrent timestamp system in bounded space: which of two processes took its label earlier? It
 * keeps the labels of bounded_labels.h in an atomic snapshot. This is not a machine but a component
 * for machines, with the operations of timestamps.h.
 *
 *     Label   takes a snapshot of all labels. Unless the caller has the last label, it writes the
 *             label that bounded_labels_next chooses from that snapshot.
 *     Scan    takes a snapshot, and says which of the processes asked about are before the caller.
 *
 * There are two kinds of snapshot:
 *
 *     from registers   snapshot.h. Label is an update: n-1 reads, at least 4(n-1) steps of a scan,
 *                      and one write or none. Scan is a scan. A register has 39 bits at n = 4 and
 *                      61 at n = 5 (bounded_timestamps_bits); at n = 6 it has 88, more than a word.
 *     atomic           One word holds all labels. A snapshot is one step, writing the own label is
 *                      another. This needs more than registers. It can be explored at sizes where
 *                      the registers have too many states.
 *
 * Both operations run step by step: begin one, then call its step function until it returns true. A
 * process runs one operation at a time.
 *
 * Checked by tests/bounded_timestamps_test.c, which lists the sizes: the labels held at one time
 * have no cycle of three, and Proposition 3.1 of Afek, Dolev, Gafni, Merritt, Shavit (1994), (1) to
 * (5), holds.
 */
#ifndef USHER_PAPERS_BOUNDED_TIMESTAMPS_H
#define USHER_PAPERS_BOUNDED_TIMESTAMPS_H

#include "papers/bounded_labels.h"
#include "papers/snapshot.h"

enum { BOUNDED_TIMESTAMPS_MOST = SNAPSHOT_MOST }; /* processes, for both kinds */

/* The place of the labels. bounded_timestamps_at fills it in. */
struct bounded_timestamps {
    struct bounded_labels labels;
    struct snapshot registers;
    bool atomic; /* one word, registers.first, in place of the registers */
};

/* Place n <= BOUNDED_TIMESTAMPS_MOST processes from word `first` on. The last two arguments are the
   guards that each part drops. */
struct bounded_timestamps bounded_timestamps_at(unsigned n, unsigned first, bool atomic,
                                                unsigned labels_broken, unsigned snapshot_broken);

/* The number of words they need. */
unsigned bounded_timestamps_words(const struct bounded_timestamps *ts);

/* The bits of a register r(i), for any n. */
unsigned bounded_timestamps_bits(unsigned n);

/* The bits of a word. */
unsigned bounded_timestamps_word_bits(const struct bounded_timestamps *ts, unsigned word);

/* One process's part. All zero: the initial label and no operation. There is no padding, so that
   equal states are equal bytes. */
struct bounded_timestamps_state {
    struct snapshot_state x; /* atomic: only x.value is used, the label */
    uint32_t next;           /* atomic: the label to write */
    uint16_t labels;         /* 1: in Label; atomic, 2: in Label, before the write */
    uint16_t whom;           /* in Scan: the processes asked about */
};

void bounded_timestamps_init(const struct bounded_timestamps *ts, uint64_t *words);

/* Begin Label. True if it is already finished, because there is no other process. */
bool bounded_timestamps_label(const struct bounded_timestamps *ts,
                              struct bounded_timestamps_state *x, unsigned process);

/* Take one step of Label; true if it is finished. */
bool bounded_timestamps_label_step(const struct bounded_timestamps *ts, struct step_memory *memory,
                                   struct bounded_timestamps_state *x, unsigned process);

/* Begin Scan of the processes in `whom`: at least one, and not the process itself. */
void bounded_timestamps_scan(const struct bounded_timestamps *ts,
                             struct bounded_timestamps_state *x, unsigned process, uint64_t whom);

/* Take one step of Scan. True if it is finished: then `all` are the labels of the snapshot, and
   *before are the processes of `whom` that are before this one. */
bool bounded_timestamps_scan_step(const struct bounded_timestamps *ts, struct step_memory *memory,
                                  struct bounded_timestamps_state *x, unsigned process,
                                  uint32_t all[BOUNDED_TIMESTAMPS_MOST], uint64_t *before);

/* The label of `process`, read from a copy of all words. */
uint32_t bounded_timestamps_label_of(const struct bounded_timestamps *ts, const uint64_t *words,
                                     unsigned process);

/* Print a word, with the contract of snprintf. */
int bounded_timestamps_print(const struct bounded_timestamps *ts, unsigned word, uint64_t value,
                             char *out, size_t size);

#endif
