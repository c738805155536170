/*
 * Machines with too few shared values, to demonstrate the proofs of the lower bounds. Each process
 * goes from R to T, and with its next step to C if the machine lets it.
 *
 *     toy_tickets   numbers modulo toy_modulus: a ticket is valid if it is one of the last k
 *     toy_guest     the same, but the last process enters freely and changes nothing
 *     toy_forgets   a semaphore that resets to all seats free when one is left
 *     toy_anarchy   every process enters freely
 */
#ifndef USHER_TOY_SHORT_H
#define USHER_TOY_SHORT_H

#include "step/step.h"

static unsigned toy_modulus = 2;

enum toy_kind { TOY_TICKETS, TOY_GUEST, TOY_FORGETS, TOY_ANARCHY };

struct toy_state {
    uint32_t region;
    uint32_t ticket; /* 0 in R */
};

static int toy_prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words = 1;
    system->private_bytes = sizeof(struct toy_state);
    return 0;
}

/* ISSUE and VALID, 8 bits each. */
static void toy_init(const struct step_system *system, uint64_t *words)
{
    words[0] = system->machine->variant == TOY_ANARCHY   ? 0
               : system->machine->variant == TOY_FORGETS ? system->k
                                                         : system->k % toy_modulus;
}

static uint64_t toy_tickets_delta(const struct step_system *system, uint64_t value,
                                  struct toy_state *x)
{
    unsigned issue = (unsigned)(value >> 8);
    unsigned valid = value & 255;
    if (x->region == STEP_REMAINDER) {
        x->region = STEP_TRYING;
        issue = x->ticket = (issue + 1) % toy_modulus;
    } else if (x->region == STEP_CRITICAL) {
        *x = (struct toy_state){STEP_REMAINDER, 0};
        valid = (valid + 1) % toy_modulus;
    } else if ((valid + toy_modulus - x->ticket) % toy_modulus < system->k) {
        x->region = STEP_CRITICAL;
    }
    return (uint64_t)issue << 8 | valid;
}

/* `value` seats are free. */
static uint64_t toy_forgets_delta(const struct step_system *system, uint64_t value,
                                  struct toy_state *x)
{
    if (x->region == STEP_CRITICAL) {
        x->region = STEP_REMAINDER;
        return system->k;
    }
    if (value == 0 || x->region == STEP_REMAINDER) {
        x->region = STEP_TRYING;
        return value;
    }
    x->region = STEP_CRITICAL;
    return value - 1;
}

static uint64_t toy_delta(const struct step_system *system, uint64_t value, void *state,
                          unsigned process)
{
    struct toy_state *x = state;
    unsigned kind = system->machine->variant;
    if (kind == TOY_FORGETS) {
        return toy_forgets_delta(system, value, x);
    }
    if (kind == TOY_ANARCHY || (kind == TOY_GUEST && process + 1 == system->n)) {
        x->region = (x->region + 1) % STEP_EXIT; /* R, T, C, R */
        return value;
    }
    return toy_tickets_delta(system, value, x);
}

static void toy_step(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process)
{
    step_update(system, memory, 0, toy_delta, state, process);
}

static enum step_region toy_region(const struct step_system *system, const void *state)
{
    (void)system;
    return (enum step_region)((const struct toy_state *)state)->region;
}

#define TOY_SHORT(symbol, name_, kind)                                                             \
    static const struct step_machine symbol = {.name = (name_),                                    \
                                               .variant = (kind),                                  \
                                               .prepare = toy_prepare,                             \
                                               .init = toy_init,                                   \
                                               .step = toy_step,                                   \
                                               .region = toy_region}

TOY_SHORT(toy_tickets, "toy-tickets", TOY_TICKETS);
TOY_SHORT(toy_guest, "toy-guest", TOY_GUEST);
TOY_SHORT(toy_forgets, "toy-forgets", TOY_FORGETS);
TOY_SHORT(toy_anarchy, "toy-anarchy", TOY_ANARCHY);

#endif
