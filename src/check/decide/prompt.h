/*
 * Runs that are prompt for one process.
 *
 * From a state in which P_i tries, its steps alone lead either to C or, sooner or later, round and
 * round among states in which it tries: it looks again and again, and nothing changes. These are
 * the states in which it rests. A try of P_i is prompt if others take steps in such states only:
 * after every step of another P_i takes as many steps as make a difference, and one that could
 * enter has entered before anybody else moves.
 */
#ifndef USHER_CHECK_PROMPT_H
#define USHER_CHECK_PROMPT_H

#include "check/explore/bits.h"
#include "check/explore/explore.h"

/* Of one process. */
struct check_prompt {
    unsigned process;
    struct check_bits resting; /* it is in T, and its steps alone lead back without leaving T */
    struct check_bits reached; /* it is in T, by a run that is prompt since it left R */
};

/* 0 or -ENOMEM. */
int check_prompt_init(struct check_prompt *prompt, const struct check_graph *graph,
                      unsigned process);
void check_prompt_free(struct check_prompt *prompt);

/* May `process` take a step from `state` during a prompt try? Of NULL every one may, always. */
static inline bool check_prompt_lets(const struct check_prompt *prompt, uint32_t state,
                                     unsigned process)
{
    return prompt == NULL || process == prompt->process || check_bits_has(&prompt->resting, state);
}

/* Can the try of the process have come to `state`? Of NULL: yes, if there it tries. */
static inline bool check_prompt_reached(const struct check_prompt *prompt, uint32_t state)
{
    return prompt == NULL || check_bits_has(&prompt->reached, state);
}

#endif
