/*
 * Shared space as each machine states it. At sizes that can be explored: no shared word takes more
 * values than its bits distinguish; words that are plain numbers fit their bits; and no bit is
 * superfluous where the whole range is reached.
 */
#include "check/explore/explore.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

enum { MOST_N = 4, MOST_BYTES = 6 << 20 };

/* Machines whose words are plain numbers, not several variables with gaps between them. */
static bool is_plain(const struct step_machine *machine)
{
    static const char *const plain[] = {"semaphore",  "naive", "excl", "fife",
                                        "peek-queue", "dqb",   "sq2"};
    for (unsigned i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(machine->name, plain[i]) == 0) {
            return true;
        }
    }
    return false;
}

static uint64_t value_of(const struct check_graph *graph, uint32_t memory, unsigned word)
{
    uint64_t value;
    const struct check_parts *shared = &graph->seen.shared;
    memcpy(&value, shared->values + memory * shared->bytes + word * sizeof value, sizeof value);
    return value;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The number of different values of a word; *highest is the greatest. */
static uint32_t count_values(const struct check_graph *graph, unsigned word, uint64_t *highest)
{
    uint32_t memories = graph->seen.shared.count;
    uint64_t *values = malloc(memories * sizeof *values);
    uint32_t distinct = 1;
    EXPECT(values != NULL);
    for (uint32_t m = 0; m < memories; m++) {
        values[m] = value_of(graph, m, word);
    }
    qsort(values, memories, sizeof *values, compare);
    for (uint32_t m = 1; m < memories; m++) {
        distinct += values[m] != values[m - 1];
    }
    *highest = values[memories - 1];
    free(values);
    return distinct;
}

/* Explore a machine at one size. False if it does not take the size, or has too many states. */
static bool explore(struct check_graph *graph, struct step_system *system,
                    const struct step_machine *machine, unsigned n, unsigned k)
{
    char why[STEP_WHY_BYTES];
    struct check_options options = {.memory = MOST_BYTES, .only_exclusion = true};
    if (step_system_init(system, machine, n, k, 0, why) != 0) {
        return false;
    }
    EXPECT_EQ(check_explore(graph, system, &options), 0);
    if (!graph->complete) {
        check_graph_free(graph);
        return false;
    }
    return true;
}

static unsigned expect_fits(const struct check_graph *graph)
{
    const struct step_system *system = graph->system;
    const struct step_machine *machine = system->machine;
    for (unsigned word = 0; word < system->shared_words; word++) {
        unsigned bits = machine->space->bits(system, word);
        uint64_t highest;
        uint32_t values = count_values(graph, word, &highest);
        EXPECT(bits <= 64);
        if (values > 1ULL << (bits < 32 ? bits : 32) ||
            (is_plain(machine) && bits < 64 && highest >> bits != 0)) {
            (void)fprintf(stderr, "%s, n=%u, k=%u: word %u takes %u values, up to %#llx: %u bits\n",
                          machine->name, system->n, system->k, word, values,
                          (unsigned long long)highest, bits);
            exit(1);
        }
    }
    return system->shared_words;
}

static void no_shared_word_exceeds_its_bits(void)
{
    for (const struct step_machine *const *m = papers_all; *m != NULL; m++) {
        unsigned words = 0;
        if ((*m)->space == NULL || (*m)->space->says == NULL) {
            (void)fprintf(stderr, "%s does not state its space: struct step_space\n", (*m)->name);
            exit(1);
        }
        for (unsigned n = 1; n <= MOST_N; n++) {
            for (unsigned k = 1; k <= n; k++) {
                struct step_system system;
                struct check_graph graph;
                if (explore(&graph, &system, *m, n, k)) {
                    words += expect_fits(&graph);
                    check_graph_free(&graph);
                }
            }
        }
        (void)printf("  %-18s %u words\n", (*m)->name, words);
        EXPECT(words > 0);
    }
}

/* One bit less would not be enough: some word takes more than half of the values that its bits
   distinguish, or has its highest bit set. */
static void no_bit_is_superfluous(void)
{
    static const struct {
        const char *name;
        unsigned n, k;
    } rows[] = {{"semaphore", 3, 2},  {"naive", 3, 1}, {"naive", 4, 3}, {"excl", 3, 1},
                {"excl", 4, 3},       {"gtex", 3, 1},  {"gtex", 4, 1},  {"gtex", 4, 3},
                {"peek-queue", 4, 1}, {"dqb", 2, 1},   {"dqb", 3, 1},   {"dqb", 4, 1},
                {"sq2", 2, 1}};
    for (unsigned r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct step_system system;
        struct check_graph graph;
        EXPECT(explore(&graph, &system, papers_find(rows[r].name), rows[r].n, rows[r].k));
        for (unsigned word = 0; word < system.shared_words; word++) {
            unsigned bits = system.machine->space->bits(&system, word);
            uint64_t highest;
            uint32_t values = count_values(&graph, word, &highest);
            if (!(bits == 0 || (bits <= 32 && values > 1ULL << (bits - 1)) ||
                  (is_plain(system.machine) && highest >> (bits - 1) == 1))) {
                (void)fprintf(stderr, "%s n=%u k=%u: word %u, %u values up to %#llx, has %u bits\n",
                              rows[r].name, rows[r].n, rows[r].k, word, values,
                              (unsigned long long)highest, bits);
                exit(1);
            }
        }
        check_graph_free(&graph);
    }
}

static unsigned total_bits(const char *name, unsigned n, unsigned k, double *formula)
{
    struct step_system system;
    char why[STEP_WHY_BYTES];
    unsigned total = 0;
    EXPECT_EQ(step_system_init(&system, papers_find(name), n, k, 0, why), 0);
    for (unsigned word = 0; word < system.shared_words; word++) {
        total += system.machine->space->bits(&system, word);
    }
    *formula = system.machine->space->formula != NULL ? system.machine->space->formula(&system) : 0;
    return total;
}

/* 2002, section 7, by hand. */
static void the_formulas_of_2002_are_as_printed(void)
{
    double formula;
    EXPECT_EQ(total_bits("excl", 8, 2, &formula), 6 * 3 + 8 * 3);
    EXPECT(formula == 42);
    EXPECT_EQ(total_bits("naive", 64, 63, &formula), 1 * 6 + 64 * 1);
    EXPECT(formula == 70);
    /* n = 2k 2^t, k = 2: level(i) has 7 values; turn has 16 at the root, 8 twice, and 4 four
       times */
    EXPECT_EQ(total_bits("gtex", 16, 2, &formula), 16 * 3 + 2 * (4 + 2 * 3 + 4 * 2));
    EXPECT(formula > 16 * 2.8 + 36 && formula < 16 * 2.81 + 36); /* log2 7 = 2.807 */
    /* right only if turn(x,q) is known to be one of G_x */
    EXPECT_EQ(total_bits("gtex", 4, 1, &formula), 4 * 2 + 2 + 2 * 1);
    EXPECT_EQ(total_bits("gtex", 5, 1, &formula), 5 * 2 + 3 + 2 + 2 + 1);
    for (unsigned n = 2; n <= 64;
         n++) { /* the formula of excl agrees with the count at every size */
        for (unsigned k = 1; k < n; k++) {
            unsigned bits = total_bits("excl", n, k, &formula);
            EXPECT(formula == bits);
        }
    }
}

int main(void)
{
    RUN(no_shared_word_exceeds_its_bits);
    RUN(no_bit_is_superfluous);
    RUN(the_formulas_of_2002_are_as_printed);
    return 0;
}
