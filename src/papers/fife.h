/* The broken variants of fife (fife.c). */
#ifndef USHER_PAPERS_FIFE_H
#define USHER_PAPERS_FIFE_H

#include "step/step.h"

/* Label as scanned: it compares values alone, so a tie counts as the maximum. */
extern const struct step_machine papers_mutant_fife_printed;
/* Without line 12. Only first-in and first-enabled are violated, at n = 4, k = 2. */
extern const struct step_machine papers_mutant_fife_no_relabel;
/* Label first, then x_i := true. */
extern const struct step_machine papers_mutant_fife_label_first;
/* Label writes the greatest label, not one more. */
extern const struct step_machine papers_mutant_fife_equal;
/* Without line 4: all processes are in S_i. Also shown by first-in and first-enabled only. */
extern const struct step_machine papers_mutant_fife_everyone;
/* A process enters with k others before it. */
extern const struct step_machine papers_mutant_fife_one_more;

#endif
