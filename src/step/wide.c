/* A shared variable of many words, changed without a lock: see wide.h. */
#include "step/wide.h"

#include <string.h>

_Static_assert(2 * STEP_MAX_PROCESSES <= 256, "a copy's number fits 8 bits");

void step_wide_init(struct step_wide *wide, const struct step_system *system, const uint64_t *words)
{
    for (unsigned w = 0; w < system->shared_words; w++) {
        atomic_init(&wide->copies[0][w], words[w]);
    }
    atomic_init(&wide->current, 0);
}

/* Copy the variable. Return false if it changed meanwhile: the copy may then mix two values. */
static bool copy(const struct step_system *system, struct step_wide *wide, uint64_t current,
                 uint64_t *words)
{
    for (unsigned w = 0; w < system->shared_words; w++) {
        words[w] = atomic_load(&wide->copies[current & 0xff][w]);
    }
    return atomic_load(&wide->current) == current;
}

void step_wide_update(const struct step_system *system, struct step_wide *wide,
                      step_wide_delta *delta, void *state, unsigned process)
{
    _Alignas(8) unsigned char next[STEP_MAX_PRIVATE_BYTES];
    uint64_t words[STEP_MAX_SHARED_WORDS];
    uint64_t current = atomic_load(&wide->current);
    uint64_t changed;
    do {
        while (!copy(system, wide, current, words)) {
            current = atomic_load(&wide->current);
        }
        memcpy(next, state, system->private_bytes);
        delta(system, words, next, process);
        uint64_t own = 2 * process + ((current & 0xff) == 2 * process ? 1 : 0);
        for (unsigned w = 0; w < system->shared_words; w++) {
            /* release: a process that reads this word from a copy it took for current will find
               `current` changed */
            atomic_store_explicit(&wide->copies[own][w], words[w], memory_order_release);
        }
        changed = ((current >> 8) + 1) << 8 | own;
    } while (!atomic_compare_exchange_strong(&wide->current, &current, changed));
    memcpy(state, next, system->private_bytes);
}
