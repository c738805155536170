/* Groups of states: see sweep_group.h. */
#include "check/sweep/sweep_group.h"

#include "check/sweep/sweep_spill.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 6 };

void check_groups_init(struct check_groups *groups, unsigned width, size_t limit)
{
    memset(groups, 0, sizeof *groups);
    groups->width = width;
    groups->limit = limit;
    (void)pthread_mutex_init(&groups->lock, NULL);
}

static void free_spilled(struct check_group *group)
{
    while (group->spilled != NULL) {
        struct check_spilled *spilled = group->spilled;
        group->spilled = spilled->next;
        free(spilled);
    }
}

void check_groups_free(struct check_groups *groups)
{
    for (unsigned b = 0; b < CHECK_GROUP_BUCKETS; b++) {
        while (groups->buckets[b] != NULL) {
            struct check_group *group = groups->buckets[b];
            groups->buckets[b] = group->next_in_bucket;
            check_group_empty(groups, group);
            free_spilled(group);
            (void)pthread_mutex_destroy(&group->lock);
            free(group);
        }
    }
    (void)pthread_mutex_destroy(&groups->lock);
}

bool check_groups_charge(struct check_groups *groups, size_t bytes)
{
    size_t used = atomic_fetch_add(&groups->used, bytes) + bytes;
    size_t most = atomic_load(&groups->most);
    while (used > most && !atomic_compare_exchange_weak(&groups->most, &most, used)) {
    }
    if (used > groups->limit) {
        (void)atomic_fetch_sub(&groups->used, bytes);
        return false;
    }
    return true;
}

static void discharge(struct check_groups *groups, size_t bytes)
{
    (void)atomic_fetch_sub(&groups->used, bytes);
}

static unsigned sum_of(uint64_t bytes)
{
    unsigned sum = 0;
    for (; bytes != 0; bytes >>= 8) {
        sum += bytes & 0xff;
    }
    return sum;
}

static struct check_group *new_group(struct check_groups *groups, uint64_t bytes)
{
    struct check_group *group = calloc(1, sizeof *group);
    if (group == NULL || !check_groups_charge(groups, sizeof *group)) {
        free(group);
        return NULL;
    }
    group->bytes = bytes;
    (void)pthread_mutex_init(&group->lock, NULL);
    group->next_in_sum = groups->sums[sum_of(bytes)];
    groups->sums[sum_of(bytes)] = group;
    groups->count++;
    return group;
}

struct check_group *check_groups_find(struct check_groups *groups, uint64_t bytes)
{
    (void)pthread_mutex_lock(&groups->lock);
    struct check_group **bucket = &groups->buckets[check_mix(bytes) % CHECK_GROUP_BUCKETS];
    struct check_group *group = *bucket;
    while (group != NULL && group->bytes != bytes) {
        group = group->next_in_bucket;
    }
    if (group == NULL) {
        group = new_group(groups, bytes);
        if (group != NULL) {
            group->next_in_bucket = *bucket;
            *bucket = group;
        }
    }
    (void)pthread_mutex_unlock(&groups->lock);
    return group;
}

static bool same_key(const struct check_groups *groups, const uint32_t *a, const uint32_t *b)
{
    uint32_t different = 0;
    for (unsigned i = 0; i < groups->width; i++) {
        different |= a[i] ^ b[i];
    }
    return different == 0;
}

/* The slot of a key, or the empty slot for it. */
static uint32_t slot_of(const struct check_groups *groups, const struct check_group *group,
                        const uint32_t *key, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & group->slot_mask;
    while (group->slots[at] != 0 &&
           !same_key(groups, check_group_key(groups, group, group->slots[at] - 1), key)) {
        at = (at + 1) & group->slot_mask;
    }
    return at;
}

static bool more_keys(struct check_groups *groups, struct check_group *group)
{
    uint32_t capacity = group->capacity + group->capacity / 2 + 16;
    size_t each = groups->width * sizeof *group->keys;
    if (group->count >= CHECK_NO_ROOM / 4 ||
        !check_groups_charge(groups, (capacity - group->capacity) * each)) {
        return false;
    }
    uint32_t *keys = realloc(group->keys, capacity * each);
    if (keys == NULL) {
        discharge(groups, (capacity - group->capacity) * each);
        return false;
    }
    group->keys = keys;
    group->capacity = capacity;
    return true;
}

static bool more_slots(struct check_groups *groups, struct check_group *group)
{
    size_t old = group->slots == NULL ? 0 : (size_t)group->slot_mask + 1;
    size_t size = old == 0 ? FIRST_SLOTS : 2 * old;
    if (!check_groups_charge(groups, (size - old) * sizeof *group->slots)) {
        return false;
    }
    free(group->slots); /* they are built again from the keys */
    group->slots = calloc(size, sizeof *group->slots);
    if (group->slots == NULL) {
        discharge(groups, size * sizeof *group->slots);
        return false;
    }
    group->slot_mask = (uint32_t)(size - 1);
    for (uint32_t s = 0; s < group->count; s++) {
        uint64_t hash = check_group_hash(groups, check_group_key(groups, group, s));
        uint32_t at = (uint32_t)hash & group->slot_mask;
        while (group->slots[at] != 0) {
            at = (at + 1) & group->slot_mask;
        }
        group->slots[at] = s + 1;
    }
    return true;
}

uint32_t check_group_put(struct check_groups *groups, struct check_group *group,
                         const uint32_t *key, uint64_t hash)
{
    if (group->slots == NULL || group->count >= group->slot_mask / 4 * 3) {
        if (!more_slots(groups, group)) {
            return CHECK_NO_ROOM;
        }
    }
    uint32_t at = slot_of(groups, group, key, hash);
    if (group->slots[at] == 0) {
        if (group->count == group->capacity && !more_keys(groups, group)) {
            return CHECK_NO_ROOM;
        }
        memcpy(group->keys + (size_t)group->count * groups->width, key,
               groups->width * sizeof *key);
        group->slots[at] = ++group->count;
    }
    return group->slots[at] - 1;
}

bool check_group_has(const struct check_groups *groups, const struct check_group *group,
                     const uint32_t *key, uint64_t hash)
{
    return group->slots[slot_of(groups, group, key, hash)] != 0;
}

void check_group_empty(struct check_groups *groups, struct check_group *group)
{
    if (group->slots != NULL) {
        discharge(groups, ((size_t)group->slot_mask + 1) * sizeof *group->slots);
    }
    discharge(groups, group->capacity * groups->width * sizeof *group->keys);
    free(group->slots);
    free(group->keys);
    group->slots = group->keys = NULL;
    group->count = group->capacity = group->slot_mask = 0;
}
