/*
 * Explore one group, and put the states found beyond it into their groups: see sweep.h.
 *
 * As in explore.c, a memo keeps where a step leads from each pair of parts, and states are expanded
 * in batches, so that the memo and the slots can be prefetched.
 */
#include "check/sweep/sweep_judge.h"
#include "check/sweep/sweep_run.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, MEMO_BITS = 23, JUDGED_BITS = 16 };

uint64_t check_sweep_bytes(const struct check_sweep_parts *parts, const uint32_t *key)
{
    uint64_t bytes = parts->stage[key[0]];
    for (unsigned i = 0; i < parts->system->n; i++) {
        bytes |= (uint64_t)parts->phase[key[1 + i]] << (CHECK_STAGE_BITS + 8 * i);
    }
    return bytes;
}

static bool became_smaller(uint64_t before, uint64_t after)
{
    for (; before != 0; before >>= 8, after >>= 8) {
        if ((after & 0xff) < (before & 0xff)) {
            return true;
        }
    }
    return false;
}

static uint64_t image_bytes(const struct check_sweep_parts *parts, uint64_t bytes)
{
    uint64_t image = bytes & ((1U << CHECK_STAGE_BITS) - 1);
    for (unsigned i = 0; i < parts->system->n; i++) {
        image |= (bytes >> (CHECK_STAGE_BITS + 8 * i) & 0xff)
                 << (CHECK_STAGE_BITS + 8 * parts->mirror[i]);
    }
    return image;
}

/* The one with the smaller bytes is kept; if these are equal, the one with the smaller numbers. */
uint64_t check_sweep_choose(const struct check_sweep_parts *parts, uint32_t *key, uint64_t bytes)
{
    uint32_t image[CHECK_SWEEP_KEY];
    uint64_t other = image_bytes(parts, bytes);
    if (!parts->mirrored || other > bytes) {
        return bytes;
    }
    check_sweep_image(parts, key, image);
    size_t size = (1 + parts->system->n) * sizeof *key;
    if (other < bytes || memcmp(image, key, size) < 0) {
        memcpy(key, image, size);
    }
    return other;
}

static struct check_group *target_of(struct check_worker *w, uint64_t bytes)
{
    struct check_group **cached = &w->targets[check_mix(bytes) >> (64 - CHECK_TARGET_BITS)];
    if (*cached == NULL || (*cached)->bytes != bytes) {
        *cached = check_groups_find(&w->run->groups, bytes);
    }
    return *cached;
}

static uint64_t memo_from(unsigned label, uint32_t shared, uint32_t private)
{
    return ((uint64_t)label << 56 ^ (uint64_t)shared << 28 ^ private) + 1;
}

static struct check_memo *memo_of(const struct check_worker *w, uint64_t from)
{
    return &w->memo[from * 0x9e3779b97f4a7c15ULL >> (64 - MEMO_BITS)];
}

/* Where a label leads: from the memo, or by executing it. */
static enum check_sweep_result find_step(struct check_worker *w, unsigned label, uint32_t shared,
                                         uint32_t private, struct check_memo *found)
{
    uint64_t from = memo_from(label, shared, private);
    struct check_memo *memo = memo_of(w, from);
    if (memo->from != from) {
        struct check_memo fresh = {.from = from};
        enum check_sweep_result result = check_sweep_execute(&w->run->parts, label, shared, private,
                                                             &fresh.shared, &fresh.private);
        if (result == CHECK_SWEEP_CANNOT) {
            fresh.shared = UINT32_MAX;
        } else if (result != CHECK_SWEEP_OK) {
            return result;
        }
        *memo = fresh;
    }
    *found = *memo;
    return CHECK_SWEEP_OK;
}

/* Settle all other processes: shared memory has changed. */
static bool settle_others(struct check_worker *w, unsigned process, uint32_t *key)
{
    const struct step_system *system = w->run->system;
    for (unsigned i = 0; i < system->n; i++) {
        struct check_memo to;
        if (i == process) {
            continue;
        }
        enum check_sweep_result result =
            find_step(w, system->machine->events * system->n + i, key[0], key[1 + i], &to);
        if (result != CHECK_SWEEP_OK) {
            check_sweep_complain(w->run, result);
            return false;
        }
        key[1 + i] = to.private;
    }
    return true;
}

/* Find the state and the group that a label leads to. False: the sweep has ended. */
static bool follow(struct check_worker *w, struct check_group *group, uint32_t state,
                   unsigned label, struct check_found *found)
{
    struct check_sweep_run *run = w->run;
    unsigned process = label % run->system->n;
    struct check_memo to;
    memcpy(found->key, check_group_key(&run->groups, group, state),
           run->groups.width * sizeof *found->key);
    enum check_sweep_result result =
        find_step(w, label, found->key[0], found->key[1 + process], &to);
    found->group = NULL;
    if (result != CHECK_SWEEP_OK) {
        check_sweep_complain(run, result);
        return false;
    }
    if (to.shared == UINT32_MAX) {
        return true;
    }
    uint32_t before = found->key[0];
    found->key[0] = to.shared;
    found->key[1 + process] = to.private;
    found->group = group;
    w->transitions++;
    if (run->parts.settled && to.shared != before && !settle_others(w, process, found->key)) {
        return false;
    }
    uint64_t bytes = check_sweep_bytes(&run->parts, found->key);
    if (bytes != group->bytes) {
        if (became_smaller(group->bytes, bytes)) {
            (void)check_sweep_end(run, &run->sweep->broken,
                                  "a value that only grows became smaller", NULL);
            return false;
        }
        found->group = target_of(w, check_sweep_choose(&run->parts, found->key, bytes));
        if (found->group == NULL) {
            (void)check_sweep_end(run, NULL, NULL, NULL);
            return false;
        }
    }
    found->hash = check_group_hash(&run->groups, found->key);
    if (found->group == group) {
        __builtin_prefetch(&group->slots[(uint32_t)found->hash & group->slot_mask]);
    }
    return true;
}

/* Put a found state into its group, and record the edge of a step. False: the sweep has ended. */
static bool put(struct check_worker *w, struct check_group *group, uint32_t state, unsigned label,
                const struct check_found *found)
{
    struct check_sweep_run *run = w->run;
    unsigned n = run->system->n;
    uint32_t to = UINT32_MAX - 1;
    if (found->group == group) {
        to = check_group_put(&run->groups, group, found->key, found->hash);
    } else if (found->group != NULL) {
        (void)pthread_mutex_lock(&found->group->lock);
        uint32_t there = check_group_put(&run->groups, found->group, found->key, found->hash);
        (void)pthread_mutex_unlock(&found->group->lock);
        to = there == CHECK_NO_ROOM ? CHECK_NO_ROOM : to;
    }
    if (to == CHECK_NO_ROOM) {
        (void)check_sweep_end(run, NULL, NULL, NULL);
        return false;
    }
    if (label < n) {
        w->edges[(size_t)state * n + label] = to;
    }
    return true;
}

/* Do exclusion and the invariant hold in a state and in its image? */
static bool is_right(struct check_worker *w, const uint32_t *key)
{
    struct check_sweep_run *run = w->run;
    const struct check_sweep_parts *parts = &run->parts;
    unsigned critical = 0;
    unsigned trying = 0;
    uint64_t seen_as = key[0];
    bool known = true;
    for (unsigned i = 0; i < run->system->n; i++) {
        critical += parts->region[key[1 + i]] == STEP_CRITICAL;
        trying += parts->region[key[1 + i]] == STEP_TRYING;
        seen_as |= (uint64_t)parts->judged[key[1 + i]] << (27 + 7 * i);
        known = known && parts->judged[key[1 + i]] != CHECK_SWEEP_JUDGED;
    }
    w->full_states += critical >= run->system->k && trying > 0;
    if (critical > run->system->k && (run->system->claims & STEP_CLAIM(STEP_EXCLUSION))) {
        check_sweep_violated(run, key, "exclusion", NULL);
        return false;
    }
    uint64_t *judged = &w->judged[check_mix(seen_as) >> (64 - JUDGED_BITS)];
    if (known && *judged == seen_as + 1) {
        return true;
    }
    uint32_t image[CHECK_SWEEP_KEY];
    const char *wrong = check_sweep_wrong(parts, key);
    if (wrong == NULL && parts->mirrored) {
        check_sweep_image(parts, key, image);
        wrong = check_sweep_wrong(parts, image);
    }
    if (wrong != NULL) {
        check_sweep_violated(run, key, "invariant", wrong);
        return false;
    }
    *judged = seen_as + 1;
    return true;
}

/* Make room for the edges of `states` states and one more. */
static bool more_edges(struct check_worker *w, uint32_t states)
{
    size_t each = w->run->system->n * sizeof *w->edges;
    if (states < w->edge_room) {
        return true;
    }
    size_t room = (size_t)states + states / 2 + 1024;
    if (!check_groups_charge(&w->run->groups, (room - w->edge_room) * each)) {
        return false;
    }
    uint32_t *edges = realloc(w->edges, room * each);
    if (edges == NULL) {
        return false;
    }
    w->edges = edges;
    w->edge_room = room;
    return true;
}

static bool expand(struct check_worker *w, struct check_group *group, uint32_t first,
                   uint32_t count)
{
    struct check_sweep_run *run = w->run;
    unsigned labels = run->label_count;
    for (uint32_t f = 0; f < count * labels; f++) {
        const uint32_t *key = check_group_key(&run->groups, group, first + f / labels);
        unsigned label = run->labels[f % labels];
        __builtin_prefetch(memo_of(w, memo_from(label, key[0], key[1 + label % run->system->n])));
    }
    for (uint32_t s = 0; s < count; s++) {
        if (!is_right(w, check_group_key(&run->groups, group, first + s))) {
            return false;
        }
        for (unsigned l = 0; l < labels; l++) {
            if (!follow(w, group, first + s, run->labels[l], &w->found[s * labels + l])) {
                return false;
            }
        }
    }
    for (uint32_t f = 0; f < count * labels; f++) {
        if (w->found[f].group == group) {
            uint32_t named = group->slots[(uint32_t)w->found[f].hash & group->slot_mask];
            __builtin_prefetch(check_group_key(&run->groups, group, named == 0 ? 0 : named - 1));
        }
    }
    for (uint32_t f = 0; f < count * labels; f++) {
        if (!put(w, group, first + f / labels, run->labels[f % labels], &w->found[f])) {
            return false;
        }
    }
    return true;
}

/* The number of states of the group and of their images. */
static uint64_t count_all(const struct check_sweep_run *run, const struct check_group *group)
{
    const struct check_sweep_parts *parts = &run->parts;
    if (!parts->mirrored || image_bytes(parts, group->bytes) != group->bytes) {
        return (uint64_t)group->count << parts->mirrored;
    }
    uint64_t all = 0;
    for (uint32_t s = 0; s < group->count; s++) {
        uint32_t image[CHECK_SWEEP_KEY];
        check_sweep_image(parts, check_group_key(&run->groups, group, s), image);
        all += check_group_has(&run->groups, group, image, check_group_hash(&run->groups, image))
                   ? 1
                   : 2;
    }
    return all;
}

/* Read back all states of the group that are in the file. */
static bool bring_back(struct check_sweep_run *run, struct check_group *group)
{
    int error;
    while (check_spill_back(&run->spill, &run->groups, group, &error) &&
           check_sweep_make_room(run)) {
    }
    return error == 0 && group->spilled == NULL;
}

void check_sweep_explore(struct check_worker *w, struct check_group *group)
{
    struct check_sweep_run *run = w->run;
    if (!bring_back(run, group)) {
        (void)check_sweep_end(run, NULL, NULL, NULL);
        return;
    }
    for (uint32_t next = 0; next < group->count;) {
        uint32_t count = group->count - next < BATCH ? group->count - next : BATCH;
        if (!check_sweep_make_room(run) || !more_edges(w, next + count)) {
            (void)check_sweep_end(run, NULL, NULL, NULL);
        }
        if (atomic_load(&run->over) || !expand(w, group, next, count)) {
            return;
        }
        next += count;
        (void)atomic_fetch_add_explicit(&run->expanded, count, memory_order_relaxed);
        check_sweep_progress(run);
    }
    for (size_t e = 0; e < (size_t)group->count * run->system->n; e++) {
        w->edges[e] = w->edges[e] > group->count ? group->count : w->edges[e];
    }
    struct check_loops loops;
    if (check_sweep_judge(&run->parts, &run->groups, group, w->edges, &loops) != 0) {
        (void)check_sweep_end(run, NULL, NULL, NULL);
        return;
    }
    if (loops.what != NULL) {
        check_sweep_violated(run, check_group_key(&run->groups, group, loops.state), loops.what,
                             NULL);
        return;
    }
    check_sweep_add_up(w, group, count_all(run, group), loops.trying);
    check_group_empty(&run->groups, group);
}

void check_worker_free(struct check_worker *w)
{
    if (w != NULL) {
        free(w->memo);
        free(w->judged);
        free(w->edges);
        free(w->found);
        free(w);
    }
}

struct check_worker *check_worker_new(struct check_sweep_run *run)
{
    struct check_worker *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    w->run = run;
    w->memo = calloc((size_t)1 << MEMO_BITS, sizeof *w->memo);
    w->judged = calloc((size_t)1 << JUDGED_BITS, sizeof *w->judged);
    w->found = calloc((size_t)BATCH * run->label_count, sizeof *w->found);
    if (w->memo == NULL || w->judged == NULL || w->found == NULL) {
        check_worker_free(w);
        return NULL;
    }
    return w;
}
