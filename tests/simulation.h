/*
 * Condition (S4) of the 1979 report, decided on a state graph: the simulated supervisor's steps
 * continue as long as the processes' steps do.
 */
#ifndef USHER_TESTS_SIMULATION_H
#define USHER_TESTS_SIMULATION_H

#include "check/explore/explore.h"

enum { SIMULATION_NEVER = 99 };

/* The smallest number of processes that must fail (stop in T or E) so that others can continue
   for ever without a step of the supervisor: (S4) holds if it is at least r. SIMULATION_NEVER:
   no failures stop the supervisor. `graph` is a complete graph, with edges, of an eliminated
   machine. */
unsigned simulation_failures_to_cease(const struct check_graph *graph);

#endif
