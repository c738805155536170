/*
 * The core with words that repeat, on random walks. A guest is interrupted before any access of any
 * operation, while others do any number of operations, and then continues. Guests enter for ever,
 * give up, crash, and resize the pool. Every state is judged as in an exploration (pool_judge.c).
 * Walks reach sizes that have too many states to explore. They prove nothing, but find errors soon:
 * some mutants are caught only here.
 *
 *     pool_walk_test [SEED]         the core, and the mutants; seconds
 *     pool_walk_test slow [SEED]    the core, for minutes
 */
#include "pool_sizes.h"
#include "test.h"

#include <stdlib.h>
#include <time.h>

enum { MOST = 8 };

enum { CRASH_EVENT = 1, LAST_CHOICE = 4, PAUSE_EVENT = 5 }; /* as in model/pool_world.h */

struct walk {
    struct step_system system;
    _Atomic uint64_t words[STEP_MAX_SHARED_WORDS];
    _Alignas(8) unsigned char states[MOST * STEP_MAX_PRIVATE_BYTES];
    uint64_t start[STEP_MAX_SHARED_WORDS];
    unsigned held[MOST]; /* turns for which a paused process does not move */
    /* Odds of this walk: one turn in `happens` is an event, one in `interrupts` interrupts an
       operation, one in `finishes` runs it to its end. `rests` bounds `held`. */
    unsigned happens, interrupts, finishes, rests;
    uint64_t seed;
};

static struct walk walk;

static unsigned below(unsigned limit)
{
    walk.seed ^= walk.seed << 13;
    walk.seed ^= walk.seed >> 7;
    walk.seed ^= walk.seed << 17;
    return (unsigned)(walk.seed >> 20) % limit;
}

static void begin(const struct step_machine *machine, const struct size *size, uint64_t seed)
{
    char why[STEP_WHY_BYTES];
    walk.seed = seed * 0x9e3779b97f4a7c15ULL | 1;
    if (step_system_init_with(&walk.system, machine, size->n, size->k, 0, &size->limits, why)) {
        (void)fprintf(stderr, "%s\n", why);
        exit(1);
    }
    machine->init(&walk.system, walk.start);
    for (unsigned w = 0; w < walk.system.shared_words; w++) {
        atomic_store(&walk.words[w], walk.start[w]);
    }
    memset(walk.states, 0, sizeof walk.states);
    memset(walk.held, 0, sizeof walk.held);
    walk.happens = 2U << below(6);
    walk.interrupts = 1U << below(5);
    walk.finishes = 2U << below(6);
    walk.rests = 4U << below(8);
}

/* One turn of a process: a whole operation, one access of it, or an event. */
static void turn(unsigned process)
{
    const struct step_machine *machine = walk.system.machine;
    struct step_memory memory = {.words = walk.words};
    void *state = step_state_of(&walk.system, walk.states, process);
    bool busy = machine->busy(state);
    if (below(walk.happens) == 0 &&
        machine->event(&walk.system, &memory, state, process, CRASH_EVENT + below(LAST_CHOICE))) {
        return;
    }
    bool finish = busy ? below(walk.finishes) == 0 : below(walk.interrupts) != 0;
    if (!finish && machine->event(&walk.system, &memory, state, process, PAUSE_EVENT)) {
        /* go on with the next access, or rest for a while */
        walk.held[process] = below(3) == 0 ? below(walk.rests) : 0;
        return;
    }
    machine->step(&walk.system, &memory, state, process);
}

/* Walk that many turns. Returns what is wrong, or NULL. */
static const char *go(uint64_t turns, uint64_t *made)
{
    uint64_t words[STEP_MAX_SHARED_WORDS];
    for (*made = 0; *made < turns; (*made)++) {
        unsigned process = below(walk.system.n);
        if (walk.held[process] > 0) {
            walk.held[process]--;
            continue;
        }
        turn(process);
        for (unsigned w = 0; w < walk.system.shared_words; w++) {
            words[w] = atomic_load(&walk.words[w]);
        }
        const char *wrong = walk.system.machine->wrong(&walk.system, words, walk.states);
        if (wrong != NULL) {
            return wrong;
        }
    }
    return NULL;
}

static uint64_t first_seed;

#define ENDLESS .tag_bits = 1, .pauses = 2

static const struct size sizes[] = {
    {2, 1, {ENDLESS, .line = 1, .gives_up = 1}},
    {2, 2, {ENDLESS, .line = 2, .gives_up = 1, .crashes = 15}},
    {3, 1, {ENDLESS, .line = 2, .gives_up = 1, .crashes = 15}},
    {3, 2, {ENDLESS, .line = 2, .gives_up = 1, .grows = 1, .shrinks = 1}},
    {3, 2, {.tag_bits = 2, .pauses = 3, .line = 2, .gives_up = 1, .crashes = 15}},
    {4, 1, {ENDLESS, .line = 4, .gives_up = 1, .crashes = 15}},
    {4, 2, {.tag_bits = 2, .pauses = 2, .line = 4, .gives_up = 1, .grows = 1, .shrinks = 1}},
};

static void hold_for(uint64_t turns)
{
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint64_t made;
        uint64_t all = 0;
        pool_print_size(&sizes[s]);
        (void)fflush(stdout);
        /* begin again every 20,000 turns: the number of crashes is limited */
        for (uint64_t seed = first_seed; all < turns; seed++) {
            begin(&model_pool, &sizes[s], seed);
            const char *wrong = go(20000, &made);
            all += made;
            if (wrong != NULL) {
                (void)printf("\nseed %llu, turn %llu: %s\n", (unsigned long long)seed,
                             (unsigned long long)made, wrong);
                exit(1);
            }
        }
        (void)printf(": %llu turns\n", (unsigned long long)all);
    }
}

static void nothing_is_wrong_on_any_walk(void)
{
    hold_for(1000000);
}

static void nothing_is_wrong_on_any_long_walk(void)
{
    hold_for(60000000);
}

/* Is the mutant caught at one of the sizes? */
static bool caught(const struct step_machine *machine, uint64_t turns)
{
    for (uint64_t seed = first_seed; seed < first_seed + turns / 20000; seed++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            uint64_t made;
            begin(machine, &sizes[s], seed);
            const char *wrong = go(20000, &made);
            if (wrong != NULL) {
                (void)printf("  %s:", machine->name + PREFIX);
                pool_print_size(&sizes[s]);
                (void)printf(", seed %llu, turn %llu: %s\n", (unsigned long long)seed,
                             (unsigned long long)made, wrong);
                return true;
            }
        }
    }
    (void)printf("  %s: not caught\n", machine->name + PREFIX);
    return false;
}

static void each_of_these_mutants_is_caught(void)
{
    static const char *const guards[] = {
        "announce-v", "announce-seat", "scan-v", "scan-k", "scan-announced", "slide-waits",
    };
    unsigned missed = 0;
    for (size_t g = 0; g < sizeof guards / sizeof guards[0]; g++) {
        const struct step_machine *machine = pool_find(guards[g]);
        EXPECT(machine != NULL);
        missed += !caught(machine, 3000000);
        (void)fflush(stdout);
    }
    EXPECT_EQ(missed, 0);
}

int main(int argc, char **argv)
{
    bool slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    first_seed = argc > 1 + slow ? strtoull(argv[1 + slow], NULL, 10) : 1;
    if (slow) {
        RUN(nothing_is_wrong_on_any_long_walk);
        return 0;
    }
    RUN(nothing_is_wrong_on_any_walk);
    RUN(each_of_these_mutants_is_caught);
    return 0;
}
