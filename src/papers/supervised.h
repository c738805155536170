/*
 * Systems of workers and a supervisor (Fischer, Lynch, Burns, Borodin, 1979, section 4.3), with the
 * information that the construction of Lemma 4.3 needs to eliminate the supervisor.
 *
 * Workers and supervisor share one variable, the value. One step, LOCK .. UNLOCK, reads and writes
 * the value and the private state of the process that takes the step. Workers have regions. The
 * supervisor has none and never fails.
 *
 * The report's l is k here, and its k is r, the robustness: fewer than r workers fail.
 *
 * A struct supervised describes a system. Two machines are built from it: in supervised.c the
 * supervisor is a process of its own; in eliminated.c there is none.
 */
#ifndef USHER_PAPERS_SUPERVISED_H
#define USHER_PAPERS_SUPERVISED_H

#include "step/step.h"

enum {
    SUPERVISED_VALUE_BYTES = 256,     /* limit of a value */
    SUPERVISED_WORKER_BYTES = 64,     /* limit of a worker's private state */
    SUPERVISED_SUPERVISOR_BYTES = 256 /* limit of the supervisor's state */
};

/* Which workers may help to keep the supervisor's state: the report's sets H, Q and D. */
enum supervised_eligibility { SUPERVISED_HELPER, SUPERVISED_QUITTER, SUPERVISED_DRONE };

struct supervised_size {
    unsigned n; /* workers */
    unsigned k; /* seats */
    unsigned r; /* robustness */
    unsigned variant;
};

/* Unused bytes are zero in every state, because states are compared as bytes. */
struct supervised {
    /* Return 0, or -1 with a sentence in `why`. */
    int (*prepare)(const struct supervised_size *size, char why[STEP_WHY_BYTES]);
    unsigned value_bytes, worker_bytes, supervisor_bytes; /* each a multiple of 8 */
    unsigned claims; /* properties that the report promises: STEP_CLAIM bits */

    /* Write the initial value and the supervisor's initial state; a worker's initial state is
       zero. */
    void (*init)(const struct supervised_size *size, void *value, void *supervisor);

    void (*work)(const struct supervised_size *size, void *value, void *worker, unsigned process);
    enum step_region (*region)(const struct supervised_size *size, const void *worker);

    /* The supervisor's step in two halves. `transition` applies the step to the value and returns a
       number less than `transitions`: which of its possible next states the supervisor goes to. It
       is newval and transno of the report in one, so that transno sees the value before the step.
       `follow` moves the supervisor's state there, from the number alone: newstate. */
    unsigned (*transition)(const struct supervised_size *size, void *value, const void *supervisor);
    void (*follow)(const struct supervised_size *size, void *supervisor, unsigned transition);
    unsigned (*transitions)(const struct supervised_size *size, const void *supervisor); /* c3 */

    /* Conditions (R2), (R5) and (R6): the class of a worker; the number of processes in T; and c1,
       up to which number in T the supervisor's state is kept in shared memory. */
    enum supervised_eligibility (*eligibility)(const struct supervised_size *size,
                                               const void *value, const void *worker);
    unsigned (*active)(const struct supervised_size *size, const void *value,
                       const void *supervisor);
    unsigned (*threshold)(const struct supervised_size *size);

    /* The supervisor's state as a string of bits, one in each byte of `bits`, and back. `encode`
       returns the length. States may have different lengths, at most `most_bits`. */
    unsigned (*encode)(const struct supervised_size *size, const void *supervisor,
                       unsigned char *bits);
    void (*decode)(const struct supervised_size *size, const unsigned char *bits, unsigned length,
                   void *supervisor);
    unsigned (*most_bits)(const struct supervised_size *size);

    /* The fault in a state, or NULL; `workers` is n states, one after the other. */
    const char *(*wrong)(const struct supervised_size *size, const void *value, const void *workers,
                         const void *supervisor);

    /* Print the value, with the contract of snprintf. */
    int (*print)(const struct supervised_size *size, const void *value, char *out, size_t bytes);
};

/* The size of a machine whose subject is a struct supervised. */
struct supervised_size supervised_size_of(const struct step_system *system);

/* Members of a step machine whose subject is a struct supervised, with the supervisor as its last
   process; machine.wide and machine.supervised are true. `wrong` checks (R3) to (R6), and the
   subject's own `wrong`. */
int supervised_prepare(struct step_system *system, char why[STEP_WHY_BYTES]);
void supervised_init(const struct step_system *system, uint64_t *words);
void supervised_step(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process);
enum step_region supervised_region(const struct step_system *system, const void *state);
const char *supervised_wrong(const struct step_system *system, const uint64_t *words,
                             const void *states);
int supervised_print_all(const struct step_system *system, const uint64_t *words, char *out,
                         size_t size);

/* Split the private states of that machine: `workers` gets n states, one after the other. */
void supervised_split(const struct step_system *system, const void *states, void *workers,
                      void *supervisor);

#endif
