/*
 * The core, swept (check/sweep/sweep.h), against the core, explored (check/explore/explore.h):
 * forgetting, mirroring and settling states loses nothing.
 *
 *     pool_sweep_test           small sizes
 *     pool_sweep_test guards    every guard that is caught in seconds
 *     pool_sweep_test slow      larger sizes, and the other guards
 */
#include "check/explore/explore.h"
#include "check/sweep/sweep.h"
#include "pool_sizes.h"
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

static const struct size small_sizes[] = {
    {1, 1, {.cycles = 3, .crashes = 2}},
    {2, 1, {.cycles = 2, .crashes = 1}},
    {2, 2, {.cycles = 2, .crashes = 1}},
    {2, 1, {.cycles = 1, .crashes = 1, .gives_up = 1}},
    {2, 1, {.cycles = 1, .crashes = 1, .grows = 1}},
    {2, 1, {.cycles = 1, .crashes = 1, .stale = 2}},
    {3, 1, {.cycles = 1}},
    {3, 1, {.cycles = 2, .fewer = 2, .crashes = 1}},
    {3, 2, {.cycles = 2, .fewer = 2, .crashes = 1}},
};

static const struct size larger_sizes[] = {
    {2, 1, {.cycles = 3, .crashes = 1}},
    {2, 1, {.cycles = 2, .crashes = 1, .gives_up = 1}},
    {2, 1, {.cycles = 1, .grows = 1, .shrinks = 1}},
    {2, 2, {.cycles = 1, .crashes = 1, .shrinks = 1}},
    {2, 1, {.cycles = 2, .crashes = 1, .stale = 1}},
    {2, 1, {.cycles = 2, .crashes = 1, .stale = 3}},
    {3, 1, {.cycles = 1, .crashes = 1}},
    {3, 2, {.cycles = 1, .crashes = 1}},
    {3, 1, {.cycles = 1, .gives_up = 2}},
    {3, 1, {.cycles = 1, .crashes = 1, .line = 2}},
    {3, 1, {.cycles = 2, .fewer = 1}},
};

enum {
    SMALL_SIZES = sizeof small_sizes / sizeof small_sizes[0],
    LARGER_SIZES = sizeof larger_sizes / sizeof larger_sizes[0],
};

static void set_up(struct step_system *system, const struct step_machine *machine,
                   const struct size *size)
{
    char why[STEP_WHY_BYTES];
    EXPECT_EQ(step_system_init_with(system, machine, size->n, size->k, 0, &size->limits, why), 0);
}

static struct check_sweep swept(const struct step_system *system, bool mirrored, bool settled)
{
    struct check_sweep_options options = {.mirrored = mirrored, .settled = settled};
    struct check_sweep sweep;
    EXPECT_EQ(check_sweep(&sweep, system, &options), 0);
    if (sweep.broken != NULL) {
        (void)fprintf(stderr, "%s\n", sweep.broken);
    }
    EXPECT(sweep.broken == NULL);
    if (sweep.violated != NULL) {
        (void)fprintf(stderr, "%s: %s\n", sweep.violated, sweep.why);
    }
    EXPECT(sweep.violated == NULL);
    EXPECT(sweep.complete);
    return sweep;
}

static struct check_graph explored(const struct step_system *system)
{
    struct check_options options = {.only_exclusion = true};
    struct check_graph graph;
    EXPECT_EQ(check_explore(&graph, system, &options), 0);
    EXPECT(graph.complete);
    EXPECT(graph.broken == NULL);
    EXPECT_EQ(graph.first_wrong, CHECK_NO_STATE);
    return graph;
}

static void settle_all(const struct step_system *system, uint64_t *words, void *states)
{
    for (unsigned i = 0; i < system->n; i++) {
        system->machine->settle(system, words, step_state_of(system, states, i), i);
    }
}

/* Is the state in the graph? If one of its parts is new to the graph, it is not. */
static bool is_in(struct check_graph *graph, const uint64_t *words, void *states)
{
    struct check_seen *seen = &graph->seen;
    uint64_t key[CHECK_KEY_WORDS] = {0};
    for (unsigned i = 0; i <= graph->system->n; i++) {
        struct check_parts *parts = i == 0 ? &seen->shared : &seen->private;
        uint32_t known = parts->count;
        uint32_t number;
        const void *value =
            i == 0 ? (const void *)words : step_state_of(graph->system, states, i - 1);
        EXPECT_EQ(check_parts_number(seen, parts, value, &number), 0);
        if (number >= known) {
            return false;
        }
        check_seen_set_part(seen, key, i, number);
    }
    return check_seen_find(seen, key, check_seen_hash(seen, key)) != CHECK_NO_STATE;
}

/* Every state, after settling, is a state of the settled graph. */
static void expect_covered(const struct check_graph *full, struct check_graph *settled)
{
    _Alignas(8) unsigned char states[CHECK_MAX_PROCESSES * STEP_MAX_PRIVATE_BYTES];
    uint64_t words[STEP_MAX_SHARED_WORDS];
    for (uint32_t s = 0; s < check_states(full); s++) {
        check_seen_get(&full->seen, s, words, states);
        settle_all(full->system, words, states);
        EXPECT(is_in(settled, words, states));
    }
}

static void compare_at(const struct size *sizes, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        struct step_machine settling = model_pool;
        struct step_system system;
        struct step_system settled_system;
        settling.rebase = settle_all;
        set_up(&system, &model_pool, &sizes[s]);
        set_up(&settled_system, &settling, &sizes[s]);
        struct check_graph full = explored(&system);
        struct check_graph settled = explored(&settled_system);
        struct check_sweep plain = swept(&system, false, false);
        struct check_sweep mirrored = swept(&system, true, false);
        struct check_sweep both = swept(&system, true, true);
        pool_print_size(&sizes[s]);
        (void)printf(": %u states, %llu mirrored, %u settled, %llu both\n", check_states(&full),
                     (unsigned long long)mirrored.states, check_states(&settled),
                     (unsigned long long)both.states);
        (void)fflush(stdout);
        EXPECT_EQ(plain.states, check_states(&full));
        EXPECT_EQ(plain.transitions, full.transitions);
        EXPECT_EQ(plain.full_states, full.full_states);
        EXPECT_EQ(mirrored.all_states, check_states(&full));
        EXPECT_EQ(swept(&system, false, true).states, check_states(&settled));
        EXPECT_EQ(both.all_states, check_states(&settled));
        expect_covered(&full, &settled);
        check_graph_free(&full);
        check_graph_free(&settled);
    }
}

/* A sweep with mirroring and settling catches each mutant. */
static void caught(const struct row *rows, size_t count)
{
    for (size_t r = 0; r < count; r++) {
        struct check_sweep_options options = {
            .memory = (size_t)4 << 30, .mirrored = true, .settled = true};
        struct step_system system;
        struct check_sweep sweep;
        EXPECT(pool_find(rows[r].mutant) != NULL);
        set_up(&system, pool_find(rows[r].mutant), &rows[r].size);
        EXPECT_EQ(check_sweep(&sweep, &system, &options), 0);
        const char *how = sweep.why != NULL ? sweep.why : sweep.violated;
        (void)printf("  %s: %s\n", rows[r].mutant,
                     how != NULL            ? how
                     : sweep.broken != NULL ? sweep.broken
                                            : "not caught");
        (void)fflush(stdout);
        EXPECT(sweep.violated != NULL || sweep.broken != NULL);
    }
}

static uint32_t backward(const struct step_system *system, const uint64_t *words)
{
    return 0xffffff - model_pool.stage(system, words);
}

static unsigned neighbour(const struct step_system *system, unsigned process)
{
    return process < 2 && system->n > 1 ? 1 - process : process;
}

static void a_stage_that_decreases_is_caught(void)
{
    struct step_machine liar = model_pool;
    struct step_system system;
    struct check_sweep_options options = {0};
    struct check_sweep sweep;
    liar.stage = backward;
    set_up(&system, &liar, &small_sizes[1]);
    EXPECT_EQ(check_sweep(&sweep, &system, &options), 0);
    EXPECT(sweep.broken != NULL && !sweep.complete);
}

/* The second process does not take the repeat path, so it is not symmetric to the first. */
static void processes_that_are_not_symmetric_are_caught(void)
{
    struct step_machine liar = model_pool;
    struct step_system system;
    struct check_sweep_options options = {.mirrored = true};
    struct check_sweep sweep;
    liar.mirror = neighbour;
    set_up(&system, &liar, &small_sizes[1]);
    EXPECT_EQ(check_sweep(&sweep, &system, &options), 0);
    EXPECT(sweep.broken != NULL && !sweep.complete);
}

static const char *a_directory(void)
{
    return getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
}

/* At this size, LITTLE bytes of memory are so few that states are spilled to disk. */
static const struct size spilling_size = {3, 1, {.cycles = 1, .crashes = 1}};
enum { LITTLE = 37 << 18 };

static void states_beyond_the_memory_are_spilled_to_disk(void)
{
    struct check_sweep_options options = {.settled = true, .memory = LITTLE, .threads = 1};
    struct step_system system;
    struct check_sweep sweep;
    set_up(&system, &model_pool, &spilling_size);
    struct check_sweep all = swept(&system, false, true);
    EXPECT_EQ(all.spilled, 0);
    options.spill = a_directory();
    EXPECT_EQ(check_sweep(&sweep, &system, &options), 0);
    (void)printf("  %llu states, %llu spilled\n", (unsigned long long)sweep.states,
                 (unsigned long long)sweep.spilled);
    EXPECT(sweep.complete && sweep.violated == NULL);
    EXPECT(sweep.spilled > 0);
    EXPECT_EQ(sweep.states, all.states);
    EXPECT_EQ(sweep.transitions, all.transitions);
    EXPECT_EQ(sweep.loops, all.loops);
    EXPECT_EQ(sweep.full_states, all.full_states);
    options.mirrored = true;
    options.threads = 2;
    EXPECT_EQ(check_sweep(&sweep, &system, &options), 0);
    (void)printf("  %llu states, %llu spilled, by two threads\n", (unsigned long long)sweep.states,
                 (unsigned long long)sweep.spilled);
    EXPECT(sweep.complete && sweep.violated == NULL && sweep.broken == NULL);
    EXPECT(sweep.spilled > 0);
    EXPECT_EQ(sweep.all_states, all.states);
}

/* The sweep then reports that it is not complete. */
static void a_full_disk_ends_the_sweep(void)
{
    struct check_sweep_options options = {.settled = true, .memory = LITTLE, .threads = 1};
    struct step_system system;
    struct check_sweep sweep;
    struct rlimit before;
    set_up(&system, &model_pool, &spilling_size);
    options.spill = "/nonexistent";
    EXPECT_EQ(check_sweep(&sweep, &system, &options), -ENOENT);
    options.spill = a_directory();
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 1 << 16, .rlim_max = before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_EQ(check_sweep(&sweep, &system, &options), 0);
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT(!sweep.complete && sweep.violated == NULL && sweep.broken == NULL);
}

static void a_sweep_has_the_states_of_an_exploration(void)
{
    compare_at(small_sizes, SMALL_SIZES);
}

static void a_sweep_has_the_states_of_an_exploration_at_larger_sizes(void)
{
    compare_at(larger_sizes, LARGER_SIZES);
}

static void mutants_are_caught(void)
{
    caught(quick_rows, QUICK_ROWS);
    caught(stuck_rows, STUCK_ROWS);
}

static void slow_mutants_are_caught(void)
{
    caught(slow_rows, SLOW_ROWS);
    caught(swept_rows, SWEPT_ROWS);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "slow") == 0) {
        RUN(a_sweep_has_the_states_of_an_exploration_at_larger_sizes);
        RUN(slow_mutants_are_caught);
    } else if (argc > 1 && strcmp(argv[1], "guards") == 0) {
        RUN(mutants_are_caught);
    } else {
        RUN(a_stage_that_decreases_is_caught);
        RUN(processes_that_are_not_symmetric_are_caught);
        RUN(states_beyond_the_memory_are_spilled_to_disk);
        RUN(a_full_disk_ends_the_sweep);
        RUN(a_sweep_has_the_states_of_an_exploration);
    }
    return 0;
}
