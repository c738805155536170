/* A line on a terminal that shows how far an exploration is. */
#ifndef USHER_CHECK_PROGRESS_H
#define USHER_CHECK_PROGRESS_H

#include "check/explore/explore.h"

struct check_progress {
    const struct check_graph *graph;
    double start, last_shown;
};

/* Seconds of the monotonic clock. */
double check_now(void);

void check_progress_init(struct check_progress *progress, const struct check_graph *graph);

/* Show the line, at most five times a second; do nothing without options.progress. */
void check_progress_show(struct check_progress *progress, uint32_t expanded);

/* Remove the line, if one was shown. */
void check_progress_clear(const struct check_progress *progress);

#endif
