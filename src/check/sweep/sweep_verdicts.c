/* Which systems can be swept, and the verdicts of a sweep: see sweep.h. */
#include "check/sweep/sweep.h"

#include <string.h>

const char *check_sweep_refusal(const struct step_system *system)
{
    const struct step_machine *machine = system->machine;
    const struct step_limits *limits = &system->limits;
    if (machine->stage == NULL || machine->phase == NULL || machine->judged == NULL ||
        machine->busy == NULL || machine->wrong == NULL) {
        return "does not tell which of its values only grow";
    }
    if (limits->tag_bits != 0) {
        return "has words that repeat (--tag-bits), so no value only grows";
    }
    if (limits->pauses != 0 || limits->buffer != 0) {
        return "has events that a sweep does not explore (--pauses, --buffer)";
    }
    return system->n > CHECK_SWEEP_PROCESSES ? "has more than 5 processes" : NULL;
}

/* Decide a property that the sweep judges under the name `violated`. */
static void decide(struct check_result *result, const struct check_sweep *sweep,
                   const char *violated, uint64_t tested)
{
    *result = (struct check_result){.tested = tested};
    if (sweep->violated != NULL && strcmp(sweep->violated, violated) == 0) {
        result->verdict = CHECK_VIOLATED;
        result->why = sweep->why;
    } else if (sweep->complete) {
        result->verdict = CHECK_HOLDS;
    } else {
        result->why = sweep->violated != NULL ? "the first violation ended the sweep"
                                              : "the sweep did not fit the memory limit";
    }
}

/* Lockout, and what it implies. */
static void decide_lockout(struct check_result *results, const struct check_sweep *sweep)
{
    static const enum step_property implied[] = {STEP_PROGRESS, STEP_STARVATION};
    decide(&results[STEP_LOCKOUT], sweep, "lockout", sweep->loops);
    for (unsigned i = 0; i < sizeof implied / sizeof implied[0]; i++) {
        results[implied[i]] = results[STEP_LOCKOUT];
        if (results[STEP_LOCKOUT].verdict == CHECK_VIOLATED) {
            results[implied[i]] =
                (struct check_result){.why = "lockout is violated: this may hold or not"};
        }
    }
}

void check_sweep_report(const struct step_system *system, const struct check_sweep *sweep,
                        struct check_report *report, struct check_result *solo)
{
    static const enum step_property if_promised[] = {STEP_EXCLUSION, STEP_C1, STEP_PROGRESS,
                                                     STEP_LOCKOUT, STEP_STARVATION};
    struct check_result *results = report->results;
    memset(report, 0, sizeof *report);
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        results[p].why = "a sweep does not decide it";
    }
    for (unsigned i = 0; i < sizeof if_promised / sizeof if_promised[0]; i++) {
        results[if_promised[i]].why = "a sweep decides it only if it is promised";
    }
    if (system->claims & STEP_CLAIM(STEP_EXCLUSION)) {
        decide(&results[STEP_EXCLUSION], sweep, "exclusion", sweep->full_states);
        results[STEP_C1] = results[STEP_EXCLUSION];
    }
    if (system->claims & STEP_CLAIM(STEP_LOCKOUT)) {
        decide_lockout(results, sweep);
    }
    decide(&results[STEP_INVARIANT], sweep, "invariant", sweep->states);
    decide(solo, sweep, CHECK_SWEEP_SOLO, sweep->states);
}
