/* Competitions for levels: see levels.h. */
#include "papers/levels.h"

#include <stdio.h>

/* What the next step does. */
enum stage {
    REMAINDER,  /* write the first register of the first competition */
    LEVEL,      /* write the first register of a later competition */
    TURN,       /* write the second register of the competition */
    READ_LEVEL, /* read level(at) */
    READ_TURN,  /* read the turn register */
    CRITICAL    /* leave */
};

int levels_prepare(struct step_system *system, unsigned turns, char why[STEP_WHY_BYTES])
{
    if (system->k >= system->n) {
        (void)snprintf(why, STEP_WHY_BYTES, "k must be less than n (k=%u, n=%u)", system->k,
                       system->n);
        return -1;
    }
    if (system->n + turns > STEP_MAX_SHARED_WORDS ||
        (LEVELS_HAS(system, LEVELS_ONE_FEWER) && turns < 2)) {
        (void)snprintf(why, STEP_WHY_BYTES, "too many registers or too few levels at this size");
        return -1;
    }
    system->shared_words = system->n + turns;
    system->private_bytes = sizeof(struct levels_state);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_PROGRESS) |
                     STEP_CLAIM(STEP_LOCKOUT) | STEP_CLAIM(STEP_STARVATION);
    return 0;
}

void levels_init(const struct step_system *system, uint64_t *words)
{
    for (unsigned i = 0; i < system->shared_words; i++) {
        words[i] = 0; /* for a turn register: process 0, an arbitrary choice */
    }
}

/* The next process, from `at` on, whose level is read: skip the process itself. */
static unsigned other_from(unsigned at, unsigned process)
{
    return at == process ? at + 1 : at;
}

/* Go to the start of the loop L. */
static void count_from_start(const struct step_system *system, struct levels_state *x,
                             const struct levels_competition *c, unsigned process)
{
    x->stage = READ_LEVEL;
    x->at = (uint8_t)other_from(c->first, process);
    x->count = LEVELS_HAS(system, LEVELS_COUNT_ON) ? x->count : 0;
}

static void write_one(const struct step_system *system, struct step_memory *memory,
                      const struct levels_competition *c, unsigned process, bool first)
{
    if (first != LEVELS_HAS(system, LEVELS_TURN_FIRST)) {
        step_write(memory, process, c->level);
    } else {
        step_write(memory, c->turn, process);
    }
}

static void read_level(const struct step_system *system, struct step_memory *memory,
                       struct levels_state *x, const struct levels_competition *c, unsigned process)
{
    uint64_t least = c->level + (LEVELS_HAS(system, LEVELS_ABOVE) ? 1 : 0);
    if (step_read(memory, x->at) >= least && (int)x->count <= c->bound) {
        x->count++;
    }
    x->at = (uint8_t)other_from(x->at + 1U, process);
    if (x->at >= c->past) {
        x->stage = READ_TURN;
        x->at = 0;
    }
}

static void read_turn(const struct step_system *system, struct step_memory *memory,
                      struct levels_state *x, const struct levels_competition *c, unsigned process,
                      levels_find *find)
{
    struct levels_competition next;
    bool another = step_read(memory, c->turn) != process;
    if ((int)x->count > c->bound && (!another || LEVELS_HAS(system, LEVELS_NO_TURN))) {
        count_from_start(system, x, c, process);
    } else if (find(system, process, x->number + 1U, &next)) {
        *x = (struct levels_state){.stage = LEVEL, .number = (uint8_t)(x->number + 1)};
    } else {
        *x = (struct levels_state){.stage = CRITICAL};
    }
}

void levels_step(const struct step_system *system, struct step_memory *memory,
                 struct levels_state *state, unsigned process, levels_find *find)
{
    struct levels_competition c = {0};
    (void)find(system, process, state->number, &c);
    switch ((enum stage)state->stage) {
    case REMAINDER: /* level(i) := s */
    case LEVEL:
        write_one(system, memory, &c, process, true);
        state->stage = TURN;
        break;
    case TURN: /* turn(s) := i */
        write_one(system, memory, &c, process, false);
        count_from_start(system, state, &c, process);
        break;
    case READ_LEVEL: /* v := level(j); if v >= s then count := count + 1 */
        read_level(system, memory, state, &c, process);
        break;
    case READ_TURN: /* v := turn(s); if count <= bound or v is not i then return true else goto L */
        read_turn(system, memory, state, &c, process, find);
        break;
    case CRITICAL: /* level(i) := 0 */
        step_write(memory, process, LEVELS_HAS(system, LEVELS_STAY) ? c.level : 0);
        *state = (struct levels_state){.stage = REMAINDER};
        break;
    }
}

bool levels_heedless(const struct step_system *system, const struct levels_state *state,
                     unsigned process, levels_find *find)
{
    struct levels_competition c;
    struct levels_competition next;
    if ((state->stage != READ_LEVEL && state->stage != READ_TURN) ||
        !find(system, process, state->number, &c)) {
        return false;
    }
    bool too_many = (int)state->count > c.bound;
    return state->stage == READ_LEVEL
               ? too_many
               : !too_many && find(system, process, state->number + 1U, &next);
}

enum step_region levels_region(const struct step_system *system, const void *state)
{
    (void)system;
    switch ((enum stage)((const struct levels_state *)state)->stage) {
    case REMAINDER:
        return STEP_REMAINDER;
    case CRITICAL:
        return STEP_CRITICAL;
    case LEVEL:
    case TURN:
    case READ_LEVEL:
    case READ_TURN:
        break;
    }
    return STEP_TRYING;
}

int levels_flat_print_word(const struct step_system *system, unsigned word, uint64_t value,
                           char *out, size_t size)
{
    if (word < system->n) {
        return snprintf(out, size, "level(%u)=%u", word + 1, (unsigned)value);
    }
    return snprintf(out, size, "turn(%u)=%u", word - system->n + 1, (unsigned)value + 1);
}

double levels_flat_bound(const struct step_system *system)
{
    double values = 1;
    for (unsigned s = system->k; s < system->n; s++) {
        values *= system->n;
    }
    for (unsigned i = 0; i < system->n; i++) {
        values *= system->n - system->k + 1.0;
    }
    return values;
}

static unsigned flat_bits(const struct step_system *system, unsigned word)
{
    return word < system->n ? step_bits_of(system->n - system->k + 1) : step_bits_of(system->n);
}

static double flat_formula(const struct step_system *system)
{
    unsigned n = system->n;
    unsigned k = system->k;
    return (n - k) * step_bits_of(n) + n * step_bits_of(n - k + 1);
}

const struct step_space levels_flat_space = {
    .bits = flat_bits,
    .formula = flat_formula,
    .says = "(n-k) ceil(log n) + n ceil(log(n-k+1)) (2002, section 7)",
};
