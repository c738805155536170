/*
 * The core as a step machine: the very source of src/core, stopped before each shared access, and
 * around it what happens in the world: processes that come and go, crash, give up and are reaped.
 */
#ifndef USHER_MODEL_POOL_H
#define USHER_MODEL_POOL_H

#include "step/step.h"

extern const struct step_machine model_pool;

/* The core with one guard dropped (enum core_guard, core/core.h) for each; NULL ends the list. */
extern const struct step_machine *const model_pool_mutants[];

/* Is a process, a private state of the pool, inside an operation of the core? Not if it rests,
   sits, is dead, or is about to look whether it has been granted. */
bool model_pool_busy(const void *state);

#endif
