/* One run of sweep.c, and what its threads have: for the files of the sweep alone. */
#ifndef USHER_CHECK_SWEEP_RUN_H
#define USHER_CHECK_SWEEP_RUN_H

#include "check/sweep/sweep.h"
#include "check/sweep/sweep_group.h"
#include "check/sweep/sweep_parts.h"
#include "check/sweep/sweep_spill.h"

enum { CHECK_SWEEP_EVENTS = 8, CHECK_TARGET_BITS = 8 };

/* Where a step, an event, or settling leads. */
struct check_memo {
    uint64_t from;            /* label, shared and private part, + 1; 0: empty */
    uint32_t shared, private; /* shared is UINT32_MAX: it cannot happen */
};

/* One step or event of a batch. */
struct check_found {
    uint32_t key[CHECK_SWEEP_KEY];
    struct check_group *group; /* NULL: it cannot happen */
    uint64_t hash;
};

/* What a thread has for itself while it explores a group. */
struct check_worker {
    struct check_sweep_run *run;
    struct check_worker *next_idle;
    struct check_memo *memo;
    uint64_t *judged; /* states in which nothing is wrong, as `wrong` sees them */
    uint32_t *edges;  /* n for each state of the group, and for one more */
    size_t edge_room; /* states there is room for */
    struct check_found *found;
    struct check_group *targets[1 << CHECK_TARGET_BITS];
    uint64_t transitions, full_states;
};

struct check_sweep_run {
    const struct step_system *system;
    const struct check_sweep_options *options;
    struct check_sweep *sweep; /* under the lock */
    struct check_sweep_parts parts;
    struct check_groups groups;
    struct check_spill spill;
    unsigned labels[CHECK_SWEEP_EVENTS * CHECK_SWEEP_PROCESSES]; /* what can happen at all */
    unsigned label_count;
    pthread_mutex_t lock;
    struct check_worker *idle;
    struct check_group **level; /* the groups of one sum */
    unsigned level_count, sum;
    double start, last_line;
    atomic_bool over;
};

/* The exploration ends: for want of room (`where` is NULL), or because of `what`, which is kept in
   that place of the sweep if nothing has ended it before. */
void check_sweep_end(struct check_sweep_run *run, const char **where, const char *what,
                     const char *why);
/* The same of a promise that is broken in this state, which is written where progress is. */
void check_sweep_violated(struct check_sweep_run *run, const uint32_t *key, const char *what,
                          const char *why);
void check_sweep_complain(struct check_sweep_run *run, enum check_sweep_result result);

/* A group is done, and stands for `all` states: add it up in the sweep. */
void check_sweep_add_up(struct check_worker *worker, const struct check_group *group, uint64_t all,
                        uint64_t loops);

/* Groups far off are put into a file, if there is one and memory is short. False: that failed. */
bool check_sweep_make_room(struct check_sweep_run *run);

/* sweep_explore.c. NULL: no room. */
struct check_worker *check_worker_new(struct check_sweep_run *run);
void check_worker_free(struct check_worker *worker);

/* Explore a group to its end, judge it, and forget it. */
void check_sweep_explore(struct check_worker *worker, struct check_group *group);

/* The bytes of a state, and which of it and its image is kept where its group is entered. */
uint64_t check_sweep_bytes(const struct check_sweep_parts *parts, const uint32_t *key);
uint64_t check_sweep_choose(const struct check_sweep_parts *parts, uint32_t *key, uint64_t bytes);

#endif
