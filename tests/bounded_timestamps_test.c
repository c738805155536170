/*
 * Bounded timestamps (src/papers/bounded_timestamps.h), explored. Processes take labels or scan all
 * others, for ever or a given number of times. proposition.h records what Proposition 3.1 (1994)
 * demands. Labels held at one time must have no cycle. With the argument "slow": more sizes.
 */
#include "explore.h"
#include "papers/bounded_timestamps.h"
#include "proposition.h"
#include "test.h"

#include <string.h>

enum { LABEL_ANEW = 1, FOR_EVER = 99 };

/* The system that is explored. */
static struct {
    bool atomic;
    unsigned labels[RECORD_MOST], scans[RECORD_MOST]; /* times for each, or FOR_EVER */
    unsigned labels_broken, snapshot_broken;
} plan;

static bool slow;

struct state {
    struct bounded_timestamps_state x;
    uint32_t labels, scans; /* done so far */
};

static struct bounded_timestamps timestamps_of(const struct step_system *system)
{
    return bounded_timestamps_at(system->n, 0, plan.atomic, plan.labels_broken,
                                 plan.snapshot_broken);
}

/* A record for each process, behind the words of the timestamps; the algorithm does not read it. */
static unsigned record_of(const struct step_system *system, unsigned process)
{
    struct bounded_timestamps ts = timestamps_of(system);
    return bounded_timestamps_words(&ts) + process;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words = record_of(system, system->n);
    system->private_bytes = sizeof(struct state);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    struct bounded_timestamps ts = timestamps_of(system);
    memset(words, 0, system->shared_words * sizeof *words);
    bounded_timestamps_init(&ts, words);
}

static struct records load(const struct step_system *system, const struct step_memory *memory)
{
    struct records records = {0};
    for (unsigned i = 0; i < system->n; i++) {
        records.of[i].word = atomic_load(&memory->words[record_of(system, i)]);
    }
    return records;
}

static void store(const struct step_system *system, struct step_memory *memory,
                  const struct records *records)
{
    for (unsigned i = 0; i < system->n; i++) {
        atomic_store(&memory->words[record_of(system, i)], records->of[i].word);
    }
}

static void label(const struct step_system *system, struct step_memory *memory, struct state *state,
                  unsigned process, struct records *records)
{
    struct bounded_timestamps ts = timestamps_of(system);
    if (!state->x.labels) {
        record_begin_label(system, records, process);
        (void)bounded_timestamps_label(&ts, &state->x, process);
        state->labels += plan.labels[process] != FOR_EVER;
    }
    if (bounded_timestamps_label_step(&ts, memory, &state->x, process)) {
        record_end_label(system, records, process);
    }
}

static void scan(const struct step_system *system, struct step_memory *memory, struct state *state,
                 unsigned process, struct records *records)
{
    struct bounded_timestamps ts = timestamps_of(system);
    uint32_t all[BOUNDED_TIMESTAMPS_MOST];
    uint64_t before;
    if (state->x.whom == 0) {
        record_begin_scan(system, records, process);
        record_begin_pairs(system, records, process);
        bounded_timestamps_scan(&ts, &state->x, process,
                                record_everyone(system) & ~(1U << process));
        state->scans += plan.scans[process] != FOR_EVER;
    }
    if (!bounded_timestamps_scan_step(&ts, memory, &state->x, process, all, &before)) {
        return;
    }
    unsigned first = 0;
    for (unsigned j = 0; j < system->n; j++) {
        unsigned third = j == process ? system->n : record_third(system, process, j);
        first |= (unsigned)(third < system->n &&
                            bounded_labels_before(&ts.labels, all[j], j, all[third], third))
                 << j;
    }
    records->of[process].is.found = before & 15U;
    record_end_scan(system, records, process);
    record_end_pairs(records, process, first);
}

/* Continue the current operation; otherwise scan, or take a label if there is none yet. */
static void step(const struct step_system *system, struct step_memory *memory, void *private,
                 unsigned process)
{
    struct state *state = private;
    struct records records = load(system, memory);
    if (state->x.labels || !records.of[process].is.has) {
        label(system, memory, state, process, &records);
    } else if (state->x.whom != 0 || state->scans < plan.scans[process]) {
        scan(system, memory, state, process, &records);
    } else {
        (void)step_read(memory, 0); /* a step that changes nothing */
    }
    store(system, memory, &records);
}

/* A process without a current operation may take a new label. */
static bool event(const struct step_system *system, struct step_memory *memory, void *private,
                  unsigned process, unsigned number)
{
    struct state *state = private;
    struct records records = load(system, memory);
    if (number != LABEL_ANEW || state->x.labels || state->x.whom != 0 ||
        !records.of[process].is.has || state->labels >= plan.labels[process]) {
        return false;
    }
    label(system, memory, state, process, &records);
    store(system, memory, &records);
    return true;
}

static const char *wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    struct bounded_timestamps ts = timestamps_of(system);
    uint32_t all[BOUNDED_TIMESTAMPS_MOST];
    (void)states;
    for (unsigned i = 0; i < system->n; i++) {
        union record r = {.word = words[record_of(system, i)]};
        all[i] = bounded_timestamps_label_of(&ts, words, i);
        if (r.is.wrong != 0) {
            return record_wrong(&r);
        }
    }
    return bounded_labels_circle(&ts.labels, all) ? "a cycle" : NULL;
}

/* Explore `plan`. Return the depth of the first wrong state, or 0 if there is none. */
static unsigned explore(unsigned n)
{
    static const char *const events[] = {"", "takes a new label"};
    const struct step_machine machine = {.name = "bounded-timestamps",
                                         .title = "Bounded timestamps",
                                         .loose_regions = true,
                                         .prepare = prepare,
                                         .init = init,
                                         .step = step,
                                         .region = explore_no_region,
                                         .event = event,
                                         .event_names = events,
                                         .events = 2,
                                         .wrong = wrong,
                                         .print_word = explore_print_word};
    struct step_system system;
    struct check_graph graph;
    explore_states(&machine, n, &system, &graph);
    unsigned depth = explore_depth(&graph);
    (void)printf("  %s, n=%u, labels and scans", plan.atomic ? "atomic" : "registers", n);
    for (unsigned i = 0; i < n; i++) {
        (void)printf(" %u %u%s", plan.labels[i], plan.scans[i], i + 1 < n ? "," : "");
    }
    (void)printf("; without %x, %x: %u states, %s", plan.labels_broken, plan.snapshot_broken,
                 check_states(&graph), graph.wrong == NULL ? "all holds" : graph.wrong);
    (void)printf(depth == 0 ? "\n" : " after %u steps\n", depth);
    (void)fflush(stdout);
    check_graph_free(&graph);
    return depth;
}

static unsigned explore_atomic(unsigned n, unsigned broken)
{
    memset(&plan, 0, sizeof plan);
    plan.atomic = true;
    plan.labels_broken = broken;
    for (unsigned i = 0; i < n; i++) {
        plan.labels[i] = plan.scans[i] = FOR_EVER;
    }
    return explore(n);
}

/* `often` has two digits for each process: how many times it takes a label, and how many times it
   scans. */
static unsigned explore_registers(const char *often, unsigned broken)
{
    unsigned n = 0;
    memset(&plan, 0, sizeof plan);
    plan.snapshot_broken = broken;
    for (; *often != '\0'; often += often[2] == ' ' ? 3 : 2, n++) {
        plan.labels[n] = (unsigned)(often[0] - '0');
        plan.scans[n] = (unsigned)(often[1] - '0');
    }
    return explore(n);
}

static unsigned explore_registers_for_ever(unsigned n)
{
    memset(&plan, 0, sizeof plan);
    for (unsigned i = 0; i < n; i++) {
        plan.labels[i] = plan.scans[i] = FOR_EVER;
    }
    return explore(n);
}

static void the_proposition_holds_over_an_atomic_snapshot(void)
{
    EXPECT_EQ(explore_atomic(2, 0), 0);
    EXPECT_EQ(explore_atomic(3, 0), 0);
}

static void the_proposition_holds_on_registers(void)
{
    EXPECT_EQ(explore_registers_for_ever(2), 0);
    EXPECT_EQ(explore_registers("11 11 10", 0), 0);
    if (slow) {
        EXPECT_EQ(explore_registers("11 11 11", 0), 0);
        EXPECT_EQ(explore_registers("20 11 11", 0), 0);
        EXPECT_EQ(explore_registers("20 20 11", 0), 0);
        EXPECT_EQ(explore_registers("30 11 11", 0), 0);
    }
}

static void broken_labels_are_caught(void)
{
    EXPECT_EQ(explore_atomic(2, BOUNDED_NO_START), 0); /* two labels have no cycle */
    EXPECT_EQ(explore_atomic(3, BOUNDED_NO_START), 8);
    EXPECT_EQ(explore_atomic(3, BOUNDED_NO_TWO), 10);
    EXPECT_EQ(explore_atomic(3, BOUNDED_DEEPEST), 8);
    EXPECT_EQ(explore_atomic(3, BOUNDED_ROOM_MORE), 8);
    EXPECT_EQ(explore_atomic(3, BOUNDED_TAIL), 14);
    EXPECT_EQ(explore_atomic(2, BOUNDED_ALWAYS), 9);
}

/* The other snapshot mutants, which snapshot_test catches, need more updates than can be explored
   here. */
static void a_broken_snapshot_is_caught(void)
{
    EXPECT_EQ(explore_registers("20 20 11", SNAPSHOT_COLLECT), 15);
    EXPECT_EQ(explore_registers("20 20 11", SNAPSHOT_NO_HANDSHAKE), 25);
    EXPECT_EQ(explore_registers("20 10 11", SNAPSHOT_FIRST_MOVE), 38);
}

int main(int argc, char **argv)
{
    slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    RUN(broken_labels_are_caught);
    RUN(a_broken_snapshot_is_caught);
    RUN(the_proposition_holds_over_an_atomic_snapshot);
    RUN(the_proposition_holds_on_registers);
    return 0;
}
