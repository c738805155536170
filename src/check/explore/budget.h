/*
 * Memory with a limit: arrays that grow, counted, so that an exploration that is too large ends
 * with a sentence and not with the machine's out-of-memory killer.
 */
#ifndef USHER_CHECK_BUDGET_H
#define USHER_CHECK_BUDGET_H

#include <stddef.h>

struct check_budget {
    size_t used, most, limit; /* bytes: now, at the worst, at most */
};

/* A limit for a machine that has other things to do too: three quarters of its free memory. */
size_t check_budget_default(void);

/* Grow *array to hold `need` items of `size` bytes; *capacity is in items. 0, or -ENOMEM: then the
   array is as it was. */
int check_budget_grow(struct check_budget *budget, void **array, size_t *capacity, size_t need,
                      size_t size);

/* calloc and free, counted. NULL if it would pass the limit. */
void *check_budget_new(struct check_budget *budget, size_t count, size_t size);
void check_budget_free(struct check_budget *budget, void *array, size_t count, size_t size);

#endif
