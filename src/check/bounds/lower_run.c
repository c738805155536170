/* A run that can be copied, and steps of single processes in it: see lower.h. */
#include "check/bounds/lower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most steps that a process may need alone. The workers of an eliminated supervisor need most:
   alone, a worker sends whole states bit by bit. */
enum { MOST_STEPS = 1 << 18 };

void check_run_init(struct check_run *run, const struct step_system *system)
{
    memset(run, 0, sizeof *run);
    check_instance_init(&run->at, system);
}

/* Schedules are long and copied often: copy them with memcpy. */
static int copy_schedule(struct check_schedule *to, const struct check_schedule *from)
{
    if (to->capacity < from->length) {
        uint8_t *grown = realloc(to->steps, 2 * from->length);
        if (grown == NULL) {
            return -ENOMEM;
        }
        to->steps = grown;
        to->capacity = 2 * from->length;
    }
    to->length = from->length;
    if (from->length > 0) {
        memcpy(to->steps, from->steps, from->length);
    }
    return 0;
}

int check_run_copy(struct check_run *to, const struct check_run *from)
{
    const struct step_system *system = from->at.system;
    to->at.system = system;
    for (unsigned w = 0; w < system->shared_words; w++) {
        atomic_store(&to->at.words[w], atomic_load(&from->at.words[w]));
    }
    memcpy(to->at.states, from->at.states, (size_t)system->n * system->private_bytes);
    to->error = from->error != 0 ? from->error : copy_schedule(&to->made, &from->made);
    return to->error;
}

void check_run_free(struct check_run *run)
{
    check_schedule_free(&run->made);
}

enum step_region check_run_step(struct check_run *run, unsigned process)
{
    struct step_access access;
    check_instance_step(&run->at, process, &access);
    if (run->error == 0) {
        run->error = check_schedule_add(&run->made, process);
    }
    return check_instance_region(&run->at, process);
}

bool check_run_until(struct check_run *run, unsigned process, enum step_region region)
{
    for (unsigned steps = 0; steps < MOST_STEPS; steps++) {
        if (check_run_step(run, process) == region) {
            return true;
        }
    }
    return false;
}

bool check_run_cycles(struct check_run *run, unsigned process, unsigned times)
{
    bool ok = true;
    for (unsigned cycle = 0; cycle < times && ok; cycle++) {
        ok = (cycle == 0 || check_run_until(run, process, STEP_REMAINDER)) &&
             check_run_until(run, process, STEP_CRITICAL);
    }
    return ok;
}
