/* Print the lower bounds of the 1979 report for a machine: see lower_report.h. */
#include "lab/lower_report.h"

#include "lab/lab.h"

#include <string.h>

int lab_lower_find(const struct step_system *system, const struct check_conditions *conditions,
                   struct lab_lower *lower)
{
    int error = 0;
    memset(lower, 0, sizeof *lower);
    lower->conditions = *conditions;
    for (unsigned t = 0; t < CHECK_THEOREMS && error == 0; t++) {
        enum check_theorem theorem = (enum check_theorem)t;
        struct check_lower *found = &lower->theorems[t].found;
        lower->theorems[t].lacks = check_theorem_lacks(theorem, system, conditions);
        if (lower->theorems[t].lacks == NULL) {
            error = check_lower_run(theorem, system, found);
        }
        if (error == 0 && found->distinct < found->states) {
            error = check_lower_refute(theorem, system, found, &lower->theorems[t].refutation);
        }
    }
    return error;
}

void lab_lower_free(struct lab_lower *lower)
{
    for (unsigned t = 0; t < CHECK_THEOREMS; t++) {
        check_schedule_free(&lower->theorems[t].refutation.trace);
    }
}

static bool fails(const struct lab_lower *lower, unsigned t)
{
    const struct check_lower *found = &lower->theorems[t].found;
    return lower->theorems[t].lacks == NULL &&
           (!found->executable || found->distinct < found->states);
}

bool lab_lower_fails(const struct lab_lower *lower)
{
    bool any = false;
    for (unsigned t = 0; t < CHECK_THEOREMS; t++) {
        any = any || fails(lower, t);
    }
    return any;
}

/* Print "q(2,1)", and for Theorem 5.2 the number of seats held for ever. */
static void show_place(struct check_place place)
{
    (void)printf("q(%u,%u)", place.i, place.j);
    if (place.held > 0) {
        (void)printf(" with %u held", place.held);
    }
}

static void show_refutation(const struct step_system *system, const struct check_lower *found,
                            const struct check_refutation *refutation)
{
    enum { MOST_TEXT = 4096 };
    char text[MOST_TEXT];
    (void)printf("%22s", "");
    show_place(found->same[0]);
    (void)printf(" and ");
    show_place(found->same[1]);
    (void)printf(" have one value");
    if (!refutation->refuted) {
        (void)printf("\n");
    } else if (refutation->property == STEP_EXCLUSION) {
        (void)printf(": %u are in C after\n%22s%s\n", system->k + 1, "",
                     lab_schedule_text(system, &refutation->trace, text, sizeof text));
    } else {
        (void)printf(": %u stays in T while %u enters again and again in\n%22s%s\n",
                     refutation->waiter + 1, refutation->other + 1, "",
                     lab_schedule_text(system, &refutation->trace, text, sizeof text));
    }
}

void lab_lower_show(const struct step_system *system, const struct lab_lower *lower)
{
    (void)printf("  conditions of 1979  %s\n",
                 lower->conditions.decided ? "decided" : "taken as promised, not decided");
    for (unsigned t = 0; t < CHECK_THEOREMS; t++) {
        const struct check_lower *found = &lower->theorems[t].found;
        enum check_theorem theorem = (enum check_theorem)t;
        (void)printf("  Theorem %s         ", check_theorem_name(theorem));
        if (lower->theorems[t].lacks != NULL) {
            (void)printf("does not apply: %s\n", lower->theorems[t].lacks);
            continue;
        }
        (void)printf("%llu = %s values or more; ",
                     (unsigned long long)check_theorem_bound(theorem, system->n, system->k),
                     check_theorem_formula(theorem));
        if (!found->executable) {
            (void)printf("its schedules cannot be executed\n");
            continue;
        }
        (void)printf("%u of %u states differ\n", found->distinct, found->states);
        if (found->distinct < found->states) {
            show_refutation(system, found, &lower->theorems[t].refutation);
        }
    }
}

static json_t *place_json(struct check_place place)
{
    return json_pack("{s:i, s:i, s:i}", "held", (int)place.held, "i", (int)place.i, "j",
                     (int)place.j);
}

/* Add what was executed to the object of a theorem that applies. */
static void add_found(json_t *object, const struct step_system *system,
                      const struct check_lower *found, const struct check_refutation *refutation)
{
    (void)json_object_set_new(object, "executable", json_boolean(found->executable));
    (void)json_object_set_new(object, "states", json_integer(found->states));
    (void)json_object_set_new(object, "distinct", json_integer(found->distinct));
    if (found->distinct == found->states) {
        return;
    }
    (void)json_object_set_new(
        object, "same",
        json_pack("[o, o]", place_json(found->same[0]), place_json(found->same[1])));
    if (refutation->refuted) {
        bool crowded = refutation->property == STEP_EXCLUSION;
        (void)json_object_set_new(object, "violates",
                                  json_string(crowded ? "exclusion" : "waiting"));
        (void)json_object_set_new(object, "trace", lab_schedule_json(system, &refutation->trace));
    }
}

json_t *lab_lower_json(const struct step_system *system, const struct lab_lower *lower)
{
    json_t *array = json_array();
    for (unsigned t = 0; t < CHECK_THEOREMS; t++) {
        enum check_theorem theorem = (enum check_theorem)t;
        const char *lacks = lower->theorems[t].lacks;
        uint64_t bound = lacks != NULL ? 0 : check_theorem_bound(theorem, system->n, system->k);
        json_t *object = json_pack("{s:s, s:b, s:b, s:s?, s:o}", "theorem",
                                   check_theorem_name(theorem), "applies", lacks == NULL, "decided",
                                   lower->conditions.decided, "why_not", lacks, "bound",
                                   lacks == NULL ? json_integer((json_int_t)bound) : json_null());
        if (lacks == NULL) {
            add_found(object, system, &lower->theorems[t].found, &lower->theorems[t].refutation);
        }
        (void)json_array_append_new(array, object);
    }
    return array;
}
