/*
 * Which processes are enabled in which state: exact, on the state graph.
 *
 * 1989 (3.3): P_i is Z-enabled in q if every schedule with infinitely many steps of i takes it to
 * Z. So it is not enabled iff q reaches, through states with i outside Z, a strongly connected
 * component with a step of i inside. T-waiting: in T and not C-enabled; E-waiting: in E and not
 * R-enabled.
 *
 * 1979: P_i is critical-enabled (remainder-enabled) if its next step takes it to C (to R) now and
 * after any steps of the others.
 *
 * If there is a supervisor, only schedules in which it never stops count.
 *
 * Masks have bit i for process i.
 */
#ifndef USHER_CHECK_ENABLED_H
#define USHER_CHECK_ENABLED_H

#include "check/decide/scc.h"
#include "check/explore/bits.h"

/* A component in which a process steps for ever. */
struct check_witness {
    uint32_t state;         /* the first state of the component, or CHECK_NO_STATE */
    unsigned process;       /* the process */
    unsigned steppers;      /* processes with a step inside */
    unsigned stopped;       /* processes outside R without a step inside */
    struct check_bits part; /* the component's states */
    uint32_t edge_from;     /* the step that is the violation, if one is */
    unsigned edge_process;
};

struct check_enabled {
    const struct check_graph *graph;
    bool has_exit;              /* some state has a process in E */
    uint16_t *not_c_enabled;    /* 1989, of each state */
    uint16_t *not_r_enabled;    /* 1989; NULL unless has_exit */
    uint16_t *not_enabled_1979; /* critical-enabled for i in R or T, remainder-enabled in C or E */
    uint64_t trying_cycles;     /* components in which a process steps in T without leaving T */

    /* Of the components that keep a process in T while it steps: the first with at most k-1 others
       stopped (lockout), and the first with none stopped (starvation). */
    struct check_witness lockout, starvation;
};

/* 0 or -ENOMEM. For machines with loose regions only `not_c_enabled` and the witnesses are set. */
int check_enabled_init(struct check_enabled *enabled, const struct check_graph *graph);
void check_enabled_free(struct check_enabled *enabled);

static inline unsigned check_t_waiting(const struct check_enabled *e, uint32_t state)
{
    return e->not_c_enabled[state] & check_in_region(e->graph, state, STEP_TRYING);
}

static inline unsigned check_e_waiting(const struct check_enabled *e, uint32_t state)
{
    return e->has_exit ? e->not_r_enabled[state] & check_in_region(e->graph, state, STEP_EXIT) : 0;
}

static inline unsigned check_c_enabled(const struct check_enabled *e, uint32_t state)
{
    return ~(unsigned)e->not_c_enabled[state] & check_workers(e->graph->system);
}

static inline bool check_k_full(const struct check_enabled *e, uint32_t state)
{
    return (unsigned)__builtin_popcount(check_c_enabled(e, state)) >= e->graph->system->k;
}

/* 1979: in T and not critical-enabled, or in E and not remainder-enabled. */
static inline unsigned check_waiting_1979(const struct check_enabled *e, uint32_t state)
{
    return e->not_enabled_1979[state] & (check_in_region(e->graph, state, STEP_TRYING) |
                                         check_in_region(e->graph, state, STEP_EXIT));
}

/* Keep `component` as the witness if it comes before the one kept. */
int check_witness_offer(struct check_witness *witness, const struct check_component *component,
                        unsigned process, unsigned steppers, unsigned stopped);

/* The processes of `mask` that are outside R in `state`. */
unsigned check_outside_remainder(const struct check_graph *graph, uint32_t state, unsigned mask);

#endif
