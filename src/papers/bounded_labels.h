/*
 * Labels of bounded size for n processes that take a new one again and again: which of those that
 * are there at once is the later (Dolev and Shavit, as used through a snapshot by Gawlick, Lynch
 * and Shavit). Pure functions; bounded_timestamps.h has them in registers.
 *
 * A label is n-1 digits of {1..5}, here a number to base 5 with the first digit the highest. So
 * there are 5^(n-1) of them. All processes start with 11..1, which is 0.
 *
 *     order of digits   1 < 2 < {3,4,5},  3 < 4 < 5 < 3
 *     next digit        1 -> 2 -> 3 -> 4 -> 5 -> 3
 *     order of labels   by the first digit in which they differ, then by the process
 *
 * A new label is chosen from a snapshot of all labels. Let m be the last of them; who has m itself
 * keeps it. Otherwise
 *
 *     h = the least level in 1..n-2 at which at least n-h of the others have the digits 1..h of m,
 *         or n-1 if there is none
 *     the new label is  m's digits 1..h-1,  the digit after m's digit h,  then 1s
 *
 * The digits behind a given beginning are a place that h levels deep has room for n-h. If it is
 * full the new label goes past it, else inside. 3, 4, 5 go round; since a place is left when it is
 * full, those who are there at once never have all three, so their order has no circle:
 *
 *     of no three labels that are there at once is each before the next and the last before the
 *     first (bounded_labels_circle)
 *
 * Who enters a place begins with 1, and takes 2 before it goes round: a process that chose 3 long
 * ago, and writes it only now, would otherwise make the circle. Nothing here depends on who asks,
 * or when; what makes the labels a timestamp system is shown by exploring it:
 * tests/bounded_timestamps_test.c.
 */
#ifndef USHER_PAPERS_BOUNDED_LABELS_H
#define USHER_PAPERS_BOUNDED_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOUNDED_LABELS_MOST = 8 }; /* processes; 5^7 labels */

/* What a broken variant drops. */
enum bounded_labels_broken {
    BOUNDED_NO_START = 1 << 0,  /* the digits 1 and 2: all start 33..3, and 3s in place of 1s */
    BOUNDED_NO_TWO = 1 << 1,    /* the digit 2: 1 -> 3 */
    BOUNDED_DEEPEST = 1 << 2,   /* a full place is left: h is always n-1 */
    BOUNDED_ROOM_MORE = 1 << 3, /* a place is full with n-h, not n-h+1 */
    BOUNDED_TAIL = 1 << 4,      /* behind the digit that changes come 1s, not m's digits */
    BOUNDED_ALWAYS = 1 << 5     /* who has the last label keeps it */
};

struct bounded_labels {
    unsigned n;      /* processes: 1..BOUNDED_LABELS_MOST */
    unsigned broken; /* bits of enum bounded_labels_broken; 0: as it should be */
};

/* How many labels there are: 5^(n-1). */
uint32_t bounded_labels_count(unsigned n);

/* Is label a of process i before label b of process j? */
bool bounded_labels_before(const struct bounded_labels *labels, uint32_t a, unsigned i, uint32_t b,
                           unsigned j);

/* The label that `process` takes if all have these, `all[0..n-1]`; its own if it keeps it. */
uint32_t bounded_labels_next(const struct bounded_labels *labels, const uint32_t *all,
                             unsigned process);

/* Is there a circle among these? */
bool bounded_labels_circle(const struct bounded_labels *labels, const uint32_t *all);

/* Write a label's digits, as snprintf does. */
int bounded_labels_print(const struct bounded_labels *labels, uint32_t label, char *out,
                         size_t size);

#endif
