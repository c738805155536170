/*
 * A shared queue: enqueue, dequeue and peek are one step each. The machines of the shared queue
 * model (2014: peek-queue, dqb, sq2) share nothing else.
 *
 *     63                                0
 *     | 0 .. 0 | 1 | last | .. | first |       empty: 1; overflown: 0
 *
 * The whole queue is one word, so each operation is one read-modify-write: the code that is
 * explored is the code that runs. It is lock-free: a compare-and-swap fails only if another one
 * succeeded. An element is a string of bits; its first bits determine its width, by a function of
 * the machine. All elements together have 63 bits, and a machine accepts only sizes at which they
 * always fit. If a broken machine enqueues more, the queue becomes 0 and stays empty for ever.
 */
#ifndef USHER_PAPERS_SHARED_QUEUE_H
#define USHER_PAPERS_SHARED_QUEUE_H

#include "step/step.h"

enum { SHARED_QUEUE_BITS = 63, SHARED_QUEUE_EMPTY = 1, SHARED_QUEUE_SPOILT = 0 };

/* The width of the element at the start of `bits`. The bits behind it belong to other elements. */
typedef unsigned shared_queue_width(const struct step_system *system, uint64_t bits);

/* The bits in use. A queue as a value: for initial words, private lists and printing. */
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

/* Bits of the number of one of n processes. */
static inline unsigned shared_queue_id_bits(unsigned n)
{
    return n <= 2 ? 1 : 32U - (unsigned)__builtin_clz(n - 1);
}

/* One step: append an element. */
void shared_queue_enqueue(struct step_memory *memory, unsigned word, uint64_t element,
                          unsigned width);

/* One step: remove the first element. False if the queue is empty; then nothing changes. */
bool shared_queue_dequeue(const struct step_system *system, struct step_memory *memory,
                          unsigned word, shared_queue_width *width, uint64_t *element);

/* One step: read the first element. False if the queue is empty. */
bool shared_queue_peek(const struct step_system *system, struct step_memory *memory, unsigned word,
                       shared_queue_width *width, uint64_t *element);

/* Print one element. */
typedef int shared_queue_show(const struct step_system *system, uint64_t element, char *out,
                              size_t size);

/* Print a queue: in brackets, from the first element, with `between` between two. */
int shared_queue_print(const struct step_system *system, uint64_t queue, shared_queue_width *width,
                       shared_queue_show *show, const char *between, char *out, size_t size);

/* Refuse every k but 1: queues give mutual exclusion, not k-exclusion. Return 0, or -1 with a
   sentence in `why`. */
int shared_queue_only_one_seat(const struct step_system *system, char why[STEP_WHY_BYTES]);

/* Broken variants of the three machines, for mutants.c: each drops one guard. */
extern const struct step_machine papers_peek_queue_mutants[2];
extern const struct step_machine papers_dqb_mutants[8];
extern const struct step_machine papers_sq2_printed;
extern const struct step_machine papers_sq2_mutants[14];

#endif
