/*
 * The bank algorithm (1989 paper, 1.3.2; 1979 report, section 1 and Theorem 4.1): one line of
 * customers for k tellers.
 *
 * A 1-exclusion algorithm decides which process is at the head of the line. The head waits until
 * COUNT < k, increments COUNT, passes the head to the next process and enters the critical region.
 * The shared variable is the 1-exclusion algorithm's variable and COUNT.
 *
 *     property                 promised   decided for all n <= 5, k <= 3
 *     at most k in C           yes        holds
 *     avoidance of k-deadlock  no         violated for 2 <= k, n; shortest trace: 1 2, then 2 for
 *                                         ever (the head of the line stops)
 *     (r,k)-deadlock-free, C2  r = 1      holds for r = 1, violated for r = 2 when 2 <= n
 *     FIFO enabling            yes        holds, 0 overtakings
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others
 *     lockout avoidance        no         violated for 2 <= k, n: one stopped process is enough
 *     starvation               no         holds: if no process stops, none waits for ever
 *     k-queuelike (1979: C6)   no         violated for 2 <= n
 *     bounded waiting (C4)     yes        holds: a process that stops in T stops all behind it
 *     shared values            (k+1) times the values of the 1-exclusion algorithm
 *
 * The 1-exclusion algorithm is the Colored Ticket with k = 1. As in Theorem 4.1, the step that
 * finds COUNT < k is also the 1-exclusion algorithm's step out of its critical region.
 */
#include "papers/papers.h"
#include "tickets/colored.h"

#include <stdio.h>
#include <string.h>

/* COUNT is in the spare bits of the colored word. */
enum { COUNT_SHIFT = 55, COUNT_MOST = 511 };

enum stage { REMAINDER, IN_LINE, HEAD, INSIDE };

struct state {
    uint32_t stage;
    uint32_t ticket; /* the ticket in the line; 0 outside it */
};

static const struct colored_shape *line_of(const struct step_system *system)
{
    return (const struct colored_shape *)(const void *)system->constants;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    struct colored_shape line;
    if (system->k > COUNT_MOST || colored_shape_for(&line, system->n, 1) != 0) {
        (void)snprintf(why, STEP_WHY_BYTES,
                       "the line and a COUNT up to k do not fit one word (k <= %d)", COUNT_MOST);
        return -1;
    }
    memcpy(system->constants, &line, sizeof line);
    system->shared_words = 1;
    system->private_bytes = sizeof(struct state);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_FIFO);
    if (system->robustness == 1) {
        system->claims |= STEP_CLAIM(STEP_C2);
    }
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    words[0] = colored_start(line_of(system)); /* COUNT = 0 */
}

static uint64_t delta(const struct step_system *system, uint64_t value, void *state,
                      unsigned process)
{
    const struct colored_shape *line = line_of(system);
    struct state *x = state;
    (void)process;
    switch ((enum stage)x->stage) {
    case REMAINDER: /* 1. entry protocol of the 1-exclusion algorithm */
        value = colored_take(line, value, 0);
        x->ticket = colored_issue(line, value);
        /* fall through */
    case IN_LINE:
        x->stage = colored_is_valid(line, value, x->ticket, 0) ? HEAD : IN_LINE;
        break;
    case HEAD: /* 2. wait until COUNT < k; COUNT := COUNT + 1;  3. exit protocol of 1. */
        if (value >> COUNT_SHIFT < system->k) {
            value = colored_validate(line, value, x->ticket, 0) + (1ULL << COUNT_SHIFT);
            *x = (struct state){INSIDE, 0};
        }
        break;
    case INSIDE: /* 5. COUNT := COUNT - 1 */
        value -= 1ULL << COUNT_SHIFT;
        x->stage = REMAINDER;
        break;
    }
    return value;
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    step_update(system, memory, 0, delta, state, process);
}

static enum step_region region(const struct step_system *system, const void *state)
{
    static const enum step_region regions[] = {STEP_REMAINDER, STEP_TRYING, STEP_TRYING,
                                               STEP_CRITICAL};
    (void)system;
    return regions[((const struct state *)state)->stage];
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    const struct colored_shape *line = line_of(system);
    uint32_t issue = colored_issue(line, value);
    uint32_t valid = colored_valid(line, value);
    (void)word;
    return snprintf(out, size, "COUNT=%u LINE: ISSUE=(%u,%u) VALID=(%u,%u)",
                    (unsigned)(value >> COUNT_SHIFT), colored_value(line, issue),
                    colored_color(line, issue), colored_value(line, valid),
                    colored_color(line, valid));
}

/* (k+1) times the bound of Theorem 4.1 (1989) for the line, binom(2,1) (2 M)^2. */
static double bound(const struct step_system *system)
{
    double tickets = 2.0 * line_of(system)->m;
    return (system->k + 1.0) * 2 * tickets * tickets;
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    (void)word;
    return step_bits_of(system->k + 1) + colored_bits(line_of(system));
}

static const struct step_space space = {
    .bits = bits,
    .says = "log2((k+1) 2 (2M)^2), M = n (1979, Theorem 4.1, with this line)",
    .note = "The formula counts values of the word; here each variable in it has whole bits.",
};

const struct step_machine papers_bank = {
    .name = "bank",
    .title = "Bank algorithm (1979, Theorem 4.1; 1989, 1.3.2)",
    .anonymous = true,
    .bounded_waiting = true,
    .prepare = prepare,
    .init = init,
    .step = step,
    .region = region,
    .print_word = print_word,
    .bound = bound,
    .space = &space,
};
