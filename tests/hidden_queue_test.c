/*
 * The hidden queue (1979, Lemma 4.5 and Theorem 4.4), with its supervisor and without. It is
 * explored at the smallest sizes, and driven by an adversary at larger ones, from seeds that are
 * printed. Each dropped guard must be caught. Its values are counted.
 *
 *     hidden_queue_test           seconds
 *     hidden_queue_test slow      minutes: `explore`, more sizes, and `drive`, longer runs
 *     hidden_queue_test values    the series of value counts
 */
#include "check/decide/property.h"
#include "hidden_queue_colors.h"
#include "papers/eliminated.h"
#include "papers/hidden_queue.h"
#include "papers/papers.h"
#include "supervised_drive.h"
#include "test.h"

#include <math.h>
#include <string.h>

static struct supervised_size size_of(unsigned n, unsigned k, unsigned r, unsigned variant)
{
    return (struct supervised_size){n, k, r, variant};
}

/* Observations over all runs of a size. */
struct seen {
    unsigned colors;       /* most colours in use at one time */
    unsigned rounds;       /* rounds of talks */
    unsigned number;       /* the largest number of a hidden process while few are in T */
    bool round, cancelled; /* is a round open; was a talk cancelled */
};

static void observe(struct drive *drive, void *context)
{
    struct seen *seen = context;
    const struct supervised_size *size = &drive->size;
    const struct hidden_queue_value *v = (const void *)drive->value;
    const struct hidden_queue_supervisor *s = (const void *)drive->supervisor;
    unsigned used = 1U << s->issue;
    used |= s->fresh == 0 ? 0 : 1U << (s->alone - 1) | 1U << (s->fresh - 1);
    for (unsigned i = 0; i < hidden_queue_cells(size); i++) {
        used |= v->cells[i].state == HIDDEN_QUEUE_EMPTY ? 0 : 1U << v->cells[i].color;
    }
    for (unsigned i = 0; i < s->length; i++) {
        used |= 1U << s->hidden[i].color;
    }
    unsigned colors = (unsigned)__builtin_popcount(used);
    seen->colors = colors > seen->colors ? colors : seen->colors;
    seen->rounds += s->fresh != 0 && !seen->round;
    seen->round = s->fresh != 0;
    bool few = drive->subject->active(size, v, s) <= drive->subject->threshold(size);
    for (unsigned i = 0; i < size->n; i++) {
        const struct hidden_queue_worker *w = drive_worker(drive, i);
        unsigned name = hidden_queue_name_of(v, w);
        bool hidden = w->region == STEP_TRYING && hidden_queue_cell_of(size, v, w) < 0;
        seen->number = few && hidden && w->number > seen->number ? w->number : seen->number;
        seen->cancelled = seen->cancelled || (w->channel != 0 && name != 0 &&
                                              (v->cancelled[w->color] >> (name - 1) & 1));
    }
}

/* Drive some runs from each of `seeds` seeds. Return the first fault, or NULL. */
static const char *drive_all(const struct supervised_size *size, unsigned long first,
                             unsigned seeds, unsigned long steps, struct seen *seen)
{
    static struct drive drive;
    *seen = (struct seen){0};
    for (unsigned long seed = first; seed < first + seeds; seed++) {
        drive_init(&drive, &papers_hidden_queue_system, size, seed * 7919);
        drive.watch = observe;
        drive.context = seen;
        for (unsigned part = 0; part < 4; part++) {
            const char *wrong = drive_adversely(&drive, steps);
            wrong = wrong != NULL ? wrong : drive_to_rest(&drive);
            if (wrong != NULL) {
                (void)printf("  n=%u k=%u r=%u variant %#x, seed %lu, step %lu: %s\n", size->n,
                             size->k, size->r, size->variant, seed, drive.steps, wrong);
                return wrong;
            }
        }
    }
    return NULL;
}

static void adversary_finds_nothing_wrong(unsigned seeds, unsigned long steps)
{
    static const unsigned sizes[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1},  {3, 2, 1},  {4, 1, 2},
                                        {5, 1, 1}, {5, 2, 2}, {8, 1, 2},  {8, 2, 2},  {8, 2, 3},
                                        {9, 1, 3}, {9, 1, 4}, {16, 3, 3}, {32, 2, 2}, {32, 3, 3}};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (unsigned tight = 0; tight <= HIDDEN_QUEUE_TIGHT; tight += HIDDEN_QUEUE_TIGHT) {
            struct supervised_size size = size_of(sizes[i][0], sizes[i][1], sizes[i][2], tight);
            struct seen seen;
            unsigned fewer = size.n < 16 ? seeds : 1 + seeds / 8; /* a step checks all n */
            const char *wrong = drive_all(&size, 1, fewer, steps, &seen);
            (void)printf("  n=%-2u k=%u r=%u%s: %u rounds, %u colours of %u in use%s; few in T, "
                         "and a number of %u hidden\n",
                         size.n, size.k, size.r, tight ? " tight" : "", seen.rounds, seen.colors,
                         hidden_queue_colors(&size), seen.cancelled ? ", talks cancelled" : "",
                         seen.number);
            EXPECT(wrong == NULL);
            /* not vacuous: there were rounds, and where a round can end early, one did */
            EXPECT(size.n < 3 || seen.rounds > 0);
            EXPECT(size.n < 8 || size.r == 1 || seen.cancelled);
            EXPECT(seen.colors <= hidden_queue_colors(&size));
        }
    }
}

static void adversary_finds_nothing_wrong_in_short_runs(void)
{
    adversary_finds_nothing_wrong(4, 800);
}

static void adversary_finds_nothing_wrong_in_long_runs(void)
{
    adversary_finds_nothing_wrong(24, 4000);
}

/* Why (R7) needs short names in the hidden queue too: numbers of hidden processes can be up to N
   while few are in T. The supervisor would have to keep them in shared memory. */
static void long_names_of_the_hidden_grow_with_n(void)
{
    struct supervised_size small = size_of(8, 2, 2, 0);
    struct supervised_size large = size_of(32, 2, 2, 0);
    struct seen seen_small;
    struct seen seen_large;
    EXPECT(drive_all(&small, 1, 2, 1000, &seen_small) == NULL);
    EXPECT(drive_all(&large, 1, 2, 1000, &seen_large) == NULL);
    EXPECT(seen_large.number > 2 * papers_hidden_queue_system.threshold(&large));
    EXPECT(seen_large.number > seen_small.number);
}

/* Each dropped guard, at a size where the adversary catches it, and at a size where it has no
   effect. */
static const struct mutant {
    unsigned variant, n, k, r;
    const char *found; /* NULL: no fault */
} mutants[] = {
    {HIDDEN_QUEUE_UNPADDED, 4, 1, 1, "R1"},
    {HIDDEN_QUEUE_TWO_DELETED, 4, 1, 1, "R1"},
    {HIDDEN_QUEUE_NONE_DELETED, 4, 1, 1, "C2"},
    {HIDDEN_QUEUE_ISSUE_KEPT, 6, 1, 2, "the colour issue, alone or fresh has a map"},
    {HIDDEN_QUEUE_ISSUE_MAPPED, 4, 1, 1, "the colour issue, alone or fresh has a map"},
    {HIDDEN_QUEUE_UNNOTICED, 4, 1, 1, "R5"},
    {HIDDEN_QUEUE_NOT_CANCELLED, 5, 1, 1, NULL}, /* with r = 1 no talk is left open */
    {HIDDEN_QUEUE_NOT_CANCELLED, 8, 2, 3, "exactly one place"},
    {HIDDEN_QUEUE_DONE_MISSED, 5, 1, 1, NULL},
    {HIDDEN_QUEUE_DONE_MISSED, 8, 2, 3, "exactly one place"},
    {HIDDEN_QUEUE_ALL_TALK, 5, 1, 1, NULL},
    {HIDDEN_QUEUE_ALL_TALK, 6, 1, 2, "C2"},
    {HIDDEN_QUEUE_TALK_FEWER, 5, 1, 1, "C2"},
    {HIDDEN_QUEUE_TALK_FEWER, 6, 1, 2, "C2"},
    {HIDDEN_QUEUE_NO_NAMES, 4, 1, 1, "C2"},
    {HIDDEN_QUEUE_NO_NAMES, 6, 1, 2, NULL},
    {HIDDEN_QUEUE_POSITION_FEWER, 6, 1, 2, NULL}, /* one name needs no position */
    {HIDDEN_QUEUE_POSITION_FEWER, 8, 2, 3, "exactly one place"},
    {HIDDEN_QUEUE_COLOR_FEWER, 5, 1, 1, "all colours are in use"},
    {HIDDEN_QUEUE_COLOR_FEWER, 8, 1, 2, "all colours are in use"},
    {HIDDEN_QUEUE_COLOR_FEWER | HIDDEN_QUEUE_TIGHT, 5, 1, 1, "C2"},
    {HIDDEN_QUEUE_COLOR_FEWER | HIDDEN_QUEUE_TIGHT, 8, 2, 2, "C2"},
    {HIDDEN_QUEUE_ROUND_EARLY, 5, 1, 1, "all colours are in use"},
    {HIDDEN_QUEUE_HEARD_TOO_SOON, 5, 1, 1, "exactly one place"},
    {HIDDEN_QUEUE_COLOR_TOO_SOON, 6, 1, 2, "the colour issue, alone or fresh has a map"},
};

static void every_dropped_guard_is_caught(void)
{
    bool caught[HIDDEN_QUEUE_BROKEN_END] = {false};
    for (unsigned i = 0; i < sizeof mutants / sizeof mutants[0]; i++) {
        const struct mutant *m = &mutants[i];
        struct supervised_size size = size_of(m->n, m->k, m->r, m->variant);
        struct seen seen;
        const char *wrong = drive_all(&size, 1, m->found == NULL ? 8 : 64, 1000, &seen);
        EXPECT((wrong != NULL) == (m->found != NULL));
        EXPECT(wrong == NULL || strstr(wrong, m->found) != NULL);
        if (wrong != NULL) {
            caught[m->variant & HIDDEN_QUEUE_BROKEN_MASK] = true;
        }
    }
    for (unsigned v = 1; v < HIDDEN_QUEUE_BROKEN_END; v++) {
        EXPECT(caught[v]);
    }
}

/* Explore the machine at a size: every claim holds, and is tested where that is possible. */
static uint32_t explore(struct check_graph *graph, struct step_system *system,
                        const struct step_machine *machine, unsigned n, unsigned k, unsigned r)
{
    struct check_options options = {0};
    char why[STEP_WHY_BYTES];
    EXPECT_EQ(step_system_init(system, machine, n, k, r, why), 0);
    EXPECT_EQ(check_explore(graph, system, &options), 0);
    if (!graph->complete) {
        (void)printf("  memory ends after %u states\n", check_states(graph));
    }
    EXPECT(graph->complete && graph->broken == NULL);
    return graph->seen.shared.count;
}

struct explored {
    unsigned n, k, r, variant;
    uint32_t states; /* expected */
};

static void explore_and_judge(const struct step_machine *machine, const struct explored *row)
{
    struct step_machine own = *machine;
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    own.variant = row->variant;
    uint32_t values = explore(&graph, &system, &own, row->n, row->k, row->r);
    struct supervised_size size = size_of(row->n, row->k, row->r, row->variant);
    (void)printf("  %s n=%u k=%u r=%u%s: %u states, %u values%s\n", machine->name, row->n, row->k,
                 row->r, row->variant ? " tight" : "", check_states(&graph), values,
                 machine->rebase != NULL ? ", but for colours" : "");
    EXPECT_EQ(check_states(&graph), row->states);
    EXPECT(!machine->supervised || values <= hidden_queue_values(&size));
    EXPECT_EQ(check_decide(&graph, &report), 0);
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        const struct check_result *result = &report.results[p];
        if (system.claims & STEP_CLAIM(p)) {
            EXPECT_EQ(result->verdict, CHECK_HOLDS);
            EXPECT(result->tested > 0 || row->n <= row->k);
        }
    }
    EXPECT(report.results[STEP_C5].bound == 0);
    /* it survives r-1 failures; with a process beside those that hold the seats, no more */
    EXPECT(report.results[STEP_C2].robust < 0 || report.results[STEP_C2].robust >= (int64_t)row->r);
    check_report_free(&report);
    check_graph_free(&graph);
}

static const struct explored supervised_sizes[] = {
    {1, 1, 1, 0, 18},
    {2, 1, 1, 0, 603},
    {2, 1, 2, 0, 2951},
    {2, 2, 1, 0, 1116},
    {2, 2, 2, 0, 5428},
    {3, 1, 1, 0, 48035},
    {3, 1, 1, HIDDEN_QUEUE_TIGHT, 30448},
};

static const struct explored slow_supervised_sizes[] = {
    {3, 1, 2, 0, 709862},  {3, 1, 3, 0, 518067},  {3, 2, 1, 0, 88828},
    {3, 2, 2, 0, 2255614}, {4, 1, 1, 0, 2960699}, {3, 1, 2, HIDDEN_QUEUE_TIGHT, 478658},
};

static const struct explored eliminated_sizes[] = {{2, 1, 1, 0, 295}, {2, 1, 2, 0, 1373}};

static const struct explored slow_eliminated_sizes[] = {{3, 1, 1, 0, 2955061}};

/* With colours in a canonical form. */
static const struct explored canonical_sizes[] = {{3, 1, 1, 0, 2710}, {4, 2, 1, 0, 120497}};

static const struct explored slow_canonical_sizes[] = {
    {4, 1, 1, 0, 110861}, {5, 1, 1, 0, 6428516}, {4, 1, 2, 0, 14266845}};

#define EXPLORE_ALL(machine, sizes)                                                                \
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes)[0]; i++) {                                \
        explore_and_judge(machine, &(sizes)[i]);                                                   \
    }

static void with_its_supervisor_it_keeps_every_promise(void)
{
    EXPLORE_ALL(&papers_hidden_queue_supervised, supervised_sizes);
}

static void with_its_supervisor_it_keeps_every_promise_at_more_sizes(void)
{
    EXPLORE_ALL(&papers_hidden_queue_supervised, slow_supervised_sizes);
}

static void so_it_does_with_colours_in_canonical_form(void)
{
    struct step_machine machine = papers_hidden_queue_supervised;
    machine.rebase = hidden_queue_rename_colors;
    EXPLORE_ALL(&machine, canonical_sizes);
}

static void so_it_does_with_colours_in_canonical_form_at_more_sizes(void)
{
    struct step_machine machine = papers_hidden_queue_supervised;
    machine.rebase = hidden_queue_rename_colors;
    EXPLORE_ALL(&machine, slow_canonical_sizes);
}

static void without_a_supervisor_it_keeps_every_promise(void)
{
    EXPLORE_ALL(&papers_hidden_queue, eliminated_sizes);
}

static void without_a_supervisor_it_keeps_every_promise_at_more_sizes(void)
{
    EXPLORE_ALL(&papers_hidden_queue, slow_eliminated_sizes);
}

/* The largest number of supervisor states that go with one value while at most c1 are in T:
   (R7). */
static unsigned most_supervisors(unsigned n)
{
    struct step_system system;
    struct check_graph graph;
    (void)explore(&graph, &system, &papers_hidden_queue_supervised, n, 1, 1);
    struct supervised_size size = supervised_size_of(&system);
    uint32_t values = graph.seen.shared.count;
    uint32_t supervisors = graph.seen.private.count;
    unsigned char *seen = calloc((size_t)values * supervisors, 1);
    unsigned *count = calloc(values, sizeof *count);
    unsigned most = 0;
    EXPECT(seen != NULL && count != NULL);
    for (uint32_t s = 0; s < check_states(&graph); s++) {
        const uint64_t *key = check_seen_key(&graph.seen, s);
        uint32_t value = check_seen_part(&graph.seen, key, 0);
        uint32_t supervisor = check_seen_part(&graph.seen, key, 1 + n);
        unsigned trying = (unsigned)__builtin_popcount(check_in_region(&graph, s, STEP_TRYING));
        unsigned char *mark = &seen[(size_t)value * supervisors + supervisor];
        if (trying <= papers_hidden_queue_system.threshold(&size) && !*mark) {
            *mark = 1;
            most = ++count[value] > most ? count[value] : most;
        }
    }
    free(seen);
    free(count);
    check_graph_free(&graph);
    return most;
}

static void few_supervisor_states_go_with_one_value(void)
{
    struct supervised_size size = size_of(2, 1, 1, 0);
    struct supervised_size large = size_of(32, 1, 1, 0);
    unsigned two = most_supervisors(2);
    unsigned three = most_supervisors(3);
    (void)printf("  with at most 2 in T: %u at n = 2, %u at n = 3\n", two, three);
    EXPECT(two > 1 && two <= hidden_queue_supervisors(&size));
    EXPECT(three > 1 && three <= hidden_queue_supervisors(&size));
    EXPECT(hidden_queue_supervisors(&large) == hidden_queue_supervisors(&size));
}

/* values / (N (log2 N)^c) does not grow with N. */
static void values_are_few(bool show)
{
    for (unsigned k = 1; k <= 3; k++) {
        for (unsigned r = 1; r <= 4; r++) {
            double last = INFINITY;
            for (unsigned n = 4; n <= 1U << 30; n *= 2) {
                struct supervised_size size = size_of(n, k, r, 0);
                unsigned c = hidden_queue_exponent(&size);
                double log_ratio = log2(hidden_queue_values(&size)) - log2(n) - c * log2(log2(n));
                if (show && (n == 4 || n == 32 || n == 1024 || n == 1U << 20)) {
                    (void)printf("  k=%u r=%u n=%-8u log2(values) %.1f, c=%u, "
                                 "log2(values / (n (log2 n)^c)) %.2f\n",
                                 k, r, n, log2(hidden_queue_values(&size)), c, log_ratio);
                }
                EXPECT(log_ratio <= last + 1e-9);
                last = log_ratio;
                EXPECT_EQ(c, r <= 2 ? 0 : (r - 2) * (2 * k + 3 * r - 2));
            }
        }
    }
}

static void values_are_as_few_as_the_report_says(void)
{
    values_are_few(false);
}

int main(int argc, char **argv)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "values") == 0) {
        values_are_few(true);
        return 0;
    }
    bool slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    bool explores = argc > 1 && strcmp(argv[1], "explore") == 0;
    bool drives = argc > 1 && strcmp(argv[1], "drive") == 0;
    if (slow || explores) {
        RUN(with_its_supervisor_it_keeps_every_promise_at_more_sizes);
        RUN(without_a_supervisor_it_keeps_every_promise_at_more_sizes);
        RUN(so_it_does_with_colours_in_canonical_form_at_more_sizes);
    }
    if (slow || drives) {
        RUN(adversary_finds_nothing_wrong_in_long_runs);
    }
    if (slow || explores || drives) {
        return 0;
    }
    RUN(values_are_as_few_as_the_report_says);
    RUN(with_its_supervisor_it_keeps_every_promise);
    RUN(so_it_does_with_colours_in_canonical_form);
    RUN(without_a_supervisor_it_keeps_every_promise);
    RUN(few_supervisor_states_go_with_one_value);
    RUN(every_dropped_guard_is_caught);
    RUN(long_names_of_the_hidden_grow_with_n);
    RUN(adversary_finds_nothing_wrong_in_short_runs);
    return 0;
}
