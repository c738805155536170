/*
 * Shortest schedules (lists of processes): to a state, around a loop, or through any graph given by
 * its steps.
 */
#ifndef USHER_CHECK_SEARCH_H
#define USHER_CHECK_SEARCH_H

#include "check/decide/scc.h"
#include "check/explore/bits.h"

/* A schedule: process numbers from 0, or labels (explore.h) if there are events. */
struct check_schedule {
    uint8_t *steps;
    size_t length, capacity;
};

/* Append to a schedule. 0 or -ENOMEM. */
int check_schedule_add(struct check_schedule *schedule, unsigned process);
int check_schedule_join(struct check_schedule *schedule, const struct check_schedule *more);
/* Keep the shorter of two schedules in `kept`, and free the other. Of equally long ones keep the
   first by process numbers. An empty one counts as none. */
void check_schedule_keep_first(struct check_schedule *kept, struct check_schedule *offered);
void check_schedule_free(struct check_schedule *schedule);

/* Append a shortest schedule from the start to `state`. */
int check_schedule_to(struct check_graph *graph, uint32_t state, struct check_schedule *schedule);

/* A graph to search: nodes 0..nodes-1, one step for each of `processes`. */
struct check_search {
    void *context;
    uint32_t nodes;
    unsigned processes;
    /* Where a step leads, or CHECK_NO_STATE if it may not be taken. */
    uint32_t (*next)(void *context, uint32_t node, unsigned process);
    bool (*goal)(void *context, uint32_t node);
};

/*
 * Append a shortest schedule from `from` to a goal and set *found to the goal, or to CHECK_NO_STATE
 * if there is none. With `at_least_one_step`, `from` itself counts only when the path returns to
 * it.
 */
int check_search_run(const struct check_search *search, uint32_t from, bool at_least_one_step,
                     struct check_schedule *schedule, uint32_t *found);

/*
 * Append a closed walk from `state` to itself through the states of `part` by steps of the view, in
 * which every process of `steppers` takes a step. The states must be strongly connected.
 */
int check_schedule_loop(const struct check_view *view, const struct check_bits *part,
                        uint32_t state, unsigned steppers, struct check_schedule *schedule);

/* The same, through the one step of `process` from `via`. */
int check_schedule_loop_via(const struct check_view *view, const struct check_bits *part,
                            uint32_t state, uint32_t via, unsigned process,
                            struct check_schedule *schedule);

#endif
