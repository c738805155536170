/*
 * Mutual exclusion with two shared queues without peek: J. Wang, Z. Wang, "Mutual Exclusion
 * Algorithms in the Shared Queue Model", ICDCN 2014, LNCS 8314, pp. 29-43, Algorithm 1 (DQB). The
 * shared variables are the queues q0 and q1.
 *
 * There is one token, the order; a process must hold it to be in C. It moves between the processes
 * through q0 and q1. The order carries `queue`, the line of processes that are known to wait, and
 * `wait`, the queue in which each process looks for the order. An arriving process enqueues its
 * number in q1 and looks in q0. A process that dequeues the order moves all numbers from q1 into
 * the line. If the line is empty or the process is first in it, it enters. Otherwise it puts the
 * order back, and from then on looks in the other queue, where the order is not.
 *
 *     property                  promised   decided for k = 1, n <= 4 (n = 5 by make model)
 *     at most 1 in C            yes        holds
 *     no starvation             yes        holds
 *     one order, no number lost yes        holds (Lemma 1, Observations 2 to 4): `invariant`
 *     (r,1)-deadlock-free, C2   no         r = 1: holds for n <= 4; r = 2: violated for n >= 2
 *     avoidance of 1-deadlock   no         violated for n >= 2: a process with the order stops
 *     FIFO enabling             no         violated for n >= 2
 *     overtakings               no         at most 1, 1, 3, 6 for n = 2, 3, 4, 5; while a process
 *                                          is in T the others enter at most n(n-1)/2 times in all
 *     prompt                    no         at most 0, 0, 2, 5; others enter 1, 2, 5, 9 times
 *
 * It is as printed; no line is changed.
 */
#include "papers/papers.h"
#include "papers/shared_queue.h"

#include <stdio.h>

/*
 * Elements of q0 and q1, the first bit first:
 *
 *     number(i):  0, i                                      1 + b bits, b bits for a process
 *     order:      1, length of queue, wait[n], queue        1 + 4 + n + b * length bits
 *
 * A process is in at most one of q1, order.queue and all tmp (Observation 2). So the longest queue
 * has n numbers and an order with an empty line: n(1 + b) + 5 + n <= 63 for n <= 9.
 */
enum { MOST = 9, LENGTH_BITS = 4 };

enum stage {
    REMAINDER,
    LOOKING,  /* line 6 is next */
    SWEEPING, /* line 14 is next */
    PASSING,  /* line 21 is next */
    INSIDE    /* line 26 is next */
};

enum variant {
    AS_PRINTED,
    ALLOWS_ANY,        /* line 11: the holder of the order always enters */
    ALLOWS_FIRST_ONLY, /* line 11: no process enters if the line is empty */
    FORGETS_TMP,       /* line 12: numbers found while looking do not join the line */
    SWEEPS_ONCE,       /* line 18: one number is taken from q1, not all */
    KEEPS_WAIT,        /* line 20: wait[i] is not changed */
    STAYS,             /* lines 20 and 22: after passing the order, looks in the same queue */
    LEAVES_WAIT,       /* line 27: wait[i] is not cleared */
    RETURNS_TO_Q0      /* line 31: the order always goes to q0 */
};

/* Lists (tmp, queue) are words of shared_queue.h with b bits an element. In the remainder all
   fields but the stage are 0. */
struct state {
    uint16_t stage;
    uint16_t k;    /* the queue in which it looks */
    uint16_t wait; /* order.wait: bit i is the queue in which i looks */
    uint16_t allow;
    uint64_t tmp;
    uint64_t queue; /* order.queue; 0 if this process does not hold the order */
};

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (shared_queue_only_one_seat(system, why) != 0) {
        return -1;
    }
    if (system->n > MOST) {
        (void)snprintf(why, STEP_WHY_BYTES, "the queues fit one word each for n up to %d", MOST);
        return -1;
    }
    system->shared_words = 2;
    system->private_bytes = sizeof(struct state);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_PROGRESS) |
                     STEP_CLAIM(STEP_LOCKOUT) | STEP_CLAIM(STEP_STARVATION) |
                     STEP_CLAIM(STEP_INVARIANT);
    return 0;
}

static bool is_order(uint64_t element)
{
    return element & 1;
}

static unsigned length_of(uint64_t order)
{
    return (unsigned)(order >> 1) & ((1U << LENGTH_BITS) - 1);
}

static unsigned width(const struct step_system *system, uint64_t bits)
{
    unsigned b = shared_queue_id_bits(system->n);
    return is_order(bits) ? 1 + LENGTH_BITS + system->n + b * length_of(bits) : 1 + b;
}

static uint64_t pack_order(const struct step_system *system, uint64_t queue, unsigned wait)
{
    unsigned used = shared_queue_used(queue);
    unsigned length = used / shared_queue_id_bits(system->n);
    uint64_t ids = shared_queue_first(queue, used);
    return 1 | (uint64_t)length << 1 | (uint64_t)wait << (1 + LENGTH_BITS) |
           ids << (1 + LENGTH_BITS + system->n);
}

static uint64_t queue_of(const struct step_system *system, uint64_t order)
{
    unsigned used = shared_queue_id_bits(system->n) * length_of(order);
    return shared_queue_append(SHARED_QUEUE_EMPTY, order >> (1 + LENGTH_BITS + system->n), used);
}

static unsigned wait_of(const struct step_system *system, uint64_t order)
{
    return (unsigned)shared_queue_first(order >> (1 + LENGTH_BITS), system->n);
}

/* q0 has the order, with an empty line; q1 is empty. */
static void init(const struct step_system *system, uint64_t *words)
{
    uint64_t order = pack_order(system, SHARED_QUEUE_EMPTY, 0);
    words[0] = shared_queue_append(SHARED_QUEUE_EMPTY, order, width(system, order));
    words[1] = SHARED_QUEUE_EMPTY;
}

/* The head of a list. */
static unsigned head_of(const struct step_system *system, uint64_t list)
{
    return (unsigned)shared_queue_first(list, shared_queue_id_bits(system->n));
}

/* Append a process to a list. A list has n places; only a mutant appends more, and that is
   dropped. */
static uint64_t with(const struct step_system *system, uint64_t list, unsigned process)
{
    unsigned b = shared_queue_id_bits(system->n);
    return shared_queue_used(list) < b * system->n ? shared_queue_append(list, process, b) : list;
}

static uint64_t with_all(const struct step_system *system, uint64_t list, uint64_t more)
{
    for (; shared_queue_has_any(more); more >>= shared_queue_id_bits(system->n)) {
        list = with(system, list, head_of(system, more));
    }
    return list;
}

static uint64_t without(const struct step_system *system, uint64_t list, unsigned process)
{
    uint64_t kept = SHARED_QUEUE_EMPTY;
    for (; shared_queue_has_any(list); list >>= shared_queue_id_bits(system->n)) {
        if (head_of(system, list) != process) {
            kept = with(system, kept, head_of(system, list));
        }
    }
    return kept;
}

/* Line 11: allow := x.head in {0, i}. */
static bool allows(const struct step_system *system, uint64_t queue, unsigned process)
{
    unsigned variant = system->machine->variant;
    if (queue == SHARED_QUEUE_EMPTY) {
        return variant != ALLOWS_FIRST_ONLY;
    }
    return variant == ALLOWS_ANY || head_of(system, queue) == process;
}

/* Lines 19-20, or enter C. */
static void decide(const struct step_system *system, struct state *x, unsigned process)
{
    unsigned variant = system->machine->variant;
    if (x->allow) {
        x->stage = INSIDE;
    } else {
        x->stage = PASSING;
        if (variant != KEEPS_WAIT && variant != STAYS) {
            x->wait = (uint16_t)((x->wait & ~(1U << process)) | (1U - x->k) << process);
        }
    }
}

/* Lines 6-12: x := dequeue(q_k), and the lines that follow if it is the order. */
static void look(const struct step_system *system, struct step_memory *memory, struct state *x,
                 unsigned process)
{
    uint64_t element;
    if (!shared_queue_dequeue(system, memory, x->k, width, &element)) {
        return;
    }
    if (!is_order(element)) {
        x->tmp = with(system, x->tmp, (unsigned)(element >> 1));
        return;
    }
    x->queue = queue_of(system, element);
    x->wait = (uint16_t)wait_of(system, element);
    x->allow = allows(system, x->queue, process);
    if (system->machine->variant != FORGETS_TMP) {
        x->queue = with_all(system, x->queue, x->tmp);
    }
    x->tmp = 0;
    x->stage = SWEEPING;
}

/* Lines 14-20: y := dequeue(q1). */
static void sweep(const struct step_system *system, struct step_memory *memory, struct state *x,
                  unsigned process)
{
    uint64_t element;
    bool any = shared_queue_dequeue(system, memory, 1, width, &element);
    if (any) {
        x->queue = with(system, x->queue, (unsigned)(element >> 1));
    }
    if (!any || system->machine->variant == SWEEPS_ONCE) {
        decide(system, x, process);
    }
}

static void enqueue_order(const struct step_system *system, struct step_memory *memory,
                          unsigned word, const struct state *x)
{
    uint64_t order = pack_order(system, x->queue, x->wait);
    shared_queue_enqueue(memory, word, order, width(system, order));
}

/* Lines 26-32. */
static void leave(const struct step_system *system, struct step_memory *memory, struct state *x,
                  unsigned process)
{
    unsigned to = 0;
    x->queue = without(system, x->queue, process);
    if (system->machine->variant != LEAVES_WAIT) {
        x->wait = (uint16_t)(x->wait & ~(1U << process));
    }
    if (x->queue != SHARED_QUEUE_EMPTY && system->machine->variant != RETURNS_TO_Q0) {
        to = x->wait >> head_of(system, x->queue) & 1;
    }
    enqueue_order(system, memory, to, x);
    *x = (struct state){.stage = REMAINDER};
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct state *x = state;
    switch ((enum stage)x->stage) {
    case REMAINDER: /* 1: enqueue(q1, number(i));  2: k := 0 */
        shared_queue_enqueue(memory, 1, (uint64_t)process << 1,
                             1 + shared_queue_id_bits(system->n));
        *x = (struct state){.stage = LOOKING, .tmp = SHARED_QUEUE_EMPTY};
        break;
    case LOOKING:
        look(system, memory, x, process);
        break;
    case SWEEPING:
        sweep(system, memory, x, process);
        break;
    case PASSING: /* 21: enqueue(q_k, x);  22: k := 1 - k;  4: tmp := empty */
        enqueue_order(system, memory, x->k, x);
        *x = (struct state){.stage = LOOKING,
                            .k = system->machine->variant == STAYS ? x->k : 1 - x->k,
                            .tmp = SHARED_QUEUE_EMPTY};
        break;
    case INSIDE:
        leave(system, memory, x, process);
        break;
    }
}

static enum step_region region(const struct step_system *system, const void *state)
{
    static const enum step_region regions[] = {[REMAINDER] = STEP_REMAINDER,
                                               [LOOKING] = STEP_TRYING,
                                               [SWEEPING] = STEP_TRYING,
                                               [PASSING] = STEP_TRYING,
                                               [INSIDE] = STEP_CRITICAL};
    (void)system;
    return regions[((const struct state *)state)->stage];
}

/* The orders and numbers of a whole state. */
struct census {
    unsigned orders;
    unsigned in_q[2]; /* orders in q0 and in q1 */
    uint64_t queue;   /* the line in the order */
    unsigned wait;
    unsigned times[MOST]; /* how many times each process is in q1, order.queue or a tmp */
};

static void count_list(const struct step_system *system, uint64_t list, struct census *c)
{
    for (; shared_queue_has_any(list); list >>= shared_queue_id_bits(system->n)) {
        c->times[head_of(system, list)]++;
    }
}

static void count_word(const struct step_system *system, unsigned word, uint64_t queue,
                       struct census *c)
{
    for (; shared_queue_has_any(queue); queue >>= width(system, queue)) {
        uint64_t element = shared_queue_first(queue, width(system, queue));
        if (is_order(element)) {
            c->orders++;
            c->in_q[word]++;
            c->queue = queue_of(system, element);
            c->wait = wait_of(system, element);
            count_list(system, c->queue, c);
        } else {
            c->times[element >> 1]++;
        }
    }
}

static const char *wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    struct census c = {0};
    const struct state *x = states;
    if (words[0] == SHARED_QUEUE_SPOILT || words[1] == SHARED_QUEUE_SPOILT) {
        return "a queue holds more than fits a word";
    }
    count_word(system, 0, words[0], &c);
    count_word(system, 1, words[1], &c);
    for (unsigned i = 0; i < system->n; i++) {
        count_list(system, x[i].tmp, &c);
        if (x[i].queue != 0) {
            c.orders++;
            c.queue = x[i].queue;
            c.wait = x[i].wait;
            count_list(system, c.queue, &c);
        }
    }
    if (c.orders != 1) {
        return "there is not exactly one order (Lemma 1)";
    }
    for (unsigned i = 0; i < system->n; i++) {
        if (c.times[i] != (x[i].stage != REMAINDER)) {
            return "a number is lost or doubled (Observation 2)";
        }
        if (x[i].stage == LOOKING && (c.wait >> i & 1) != x[i].k) {
            return "order.wait has the wrong queue for a process (Observation 4)";
        }
    }
    unsigned place = c.queue == SHARED_QUEUE_EMPTY ? 0 : c.wait >> head_of(system, c.queue) & 1;
    return c.in_q[1 - place] != 0 ? "the order is where the first in line does not look "
                                    "(Observation 3)"
                                  : NULL;
}

/* Print an element: 2, or order(1 3; 010) with the line and wait. */
static int show(const struct step_system *system, uint64_t element, char *out, size_t size)
{
    size_t at = 0;
    if (!is_order(element)) {
        return snprintf(out, size, "%u", (unsigned)(element >> 1) + 1);
    }
    at += (size_t)snprintf(out, size, "order(");
    for (uint64_t list = queue_of(system, element); shared_queue_has_any(list);
         list >>= shared_queue_id_bits(system->n)) {
        const char *space = out[at - 1] == '(' ? "" : " ";
        at += (size_t)snprintf(out + at, size - at, "%s%u", space, head_of(system, list) + 1);
    }
    at += (size_t)snprintf(out + at, size - at, "; ");
    for (unsigned i = 0; i < system->n; i++) {
        at += (size_t)snprintf(out + at, size - at, "%u", wait_of(system, element) >> i & 1);
    }
    return (int)at + snprintf(out + at, size - at, ")");
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    char text[130];
    (void)shared_queue_print(system, value, width, show, " ", text, sizeof text);
    return snprintf(out, size, "q%u=%s", word, text);
}

/* The longest q0 is the order with all processes in line. The longest q1 is n numbers, or n-1
   numbers and the order, with the process in line that looks there. */
static unsigned bits(const struct step_system *system, unsigned word)
{
    unsigned n = system->n;
    unsigned b = shared_queue_id_bits(n);
    unsigned order = 1 + LENGTH_BITS + n;
    unsigned longest = word == 0 ? order + n * b : (n - 1) * (1 + b) + order + b;
    return 1 + longest;
}

static const struct step_space space = {
    .bits = bits,
    .says = "no formula; at most 1 element in q0 and n in q1 (2014, Observations 2 and 3)",
    .note = "Each element has whole bits, and of each queue one tells where it ends.",
};

#define DQB(name_, title_, variant_)                                                               \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .prepare = prepare,             \
        .init = init, .step = step, .region = region, .wrong = wrong, .print_word = print_word,    \
        .space = &space                                                                            \
    }

const struct step_machine papers_dqb =
    DQB("dqb", "DQB: two shared queues (2014, Algorithm 1)", AS_PRINTED);

const struct step_machine papers_dqb_mutants[] = {
    DQB("mutant-dqb-any", "DQB, the holder of the order always enters", ALLOWS_ANY),
    DQB("mutant-dqb-first-only", "DQB, no process enters if the line is empty", ALLOWS_FIRST_ONLY),
    DQB("mutant-dqb-tmp", "DQB, numbers found while looking do not join the line", FORGETS_TMP),
    DQB("mutant-dqb-sweep", "DQB, the holder of the order takes one number from q1, not all",
        SWEEPS_ONCE),
    DQB("mutant-dqb-wait", "DQB, a waiting process does not change wait", KEEPS_WAIT),
    DQB("mutant-dqb-stay", "DQB, after passing the order a process looks in the same queue", STAYS),
    DQB("mutant-dqb-leave", "DQB, a leaving process does not clear wait", LEAVES_WAIT),
    DQB("mutant-dqb-return", "DQB, a leaving process always puts the order into q0", RETURNS_TO_Q0),
};
