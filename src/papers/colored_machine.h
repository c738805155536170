/*
 * The code shared by the machines over src/tickets/colored.h. The constants of such a system are
 * its shape.
 */
#ifndef USHER_PAPERS_COLORED_MACHINE_H
#define USHER_PAPERS_COLORED_MACHINE_H

#include "step/step.h"
#include "tickets/colored.h"

/* The shape in the system's constants. */
const struct colored_shape *colored_machine_shape(const struct step_system *system);

/* Set sizes, claims and a shape with blocks of m tickets. Return 0, or -1 with a sentence in
   `why`. */
int colored_machine_prepare(struct step_system *system, uint32_t m, char why[STEP_WHY_BYTES]);

/* Fig. 2 over colored tickets: one step of the 1989 algorithm, or (`two_steps`) of the 1979 one. */
uint64_t colored_machine_delta(const struct step_system *system, uint64_t value, void *state,
                               unsigned process);
uint64_t colored_machine_delta_two_steps(const struct step_system *system, uint64_t value,
                                         void *state, unsigned process);

int colored_machine_print_word(const struct step_system *system, unsigned word, uint64_t value,
                               char *out, size_t size);

/* binom(2k,k) ((k+1) M)^2, Theorem 4.1. */
double colored_machine_bound(const struct step_system *system);

/* The bits of the word, and the formula of Theorem 4.1. */
unsigned colored_machine_bits(const struct step_system *system, unsigned word);
extern const struct step_space colored_machine_space;

#endif
