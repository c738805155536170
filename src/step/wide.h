/*
 * A shared variable of many words that real threads and processes change in one indivisible step,
 * without a lock.
 *
 * Each process has two copies of the variable. One copy of all is the variable: `current` says
 * which, with a count of changes. To change it a process copies it, sees that it is still current
 * (else the copy may be torn), computes, writes the outcome into a copy of its own that is not
 * current, and makes that one current by a compare-and-swap. That fails only if another succeeded.
 * Nobody writes into a copy that is current, and a copy that was current while somebody read it is
 * written into only after `current` has changed, which the reader sees.
 */
#ifndef USHER_STEP_WIDE_H
#define USHER_STEP_WIDE_H

#include "step/step.h"

struct step_wide {
    _Alignas(64) _Atomic uint64_t current; /* number of the copy, and changes << 8 */
    _Alignas(64) _Atomic uint64_t copies[2 * STEP_MAX_PROCESSES][STEP_MAX_SHARED_WORDS];
};

/* Make the first copy the current one, with these words. */
void step_wide_init(struct step_wide *wide, const struct step_system *system,
                    const uint64_t *words);

/* step_update_all, on a variable that is shared for real. */
void step_wide_update(const struct step_system *system, struct step_wide *wide,
                      step_wide_delta *delta, void *state, unsigned process);

#endif
