/* Execute one step or one event from a state of a graph. */
#ifndef USHER_CHECK_EXECUTE_H
#define USHER_CHECK_EXECUTE_H

#include "check/explore/explore.h"

/* A whole state, unpacked. */
struct check_unpacked {
    _Alignas(8) unsigned char states[CHECK_MAX_PROCESSES * STEP_MAX_PRIVATE_BYTES];
    uint64_t words[STEP_MAX_SHARED_WORDS];
};

/* Execute a label on a copy of the state, and bring the result into canonical form. False if the
   event cannot happen. In a reduced graph the heedless steps that follow are executed too; if
   `parts` is not NULL, the private states before them are numbered there, and *error is their
   error (reduce.h). */
bool check_execute(const struct check_graph *graph, uint32_t state, unsigned label,
                   struct check_unpacked *u, struct step_access *access, struct check_seen *parts,
                   int *error);

#endif
