/*
 * First-in, first-enabled (1994, Definitions 2.5 and 5.1) for fife, also at sizes that are too
 * large for the oracle or for a full exploration. This test decides them pair by pair, as the
 * definitions say, and src/check/decide/first_in.c must agree. It also compares the canonical form
 * of fife with runs on unchanged labels.
 */
#include "check/decide/property.h"
#include "explore.h"
#include "papers/fife.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

struct verdict {
    bool entered;     /* Definition 2.5 holds */
    bool enabled;     /* Definition 5.1 holds */
    uint64_t reached; /* states with i in the waiting room and j arrived since, over all i and j */
    uint64_t tested_entered, tested_enabled; /* of these: with j in C; with j enabled */
    uint32_t states;
};

/* The processes in the waiting room, for each state. */
static uint16_t *find_rooms(const struct check_graph *graph)
{
    const struct step_system *system = graph->system;
    uint64_t words[STEP_MAX_SHARED_WORDS];
    _Alignas(8) unsigned char states[CHECK_MAX_PROCESSES * STEP_MAX_PRIVATE_BYTES];
    uint16_t *rooms = calloc(check_states(graph), sizeof *rooms);
    EXPECT(rooms != NULL);
    for (uint32_t s = 0; s < check_states(graph); s++) {
        check_seen_get(&graph->seen, s, words, states);
        for (unsigned i = 0; i < system->n; i++) {
            const void *x = step_state_of(system, states, i);
            bool room = system->machine->waiting_room(system, x);
            EXPECT(!room || check_region(graph, s, i) == STEP_TRYING);
            rooms[s] = (uint16_t)(rooms[s] | (unsigned)room << i);
        }
    }
    return rooms;
}

/* A search: states to explore, each once. */
struct search {
    struct check_bits seen;
    uint32_t *queue;
    uint32_t count;
};

static void add(struct search *search, uint32_t state)
{
    if (!check_bits_has(&search->seen, state)) {
        check_bits_add(&search->seen, state);
        search->queue[search->count++] = state;
    }
}

/* Check all states in which i is in the waiting room and j has arrived since. */
static void judge_pair(const struct check_graph *graph, const struct check_enabled *enabled,
                       const uint16_t *rooms, unsigned i, unsigned j, struct verdict *verdict)
{
    struct search search = {.queue = calloc(check_states(graph), sizeof *search.queue)};
    EXPECT(search.queue != NULL && check_bits_init(&search.seen, check_states(graph)) == 0);
    for (uint32_t s = 0; s < check_states(graph); s++) {
        if (rooms[s] >> i & 1 && check_region(graph, s, j) == STEP_REMAINDER) {
            add(&search, check_edge(graph, s, j));
        }
    }
    for (uint32_t at = 0; at < search.count; at++) {
        uint32_t s = search.queue[at];
        bool i_enabled = check_c_enabled(enabled, s) >> i & 1;
        bool j_enabled = check_c_enabled(enabled, s) >> j & 1;
        if (check_region(graph, s, j) == STEP_CRITICAL) {
            verdict->tested_entered++;
            verdict->entered = verdict->entered && i_enabled;
        } else if (rooms[s] >> j & 1 && j_enabled) {
            verdict->tested_enabled++;
            verdict->enabled = verdict->enabled && i_enabled;
        }
        for (unsigned p = 0; p < graph->system->n; p++) {
            uint32_t to = check_edge(graph, s, p);
            if (rooms[to] >> i & 1) { /* the same wait: T has no edge back */
                add(&search, to);
            }
        }
    }
    verdict->reached += search.count;
    check_bits_free(&search.seen);
    free(search.queue);
}

/* Does the checker agree, with a shortest schedule? */
static void expect_the_same(struct check_graph *graph, const struct check_enabled *enabled,
                            const struct verdict *verdict)
{
    struct check_report report = {0};
    EXPECT_EQ(check_decide_first_in(graph, enabled, &report), 0);
    const struct check_result *in = &report.results[STEP_FIRST_IN];
    const struct check_result *of_enabled = &report.results[STEP_FIRST_ENABLED];
    EXPECT_EQ(in->verdict, verdict->entered ? CHECK_HOLDS : CHECK_VIOLATED);
    EXPECT_EQ(of_enabled->verdict, verdict->enabled ? CHECK_HOLDS : CHECK_VIOLATED);
    EXPECT((in->trace.length > 0) == !verdict->entered);
    EXPECT((of_enabled->trace.length > 0) == !verdict->enabled);
    EXPECT((in->tested > 0) == (verdict->reached > 0));
    EXPECT_EQ(in->tested, of_enabled->tested);
    check_report_free(&report);
}

static struct verdict judge(const struct step_machine *machine, unsigned n, unsigned k)
{
    struct step_system system;
    struct check_graph graph;
    struct check_enabled enabled;
    struct verdict verdict = {.entered = true, .enabled = true};
    EXPECT(explore_at(machine, n, k, 0, &system, &graph));
    EXPECT_EQ(check_enabled_init(&enabled, &graph), 0);
    uint16_t *rooms = find_rooms(&graph);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++) {
            if (j != i) {
                judge_pair(&graph, &enabled, rooms, i, j, &verdict);
            }
        }
    }
    (void)printf("  %s n=%u k=%u: %u states; 2.5 %s (%llu), 5.1 %s (%llu)\n", machine->name, n, k,
                 check_states(&graph), verdict.entered ? "holds" : "VIOLATED",
                 (unsigned long long)verdict.tested_entered, verdict.enabled ? "holds" : "VIOLATED",
                 (unsigned long long)verdict.tested_enabled);
    verdict.states = check_states(&graph);
    expect_the_same(&graph, &enabled, &verdict);
    free(rooms);
    check_enabled_free(&enabled);
    check_graph_free(&graph);
    return verdict;
}

static void the_first_in_is_enabled_first(void)
{
    static const uint32_t states[][4] = {[2] = {0, 125, 141}, [3] = {0, 55230, 75890, 84063}};
    for (unsigned n = 2; n <= 3; n++) {
        for (unsigned k = 1; k <= n; k++) {
            struct verdict verdict = judge(&papers_fife, n, k);
            EXPECT_EQ(verdict.states, states[n][k]);
            EXPECT(verdict.entered && verdict.enabled && verdict.reached > 0);
            /* with one seat a later process cannot be in C or enabled before i */
            EXPECT_EQ(verdict.tested_entered > 0, k > 1);
            EXPECT_EQ(verdict.tested_enabled > 0, k > 1);
        }
    }
}

static void an_unbroken_tie_violates_it(void)
{
    EXPECT(!judge(&papers_mutant_fife_printed, 2, 1).entered);
    EXPECT(!judge(&papers_mutant_fife_equal, 2, 1).entered);
}

/*
 * At n = 4 there are too many states to explore all. So explore a part: a machine that begins with
 * a given schedule, and whose processes come a few times each and stay in R afterwards. A violation
 * of the part is a violation of the machine.
 */
static struct {
    const struct step_machine *machine;
    unsigned come[CHECK_MAX_PROCESSES];
    unsigned char schedule[256];
    unsigned length;
} part;

static int prepare_part(struct step_system *system, char why[STEP_WHY_BYTES])
{
    int error = part.machine->prepare(system, why);
    system->shared_words++; /* position in the schedule; the algorithm does not read it */
    system->private_bytes += (unsigned)sizeof(uint64_t); /* how many times it has come */
    return error;
}

static void step_part(const struct step_system *system, struct step_memory *memory, void *state,
                      unsigned process)
{
    uint64_t *come = (void *)((unsigned char *)state + system->private_bytes - sizeof(uint64_t));
    unsigned clock = system->shared_words - 1;
    uint64_t now = atomic_load(&memory->words[clock]);
    bool resting = part.machine->region(system, state) == STEP_REMAINDER;
    if ((now < part.length && part.schedule[now] != process) ||
        (resting && *come == part.come[process])) {
        (void)step_read(memory, process); /* a step that changes nothing */
        return;
    }
    *come += resting;
    part.machine->step(system, memory, state, process);
    atomic_store(&memory->words[clock], now < part.length ? now + 1 : now);
}

/* A state outside the checker, with unchanged labels. */
struct world {
    struct step_system system;
    _Atomic uint64_t words[STEP_MAX_SHARED_WORDS];
    _Alignas(8) unsigned char states[CHECK_MAX_PROCESSES * STEP_MAX_PRIVATE_BYTES];
};

static void begin(struct world *world, const struct step_machine *machine, unsigned n, unsigned k)
{
    char why[STEP_WHY_BYTES];
    uint64_t words[STEP_MAX_SHARED_WORDS];
    memset(world, 0, sizeof *world);
    EXPECT_EQ(step_system_init(&world->system, machine, n, k, 0, why), 0);
    machine->init(&world->system, words);
    for (unsigned w = 0; w < world->system.shared_words; w++) {
        atomic_init(&world->words[w], words[w]);
    }
}

static void *step_in(struct world *world, unsigned process)
{
    struct step_memory memory = {.words = world->words};
    void *state = step_state_of(&world->system, world->states, process);
    world->system.machine->step(&world->system, &memory, state, process);
    return state;
}

/* Let the first processes, one after the other, run until they are in C, or in the waiting room.
   Record the schedule in `part`. */
static void begin_part(const struct step_machine *machine, unsigned n, unsigned k,
                       const char *where)
{
    struct world world;
    begin(&world, machine, n, k);
    part.machine = machine;
    part.length = 0;
    for (unsigned i = 0; where[i] != '\0'; i++) {
        const void *state;
        do {
            EXPECT(part.length < sizeof part.schedule);
            part.schedule[part.length++] = (unsigned char)i;
            state = step_in(&world, i);
        } while (where[i] == 'C' ? machine->region(&world.system, state) != STEP_CRITICAL
                                 : !machine->waiting_room(&world.system, state));
    }
}

static struct verdict judge_part(const struct step_machine *machine, unsigned n, unsigned k,
                                 const char *where, const char *come)
{
    struct step_machine few = *machine;
    few.prepare = prepare_part;
    few.step = step_part;
    few.loose_regions = true;
    begin_part(machine, n, k, where);
    for (unsigned i = 0; i < n; i++) {
        part.come[i] = (unsigned)(come[i] - '0');
    }
    return judge(&few, n, k);
}

/* 1 and 2 were in C when 3 came. They come again when 4 is in C, with labels before that of 3 until
   they take new ones. There they stop, and 3 waits for ever. */
static void without_the_label_on_exit_it_is_violated(void)
{
    EXPECT(judge(&papers_mutant_fife_no_relabel, 3, 2).entered);
    EXPECT(!judge_part(&papers_mutant_fife_no_relabel, 4, 2, "CCW", "2211").entered);
}

/* 1 is in the waiting room but has not yet read the flags; no process is in C. When 2 is in C, 3
   and 4 come, with labels before that of 1, and stop. */
static void without_the_set_of_the_doorway_it_is_violated(void)
{
    EXPECT(judge(&papers_mutant_fife_everyone, 3, 2).entered);
    EXPECT(!judge_part(&papers_mutant_fife_everyone, 4, 2, "W", "1111").entered);
}

/* A schedule leads to the same regions in the canonical form and with unchanged labels. Each
   process is fast for a while and slow for a while, so that labels are far apart. */
static void the_canonical_form_hides_nothing_at(const struct step_machine *machine, unsigned n,
                                                unsigned k, unsigned steps)
{
    static struct world world;
    struct step_system system;
    struct check_graph graph;
    uint64_t random = 88172645463325252ULL;
    uint32_t at = 0;
    unsigned slow = 0;
    EXPECT(explore_at(machine, n, k, 0, &system, &graph));
    begin(&world, machine, n, k);
    for (unsigned s = 0; s < steps; s++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        slow = s % 1000 == 0 ? (unsigned)(random >> 40) : slow; /* one bit a process */
        unsigned process = (unsigned)(random >> 20) % n;
        if (slow >> process & 1 && (random >> 32) % 64 != 0) {
            continue;
        }
        (void)step_in(&world, process);
        at = check_edge(&graph, at, process);
        for (unsigned i = 0; i < n; i++) {
            const void *state = step_state_of(&world.system, world.states, i);
            EXPECT_EQ(machine->region(&world.system, state), check_region(&graph, at, i));
        }
    }
    EXPECT(atomic_load(&world.words[n]) > steps / 1000);
    check_graph_free(&graph);
}

static void the_canonical_form_hides_nothing(void)
{
    the_canonical_form_hides_nothing_at(&papers_fife, 2, 1, 1000000);
    the_canonical_form_hides_nothing_at(&papers_fife, 3, 1, 1000000);
    the_canonical_form_hides_nothing_at(&papers_fife, 3, 2, 1000000);
    the_canonical_form_hides_nothing_at(&papers_mutant_fife_no_relabel, 3, 2, 1000000);
    the_canonical_form_hides_nothing_at(&papers_mutant_fife_label_first, 3, 2, 1000000);
}

int main(void)
{
    RUN(the_first_in_is_enabled_first);
    RUN(an_unbroken_tie_violates_it);
    RUN(without_the_set_of_the_doorway_it_is_violated);
    RUN(without_the_label_on_exit_it_is_violated);
    RUN(the_canonical_form_hides_nothing);
    return 0;
}
