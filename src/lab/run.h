/*
 * Run a machine on n threads or forked processes that share its words, with the step function that
 * the checker explores.
 */
#ifndef USHER_LAB_RUN_H
#define USHER_LAB_RUN_H

#include "step/step.h"

enum { LAB_WAIT_BUCKETS = 64 * 16 };

/* One entry into C, in ticks of a shared clock. Arriving and entering advance the clock; a waiting
   process only reads it, so that waiting does not slow the others down. */
struct lab_entry {
    uint64_t arriving;  /* before the first step out of R */
    uint64_t arrived;   /* after it */
    uint64_t last_wait; /* before the last step that left it in T; 0 if none did */
    uint64_t entered;   /* after the step into C */
};

/* The results of one process; in the shared memory. */
struct lab_process {
    _Alignas(64) uint64_t cycles;
    uint64_t accesses; /* steps; each is one access of the model */
    uint64_t longest_wait_ns;
    uint32_t stuck;                   /* still in T or E when the run was ended */
    uint32_t entries;                 /* logged */
    uint32_t waits[LAB_WAIT_BUCKETS]; /* waiting times: 16 buckets to each power of two of ns */
    struct lab_entry *log;
};

struct lab_run {
    const struct step_system *system;
    double seconds;
    bool processes; /* forked processes instead of threads */

    /* the results of all runs made with this struct; zero before the first */
    unsigned rounds;
    double elapsed; /* seconds, from the first start to the last end of each run */
    uint64_t cycles, least_cycles, most_cycles;
    uint64_t accesses; /* steps in all cycles together */
    unsigned most_inside;
    unsigned stuck;
    uint64_t overtakings, most_overtaken; /* in all and in one wait, of the logged entries */
    uint64_t logged;
    uint64_t waits[LAB_WAIT_BUCKETS];
    uint64_t median_wait_ns, p99_wait_ns, longest_wait_ns;
};

/* Run once, for run->seconds, and add to the results. 0, or -errno if threads, processes or memory
   cannot be created. */
int lab_run_for_real(struct lab_run *run);

/* LAB_OK, or complain if more than k were inside or a process was stuck: LAB_VIOLATED. */
int lab_run_status(const struct lab_run *run);

/* Count the overtakings in the logs: see overtaken.c. */
void lab_count_overtaken(const struct lab_process *processes, unsigned n, struct lab_run *run);

#endif
