/* The pool at one size: where its words are, what is claimed, how it begins. See pool_parts.h. */
#include "model/pool.h"

#include "core/parts.h"
#include "model/pool_parts.h"

#include <stdio.h>
#include <string.h>

const char *const model__event_names[EVENTS] = {"", "crash", "give up", "grow", "shrink"};

uint32_t model__line_size(const struct step_system *system)
{
    uint32_t size = 4;
    while (size < system->n + 1) {
        size *= 2;
    }
    return system->limits.line != 0 ? system->limits.line : size;
}

void model__core(const struct step_system *system, struct step_memory *memory, struct core *c)
{
    unsigned bits = system->limits.tag_bits;
    memset(c, 0, sizeof *c);
    c->words = memory->words;
    c->memory = memory;
    c->rows = system->n;
    c->seats = system->k + system->limits.grows;
    c->line_mask = model__line_size(system) - 1;
    c->at_i = AT_I;
    c->at_v = AT_V;
    c->at_k = AT_K;
    c->at_row = AT_ROW;
    c->at_own = AT_ROW + c->rows;
    c->at_line = c->at_own + c->rows;
    c->at_seat = c->at_line + c->line_mask + 1;
    c->i_tag_mask = bits == 0 ? 0xffff : (1U << bits) - 1;
    c->v_tag_mask = bits == 0 ? 0xfff : (1U << bits) - 1;
    c->seat_count = system->limits.count_bits == 0 ? 1 : (1U << system->limits.count_bits) - 1;
    c->broken = (enum core_guard)system->machine->variant;
}

int model__prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    const struct step_limits *limits = &system->limits;
    uint32_t size = model__line_size(system);
    unsigned words = AT_ROW + 2 * system->n + size + system->k + limits->grows;
    if (limits->crashes > 15 || limits->gives_up > 15 || limits->grows > 15 ||
        limits->shrinks > 15 || limits->cycles > 15 || limits->fewer > limits->cycles ||
        limits->fewer_only > system->n || limits->queue > system->n || limits->stale > 3 ||
        limits->sleeper > 2 || system->n > 8 || words > STEP_MAX_SHARED_WORDS) {
        (void)snprintf(
            why, STEP_WHY_BYTES,
            "pool is explored for n up to 8, small k, and at most 15 of everything else");
        return -1;
    }
    /* I, V and K may each name another tag of a row, so that two bits are the least. */
    unsigned least = system->machine->variant == CORE_GUARD_FRESH_TAG ? 1 : 2;
    if (limits->tag_bits > 12 || (limits->tag_bits != 0 && limits->tag_bits < least) ||
        (size & (size - 1)) != 0) {
        (void)snprintf(why, STEP_WHY_BYTES,
                       "tags have 2 to 12 bits, and a line a power of two of places");
        return -1;
    }
    if (limits->cycles == 0) {
        system->limits.cycles = 1;
    }
    system->shared_words = words;
    system->private_bytes = sizeof(struct process);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_INVARIANT) |
                     STEP_CLAIM(STEP_PROGRESS) | STEP_CLAIM(STEP_LOCKOUT) |
                     STEP_CLAIM(STEP_STARVATION);
    if (limits->grows + limits->shrinks > 0) {
        /* then k is not the number that counts: the invariant looks at K */
        system->claims &= ~STEP_CLAIM(STEP_EXCLUSION);
    }
    if (limits->queue > 0) {
        /* as long as one may come before all others, and does not, nobody moves */
        system->claims &= STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_INVARIANT);
    }
    if (limits->shrinks > 0) {
        /* and a pool that shrinks to nothing lets nobody in */
        system->claims = STEP_CLAIM(STEP_INVARIANT);
    }
    return 0;
}

/*
 * A pool that has gone round all its tickets once, and whose last guests have all entered without a
 * place: every place still holds the entry of the ticket with the number that is issued next there:
 * served, skipped, or granted when it was valid already and never decided.
 */
static void wear(const struct step_system *system, struct core *c)
{
    uint32_t issue = CORE_TICKET_MASK - 1;
    atomic_init(&c->words[AT_I], core_i(issue, CORE_NOBODY, 0));
    atomic_init(&c->words[AT_V], core_v(issue + system->k, 0, CORE_NOBODY, 0));
    for (uint32_t t = issue + 1; t <= issue + 1 + c->line_mask; t++) {
        atomic_init(&c->words[core__line_at(c, t)],
                    system->limits.stale == 3
                        ? core_line(t, 0, 0)
                        : core_line(t, CORE_NOBODY,
                                    system->limits.stale == 1 ? CORE_SERVED : CORE_SKIPPED));
    }
}

void model__init(const struct step_system *system, uint64_t *words)
{
    _Atomic uint64_t shared[STEP_MAX_SHARED_WORDS];
    struct step_memory memory = {.words = shared};
    struct core c;
    model__core(system, &memory, &c);
    core_init(&c, system->k);
    if (system->limits.stale != 0) {
        wear(system, &c);
    }
    for (unsigned w = 0; w < system->shared_words; w++) {
        words[w] = w == AT_WORLD ? 0 : atomic_load(&shared[w]);
    }
    words[AT_WORLD] = world__with_turn(0, system->limits.queue != 0 ? 1 : 0) |
                      (uint64_t)system->limits.crashes << world__left_shift(CRASH) |
                      (uint64_t)system->limits.gives_up << world__left_shift(GIVE_UP) |
                      (uint64_t)system->limits.grows << world__left_shift(GROW) |
                      (uint64_t)system->limits.shrinks << world__left_shift(SHRINK);
}

const struct step_machine model_pool =
    MODEL_POOL("pool", "The core of usher, as it ships: recoverable tickets (src/core)", 0);
