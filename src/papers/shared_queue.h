/*
 * A queue that processes share: enqueue, dequeue and peek are one step each, and nothing else is
 * shared. The machines of the shared queue model (2014: peek-queue, dqb, sq2) are built on it.
 *
 *     63                                0
 *     | 0 .. 0 | 1 | last | .. | first |       empty: 1; overflown: 0
 *
 * The whole queue is one word, so each operation is one read-modify-write of it: what is explored
 * is what runs, and it is lock-free (a compare-and-swap that fails has met one that succeeded). An
 * element is a string of bits; its first bits tell its width, by a function of the machine. There
 * are 63 bits for all elements together: a machine takes only sizes at which they always fit. A
 * broken one that enqueues more has spoilt its queue for good: it is 0 and has no elements, ever.
 */
#ifndef USHER_PAPERS_SHARED_QUEUE_H
#define USHER_PAPERS_SHARED_QUEUE_H

#include "step/step.h"

enum { SHARED_QUEUE_BITS = 63, SHARED_QUEUE_EMPTY = 1, SHARED_QUEUE_SPOILT = 0 };

/* How wide is the element that `bits` begins with? Everything behind it is bits of others. */
typedef unsigned shared_queue_width(const struct step_system *system, uint64_t bits);

/* A queue as a value, for initial words, private lists and printing: how many bits it has in
   use. */
static inline unsigned shared_queue_used(uint64_t queue)
{
    return queue == SHARED_QUEUE_SPOILT ? SHARED_QUEUE_BITS
                                        : 63U - (unsigned)__builtin_clzll(queue);
}

static inline bool shared_queue_has_any(uint64_t queue)
{
    return queue > SHARED_QUEUE_EMPTY;
}

static inline uint64_t shared_queue_first(uint64_t queue, unsigned width)
{
    return queue & ((1ULL << width) - 1);
}

/* Put an element of `width` bits at the end. */
static inline uint64_t shared_queue_append(uint64_t queue, uint64_t element, unsigned width)
{
    unsigned used = shared_queue_used(queue);
    uint64_t end = 1ULL << used;
    if (used + width > SHARED_QUEUE_BITS) {
        return SHARED_QUEUE_SPOILT;
    }
    return (queue ^ end) | element << used | end << width;
}

/* The n processes have numbers of so many bits. */
static inline unsigned shared_queue_id_bits(unsigned n)
{
    return n <= 2 ? 1 : 32U - (unsigned)__builtin_clz(n - 1);
}

/* One step: append an element. */
void shared_queue_enqueue(struct step_memory *memory, unsigned word, uint64_t element,
                          unsigned width);

/* One step: take the first element away. False if the queue is empty; then nothing changes. */
bool shared_queue_dequeue(const struct step_system *system, struct step_memory *memory,
                          unsigned word, shared_queue_width *width, uint64_t *element);

/* One step: look at the first element. False if the queue is empty. */
bool shared_queue_peek(const struct step_system *system, struct step_memory *memory, unsigned word,
                       shared_queue_width *width, uint64_t *element);

/* One element as people read it. */
typedef int shared_queue_show(const struct step_system *system, uint64_t element, char *out,
                              size_t size);

/* A queue as people read it: in brackets, its elements from the first, and what is between two. */
int shared_queue_print(const struct step_system *system, uint64_t queue, shared_queue_width *width,
                       shared_queue_show *show, const char *between, char *out, size_t size);

/* Refuse every k but 1: queues give mutual exclusion, not k-exclusion. 0, or -1 and a sentence. */
int shared_queue_only_one_seat(const struct step_system *system, char why[STEP_WHY_BYTES]);

/* Broken variants of the three machines, for mutants.c: each drops one guard. */
extern const struct step_machine papers_peek_queue_mutants[2];
extern const struct step_machine papers_dqb_mutants[8];
extern const struct step_machine papers_sq2_printed;
extern const struct step_machine papers_sq2_mutants[14];

#endif
