/*
 * Breadth-first exploration: see explore.h.
 *
 * A step is a function of the shared memory and one private state. The memo keeps its result for
 * each pair of part numbers, so most steps are not executed again: what remains is packing the new
 * key and looking it up. The lookup is a cache miss, so states are expanded in batches: pack all
 * keys of a batch, prefetch their slots, then look them up.
 */
#include "check/explore/execute.h"
#include "check/explore/progress.h"
#include "check/explore/reduce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, MEMO_BITS = 17 };

struct memo {
    uint64_t from; /* process, shared and private part, + 1; 0: empty */
    uint32_t shared, private;
};

/* One step of a batch: the parts it leads to, and where to look for the new state. */
struct found {
    uint32_t shared, private;
    uint64_t hash;
};

struct explorer {
    struct check_graph *graph;
    struct memo *memo;
    struct found *found; /* n for each state of a batch */
    uint64_t *keys;      /* the key of each */
    uint32_t *parts;     /* all private parts of each; kept if a rebase may change them all */
    uint8_t *region_of;  /* of each private part */
    size_t region_capacity;
    uint32_t regions_known;
};

/* Store the regions of the private parts numbered since the last call. */
static int learn_regions(struct explorer *e)
{
    struct check_graph *graph = e->graph;
    const struct check_parts *parts = &graph->seen.private;
    if (check_budget_grow(&graph->budget, (void **)&e->region_of, &e->region_capacity, parts->count,
                          1) != 0) {
        return -ENOMEM;
    }
    for (; e->regions_known < parts->count; e->regions_known++) {
        e->region_of[e->regions_known] = (uint8_t)graph->system->machine->region(
            graph->system, parts->values + e->regions_known * parts->bytes);
    }
    return 0;
}

/* R and T lead to T or C; C and E lead to E or R. */
static bool region_change_allowed(enum step_region from, enum step_region to)
{
    return from == STEP_REMAINDER || from == STEP_TRYING ? to == STEP_TRYING || to == STEP_CRITICAL
                                                         : to == STEP_EXIT || to == STEP_REMAINDER;
}

static void note_broken(struct explorer *e, uint32_t state, unsigned process, const char *what)
{
    if (e->graph->broken == NULL) {
        e->graph->broken = what;
        e->graph->broken_at = state;
        e->graph->broken_process = process;
    }
}

/* Note if a step breaks the contract of step.h. */
static void verify_step(struct explorer *e, uint32_t state, unsigned process,
                        const struct check_unpacked *u, const struct step_access *access)
{
    const struct step_system *system = e->graph->system;
    const struct check_seen *seen = &e->graph->seen;
    uint32_t part = check_seen_part(seen, check_seen_key(seen, state), 1 + process);
    const unsigned char *own = u->states + (size_t)process * system->private_bytes;
    if (access->count != 1) {
        note_broken(e, state, process, "a step makes no shared access, or more than one");
    }
    if (!system->machine->loose_regions && !check_supervises(system, process) &&
        !region_change_allowed((enum step_region)e->region_of[part],
                               system->machine->region(system, own))) {
        note_broken(e, state, process, "a step changed regions in a way that the model forbids");
    }
}

/* Execute a label and number the parts; found->shared is CHECK_NO_STATE if it cannot happen. */
static int execute_and_number(struct explorer *e, uint32_t state, unsigned label,
                              struct found *found)
{
    struct check_graph *graph = e->graph;
    const struct step_system *system = graph->system;
    struct check_seen *seen = &graph->seen;
    struct step_access access = {0};
    struct check_unpacked u;
    unsigned process = check_label_process(system, label);
    int error = 0;
    if (!check_execute(graph, state, label, &u, &access, seen, &error)) {
        found->shared = CHECK_NO_STATE;
        return 0;
    }
    if (error == -EDOM) {
        note_broken(e, state, process, "a step marked as heedless is not");
    } else if (error != 0) {
        return error;
    }
    if (check_label_event(system, label) == 0) {
        verify_step(e, state, process, &u, &access);
    }
    for (unsigned i = 0; system->machine->rebase != NULL && i < system->n; i++) {
        if (check_parts_number(seen, &seen->private, step_state_of(system, u.states, i),
                               &e->parts[(size_t)(found - e->found) * system->n + i]) != 0) {
            return -ENOMEM;
        }
    }
    if (check_parts_number(seen, &seen->private, step_state_of(system, u.states, process),
                           &found->private) != 0) {
        return -ENOMEM;
    }
    return check_parts_number(seen, &seen->shared, u.words, &found->shared);
}

/* The parts that a label leads to: from the memo if they depend on two parts only. */
static int find_step(struct explorer *e, uint32_t state, unsigned label, struct found *found)
{
    struct check_graph *graph = e->graph;
    const struct step_machine *machine = graph->system->machine;
    const uint64_t *key = check_seen_key(&graph->seen, state);
    uint64_t v = check_seen_part(&graph->seen, key, 0);
    uint64_t x = check_seen_part(&graph->seen, key, 1 + check_label_process(graph->system, label));
    uint64_t id = machine->anonymous ? check_label_event(graph->system, label) : label;
    uint64_t from = (id << 56 ^ v << 28 ^ x) + 1;
    if (machine->rebase != NULL || v >= 1ULL << 28 || x >= 1ULL << 28) {
        return execute_and_number(e, state, label, found);
    }
    struct memo *memo = &e->memo[from * 0x9e3779b97f4a7c15ULL >> (64 - MEMO_BITS)];
    if (memo->from != from) {
        int error = execute_and_number(e, state, label, found);
        if (error != 0) {
            return error;
        }
        *memo = (struct memo){from, found->shared, found->private};
    }
    found->shared = memo->shared;
    found->private = memo->private;
    return 0;
}

static uint64_t *key_of(const struct explorer *e, const struct found *found)
{
    return e->keys + (size_t)(found - e->found) * e->graph->seen.key_words;
}

/* Pack the key of the state that a step leads to, and prefetch its slot. */
static void pack(struct explorer *e, uint32_t state, unsigned label, struct found *found)
{
    const struct check_seen *seen = &e->graph->seen;
    const struct step_system *system = e->graph->system;
    uint64_t *key = key_of(e, found);
    unsigned process = check_label_process(system, label);
    if (found->shared == CHECK_NO_STATE) {
        return;
    }
    memcpy(key, check_seen_key(seen, state), seen->key_words * sizeof *key);
    check_seen_set_part(seen, key, 0, found->shared);
    check_seen_set_part(seen, key, 1 + process, found->private);
    for (unsigned i = 0; system->machine->rebase != NULL && i < system->n; i++) {
        check_seen_set_part(seen, key, 1 + i, e->parts[(size_t)(found - e->found) * system->n + i]);
    }
    found->hash = check_seen_hash(seen, key);
    __builtin_prefetch(&seen->slots[(uint32_t)found->hash & seen->slot_mask]);
}

/* Prefetch the key that the slot names. */
static void fetch_key(struct explorer *e, const struct found *found)
{
    const struct check_seen *seen = &e->graph->seen;
    uint32_t named = seen->slots[(uint32_t)found->hash & seen->slot_mask].state;
    __builtin_prefetch(check_seen_key(seen, named == 0 ? 0 : named - 1));
}

/* Record a new state: its parent, its regions, and whether it violates exclusion or invariant. */
static void note_state(struct explorer *e, uint32_t state, uint32_t parent)
{
    struct check_graph *graph = e->graph;
    const uint64_t *key = check_seen_key(&graph->seen, state);
    uint32_t regions = 0;
    unsigned critical = 0;
    unsigned trying = 0;
    for (unsigned i = 0; i < graph->system->workers; i++) {
        unsigned region = e->region_of[check_seen_part(&graph->seen, key, 1 + i)];
        regions |= region << 2 * i;
        critical += region == STEP_CRITICAL;
        trying += region == STEP_TRYING;
    }
    if (!graph->options.only_exclusion) {
        graph->regions[state] = regions;
    }
    graph->parents[state] = parent;
    graph->full_states += critical >= graph->system->k && trying > 0;
    if (critical > graph->system->k && graph->first_crowded == CHECK_NO_STATE) {
        graph->first_crowded = state;
    }
    if (graph->system->machine->wrong != NULL && graph->first_wrong == CHECK_NO_STATE) {
        struct check_unpacked u;
        check_seen_get(&graph->seen, state, u.words, u.states);
        graph->wrong = graph->system->machine->wrong(graph->system, u.words, u.states);
        graph->first_wrong = graph->wrong != NULL ? state : CHECK_NO_STATE;
    }
}

static int reserve(struct check_graph *graph, uint32_t more)
{
    size_t need = (size_t)check_states(graph) + more;
    int error = check_seen_reserve(&graph->seen, more);
    if (error == 0) {
        error = check_budget_grow(&graph->budget, (void **)&graph->parents, &graph->parent_capacity,
                                  need, sizeof *graph->parents);
    }
    if (error == 0 && !graph->options.only_exclusion) {
        error = check_budget_grow(&graph->budget, (void **)&graph->regions, &graph->region_capacity,
                                  need, sizeof *graph->regions);
    }
    if (error == 0 && !graph->options.only_exclusion) {
        error = check_budget_grow(&graph->budget, (void **)&graph->edges, &graph->edge_capacity,
                                  need * graph->labels, sizeof *graph->edges);
    }
    return error;
}

/* Is exclusion or invariant violated, with options.until_wrong? */
static bool may_stop(const struct check_graph *graph)
{
    bool crowded = graph->first_crowded != CHECK_NO_STATE &&
                   (graph->system->claims & STEP_CLAIM(STEP_EXCLUSION)) != 0;
    return graph->options.until_wrong && (crowded || graph->first_wrong != CHECK_NO_STATE);
}

/* Expand the states first .. first+count-1; they are of at most two levels. */
static int expand(struct explorer *e, uint32_t first, uint32_t count)
{
    struct check_graph *graph = e->graph;
    unsigned n = graph->labels;
    for (uint32_t s = 0; s < count; s++) {
        for (unsigned i = 0; i < n; i++) {
            if (find_step(e, first + s, i, &e->found[s * n + i]) != 0) {
                return -ENOMEM;
            }
        }
    }
    if (check_seen_widen(&graph->seen) != 0 || learn_regions(e) != 0 ||
        reserve(graph, count * n) != 0) {
        return -ENOMEM;
    }
    for (uint32_t s = 0; s < count; s++) {
        for (unsigned i = 0; i < n; i++) {
            pack(e, first + s, i, &e->found[s * n + i]);
        }
    }
    for (uint32_t f = 0; f < count * n; f++) {
        fetch_key(e, &e->found[f]);
    }
    for (uint32_t s = 0; s < count; s++) {
        for (unsigned i = 0; i < n; i++) {
            const struct found *found = &e->found[s * n + i];
            bool fresh = false;
            uint32_t to = CHECK_NO_STATE;
            if (found->shared != CHECK_NO_STATE) {
                to = check_seen_put(&graph->seen, key_of(e, found), found->hash, &fresh);
                graph->transitions++;
            }
            if (fresh) {
                note_state(e, to, first + s);
            }
            if (!graph->options.only_exclusion) {
                graph->edges[(size_t)(first + s) * n + i] = to;
            }
        }
    }
    return 0;
}

static int add_level(struct check_graph *graph, uint32_t first)
{
    if (check_budget_grow(&graph->budget, (void **)&graph->levels, &graph->level_capacity,
                          (size_t)graph->level_count + 1, sizeof *graph->levels) != 0) {
        return -ENOMEM;
    }
    graph->levels[graph->level_count++] = first;
    return 0;
}

/* Add the initial state. */
static int begin(struct explorer *e)
{
    struct check_graph *graph = e->graph;
    const struct step_system *system = graph->system;
    _Alignas(8) unsigned char states[CHECK_MAX_PROCESSES * STEP_MAX_PRIVATE_BYTES] = {0};
    uint64_t words[STEP_MAX_SHARED_WORDS] = {0};
    uint32_t parts[1 + CHECK_MAX_PROCESSES];
    uint64_t key[CHECK_KEY_WORDS] = {0};
    bool fresh;
    system->machine->init(system, words);
    if (system->machine->rebase != NULL) {
        system->machine->rebase(system, words, states);
    }
    if (check_parts_number(&graph->seen, &graph->seen.shared, words, &parts[0]) != 0) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < system->n; i++) {
        if (check_parts_number(&graph->seen, &graph->seen.private, step_state_of(system, states, i),
                               &parts[1 + i]) != 0) {
            return -ENOMEM;
        }
    }
    if (check_seen_widen(&graph->seen) != 0 || learn_regions(e) != 0 || reserve(graph, 1) != 0) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i <= system->n; i++) {
        check_seen_set_part(&graph->seen, key, i, parts[i]);
    }
    (void)check_seen_put(&graph->seen, key, check_seen_hash(&graph->seen, key), &fresh);
    note_state(e, 0, CHECK_NO_STATE);
    return add_level(graph, 0);
}

static int run(struct explorer *e)
{
    struct check_graph *graph = e->graph;
    struct check_progress progress;
    check_progress_init(&progress, graph);
    uint32_t level_end = 1;
    for (uint32_t next = 0; next < check_states(graph);) {
        if (next == level_end) {
            level_end = check_states(graph);
            if (add_level(graph, next) != 0) {
                return -ENOMEM;
            }
        }
        uint32_t count = level_end - next < BATCH ? level_end - next : BATCH;
        if (expand(e, next, count) != 0) {
            check_progress_clear(&progress);
            return -ENOMEM;
        }
        next += count;
        check_progress_show(&progress, next);
        if (may_stop(graph)) {
            check_progress_clear(&progress);
            return 0;
        }
    }
    check_progress_clear(&progress);
    if (graph->options.reduced && !check_reduce_certify(graph)) {
        note_broken(e, 0, 0, "a step marked as heedless is not");
    }
    graph->complete = true;
    return 0;
}

int check_explore(struct check_graph *graph, const struct step_system *system,
                  const struct check_options *options)
{
    struct explorer e = {.graph = graph};
    memset(graph, 0, sizeof *graph);
    graph->system = system;
    graph->options = *options;
    graph->budget.limit = options->memory != 0 ? options->memory : check_budget_default();
    graph->first_crowded = CHECK_NO_STATE;
    graph->first_wrong = CHECK_NO_STATE;
    graph->labels = system->n * (system->machine->events == 0 ? 1 : system->machine->events);
    double start = check_now();
    int error = check_seen_init(&graph->seen, system, &graph->budget);
    if (error == 0) {
        e.memo = calloc((size_t)1 << MEMO_BITS, sizeof *e.memo);
        e.found = calloc((size_t)BATCH * graph->labels, sizeof *e.found);
        e.keys = calloc((size_t)BATCH * graph->labels * CHECK_KEY_WORDS, sizeof *e.keys);
        e.parts = calloc((size_t)BATCH * graph->labels * system->n, sizeof *e.parts);
        bool all = e.memo != NULL && e.found != NULL && e.keys != NULL && e.parts != NULL;
        error = all ? begin(&e) : -ENOMEM;
    }
    if (error == 0) {
        (void)run(&e); /* out of memory: `complete` stays false */
        error = add_level(graph, check_states(graph));
    }
    graph->seconds = check_now() - start;
    free(e.memo);
    free(e.found);
    free(e.keys);
    free(e.parts);
    check_budget_free(&graph->budget, e.region_of, e.region_capacity, 1);
    return error;
}
