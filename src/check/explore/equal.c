/* Equivalence of two systems: see equal.h. */
#include "check/explore/equal.h"

#include "check/explore/mix.h"

#include <errno.h>
#include <string.h>

/* The pairs found, in breadth-first order, each with its predecessor, and a hash table of them. */
struct pairs {
    uint64_t *list;
    uint32_t *parents;
    uint8_t *via;
    uint32_t *slots; /* number + 1 */
    size_t mask, count, capacity;
};

static uint64_t pair_of(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static uint32_t *slot_of(const struct pairs *pairs, uint64_t pair)
{
    size_t at = (size_t)check_mix(pair) & pairs->mask;
    while (pairs->slots[at] != 0 && pairs->list[pairs->slots[at] - 1] != pair) {
        at = (at + 1) & pairs->mask;
    }
    return &pairs->slots[at];
}

static int grow(struct pairs *pairs)
{
    size_t capacity = pairs->capacity == 0 ? 1024 : 2 * pairs->capacity;
    uint64_t *list = realloc(pairs->list, capacity * sizeof *list);
    pairs->list = list != NULL ? list : pairs->list;
    uint32_t *parents = realloc(pairs->parents, capacity * sizeof *parents);
    pairs->parents = parents != NULL ? parents : pairs->parents;
    uint8_t *via = realloc(pairs->via, capacity);
    pairs->via = via != NULL ? via : pairs->via;
    uint32_t *slots = calloc(2 * capacity, sizeof *slots);
    if (list == NULL || parents == NULL || via == NULL || slots == NULL) {
        free(slots);
        return -ENOMEM;
    }
    free(pairs->slots);
    pairs->slots = slots;
    pairs->mask = 2 * capacity - 1;
    pairs->capacity = capacity;
    for (size_t i = 0; i < pairs->count; i++) {
        *slot_of(pairs, pairs->list[i]) = (uint32_t)(i + 1);
    }
    return 0;
}

static int put(struct pairs *pairs, uint64_t pair, uint32_t parent, unsigned process)
{
    if (pairs->count == pairs->capacity && grow(pairs) != 0) {
        return -ENOMEM;
    }
    uint32_t *slot = slot_of(pairs, pair);
    if (*slot == 0) {
        pairs->list[pairs->count] = pair;
        pairs->parents[pairs->count] = parent;
        pairs->via[pairs->count] = (uint8_t)process;
        *slot = (uint32_t)++pairs->count;
    }
    return 0;
}

static int trace_to(const struct pairs *pairs, uint32_t at, struct check_schedule *schedule)
{
    struct check_schedule backwards = {0};
    int error = 0;
    for (; at != 0 && error == 0; at = pairs->parents[at]) {
        error = check_schedule_add(&backwards, pairs->via[at]);
    }
    for (size_t i = backwards.length; i-- > 0 && error == 0;) {
        error = check_schedule_add(schedule, backwards.steps[i]);
    }
    check_schedule_free(&backwards);
    return error;
}

int check_equal(struct check_graph *a, struct check_graph *b, struct check_equality *equality)
{
    struct pairs pairs = {0};
    memset(equality, 0, sizeof *equality);
    equality->equivalent = true;
    int error = put(&pairs, pair_of(0, 0), 0, 0);
    for (uint32_t next = 0; next < pairs.count && error == 0 && equality->equivalent; next++) {
        uint32_t in_a = (uint32_t)(pairs.list[next] >> 32);
        uint32_t in_b = (uint32_t)pairs.list[next];
        if (a->regions[in_a] != b->regions[in_b]) {
            equality->equivalent = false;
            error = trace_to(&pairs, next, &equality->trace);
        }
        for (unsigned i = 0; i < a->system->n && error == 0 && equality->equivalent; i++) {
            error = put(&pairs, pair_of(check_edge(a, in_a, i), check_edge(b, in_b, i)), next, i);
        }
    }
    equality->pairs = pairs.count;
    free(pairs.list);
    free(pairs.parents);
    free(pairs.via);
    free(pairs.slots);
    return error;
}
