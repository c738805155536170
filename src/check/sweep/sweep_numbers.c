/* Numbered values: see sweep_numbers.h. */
#include "check/sweep/sweep_numbers.h"

#include "check/explore/mix.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_SLOTS = 1 << 12, LARGE = 1 << 22 };

void *check_reserve(size_t count, size_t size)
{
    void *memory = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    if (count * size >= LARGE) { /* reads are random: large pages save TLB misses */
        (void)madvise(memory, count * size, MADV_HUGEPAGE);
    }
    return memory;
}

void check_give_back(void *memory, size_t count, size_t size)
{
    if (memory != NULL) {
        (void)munmap(memory, count * size);
    }
}

static struct check_slots *new_slots(size_t count, struct check_slots *before)
{
    size_t bytes = sizeof(struct check_slots) + count * sizeof(uint32_t);
    struct check_slots *slots = check_reserve(1, bytes);
    if (slots != NULL) {
        slots->before = before;
        slots->bytes = bytes;
        slots->mask = count - 1;
    }
    return slots;
}

int check_numbers_init(struct check_numbers *n, size_t bytes, uint32_t most)
{
    *n = (struct check_numbers){.bytes = bytes, .most = most};
    n->values = check_reserve(most, bytes);
    atomic_init(&n->slots, new_slots(FIRST_SLOTS, NULL));
    return n->values == NULL || atomic_load(&n->slots) == NULL ? -ENOMEM : 0;
}

void check_numbers_free(struct check_numbers *n)
{
    struct check_slots *slots = atomic_load(&n->slots);
    while (slots != NULL) {
        struct check_slots *before = slots->before;
        check_give_back(slots, 1, slots->bytes);
        slots = before;
    }
    check_give_back(n->values, n->most, n->bytes);
}

size_t check_numbers_used(const struct check_numbers *n, size_t beside)
{
    const struct check_slots *slots = atomic_load(&n->slots);
    return slots == NULL ? 0 : 2 * slots->bytes + n->count * (n->bytes + beside);
}

static uint64_t hash_of(const struct check_numbers *n, const void *value)
{
    uint64_t h = n->bytes;
    for (size_t i = 0; i < n->bytes; i += 8) {
        uint64_t chunk = 0;
        memcpy(&chunk, (const unsigned char *)value + i, n->bytes - i < 8 ? n->bytes - i : 8);
        h = check_mix(h ^ chunk);
    }
    return h;
}

uint32_t check_numbers_find(const struct check_numbers *n, const void *value)
{
    const struct check_slots *slots = atomic_load_explicit(&n->slots, memory_order_acquire);
    for (size_t at = hash_of(n, value) & slots->mask;; at = (at + 1) & slots->mask) {
        uint32_t named = atomic_load_explicit(&slots->at[at], memory_order_acquire);
        if (named == 0 || memcmp(check_numbers_value(n, named - 1), value, n->bytes) == 0) {
            return named - 1;
        }
    }
}

static void enter(const struct check_numbers *n, struct check_slots *slots, uint32_t number)
{
    size_t at = hash_of(n, check_numbers_value(n, number)) & slots->mask;
    while (atomic_load_explicit(&slots->at[at], memory_order_relaxed) != 0) {
        at = (at + 1) & slots->mask;
    }
    atomic_store_explicit(&slots->at[at], number + 1, memory_order_release);
}

/* Double the slots if they are half full. False: no memory. */
static bool more_slots(struct check_numbers *n)
{
    struct check_slots *slots = atomic_load(&n->slots);
    if (n->count <= slots->mask / 2) {
        return true;
    }
    struct check_slots *more = new_slots(2 * (slots->mask + 1), slots);
    if (more == NULL) {
        return false;
    }
    for (uint32_t number = 0; number < n->count; number++) {
        enter(n, more, number);
    }
    atomic_store_explicit(&n->slots, more, memory_order_release);
    return true;
}

uint32_t check_numbers_add(struct check_numbers *n, const void *value)
{
    if (n->count == n->most || !more_slots(n)) {
        return CHECK_NO_NUMBER;
    }
    memcpy(n->values + (size_t)n->count * n->bytes, value, n->bytes);
    return n->count;
}

void check_numbers_publish(struct check_numbers *n)
{
    enter(n, atomic_load(&n->slots), n->count);
    n->count++;
}
