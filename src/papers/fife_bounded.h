/* The broken variants of fife-bounded (fife_bounded.c). */
#ifndef USHER_PAPERS_FIFE_BOUNDED_H
#define USHER_PAPERS_FIFE_BOUNDED_H

#include "step/step.h"

enum { PAPERS_FIFE_BOUNDED_MUTANTS = 4 };

extern const struct step_machine papers_fife_bounded_mutants[PAPERS_FIFE_BOUNDED_MUTANTS];

#endif
