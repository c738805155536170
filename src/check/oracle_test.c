/*
 * The checker against the oracle: thousands of small random systems, and the published algorithms at
 * small sizes. Every verdict, bound and trace must be what the definitions say (oracle.h).
 *
 *     oracle_test [SEED [SYSTEMS]]
 *
 * A quarter of the systems are random tables for processes that are alike, a quarter for processes
 * that differ; the others are semaphores and queues, some with an exit region, with a few entries
 * changed: there the properties hold, or fail narrowly.
 */
#include "check/oracle.h"

#include "papers/papers.h"
#include "test.h"

#include <string.h>

enum { MOST_VALUES = 16, MOST_PRIVATE = 6, KINDS = 4 };

/* (v', x') = delta_i(v, x), written out. */
struct entry {
    uint8_t value, state;
};

static struct table {
    unsigned n, k, r, values, states;
    bool alike;
    enum step_region region[MOST_PRIVATE];
    struct entry delta[ORACLE_PROCESSES][MOST_VALUES][MOST_PRIVATE];
} table;

static uint64_t first_seed = 1979;
static unsigned systems = 2000;
static uint64_t seed;

/* How often each verdict was given where the property was put to the test. */
static unsigned seen_holds[STEP_PROPERTIES];
static unsigned seen_violated[STEP_PROPERTIES];
static unsigned seen_bounds[STEP_PROPERTIES]; /* bounds other than 0 and none */
static unsigned asked;                        /* systems that were small enough */

static unsigned below(unsigned limit)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % limit;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words = 1;
    system->private_bytes = 1;
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    (void)system;
    words[0] = 0;
}

static uint64_t delta(const struct step_system *system, uint64_t value, void *state, unsigned process)
{
    uint8_t *x = state;
    struct entry entry = table.delta[process][value][*x];
    (void)system;
    *x = entry.state;
    return entry.value;
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    step_update(system, memory, 0, delta, state, process);
}

static enum step_region region(const struct step_system *system, const void *state)
{
    (void)system;
    return table.region[*(const uint8_t *)state];
}

static struct step_machine machine = {
    .name = "table",
    .title = "a random table",
    .prepare = prepare,
    .init = init,
    .step = step,
    .region = region,
};

/* A private state to which a step from `from` may lead. */
static uint8_t random_target(unsigned from)
{
    bool trying = table.region[from] == STEP_REMAINDER || table.region[from] == STEP_TRYING;
    for (;;) {
        uint8_t to = (uint8_t)below(table.states);
        bool enters = table.region[to] == STEP_TRYING || table.region[to] == STEP_CRITICAL;
        if (enters == trying) {
            return to;
        }
    }
}

static void make_random(bool alike)
{
    table.alike = alike;
    table.n = 2 + below(2);
    table.k = 1 + below(table.n);
    table.values = 2 + below(3);
    table.states = 2 + below(table.n == 2 ? 5 : 4);
    table.region[0] = STEP_REMAINDER;
    table.region[1] = STEP_CRITICAL;
    for (unsigned x = 2; x < table.states; x++) {
        static const enum step_region often[] = {STEP_TRYING, STEP_TRYING, STEP_TRYING, STEP_EXIT,
                                                 STEP_EXIT,   STEP_CRITICAL, STEP_REMAINDER};
        table.region[x] = often[below(sizeof often / sizeof often[0])];
    }
    for (unsigned i = 0; i < table.n; i++) {
        for (unsigned v = 0; v < table.values; v++) {
            for (unsigned x = 0; x < table.states; x++) {
                table.delta[i][v][x] = (struct entry){(uint8_t)below(table.values), random_target(x)};
            }
        }
    }
}

/* The lists of different processes, shortest first: the values of a queue. */
static unsigned list_queues(unsigned n, uint8_t queues[MOST_VALUES][ORACLE_PROCESSES + 1])
{
    unsigned count = 1;
    memset(queues, 0, MOST_VALUES * (ORACLE_PROCESSES + 1));
    for (unsigned q = 0; q < count; q++) {
        unsigned length = queues[q][0];
        for (unsigned i = 0; i < n; i++) {
            if (memchr(queues[q] + 1, (int)i, length) == NULL) {
                memcpy(queues[count], queues[q], ORACLE_PROCESSES + 1);
                queues[count][1 + length] = (uint8_t)i;
                queues[count++][0] = (uint8_t)(length + 1);
            }
        }
    }
    return count;
}

static uint8_t find_queue(uint8_t queues[MOST_VALUES][ORACLE_PROCESSES + 1], const uint8_t *queue)
{
    unsigned q = 0;
    while (queues[q][0] != queue[0] || memcmp(queues[q] + 1, queue + 1, queue[0]) != 0) {
        q++;
    }
    return (uint8_t)q;
}

/* A process in R puts itself in the queue; whoever is among the first k may enter; leaving takes it
   out. Private states: 0 R, 1 C, 2 T, 3 E. */
static void make_queue(void)
{
    static uint8_t queues[MOST_VALUES][ORACLE_PROCESSES + 1];
    table.values = list_queues(table.n, queues);
    for (unsigned node = 0; node < table.n * table.values; node++) {
        unsigned i = node / table.values;
        unsigned v = node % table.values;
        uint8_t with[ORACLE_PROCESSES + 2];
        uint8_t without[ORACLE_PROCESSES + 2] = {0};
        unsigned place = 0; /* of i; 0: not in the queue */
        memcpy(with, queues[v], ORACLE_PROCESSES + 1);
        for (unsigned at = 1; at <= with[0]; at++) {
            if (with[at] == i) {
                place = at;
            } else {
                without[++without[0]] = with[at];
            }
        }
        if (place == 0) {
            place = ++with[0];
            with[place] = (uint8_t)i;
        }
        uint8_t waits_or_enters = place <= table.k ? 1 : 2;
        uint8_t shorter = find_queue(queues, without);
        table.delta[i][v][0] = (struct entry){find_queue(queues, with), waits_or_enters};
        table.delta[i][v][2] = (struct entry){(uint8_t)v, waits_or_enters};
        table.delta[i][v][1] = (struct entry){shorter, 0};
        table.delta[i][v][3] = (struct entry){shorter, 0};
    }
}

static void make_semaphore(void)
{
    table.values = table.k + 1;
    for (unsigned node = 0; node < table.n * table.values; node++) {
        unsigned i = node / table.values;
        uint8_t v = (uint8_t)(node % table.values);
        struct entry enter = {(uint8_t)(v + 1), 1};
        struct entry wait = {v, 2};
        table.delta[i][v][0] = table.delta[i][v][2] = v < table.k ? enter : wait;
        table.delta[i][v][1] = table.delta[i][v][3] = (struct entry){(uint8_t)(v - (v > 0)), 0};
    }
}

/* A published algorithm with a few entries changed at random. */
static void make_mutant(bool queue)
{
    static const enum step_region regions[] = {STEP_REMAINDER, STEP_CRITICAL, STEP_TRYING, STEP_EXIT};
    table.n = 2 + below(2);
    table.k = 1 + below(2);
    table.states = 3 + below(2);
    table.alike = !queue;
    memcpy(table.region, regions, sizeof regions);
    if (queue) {
        make_queue();
    } else {
        make_semaphore();
    }
    for (unsigned v = 0; v < table.values && table.states == 4; v++) { /* leave by way of E */
        for (unsigned i = 0; i < table.n; i++) {
            table.delta[i][v][1] = (struct entry){(uint8_t)v, 3};
        }
    }
    for (unsigned changes = below(4); changes > 0; changes--) {
        unsigned i = below(table.n);
        unsigned v = below(table.values);
        unsigned x = below(table.states);
        struct entry *entry = &table.delta[i][v][x];
        unsigned what = below(3);
        entry->value = what != 0 ? (uint8_t)below(table.values) : entry->value;
        entry->state = what != 1 ? random_target(x) : entry->state;
    }
}

static void make_table(unsigned number)
{
    seed = first_seed * 1000003 + number;
    for (unsigned warm_up = 0; warm_up < 8; warm_up++) {
        (void)below(2);
    }
    memset(&table, 0, sizeof table);
    unsigned kind = number % KINDS;
    if (kind < 2) {
        make_random(kind == 0);
    } else {
        make_mutant(kind == 2);
    }
    if (table.alike) {
        for (unsigned i = 1; i < table.n; i++) {
            memcpy(table.delta[i], table.delta[0], sizeof table.delta[0]);
        }
    }
    table.r = 1 + below(table.n);
    machine.anonymous = table.alike;
}

static void print_table(void)
{
    (void)fprintf(stderr, "n=%u k=%u r=%u\n", table.n, table.k, table.r);
    for (unsigned i = 0; i < (table.alike ? 1 : table.n); i++) {
        for (unsigned x = 0; x < table.states; x++) {
            (void)fprintf(stderr, "  P%u %c%u:", i + 1, step_region_letter(table.region[x]), x);
            for (unsigned v = 0; v < table.values; v++) {
                struct entry e = table.delta[i][v][x];
                (void)fprintf(stderr, "  %u->(%u,%c%u)", v, e.value,
                              step_region_letter(table.region[e.state]), e.state);
            }
            (void)fprintf(stderr, "\n");
        }
    }
}

/* What is wrong with one answer of the checker, or NULL. */
static const char *compare(const struct oracle *oracle, enum step_property property,
                           const struct check_result *result)
{
    bool bounded = property == STEP_C4 || property == STEP_OVERTAKINGS;
    if (result->verdict == CHECK_NOT_CHECKED) {
        return "not checked";
    }
    if ((result->verdict == CHECK_HOLDS) != oracle->holds[property]) {
        return oracle->holds[property] ? "said to be violated, but holds" : "said to hold, but does not";
    }
    if (bounded != result->has_bound || (bounded && result->bound != oracle->bounds[property])) {
        return "the bound is wrong";
    }
    if (property == STEP_C2 && result->robust != oracle->robust) {
        return "the robustness is wrong";
    }
    if (result->verdict == CHECK_VIOLATED) {
        seen_violated[property]++;
        return oracle_trace_fault(oracle, property, result);
    }
    seen_holds[property] += result->tested > 0;
    seen_bounds[property] += bounded && result->bound > 0;
    return NULL;
}

/* Print one schedule of a result, as people number processes. */
static void print_schedule(const char *what, const struct check_schedule *schedule)
{
    (void)fprintf(stderr, "  %s", what);
    for (size_t i = 0; i < schedule->length; i++) {
        (void)fprintf(stderr, " %u", schedule->steps[i] + 1U);
    }
    (void)fprintf(stderr, "\n");
}

/* Ask both about a system; the number of answers that differ. */
static unsigned ask(const struct step_system *system)
{
    static struct oracle oracle;
    struct check_options options = {.memory = (size_t)1 << 30, .threads = 1};
    struct check_graph graph;
    struct check_report report;
    unsigned wrong = 0;
    EXPECT_EQ(check_explore(&graph, system, &options), 0);
    EXPECT(graph.complete && graph.broken == NULL);
    EXPECT_EQ(check_decide(&graph, &report), 0);
    bool small = oracle_decide(&oracle, &graph);
    asked += small;
    for (unsigned p = 0; p < STEP_PROPERTIES && small; p++) {
        const struct check_result *result = &report.results[p];
        const char *fault = compare(&oracle, (enum step_property)p, result);
        if (fault != NULL) {
            (void)fprintf(stderr, "%s n=%u k=%u, %u states: %s: %s (bound %lld, oracle %lld)\n",
                          system->machine->name, system->n, system->k, oracle.states,
                          step_property_name((enum step_property)p), fault, (long long)result->bound,
                          (long long)oracle.bounds[p]);
            print_schedule("trace", &result->trace);
            print_schedule("loop", &result->loop);
            wrong++;
        }
    }
    check_report_free(&report);
    check_graph_free(&graph);
    return wrong;
}

static void the_checker_and_the_oracle_agree_about_random_systems(void)
{
    unsigned wrong = 0;
    for (unsigned number = 0; number < systems && wrong < 20; number++) {
        struct step_system system;
        char why[STEP_WHY_BYTES];
        make_table(number);
        EXPECT_EQ(step_system_init(&system, &machine, table.n, table.k, table.r, why), 0);
        unsigned here = ask(&system);
        if (here > 0) {
            (void)fprintf(stderr, "system %u of seed %llu: ", number, (unsigned long long)first_seed);
            print_table();
        }
        wrong += here;
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(asked, systems);
}

static void both_verdicts_were_put_to_the_test(void)
{
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        (void)printf("  %-12s holds %u, violated %u, bounds above 0 %u\n",
                     step_property_name((enum step_property)p), seen_holds[p], seen_violated[p],
                     seen_bounds[p]);
    }
    for (unsigned p = 0; p < STEP_PROPERTIES && systems >= 2000; p++) {
        EXPECT(seen_holds[p] >= 50);
        EXPECT(seen_violated[p] >= 50);
    }
    EXPECT(systems < 2000 || seen_bounds[STEP_C4] >= 20);
    EXPECT(systems < 2000 || seen_bounds[STEP_OVERTAKINGS] >= 20);
}

static void they_agree_about_the_published_algorithms_and_their_mutants(void)
{
    const struct step_machine *const *const lists[] = {papers_all, papers_mutants};
    unsigned wrong = 0;
    asked = 0;
    for (unsigned list = 0; list < 2; list++) {
        for (unsigned m = 0; lists[list][m] != NULL; m++) {
            for (unsigned size = 0; size < 4; size++) {
                struct step_system system;
                char why[STEP_WHY_BYTES];
                if (step_system_init(&system, lists[list][m], 2 + size / 2, 1 + size % 2, 0, why) == 0) {
                    wrong += ask(&system);
                }
            }
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT(asked >= 40);
}

int main(int count, char **arguments)
{
    first_seed = count > 1 ? strtoull(arguments[1], NULL, 10) : first_seed;
    systems = count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : systems;
    (void)printf("seed %llu\n", (unsigned long long)first_seed);
    RUN(the_checker_and_the_oracle_agree_about_random_systems);
    RUN(both_verdicts_were_put_to_the_test);
    RUN(they_agree_about_the_published_algorithms_and_their_mutants);
    return 0;
}
