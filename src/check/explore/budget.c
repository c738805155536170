/* Memory with a limit: see budget.h. */
#include "check/explore/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

size_t check_budget_default(void)
{
    long pages = sysconf(_SC_AVPHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || size <= 0) {
        return (size_t)1 << 30;
    }
    return (size_t)pages / 4 * 3 * (size_t)size;
}

static int charge(struct check_budget *budget, size_t bytes)
{
    if (bytes > budget->limit || budget->used > budget->limit - bytes) {
        return -ENOMEM;
    }
    budget->used += bytes;
    if (budget->used > budget->most) {
        budget->most = budget->used;
    }
    return 0;
}

int check_budget_grow(struct check_budget *budget, void **array, size_t *capacity, size_t need,
                      size_t size)
{
    if (need <= *capacity) {
        return 0;
    }
    size_t next = *capacity + *capacity / 2 + 1024;
    if (next < need) {
        next = need;
    }
    if (charge(budget, (next - *capacity) * size) != 0) {
        next = need; /* the bare need may still fit */
        if (charge(budget, (next - *capacity) * size) != 0) {
            return -ENOMEM;
        }
    }
    void *grown = realloc(*array, next * size);
    if (grown == NULL) {
        budget->used -= (next - *capacity) * size;
        return -ENOMEM;
    }
    *array = grown;
    *capacity = next;
    return 0;
}

void *check_budget_new(struct check_budget *budget, size_t count, size_t size)
{
    if (charge(budget, count * size) != 0) {
        return NULL;
    }
    void *array = calloc(count, size);
    if (array == NULL) {
        budget->used -= count * size;
    }
    return array;
}

void check_budget_free(struct check_budget *budget, void *array, size_t count, size_t size)
{
    if (array != NULL) {
        budget->used -= count * size;
        free(array);
    }
}
