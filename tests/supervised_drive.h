/*
 * Drive a system of workers and a supervisor step by step, and check every step: C1, the order of
 * enabling, (R1) to (R6) and (R8), and the system's own invariants. Then stop some workers for good
 * and check that the others get as far as C2 demands.
 */
#ifndef USHER_TESTS_SUPERVISED_DRIVE_H
#define USHER_TESTS_SUPERVISED_DRIVE_H

#include "papers/supervised.h"

enum { DRIVE_WORKERS = 32 };

struct drive {
    const struct supervised *subject;
    struct supervised_size size;
    _Alignas(8) unsigned char value[SUPERVISED_VALUE_BYTES];
    _Alignas(8) unsigned char supervisor[SUPERVISED_SUPERVISOR_BYTES];
    _Alignas(8) unsigned char workers[DRIVE_WORKERS * SUPERVISED_WORKER_BYTES];
    unsigned long arrived[DRIVE_WORKERS]; /* time of arrival; 0: not in T */
    bool able[DRIVE_WORKERS];             /* in T, and its next step leads to C */
    unsigned long steps, entered, random;
    unsigned most_bits;
    bool in_order; /* check FIFO enabling */
    void (*watch)(struct drive *drive, void *context);
    void *context;
};

void drive_init(struct drive *drive, const struct supervised *subject,
                const struct supervised_size *size, unsigned long seed);

/* A number below `bound`; 0 if that is 0. */
unsigned drive_random(struct drive *drive, unsigned bound);

void *drive_worker(struct drive *drive, unsigned process);
enum step_region drive_region(struct drive *drive, unsigned process);

/* Take one step of a worker, or of the supervisor, process n. Return NULL, or the fault. */
const char *drive_step(struct drive *drive, unsigned process);

/* Take `steps` steps, with sleeping workers, bursts, and a supervisor that is slow or fast in
   turn. */
const char *drive_adversely(struct drive *drive, unsigned long steps);

/* Stop up to r-1 processes in T, at random. Let the others run in turn: none leaves R, and those in
   C leave. Return NULL if in the end every waiting process is able to enter, or k are: C2. */
const char *drive_to_rest(struct drive *drive);

#endif
