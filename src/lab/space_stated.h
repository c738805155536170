/* The shared space of a system as its machine states it, without exploration. */
#ifndef USHER_LAB_SPACE_H
#define USHER_LAB_SPACE_H

#include "step/step.h"

struct lab_space {
    bool stated;    /* false: the machine states nothing (mutants do not); all else is 0 */
    bool unbounded; /* the values have no bound; `bits` are kept of them */
    unsigned bits;  /* of all shared words together */
    double formula; /* the paper's count of the same; 0: it has none */
    bool agree;     /* the formula, rounded up, equals `bits` */
};

struct lab_space lab_space_of(const struct step_system *system);

#endif
