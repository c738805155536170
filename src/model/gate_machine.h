/*
 * The gate as a step machine: the functions of src/gate/gate_word.h, one compare-and-swap a step.
 *
 *     gate          guests that take a ticket and spin until it is valid
 *     gate-sleep    guests that sleep on a futex while they wait; a leaving guest wakes the next
 *     gate-try      every second guest tries, and goes away if no seat is free
 *     gate-crowded  more guests than the gate has room for: a guest that finds no room goes away
 *
 * tests/gate_model_test.c checks them.
 */
#ifndef USHER_MODEL_GATE_H
#define USHER_MODEL_GATE_H

#include "step/step.h"

extern const struct step_machine model_gate, model_gate_sleep, model_gate_try, model_gate_crowded;

/* All of the above; NULL-terminated. */
extern const struct step_machine *const model_gates[];

/* The same without one guard each (enum gate_broken, gate/gate_word.h); NULL-terminated. */
extern const struct step_machine *const model_gate_mutants[];

#endif
