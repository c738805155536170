/*
 * Memory with a limit: arrays that grow and are counted. An exploration that is too large ends with
 * a message before the kernel's out-of-memory killer ends it.
 */
#ifndef USHER_CHECK_BUDGET_H
#define USHER_CHECK_BUDGET_H

#include <stddef.h>

struct check_budget {
    size_t used, most, limit; /* bytes: in use now, in use at most so far, allowed */
};

/* Three quarters of the free memory: the rest is for other programs. */
size_t check_budget_default(void);

/* Grow *array to hold `need` items of `size` bytes; *capacity is in items. 0, or -ENOMEM with
   the array unchanged. */
int check_budget_grow(struct check_budget *budget, void **array, size_t *capacity, size_t need,
                      size_t size);

/* calloc and free, counted. NULL: the limit would be exceeded. */
void *check_budget_new(struct check_budget *budget, size_t count, size_t size);
void check_budget_free(struct check_budget *budget, void *array, size_t count, size_t size);

#endif
