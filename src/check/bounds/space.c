/* The lower bound on shared values: see space.h. */
#include "check/bounds/space.h"

#include "check/explore/instance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* If a process takes more steps than this alone, the schedule counts as not executable. */
enum { MOST_STEPS = 10000 };

uint64_t check_lower_bound(unsigned n, unsigned k)
{
    if (n < k + 2) {
        return 0;
    }
    uint64_t m = n - k - 1;
    return k * (m * (m - 1) / 2) + m;
}

/* Let a process take steps alone until it enters a region. False if it does not. */
static bool run_until(struct check_instance *instance, unsigned process, enum step_region region)
{
    for (unsigned steps = 0; steps < MOST_STEPS; steps++) {
        struct step_access access;
        check_instance_step(instance, process, &access);
        if (check_instance_region(instance, process) == region) {
            return true;
        }
    }
    return false;
}

/* Execute one step that must lead to T. */
static bool step_to_trying(struct check_instance *instance, unsigned process)
{
    struct step_access access;
    check_instance_step(instance, process, &access);
    return check_instance_region(instance, process) == STEP_TRYING;
}

/* h(i,j) of section 5.2. P_1..P_N of the paper are processes 0..N-1 here. */
static bool execute(struct check_instance *instance, unsigned i, unsigned j)
{
    unsigned k = instance->system->k;
    unsigned n = instance->system->n;
    bool ok = true;
    for (unsigned p = 0; p < k && ok; p++) { /* (1) P_1..P_k enter C, the others T */
        ok = run_until(instance, p, STEP_CRITICAL);
    }
    for (unsigned p = k; p < n && ok; p++) {
        ok = step_to_trying(instance, p);
    }
    ok = ok && run_until(instance, 0, STEP_REMAINDER); /* (2) P_1 leaves */
    for (unsigned p = k; p < i && ok; p++) { /* (3) P_{k+1}..P_i go in and out, one by one */
        ok = run_until(instance, p, STEP_CRITICAL) && run_until(instance, p, STEP_REMAINDER);
    }
    for (unsigned p = k; p < j && ok; p++) { /* (4) P_{k+1}..P_j try once more */
        ok = step_to_trying(instance, p);
    }
    return ok;
}

static unsigned count_distinct(const uint64_t *values, unsigned count, unsigned words)
{
    unsigned distinct = 0;
    for (unsigned a = 0; a < count; a++) {
        unsigned b = 0;
        while (b < a && memcmp(values + (size_t)a * words, values + (size_t)b * words,
                               words * sizeof *values) != 0) {
            b++;
        }
        distinct += b == a;
    }
    return distinct;
}

int check_schedules_run(const struct step_system *system, struct check_schedules *schedules)
{
    unsigned most = system->n * system->n;
    struct check_instance *instance = malloc(sizeof *instance);
    uint64_t *values = malloc((size_t)most * system->shared_words * sizeof *values);
    if (instance == NULL || values == NULL) {
        free(instance);
        free(values);
        return -ENOMEM;
    }
    memset(schedules, 0, sizeof *schedules);
    schedules->executable = true;
    for (unsigned i = system->k; i < system->n; i++) {
        for (unsigned j = system->k; j < i && schedules->executable; j++) {
            check_instance_init(instance, system);
            schedules->executable = execute(instance, i, j);
            for (unsigned w = 0; w < system->shared_words; w++) {
                values[(size_t)schedules->tried * system->shared_words + w] =
                    atomic_load(&instance->words[w]);
            }
            schedules->tried++;
        }
    }
    schedules->distinct = count_distinct(values, schedules->tried, system->shared_words);
    free(instance);
    free(values);
    return 0;
}
