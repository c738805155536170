/*
 * Mutual exclusion with one shared queue that has peek: J. Wang, Z. Wang, "Mutual Exclusion
 * Algorithms in the Shared Queue Model", ICDCN 2014, LNCS 8314, pp. 29-43, section 1. The shared
 * variable is the queue. A process enqueues its number, peeks until the first number is its own,
 * and enters. When it leaves it dequeues its number.
 *
 *     property                  promised   decided for k = 1, n <= 4 (n = 5 by make model)
 *     at most 1 in C            yes        holds
 *     no starvation             yes        holds
 *     avoidance of 1-deadlock   (1989)     holds
 *     FIFO enabling             (1989)     holds, 0 overtakings
 *     prompt                    no         holds: 0 overtakings, n-1 entries of others
 *     k-queuelike (1979: C6)    (1979)     holds for n >= 2
 *     equivalent to a queue     (1989)     to queue-two-step at k = 1
 *     shared values             n!(1/0! + .. + 1/n!), reached
 *
 * The paper calls the algorithm well known and promises exclusion and no starvation. It has the
 * other properties because it is a queue, so they are claimed too.
 */
#include "papers/papers.h"
#include "papers/shared_queue.h"

#include <stdio.h>

enum { MOST = 15 }; /* fifteen numbers of four bits fit the word */

enum variant { AS_DESCRIBED, ENTERS_BEHIND_ANY, WAITS_BY_DEQUEUE };

struct state {
    uint32_t region;
};

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (shared_queue_only_one_seat(system, why) != 0) {
        return -1;
    }
    if (system->n > MOST) {
        (void)snprintf(why, STEP_WHY_BYTES, "the queue of n processes fits one word for n up to %d",
                       MOST);
        return -1;
    }
    system->shared_words = 1;
    system->private_bytes = sizeof(struct state);
    system->claims = papers_queuelike_claims(system);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    (void)system;
    words[0] = SHARED_QUEUE_EMPTY;
}

static unsigned width(const struct step_system *system, uint64_t bits)
{
    (void)bits;
    return shared_queue_id_bits(system->n);
}

/* Is it this process's turn? */
static bool may_enter(const struct step_system *system, struct step_memory *memory,
                      unsigned process)
{
    uint64_t first = 0;
    bool any = system->machine->variant == WAITS_BY_DEQUEUE
                   ? shared_queue_dequeue(system, memory, 0, width, &first)
                   : shared_queue_peek(system, memory, 0, width, &first);
    return any && (first == process || system->machine->variant == ENTERS_BEHIND_ANY);
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct state *x = state;
    uint64_t first;
    switch ((enum step_region)x->region) {
    case STEP_REMAINDER:
        shared_queue_enqueue(memory, 0, process, width(system, 0));
        x->region = STEP_TRYING;
        break;
    case STEP_TRYING:
        if (may_enter(system, memory, process)) {
            x->region = STEP_CRITICAL;
        }
        break;
    case STEP_CRITICAL:
        (void)shared_queue_dequeue(system, memory, 0, width, &first);
        x->region = STEP_REMAINDER;
        break;
    case STEP_EXIT:
        break;
    }
}

static enum step_region region(const struct step_system *system, const void *state)
{
    (void)system;
    return (enum step_region)((const struct state *)state)->region;
}

static int show(const struct step_system *system, uint64_t element, char *out, size_t size)
{
    (void)system;
    return snprintf(out, size, "%u", (unsigned)element + 1);
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    char text[64];
    (void)word;
    (void)shared_queue_print(system, value, width, show, " ", text, sizeof text);
    return snprintf(out, size, "QUEUE=%s", text);
}

static double bound(const struct step_system *system)
{
    return papers_queue.bound(system); /* the number of sequences of distinct numbers */
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    (void)word;
    return 1 + system->n * width(system, 0); /* 1: the bit that marks the end of the queue */
}

static const struct step_space space = {
    .bits = bits,
    .says = "at most n numbers: log2(n!(1/0! + .. + 1/n!)) (2014, section 1)",
    .note = "The formula counts values; here each place of the queue has whole bits, and one "
            "bit tells where the queue ends.",
};

#define PEEK_QUEUE(name_, title_, variant_)                                                        \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .one_step_enabled = true,       \
        .prepare = prepare, .init = init, .step = step, .region = region,                          \
        .print_word = print_word, .bound = bound, .space = &space                                  \
    }

const struct step_machine papers_peek_queue =
    PEEK_QUEUE("peek-queue", "One shared queue with peek (2014, section 1)", AS_DESCRIBED);

const struct step_machine papers_peek_queue_mutants[] = {
    PEEK_QUEUE("mutant-peek-any", "One shared queue with peek, entering if any process is first",
               ENTERS_BEHIND_ANY),
    PEEK_QUEUE("mutant-peek-dequeue", "One shared queue, waiting by dequeue in place of peek",
               WAITS_BY_DEQUEUE),
};
