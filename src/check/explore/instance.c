/* One run of a system: see instance.h. */
#include "check/explore/instance.h"

#include <string.h>

void check_instance_init(struct check_instance *instance, const struct step_system *system)
{
    uint64_t words[STEP_MAX_SHARED_WORDS] = {0};
    memset(instance, 0, sizeof *instance);
    instance->system = system;
    system->machine->init(system, words);
    for (unsigned i = 0; i < system->shared_words; i++) {
        atomic_init(&instance->words[i], words[i]);
    }
}

bool check_instance_step(struct check_instance *instance, unsigned label,
                         struct step_access *access)
{
    const struct step_system *system = instance->system;
    struct step_memory memory = {.words = instance->words, .access = access};
    unsigned process = label % system->n;
    void *own = step_state_of(system, instance->states, process);
    memset(access, 0, sizeof *access);
    if (label >= system->n) {
        return system->machine->event(system, &memory, own, process, label / system->n);
    }
    system->machine->step(system, &memory, own, process);
    return true;
}

enum step_region check_instance_region(struct check_instance *instance, unsigned process)
{
    const struct step_system *system = instance->system;
    return system->machine->region(system, step_state_of(system, instance->states, process));
}

unsigned check_instance_critical(struct check_instance *instance)
{
    unsigned critical = 0;
    for (unsigned i = 0; i < instance->system->workers; i++) {
        critical += check_instance_region(instance, i) == STEP_CRITICAL;
    }
    return critical;
}

void check_instance_snapshot(struct check_instance *instance, struct check_snapshot *snapshot)
{
    const struct step_system *system = instance->system;
    memset(snapshot, 0, sizeof *snapshot);
    for (unsigned i = 0; i < system->shared_words; i++) {
        snapshot->words[i] = atomic_load(&instance->words[i]);
    }
    memcpy(snapshot->states, instance->states, (size_t)system->n * system->private_bytes);
    if (system->machine->rebase != NULL) {
        system->machine->rebase(system, snapshot->words, snapshot->states);
    }
}
