/*
 * Condition (S4) of the 1979 report, decided on a state graph: the supervisor that the processes
 * simulate goes on as long as they do.
 */
#ifndef USHER_TESTS_SIMULATION_H
#define USHER_TESTS_SIMULATION_H

#include "check/explore/explore.h"

enum { SIMULATION_NEVER = 99 };

/* The fewest processes that must fail (stop in T or E) so that others can go on for ever without a
   step of the supervisor: (S4) holds if these are r or more. SIMULATION_NEVER: no failures make it
   cease. Of a complete graph, with edges, of an eliminated machine. */
unsigned simulation_failures_to_cease(const struct check_graph *graph);

#endif
