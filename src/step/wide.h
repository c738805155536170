/*
 * A shared variable of many words that real threads and processes change in one atomic step,
 * without a lock.
 *
 * Each process owns two copies of the variable. `current` holds the number of the copy that is the
 * variable now, and a count of changes. To change the variable, a process
 *
 * - copies the current copy, and checks that it is still current (otherwise the copy may mix two
 *   values);
 * - computes the new value, and writes it into one of its own copies that is not current;
 * - makes that copy current by a compare-and-swap, which fails only if another process succeeded.
 *
 * No process writes into the current copy. A copy that was current while a process read it is
 * overwritten only after `current` has changed; the reader then notices the change.
 */
#ifndef USHER_STEP_WIDE_H
#define USHER_STEP_WIDE_H

#include "step/step.h"

struct step_wide {
    _Alignas(64) _Atomic uint64_t current; /* number of the copy | changes << 8 */
    _Alignas(64) _Atomic uint64_t copies[2 * STEP_MAX_PROCESSES][STEP_MAX_SHARED_WORDS];
};

/* Make the first copy current, with these words. */
void step_wide_init(struct step_wide *wide, const struct step_system *system,
                    const uint64_t *words);

/* step_update_all on a variable that real threads or processes share. */
void step_wide_update(const struct step_system *system, struct step_wide *wide,
                      step_wide_delta *delta, void *state, unsigned process);

#endif
