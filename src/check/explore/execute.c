/* Execute one step on a copy of a state: see execute.h. */
#include "check/explore/execute.h"

#include "check/explore/reduce.h"

bool check_execute(const struct check_graph *graph, uint32_t state, unsigned label,
                   struct check_unpacked *u, struct step_access *access, struct check_seen *parts,
                   int *error)
{
    const struct step_system *system = graph->system;
    unsigned process = check_label_process(system, label);
    unsigned event = check_label_event(system, label);
    void *own = step_state_of(system, u->states, process);
    _Atomic uint64_t shared[STEP_MAX_SHARED_WORDS];
    struct step_memory memory = {.words = shared, .access = access};
    bool happens = true;
    check_seen_get(&graph->seen, state, u->words, u->states);
    for (unsigned i = 0; i < system->shared_words; i++) {
        atomic_init(&shared[i], u->words[i]);
    }
    if (event == 0) {
        system->machine->step(system, &memory, own, process);
    } else {
        happens = system->machine->event(system, &memory, own, process, event);
    }
    if (graph->options.reduced && event == 0) {
        *error = check_reduce_run(system, &memory, own, process, parts);
    }
    for (unsigned i = 0; i < system->shared_words; i++) {
        u->words[i] =
            atomic_load_explicit(&shared[i], memory_order_relaxed); /* no other thread has it */
    }
    if (system->machine->rebase != NULL) {
        system->machine->rebase(system, u->words, u->states);
    }
    return happens;
}

uint32_t check_successor(struct check_graph *graph, uint32_t state, unsigned label)
{
    struct check_seen *seen = &graph->seen;
    uint64_t key[CHECK_KEY_WORDS] = {0};
    struct check_unpacked u;
    uint32_t number;
    if (!graph->options.only_exclusion) {
        return check_edge(graph, state, label);
    }
    int error = 0;
    if (!check_execute(graph, state, label, &u, NULL, NULL, &error)) {
        return CHECK_NO_STATE;
    }
    /* All parts of a successor were numbered when its predecessor was expanded. */
    for (unsigned i = 0; i <= graph->system->n; i++) {
        if (check_parts_number(seen, i == 0 ? &seen->shared : &seen->private,
                               i == 0 ? (void *)u.words
                                      : step_state_of(graph->system, u.states, i - 1),
                               &number) != 0) {
            return CHECK_NO_STATE;
        }
        check_seen_set_part(seen, key, i, number);
    }
    return check_seen_find(seen, key, check_seen_hash(seen, key));
}
