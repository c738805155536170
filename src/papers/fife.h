/*
 * The parts of the entry of fife (fife.c) and its broken variants.
 *
 * A machine's regions do not tell a doorway from a waiting room: both are T. What is said of them
 * (Definitions 2.5 and 5.1 of the paper) is decided in tests/fife_test.c, with the help of these.
 */
#ifndef USHER_PAPERS_FIFE_H
#define USHER_PAPERS_FIFE_H

#include "step/step.h"

/* Is a process with this private state in the doorway (lines 1 to 4)? */
bool papers_fife_in_doorway(const void *state);

/* Is it in the waiting room (lines 5 to 9)? */
bool papers_fife_in_waiting_room(const void *state);

/* The Label of the scan: a tie counts as being the last. */
extern const struct step_machine papers_mutant_fife_printed;
/* Without line 12. Only Definitions 2.5 and 5.1 show it, at n = 4, k = 2. */
extern const struct step_machine papers_mutant_fife_no_relabel;
/* Label first, then x_i := true. */
extern const struct step_machine papers_mutant_fife_label_first;
/* Label writes the greatest label, not one more. */
extern const struct step_machine papers_mutant_fife_equal;
/* Without line 4: everyone is in S_i. Shown by the same. */
extern const struct step_machine papers_mutant_fife_everyone;
/* One more may be before. */
extern const struct step_machine papers_mutant_fife_one_more;

#endif
