/*
 * Random small systems for the oracle's test, each from a seed and a number: tables of transitions
 * that respect the rules of regions.
 *
 * There are six kinds, in turn: random tables for equal processes, and for different processes;
 * semaphores and queues, some with an exit region, with a few entries changed, so that properties
 * hold or fail narrowly; random tables whose last process is a supervisor; and supervisors that
 * open a door, or choose which process enters, with a few entries changed. oracle_system_walk makes
 * the smallest systems.
 */
#include "check/decide/oracle.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 16, MOST_PRIVATE = 6, KINDS = 6 };

/* (v', x') = delta_i(v, x), written out. */
struct entry {
    uint8_t value, state;
};

static struct table {
    unsigned n, k, r, values, states;
    uint64_t forbidden;     /* the shared value that is wrong; it may be none of the values */
    bool alike, supervised; /* supervised: the last process has no regions */
    enum step_region region[MOST_PRIVATE];
    bool room[MOST_PRIVATE]; /* of states in T: in the waiting room? */
    struct entry delta[ORACLE_PROCESSES][MOST_VALUES][MOST_PRIVATE];
} table;

static uint64_t seed;

static unsigned below(unsigned limit)
{
    assert(limit > 0);
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

static uint64_t delta(const struct step_system *system, uint64_t value, void *state,
                      unsigned process)
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

static bool waiting_room(const struct step_system *system, const void *state)
{
    (void)system;
    return table.room[*(const uint8_t *)state];
}

static const char *wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    (void)system;
    (void)states;
    return words[0] == table.forbidden ? "the forbidden value" : NULL;
}

static struct step_machine machine = {
    .name = "table",
    .title = "a random table",
    .prepare = prepare,
    .init = init,
    .step = step,
    .region = region,
    .waiting_room = waiting_room,
    .wrong = wrong,
};

/* A random private state that a step from `from` may lead to. */
static uint8_t random_target(unsigned process, unsigned from)
{
    if (table.supervised && process == table.n - 1) {
        return (uint8_t)below(table.states);
    }
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
    table.k = 1 + below(table.n - table.supervised);
    table.values = 2 + below(3);
    table.states = 2 + below(table.n == 2 ? 5 : 4);
    table.region[0] = STEP_REMAINDER;
    table.region[1] = STEP_CRITICAL;
    for (unsigned x = 2; x < table.states; x++) {
        static const enum step_region often[] = {STEP_TRYING,   STEP_TRYING, STEP_TRYING,
                                                 STEP_EXIT,     STEP_EXIT,   STEP_CRITICAL,
                                                 STEP_REMAINDER};
        table.region[x] = often[below(sizeof often / sizeof often[0])];
    }
    for (unsigned i = 0; i < table.n; i++) {
        for (unsigned v = 0; v < table.values; v++) {
            for (unsigned x = 0; x < table.states; x++) {
                table.delta[i][v][x] =
                    (struct entry){(uint8_t)below(table.values), random_target(i, x)};
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

/* A process in R enqueues itself; the first k of the queue may enter; a process that leaves is
   removed. Private states: 0 R, 1 C, 2 T, 3 E. */
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

/* Value 0: the door is closed; 1: the supervisor has opened it for one process, which closes it.
   The supervisor's state counts the processes it let in, up to k. A process in E waits for value 0,
   sets 2 and goes to R; the supervisor counts it out and sets 0. */
static void make_door(void)
{
    table.values = 3;
    table.states = 4;
    for (unsigned v = 0; v < table.values; v++) {
        uint8_t same = (uint8_t)v;
        for (unsigned i = 0; i < table.n - 1; i++) {
            table.delta[i][v][0] = (struct entry){same, 2};
            table.delta[i][v][2] = v == 1 ? (struct entry){0, 1} : (struct entry){same, 2};
            table.delta[i][v][1] = (struct entry){same, 3};
            table.delta[i][v][3] = v == 0 ? (struct entry){2, 0} : (struct entry){same, 3};
        }
        for (unsigned x = 0; x < table.states; x++) {
            struct entry open = {1, (uint8_t)(x + 1)};
            struct entry noted = {0, (uint8_t)(x - (x > 0))};
            table.delta[table.n - 1][v][x] = v == 0 && x < table.k ? open
                                             : v == 2              ? noted
                                                      : (struct entry){same, (uint8_t)x};
        }
    }
}

/* One seat. The value is a mask of the processes in T, + 4 times the process that may enter or has,
   from 1. The supervisor's state is the process it let in last; of two in T it takes the other. */
static void make_usher(void)
{
    table.values = 12;
    table.k = 1;
    for (unsigned value = 0; value < table.values; value++) {
        uint8_t v = (uint8_t)value;
        unsigned chosen = v / 4;
        for (unsigned i = 0; i < table.n - 1; i++) {
            uint8_t without = (uint8_t)(v & ~(1U << i));
            bool may = chosen == i + 1;
            table.delta[i][v][0] = (struct entry){(uint8_t)(v | 1U << i), 2};
            table.delta[i][v][2] = may ? (struct entry){without, 1} : (struct entry){v, 2};
            table.delta[i][v][1] = table.delta[i][v][3] = (struct entry){v % 4, 0};
        }
        for (unsigned x = 0; x < table.states; x++) {
            uint8_t next = v % 4 == 3 ? x == 0 : v % 4 == 2;
            table.delta[table.n - 1][v][x] =
                v == 0 || chosen != 0 ? (struct entry){v, (uint8_t)x}
                                      : (struct entry){(uint8_t)(v + 4 + 4 * next), next};
        }
    }
}

static void change_a_few(void)
{
    for (unsigned changes = below(4); changes > 0; changes--) {
        unsigned i = below(table.n);
        unsigned v = below(table.values);
        unsigned x = below(table.states);
        struct entry *entry = &table.delta[i][v][x];
        unsigned what = below(3);
        entry->value = what != 0 ? (uint8_t)below(table.values) : entry->value;
        entry->state = what != 1 ? random_target(i, x) : entry->state;
    }
}

/* An algorithm with a few entries changed at random. */
static void make_mutant(bool queue)
{
    static const enum step_region regions[] = {STEP_REMAINDER, STEP_CRITICAL, STEP_TRYING,
                                               STEP_EXIT};
    table.n = 2 + below(2);
    table.k = 1 + below(2);
    table.states = 3 + below(2);
    table.alike = !queue && !table.supervised;
    memcpy(table.region, regions, sizeof regions);
    if (table.supervised) {
        (below(2) ? make_door : make_usher)();
        change_a_few();
        return;
    }
    if (queue) {
        make_queue();
    } else {
        make_semaphore();
    }
    for (unsigned v = 0; v < table.values && table.states == 4; v++) { /* leave through E */
        for (unsigned i = 0; i < table.n; i++) {
            table.delta[i][v][1] = (struct entry){(uint8_t)v, 3};
        }
    }
    change_a_few();
}

static void make_table(uint64_t first_seed, unsigned number)
{
    seed = first_seed * 1000003 + number;
    for (unsigned warm_up = 0; warm_up < 8; warm_up++) {
        (void)below(2);
    }
    memset(&table, 0, sizeof table);
    unsigned kind = number % KINDS;
    table.supervised = kind >= 4;
    if (kind < 2 || kind == 4) {
        make_random(kind == 0);
    } else {
        make_mutant(kind == 2);
    }
    if (table.alike) {
        for (unsigned i = 1; i < table.n; i++) {
            memcpy(table.delta[i], table.delta[0], sizeof table.delta[0]);
        }
    }
    table.r = 1 + below(table.n - table.supervised);
    table.forbidden = 1 + below(2 * table.values);
    for (unsigned x = 0; x < table.states; x++) {
        table.room[x] = table.region[x] == STEP_TRYING && below(4) != 0;
    }
    machine.anonymous = table.alike;
    machine.supervised = table.supervised;
}

int oracle_system_make(struct step_system *system, uint64_t first_seed, unsigned number)
{
    char why[STEP_WHY_BYTES];
    make_table(first_seed, number);
    return step_system_init(system, &machine, table.n - table.supervised, table.k, table.r, why);
}

int oracle_system_walk(struct step_system *system, unsigned n, unsigned k, const char *const *next)
{
    char why[STEP_WHY_BYTES];
    memset(&table, 0, sizeof table);
    table.n = n;
    table.k = k;
    table.values = 1;
    table.states = 4;
    table.forbidden = 1;
    for (unsigned x = 0; x < 4; x++) {
        table.region[x] = (enum step_region)x;
        for (unsigned i = 0; i < n; i++) {
            while (step_region_letter((enum step_region)table.delta[i][0][x].state) != next[i][x]) {
                table.delta[i][0][x].state++;
            }
        }
    }
    machine.anonymous = false;
    machine.supervised = false;
    return step_system_init(system, &machine, n, k, 0, why);
}

void oracle_system_print(void)
{
    (void)fprintf(stderr, "n=%u k=%u r=%u, wrong value %u%s\n", table.n, table.k, table.r,
                  (unsigned)table.forbidden, table.supervised ? ", the last supervises" : "");
    for (unsigned i = 0; i < (table.alike ? 1 : table.n); i++) {
        for (unsigned x = 0; x < table.states; x++) {
            (void)fprintf(stderr, "  P%u %c%u%s:", i + 1, step_region_letter(table.region[x]), x,
                          table.room[x] ? " (waiting room)" : "");
            for (unsigned v = 0; v < table.values; v++) {
                struct entry e = table.delta[i][v][x];
                (void)fprintf(stderr, "  %u->(%u,%c%u)", v, e.value,
                              step_region_letter(table.region[e.state]), e.state);
            }
            (void)fprintf(stderr, "\n");
        }
    }
}
