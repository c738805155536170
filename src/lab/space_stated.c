/* The shared space that a machine states: see space_stated.h. */
#include "lab/space_stated.h"

#include <math.h>

static double formula_of(const struct step_system *system)
{
    const struct step_machine *machine = system->machine;
    if (machine->space->formula != NULL) {
        return machine->space->formula(system);
    }
    double bound = machine->bound != NULL ? machine->bound(system) : 0;
    return bound > 0 ? log2(bound) : 0;
}

struct lab_space lab_space_of(const struct step_system *system)
{
    const struct step_machine *machine = system->machine;
    struct lab_space space = {.stated = machine->space != NULL};
    if (!space.stated) {
        return space;
    }
    for (unsigned word = 0; word < system->shared_words; word++) {
        space.bits += machine->space->bits(system, word);
    }
    space.unbounded = machine->unbounded;
    space.formula = formula_of(system);
    /* rounding may leave a sum of logarithms slightly above a whole number */
    space.agree =
        !space.unbounded && space.formula > 0 && (unsigned)ceil(space.formula - 1e-9) == space.bits;
    return space;
}
