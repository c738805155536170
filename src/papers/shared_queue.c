/* A queue in one word: see shared_queue.h. */
#include "papers/shared_queue.h"

#include <stdio.h>

void shared_queue_enqueue(struct step_memory *memory, unsigned word, uint64_t element,
                          unsigned width)
{
    uint64_t before = atomic_load(&memory->words[word]);
    uint64_t after;
    do {
        after = shared_queue_append(before, element, width);
    } while (!atomic_compare_exchange_weak(&memory->words[word], &before, after));
    step__note(memory, STEP_UPDATE, word, before, after);
}

bool shared_queue_dequeue(const struct step_system *system, struct step_memory *memory,
                          unsigned word, shared_queue_width *width, uint64_t *element)
{
    uint64_t before = atomic_load(&memory->words[word]);
    uint64_t after = before; /* an empty queue stays as it is */
    while (shared_queue_has_any(before)) {
        unsigned bits = width(system, before);
        after = before >> bits;
        if (atomic_compare_exchange_weak(&memory->words[word], &before, after)) {
            *element = shared_queue_first(before, bits);
            break;
        }
        after = before;
    }
    step__note(memory, STEP_UPDATE, word, before, after);
    return shared_queue_has_any(before);
}

bool shared_queue_peek(const struct step_system *system, struct step_memory *memory, unsigned word,
                       shared_queue_width *width, uint64_t *element)
{
    uint64_t queue = step_read(memory, word);
    if (!shared_queue_has_any(queue)) {
        return false;
    }
    *element = shared_queue_first(queue, width(system, queue));
    return true;
}

int shared_queue_print(const struct step_system *system, uint64_t queue, shared_queue_width *width,
                       shared_queue_show *show, const char *between, char *out, size_t size)
{
    char text[128];
    size_t at = 0;
    text[0] = '\0';
    for (; shared_queue_has_any(queue); queue >>= width(system, queue)) {
        uint64_t element = shared_queue_first(queue, width(system, queue));
        at += (size_t)snprintf(text + at, sizeof text - at, "%s", at == 0 ? "" : between);
        at += (size_t)show(system, element, text + at, sizeof text - at);
    }
    return snprintf(out, size, "[%s]", text);
}

int shared_queue_only_one_seat(const struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (system->k != 1) {
        (void)snprintf(why, STEP_WHY_BYTES, "shared queues give mutual exclusion: k must be 1");
        return -1;
    }
    return 0;
}
