/*
 * The generalized semaphore (1989 paper, 1.3.1). The shared variable is COUNT, the number of
 * processes in the critical region.
 *
 *     property                 promised   decided for all n <= 5, k <= 3
 *     at most k in C           yes        holds
 *     avoidance of k-deadlock  yes        holds
 *     FIFO enabling            no         violated for k < n; shortest trace at n=2, k=1: 1 2 1 1
 *     lockout avoidance        no         violated for k < n
 *     overtakings              no bound   unbounded for k < n
 *     prompt                   no         holds: a prompt process enters before any other
 *     shared values            k+1        reached
 */
#include "papers/papers.h"

#include <stdio.h>

struct state {
    uint32_t region;
};

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words = 1;
    system->private_bytes = sizeof(struct state);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_DEADLOCK) |
                     STEP_CLAIM(STEP_PROGRESS);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    (void)system;
    words[0] = 0; /* COUNT */
}

static uint64_t delta(const struct step_system *system, uint64_t count, void *state,
                      unsigned process)
{
    struct state *x = state;
    (void)process;
    if (x->region == STEP_CRITICAL) {
        x->region = STEP_REMAINDER;
        return count - 1;
    }
    if (count < system->k) {
        x->region = STEP_CRITICAL;
        return count + 1;
    }
    x->region = STEP_TRYING; /* loop back and repeat the test */
    return count;
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
    (void)system;
    (void)word;
    return snprintf(out, size, "COUNT=%u", (unsigned)value);
}

static double bound(const struct step_system *system)
{
    return system->k + 1.0;
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    (void)word;
    return step_bits_of(system->k + 1);
}

static const struct step_space space = {.bits = bits, .says = "log2(k+1) (1989, 1.3.1)"};

const struct step_machine papers_semaphore = {
    .name = "semaphore",
    .title = "Generalized semaphore (1989, 1.3.1)",
    .anonymous = true,
    .one_step_enabled = true,
    .prepare = prepare,
    .init = init,
    .step = step,
    .region = region,
    .print_word = print_word,
    .bound = bound,
    .space = &space,
};
