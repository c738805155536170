/*
 * Proposition 3.1 (1994) of timestamps.h, explored: processes that label themselves or scan all
 * others, each as often as it likes, with a record of what must be so. A Scan here says who is
 * before the process that scans; of (1), which speaks of Scans by anybody, that is what is checked.
 */
#include "check/explore.h"
#include "papers/timestamps.h"
#include "test.h"

#include <string.h>

/* With a sanitizer gcc does not see that what is masked fits a field of four bits. */
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"

enum { MOST = 3, LABEL_ANEW = 1 };

/* What has been of one process, as sets of processes. Its label is the one it took last. */
union record {
    struct {
        uint64_t has : 4;     /* 1: it has a label, and is not taking another */
        uint64_t begun : 4;   /* who is labelling, and began after its label was finished */
        uint64_t late : 4;    /* who has finished a Label that began after its label was finished */
        uint64_t after : 4;   /* whom its Scans must find after itself from now on */
        uint64_t later : 4;   /* who began to take its label after this one did */
        uint64_t done : 4;    /* whose label was finished when this one began to take its own */
        uint64_t expects : 4; /* in a Scan: `after` when it began */
        uint64_t asks : 4;    /* in a Scan: whom it must find before itself */
        uint64_t found : 4;   /* in a Scan: who was found before so far */
        uint64_t ready : 4; /* in a Scan: whose label was finished when it began, and is the same */
        uint64_t scanned : 4; /* 1: it has scanned since its label; the last Scan: */
        uint64_t before : 4;  /* who was before it, ... */
        uint64_t peers : 4;   /* ... and `ready` */
        uint64_t wrong : 4;   /* which part of the proposition does not hold */
    } is;
    uint64_t word;
};

struct records {
    union record of[MOST];
};

static struct timestamps timestamps_of(const struct step_system *system)
{
    return (struct timestamps){.n = system->n, .broken = system->machine->variant};
}

static unsigned everyone(const struct step_system *system)
{
    return (1U << system->n) - 1;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words = 2 * system->n; /* labels, then records, which no step sees */
    system->private_bytes = sizeof(struct timestamps_state);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    memset(words, 0, system->shared_words * sizeof *words);
}

static void begin_label(const struct step_system *system, struct records *records, unsigned i)
{
    unsigned me = 1U << i;
    union record fresh = {.word = 0};
    for (unsigned j = 0; j < system->n; j++) {
        union record *r = &records->of[j];
        if (j == i) {
            continue;
        }
        fresh.is.done |= (r->is.has & 1U) << j & 15U;
        r->is.begun |= (r->is.has ? me : 0U) & 15U;
        r->is.later |= me & 15U;
        r->is.done &= ~me & 15U;
        r->is.asks &= ~me & 15U;
        r->is.ready &= ~me & 15U;
        r->is.peers &= ~me & 15U;
    }
    records->of[i] = fresh;
}

static void end_label(const struct step_system *system, struct records *records, unsigned i)
{
    unsigned me = 1U << i;
    records->of[i].is.has = 1;
    for (unsigned j = 0; j < system->n; j++) {
        union record *r = &records->of[j];
        r->is.late |= r->is.begun & me & 15U;
        r->is.after |= r->is.begun & me & 15U; /* (1) */
        r->is.begun &= ~me & 15U;
    }
}

static void begin_scan(const struct step_system *system, struct records *records, unsigned i)
{
    union record *r = &records->of[i];
    r->is.expects = r->is.after;
    r->is.asks = r->is.found = r->is.ready = 0;
    for (unsigned j = 0; j < system->n; j++) {
        r->is.asks |= (records->of[j].is.late >> i & 1U) << j & 15U; /* (1) */
        r->is.ready |= (records->of[j].is.has & 1U) << j & 15U;
    }
}

/* (4) and (5) of the set C. */
static unsigned judge_set(const struct step_system *system, const struct records *records,
                          unsigned set)
{
    bool some_last = false;
    bool some_first = false;
    bool all_after = true;
    unsigned recent = 0; /* C' */
    for (unsigned i = 0; i < system->n; i++) {
        const union record *r = &records->of[i];
        if (set >> i & 1 && !(r->is.has && r->is.scanned)) {
            return 0;
        }
        if (set >> i & 1 && (r->is.later & set) == 0) {
            recent = set & ~(unsigned)r->is.done;
        }
    }
    for (unsigned i = 0; i < system->n; i++) {
        const union record *r = &records->of[i];
        unsigned others = set & ~(1U << i);
        if (set >> i & 1) {
            some_last = some_last || (recent >> i & 1 && (others & ~(unsigned)r->is.before) == 0);
            some_first = some_first || (others & r->is.before) == 0;
            all_after = all_after && (others & ~(unsigned)r->is.peers) == 0;
        }
    }
    return !some_last ? 4 : all_after && !some_first ? 5 : 0;
}

static void end_scan(const struct step_system *system, struct records *records, unsigned i)
{
    union record *r = &records->of[i];
    unsigned behind = everyone(system) & ~(1U << i) & ~(unsigned)r->is.found;
    r->is.wrong = (r->is.expects & r->is.found) != 0 ? 2 : (r->is.asks & ~r->is.found) != 0 ? 1 : 0;
    r->is.after |= behind & 15U; /* (2) */
    for (unsigned j = 0; j < system->n; j++) {
        if (records->of[j].is.late >> i & 1) {
            records->of[j].is.after |= behind & ~(1U << j) & 15U; /* (3) */
        }
    }
    r->is.scanned = 1;
    r->is.before = r->is.found;
    r->is.peers = r->is.ready;
    r->is.expects = r->is.asks = r->is.found = r->is.ready = 0;
    for (unsigned set = 1; set <= everyone(system) && r->is.wrong == 0; set++) {
        r->is.wrong = judge_set(system, records, set) & 15U;
    }
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
        begin_label(system, records, process);
        (void)timestamps_label(&ts, x, process);
    }
    if (timestamps_label_step(&ts, memory, x, process)) {
        end_label(system, records, process);
    }
}

static void scan(const struct step_system *system, struct step_memory *memory,
                 struct timestamps_state *x, unsigned process, struct records *records)
{
    struct timestamps ts = timestamps_of(system);
    bool before;
    if (x->whom == 0) {
        begin_scan(system, records, process);
        timestamps_scan(x, everyone(system) & ~(1U << process));
    }
    unsigned other = (unsigned)__builtin_ctzll(x->whom);
    bool last = timestamps_scan_step(&ts, memory, x, process, &before);
    records->of[process].is.found |= (unsigned)before << other & 15U;
    if (last) {
        end_scan(system, records, process);
    }
}

/* Go on with what was begun; else scan, or label if there is no label yet. */
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

/* Who does nothing may label itself anew. */
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

static enum step_region region(const struct step_system *system, const void *state)
{
    (void)system;
    (void)state;
    return STEP_REMAINDER;
}

static void rebase(const struct step_system *system, uint64_t *words, void *states)
{
    struct timestamps ts = timestamps_of(system);
    timestamps_rebase(&ts, words, states, system->private_bytes);
}

static const char *wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    static const char *const parts[] = {NULL, "(1)", "(1), (2) or (3)", NULL, "(4)", "(5)"};
    (void)states;
    for (unsigned i = 0; i < system->n; i++) {
        union record r = {.word = words[system->n + i]};
        if (r.is.wrong != 0) {
            return parts[r.is.wrong];
        }
    }
    return NULL;
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    (void)system;
    return snprintf(out, size, "%u:%llx", word, (unsigned long long)value);
}

/* What is wrong first, or NULL. */
static const char *explore(unsigned n, unsigned broken)
{
    static const char *const events[] = {"", "labels anew"};
    const struct step_machine machine = {.name = "timestamps",
                                         .title = "Timestamps (1994, Fig. 1)",
                                         .variant = broken,
                                         .unbounded = true,
                                         .loose_regions = true,
                                         .prepare = prepare,
                                         .init = init,
                                         .step = step,
                                         .region = region,
                                         .rebase = rebase,
                                         .event = event,
                                         .event_names = events,
                                         .events = 2,
                                         .wrong = wrong,
                                         .print_word = print_word};
    struct step_system system;
    struct check_graph graph;
    struct check_options options = {.only_exclusion = true};
    char why[STEP_WHY_BYTES];
    EXPECT_EQ(step_system_init(&system, &machine, n, 1, 0, why), 0);
    EXPECT_EQ(check_explore(&graph, &system, &options), 0);
    EXPECT(graph.complete && graph.broken == NULL);
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

static void broken_timestamps_are_found_out(void)
{
    EXPECT(explore(2, TIMESTAMPS_PRINTED) != NULL);
    EXPECT(explore(2, TIMESTAMPS_EQUAL) != NULL);
}

int main(void)
{
    RUN(broken_timestamps_are_found_out);
    RUN(the_proposition_holds);
    return 0;
}
