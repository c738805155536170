/* The set of states seen: see seen.h. */
#include "check/explore/seen.h"

#include "check/explore/mix.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 10 };

static uint64_t hash_bytes(const unsigned char *value, size_t bytes)
{
    uint64_t h = bytes;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t chunk = 0;
        memcpy(&chunk, value + i, bytes - i < 8 ? bytes - i : 8);
        h = check_mix(h ^ chunk);
    }
    return h;
}

static int parts_init(struct check_budget *budget, struct check_parts *parts, size_t bytes)
{
    *parts = (struct check_parts){.bytes = bytes, .slot_mask = FIRST_SLOTS - 1};
    parts->slots = check_budget_new(budget, FIRST_SLOTS, sizeof *parts->slots);
    return parts->slots == NULL ? -ENOMEM : 0;
}

static void parts_free(struct check_budget *budget, struct check_parts *parts)
{
    check_budget_free(budget, parts->slots, (size_t)parts->slot_mask + 1, sizeof *parts->slots);
    check_budget_free(budget, parts->values, parts->capacity, parts->bytes);
}

static uint32_t *parts_slot(const struct check_parts *parts, const void *value)
{
    uint32_t at = (uint32_t)hash_bytes(value, parts->bytes) & parts->slot_mask;
    while (parts->slots[at] != 0 && memcmp(parts->values + (parts->slots[at] - 1) * parts->bytes,
                                           value, parts->bytes) != 0) {
        at = (at + 1) & parts->slot_mask;
    }
    return &parts->slots[at];
}

static int parts_double(struct check_budget *budget, struct check_parts *parts)
{
    size_t old = (size_t)parts->slot_mask + 1;
    uint32_t *slots = check_budget_new(budget, 2 * old, sizeof *slots);
    if (slots == NULL) {
        return -ENOMEM;
    }
    check_budget_free(budget, parts->slots, old, sizeof *slots);
    parts->slots = slots;
    parts->slot_mask = (uint32_t)(2 * old - 1);
    for (uint32_t i = 0; i < parts->count; i++) {
        *parts_slot(parts, parts->values + i * parts->bytes) = i + 1;
    }
    return 0;
}

int check_parts_number(struct check_seen *seen, struct check_parts *parts, const void *value,
                       uint32_t *number)
{
    uint32_t *slot = parts_slot(parts, value);
    if (*slot == 0) {
        if (check_budget_grow(seen->budget, (void **)&parts->values, &parts->capacity,
                              (size_t)parts->count + 1, parts->bytes) != 0) {
            return -ENOMEM;
        }
        if (parts->count >= parts->slot_mask / 2) {
            if (parts_double(seen->budget, parts) != 0) {
                return -ENOMEM;
            }
            slot = parts_slot(parts, value);
        }
        memcpy(parts->values + parts->count * parts->bytes, value, parts->bytes);
        *slot = ++parts->count;
    }
    *number = *slot - 1;
    return 0;
}

static uint8_t bits_for(uint32_t count)
{
    uint8_t bits = 1;
    while (bits < 32 && 1ULL << bits < count) {
        bits++;
    }
    return bits;
}

/* Lay out the fields for the parts numbered so far. No field straddles two words. */
static unsigned lay_out(const struct check_seen *seen, struct check_field *fields)
{
    unsigned word = 0;
    unsigned used = 0;
    for (unsigned i = 0; i <= seen->system->n; i++) {
        uint8_t bits = bits_for(i == 0 ? seen->shared.count : seen->private.count);
        if (used + bits > 64) {
            word++;
            used = 0;
        }
        fields[i] = (struct check_field){(uint8_t)word, (uint8_t)used, bits};
        used += bits;
    }
    return word + 1;
}

int check_seen_init(struct check_seen *seen, const struct step_system *system,
                    struct check_budget *budget)
{
    memset(seen, 0, sizeof *seen);
    seen->system = system;
    seen->budget = budget;
    seen->slot_mask = FIRST_SLOTS - 1;
    seen->slots = check_budget_new(budget, FIRST_SLOTS, sizeof *seen->slots);
    if (seen->slots == NULL ||
        parts_init(budget, &seen->shared, system->shared_words * sizeof(uint64_t)) != 0 ||
        parts_init(budget, &seen->private, system->private_bytes) != 0) {
        return -ENOMEM;
    }
    seen->key_words = lay_out(seen, seen->fields);
    return 0;
}

void check_seen_free(struct check_seen *seen)
{
    check_budget_free(seen->budget, seen->slots, (size_t)seen->slot_mask + 1, sizeof *seen->slots);
    check_budget_free(seen->budget, seen->keys, seen->key_capacity, sizeof *seen->keys);
    parts_free(seen->budget, &seen->shared);
    parts_free(seen->budget, &seen->private);
}

static void insert_slot(struct check_seen *seen, uint64_t hash, uint32_t state)
{
    uint32_t at = (uint32_t)hash & seen->slot_mask;
    while (seen->slots[at].state != 0) {
        at = (at + 1) & seen->slot_mask;
    }
    seen->slots[at] = (struct check_slot){(uint32_t)(hash >> 32), state + 1};
}

/* Fill an empty table of the right size from the keys, prefetching the slots. */
static void rehash(struct check_seen *seen)
{
    enum { AHEAD = 16 };
    uint64_t hashes[AHEAD];
    for (uint32_t first = 0; first < seen->count; first += AHEAD) {
        uint32_t batch = seen->count - first < AHEAD ? seen->count - first : AHEAD;
        for (uint32_t i = 0; i < batch; i++) {
            hashes[i] = check_seen_hash(seen, check_seen_key(seen, first + i));
            __builtin_prefetch(&seen->slots[(uint32_t)hashes[i] & seen->slot_mask], 1);
        }
        for (uint32_t i = 0; i < batch; i++) {
            insert_slot(seen, hashes[i], first + i);
        }
    }
}

/* Rewrite all keys with the fields of `wide`, last key first, since keys may grow. */
static void repack(struct check_seen *seen, const struct check_seen *wide)
{
    for (uint32_t i = seen->count; i-- > 0;) {
        uint64_t key[CHECK_KEY_WORDS] = {0};
        for (unsigned f = 0; f <= seen->system->n; f++) {
            check_seen_set_part(wide, key, f, check_seen_part(seen, check_seen_key(seen, i), f));
        }
        memcpy(seen->keys + (size_t)i * wide->key_words, key, wide->key_words * sizeof *key);
    }
}

int check_seen_widen(struct check_seen *seen)
{
    if (bits_for(seen->shared.count) <= seen->fields[0].bits &&
        bits_for(seen->private.count) <= seen->fields[1].bits) {
        return 0;
    }
    struct check_seen wide = *seen;
    wide.key_words = lay_out(seen, wide.fields);
    if (wide.key_words > CHECK_KEY_WORDS ||
        check_budget_grow(seen->budget, (void **)&seen->keys, &seen->key_capacity,
                          (size_t)seen->count * wide.key_words, sizeof *seen->keys) != 0) {
        return -ENOMEM;
    }
    repack(seen, &wide);
    memcpy(seen->fields, wide.fields, sizeof seen->fields);
    seen->key_words = wide.key_words;
    memset(seen->slots, 0, ((size_t)seen->slot_mask + 1) * sizeof *seen->slots);
    rehash(seen);
    return 0;
}

int check_seen_reserve(struct check_seen *seen, uint32_t more)
{
    size_t need = (size_t)seen->count + more;
    size_t size = (size_t)seen->slot_mask + 1;
    if (need >= CHECK_NO_STATE ||
        check_budget_grow(seen->budget, (void **)&seen->keys, &seen->key_capacity,
                          need * seen->key_words, sizeof *seen->keys) != 0) {
        return -ENOMEM;
    }
    if (need <= size / 4 * 3) {
        return 0;
    }
    while (need > size / 4 * 3) {
        size *= 2;
    }
    /* Free the old table first: the new one is built from the keys. */
    size_t old = (size_t)seen->slot_mask + 1;
    if (seen->budget->used - old * sizeof *seen->slots + size * sizeof *seen->slots >
        seen->budget->limit) {
        return -ENOMEM;
    }
    check_budget_free(seen->budget, seen->slots, old, sizeof *seen->slots);
    seen->slots = check_budget_new(seen->budget, size, sizeof *seen->slots);
    if (seen->slots == NULL) {
        return -ENOMEM;
    }
    seen->slot_mask = (uint32_t)(size - 1);
    rehash(seen);
    return 0;
}

uint32_t check_seen_find(const struct check_seen *seen, const uint64_t *key, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    for (uint32_t at = (uint32_t)hash & seen->slot_mask;; at = (at + 1) & seen->slot_mask) {
        struct check_slot slot = seen->slots[at];
        if (slot.state == 0) {
            return CHECK_NO_STATE;
        }
        if (slot.tag == tag && check_seen_same(seen, check_seen_key(seen, slot.state - 1), key)) {
            return slot.state - 1;
        }
    }
}

uint32_t check_seen_put(struct check_seen *seen, const uint64_t *key, uint64_t hash, bool *fresh)
{
    uint32_t state = check_seen_find(seen, key, hash);
    *fresh = state == CHECK_NO_STATE;
    if (*fresh) {
        state = seen->count++;
        memcpy(seen->keys + (size_t)state * seen->key_words, key, seen->key_words * sizeof *key);
        insert_slot(seen, hash, state);
    }
    return state;
}

void check_seen_get(const struct check_seen *seen, uint32_t state, uint64_t *words, void *states)
{
    const uint64_t *key = check_seen_key(seen, state);
    memcpy(words, seen->shared.values + check_seen_part(seen, key, 0) * seen->shared.bytes,
           seen->shared.bytes);
    for (unsigned i = 0; i < seen->system->n; i++) {
        memcpy(step_state_of(seen->system, states, i),
               seen->private.values + check_seen_part(seen, key, 1 + i) * seen->private.bytes,
               seen->private.bytes);
    }
}
