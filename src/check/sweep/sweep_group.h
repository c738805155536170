/*
 * Groups of states, found by their bytes (sweep.h), and the set of states of each: for sweep.c
 * alone. A state is a key: the numbers of its parts (sweep_parts.h).
 */
#ifndef USHER_CHECK_SWEEP_GROUP_H
#define USHER_CHECK_SWEEP_GROUP_H

#include "check/explore/mix.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHECK_GROUP_BUCKETS = 1 << 16, CHECK_GROUP_SUMS = 8 * 255 + 1 };

#define CHECK_NO_ROOM UINT32_MAX

struct check_spilled;

struct check_group {
    uint64_t bytes; /* which group it is */
    pthread_mutex_t lock;
    uint32_t *keys; /* of each state, in the order found */
    uint32_t count, capacity;
    uint32_t *slots; /* a state's number + 1; 0: empty */
    uint32_t slot_mask;
    struct check_spilled *spilled; /* states in a file: sweep_spill.h */
    uint64_t spilled_count;
    struct check_group *next_in_bucket, *next_in_sum;
};

struct check_groups {
    unsigned width; /* numbers of a key */
    size_t limit;   /* bytes that all groups may have */
    _Atomic size_t used, most;
    pthread_mutex_t lock;
    _Atomic uint32_t count;
    struct check_group *buckets[CHECK_GROUP_BUCKETS];
    struct check_group *sums[CHECK_GROUP_SUMS]; /* lists of groups with one sum of bytes */
};

void check_groups_init(struct check_groups *groups, unsigned width, size_t limit);
void check_groups_free(struct check_groups *groups);

/* The group with these bytes, found or new. NULL: no room. */
struct check_group *check_groups_find(struct check_groups *groups, uint64_t bytes);

/* Account for memory that is used beside the groups' own. False: no room. */
bool check_groups_charge(struct check_groups *groups, size_t bytes);

/* The number of a state in its group, found or new. CHECK_NO_ROOM: no room. */
uint32_t check_group_put(struct check_groups *groups, struct check_group *group,
                         const uint32_t *key, uint64_t hash);

/* Is it there? */
bool check_group_has(const struct check_groups *groups, const struct check_group *group,
                     const uint32_t *key, uint64_t hash);

/* Forget all states of a group. */
void check_group_empty(struct check_groups *groups, struct check_group *group);

static inline const uint32_t *check_group_key(const struct check_groups *groups,
                                              const struct check_group *group, uint32_t state)
{
    return group->keys + (size_t)state * groups->width;
}

static inline uint64_t check_group_hash(const struct check_groups *groups, const uint32_t *key)
{
    uint64_t h = key[0];
    for (unsigned i = 1; i < groups->width; i++) {
        h = check_mix(h << 32 ^ h >> 32 ^ key[i]);
    }
    return h;
}

#endif
