/* The broken variants of fife (fife.c). */
#ifndef USHER_PAPERS_FIFE_H
#define USHER_PAPERS_FIFE_H

#include "step/step.h"

/* The Label of the scan: a tie counts as being the last. */
extern const struct step_machine papers_mutant_fife_printed;
/* Without line 12. Only first-in and first-enabled show it, at n = 4, k = 2. */
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
