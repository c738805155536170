/*
 * The lower bounds of the 1979 report (Theorems 5.1, 5.2, 5.3), executed.
 *
 * Which theorem applies to which algorithm is decided where that is quick, and taken from the
 * promises elsewhere. Where a theorem applies, its states must have as many values as it says, from
 * n = 2 to n = 64.
 */
#include "check/bounds/conditions.h"
#include "check/bounds/space.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

/* Sizes that are decided: those of at most n processes that fit in memory. "slow": more. */
static unsigned most_n = 4;
static size_t most_bytes = 2 << 20;

/* The theorems to which a machine is subject, and at which sizes. All need k < n; 5.2 needs n >=
   k+2. */
enum reach { NEVER, ALWAYS, ONE_SEAT, A_PAIR };

static const struct {
    const char *name;
    enum reach reach[CHECK_THEOREMS];
    bool promised; /* promised at all sizes, or only found where it was decided */
    unsigned most; /* the largest n of 8, 16, 32, 64 that it takes with one seat; 0: none */
} rows[] = {
    {"bank", {ALWAYS, NEVER, ONE_SEAT}, true, 64},
    {"queue", {ONE_SEAT, ALWAYS, ALWAYS}, true, 8},
    {"queue-two-step", {ONE_SEAT, ALWAYS, ALWAYS}, true, 8},
    {"numbered", {ONE_SEAT, ALWAYS, ALWAYS}, true, 64},
    {"colored-unbounded", {ONE_SEAT, ALWAYS, ALWAYS}, true, 64},
    {"colored", {ONE_SEAT, ALWAYS, ALWAYS}, true, 64},
    {"colored-tight", {ONE_SEAT, ALWAYS, ALWAYS}, true, 64},
    {"colored-1979", {ONE_SEAT, ALWAYS, ALWAYS}, true, 64},
    {"peek-queue", {ONE_SEAT, ALWAYS, ALWAYS}, true, 8},
    {"bucket-eliminated", {ONE_SEAT, NEVER, ALWAYS}, true, 64},
    {"hidden-queue", {ONE_SEAT, NEVER, ALWAYS}, true, 32},
    {"dqb", {ONE_SEAT, NEVER, ONE_SEAT}, false, 8},
    {"naive", {A_PAIR, NEVER, A_PAIR}, false, 0}, /* with two processes overtaking is bounded */
    {"excl", {A_PAIR, NEVER, A_PAIR}, false, 0},
    {"gtex", {A_PAIR, NEVER, A_PAIR}, false, 0},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* The row of a machine; ROWS if no theorem is about it. */
static unsigned row_of(const struct step_machine *machine)
{
    unsigned row = 0;
    while (row < ROWS && strcmp(rows[row].name, machine->name) != 0) {
        row++;
    }
    return row;
}

static bool is_expected(unsigned row, unsigned t, unsigned n, unsigned k)
{
    enum reach reach = row < ROWS ? rows[row].reach[t] : NEVER;
    return (reach == ALWAYS || (reach != NEVER && k == 1 && (reach == ONE_SEAT || n == 2))) &&
           n >= k + (t == CHECK_THEOREM_5_2 ? 2 : 1);
}

static void complain(const struct step_system *system, unsigned t, const char *what)
{
    (void)fprintf(stderr, "%s, n=%u, k=%u, r=%u, Theorem %s: %s\n", system->machine->name,
                  system->workers, system->k, system->robustness,
                  check_theorem_name((enum check_theorem)t), what);
    exit(1);
}

/* All states of the proof have different values. */
static unsigned expect_shown(const struct step_system *system, unsigned t)
{
    enum check_theorem theorem = (enum check_theorem)t;
    struct check_lower lower;
    EXPECT_EQ(check_lower_run(theorem, system, &lower), 0);
    if (!lower.executable || lower.distinct != lower.states) {
        complain(system, t, "not shown");
    }
    EXPECT_EQ(lower.states, check_theorem_states(theorem, system->n, system->k));
    EXPECT(lower.states >= check_theorem_bound(theorem, system->n, system->k));
    return lower.states;
}

static void the_bounds_are_as_printed(void)
{
    EXPECT_EQ(check_theorem_bound(CHECK_THEOREM_5_1, 5, 2), 6);
    EXPECT_EQ(check_theorem_bound(CHECK_THEOREM_5_3, 5, 2), 6);
    EXPECT_EQ(check_theorem_bound(CHECK_THEOREM_5_1, 3, 3), 0);
    EXPECT_EQ(check_theorem_bound(CHECK_THEOREM_5_1, 3, 4), 0);
    EXPECT_EQ(check_theorem_bound(CHECK_THEOREM_5_2, 6, 2), 2 * 3);
    EXPECT_EQ(check_theorem_bound(CHECK_THEOREM_5_2, 4, 2), 0);
    EXPECT_EQ(check_theorem_bound(CHECK_THEOREM_5_2, 2, 2), 0);
    for (unsigned n = 1; n <= 64; n++) {
        for (unsigned k = 1; k <= n; k++) { /* 5.2 can be strengthened by what 1989 adds */
            EXPECT_EQ(check_theorem_states(CHECK_THEOREM_5_2, n, k), check_lower_bound(n, k));
        }
    }
}

/* Decide the conditions that a machine without supervisor meets at a size. False if it does not
   take the size or has too many states. */
static bool decide(const struct step_machine *machine, unsigned n, unsigned k,
                   struct step_system *system, struct check_conditions *conditions,
                   uint32_t *values)
{
    char why[STEP_WHY_BYTES];
    struct check_options options = {.memory = n == 2 ? 8 * most_bytes : most_bytes};
    struct check_graph graph;
    struct check_report report;
    if (machine->supervised || step_system_init(system, machine, n, k, 0, why) != 0) {
        return false;
    }
    EXPECT_EQ(check_explore(&graph, system, &options), 0);
    bool complete = graph.complete;
    if (complete) {
        EXPECT_EQ(check_decide(&graph, &report), 0);
        complete = report.results[STEP_C2].verdict != CHECK_NOT_CHECKED &&
                   report.results[STEP_C4].verdict != CHECK_NOT_CHECKED;
        EXPECT_EQ(check_conditions_decide(&graph, &report, conditions), 0);
        check_report_free(&report);
    }
    *values = graph.seen.shared.count;
    check_graph_free(&graph);
    return complete;
}

/* The implications between C4 and C4' that conditions.h states for any system. */
static void expect_known(const struct step_system *system, const struct check_conditions *c)
{
    EXPECT(!c->waiting || c->waiting_enabled);
    EXPECT(system->k > 1 || !c->null_exit || !c->exclusion || !c->waiting_enabled || c->waiting);
    EXPECT(system->k < 2 || system->k >= system->workers || !c->exclusion || c->robust < 2 ||
           !c->waiting);
}

/* A machine that meets the conditions has the values, even if it is broken otherwise. Return the
   number of theorems that applied. */
static unsigned expect_theorems(const struct step_system *system, const struct check_conditions *c,
                                uint32_t values)
{
    unsigned applied = 0;
    expect_known(system, c);
    for (unsigned t = 0; t < CHECK_THEOREMS; t++) {
        if (check_theorem_lacks((enum check_theorem)t, system, c) == NULL) {
            unsigned shown = expect_shown(system, t);
            EXPECT(system->machine->unbounded || shown <= values);
            applied++;
        }
    }
    return applied;
}

static bool check_size(const struct step_machine *machine, unsigned n, unsigned k,
                       unsigned applied[ROWS + 1])
{
    struct step_system system;
    struct check_conditions decided, promised;
    uint32_t values;
    unsigned row = row_of(machine);
    if (!decide(machine, n, k, &system, &decided, &values)) {
        return false;
    }
    applied[row] += expect_theorems(&system, &decided, values);
    check_conditions_promised(&system, &promised);
    for (unsigned t = 0; t < CHECK_THEOREMS && !machine->printed; t++) {
        bool is = check_theorem_lacks((enum check_theorem)t, &system, &decided) == NULL;
        bool said = check_theorem_lacks((enum check_theorem)t, &system, &promised) == NULL;
        if (row < ROWS && is != is_expected(row, t, n, k)) {
            complain(&system, t, is ? "applies" : "does not apply");
        }
        if (said != (is && row < ROWS && rows[row].promised)) {
            complain(&system, t, said ? "is promised" : "is not promised");
        }
    }
    return true;
}

static void the_theorems_apply_where_they_are_said_to(void)
{
    unsigned applied[ROWS + 1] = {0};
    for (const struct step_machine *const *m = papers_all; *m != NULL; m++) {
        bool fits = true; /* if no k fits at one n, none will at the next */
        for (unsigned n = 1; n <= most_n && fits; n++) {
            fits = false;
            for (unsigned k = 1; k <= n && k < 4; k++) {
                fits = check_size(*m, n, k, applied) || n < 2 || fits;
            }
        }
    }
    for (unsigned row = 0; row < ROWS; row++) {
        (void)printf("  %-18s %u times\n", rows[row].name, applied[row]);
        EXPECT(applied[row] > 0);
    }
    EXPECT_EQ(applied[ROWS], 0); /* no theorem is about any other machine */
}

/* A broken machine that still meets all conditions of a theorem is subject to it. */
static void the_theorems_hold_for_mutants(void)
{
    unsigned applied = 0;
    for (const struct step_machine *const *m = papers_mutants; *m != NULL; m++) {
        for (unsigned n = 2; n < most_n; n++) {
            for (unsigned k = 1; k < n; k++) {
                struct step_system system;
                struct check_conditions conditions;
                uint32_t values;
                if (decide(*m, n, k, &system, &conditions, &values)) {
                    applied += expect_theorems(&system, &conditions, values);
                }
            }
        }
    }
    (void)printf("  %u times\n", applied);
    EXPECT(applied > 10);
}

/* Sizes at which nothing is explored. */
static void the_values_are_there_up_to_sixty_four_processes(void)
{
    static const unsigned ns[] = {8, 16, 32, 64};
    static const unsigned ks[] = {1, 2, 3, 4, 7};
    for (unsigned row = 0; row < ROWS; row++) {
        unsigned largest[CHECK_THEOREMS] = {0};
        unsigned states = 0;
        for (unsigned size = 0; size < 20; size++) {
            struct step_system system;
            struct check_conditions conditions;
            char why[STEP_WHY_BYTES];
            unsigned n = ns[size / 5];
            if (step_system_init(&system, papers_find(rows[row].name), n, ks[size % 5], 0, why)) {
                continue;
            }
            check_conditions_promised(&system, &conditions);
            for (unsigned t = 0; t < CHECK_THEOREMS; t++) {
                bool applies =
                    check_theorem_lacks((enum check_theorem)t, &system, &conditions) == NULL;
                EXPECT_EQ(applies, rows[row].promised && is_expected(row, t, n, system.k));
                if (is_expected(row, t, n, system.k)) {
                    states += expect_shown(&system, t);
                    largest[t] = n;
                }
            }
        }
        (void)printf("  %-18s %u states\n", rows[row].name, states);
        for (unsigned t = 0; t < CHECK_THEOREMS; t++) {
            EXPECT_EQ(largest[t], rows[row].reach[t] == NEVER ? 0 : rows[row].most);
        }
    }
}

/* For 5.3 a robustness below k is not enough; one above k is. */
static void robustness_decides_about_theorem_5_3(void)
{
    struct step_system system;
    struct check_conditions conditions;
    char why[STEP_WHY_BYTES];
    for (unsigned r = 1; r <= 4; r++) {
        EXPECT_EQ(step_system_init(&system, &papers_bucket_eliminated, 12, 3, r, why), 0);
        check_conditions_promised(&system, &conditions);
        EXPECT_EQ(conditions.robust, r);
        EXPECT_EQ(check_theorem_lacks(CHECK_THEOREM_5_3, &system, &conditions) == NULL, r >= 3);
        if (r >= 3) {
            (void)expect_shown(&system, CHECK_THEOREM_5_3);
        }
    }
    EXPECT_EQ(step_system_init(&system, &papers_bank, 6, 3, 0, why), 0);
    check_conditions_promised(&system, &conditions);
    EXPECT_EQ(conditions.robust, 1); /* the same algorithm with a smaller r */
}

/* Mutants that break their promises, at sizes at which nothing is explored: a step of the proof
   fails, or values are missing. */
static void broken_promises_are_caught(void)
{
    static const struct {
        const char *name;
        enum check_theorem theorem;
        unsigned n, k;
    } broken[] = {
        {"mutant-m-too-small", CHECK_THEOREM_5_2, 20, 3},
        {"mutant-m-too-small", CHECK_THEOREM_5_3, 64, 2},
        {"mutant-color-not-free", CHECK_THEOREM_5_2, 20, 1},
        {"mutant-quant-stale", CHECK_THEOREM_5_2, 12, 2},
        {"mutant-leads-strict", CHECK_THEOREM_5_3, 12, 2},
        {"mutant-valid-too-far", CHECK_THEOREM_5_1, 30, 1},
        {"mutant-validate-nothing", CHECK_THEOREM_5_3, 30, 2},
        {"mutant-queue-barging", CHECK_THEOREM_5_2, 12, 2},
        {"mutant-peek-dequeue", CHECK_THEOREM_5_1, 12, 1},
        {"colored-printed", CHECK_THEOREM_5_3, 20, 3},
    };
    for (unsigned b = 0; b < sizeof broken / sizeof broken[0]; b++) {
        struct step_system system;
        struct check_conditions conditions;
        struct check_lower lower;
        char why[STEP_WHY_BYTES];
        EXPECT_EQ(step_system_init(&system, papers_find(broken[b].name), broken[b].n, broken[b].k,
                                   0, why),
                  0);
        check_conditions_promised(&system, &conditions);
        EXPECT(check_theorem_lacks(broken[b].theorem, &system, &conditions) == NULL);
        EXPECT_EQ(check_lower_run(broken[b].theorem, &system, &lower), 0);
        if (lower.executable && lower.distinct == lower.states) {
            complain(&system, broken[b].theorem, "nothing was found");
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "slow") == 0) {
        most_n = 5;
        most_bytes = 24 << 20;
    }
    RUN(the_bounds_are_as_printed);
    RUN(the_theorems_apply_where_they_are_said_to);
    RUN(the_theorems_hold_for_mutants);
    RUN(the_values_are_there_up_to_sixty_four_processes);
    RUN(robustness_decides_about_theorem_5_3);
    RUN(broken_promises_are_caught);
    return 0;
}
