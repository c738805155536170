/*
 * An oracle for the checker's tests: it decides the same properties on a small explicit graph by
 * the papers' definitions, word by word and regardless of cost (matrices of reachability, all
 * subsets of processes, fixed points by repetition). It takes the states, steps and regions from
 * check_explore and shares nothing else with the deciders.
 *
 * oracle.c finds the enabled, waiting and allocated processes; oracle_decide.c decides the
 * properties, oracle_bounds.c overtakings; oracle_trace.c judges reported traces; oracle_systems.c
 * makes the systems.
 */
#ifndef USHER_CHECK_ORACLE_H
#define USHER_CHECK_ORACLE_H

#include "check/decide/property.h"

enum { ORACLE_STATES = 1024, ORACLE_PROCESSES = 3, ORACLE_SETS = 1 << ORACLE_PROCESSES };

#define ORACLE_NEVER SIZE_MAX

/* Masks have bit i for process i. */
struct oracle_state {
    uint32_t next[ORACLE_PROCESSES];
    unsigned in[4];                /* processes in each region */
    unsigned c_enabled, r_enabled; /* 1989 */
    unsigned t_waiting, e_waiting; /* 1989 */
    unsigned cen, ren;             /* 1979: CEn, REn */
    unsigned waiting;              /* 1979: in T and not in CEn, or in E and not in REn */
    unsigned c_allocation, r_allocation;
    size_t distance; /* steps from the start */
    bool wrong;      /* step_machine.wrong rejects it */
    unsigned rooms;  /* processes in the waiting room */
    unsigned rests;  /* processes whose steps alone lead back here, through T only */
};

struct oracle {
    unsigned n, k, r;
    unsigned supervisor;   /* as a mask; 0: there is none */
    bool states_invariant; /* the machine states an invariant */
    bool tells_rooms;      /* the machine has a doorway */
    uint32_t states;
    struct oracle_state at[ORACLE_STATES];

    /* the answers */
    bool holds[STEP_PROPERTIES];
    size_t shortest[STEP_PROPERTIES]; /* length of a shortest trace; finite violations except C6 */
    int64_t robust;                   /* of C2, as check_result has it */
    int64_t bounds[STEP_PROPERTIES];  /* of C4', overtakings and prompt */
    int64_t entries[STEP_PROPERTIES]; /* of overtakings and prompt */
};

/* A subset of the steps, and reachability by one or more of them. */
struct oracle_steps {
    bool may[ORACLE_STATES][ORACLE_PROCESSES];
    uint64_t reach[ORACLE_STATES][ORACLE_STATES / 64];
};

/* Copy an explored graph and decide everything. False if it is too large. */
bool oracle_decide(struct oracle *oracle, const struct check_graph *graph);

/* What is wrong with the trace and loop of a violated property, or NULL. */
const char *oracle_trace_fault(const struct oracle *oracle, enum step_property property,
                               const struct check_result *result);

/* Make random system `number` of a seed (one exists at a time), or print its table on stderr. 0 or
   -1. */
int oracle_system_make(struct step_system *system, uint64_t first_seed, unsigned number);
void oracle_system_print(void);

/* Make a system of n processes that ignore shared memory: next[i][r] is the region, a letter of
   "RTCE", that follows region r for process i. 0 or -1. */
int oracle_system_walk(struct step_system *system, unsigned n, unsigned k, const char *const *next);

/* The rest is for the oracle's own files. */

/* The bounds and entries of overtakings and prompt, in oracle_bounds.c. */
void oracle_decide_overtakings(struct oracle *oracle);

/* Fill in the states of the graph and everything about them but the properties. */
bool oracle_learn(struct oracle *oracle, const struct check_graph *graph);

/* Fill in `reach` from `may`. */
void oracle_close(const struct oracle *oracle, struct oracle_steps *steps);

/* Is `to` reachable from `from` by zero or more steps? */
bool oracle_reaches(const struct oracle_steps *steps, uint32_t from, uint32_t to);

/* Is there a closed walk through `state` in which all of `everyone` step? */
bool oracle_laps(const struct oracle *oracle, const struct oracle_steps *steps, uint32_t state,
                 unsigned everyone);

static inline bool oracle_has(unsigned mask, unsigned process)
{
    return mask >> process & 1;
}

static inline unsigned oracle_size(unsigned mask)
{
    return (unsigned)__builtin_popcount(mask);
}

static inline bool oracle_same_regions(const struct oracle_state *a, const struct oracle_state *b)
{
    return a->in[STEP_REMAINDER] == b->in[STEP_REMAINDER] &&
           a->in[STEP_TRYING] == b->in[STEP_TRYING] &&
           a->in[STEP_CRITICAL] == b->in[STEP_CRITICAL] && a->in[STEP_EXIT] == b->in[STEP_EXIT];
}

/* Does the step of `process` take it into C? */
static inline bool oracle_enters(const struct oracle *oracle, uint32_t from, unsigned process)
{
    return !oracle_has(oracle->at[from].in[STEP_CRITICAL], process) &&
           oracle_has(oracle->at[oracle->at[from].next[process]].in[STEP_CRITICAL], process);
}

/* 1979: does P_i, which waits, make no progress by a step? */
static inline bool oracle_waits_on(const struct oracle *oracle, unsigned i, uint32_t from,
                                   uint32_t to)
{
    const struct oracle_state *a = &oracle->at[from];
    const struct oracle_state *b = &oracle->at[to];
    return oracle_has(a->waiting, i) && oracle_has(b->waiting, i) &&
           oracle_has(a->in[STEP_TRYING], i) == oracle_has(b->in[STEP_TRYING], i);
}

/* (d) of C2: seats neither taken nor allocated while a process in T has none; or E likewise. */
static inline bool oracle_stands(const struct oracle *oracle, const struct oracle_state *q)
{
    return (oracle_size(q->in[STEP_TRYING]) > q->c_allocation &&
            q->c_allocation + oracle_size(q->in[STEP_CRITICAL]) < oracle->k) ||
           oracle_size(q->in[STEP_EXIT]) > q->r_allocation;
}

/* 1989: the start of a k-deadlock, if no process makes progress after it. */
static inline bool oracle_hangs(const struct oracle *oracle, const struct oracle_state *q)
{
    return (q->t_waiting != 0 && oracle_size(q->c_enabled) < oracle->k) || q->e_waiting != 0;
}

static inline bool oracle_no_progress(const struct oracle_state *a, const struct oracle_state *b)
{
    return oracle_same_regions(a, b) && a->t_waiting == b->t_waiting &&
           a->e_waiting == b->e_waiting;
}

/* C6's l-full, and null exit regions. */
static inline bool oracle_queue_state(const struct oracle *oracle, const struct oracle_state *q)
{
    unsigned taken = oracle_size(q->in[STEP_CRITICAL]);
    unsigned room = taken < oracle->k ? oracle->k - taken : 0;
    unsigned trying = oracle_size(q->in[STEP_TRYING]);
    return q->in[STEP_EXIT] == 0 && taken <= oracle->k &&
           oracle_size(q->cen) == (room < trying ? room : trying);
}

#endif
