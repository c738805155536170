/*
 * A set of values of one size, numbered in the order they are added: for the sweep alone.
 *
 * A value is never freed and never moves. Threads look values up without a lock while one thread at
 * a time adds values, under the caller's lock. A lookup without the lock may miss a value that is
 * being added: repeat it under the lock before you add.
 */
#ifndef USHER_CHECK_SWEEP_NUMBERS_H
#define USHER_CHECK_SWEEP_NUMBERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CHECK_NO_NUMBER UINT32_MAX

/* A hash table. When it is half full a larger one replaces it. The old one stays allocated:
   threads may still read it. */
struct check_slots {
    struct check_slots *before;
    size_t bytes, mask;
    _Atomic uint32_t at[]; /* number + 1; 0: empty */
};

struct check_numbers {
    size_t bytes;  /* of one value */
    uint32_t most; /* values that fit */
    _Atomic uint32_t count;
    unsigned char *values;
    struct check_slots *_Atomic slots;
};

/* Reserve zeroed memory that takes no room until it is written. NULL: no address space. */
void *check_reserve(size_t count, size_t size);
void check_give_back(void *memory, size_t count, size_t size);

int check_numbers_init(struct check_numbers *numbers, size_t bytes, uint32_t most);
void check_numbers_free(struct check_numbers *numbers);
/* Bytes in use, counting `beside` bytes more for each value. */
size_t check_numbers_used(const struct check_numbers *numbers, size_t beside);

/* The number of a value, or CHECK_NO_NUMBER. */
uint32_t check_numbers_find(const struct check_numbers *numbers, const void *value);

/* Number a new value, by one thread at a time. Lookups find it only after it is published: write
   first what belongs to it. CHECK_NO_NUMBER: no room. */
uint32_t check_numbers_add(struct check_numbers *numbers, const void *value);
void check_numbers_publish(struct check_numbers *numbers);

static inline const void *check_numbers_value(const struct check_numbers *numbers, uint32_t number)
{
    return numbers->values + (size_t)number * numbers->bytes;
}

#endif
