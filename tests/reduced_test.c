/*
 * Merging heedless reads (src/check/explore/reduce.h) changes no verdict. Every machine that has
 * such reads, and every mutant of it, is explored both ways, at all sizes at which the full
 * exploration is quick. A machine that declares its steps wrongly is caught.
 *
 *     reduced_test [N]       with 5, also sizes of n = 4 and 5 that take longer
 */
#include "check/explore/instance.h"
#include "check/explore/reduce.h"
#include "check/explore/trace.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

static unsigned most_n = 4;
static unsigned pairs;   /* explorations compared */
static unsigned smaller; /* of these: with fewer states when reduced */
static unsigned caught;  /* violated promises, found in both explorations */

struct decided {
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
};

static void explore(struct decided *d, const struct step_machine *machine, unsigned n, unsigned k,
                    bool reduced)
{
    char why[STEP_WHY_BYTES];
    struct check_options options = {.reduced = reduced};
    EXPECT_EQ(step_system_init(&d->system, machine, n, k, 0, why), 0);
    EXPECT_EQ(check_explore(&d->graph, &d->system, &options), 0);
    EXPECT(d->graph.complete && d->graph.broken == NULL);
    EXPECT_EQ(check_decide(&d->graph, &d->report), 0);
}

static void forget(struct decided *d)
{
    check_report_free(&d->report);
    check_graph_free(&d->graph);
}

/* The trace can be written, read and replayed step by step, and its loop closes. */
static void expect_replay(const struct decided *d, enum step_property property)
{
    struct check_trace trace;
    char why[CHECK_TRACE_WHY] = "";
    FILE *file = tmpfile();
    EXPECT(file != NULL);
    EXPECT_EQ(check_trace_write(file, &d->system, step_property_name(property),
                                &d->report.results[property]),
              0);
    rewind(file);
    EXPECT_EQ(check_trace_read(file, &trace, why), 0);
    EXPECT_EQ(check_trace_replay(&trace, &d->system, why), 0);
    check_trace_free(&trace);
    (void)fclose(file);
}

/* Follow a schedule in the full graph from `state`, and return where it ends. */
static uint32_t follow(const struct decided *full, uint32_t state, const struct check_schedule *s)
{
    for (size_t i = 0; i < s->length; i++) {
        state = check_edge(&full->graph, state, s->steps[i]);
    }
    return state;
}

static void expect_same(const struct decided *full, const struct decided *reduced, unsigned p)
{
    const struct check_result *a = &full->report.results[p];
    const struct check_result *b = &reduced->report.results[p];
    if (!check_reduce_keeps((enum step_property)p)) {
        EXPECT_EQ(b->verdict, CHECK_NOT_CHECKED);
        return;
    }
    if (a->verdict != b->verdict || a->bound != b->bound || a->entries != b->entries) {
        (void)fprintf(stderr, "%s n=%u k=%u %s: %d, reduced %d\n", full->system.machine->name,
                      full->system.n, full->system.k, step_property_name((enum step_property)p),
                      a->verdict, b->verdict);
        exit(1);
    }
    EXPECT_EQ(a->tested > 0, b->tested > 0);
    if (a->verdict == CHECK_VIOLATED) {
        uint32_t at = follow(full, 0, &b->trace);
        EXPECT_EQ(follow(full, at, &b->loop), at);
        EXPECT_EQ(a->loop.length > 0, b->loop.length > 0);
        EXPECT(b->trace.length + b->loop.length > 0);
        bool some_may_stop = p == STEP_LOCKOUT || p == STEP_PROGRESS;
        EXPECT(b->stopped == 0 ||
               (some_may_stop && __builtin_popcount(b->stopped) < (int)full->system.k));
        expect_replay(reduced, (enum step_property)p);
        caught += full->system.claims >> p & 1;
    }
}

static void compare(const struct step_machine *machine, unsigned n, unsigned k)
{
    struct decided full;
    struct decided reduced;
    explore(&full, machine, n, k, false);
    explore(&reduced, machine, n, k, true);
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        expect_same(&full, &reduced, p);
    }
    EXPECT(check_states(&reduced.graph) <= check_states(&full.graph));
    if (machine->rebase == NULL) { /* all shared values are still found */
        EXPECT_EQ(reduced.graph.seen.shared.count, full.graph.seen.shared.count);
    }
    (void)printf("  %s n=%u k=%u: %u states, reduced %u\n", machine->name, n, k,
                 check_states(&full.graph), check_states(&reduced.graph));
    pairs++;
    smaller += check_states(&reduced.graph) < check_states(&full.graph);
    forget(&reduced);
    forget(&full);
}

/* At n = 4 only sizes with few states: k = 3, and trees of mutants; more with the argument. */
static bool is_quick(const struct step_machine *machine, unsigned n, unsigned k)
{
    bool tree = strstr(machine->name, "gtex") != NULL && k == 1;
    if (n <= 3) {
        return k <= n;
    }
    if (machine->waiting_room != NULL) { /* fife and its mutants */
        return false;
    }
    return tree || (machine->variant == 0 && (k == 3 || most_n >= 5));
}

static void no_verdict_changes(void)
{
    const struct step_machine *const *const lists[] = {papers_all, papers_mutants};
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned m = 0; lists[list][m] != NULL; m++) {
            for (unsigned size = 0; size < 12; size++) {
                const struct step_machine *machine = lists[list][m];
                struct step_system system;
                char why[STEP_WHY_BYTES];
                unsigned n = 2 + size / 4;
                unsigned k = 1 + size % 4;
                if (machine->heedless != NULL && is_quick(machine, n, k) &&
                    step_system_init(&system, machine, n, k, 0, why) == 0) {
                    compare(machine, n, k);
                }
            }
        }
    }
    (void)printf("  %u pairs, %u with fewer states, %u broken promises\n", pairs, smaller, caught);
    EXPECT(pairs >= 60 && smaller >= 30 && caught >= 30);
}

/* Sizes that are too large for a full exploration. */
static void naive_keeps_its_promises_at_sizes_of_five(void)
{
    static const struct {
        unsigned k;
        uint32_t states;
    } sizes[] = {{3, 928391}, {2, 4464385}};
    for (unsigned s = 0; s < 2 && most_n >= 5; s++) {
        struct decided reduced;
        explore(&reduced, &papers_naive, 5, sizes[s].k, true);
        EXPECT_EQ(check_states(&reduced.graph), sizes[s].states);
        EXPECT(check_claims_hold(&reduced.system, &reduced.report));
        EXPECT_EQ(reduced.report.results[STEP_LOCKOUT].verdict, CHECK_VIOLATED);
        EXPECT_EQ(reduced.report.results[STEP_PROMPT].entries, 4);
        forget(&reduced);
    }
}

/* Wrong declarations: of reads that matter, and of steps that are not reads. */
static bool every_read(const struct step_system *system, const void *state, unsigned process)
{
    _Alignas(8) unsigned char own[STEP_MAX_PRIVATE_BYTES];
    _Atomic uint64_t words[STEP_MAX_SHARED_WORDS] = {0};
    struct step_access access = {0};
    struct step_memory memory = {.words = words, .access = &access};
    if (system->machine->region(system, state) != STEP_TRYING) {
        return false;
    }
    memcpy(own, state, system->private_bytes);
    system->machine->step(system, &memory, own, process);
    return access.kind == STEP_READ && memcmp(own, state, 2) == 0; /* stays in the same loop */
}

static bool every_step_in_t(const struct step_system *system, const void *state, unsigned process)
{
    (void)process;
    return system->machine->region(system, state) == STEP_TRYING;
}

static void a_wrong_declaration_is_caught(void)
{
    bool (*const lies[])(const struct step_system *, const void *, unsigned) = {every_read,
                                                                                every_step_in_t};
    for (unsigned lie = 0; lie < 2; lie++) {
        struct step_machine liar = papers_excl;
        struct step_system system;
        struct check_graph graph;
        struct check_options options = {.reduced = true};
        char why[STEP_WHY_BYTES];
        liar.heedless = lies[lie];
        EXPECT_EQ(step_system_init(&system, &liar, 3, 1, 0, why), 0);
        EXPECT_EQ(check_explore(&graph, &system, &options), 0);
        EXPECT(graph.broken != NULL);
        EXPECT(strstr(graph.broken, "heedless") != NULL);
        check_graph_free(&graph);
    }
}

int main(int argc, char **argv)
{
    most_n = argc > 1 ? (unsigned)atoi(argv[1]) : most_n;
    RUN(no_verdict_changes);
    RUN(naive_keeps_its_promises_at_sizes_of_five);
    RUN(a_wrong_declaration_is_caught);
    return 0;
}
