/*
 * Runs that are prompt for one process.
 *
 * From a state with P_i in T, the steps of P_i alone lead either to C or to a cycle of states in T:
 * P_i spins and nothing changes. In the states of such a cycle P_i rests. A try of P_i is prompt if
 * others take steps only in states in which P_i rests: after every step of another process P_i
 * takes all the steps that make a difference, and if it can enter it does so before another moves.
 */
#ifndef USHER_CHECK_PROMPT_H
#define USHER_CHECK_PROMPT_H

#include "check/explore/bits.h"
#include "check/explore/explore.h"

struct check_prompt {
    unsigned process;
    struct check_bits resting; /* it is in T, and its steps alone lead back without leaving T */
    struct check_bits reached; /* it is in T, by a run that is prompt since it left R */
};

/* 0 or -ENOMEM. */
int check_prompt_init(struct check_prompt *prompt, const struct check_graph *graph,
                      unsigned process);
void check_prompt_free(struct check_prompt *prompt);

/* May `process` take a step from `state` during a prompt try? If `prompt` is NULL, always. */
static inline bool check_prompt_lets(const struct check_prompt *prompt, uint32_t state,
                                     unsigned process)
{
    return prompt == NULL || process == prompt->process || check_bits_has(&prompt->resting, state);
}

/* Can a prompt try be in `state`? If `prompt` is NULL, yes. */
static inline bool check_prompt_reached(const struct check_prompt *prompt, uint32_t state)
{
    return prompt == NULL || check_bits_has(&prompt->reached, state);
}

#endif
