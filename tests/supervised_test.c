/*
 * Systems with a supervisor. In every reachable state and at every step: conditions (R1) to (R8) of
 * the 1979 report, under which the supervisor can be eliminated, with the constants c1, c2 and c3
 * that are found; that the supervisor's states can be sent as bits; and the shared values.
 *
 * Workers are distinguished by their states only, so that larger n can be explored: a step of one
 * of two workers in the same state stands for a step of the other.
 *
 *     supervised_test [slow]
 */
#include "check/explore/explore.h"
#include "papers/bucket.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

static bool slow;

/* Order the workers' states, by selection: there are few. */
static void sort_workers(const struct step_system *system, uint64_t *words, void *states)
{
    unsigned char *s = states;
    size_t bytes = system->private_bytes;
    (void)words;
    for (unsigned a = 0; a < system->workers; a++) {
        for (unsigned b = a + 1; b < system->workers; b++) {
            if (memcmp(s + a * bytes, s + b * bytes, bytes) > 0) {
                unsigned char swap[STEP_MAX_PRIVATE_BYTES];
                memcpy(swap, s + a * bytes, bytes);
                memcpy(s + a * bytes, s + b * bytes, bytes);
                memcpy(s + b * bytes, swap, bytes);
            }
        }
    }
}

/* All reachable states of a machine, and the results. */
struct world {
    struct step_machine machine;
    struct step_system system;
    struct supervised_size size;
    const struct supervised *subject;
    struct check_graph graph;
    unsigned char *supervisors; /* the supervisor's states, by their number among private states */
    uint64_t *ways; /* the transitions of each that occur, as a mask; 0: not a supervisor's state */
    unsigned c1, c2, c3, bits;
};

/* A whole state, split. */
struct parts {
    uint64_t words[STEP_MAX_SHARED_WORDS];
    _Alignas(8) unsigned char states[CHECK_MAX_PROCESSES * STEP_MAX_PRIVATE_BYTES];
    _Alignas(8) unsigned char workers[CHECK_MAX_PROCESSES * SUPERVISED_WORKER_BYTES];
    _Alignas(8) unsigned char supervisor[SUPERVISED_SUPERVISOR_BYTES];
};

static void explore(struct world *w, const struct step_machine *machine, unsigned n, unsigned k,
                    unsigned r)
{
    char why[STEP_WHY_BYTES];
    struct check_options options = {.only_exclusion = true};
    memset(w, 0, sizeof *w);
    w->machine = *machine;
    w->machine.rebase = sort_workers;
    w->machine.loose_regions =
        true; /* a step may change the place of a worker in the sorted order */
    EXPECT_EQ(step_system_init(&w->system, &w->machine, n, k, r, why), 0);
    w->size = supervised_size_of(&w->system);
    w->subject = machine->subject;
    EXPECT_EQ(check_explore(&w->graph, &w->system, &options), 0);
    EXPECT(w->graph.complete && w->graph.broken == NULL);
    w->c1 = w->subject->threshold(&w->size);
}

static void take_apart(const struct world *w, struct parts *parts)
{
    supervised_split(&w->system, parts->states, parts->workers, parts->supervisor);
}

static enum supervised_eligibility class_of(const struct world *w, const struct parts *parts,
                                            unsigned worker)
{
    return w->subject->eligibility(&w->size, parts->words,
                                   parts->workers + (size_t)worker * w->subject->worker_bytes);
}

/* (R1): may a worker go from one class to another at a step of `process`? */
static bool may_change(const struct world *w, unsigned process, unsigned worker,
                       enum supervised_eligibility from, enum supervised_eligibility to)
{
    if (process == w->size.n) {
        return (from == SUPERVISED_HELPER && to == SUPERVISED_QUITTER) ||
               (from == SUPERVISED_QUITTER && to == SUPERVISED_DRONE);
    }
    return process == worker && from == SUPERVISED_DRONE && to == SUPERVISED_HELPER;
}

/* Try every step from a state. Return the first fault, or NULL. */
static const char *wrong_step(const struct world *w, const struct parts *before)
{
    for (unsigned p = 0; p <= w->size.n; p++) {
        struct parts after = *before;
        _Atomic uint64_t words[STEP_MAX_SHARED_WORDS];
        struct step_memory memory = {.words = words};
        for (unsigned i = 0; i < w->system.shared_words; i++) {
            atomic_init(&words[i], before->words[i]);
        }
        w->machine.step(&w->system, &memory, step_state_of(&w->system, after.states, p), p);
        for (unsigned i = 0; i < w->system.shared_words; i++) {
            after.words[i] = atomic_load(&words[i]);
        }
        take_apart(w, &after);
        for (unsigned i = 0; i < w->size.n; i++) {
            enum supervised_eligibility from = class_of(w, before, i);
            enum supervised_eligibility to = class_of(w, &after, i);
            if (from != to && !may_change(w, p, i, from, to)) {
                return "a class changes against (R1)";
            }
        }
    }
    return NULL;
}

/* Encode and decode the supervisor's state. */
static const char *wrong_bits(struct world *w, const struct parts *parts)
{
    unsigned char bits[8 * SUPERVISED_SUPERVISOR_BYTES];
    _Alignas(8) unsigned char back[SUPERVISED_SUPERVISOR_BYTES];
    unsigned length = w->subject->encode(&w->size, parts->supervisor, bits);
    w->bits = length > w->bits ? length : w->bits;
    for (unsigned i = 0; i < length; i++) {
        if (bits[i] > 1) {
            return "a bit that is neither 0 nor 1";
        }
    }
    w->subject->decode(&w->size, bits, length, back);
    return memcmp(back, parts->supervisor, w->subject->supervisor_bytes) != 0
               ? "decoding does not return the state"
               : NULL;
}

/* Record a state of the supervisor and its transition; check (R8). */
static const char *note_supervisor(struct world *w, uint32_t state, const struct parts *parts)
{
    const struct check_seen *seen = &w->graph.seen;
    uint32_t number = check_seen_part(seen, check_seen_key(seen, state), 1 + w->size.n);
    uint64_t value[STEP_MAX_SHARED_WORDS];
    memcpy(value, parts->words, sizeof value);
    unsigned way = w->subject->transition(&w->size, value, parts->supervisor);
    unsigned ways = w->subject->transitions(&w->size, parts->supervisor);
    EXPECT(ways <= 64);
    memcpy(w->supervisors + (size_t)number * SUPERVISED_SUPERVISOR_BYTES, parts->supervisor,
           w->subject->supervisor_bytes);
    w->ways[number] |= 1ULL << way;
    w->c3 = ways > w->c3 ? ways : w->c3;
    return way < ways ? NULL : "a transition number out of range (R8)";
}

/* (R7): the number of supervisor states that go with one value while at most c1 processes are in
   T. */
static void count_c2(struct world *w)
{
    const struct check_parts *shared = &w->graph.seen.shared;
    for (uint32_t v = 0; v < shared->count; v++) {
        _Alignas(8) unsigned char value[SUPERVISED_VALUE_BYTES];
        unsigned few = 0;
        memcpy(value, shared->values + (size_t)v * shared->bytes, shared->bytes);
        for (uint32_t x = 0; x < w->graph.seen.private.count; x++) {
            const void *supervisor = w->supervisors + (size_t)x * SUPERVISED_SUPERVISOR_BYTES;
            few += w->ways[x] != 0 && w->subject->active(&w->size, value, supervisor) <= w->c1;
        }
        w->c2 = few > w->c2 ? few : w->c2;
    }
}

/* The first fault in any state, or NULL. */
static const char *judge(struct world *w)
{
    uint32_t numbers = w->graph.seen.private.count;
    const char *wrong = w->graph.wrong; /* (R3) to (R6), and the system's own invariants */
    w->supervisors = calloc(numbers, SUPERVISED_SUPERVISOR_BYTES);
    w->ways = calloc(numbers, sizeof *w->ways);
    EXPECT(w->supervisors != NULL && w->ways != NULL);
    for (uint32_t s = 0; s < check_states(&w->graph) && wrong == NULL; s++) {
        struct parts parts;
        check_seen_get(&w->graph.seen, s, parts.words, parts.states);
        take_apart(w, &parts);
        wrong = note_supervisor(w, s, &parts);
        wrong = wrong == NULL ? wrong_bits(w, &parts) : wrong;
        wrong = wrong == NULL ? wrong_step(w, &parts) : wrong;
    }
    if (wrong == NULL) {
        count_c2(w);
        EXPECT(w->bits <= w->subject->most_bits(&w->size));
    }
    return wrong;
}

static void leave(struct world *w)
{
    free(w->supervisors);
    free(w->ways);
    check_graph_free(&w->graph);
}

/* A machine at some k and r, for n from 1 on. */
static const struct series {
    const struct step_machine *machine;
    unsigned k, r, most_n, slow_n;
    unsigned linear_n; /* from here on each further process adds the same number of shared values */
    unsigned c3;       /* for n > k */
} series[] = {
    {&papers_bucket, 1, 1, 7, 12, 4, 4}, {&papers_bucket, 1, 2, 7, 12, 4, 4},
    {&papers_bucket, 1, 3, 8, 12, 5, 4}, {&papers_bucket, 2, 1, 4, 8, 6, 5},
    {&papers_bucket, 2, 2, 3, 8, 6, 5},  {&papers_bucket, 2, 3, 3, 6, 9, 5},
    {&papers_bucket, 3, 2, 2, 3, 9, 8},
};

/* The results of the last two sizes of a series. */
struct found {
    uint32_t values, more;
    unsigned c2, c3;
};

/* The constants depend on k and r only: once n is large enough they do not change, nor does the
   number of values that one more process adds. */
static void expect_like_before(const struct series *row, const struct world *w,
                               struct found *before)
{
    struct found now = {w->graph.seen.shared.count, w->graph.seen.shared.count - before->values,
                        w->c2, w->c3};
    if (w->size.n > w->c1 + w->size.k) {
        EXPECT_EQ(now.c2, before->c2);
        EXPECT_EQ(now.c3, before->c3);
    }
    if (w->size.n > row->linear_n) {
        EXPECT_EQ(now.more, before->more);
    }
    if (w->size.n > w->size.k) {
        EXPECT_EQ(now.c3, row->c3);
    }
    EXPECT(now.values <= w->machine.bound(&w->system));
    *before = now;
}

static void the_conditions_hold_in_every_state_and_at_every_step(void)
{
    for (unsigned s = 0; s < sizeof series / sizeof series[0]; s++) {
        struct found before = {0};
        for (unsigned n = 1; n <= (slow ? series[s].slow_n : series[s].most_n); n++) {
            static struct world w;
            explore(&w, series[s].machine, n, series[s].k, series[s].r);
            const char *wrong = judge(&w);
            (void)printf("  %s n=%u k=%u r=%u: %u states, %u values; c1=%u c2=%u c3=%u, %u bits\n",
                         w.machine.name, n, w.size.k, w.size.r, check_states(&w.graph),
                         w.graph.seen.shared.count, w.c1, w.c2, w.c3, w.bits);
            if (wrong != NULL) {
                (void)fprintf(stderr, "%s\n", wrong);
                exit(1);
            }
            expect_like_before(&series[s], &w, &before);
            leave(&w);
        }
    }
}

/* The conditions catch a broken class even without the system's own invariants. */
static void a_broken_class_is_caught(void)
{
    static const struct {
        const char *name, *wrong;
    } rows[] = {{"mutant-bucket-no-quitters", "a class changes against (R1)"},
                {"mutant-bucket-stale", "a class changes against (R1)"}};
    for (unsigned r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        static struct world w;
        struct step_machine machine = *papers_find(rows[r].name);
        machine.wrong = NULL;
        explore(&w, &machine, 2, 1, 1);
        const char *wrong = judge(&w);
        EXPECT(wrong != NULL && strcmp(wrong, rows[r].wrong) == 0);
        leave(&w);
    }
}

int main(int count, char **arguments)
{
    slow = count > 1 && strcmp(arguments[1], "slow") == 0;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(the_conditions_hold_in_every_state_and_at_every_step);
    RUN(a_broken_class_is_caught);
    return 0;
}
