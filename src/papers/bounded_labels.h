/*
 * Labels of bounded size: n processes take new labels again and again, and the order of the labels
 * held at one time is the order in which they were taken (Dolev and Shavit, used through a snapshot
 * after Gawlick, Lynch and Shavit). Pure functions; bounded_timestamps.h puts the labels in
 * registers.
 *
 * A label is n-1 digits of {1..5}, stored as a number to base 5 with the first digit the highest.
 * So there are 5^(n-1) labels. All processes start with 11..1, stored as 0.
 *
 *     order of digits   1 < 2 < {3,4,5},  3 < 4 < 5 < 3
 *     next digit        1 -> 2 -> 3 -> 4 -> 5 -> 3
 *     order of labels   by the first digit in which they differ, then by the process
 *
 * A process chooses a new label from a snapshot of all labels. Let m be the last label of the
 * snapshot. If the process has m, it keeps it. Otherwise
 *
 *     h = the least level in 1..n-2 at which at least n-h of the others have the digits 1..h of m,
 *         or n-1 if there is none
 *     the new label is  m's digits 1..h-1,  the digit after m's digit h,  then 1s
 *
 * All labels with the same digits 1..h form a place, which has room for n-h processes. A new label
 * goes past a full place, and into a place that is not full. The digits 3, 4, 5 form a cycle. A
 * place is left when it is full, so the labels held at one time never have all three of these
 * digits, and their order has no cycle:
 *
 *     of three labels held at one time it is never so that each is before the next and the last
 *     before the first (bounded_labels_circle)
 *
 * A process that enters a place takes digit 1, and then 2, before 3, 4, 5. Without 1 and 2, a
 * process that chose 3 long ago and writes it only now could make a cycle. These functions do not
 * depend on the calling process or the time; tests/bounded_timestamps_test.c explores them as a
 * timestamp system.
 */
#ifndef USHER_PAPERS_BOUNDED_LABELS_H
#define USHER_PAPERS_BOUNDED_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOUNDED_LABELS_MOST = 8 }; /* processes; 5^7 labels */

/* The guard that a broken variant drops. */
enum bounded_labels_broken {
    BOUNDED_NO_START = 1 << 0,  /* the digits 1 and 2: all start 33..3, and 3s stand for 1s */
    BOUNDED_NO_TWO = 1 << 1,    /* the digit 2: 1 -> 3 */
    BOUNDED_DEEPEST = 1 << 2,   /* a full place is left: here h is always n-1 */
    BOUNDED_ROOM_MORE = 1 << 3, /* a place is full with n-h processes, not with n-h+1 */
    BOUNDED_TAIL = 1 << 4,      /* 1s follow the digit that changes, not m's digits */
    BOUNDED_ALWAYS = 1 << 5     /* a process that has the last label keeps it */
};

struct bounded_labels {
    unsigned n;      /* processes: 1..BOUNDED_LABELS_MOST */
    unsigned broken; /* bits of enum bounded_labels_broken; 0: correct */
};

/* The number of labels: 5^(n-1). */
uint32_t bounded_labels_count(unsigned n);

/* Is label a of process i before label b of process j? */
bool bounded_labels_before(const struct bounded_labels *labels, uint32_t a, unsigned i, uint32_t b,
                           unsigned j);

/* The label that `process` takes if the labels are `all[0..n-1]`; its own if it keeps it. */
uint32_t bounded_labels_next(const struct bounded_labels *labels, const uint32_t *all,
                             unsigned process);

/* Is there a cycle among these labels? */
bool bounded_labels_circle(const struct bounded_labels *labels, const uint32_t *all);

/* Print a label's digits, with the contract of snprintf. */
int bounded_labels_print(const struct bounded_labels *labels, uint32_t label, char *out,
                         size_t size);

#endif
