/*
 * The set of states seen, exact and small.
 *
 * A state is one shared memory and n private states. Few distinct ones of each occur. Each is
 * stored once and numbered in the order found (a part). A state is the tuple of its parts' numbers,
 * packed into as few bits as the numbers need (a key):
 *
 *     | x_n | ... | x_2 | x_1 | v |      one or more 64-bit words; no field straddles two words
 *
 * When a number no longer fits its field, all keys are rewritten with wider fields. States are
 * numbered in the order in which they are put. A state costs its key (8 bytes if the fields fit one
 * word) and a slot of the hash table (8 bytes at a load of 3/8 to 3/4).
 */
#ifndef USHER_CHECK_SEEN_H
#define USHER_CHECK_SEEN_H

#include "check/explore/budget.h"
#include "check/explore/mix.h"
#include "step/step.h"

enum { CHECK_KEY_WORDS = 8, CHECK_MAX_PROCESSES = 16 };

#define CHECK_NO_STATE UINT32_MAX

/* All distinct values of one kind of part: shared memories, or private states. */
struct check_parts {
    size_t bytes; /* of one value */
    unsigned char *values;
    size_t capacity;
    uint32_t count;
    uint32_t *slots; /* number + 1; 0: empty */
    uint32_t slot_mask;
};

struct check_field {
    uint8_t word, shift, bits;
};

struct check_seen {
    const struct step_system *system;
    struct check_budget *budget;
    struct check_parts shared, private;
    struct check_field fields[1 + CHECK_MAX_PROCESSES]; /* v, x_1 .. x_n */
    unsigned key_words;
    uint64_t *keys; /* key_words for each state */
    size_t key_capacity;
    uint32_t count;
    struct check_slot *slots;
    uint32_t slot_mask;
};

struct check_slot {
    uint32_t tag;   /* upper half of the key's hash */
    uint32_t state; /* number + 1; 0: empty */
};

/* 0 or -ENOMEM. */
int check_seen_init(struct check_seen *seen, const struct step_system *system,
                    struct check_budget *budget);
void check_seen_free(struct check_seen *seen);

/* Find or add the value of a part. 0 or -ENOMEM. Widen before packing its number. */
int check_parts_number(struct check_seen *seen, struct check_parts *parts, const void *value,
                       uint32_t *number);

/* Make the fields wide enough for all parts numbered so far. 0 or -ENOMEM. */
int check_seen_widen(struct check_seen *seen);

/* Make room for `more` states, so that putting them cannot fail. 0 or -ENOMEM. */
int check_seen_reserve(struct check_seen *seen, uint32_t more);

/* Find or add a state, and return its number; *fresh tells whether it is new. Reserve first. */
uint32_t check_seen_put(struct check_seen *seen, const uint64_t *key, uint64_t hash, bool *fresh);

/* Find a state. CHECK_NO_STATE if it is not in the set. */
uint32_t check_seen_find(const struct check_seen *seen, const uint64_t *key, uint64_t hash);

/* Unpack the state of a number. */
void check_seen_get(const struct check_seen *seen, uint32_t state, uint64_t *words, void *states);

static inline const uint64_t *check_seen_key(const struct check_seen *seen, uint32_t state)
{
    return seen->keys + (size_t)state * seen->key_words;
}

/* The number of a part in a key: field 0 is the shared memory, field 1+i process i. */
static inline uint32_t check_seen_part(const struct check_seen *seen, const uint64_t *key,
                                       unsigned field)
{
    struct check_field f = seen->fields[field];
    return (uint32_t)(key[f.word] >> f.shift & ((1ULL << f.bits) - 1));
}

static inline bool check_seen_same(const struct check_seen *seen, const uint64_t *a,
                                   const uint64_t *b)
{
    for (unsigned i = 0; i < seen->key_words; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

static inline void check_seen_set_part(const struct check_seen *seen, uint64_t *key, unsigned field,
                                       uint32_t number)
{
    struct check_field f = seen->fields[field];
    uint64_t mask = ((1ULL << f.bits) - 1) << f.shift;
    key[f.word] = (key[f.word] & ~mask) | (uint64_t)number << f.shift;
}

static inline uint64_t check_seen_hash(const struct check_seen *seen, const uint64_t *key)
{
    uint64_t h = 0;
    for (unsigned i = 0; i < seen->key_words; i++) {
        h = check_mix(h ^ key[i]);
    }
    return h;
}

#endif
