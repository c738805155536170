/*
 * Equivalence of two systems (1989, 3.2): under every finite schedule all processes are in the same
 * regions in both. It is decided by exploring the pairs of states that one schedule leads to.
 */
#ifndef USHER_CHECK_EQUAL_H
#define USHER_CHECK_EQUAL_H

#include "check/explore/search.h"

struct check_equality {
    bool equivalent;
    uint64_t pairs;              /* pairs of states compared */
    struct check_schedule trace; /* a shortest schedule that leads to different regions */
};

/* Compare two complete graphs of the same n. 0 or -ENOMEM. */
int check_equal(struct check_graph *a, struct check_graph *b, struct check_equality *equality);

#endif
