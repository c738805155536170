/*
 * The snapshot from registers (src/papers/snapshot.h) is atomic, by exploration: the result of a
 * scan is the contents of the registers at one moment between its begin and its end. This includes
 * the scan inside an update.
 *
 * Each process runs a script, U for an update and S for a scan, once or for ever. A value is the
 * number of the update, so that no two vectors of values in a history are equal. In a script that
 * runs for ever it is that number modulo 3. With the argument "slow", longer scripts.
 */
#include "explore.h"
#include "papers/snapshot.h"
#include "test.h"

#include <string.h>

enum { MOST = 3 };

/* The system that is explored. */
static struct {
    const char *scripts[MOST];
    bool for_ever;
} plan;

static bool slow;

struct state {
    struct snapshot_state x;
    uint64_t at; /* position in the script */
};

static struct snapshot snapshot_of(const struct step_system *system)
{
    uint32_t values = system->n == 2 ? 8 : 4; /* so that there are 64 vectors: a mask of one word */
    return (struct snapshot){
        .n = system->n, .values = plan.for_ever ? 3 : values, .broken = system->machine->variant};
}

/* Behind the registers, not read by the algorithm: for each process the vectors that existed since
   its scan began, one bit each; then whether a scan has returned any other vector. */
static unsigned record_of(const struct step_system *system, unsigned process)
{
    return SNAPSHOT_WORDS(system->n) + process;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words = SNAPSHOT_WORDS(system->n) + system->n + 1;
    system->private_bytes = sizeof(struct state);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    struct snapshot s = snapshot_of(system);
    memset(words, 0, system->shared_words * sizeof *words);
    snapshot_init(&s, words);
}

static uint64_t bit_of(const struct snapshot *s, const uint32_t *values)
{
    unsigned number = 0;
    for (unsigned j = 0; j < s->n; j++) {
        number = number * s->values + values[j];
    }
    return UINT64_C(1) << number;
}

/* The vector of values in the registers. */
static uint64_t bit_now(const struct step_system *system, const struct step_memory *memory)
{
    struct snapshot s = snapshot_of(system);
    uint32_t values[MOST];
    for (unsigned j = 0; j < system->n; j++) {
        values[j] = snapshot_value(&s, atomic_load(&memory->words[j]));
    }
    return bit_of(&s, values);
}

static void begin(const struct step_system *system, struct step_memory *memory, struct state *state,
                  unsigned process)
{
    struct snapshot s = snapshot_of(system);
    snapshot_begin(&s, &state->x, process, plan.scripts[process][state->at] == 'U');
    atomic_store(&memory->words[record_of(system, process)], bit_now(system, memory));
}

static void end(struct state *state, unsigned process)
{
    snapshot_end(&state->x);
    state->at++;
    if (plan.for_ever && plan.scripts[process][state->at] == '\0') {
        state->at = 0;
    }
}

/* Check a finished scan. */
static void judge(const struct step_system *system, struct step_memory *memory,
                  const struct state *state, unsigned process)
{
    struct snapshot s = snapshot_of(system);
    unsigned record = record_of(system, process);
    if ((atomic_load(&memory->words[record]) & bit_of(&s, state->x.view)) == 0) {
        atomic_store(&memory->words[record_of(system, system->n)], 1);
    }
    atomic_store(&memory->words[record], 0);
}

/* Write, and record the new vector for all scanning processes. */
static void write(const struct step_system *system, struct step_memory *memory, struct state *state,
                  unsigned process)
{
    struct snapshot s = snapshot_of(system);
    snapshot_write(&s, memory, &state->x, process, (state->x.value + 1) % s.values);
    for (unsigned i = 0; i < system->n; i++) {
        _Atomic uint64_t *record = &memory->words[record_of(system, i)];
        if (atomic_load(record) != 0) {
            atomic_store(record, atomic_load(record) | bit_now(system, memory));
        }
    }
    end(state, process);
}

static void step(const struct step_system *system, struct step_memory *memory, void *private,
                 unsigned process)
{
    struct snapshot s = snapshot_of(system);
    struct state *state = private;
    if (snapshot_writes(&state->x)) {
        write(system, memory, state, process);
        return;
    }
    if (state->x.stage == 0) {
        if (plan.scripts[process][state->at] == '\0') {
            (void)step_read(memory, process); /* a step that changes nothing */
            return;
        }
        begin(system, memory, state, process);
    }
    if (snapshot_step(&s, memory, &state->x, process)) {
        judge(system, memory, state, process);
        if (!snapshot_writes(&state->x)) {
            end(state, process);
        }
    }
}

static const char *wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    (void)states;
    return words[record_of(system, system->n)] != 0 ? "not atomic" : NULL;
}

/* Explore the scripts. Return the depth of the first wrong scan, or 0 if there is none. */
static unsigned explore(const char *scripts, unsigned broken, bool for_ever)
{
    char copy[64];
    const struct step_machine machine = {.name = "snapshot",
                                         .title = "Atomic snapshot (1993)",
                                         .variant = broken,
                                         .loose_regions = true,
                                         .prepare = prepare,
                                         .init = init,
                                         .step = step,
                                         .region = explore_no_region,
                                         .wrong = wrong,
                                         .print_word = explore_print_word};
    struct step_system system;
    struct check_graph graph;
    unsigned n = 0;
    (void)snprintf(copy, sizeof copy, "%s", scripts);
    plan.for_ever = for_ever;
    for (char *script = strtok(copy, " "); script != NULL; script = strtok(NULL, " ")) {
        plan.scripts[n++] = script;
    }
    explore_states(&machine, n, &system, &graph);
    unsigned depth = explore_depth(&graph);
    (void)printf("  %s%s, without %x: %u states, first wrong after %u steps\n", scripts,
                 for_ever ? " for ever" : "", broken, check_states(&graph), depth);
    (void)fflush(stdout);
    check_graph_free(&graph);
    return depth;
}

static void a_scan_returns_what_was_there_at_one_moment(void)
{
    EXPECT_EQ(explore("US US", 0, true), 0);
    EXPECT_EQ(explore("USUS SUSU", 0, false), 0);
    EXPECT_EQ(explore("UU UU S", 0, false), 0);
    EXPECT_EQ(explore("US US US", 0, false), 0);
    if (slow) {
        EXPECT_EQ(explore("UUU UU SS", 0, false), 0);
        EXPECT_EQ(explore("UU UU UU", 0, false), 0);
        EXPECT_EQ(explore("UUU UUU S", 0, false), 0);
    }
}

/* Each guard, with the smallest scripts at which it was found to matter. */
static void each_guard_is_needed(void)
{
    EXPECT_EQ(explore("USUS SUSU", SNAPSHOT_COLLECT, false),
              0); /* with two processes one read is enough */
    EXPECT_EQ(explore("U U S", SNAPSHOT_COLLECT, false), 8);
    EXPECT_EQ(explore("USUS SUSU", SNAPSHOT_FIRST_MOVE, false), 20);
    EXPECT_EQ(explore("USUS SUSU", SNAPSHOT_GREET_ONCE, false), 22);
    EXPECT_EQ(explore("US US", SNAPSHOT_NO_HANDSHAKE, true), 0);
    EXPECT_EQ(explore("UU UU S", SNAPSHOT_NO_HANDSHAKE, false), 19);
    EXPECT_EQ(explore("US US", SNAPSHOT_NO_TOGGLE, true), 0);
    EXPECT_EQ(explore("UU UU S", SNAPSHOT_NO_TOGGLE, false), 41);
    EXPECT_EQ(explore("UU UU S", SNAPSHOT_NO_P_IN_B, false), 41);
    EXPECT_EQ(explore("UU UU S", SNAPSHOT_SAME_F, false), 41);
}

/* After q(i,j) := p[i], only one update of j, which had read q(i,j) before, can write a p[i] equal
   to it. So if collect a does not agree, collect b does not either. */
static void the_test_of_collect_a_is_not_needed(void)
{
    EXPECT_EQ(explore("US US", SNAPSHOT_NO_P_IN_A, true), 0);
    EXPECT_EQ(explore("UU UU S", SNAPSHOT_NO_P_IN_A, false), 0);
    EXPECT_EQ(explore("US US US", SNAPSHOT_NO_P_IN_A, false), 0);
}

/* The bits of a register that holds n-1 digits of 1..5 and a view of n such labels. */
static void a_register_has_the_known_bits(void)
{
    EXPECT_EQ(snapshot_bits(4, 125), 39);
    EXPECT_EQ(snapshot_bits(5, 625), 61);
    EXPECT_EQ(snapshot_bits(6, 3125), 88);
    EXPECT_EQ(snapshot_bits(7, 15625), 119);
    EXPECT_EQ(snapshot_bits(2, 4), 8); /* a power of two */
}

int main(int argc, char **argv)
{
    slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    RUN(a_register_has_the_known_bits);
    RUN(each_guard_is_needed);
    RUN(the_test_of_collect_a_is_not_needed);
    RUN(a_scan_returns_what_was_there_at_one_moment);
    return 0;
}
