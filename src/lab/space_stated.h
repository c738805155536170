/* Shared space of a system, as its machine states it: no exploration. */
#ifndef USHER_LAB_SPACE_H
#define USHER_LAB_SPACE_H

#include "step/step.h"

struct lab_space {
    bool stated;    /* false: the machine says nothing, as mutants do; then all else is 0 */
    bool unbounded; /* the bits are those that are kept of values without bound */
    unsigned bits;  /* of all shared words together */
    double formula; /* the paper's count of the same; 0 where it has none */
    bool agree;     /* the formula, rounded up, is what is used */
};

struct lab_space lab_space_of(const struct step_system *system);

#endif
