/*
 * The sizes at which the core is explored, and for each guard a size at which its absence is
 * caught. For pool_test.c, which keeps all states in memory, and pool_sweep_test.c, which forgets
 * finished groups of states.
 */
#ifndef USHER_TESTS_POOL_SIZES_H
#define USHER_TESTS_POOL_SIZES_H

#include "model/pool_machine.h"

#include <stdio.h>
#include <string.h>

struct size {
    unsigned n, k;
    struct step_limits limits;
};

static const struct size quick_sizes[] = {
    {1, 1, {.cycles = 3, .crashes = 2}},
    {2, 1, {.cycles = 2, .crashes = 1}},
    {2, 2, {.cycles = 2, .crashes = 1}},
    {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1}},
    {2, 1, {.cycles = 1, .crashes = 1, .grows = 1}},
    {2, 2, {.cycles = 1, .crashes = 1, .shrinks = 1}},
    {2, 1, {.cycles = 1, .grows = 1, .shrinks = 1}},
    {2, 1, {.cycles = 2, .crashes = 1, .stale = 1}},
    {2, 1, {.cycles = 2, .crashes = 1, .stale = 3}},
    {3, 1, {.cycles = 2, .fewer = 2, .crashes = 2}},
    {3, 1, {.cycles = 1, .line = 2}}, /* too short for all: a guest finds the line full */
    /* A guest adopts a place that gets its verdict before it is recorded: it gets the next place.
       */
    {2, 1, {.cycles = 2, .gives_up = 1, .stale = 1}},
    {2, 1, {.cycles = 2, .gives_up = 1, .stale = 2}},
    {3, 1, {.cycles = 1, .stale = 1}},
    /* A guest clears an old verdict late, when the new verdict is the same. */
    {3, 1, {.cycles = 1, .gives_up = 1, .stale = 2}},
};

static const struct size slow_sizes[] = {
    {2, 1, {.cycles = 2, .crashes = 1, .stale = 2}},
    {2, 1, {.cycles = 3, .crashes = 1, .gives_up = 1}},
    {2, 2, {.cycles = 3, .crashes = 1, .gives_up = 1}},
    {2, 1, {.cycles = 1, .crashes = 1, .grows = 1, .shrinks = 1}},
    {2, 2, {.cycles = 2, .shrinks = 1}},
    {2, 2, {.cycles = 2, .grows = 1, .shrinks = 1, .queue = 2}},
    {3, 1, {.cycles = 1, .crashes = 2}},
    {3, 2, {.cycles = 1, .crashes = 2}},
    {3, 1, {.cycles = 1, .gives_up = 2}},
    {3, 1, {.cycles = 1, .crashes = 1, .gives_up = 1, .line = 2}},
    {4, 1, {.cycles = 1, .gives_up = 2, .queue = 4}},
    {4, 2, {.cycles = 1, .gives_up = 1, .queue = 4}},
    {3, 1, {.cycles = 2, .fewer = 1, .crashes = 1}},
};

/* Swept (check/sweep/sweep.h): pool_test large. */
static const struct size large_sizes[] = {
    {3, 2, {.cycles = 2, .fewer = 1, .crashes = 1, .count_bits = 5}},
    {3, 1, {.cycles = 2, .crashes = 1, .count_bits = 5}},
    {3, 2, {.cycles = 2, .fewer = 1, .fewer_only = 2, .crashes = 1, .count_bits = 5}},
    {3, 2, {.cycles = 2, .crashes = 1, .count_bits = 5}},
};

/* A guard, and the size at which its absence is caught. */
struct row {
    const char *mutant;
    struct size size;
};

static const struct row quick_rows[] = {
    {"take-tag", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"line-tag", {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1}}},
    {"served", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"skipped", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"lap", {2, 1, {.cycles = 1}}},
    {"reap-finish-take", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"finish-v", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"adopt-hole", {3, 1, {.cycles = 1}}},
    {"adopt-valid", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"slide-live", {4, 1, {.cycles = 1, .gives_up = 1, .queue = 4}}},
    {"named", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"reap-cycle", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"hole-granted", {3, 1, {.cycles = 1}}},
    {"decided-still", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"same-author", {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1}}},
    {"room", {4, 1, {.cycles = 1, .line = 2, .queue = 4}}},
    {"enter-valid", {2, 1, {.cycles = 1}}},
    {"leave-deliver", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"absorb", {1, 2, {.cycles = 1, .shrinks = 1}}},
    {"owed", {2, 2, {.cycles = 1, .crashes = 1, .shrinks = 1}}},
    {"stale-place", {2, 1, {.cycles = 1, .stale = 2}}},
    {"stale-still", {2, 1, {.cycles = 1, .gives_up = 1, .grows = 1, .shrinks = 1}}},
    {"counted", {2, 1, {.cycles = 1, .grows = 1, .shrinks = 1}}},
    {"count-v-still", {2, 1, {.cycles = 1, .grows = 1, .shrinks = 1}}},
    {"resize-limit", {1, 1, {.cycles = 1, .shrinks = 2}}},
    {"seat-held", {2, 2, {.cycles = 1}}},
    {"seat-asked", {2, 2, {.cycles = 2, .fewer = 1}}},
    {"seat-first", {2, 2, {.cycles = 2, .fewer = 1}}},
    {"seat-entering", {2, 2, {.cycles = 2, .fewer = 1}}},
    {"died-still", {3, 1, {.cycles = 2, .fewer = 2, .crashes = 1}}},
    {"grant-valid", {2, 1, {.cycles = 1}}},
    {"issued", {2, 1, {.cycles = 2, .crashes = 1, .stale = 2}}},
    {"slide-place", {3, 1, {.cycles = 1, .gives_up = 1, .queue = 3}}},
    {"next-cleared", {3, 1, {.cycles = 1, .stale = 1}}},
    {"repeat-v", {2, 1, {.cycles = 2, .shrinks = 1}}},
};

/* Without these no rule is broken, but a process is stuck or never enters. */
static const struct row stuck_rows[] = {
    {"author-tag", {2, 1, {.cycles = 2, .crashes = 1}}},
    {"finish-i", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"leaving-still", {2, 1, {.cycles = 1, .crashes = 1}}},
    {"skip-decided", {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1}}},
    {"seat-not-in", {2, 1, {.cycles = 2}}},
    {"seat-helped", {2, 2, {.cycles = 2, .crashes = 1}}},
};

static const struct row slow_rows[] = {
    {"seat-said", {2, 2, {.cycles = 2, .grows = 1, .shrinks = 1, .queue = 2}}},
    {"own-ticket", {5, 2, {.cycles = 1, .gives_up = 1, .queue = 5}}},
};

/* These need more states than memory holds: pool_sweep_test slow. */
static const struct row swept_rows[] = {
    {"died-asked", {3, 2, {.cycles = 2, .fewer = 1, .crashes = 1}}},
};

enum {
    PREFIX = sizeof "mutant-pool-" - 1, /* letters of a mutant's name that no row repeats */
    QUICK_SIZES = sizeof quick_sizes / sizeof quick_sizes[0],
    SLOW_SIZES = sizeof slow_sizes / sizeof slow_sizes[0],
    LARGE_SIZES = sizeof large_sizes / sizeof large_sizes[0],
    QUICK_ROWS = sizeof quick_rows / sizeof quick_rows[0],
    STUCK_ROWS = sizeof stuck_rows / sizeof stuck_rows[0],
    SLOW_ROWS = sizeof slow_rows / sizeof slow_rows[0],
    SWEPT_ROWS = sizeof swept_rows / sizeof swept_rows[0]
};

static inline void pool_print_size(const struct size *size)
{
    const struct step_limits *l = &size->limits;
    const struct {
        const char *name;
        unsigned value;
    } parts[] = {
        {"cycles", l->cycles},         {"fewer", l->fewer},
        {"only P", l->fewer_only},     {"crashes", l->crashes},
        {"gives up", l->gives_up},     {"grows", l->grows},
        {"shrinks", l->shrinks},       {"tag bits", l->tag_bits},
        {"count bits", l->count_bits}, {"line", l->line},
        {"queue", l->queue},           {"stale", l->stale},
        {"cycle bits", l->cycle_bits}, {"ticket bits", l->ticket_bits},
        {"pauses", l->pauses},         {"buffer", l->buffer},
        {"simple", l->simple},         {"last", l->last},
    };
    (void)printf("  n=%u k=%u", size->n, size->k);
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        if (parts[p].value != 0) {
            (void)printf(" %s %u", parts[p].name, parts[p].value);
        }
    }
}

static inline const struct step_machine *pool_find(const char *name)
{
    for (const struct step_machine *const *m = model_pool_mutants; *m != NULL; m++) {
        if (strcmp((*m)->name + PREFIX, name) == 0) {
            return *m;
        }
    }
    return NULL;
}

#endif
