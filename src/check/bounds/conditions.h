/*
 * Which conditions of the 1979 report a system meets, and so which of its lower bounds apply.
 *
 *     Theorem 5.1   k < n      C1, C2 for r = 1, C4, null exit regions
 *     Theorem 5.2   n >= k+2   C6
 *     Theorem 5.3   k < n      C1, C2 for some r >= k, C4'
 *
 * C4 is bounded waiting: how often one can go from R to C while another stays in T, or in E, is
 * bounded, even if that other has stopped. C4' says it only of one that is not enabled. Known:
 *
 *     C4 implies C4'.
 *     With one seat and null exit regions C1 and C4' imply C4: while somebody in T is enabled
 *     nobody else can enter.
 *     With two seats or more, and k < n, C1, C4 and C2 for r = 2 exclude each other: when all
 *     seats are taken one comes, is in T and stops. All others leave. It has a seat at most, so by
 *     C2 another goes round for ever.
 *
 * None of the theorems is about systems with a supervisor: it keeps what it knows to itself.
 */
#ifndef USHER_CHECK_CONDITIONS_H
#define USHER_CHECK_CONDITIONS_H

#include "check/bounds/lower.h"
#include "check/decide/property.h"

#define CHECK_EVERY_R 0xffffffffU

struct check_conditions {
    bool decided; /* on the whole graph; else promised by the machine */
    bool supervised;
    bool exclusion;       /* C1 */
    unsigned robust;      /* C2 for r up to this; 0: not even for 1; CHECK_EVERY_R: for every one */
    bool waiting;         /* C4 */
    bool waiting_enabled; /* C4' */
    bool queuelike;       /* C6 */
    bool null_exit;       /* nobody is ever in E */
};

/* What the machine promises, for any n. That nobody is ever in E is promised by C6; of others it is
   only looked at how one process alone comes back from C. */
void check_conditions_promised(const struct step_system *system,
                               struct check_conditions *conditions);

/* What is so: `graph` is complete and has edges, `report` is about it. 0 or -ENOMEM. */
int check_conditions_decide(const struct check_graph *graph, const struct check_report *report,
                            struct check_conditions *conditions);

/* C4 alone, on the graph. 0 or -ENOMEM. */
int check_bounded_waiting(const struct check_graph *graph, bool *bounded);

/* The first condition of a theorem that is not met, for people; NULL if it applies. */
const char *check_theorem_lacks(enum check_theorem theorem, const struct step_system *system,
                                const struct check_conditions *conditions);

#endif
