/*
 * The shared memory of an exploration: accesses, store buffers, and a record of what each process
 * relies on. core.h includes this at its end, in exploring builds only.
 */
#ifndef USHER_CORE_SIMULATED_H
#define USHER_CORE_SIMULATED_H

#include <assert.h>

/*
 * A store buffer, as in x86-TSO. A plain store stays in it until the model flushes it. The
 * process's own reads see it there. Every compare-and-swap and every announcement empties the
 * buffer first. Each function below makes exactly one access of the step.
 */
enum { CORE_BUFFER_MOST = 2 };
struct core_buffer {
    uint8_t depth, count;
    uint8_t word[CORE_BUFFER_MOST];
    uint64_t value[CORE_BUFFER_MOST];
};

/*
 * A word per process that records what the process relies on. Upper 32 bits: the words that it has
 * read and will compare and swap, one bit each. Lower 32 bits: those of them that changed since. It
 * is not part of the pool; it shows whether rule 4 of core.h is kept.
 */
static inline void core_steps_rely(struct core *c, uint32_t word)
{
    if (c->ghosts) {
        uint64_t relied = atomic_load(&c->words[c->at_relied + c->self]);
        relied = (relied | 1ULL << (32 + word)) & ~(1ULL << word);
        atomic_store(&c->words[c->at_relied + c->self], relied);
    }
}

/* This process changed a word: record that for the processes that rely on it. */
static inline void core_steps_changed(struct core *c, uint32_t word)
{
    for (uint32_t p = 0; c->ghosts && word < c->at_announced && p < c->rows; p++) {
        uint64_t relied = atomic_load(&c->words[c->at_relied + p]);
        if (p != c->self && (relied >> (32 + word) & 1) != 0) {
            atomic_store(&c->words[c->at_relied + p], relied | 1ULL << word);
        }
    }
}

/* The oldest store reaches memory. */
static inline void core_buffer_flush(struct core *c)
{
    struct core_buffer *buffer = c->buffer;
    assert(buffer != NULL);
    atomic_store(&c->words[buffer->word[0]], buffer->value[0]);
    core_steps_changed(c, buffer->word[0]);
    for (unsigned b = 1; b < CORE_BUFFER_MOST; b++) {
        buffer->word[b - 1] = buffer->word[b];
        buffer->value[b - 1] = buffer->value[b];
    }
    buffer->word[CORE_BUFFER_MOST - 1] = 0;
    buffer->value[CORE_BUFFER_MOST - 1] = 0;
    buffer->count--;
}

static inline void core_steps_drain(struct core *c)
{
    while (c->buffer != NULL && c->buffer->count > 0) {
        core_buffer_flush(c);
    }
}

static inline uint64_t core_steps_read(struct core *c, uint32_t word)
{
    uint64_t value = step_read(c->memory, word);
    for (unsigned b = 0; c->buffer != NULL && b < c->buffer->count; b++) {
        value = c->buffer->word[b] == word ? c->buffer->value[b] : value;
    }
    if (word >= c->at_row && word < c->at_hint) {
        core_steps_rely(c, word); /* a row is protected by the announced word that named it */
    }
    return value;
}

static inline void core_steps_write(struct core *c, uint32_t word, uint64_t value)
{
    if (c->buffer == NULL) {
        step_write(c->memory, word, value);
        core_steps_changed(c, word);
        return;
    }
    if (c->buffer->count == c->buffer->depth) {
        core_buffer_flush(c);
    }
    c->buffer->word[c->buffer->count] = (uint8_t)word;
    c->buffer->value[c->buffer->count++] = value;
    (void)step_read(c->memory, word);
}

static inline bool core_steps_swap(struct core *c, uint32_t word, uint64_t from, uint64_t to)
{
    core_steps_drain(c);
    bool swapped = step_swap(c->memory, word, from, to);
    if (swapped && c->ghosts) {
        uint64_t relied = atomic_load(&c->words[c->at_relied + c->self]);
        c->replaced = c->replaced || (relied >> word & 1) != 0;
        core_steps_rely(c, word);
        core_steps_changed(c, word);
    }
    return swapped;
}

/* A store. Ordered: later reads of this process do not overtake it. */
static inline void core_steps_announce(struct core *c, uint32_t word, uint64_t value, bool ordered)
{
    if (ordered) {
        core_steps_drain(c);
        step_write(c->memory, word, value);
    } else {
        core_steps_write(c, word, value);
    }
}

#endif
