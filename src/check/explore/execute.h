/* Execute one step, or one event, of a state of a graph. */
#ifndef USHER_CHECK_EXECUTE_H
#define USHER_CHECK_EXECUTE_H

#include "check/explore/explore.h"

/* A whole state, unpacked. */
struct check_unpacked {
    _Alignas(8) unsigned char states[CHECK_MAX_PROCESSES * STEP_MAX_PRIVATE_BYTES];
    uint64_t words[STEP_MAX_SHARED_WORDS];
};

/* Let one thing happen to a copy of the state, and bring the result into canonical form. False
   if it cannot happen. In a reduced graph heedless steps follow; if `parts` is not NULL they are
   noted there, and *error says what went wrong. */
bool check_execute(const struct check_graph *graph, uint32_t state, unsigned label,
                   struct check_unpacked *u, struct step_access *access, struct check_seen *parts,
                   int *error);

#endif
