/*
 * A canonical form of the hidden queue's states, for the checker: colours are numbered as they
 * appear. More sizes can be explored to the end with it.
 *
 * It is sound: no step asks for more of a colour than whether it is another one, or unused; which
 * of the unused ones is taken does not matter. A map of an unused colour, which the supervisor's
 * next step clears, is read by nobody before.
 */
#ifndef USHER_TESTS_HIDDEN_QUEUE_COLORS_H
#define USHER_TESTS_HIDDEN_QUEUE_COLORS_H

#include "step/step.h"

/* step_machine.rebase of papers_hidden_queue_supervised. */
void hidden_queue_rename_colors(const struct step_system *system, uint64_t *words, void *states);

#endif
