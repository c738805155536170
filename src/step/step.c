/* The parts of the step interface that are not inline: see step.h. */
#include "step/step.h"

#include "step/wide.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

int step_system_init(struct step_system *system, const struct step_machine *machine, unsigned n,
                     unsigned k, unsigned robustness, char why[STEP_WHY_BYTES])
{
    return step_system_init_with(system, machine, n, k, robustness, NULL, why);
}

int step_system_init_with(struct step_system *system, const struct step_machine *machine,
                          unsigned n, unsigned k, unsigned robustness,
                          const struct step_limits *limits, char why[STEP_WHY_BYTES])
{
    memset(system, 0, sizeof *system);
    *system = (struct step_system){.machine = machine,
                                   .n = n + machine->supervised,
                                   .workers = n,
                                   .k = k,
                                   .robustness = robustness == 0 ? k : robustness};
    if (limits != NULL) {
        system->limits = *limits;
    }
    if (n < 1 || system->n > STEP_MAX_PROCESSES) {
        (void)snprintf(why, STEP_WHY_BYTES, "n must be from 1 to %d",
                       STEP_MAX_PROCESSES - machine->supervised);
        return -1;
    }
    if (k < 1) {
        (void)snprintf(why, STEP_WHY_BYTES, "k must be at least 1");
        return -1;
    }
    return machine->prepare(system, why);
}

const char *step_property_name(enum step_property property)
{
    static const char *const names[STEP_PROPERTIES] = {
        [STEP_EXCLUSION] = "exclusion",
        [STEP_DEADLOCK] = "deadlock",
        [STEP_FIFO] = "fifo",
        [STEP_C1] = "C1",
        [STEP_C2] = "C2",
        [STEP_C4] = "C4'",
        [STEP_C5] = "C5'",
        [STEP_C6] = "C6",
        [STEP_PROGRESS] = "progress",
        [STEP_LOCKOUT] = "lockout",
        [STEP_STARVATION] = "starvation",
        [STEP_INVARIANT] = "invariant",
        [STEP_OVERTAKINGS] = "overtakings",
        [STEP_PROMPT] = "prompt",
        [STEP_FIRST_IN] = "first-in",
        [STEP_FIRST_ENABLED] = "first-enabled",
    };
    return (unsigned)property < STEP_PROPERTIES ? names[property] : NULL;
}

char step_region_letter(enum step_region region)
{
    return "RTCE"[region];
}

void step_update(const struct step_system *system, struct step_memory *memory, unsigned word,
                 step_delta *delta, void *state, unsigned process)
{
    _Alignas(8) unsigned char next[STEP_MAX_PRIVATE_BYTES];
    uint64_t before = atomic_load(&memory->words[word]);
    uint64_t after;
    do {
        memcpy(next, state, system->private_bytes);
        after = delta(system, before, next, process);
    } while (!atomic_compare_exchange_weak(&memory->words[word], &before, after));
    memcpy(state, next, system->private_bytes);
    step__note(memory, STEP_UPDATE, word, before, after);
}

/* Record, of a variable of many words, the first word that changes. */
static void note_all(struct step_memory *memory, unsigned words, const uint64_t *before,
                     const uint64_t *after)
{
    unsigned changed = 0;
    while (changed + 1 < words && before[changed] == after[changed]) {
        changed++;
    }
    step__note(memory, STEP_UPDATE, changed, before[changed], after[changed]);
}

void step_update_all(const struct step_system *system, struct step_memory *memory,
                     step_wide_delta *delta, void *state, unsigned process)
{
    uint64_t before[STEP_MAX_SHARED_WORDS];
    uint64_t after[STEP_MAX_SHARED_WORDS];
    const unsigned words = system->shared_words;
    assert(words > 0);
    if (memory->wide != NULL) {
        step_wide_update(system, memory->wide, delta, state, process);
        return;
    }
    for (unsigned w = 0; w < words; w++) {
        before[w] = after[w] = atomic_load(&memory->words[w]);
    }
    delta(system, after, state, process);
    for (unsigned w = 0; w < words; w++) {
        atomic_store(&memory->words[w], after[w]);
    }
    note_all(memory, words, before, after);
}
