/*
 * Explore all interleavings of a step machine, breadth first, into a graph.
 *
 * States are numbered in the order found: a lower number is never farther from the start, and the
 * path back over `parents` is a shortest schedule. Every process has exactly one step from every
 * state.
 */
#ifndef USHER_CHECK_EXPLORE_H
#define USHER_CHECK_EXPLORE_H

#include "check/explore/seen.h"

#include <stdio.h>

struct check_options {
    size_t memory;       /* bytes; 0: check_budget_default() */
    bool only_exclusion; /* keep no edges: decide only exclusion and invariant */
    bool until_wrong;    /* stop at the first state that violates exclusion or invariant */
    bool reduced;        /* leave out reads that make no difference: check/explore/reduce.h */
    unsigned threads;    /* for the analysis; 0: one a processor */
    FILE *progress;      /* a terminal that shows the progress, or NULL */
};

struct check_graph {
    const struct step_system *system;
    struct check_options options;
    struct check_budget budget;
    struct check_seen seen;
    uint32_t *parents; /* the predecessor of each state but the first */
    uint32_t *edges;   /* for each state and label: the state it leads to, or CHECK_NO_STATE */
    unsigned labels;   /* n steps, then n of each event: see check_label_process */
    uint32_t *regions; /* for each state: 2 bits a process, process 0 lowest */
    size_t parent_capacity, edge_capacity, region_capacity;
    uint32_t *levels; /* the first state of each distance from the start, then the count */
    size_t level_capacity;
    uint32_t level_count;
    uint64_t transitions;
    uint32_t first_crowded; /* the first state with more than k in C, or CHECK_NO_STATE */
    uint32_t first_wrong;   /* the first state that step_machine.wrong rejects, or CHECK_NO_STATE */
    const char *wrong;      /* its reason */
    uint32_t full_states;   /* states with k in C and a process in T: these test exclusion */
    double seconds;
    bool complete;      /* false: the memory limit, or until_wrong, ended the exploration */
    const char *broken; /* how a step broke the contract of step.h, or NULL */
    uint32_t broken_at;
    unsigned broken_process;
};

/*
 * Explore `system` (n <= CHECK_MAX_PROCESSES) until every reachable state is found or memory runs
 * out. 0, with `complete` false if memory ran out; -ENOMEM if not even the first state fits.
 */
int check_explore(struct check_graph *graph, const struct step_system *system,
                  const struct check_options *options);
void check_graph_free(struct check_graph *graph);

static inline uint32_t check_states(const struct check_graph *graph)
{
    return graph->seen.count;
}

static inline uint32_t check_edge(const struct check_graph *graph, uint32_t state, unsigned process)
{
    return graph->edges[(size_t)state * graph->labels + process];
}

/* A label is a process's step (0..n-1) or, from n on, an event that happens to a process. */
static inline unsigned check_label_process(const struct step_system *system, unsigned label)
{
    return label % system->n;
}

static inline unsigned check_label_event(const struct step_system *system, unsigned label)
{
    return label / system->n;
}

static inline enum step_region check_region_in(uint32_t regions, unsigned process)
{
    return (enum step_region)(regions >> 2 * process & 3);
}

static inline enum step_region check_region(const struct check_graph *graph, uint32_t state,
                                            unsigned process)
{
    return check_region_in(graph->regions[state], process);
}

/* A supervisor has no regions, does not fail and is not counted. Is the process one? */
static inline bool check_supervises(const struct step_system *system, unsigned process)
{
    return process >= system->workers;
}

/* All processes but the supervisor, as a mask. */
static inline unsigned check_workers(const struct step_system *system)
{
    return (1U << system->workers) - 1;
}

enum { CHECK_PROCESS_NAME = 16 };

/* The printed name of a process: its number from 1, or S. Returns `out`. */
char *check_process_name(const struct step_system *system, unsigned process,
                         char out[CHECK_PROCESS_NAME]);

/* Can exactly `steppers` take steps for ever? A supervisor never stops. */
static inline bool check_admissible(const struct step_system *system, unsigned steppers)
{
    return system->workers == system->n || steppers >> system->workers != 0;
}

/* The workers in a region, as a bit mask. */
unsigned check_in_region(const struct check_graph *graph, uint32_t state, enum step_region region);

/* The state that a label leads to: from the edges, or by executing it if none are kept. */
uint32_t check_successor(struct check_graph *graph, uint32_t state, unsigned label);

/* The distance of a state from the start. */
uint32_t check_depth(const struct check_graph *graph, uint32_t state);

#endif
