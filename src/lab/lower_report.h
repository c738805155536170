/* The lower bounds of the 1979 report for a machine, as usher-lab space prints them. */
#ifndef USHER_LAB_LOWER_H
#define USHER_LAB_LOWER_H

#include "check/bounds/conditions.h"

#include <jansson.h>

struct lab_lower {
    struct check_conditions conditions;
    struct {
        const char *lacks; /* why the theorem does not apply (then nothing was executed), or NULL */
        struct check_lower found;
        struct check_refutation refutation; /* if two states have one value */
    } theorems[CHECK_THEOREMS];
};

/* Execute the schedules of every theorem that applies under `conditions`. 0 or -ENOMEM; free it in
   either case. */
int lab_lower_find(const struct step_system *system, const struct check_conditions *conditions,
                   struct lab_lower *lower);
void lab_lower_free(struct lab_lower *lower);

/* Does a theorem apply whose states cannot be reached or do not all differ? */
bool lab_lower_fails(const struct lab_lower *lower);

void lab_lower_show(const struct step_system *system, const struct lab_lower *lower);

/* An array, an object for each theorem. */
json_t *lab_lower_json(const struct step_system *system, const struct lab_lower *lower);

#endif
