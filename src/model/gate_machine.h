/*
 * The gate as a step machine: the very functions of src/gate/gate_word.h, one compare-and-swap a
 * step.
 *
 *     gate          guests that enter, and look until they are inside
 *     gate-sleep    the same, asleep while they wait: a futex, and who leaves wakes who is next
 *     gate-try      every second guest tries, and goes away if it is not let in at once
 *     gate-crowded  more guests than there is room for: who finds no room goes away
 *
 * tests/gate_model_test.c has their verdicts.
 */
#ifndef USHER_MODEL_GATE_H
#define USHER_MODEL_GATE_H

#include "step/step.h"

extern const struct step_machine model_gate, model_gate_sleep, model_gate_try, model_gate_crowded;

/* All of the above; NULL ends the list. */
extern const struct step_machine *const model_gates[];

/* One of them with a guard dropped (enum gate_broken, gate/gate_word.h) for each; NULL ends the
   list. */
extern const struct step_machine *const model_gate_mutants[];

#endif
