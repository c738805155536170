/*
 * Values of one size, numbered in the order they come: for the sweep alone.
 *
 * A value is never forgotten and never moves. It is looked up without a lock, while one thread at a
 * time adds values: a lookup that finds nothing says nothing, until it is done again under that
 * thread's lock.
 */
#ifndef USHER_CHECK_SWEEP_NUMBERS_H
#define USHER_CHECK_SWEEP_NUMBERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CHECK_NO_NUMBER UINT32_MAX

/* Where values are found. When it is full a larger one takes its place, but somebody may still look
   here. */
struct check_slots {
    struct check_slots *before;
    size_t bytes, mask;
    _Atomic uint32_t at[]; /* number + 1; 0: empty */
};

struct check_numbers {
    size_t bytes;  /* of one value */
    uint32_t most; /* values there is room for */
    _Atomic uint32_t count;
    unsigned char *values;
    struct check_slots *_Atomic slots;
};

/* Memory that is there when it is touched. NULL if there is no room for it. */
void *check_reserve(size_t count, size_t size);
void check_give_back(void *memory, size_t count, size_t size);

int check_numbers_init(struct check_numbers *numbers, size_t bytes, uint32_t most);
void check_numbers_free(struct check_numbers *numbers);
/* Bytes in use, and so many more for each value. */
size_t check_numbers_used(const struct check_numbers *numbers, size_t beside);

/* The number of a value, or CHECK_NO_NUMBER. */
uint32_t check_numbers_find(const struct check_numbers *numbers, const void *value);

/* By one thread at a time: a number for a value that has none. It is found only when it has been
   published, when all that belongs to it is there. CHECK_NO_NUMBER: no room. */
uint32_t check_numbers_add(struct check_numbers *numbers, const void *value);
void check_numbers_publish(struct check_numbers *numbers);

static inline const void *check_numbers_value(const struct check_numbers *numbers, uint32_t number)
{
    return numbers->values + (size_t)number * numbers->bytes;
}

#endif
