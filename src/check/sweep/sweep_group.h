/*
 * Groups of states, found by their bytes (sweep.h), each a set of states: for sweep.c alone. A
 * state is a key: the numbers of its parts (sweep_parts.h).
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
    uint64_t bytes; /* the progress of its states: sweep.h */
    pthread_mutex_t lock;
    uint32_t *keys; /* a key for each state, in the order found */
    uint32_t count, capacity;
    uint32_t *slots; /* hash table: a state's number + 1; 0: empty */
    uint32_t slot_mask;
    struct check_spilled *spilled; /* states in the file: sweep_spill.h */
    uint64_t spilled_count;
    struct check_group *next_in_bucket, *next_in_sum;
};

struct check_groups {
    unsigned width; /* numbers in a key */
    size_t limit;   /* bytes that all groups together may use */
    _Atomic size_t used, most;
    pthread_mutex_t lock;
    _Atomic uint32_t count;
    struct check_group *buckets[CHECK_GROUP_BUCKETS];
    struct check_group *sums[CHECK_GROUP_SUMS]; /* list of the groups with each sum of bytes */
};

void check_groups_init(struct check_groups *groups, unsigned width, size_t limit);
void check_groups_free(struct check_groups *groups);

/* Find or add the group with these bytes. NULL: no room. */
struct check_group *check_groups_find(struct check_groups *groups, uint64_t bytes);

/* Count memory that is used for a group but is not in it. False: no room. */
bool check_groups_charge(struct check_groups *groups, size_t bytes);

/* Find or add a state in a group, and return its number. CHECK_NO_ROOM: no room. */
uint32_t check_group_put(struct check_groups *groups, struct check_group *group,
                         const uint32_t *key, uint64_t hash);

/* Is the state in the group? */
bool check_group_has(const struct check_groups *groups, const struct check_group *group,
                     const uint32_t *key, uint64_t hash);

/* Free all states of a group. */
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
