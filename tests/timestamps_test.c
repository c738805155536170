/*
 * Proposition 3.1 (1994) for timestamps.h, explored. Processes take labels or scan all others, any
 * number of times, with a record of what must hold. A Scan here says which processes are before the
 * scanning one; of (1), which covers Scans by any process, that part is checked.
 */
#include "explore.h"
#include "papers/timestamps.h"
#include "proposition.h"
#include "test.h"

#include <string.h>

enum { LABEL_ANEW = 1 };

static struct timestamps timestamps_of(const struct step_system *system)
{
    return (struct timestamps){.n = system->n, .broken = system->machine->variant};
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words =
        2 * system->n; /* labels, then records, which the algorithm does not read */
    system->private_bytes = sizeof(struct timestamps_state);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    memset(words, 0, system->shared_words * sizeof *words);
}

static struct records load(const struct step_system *system, const struct step_memory *memory)
{
    struct records records = {0};
    for (unsigned i = 0; i < system->n; i++) {
        records.of[i].word = atomic_load(&memory->words[system->n + i]);
    }
    return records;
}

static void store(const struct step_system *system, struct step_memory *memory,
                  const struct records *records)
{
    for (unsigned i = 0; i < system->n; i++) {
        atomic_store(&memory->words[system->n + i], records->of[i].word);
    }
}

static void label(const struct step_system *system, struct step_memory *memory,
                  struct timestamps_state *x, unsigned process, struct records *records)
{
    struct timestamps ts = timestamps_of(system);
    if (!x->labels) {
        record_begin_label(system, records, process);
        (void)timestamps_label(&ts, x, process);
    }
    if (timestamps_label_step(&ts, memory, x, process)) {
        record_end_label(system, records, process);
    }
}

static void scan(const struct step_system *system, struct step_memory *memory,
                 struct timestamps_state *x, unsigned process, struct records *records)
{
    struct timestamps ts = timestamps_of(system);
    bool before;
    if (x->whom == 0) {
        record_begin_scan(system, records, process);
        timestamps_scan(x, record_everyone(system) & ~(1U << process));
    }
    unsigned other = (unsigned)__builtin_ctzll(x->whom);
    bool last = timestamps_scan_step(&ts, memory, x, process, &before);
    records->of[process].is.found |= (unsigned)before << other & 15U;
    if (last) {
        record_end_scan(system, records, process);
    }
}

/* Continue the current operation; otherwise scan, or take a label if there is none yet. */
static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct timestamps_state *x = state;
    struct records records = load(system, memory);
    if (x->labels || !records.of[process].is.has) {
        label(system, memory, x, process, &records);
    } else {
        scan(system, memory, x, process, &records);
    }
    store(system, memory, &records);
}

/* A process without a current operation may take a new label. */
static bool event(const struct step_system *system, struct step_memory *memory, void *state,
                  unsigned process, unsigned number)
{
    struct timestamps_state *x = state;
    struct records records = load(system, memory);
    if (number != LABEL_ANEW || x->labels || x->whom != 0 || !records.of[process].is.has) {
        return false;
    }
    label(system, memory, x, process, &records);
    store(system, memory, &records);
    return true;
}

static void rebase(const struct step_system *system, uint64_t *words, void *states)
{
    struct timestamps ts = timestamps_of(system);
    timestamps_rebase(&ts, words, states, system->private_bytes);
}

static const char *wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    (void)states;
    for (unsigned i = 0; i < system->n; i++) {
        union record r = {.word = words[system->n + i]};
        if (r.is.wrong != 0) {
            return record_wrong(&r);
        }
    }
    return NULL;
}

/* The first violation, or NULL. */
static const char *explore(unsigned n, unsigned broken)
{
    static const char *const events[] = {"", "takes a new label"};
    const struct step_machine machine = {.name = "timestamps",
                                         .title = "Timestamps (1994, Fig. 1)",
                                         .variant = broken,
                                         .unbounded = true,
                                         .loose_regions = true,
                                         .prepare = prepare,
                                         .init = init,
                                         .step = step,
                                         .region = explore_no_region,
                                         .rebase = rebase,
                                         .event = event,
                                         .event_names = events,
                                         .events = 2,
                                         .wrong = wrong,
                                         .print_word = explore_print_word};
    struct step_system system;
    struct check_graph graph;
    explore_states(&machine, n, &system, &graph);
    (void)printf("  n=%u: %u states, %s\n", n, check_states(&graph),
                 graph.wrong == NULL ? "all holds" : graph.wrong);
    const char *found = graph.wrong;
    check_graph_free(&graph);
    return found;
}

static void the_proposition_holds(void)
{
    EXPECT(explore(2, 0) == NULL);
    EXPECT(explore(3, 0) == NULL);
}

static void broken_timestamps_are_caught(void)
{
    EXPECT(explore(2, TIMESTAMPS_PRINTED) != NULL);
    EXPECT(explore(2, TIMESTAMPS_EQUAL) != NULL);
}

int main(void)
{
    RUN(broken_timestamps_are_caught);
    RUN(the_proposition_holds);
    return 0;
}
