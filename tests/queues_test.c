/*
 * The algorithms of 2014 on shared queues: the rows of their property tables that
 * tests/verdicts_test.c does not check. With the argument "5" also DQB for n = 5.
 */
#include "check/decide/property.h"
#include "check/explore/equal.h"
#include "papers/papers.h"
#include "papers/shared_queue.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

static unsigned most_n = 4;

static void explore(const struct step_machine *machine, unsigned n, unsigned robustness,
                    struct step_system *system, struct check_graph *graph)
{
    char why[STEP_WHY_BYTES];
    struct check_options options = {0};
    EXPECT_EQ(step_system_init(system, machine, n, 1, robustness, why), 0);
    EXPECT_EQ(check_explore(graph, system, &options), 0);
    EXPECT(graph->complete && graph->broken == NULL);
}

static void the_machines_have_the_known_counts(void)
{
    static const struct {
        const struct step_machine *machine;
        unsigned n;
        uint32_t states, values;
    } counts[] = {{&papers_peek_queue, 2, 9, 5},    {&papers_peek_queue, 3, 31, 16},
                  {&papers_peek_queue, 4, 129, 65}, {&papers_dqb, 2, 61, 20},
                  {&papers_dqb, 3, 769, 170},       {&papers_dqb, 4, 13137, 1830},
                  {&papers_dqb, 5, 308701, 22392},  {&papers_sq2, 2, 2301, 0},
                  {&papers_sq2_printed, 2, 2747, 0}};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct step_system system;
        struct check_graph graph;
        if (counts[c].n <= most_n) {
            explore(counts[c].machine, counts[c].n, 0, &system, &graph);
            EXPECT_EQ(check_states(&graph), counts[c].states);
            EXPECT(counts[c].values == 0 || graph.seen.shared.count == counts[c].values);
            check_graph_free(&graph);
        }
    }
}

static void other_sizes_are_refused_with_a_sentence(void)
{
    static const struct {
        const struct step_machine *machine;
        unsigned n, k;
        const char *says; /* NULL: accepted */
    } sizes[] = {
        {&papers_peek_queue, 15, 1, NULL},  {&papers_peek_queue, 16, 1, "up to 15"},
        {&papers_dqb, 9, 1, NULL},          {&papers_dqb, 10, 1, "up to 9"},
        {&papers_sq2, 2, 1, NULL},          {&papers_sq2, 1, 1, "n must be 2"},
        {&papers_sq2, 3, 1, "n must be 2"}, {&papers_peek_queue, 3, 2, "k must be 1"},
        {&papers_dqb, 3, 2, "k must be 1"}, {&papers_sq2, 2, 2, "k must be 1"},
    };
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct step_system system;
        char why[STEP_WHY_BYTES] = "";
        int error = step_system_init(&system, sizes[s].machine, sizes[s].n, sizes[s].k, 0, why);
        EXPECT_EQ(error, sizes[s].says == NULL ? 0 : -1);
        EXPECT(sizes[s].says == NULL || strstr(why, sizes[s].says) != NULL);
    }
}

static void the_peek_queue_is_the_queue_of_1989_entered_in_two_steps(void)
{
    for (unsigned n = 1; n <= most_n; n++) {
        struct step_system systems[2];
        struct check_graph graphs[2];
        struct check_equality equality;
        explore(&papers_queue_two_step, n, 0, &systems[0], &graphs[0]);
        explore(&papers_peek_queue, n, 0, &systems[1], &graphs[1]);
        EXPECT_EQ(check_equal(&graphs[0], &graphs[1], &equality), 0);
        EXPECT(equality.equivalent);
        EXPECT_EQ(graphs[1].seen.shared.count, papers_peek_queue.bound(&systems[1]));
        check_schedule_free(&equality.trace);
        check_graph_free(&graphs[0]);
        check_graph_free(&graphs[1]);
    }
}

/* The largest number of entries of others into C during one stay of i in T; above `limit` only if
   there is no bound. */
static int most_entries(const struct check_graph *graph, unsigned i, int limit)
{
    uint8_t *from_here = calloc(check_states(graph), 1);
    int most = 0;
    bool changed = true;
    EXPECT(from_here != NULL);
    while (changed && most <= limit) {
        changed = false;
        for (uint32_t state = check_states(graph); state-- > 0;) {
            if (check_region(graph, state, i) != STEP_TRYING) {
                continue;
            }
            for (unsigned j = 0; j < graph->system->n; j++) {
                uint32_t to = check_edge(graph, state, j);
                bool enters = j != i && check_region(graph, state, j) != STEP_CRITICAL &&
                              check_region(graph, to, j) == STEP_CRITICAL;
                int entries = enters + from_here[to]; /* 0 where i is not in T */
                if (entries > from_here[state]) {
                    from_here[state] = (uint8_t)entries;
                    most = entries > most ? entries : most;
                    changed = true;
                }
            }
        }
    }
    free(from_here);
    return most;
}

static void expect_entries(const struct step_machine *machine, unsigned n, int entries)
{
    struct step_system system;
    struct check_graph graph;
    explore(machine, n, 0, &system, &graph);
    for (unsigned i = 0; i < n; i++) {
        EXPECT_EQ(most_entries(&graph, i, entries), entries);
    }
    check_graph_free(&graph);
}

static void others_enter_a_bounded_number_of_times(void)
{
    for (unsigned n = 2; n <= most_n; n++) {
        expect_entries(&papers_peek_queue, n, (int)n - 1);
        expect_entries(&papers_dqb, n, (int)(n * (n - 1) / 2));
    }
    expect_entries(&papers_sq2, 2, 1);
}

static void overtakings_are_as_many_as_the_tables_say(void)
{
    static const struct {
        const struct step_machine *machine;
        unsigned n;
        int64_t overtakings, cycles; /* cycles: C4', of one other; CHECK_UNBOUNDED: violated */
    } rows[] = {{&papers_dqb, 1, 0, 0}, {&papers_dqb, 2, 1, 1}, {&papers_dqb, 3, 1, 1},
                {&papers_dqb, 4, 3, 2}, {&papers_dqb, 5, 6, 3}, {&papers_sq2, 2, 1, -1}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct step_system system;
        struct check_graph graph;
        struct check_report report;
        if (rows[r].n > most_n) {
            continue;
        }
        explore(rows[r].machine, rows[r].n, 0, &system, &graph);
        EXPECT_EQ(check_decide(&graph, &report), 0);
        EXPECT_EQ(report.results[STEP_OVERTAKINGS].bound, rows[r].overtakings);
        EXPECT_EQ(report.results[STEP_C4].bound, rows[r].cycles);
        check_report_free(&report);
        check_graph_free(&graph);
    }
}

/* C2 holds without failures, and one failure violates it. */
static void no_failure_is_survived(void)
{
    static const struct {
        const struct step_machine *machine;
        unsigned n;
    } rows[] = {{&papers_dqb, 2}, {&papers_dqb, 3}, {&papers_dqb, 4}, {&papers_sq2, 2}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (unsigned robustness = 1; robustness <= 2; robustness++) {
            struct step_system system;
            struct check_graph graph;
            struct check_report report;
            explore(rows[r].machine, rows[r].n, robustness, &system, &graph);
            EXPECT_EQ(check_decide(&graph, &report), 0);
            EXPECT_EQ(report.results[STEP_C2].verdict,
                      robustness == 1 ? CHECK_HOLDS : CHECK_VIOLATED);
            EXPECT_EQ(report.results[STEP_C2].robust, 1);
            check_report_free(&report);
            check_graph_free(&graph);
        }
    }
}

/* Components of states in which `process` is in E and takes steps, with no process stopped outside
   R. */
struct staying {
    unsigned process;
    unsigned found;
};

static bool is_in_exit(const struct check_view *view, uint32_t state)
{
    const struct staying *staying = view->data;
    return check_region(view->graph, state, staying->process) == STEP_EXIT;
}

static void visit(void *context, const struct check_component *component)
{
    struct staying *staying = context;
    const struct check_graph *graph = component->view->graph;
    unsigned steppers = check_component_steppers(component);
    unsigned others = ((1U << graph->system->n) - 1) & ~steppers;
    if (steppers >> staying->process & 1 &&
        (others & ~check_in_region(graph, component->states[0], STEP_REMAINDER)) == 0) {
        staying->found++;
    }
}

static unsigned ways_to_stay_in_exit(const struct step_machine *machine)
{
    struct step_system system;
    struct check_graph graph;
    struct staying staying = {0, 0};
    explore(machine, 2, 0, &system, &graph);
    struct check_view view = {.graph = &graph, .data = &staying, .node = is_in_exit};
    for (; staying.process < 2; staying.process++) {
        EXPECT_EQ(check_scc(&view, visit, &staying), 0);
    }
    check_graph_free(&graph);
    return staying.found;
}

static void nobody_stays_in_exit_for_ever(void)
{
    EXPECT_EQ(ways_to_stay_in_exit(&papers_sq2), 0);
    EXPECT_EQ(ways_to_stay_in_exit(&papers_sq2_printed), 0);
    EXPECT(ways_to_stay_in_exit(papers_find("mutant-sq2-offer-on")) > 0);
    EXPECT(ways_to_stay_in_exit(papers_find("mutant-sq2-eat-on")) > 0);
}

/* Process 1 passes alone, returns and discards the only offer. */
static void as_printed_a_returning_process_starves(void)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    explore(&papers_sq2_printed, 2, 0, &system, &graph);
    EXPECT_EQ(check_decide(&graph, &report), 0);
    const struct check_result *result = &report.results[STEP_STARVATION];
    EXPECT_EQ(result->verdict, CHECK_VIOLATED);
    EXPECT_EQ(result->trace.length, 10);
    for (size_t i = 0; i < result->trace.length; i++) {
        EXPECT_EQ(result->trace.steps[i], 0);
    }
    EXPECT_EQ(result->stopped, 0);
    EXPECT_EQ(report.results[STEP_PROGRESS].verdict, CHECK_VIOLATED);
    EXPECT_EQ(report.results[STEP_EXCLUSION].verdict, CHECK_HOLDS);
    check_report_free(&report);
    check_graph_free(&graph);
}

/* The limit on `eaten` only ensures that a process leaves E. */
static void without_the_limit_on_eaten_other_promises_hold(void)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    explore(papers_find("mutant-sq2-eat-on"), 2, 0, &system, &graph);
    EXPECT_EQ(check_decide(&graph, &report), 0);
    EXPECT(check_claims_hold(&system, &report));
    EXPECT_EQ(report.results[STEP_OVERTAKINGS].bound, 1);
    check_report_free(&report);
    check_graph_free(&graph);
}

/* Run a machine on threads: the explored step function, on words that the threads share. */
enum { PASSES = 200 };

static struct step_system real;
static _Atomic uint64_t real_words[STEP_MAX_SHARED_WORDS];
static atomic_int inside;

static void *pass(void *argument)
{
    unsigned process = *(const unsigned *)argument;
    struct step_memory memory = {.words = real_words};
    _Alignas(8) unsigned char state[STEP_MAX_PRIVATE_BYTES] = {0};
    for (unsigned passes = 0; passes < PASSES;) {
        enum step_region before = real.machine->region(&real, state);
        if (before == STEP_CRITICAL) {
            (void)sched_yield();
            EXPECT_EQ(atomic_fetch_sub(&inside, 1), 1);
        }
        real.machine->step(&real, &memory, state, process);
        enum step_region after = real.machine->region(&real, state);
        if (after == STEP_CRITICAL) {
            EXPECT_EQ(atomic_fetch_add(&inside, 1), 0);
        } else if (after == STEP_REMAINDER) {
            passes++;
        } else {
            (void)sched_yield();
        }
    }
    return NULL;
}

static void run_on_threads(const struct step_machine *machine, unsigned n)
{
    pthread_t threads[STEP_MAX_PROCESSES];
    unsigned names[STEP_MAX_PROCESSES];
    uint64_t words[STEP_MAX_SHARED_WORDS] = {0};
    char why[STEP_WHY_BYTES];
    EXPECT_EQ(step_system_init(&real, machine, n, 1, 0, why), 0);
    machine->init(&real, words);
    for (unsigned w = 0; w < real.shared_words; w++) {
        atomic_store(&real_words[w], words[w]);
    }
    for (unsigned i = 0; i < n; i++) {
        names[i] = i;
        EXPECT_EQ(pthread_create(&threads[i], NULL, pass, &names[i]), 0);
    }
    for (unsigned i = 0; i < n; i++) {
        EXPECT_EQ(pthread_join(threads[i], NULL), 0);
    }
}

static void threads_keep_each_other_out_at_the_largest_sizes(void)
{
    run_on_threads(&papers_peek_queue, 15);
    run_on_threads(&papers_dqb, 9);
    run_on_threads(&papers_sq2, 2);
}

/* Ids have 21 bits: the two processes pass in turn until ids have wrapped. */
static void the_ids_of_sq2_may_wrap(void)
{
    struct step_system system;
    char why[STEP_WHY_BYTES];
    uint64_t words[STEP_MAX_SHARED_WORDS] = {0};
    _Alignas(8) unsigned char states[2][STEP_MAX_PRIVATE_BYTES] = {{0}};
    EXPECT_EQ(step_system_init(&system, &papers_sq2, 2, 1, 0, why), 0);
    papers_sq2.init(&system, words);
    _Atomic uint64_t word = words[0];
    struct step_memory memory = {.words = &word};
    for (uint32_t passes = 0; passes < (1U << 21) + 100; passes++) {
        void *state = states[passes & 1];
        unsigned entries = 0;
        unsigned steps = 0;
        do {
            papers_sq2.step(&system, &memory, state, passes & 1);
            entries += papers_sq2.region(&system, state) == STEP_CRITICAL;
            steps++;
        } while (papers_sq2.region(&system, state) != STEP_REMAINDER && steps < 100);
        EXPECT_EQ(entries, 1);
        EXPECT_EQ(steps, 7);
    }
}

int main(int argc, char **argv)
{
    most_n = argc > 1 ? (unsigned)atoi(argv[1]) : most_n;
    RUN(the_machines_have_the_known_counts);
    RUN(other_sizes_are_refused_with_a_sentence);
    RUN(the_peek_queue_is_the_queue_of_1989_entered_in_two_steps);
    RUN(others_enter_a_bounded_number_of_times);
    RUN(overtakings_are_as_many_as_the_tables_say);
    RUN(no_failure_is_survived);
    RUN(nobody_stays_in_exit_for_ever);
    RUN(as_printed_a_returning_process_starves);
    RUN(without_the_limit_on_eaten_other_promises_hold);
    RUN(threads_keep_each_other_out_at_the_largest_sizes);
    RUN(the_ids_of_sq2_may_wrap);
    return 0;
}
