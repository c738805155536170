/* Decide the properties of the papers on the state graph. docs/algorithms.md defines them. */
#ifndef USHER_CHECK_PROPERTY_H
#define USHER_CHECK_PROPERTY_H

#include "check/decide/enabled.h"
#include "check/decide/prompt.h"
#include "check/explore/search.h"

enum check_verdict { CHECK_NOT_CHECKED, CHECK_HOLDS, CHECK_VIOLATED };

#define CHECK_UNBOUNDED (-1)

struct check_result {
    enum check_verdict verdict;
    uint64_t tested;             /* states or loops that test the property; 0 and holds: vacuous */
    struct check_schedule trace; /* a shortest schedule to the violation */
    struct check_schedule loop;  /* repeats for ever, if the violation is an infinite run */
    unsigned stopped;            /* processes that stop after `trace`, as a mask */
    bool has_bound;
    int64_t bound;   /* C4': cycles of one other process; overtakings, prompt: of all others;
                        or CHECK_UNBOUNDED */
    int64_t entries; /* overtakings, prompt: entries of others during one try, or CHECK_UNBOUNDED */
    int64_t robust;  /* C2: holds for r up to this; CHECK_UNBOUNDED: for every r */
    const char *why; /* of CHECK_NOT_CHECKED: the reason; of a violated invariant: the condition */
};

struct check_report {
    struct check_result results[STEP_PROPERTIES];
};

/* Decide all properties of an explored system. 0 or -ENOMEM. */
int check_decide(struct check_graph *graph, struct check_report *report);
void check_report_free(struct check_report *report);

/* Does every property that the system claims hold? */
bool check_claims_hold(const struct step_system *system, const struct check_report *report);

/* The deciders, one file each; 0 or -ENOMEM. `graph` is complete, with edges. */
int check_decide_deadlock(struct check_graph *graph, const struct check_enabled *enabled,
                          struct check_report *report);
int check_decide_fifo(struct check_graph *graph, const struct check_enabled *enabled,
                      struct check_report *report);
int check_decide_lockout(struct check_graph *graph, const struct check_enabled *enabled,
                         struct check_report *report);
int check_decide_allocation(struct check_graph *graph, const struct check_enabled *enabled,
                            struct check_report *report);
int check_decide_waiting(struct check_graph *graph, const struct check_enabled *enabled,
                         struct check_report *report);
int check_decide_overtakings(struct check_graph *graph, const struct check_enabled *enabled,
                             struct check_report *report);
/* Count the most entries of others while `process` is in T: in all runs (prompt is NULL) or in
   prompt ones. */
int check_count_entries(const struct check_graph *graph, const struct check_prompt *prompt,
                        unsigned process, int64_t *entries);
int check_decide_first_in(struct check_graph *graph, const struct check_enabled *enabled,
                          struct check_report *report);

#endif
