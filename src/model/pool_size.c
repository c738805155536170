/* The model at one size: its layout, its claims, its initial state. See pool_parts.h. */
#include "model/pool_machine.h"

#include "core/parts.h"
#include "model/pool_parts.h"

#include <stdio.h>
#include <string.h>

const char *const model__event_names[EVENTS] = {"",       "crash", "give up", "grow",
                                                "shrink", "pause", "flush"};

uint32_t model__line_size(const struct step_system *system)
{
    uint32_t size = 4;
    while (size < system->n + 1) {
        size *= 2;
    }
    return system->limits.line != 0 ? system->limits.line : size;
}

void model__widths(const struct step_system *system)
{
    const struct step_limits *limits = &system->limits;
    if (model__repeats(system)) {
        core_widths =
            (struct core_widths){limits->ticket_bits, limits->ticket_bits, limits->tag_bits,
                                 limits->cycle_bits, limits->cycle_bits};
    } else {
        core_widths =
            (struct core_widths){32, 20, 12, 26, limits->count_bits == 0 ? 1 : limits->count_bits};
    }
}

void model__core(const struct step_system *system, struct step_memory *memory, struct core *c)
{
    model__widths(system);
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
    c->at_hint = AT_ROW + c->rows;
    c->at_line = c->at_hint + c->rows;
    c->at_seat = c->at_line + c->line_mask + 1;
    c->at_announced = c->at_seat + c->seats;
    c->at_relied = c->at_announced + CORE_SLOTS * c->rows;
    c->repeats = model__repeats(system);
    c->ghosts = c->repeats && (system->limits.simple & WITHOUT_RULE) == 0;
    c->broken = (enum core_guard)system->machine->variant;
}

/* More than twice as many ticket numbers as tickets in use at the same time are needed. */
static unsigned least_ticket_bits(const struct step_system *system)
{
    const struct step_limits *limits = &system->limits;
    uint32_t used = 2 * (model__line_size(system) + system->k + limits->grows + limits->shrinks);
    unsigned bits = 1;
    while (1U << bits <= used) {
        bits++;
    }
    return bits;
}

/* Check the widths of words that repeat. 0, or -1 with a sentence in `why`. */
static int prepare_repeats(struct step_system *system, char why[STEP_WHY_BYTES])
{
    struct step_limits *limits = &system->limits;
    unsigned least = least_ticket_bits(system);
    limits->cycle_bits = limits->cycle_bits == 0 ? limits->tag_bits + 1 : limits->cycle_bits;
    limits->ticket_bits = limits->ticket_bits == 0 ? least : limits->ticket_bits;
    if (limits->tag_bits > 6 || limits->cycle_bits <= limits->tag_bits || limits->cycle_bits > 8) {
        (void)snprintf(why, STEP_WHY_BYTES,
                       "tags that repeat have 1 to 6 bits, and cycles more, up to 8");
        return -1;
    }
    if (limits->ticket_bits < least || limits->ticket_bits > 20) {
        (void)snprintf(why, STEP_WHY_BYTES,
                       "tickets need %u bits here, for twice the line, the seats and the owed",
                       least);
        return -1;
    }
    if (AT_ROW + 2 * system->n + model__line_size(system) + system->k + limits->grows > 32) {
        (void)snprintf(why, STEP_WHY_BYTES, "words that repeat are for small n, k and line");
        return -1;
    }
    if (limits->queue > 0 || limits->stale > 0) {
        (void)snprintf(why, STEP_WHY_BYTES, "--queue and --stale are for words that do not repeat");
        return -1;
    }
    return 0;
}

enum { MOST_CYCLES = 60 }; /* model__phase has four values for each cycle, in a byte */

int model__prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    struct step_limits *limits = &system->limits;
    uint32_t size = model__line_size(system);
    unsigned words =
        AT_ROW + 2 * system->n + size + system->k + limits->grows + (CORE_SLOTS + 1) * system->n;
    if (limits->crashes > 15 || limits->gives_up > 15 || limits->grows > 15 ||
        limits->shrinks > 15 || limits->cycles > MOST_CYCLES || limits->fewer > limits->cycles ||
        limits->fewer_only > system->n || limits->last > system->n || limits->simple > 7 ||
        limits->queue > system->n || limits->stale > 3 || limits->pauses > 15 ||
        limits->buffer > CORE_BUFFER_MOST || system->n > 8 || words > STEP_MAX_SHARED_WORDS) {
        (void)snprintf(
            why, STEP_WHY_BYTES,
            "pool is explored for n up to 8, small k, 60 cycles, a buffer of 2, 15 of the rest");
        return -1;
    }
    if ((size & (size - 1)) != 0) {
        (void)snprintf(why, STEP_WHY_BYTES, "a line has a power of two of places");
        return -1;
    }
    if (!model__repeats(system) &&
        (limits->cycle_bits != 0 || limits->ticket_bits != 0 || limits->pauses != 0)) {
        (void)snprintf(why, STEP_WHY_BYTES,
                       "--cycle-bits, --ticket-bits and --pauses need --tag-bits");
        return -1;
    }
    if (model__repeats(system) && prepare_repeats(system, why) != 0) {
        return -1;
    }
    if (limits->cycles == 0 && !model__repeats(system)) {
        limits->cycles = 1;
    }
    system->shared_words = words;
    system->private_bytes = sizeof(struct process);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_INVARIANT) |
                     STEP_CLAIM(STEP_PROGRESS) | STEP_CLAIM(STEP_LOCKOUT) |
                     STEP_CLAIM(STEP_STARVATION);
    if (limits->grows + limits->shrinks > 0) {
        /* k is not the number of seats then: the invariant uses K */
        system->claims &= ~STEP_CLAIM(STEP_EXCLUSION);
    }
    if (limits->queue > 0) {
        /* until the first processes have arrived one by one, the others do not move */
        system->claims &= STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_INVARIANT);
    }
    if (limits->shrinks > 0) {
        /* a pool that shrinks to 0 seats lets no process in */
        system->claims = STEP_CLAIM(STEP_INVARIANT);
    }
    if (limits->pauses > 0 || limits->buffer > 0) {
        /* an operation may stay interrupted for ever, or a store stay in its buffer:
           pool_judge.c has what holds meanwhile */
        system->claims &= STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_INVARIANT);
    }
    return 0;
}

/*
 * Begin with a pool that has used all ticket numbers once, and whose last guests entered without a
 * place. So every place still has the entry of the ticket number that is issued next there: SERVED,
 * SKIPPED, or UNDECIDED (granted when the ticket was valid already).
 */
static void wear(const struct step_system *system, struct core *c)
{
    uint32_t issue = CORE_TICKET_MASK - 1;
    atomic_init(&c->words[AT_I], core_i(issue, CORE_NOBODY, 0));
    atomic_init(&c->words[AT_V], core_v(issue + system->k, 0, CORE_NOBODY, 0));
    for (uint32_t t = issue + 1; t <= issue + 1 + c->line_mask; t++) {
        atomic_init(&c->words[core__line_at(c, t)],
                    core_line(t, 0, 0, (enum core_verdict)(system->limits.stale % 3)));
    }
}

void model__init(const struct step_system *system, uint64_t *words)
{
    _Atomic uint64_t shared[STEP_MAX_SHARED_WORDS];
    struct step_memory memory = {.words = shared};
    struct core c;
    for (unsigned w = 0; w < STEP_MAX_SHARED_WORDS; w++) {
        atomic_init(&shared[w], 0);
    }
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
