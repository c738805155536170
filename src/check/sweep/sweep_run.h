/* One run of sweep.c and the working memory of its threads: for the files of the sweep alone. */
#ifndef USHER_CHECK_SWEEP_RUN_H
#define USHER_CHECK_SWEEP_RUN_H

#include "check/sweep/sweep.h"
#include "check/sweep/sweep_group.h"
#include "check/sweep/sweep_parts.h"
#include "check/sweep/sweep_spill.h"

enum { CHECK_SWEEP_EVENTS = 8, CHECK_TARGET_BITS = 8, CHECK_SWEEP_LINE_SECONDS = 5 };

/* Where a step, an event or settling leads. */
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

/* The working memory of one thread while it explores a group. */
struct check_worker {
    struct check_sweep_run *run;
    struct check_worker *next_idle;
    struct check_memo *memo;
    uint64_t *judged; /* a cache of what `wrong` found right, as `wrong` sees states */
    uint32_t *edges;  /* n for each state of the group, and for one more */
    size_t edge_room; /* states there is room for */
    struct check_found *found;
    struct check_group *targets[1 << CHECK_TARGET_BITS]; /* a cache of check_groups_find */
    uint64_t transitions, full_states;
};

struct check_sweep_run {
    const struct step_system *system;
    const struct check_sweep_options *options;
    struct check_sweep *sweep; /* under the lock */
    struct check_sweep_parts parts;
    struct check_groups groups;
    struct check_spill spill;
    unsigned labels[CHECK_SWEEP_EVENTS * CHECK_SWEEP_PROCESSES]; /* steps and allowed events */
    unsigned label_count;
    pthread_mutex_t lock;
    struct check_worker *idle;
    struct check_group **level; /* the groups of the present sum */
    unsigned level_count, sum;
    double start;
    _Atomic double next_line;  /* when the next progress line is due */
    _Atomic uint64_t expanded; /* states, those of unfinished groups too */
    atomic_bool over;
};

/* End the sweep. If nothing ended it before, store `what` in *where and `why` in the sweep; `where`
   is NULL if the reason is lack of room. True if nothing ended it before. */
bool check_sweep_end(struct check_sweep_run *run, const char **where, const char *what,
                     const char *why);
/* End the sweep because this state violates a property, and show the state. */
void check_sweep_violated(struct check_sweep_run *run, const uint32_t *key, const char *what,
                          const char *why);
/* End the sweep because of a result other than CHECK_SWEEP_OK. */
void check_sweep_complain(struct check_sweep_run *run, enum check_sweep_result result);

/* Add a finished group, which stands for `all` states, to the totals. */
void check_sweep_add_up(struct check_worker *worker, const struct check_group *group, uint64_t all,
                        uint64_t loops);

/* If memory is short, write groups whose turn is far off to the file. False: writing failed. */
bool check_sweep_make_room(struct check_sweep_run *run);

/* sweep_show.c */
/* Bytes of states and parts in memory. */
size_t check_sweep_used(struct check_sweep_run *run);
/* Print a progress line if one is due. */
void check_sweep_progress(struct check_sweep_run *run);
void check_sweep_show_state(const struct check_sweep_run *run, const uint32_t *key);

/* sweep_explore.c. NULL: no memory. */
struct check_worker *check_worker_new(struct check_sweep_run *run);
void check_worker_free(struct check_worker *worker);

/* Explore a group to its end, judge its loops, and free its states. */
void check_sweep_explore(struct check_worker *worker, struct check_group *group);

/* The bytes of a state. */
uint64_t check_sweep_bytes(const struct check_sweep_parts *parts, const uint32_t *key);
/* Replace `key` by its mirror image if the image is the one to keep. Return the bytes of the key
   that is kept. */
uint64_t check_sweep_choose(const struct check_sweep_parts *parts, uint32_t *key, uint64_t bytes);

#endif
