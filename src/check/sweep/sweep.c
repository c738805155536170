/*
 * The order of the sweep: see sweep.h.
 *
 * No step leads from one group to another with the same sum of bytes. So all groups of a sum are
 * independent tasks for check_parallel; sweep_explore.c explores one.
 */
#include "check/sweep/sweep.h"

#include "check/explore/budget.h"
#include "check/explore/parallel.h"
#include "check/explore/progress.h"
#include "check/sweep/sweep_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool check_sweep_end(struct check_sweep_run *run, const char **where, const char *what,
                     const char *why)
{
    (void)pthread_mutex_lock(&run->lock);
    bool first = !atomic_load(&run->over);
    if (first && where != NULL) {
        *where = what;
        run->sweep->why = why;
    }
    atomic_store(&run->over, true);
    (void)pthread_mutex_unlock(&run->lock);
    return first;
}

void check_sweep_violated(struct check_sweep_run *run, const uint32_t *key, const char *what,
                          const char *why)
{
    bool first = check_sweep_end(run, &run->sweep->violated, what, why);
    if (first) {
        check_sweep_show_state(run, key);
    }
}

void check_sweep_complain(struct check_sweep_run *run, enum check_sweep_result result)
{
    if (result == CHECK_SWEEP_ACCESSES) {
        (void)check_sweep_end(run, &run->sweep->broken,
                              "a step makes no shared access, or more than one", NULL);
    } else if (result == CHECK_SWEEP_NO_IMAGE) {
        (void)check_sweep_end(run, &run->sweep->broken,
                              "a step and its mirror image lead to different states", NULL);
    } else {
        (void)check_sweep_end(run, NULL, NULL, NULL); /* no room */
    }
}

bool check_sweep_make_room(struct check_sweep_run *run)
{
    size_t all = check_sweep_used(run);
    size_t limit = run->groups.limit;
    if (run->spill.fd < 0 || all <= limit - limit / 8) {
        return true;
    }
    size_t parts = check_sweep_parts_used(&run->parts);
    size_t wanted = limit / 2;
    return check_spill_beyond(&run->spill, &run->groups, run->sum,
                              parts < wanted ? wanted - parts : 0) == 0;
}

void check_sweep_add_up(struct check_worker *w, const struct check_group *group, uint64_t all,
                        uint64_t loops)
{
    struct check_sweep_run *run = w->run;
    struct check_sweep *sweep = run->sweep;
    (void)pthread_mutex_lock(&run->lock);
    sweep->states += group->count;
    sweep->all_states += all;
    sweep->transitions += w->transitions;
    sweep->full_states += w->full_states;
    sweep->loops += loops;
    sweep->largest = group->count > sweep->largest ? group->count : sweep->largest;
    w->transitions = w->full_states = 0;
    (void)pthread_mutex_unlock(&run->lock);
    if (check_sweep_used(run) > run->groups.limit) {
        (void)check_sweep_end(run, NULL, NULL, NULL);
    }
}

/* A task of check_parallel: explore one group of the level. */
static int explore_one(void *context, unsigned part)
{
    struct check_sweep_run *run = context;
    (void)pthread_mutex_lock(&run->lock);
    struct check_worker *w = run->idle;
    if (w != NULL) {
        run->idle = w->next_idle;
    }
    (void)pthread_mutex_unlock(&run->lock);
    if (w == NULL) {
        w = check_worker_new(run);
    }
    if (w == NULL) {
        (void)check_sweep_end(run, NULL, NULL, NULL);
        return 0;
    }
    memset(w->targets, 0, sizeof w->targets);
    if (!atomic_load(&run->over)) {
        check_sweep_explore(w, run->level[part]);
    }
    (void)pthread_mutex_lock(&run->lock);
    w->next_idle = run->idle;
    run->idle = w;
    (void)pthread_mutex_unlock(&run->lock);
    return 0;
}

/* Largest first: the last tasks, which leave threads idle, are then small. */
static int by_size(const void *a, const void *b)
{
    const struct check_group *x = *(struct check_group *const *)a;
    const struct check_group *y = *(struct check_group *const *)b;
    uint64_t of_x = x->count + x->spilled_count;
    uint64_t of_y = y->count + y->spilled_count;
    return (of_x < of_y) - (of_x > of_y);
}

/* Explore all groups of the present sum. */
static int explore_level(struct check_sweep_run *run)
{
    run->level_count = 0;
    for (struct check_group *g = run->groups.sums[run->sum]; g != NULL; g = g->next_in_sum) {
        run->level_count++;
    }
    run->level = calloc(run->level_count + 1, sizeof(void *));
    if (run->level == NULL) {
        return -ENOMEM;
    }
    unsigned i = 0;
    for (struct check_group *g = run->groups.sums[run->sum]; g != NULL; g = g->next_in_sum) {
        run->level[i++] = g;
    }
    qsort(run->level, run->level_count, sizeof(void *), by_size);
    int error = check_parallel(run->options->threads, run->level_count, explore_one, run);
    free(run->level);
    return error;
}

/* All steps, and the events that the limits allow. */
static void choose_labels(struct check_sweep_run *run)
{
    const struct step_limits *limits = &run->system->limits;
    unsigned may[] = {1, limits->crashes, limits->gives_up, limits->grows, limits->shrinks};
    for (unsigned event = 0; event <= run->system->machine->events; event++) {
        for (unsigned i = 0; i < run->system->n; i++) {
            if (event == 0 || (event < run->system->machine->events && event < 5 && may[event])) {
                run->labels[run->label_count++] = event * run->system->n + i;
            }
        }
    }
}

static bool begin(struct check_sweep_run *run)
{
    uint32_t key[CHECK_SWEEP_KEY];
    enum check_sweep_result result = check_sweep_first(&run->parts, key);
    if (result != CHECK_SWEEP_OK) {
        check_sweep_complain(run, result);
        return false;
    }
    struct check_group *group = check_groups_find(
        &run->groups, check_sweep_choose(&run->parts, key, check_sweep_bytes(&run->parts, key)));
    return group != NULL && check_group_put(&run->groups, group, key,
                                            check_group_hash(&run->groups, key)) != CHECK_NO_ROOM;
}

static void finish(struct check_sweep_run *run)
{
    struct check_sweep *sweep = run->sweep;
    while (run->idle != NULL) {
        struct check_worker *w = run->idle;
        run->idle = w->next_idle;
        check_worker_free(w);
    }
    sweep->complete = !atomic_load(&run->over);
    if (!sweep->complete) {
        sweep->states = sweep->all_states = atomic_load(&run->expanded);
    }
    sweep->groups = run->groups.count;
    sweep->shared_parts = run->parts.shared.count;
    sweep->private = run->parts.private.count;
    sweep->most = run->groups.most + check_sweep_parts_used(&run->parts);
    sweep->spilled = run->spill.keys;
    sweep->seconds = check_now() - run->start;
    check_groups_free(&run->groups);
    check_spill_free(&run->spill);
    check_sweep_parts_free(&run->parts);
    (void)pthread_mutex_destroy(&run->lock);
}

int check_sweep(struct check_sweep *sweep, const struct step_system *system,
                const struct check_sweep_options *options)
{
    memset(sweep, 0, sizeof *sweep);
    if (check_sweep_refusal(system) != NULL) {
        return -EINVAL;
    }
    struct check_sweep_run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        return -ENOMEM;
    }
    int error = check_spill_init(&run->spill, options->spill);
    if (error != 0) {
        free(run);
        return error;
    }
    run->system = system;
    run->options = options;
    run->sweep = sweep;
    run->start = check_now();
    atomic_init(&run->next_line, run->start + CHECK_SWEEP_LINE_SECONDS);
    (void)pthread_mutex_init(&run->lock, NULL);
    choose_labels(run);
    check_groups_init(&run->groups, 1 + system->n,
                      options->memory != 0 ? options->memory : check_budget_default());
    if (check_sweep_parts_init(&run->parts, system, options->mirrored, options->settled,
                               run->groups.limit) != 0 ||
        !begin(run)) {
        atomic_store(&run->over, true);
    }
    for (run->sum = 0; run->sum < CHECK_GROUP_SUMS && !atomic_load(&run->over); run->sum++) {
        if (run->groups.sums[run->sum] != NULL && explore_level(run) != 0) {
            atomic_store(&run->over, true);
        }
    }
    finish(run);
    free(run);
    return 0;
}
