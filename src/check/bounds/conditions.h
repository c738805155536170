/*
 * Which conditions of the 1979 report a system meets, and so which of its lower bounds apply.
 *
 *     Theorem 5.1   k < n      C1, C2 for r = 1, C4, null exit regions
 *     Theorem 5.2   n >= k+2   C6
 *     Theorem 5.3   k < n      C1, C2 for some r >= k, C4'
 *
 * C4 is bounded waiting: the number of times that one process can go from R to C while another
 * stays in T, or in E, is bounded, even if that other has stopped. C4' bounds it only while the
 * other is not enabled. Known:
 *
 *     C4 implies C4'.
 *     With one seat and null exit regions C1 and C4' imply C4: while a process in T is enabled no
 *     other can enter.
 *     With k > 1 seats and k < n, C1, C4 and C2 for r = 2 exclude each other: when all seats are
 *     taken a process arrives, is in T and stops. All others leave. The stopped process takes up at
 *     most one seat, so by C2 another cycles for ever.
 *
 * No theorem applies to systems with a supervisor, whose private state is not a shared value.
 */
#ifndef USHER_CHECK_CONDITIONS_H
#define USHER_CHECK_CONDITIONS_H

#include "check/bounds/lower.h"
#include "check/decide/property.h"

#define CHECK_EVERY_R 0xffffffffU

struct check_conditions {
    bool decided; /* on the whole graph; false: promised by the machine */
    bool supervised;
    bool exclusion;       /* C1 */
    unsigned robust;      /* C2 holds for r up to this; 0: for none; CHECK_EVERY_R: for every r */
    bool waiting;         /* C4 */
    bool waiting_enabled; /* C4' */
    bool queuelike;       /* C6 */
    bool null_exit;       /* no process is ever in E */
};

/* Take the conditions as the machine promises them, for any n. Null exit regions are promised by
   C6; other machines are taken to have them if a process that runs alone leaves C without E. */
void check_conditions_promised(const struct step_system *system,
                               struct check_conditions *conditions);

/* Decide the conditions on a complete graph with edges and its report. 0 or -ENOMEM. */
int check_conditions_decide(const struct check_graph *graph, const struct check_report *report,
                            struct check_conditions *conditions);

/* Decide C4 on the graph. 0 or -ENOMEM. */
int check_bounded_waiting(const struct check_graph *graph, bool *bounded);

/* The first condition of a theorem that is not met, as a phrase; NULL if the theorem applies. */
const char *check_theorem_lacks(enum check_theorem theorem, const struct step_system *system,
                                const struct check_conditions *conditions);

#endif
