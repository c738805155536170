/*
 * The core as a step machine: the source of src/core, stopped before each shared access, and around
 * it processes that arrive, leave, crash, give up, resize and are reaped.
 */
#ifndef USHER_MODEL_POOL_H
#define USHER_MODEL_POOL_H

#include "step/step.h"

extern const struct step_machine model_pool;

/* One machine for each guard (core/guards.h): the core without it. NULL ends the list. */
extern const struct step_machine *const model_pool_mutants[];

/* Is a process, given by its private state, inside an operation of the core? Not if it rests, holds
   a seat, is dead, or is about to read whether it was granted. */
bool model_pool_busy(const void *state);

#endif
