/* Count the steps of a passage while no other process runs: see compare.h. */
#include "lab/compare.h"

#include "check/explore/instance.h"

#include <stdlib.h>

enum { PASSAGES = 3, MOST_STEPS = 1000000 };

/* The number of steps of a process until it is in a region; 0 if it never is. A supervisor, if
   there is one, takes a step after each. */
static unsigned steps_to(struct check_instance *instance, unsigned process, enum step_region region,
                         struct lab_alone *alone)
{
    const struct step_system *system = instance->system;
    for (unsigned steps = 1; steps <= MOST_STEPS; steps++) {
        struct step_access access = {.kind = STEP_READ};
        (void)check_instance_step(instance, process, &access);
        alone->updates = alone->updates || access.kind == STEP_UPDATE;
        if (check_instance_region(instance, process) == region) {
            return steps;
        }
        if (system->machine->supervised) {
            (void)check_instance_step(instance, system->n - 1, &access);
        }
    }
    return 0;
}

struct lab_alone lab_alone_of(const struct step_system *system)
{
    struct lab_alone alone = {.comes_in = true};
    struct check_instance *instance = malloc(sizeof *instance);
    if (instance == NULL) {
        return (struct lab_alone){.comes_in = false};
    }
    for (unsigned process = 0; process < system->workers && alone.comes_in; process++) {
        check_instance_init(instance, system);
        for (unsigned passage = 0; passage < PASSAGES && alone.comes_in; passage++) {
            unsigned enter = steps_to(instance, process, STEP_CRITICAL, &alone);
            unsigned leave = enter == 0 ? 0 : steps_to(instance, process, STEP_REMAINDER, &alone);
            alone.comes_in = leave != 0;
            if (alone.comes_in && enter + leave > alone.enter + alone.leave) {
                alone.enter = enter;
                alone.leave = leave;
            }
        }
    }
    free(instance);
    return alone;
}
