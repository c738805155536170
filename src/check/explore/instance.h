/* One run of a system, step by step, with its true (not canonical) values. */
#ifndef USHER_CHECK_INSTANCE_H
#define USHER_CHECK_INSTANCE_H

#include "step/step.h"

struct check_instance {
    const struct step_system *system;
    _Atomic uint64_t words[STEP_MAX_SHARED_WORDS];
    _Alignas(8) unsigned char states[STEP_MAX_PROCESSES * STEP_MAX_PRIVATE_BYTES];
};

/* A copy of a whole state in canonical form, to compare with another. */
struct check_snapshot {
    uint64_t words[STEP_MAX_SHARED_WORDS];
    _Alignas(8) unsigned char states[STEP_MAX_PROCESSES * STEP_MAX_PRIVATE_BYTES];
};

void check_instance_init(struct check_instance *instance, const struct step_system *system);

/* Execute a label (explore.h): a step, with its access in *access, or an event. False if the event
   cannot happen. */
bool check_instance_step(struct check_instance *instance, unsigned label,
                         struct step_access *access);

enum step_region check_instance_region(struct check_instance *instance, unsigned process);

/* The number of processes in C. */
unsigned check_instance_critical(struct check_instance *instance);

void check_instance_snapshot(struct check_instance *instance, struct check_snapshot *snapshot);

#endif
