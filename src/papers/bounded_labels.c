/*
 * Labels of bounded size: see bounded_labels.h. Digits 1..5 are stored as 0..4. In the variant
 * without 1 and 2 the digits 3..5 are stored as 0..2, so the initial label is 0 there too.
 */
#include "papers/bounded_labels.h"

#include <stdio.h>

enum { DIGITS = 5, START = 2 /* digits before the cycle 3, 4, 5 */ };

uint32_t bounded_labels_count(unsigned n)
{
    uint32_t count = 1;
    for (unsigned h = 1; h < n; h++) {
        count *= DIGITS;
    }
    return count;
}

/* The label's digits 1..h, as a number. */
static uint32_t upper(const struct bounded_labels *labels, uint32_t label, unsigned h)
{
    return label / bounded_labels_count(labels->n - h);
}

static unsigned digit(const struct bounded_labels *labels, uint32_t label, unsigned h)
{
    return upper(labels, label, h) % DIGITS;
}

static bool has(const struct bounded_labels *labels, enum bounded_labels_broken bit)
{
    return (labels->broken & (unsigned)bit) != 0;
}

/* The first of the three digits that form a cycle. */
static unsigned cycle_from(const struct bounded_labels *labels)
{
    return has(labels, BOUNDED_NO_START) ? 0 : START;
}

static unsigned digit_after(const struct bounded_labels *labels, unsigned a)
{
    unsigned from = cycle_from(labels);
    if (a == 0 && has(labels, BOUNDED_NO_TWO)) {
        return from;
    }
    return a + 1 < from + 3 ? a + 1 : from;
}

static bool digit_before(const struct bounded_labels *labels, unsigned a, unsigned b)
{
    unsigned from = cycle_from(labels);
    if (a < from || b < from) {
        return a < b;
    }
    return b == digit_after(labels, a);
}

bool bounded_labels_before(const struct bounded_labels *labels, uint32_t a, unsigned i, uint32_t b,
                           unsigned j)
{
    for (unsigned h = 1; h < labels->n; h++) {
        unsigned of_a = digit(labels, a, h);
        unsigned of_b = digit(labels, b, h);
        if (of_a != of_b) {
            return digit_before(labels, of_a, of_b);
        }
    }
    return i < j;
}

/* The process that has the last label. */
static unsigned last_of(const struct bounded_labels *labels, const uint32_t *all)
{
    unsigned last = 0;
    for (unsigned j = 1; j < labels->n; j++) {
        if (bounded_labels_before(labels, all[last], last, all[j], j)) {
            last = j;
        }
    }
    return last;
}

/* The number of the others that have the digits 1..h of `label`. */
static unsigned count_there(const struct bounded_labels *labels, const uint32_t *all,
                            unsigned process, uint32_t label, unsigned h)
{
    unsigned count = 0;
    for (unsigned j = 0; j < labels->n; j++) {
        count += j != process && upper(labels, all[j], h) == upper(labels, label, h);
    }
    return count;
}

static unsigned level_of(const struct bounded_labels *labels, const uint32_t *all, unsigned process,
                         uint32_t last)
{
    unsigned h = has(labels, BOUNDED_DEEPEST) ? labels->n - 1 : 1;
    unsigned more = has(labels, BOUNDED_ROOM_MORE);
    while (h < labels->n - 1 && count_there(labels, all, process, last, h) < labels->n - h + more) {
        h++;
    }
    return h;
}

uint32_t bounded_labels_next(const struct bounded_labels *labels, const uint32_t *all,
                             unsigned process)
{
    unsigned m = last_of(labels, all);
    if (labels->n == 1 || (m == process && !has(labels, BOUNDED_ALWAYS))) {
        return all[process];
    }
    unsigned h = level_of(labels, all, process, all[m]);
    uint32_t below = bounded_labels_count(labels->n - h); /* labels with given digits 1..h */
    uint32_t tail = has(labels, BOUNDED_TAIL) ? all[m] : 0;
    uint32_t place = upper(labels, all[m], h - 1);
    uint32_t after = digit_after(labels, digit(labels, all[m], h));
    return (place * DIGITS + after) * below + tail % below;
}

bool bounded_labels_circle(const struct bounded_labels *labels, const uint32_t *all)
{
    for (unsigned i = 0; i < labels->n; i++) {
        for (unsigned j = 0; j < labels->n; j++) {
            for (unsigned k = 0; k < labels->n; k++) {
                if (bounded_labels_before(labels, all[i], i, all[j], j) &&
                    bounded_labels_before(labels, all[j], j, all[k], k) &&
                    bounded_labels_before(labels, all[k], k, all[i], i)) {
                    return true;
                }
            }
        }
    }
    return false;
}

int bounded_labels_print(const struct bounded_labels *labels, uint32_t label, char *out,
                         size_t size)
{
    char digits[BOUNDED_LABELS_MOST + 1] = "";
    for (unsigned h = 1; h < labels->n; h++) {
        digits[h - 1] = (char)('1' + START - cycle_from(labels) + digit(labels, label, h));
    }
    return snprintf(out, size, "%s", digits);
}
