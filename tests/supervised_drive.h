/*
 * Drive a system of workers and a supervisor, step by step, and judge every step: C1, the order of
 * enabling, (R1) to (R6) and (R8), and what the system itself says of its states. Then stop some
 * workers for good and see that the others get as far as C2 demands.
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
    unsigned long arrived[DRIVE_WORKERS]; /* when; 0: not in T */
    bool able[DRIVE_WORKERS];             /* in T, and in C with its next step */
    unsigned long steps, entered, random;
    unsigned most_bits;
    bool in_order; /* FIFO enabling is demanded */
    void (*watch)(struct drive *drive, void *context);
    void *context;
};

void drive_init(struct drive *drive, const struct supervised *subject,
                const struct supervised_size *size, unsigned long seed);

/* A number below `bound`; 0 if that is 0. */
unsigned drive_random(struct drive *drive, unsigned bound);

void *drive_worker(struct drive *drive, unsigned process);
enum step_region drive_region(struct drive *drive, unsigned process);

/* One step of a worker, or of the supervisor, who is number n. NULL, or what is wrong. */
const char *drive_step(struct drive *drive, unsigned process);

/* So many steps, with sleepers, bursts, and a supervisor that is now slow, now fast. */
const char *drive_adversely(struct drive *drive, unsigned long steps);

/* Stop up to r-1 who are in T, at random; let the others run in turns, nobody come, and whoever is
   in C leave. NULL if in the end nobody waits who is not able to enter, or k are: C2. */
const char *drive_to_rest(struct drive *drive);

#endif
