/*
 * The published algorithms, one file each, as step machines.
 *
 * The header comment of a file has the property table of its algorithm: what the paper promises,
 * and for which sizes the checker has decided it. tests/verdicts_test.c has a row for each row of
 * the tables.
 */
#ifndef USHER_PAPERS_H
#define USHER_PAPERS_H

#include "step/step.h"

extern const struct step_machine papers_semaphore;
extern const struct step_machine papers_bank;
extern const struct step_machine papers_queue;
extern const struct step_machine papers_queue_two_step;
extern const struct step_machine papers_numbered;
extern const struct step_machine papers_colored_unbounded;
extern const struct step_machine papers_colored;
extern const struct step_machine papers_colored_printed;
extern const struct step_machine papers_colored_tight;
extern const struct step_machine papers_colored_1979;
extern const struct step_machine papers_naive;
extern const struct step_machine papers_excl;
extern const struct step_machine papers_gtex;
extern const struct step_machine papers_fife;
extern const struct step_machine papers_fife_bounded;
extern const struct step_machine papers_fife_atomic;
extern const struct step_machine papers_peek_queue;
extern const struct step_machine papers_dqb;
extern const struct step_machine papers_sq2;
extern const struct step_machine papers_bucket;
extern const struct step_machine papers_bucket_eliminated;
extern const struct step_machine papers_hidden_queue_supervised;
extern const struct step_machine papers_hidden_queue;

/* All machines above, in the order of `usher-lab list`; NULL ends the list. */
extern const struct step_machine *const papers_all[];

/* Broken variants that the checker must catch (mutants.c); NULL ends the list. */
extern const struct step_machine *const papers_mutants[];

extern const struct step_machine papers_mutant_m_too_small;
extern const struct step_machine papers_mutant_queue_barging;

/* Find a machine by name in both lists; NULL if there is none. */
const struct step_machine *papers_find(const char *name);

/* The properties that the 1989 paper promises for the queue, and for every equivalent algorithm. */
unsigned papers_queuelike_claims(const struct step_system *system);

#endif
