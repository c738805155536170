/*
 * Bounded labels (src/papers/bounded_labels.h), with a snapshot that is one step and a write that
 * is another. Explored: all interleavings of n = 2 and 3 processes, and of 4 with the argument
 * "slow". Long random runs: 5, 6 and 8. The test checks:
 *
 *     (a) the labels held at one time have no cycle: of no three is each before the next and the
 *         last before the first
 *     (b) a new label is after all labels of its snapshot
 *     (c) if i is before j, it stays so until i begins to take a new label, whatever j does
 *
 * Proposition 3.1 (1994) follows, if a Scan is a snapshot. (1): by (b), and by (c) from then on.
 * (2) is (c). (3): by (1), (a) and (c). (4): let i be the last of C in the end. A process of C
 * whose final Label ended before Label_j began is before j by (1), so i is in C'. A process that
 * was after i in a Scan of i would still be after it, by (c). (5): the first of C in the end is
 * first in its own Scan, because no process in C takes a label any more. bounded_timestamps_test.c
 * checks (1) to (5) themselves, at the sizes where it can.
 */
#include "explore.h"
#include "papers/bounded_labels.h"
#include "test.h"

#include <string.h>

static bool slow;
static unsigned broken;

/* The whole state: the labels, and the chosen but unwritten new labels. */
struct world {
    struct bounded_labels labels;
    uint32_t all[BOUNDED_LABELS_MOST], next[BOUNDED_LABELS_MOST];
    unsigned busy; /* processes that have chosen a label and not yet written it */
};

static bool before(const struct world *w, unsigned i, unsigned j)
{
    return bounded_labels_before(&w->labels, w->all[i], i, w->all[j], j);
}

/* Take a step of process j. Return the condition that it violates, or NULL. */
static const char *step_in(struct world *w, unsigned j)
{
    struct world was = *w;
    bool writes = w->busy >> j & 1;
    if (writes) {
        w->all[j] = w->next[j];
        w->busy &= ~(1U << j);
    } else {
        w->next[j] = bounded_labels_next(&w->labels, w->all, j);
        if (w->next[j] != w->all[j]) {
            w->busy |= 1U << j;
        }
    }
    for (unsigned i = 0; i < w->labels.n; i++) {
        if (i != j && !writes && w->busy >> j & 1 &&
            !bounded_labels_before(&w->labels, w->all[i], i, w->next[j], j)) {
            return "(b)";
        }
        if (i != j && !writes && !(w->busy >> j & 1) && !before(w, i, j)) {
            return "(b)"; /* the process keeps its label */
        }
        if (i != j && writes && !(w->busy >> i & 1) && before(&was, i, j) && !before(w, i, j)) {
            return "(c)";
        }
    }
    return writes && bounded_labels_circle(&w->labels, w->all) ? "(a)" : NULL;
}

/* The same as a step machine. The words are the labels, then the busy set, then the violation; the
   last two are not part of the algorithm. */
static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words = system->n + 2;
    system->private_bytes = sizeof(uint32_t);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    memset(words, 0, system->shared_words * sizeof *words);
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct world w = {.labels = {system->n, broken}};
    uint32_t *next = state;
    for (unsigned i = 0; i < system->n; i++) {
        w.all[i] = (uint32_t)atomic_load(&memory->words[i]);
    }
    w.busy = (unsigned)atomic_load(&memory->words[system->n]);
    w.next[process] = *next;
    bool writes = w.busy >> process & 1;
    const char *wrong = step_in(&w, process);
    if (writes) {
        step_write(memory, process, w.all[process]);
    } else {
        (void)step_read(memory, process);
    }
    *next = w.busy >> process & 1 ? w.next[process] : 0;
    atomic_store(&memory->words[system->n], w.busy);
    if (wrong != NULL) {
        atomic_store(&memory->words[system->n + 1], (uint64_t)wrong[1]);
    }
}

static const char *wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    static const char *const names[] = {"(a)", "(b)", "(c)"};
    (void)states;
    return words[system->n + 1] == 0 ? NULL : names[words[system->n + 1] - 'a'];
}

/* The first violation, printed with its depth, or NULL. */
static const char *explore(unsigned n, unsigned without, unsigned steps, uint32_t states)
{
    const struct step_machine machine = {.name = "bounded-labels",
                                         .title = "Bounded labels",
                                         .loose_regions = true,
                                         .prepare = prepare,
                                         .init = init,
                                         .step = step,
                                         .region = explore_no_region,
                                         .wrong = wrong,
                                         .print_word = explore_print_word};
    struct step_system system;
    struct check_graph graph;
    broken = without;
    explore_states(&machine, n, &system, &graph);
    unsigned depth = explore_depth(&graph);
    (void)printf("  n=%u, without %x: %u states, %s after %u steps\n", n, without,
                 check_states(&graph), graph.wrong == NULL ? "nothing wrong" : graph.wrong, depth);
    (void)fflush(stdout);
    EXPECT_EQ(depth, steps);
    EXPECT(states == 0 || check_states(&graph) == states);
    const char *found = graph.wrong;
    check_graph_free(&graph);
    return found;
}

static void labels_are_in_order_and_stay_so(void)
{
    EXPECT(explore(1, 0, 0, 1) == NULL);
    EXPECT(explore(2, 0, 0, 18) == NULL);
    EXPECT(explore(3, 0, 0, 9486) == NULL);
    if (slow) {
        EXPECT(explore(4, 0, 0, 57738748) == NULL);
    }
}

static void expect(unsigned n, unsigned without, const char *what, unsigned steps)
{
    const char *found = explore(n, without, steps, 0);
    EXPECT(found != NULL && strcmp(found, what) == 0);
}

static void each_guard_is_needed(void)
{
    EXPECT(explore(2, BOUNDED_NO_START, 0, 14) == NULL);
    expect(3, BOUNDED_NO_START, "(a)", 8);
    expect(3, BOUNDED_NO_TWO, "(a)", 10);
    expect(3, BOUNDED_DEEPEST, "(b)", 7);
    expect(3, BOUNDED_ROOM_MORE, "(b)", 7);
    expect(3, BOUNDED_TAIL, "(a)", 14);
    expect(2, BOUNDED_ALWAYS, "(b)", 7);
}

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % below;
}

/* Each process is fast for a while and slow for a while, so that old choices are written late.
   Return the first violation, or NULL. */
static const char *run_at_random(unsigned n, unsigned without, unsigned steps)
{
    struct world w = {.labels = {n, without}};
    unsigned slow_ones = 0;
    for (unsigned s = 0; s < steps; s++) {
        slow_ones = s % 200 == 0 ? draw(1U << n) : slow_ones;
        unsigned process = draw(n);
        if (slow_ones >> process & 1 && draw(64) != 0) {
            continue;
        }
        const char *found = step_in(&w, process);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

static void long_runs_of_many_find_nothing(void)
{
    unsigned steps = slow ? 30000000 : 1000000;
    for (unsigned n = 5; n <= BOUNDED_LABELS_MOST; n += n == 6 ? 2 : 1) {
        const char *found = run_at_random(n, 0, steps);
        (void)printf("  n=%u: %u random steps, %s\n", n, steps,
                     found == NULL ? "nothing wrong" : found);
        EXPECT(found == NULL);
        EXPECT(run_at_random(n, BOUNDED_NO_START, steps) != NULL); /* runs can find faults */
        EXPECT(run_at_random(n, BOUNDED_NO_TWO, steps) != NULL);
        EXPECT(run_at_random(n, BOUNDED_TAIL, steps) != NULL);
        EXPECT(run_at_random(n, BOUNDED_ROOM_MORE, steps) != NULL);
    }
}

static void digits_are_in_order(void)
{
    static const char *const befores[] = {"12", "13", "14", "15", "23", "24",
                                          "25", "34", "45", "53", NULL};
    struct bounded_labels two = {.n = 2};
    unsigned count = 0;
    for (const char *const *pair = befores; *pair != NULL; pair++, count++) {
        uint32_t a = (uint32_t)((*pair)[0] - '1');
        uint32_t b = (uint32_t)((*pair)[1] - '1');
        EXPECT(bounded_labels_before(&two, a, 1, b, 0) && bounded_labels_before(&two, a, 0, b, 1));
        EXPECT(!bounded_labels_before(&two, b, 1, a, 0));
    }
    EXPECT_EQ(count, 5 * 4 / 2);
    EXPECT(bounded_labels_before(&two, 3, 0, 3, 1) && !bounded_labels_before(&two, 3, 1, 3, 0));
}

static void labels_are_read_from_the_first_digit_on(void)
{
    struct bounded_labels four = {.n = 4};
    char text[BOUNDED_LABELS_MOST + 1];
    uint32_t all[] = {0, 0, 0, 0};
    EXPECT_EQ(bounded_labels_count(4), 125);
    EXPECT_EQ(bounded_labels_print(&four, 2 * 25 + 0 * 5 + 4, text, sizeof text), 3);
    EXPECT(strcmp(text, "315") == 0);
    EXPECT_EQ(bounded_labels_next(&four, all, 3), 0);  /* a tie: the last process */
    EXPECT_EQ(bounded_labels_next(&four, all, 0), 25); /* 211: three in 1.. already */
    all[3] = 25;
    EXPECT_EQ(bounded_labels_next(&four, all, 0), 26); /* 212: one in 2.., one in 21. */
}

int main(int argc, char **argv)
{
    slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 88172645463325252ULL;
    (void)printf("seed %llu\n", (unsigned long long)random_state);
    RUN(digits_are_in_order);
    RUN(labels_are_read_from_the_first_digit_on);
    RUN(each_guard_is_needed);
    RUN(labels_are_in_order_and_stay_so);
    RUN(long_runs_of_many_find_nothing);
    return 0;
}
