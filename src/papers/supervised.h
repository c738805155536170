/*
 * Systems of workers and a supervisor (Fischer, Lynch, Burns, Borodin, 1979, section 4.3), and what
 * the construction of Lemma 4.3 needs to know of one to do without its supervisor.
 *
 * Workers and supervisor share one variable, the value. One step, LOCK .. UNLOCK, reads it and
 * writes it together with the private state of the one who steps. Workers have regions, the
 * supervisor has none and never fails.
 *
 * The report's l is k here, as everywhere, and its k is r, the robustness: fewer than r workers
 * fail.
 *
 * A system is described once, by a struct supervised. Two machines are made of it: one in which the
 * supervisor is a process of its own (supervised.c), and one without it (eliminated.c).
 */
#ifndef USHER_PAPERS_SUPERVISED_H
#define USHER_PAPERS_SUPERVISED_H

#include "step/step.h"

enum {
    SUPERVISED_VALUE_BYTES = 256,     /* the most of a value, */
    SUPERVISED_WORKER_BYTES = 64,     /* of a worker's private state, */
    SUPERVISED_SUPERVISOR_BYTES = 256 /* and of the supervisor's */
};

/* Who may help to keep the supervisor's state: the sets H, Q and D of the report. */
enum supervised_eligibility { SUPERVISED_HELPER, SUPERVISED_QUITTER, SUPERVISED_DRONE };

struct supervised_size {
    unsigned n; /* workers */
    unsigned k; /* seats */
    unsigned r; /* robustness */
    unsigned variant;
};

/* Bytes that a system does not use are zero, in every state: states are compared as they lie. */
struct supervised {
    /* 0, or -1 with a sentence in `why`. */
    int (*prepare)(const struct supervised_size *size, char why[STEP_WHY_BYTES]);
    unsigned value_bytes, worker_bytes, supervisor_bytes; /* each a multiple of 8 */
    unsigned claims;                                      /* what the report promises: STEP_CLAIM */

    /* The first value and the supervisor's first state; a worker's first state is zero. */
    void (*init)(const struct supervised_size *size, void *value, void *supervisor);

    void (*work)(const struct supervised_size *size, void *value, void *worker, unsigned process);
    enum step_region (*region)(const struct supervised_size *size, const void *worker);

    /* The supervisor's step in two halves. `transition` says by a small number, less than
       `transitions`, which of its possible next states it goes to: newval and transno of the
       report in one, so that transno sees the value as it was before. `follow` makes the supervisor
       go there, knowing nothing else: newstate. */
    unsigned (*transition)(const struct supervised_size *size, void *value, const void *supervisor);
    void (*follow)(const struct supervised_size *size, void *supervisor, unsigned transition);
    unsigned (*transitions)(const struct supervised_size *size, const void *supervisor); /* c3 */

    /* Conditions (R2), (R5) and (R6): which class a worker is in, how many are in T, and up to how
       many there the supervisor's state is kept in shared memory: c1. */
    enum supervised_eligibility (*eligibility)(const struct supervised_size *size,
                                               const void *value, const void *worker);
    unsigned (*active)(const struct supervised_size *size, const void *value,
                       const void *supervisor);
    unsigned (*threshold)(const struct supervised_size *size);

    /* The supervisor's state as a string of bits, one in each byte of `bits`, and back. Returns the
       length; different states may have different lengths, none more than `most_bits`. */
    unsigned (*encode)(const struct supervised_size *size, const void *supervisor,
                       unsigned char *bits);
    void (*decode)(const struct supervised_size *size, const unsigned char *bits, unsigned length,
                   void *supervisor);
    unsigned (*most_bits)(const struct supervised_size *size);

    /* What is wrong with a state, or NULL; `workers` is n states, one after the other. */
    const char *(*wrong)(const struct supervised_size *size, const void *value, const void *workers,
                         const void *supervisor);

    /* The value for people, as snprintf does. */
    int (*print)(const struct supervised_size *size, const void *value, char *out, size_t bytes);
};

/* The size at which a machine runs whose subject is a struct supervised. */
struct supervised_size supervised_size_of(const struct step_system *system);

/* The functions of a step machine whose subject is a struct supervised, with the supervisor as its
   last process; machine.wide and machine.supervised are true. A state is wrong if (R3) to (R6) do
   not hold in it, or in the subject's own eyes. */
int supervised_prepare(struct step_system *system, char why[STEP_WHY_BYTES]);
void supervised_init(const struct step_system *system, uint64_t *words);
void supervised_step(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process);
enum step_region supervised_region(const struct step_system *system, const void *state);
const char *supervised_wrong(const struct step_system *system, const uint64_t *words,
                             const void *states);
int supervised_print_all(const struct step_system *system, const uint64_t *words, char *out,
                         size_t size);

/* Take the private states of that machine apart: `workers` gets n states, one after the other. */
void supervised_split(const struct step_system *system, const void *states, void *workers,
                      void *supervisor);

#endif
