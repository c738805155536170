/*
 * A canonical form of the hidden queue's states, for the checker: colours are numbered in the order
 * of their appearance. It makes more sizes explorable.
 *
 * It is sound: steps only test whether two colours are equal and whether a colour is unused, and it
 * does not matter which unused colour is taken. No step reads the map of an unused colour before
 * the supervisor's next step clears it.
 */
#ifndef USHER_TESTS_HIDDEN_QUEUE_COLORS_H
#define USHER_TESTS_HIDDEN_QUEUE_COLORS_H

#include "step/step.h"

/* step_machine.rebase of papers_hidden_queue_supervised. */
void hidden_queue_rename_colors(const struct step_system *system, uint64_t *words, void *states);

#endif
