/*
 * The Queue Algorithm (1989 paper, Fig. 1). The ticket algorithms imitate it.
 *
 * The shared variable is the queue of all waiting and critical processes, in order of arrival. The
 * first k may enter the critical region.
 *
 *     property                 promised   decided for all n <= 5, k <= 3
 *     at most k in C           yes        holds
 *     avoidance of k-deadlock  yes        holds
 *     FIFO enabling            yes        holds, 0 overtakings
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others if k < n
 *     lockout avoidance        yes        holds, with any k-1 stopped
 *     k-queuelike (1979: C6)   yes, k<n   holds
 *     shared values            n!(1/0! + .. + 1/n!)  reached
 *
 * `queue-two-step` is the same queue entered as in the 1979 report: joining the queue and testing
 * the position are two steps. colored-1979 is compared with it.
 */
#include "papers/papers.h"

#include <stdio.h>

/* The shared word: the queue from its head, four bits a place: process number + 1, and 0 behind the
   last. So n <= 15. */
enum { PLACE_BITS = 4, MOST = 15 };

enum variant { AS_PRINTED, TWO_STEP, BARGING };

struct state {
    uint32_t region;
};

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
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
    words[0] = 0;
}

/* The position of a process in the queue; the length of the queue if it is not there. */
static unsigned position(uint64_t queue, unsigned process)
{
    unsigned at = 0;
    while (queue != 0 && (queue & MOST) != process + 1) {
        queue >>= PLACE_BITS;
        at++;
    }
    return at;
}

static uint64_t insert(uint64_t queue, unsigned at, unsigned process)
{
    unsigned shift = at * PLACE_BITS;
    uint64_t ahead = queue & ((1ULL << shift) - 1);
    return ahead | (uint64_t)(process + 1) << shift | (queue >> shift) << (shift + PLACE_BITS);
}

static uint64_t enqueue(const struct step_system *system, uint64_t queue, unsigned process)
{
    unsigned length = position(queue, MOST);
    if (system->machine->variant == BARGING && length > system->k) {
        return insert(queue, system->k, process); /* the mutant: ahead of all waiting processes */
    }
    return insert(queue, length, process);
}

static uint64_t remove_from(uint64_t queue, unsigned process)
{
    unsigned shift = position(queue, process) * PLACE_BITS;
    uint64_t ahead = queue & ((1ULL << shift) - 1);
    return ahead | (queue >> shift >> PLACE_BITS) << shift;
}

static uint64_t delta(const struct step_system *system, uint64_t queue, void *state,
                      unsigned process)
{
    struct state *x = state;
    switch ((enum step_region)x->region) {
    case STEP_REMAINDER: /* start; ENQUEUE(i); */
        queue = enqueue(system, queue, process);
        x->region = STEP_TRYING;
        if (system->machine->variant == TWO_STEP) {
            break;
        }
        /* fall through */
    case STEP_TRYING: /* wait until i is in one of the first k positions of QUEUE; finish; */
        if (position(queue, process) < system->k) {
            x->region = STEP_CRITICAL;
        }
        break;
    case STEP_CRITICAL: /* start; REMOVE(i); finish; */
        queue = remove_from(queue, process);
        x->region = STEP_REMAINDER;
        break;
    case STEP_EXIT:
        break;
    }
    return queue;
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    step_update(system, memory, 0, delta, state, process);
}

static enum step_region region(const struct step_system *system, const void *state)
{
    (void)system;
    return (enum step_region)((const struct state *)state)->region;
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    char text[64];
    size_t at = 0;
    (void)system;
    (void)word;
    text[0] = '\0';
    for (; value != 0; value >>= PLACE_BITS) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", at == 0 ? "" : " ",
                               (unsigned)(value & MOST));
    }
    return snprintf(out, size, "QUEUE=[%s]", text);
}

/* The number of sequences of distinct process numbers: the sum of n!/(n-m)! over m = 0..n. */
static double bound(const struct step_system *system)
{
    double sum = 1;
    double arrangements = 1;
    for (unsigned m = 0; m < system->n; m++) {
        arrangements *= system->n - m;
        sum += arrangements;
    }
    return sum;
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    (void)word;
    return system->n * step_bits_of(system->n + 1);
}

static const struct step_space space = {
    .bits = bits,
    .says = "log2(n!(1/0! + .. + 1/n!)) (1989, Fig. 1)",
    .note = "The formula counts values; here each place of the queue has whole bits.",
};

#define QUEUE(name_, title_, variant_)                                                             \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .one_step_enabled = true,       \
        .prepare = prepare, .init = init, .step = step, .region = region,                          \
        .print_word = print_word, .bound = bound, .space = &space                                  \
    }

const struct step_machine papers_queue =
    QUEUE("queue", "Queue Algorithm (1989, Fig. 1)", AS_PRINTED);

const struct step_machine papers_queue_two_step =
    QUEUE("queue-two-step", "Queue Algorithm, entered in two steps as in 1979", TWO_STEP);

const struct step_machine papers_mutant_queue_barging =
    QUEUE("mutant-queue-barging",
          "Queue Algorithm, an arriving process joins ahead of all waiting ones", BARGING);
