/* The gate as a step machine: see gate_machine.h. */
#include "model/gate_machine.h"

#include "gate/gate_word.h"
#include "model/gate_parts.h"

#include <stdio.h>
#include <string.h>

static const struct gate_constants *constants_of(const struct step_system *system)
{
    return (const struct gate_constants *)(const void *)system->constants;
}

static bool is(const struct step_system *system, enum gate_style style)
{
    return system->machine->variant & style;
}

static unsigned broken(const struct step_system *system)
{
    return system->machine->variant & GUARDS;
}

static unsigned claims_of(const struct step_system *system)
{
    unsigned live = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_PROGRESS) |
                    STEP_CLAIM(STEP_LOCKOUT) | STEP_CLAIM(STEP_STARVATION) |
                    STEP_CLAIM(STEP_INVARIANT);
    unsigned ordered = live | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_DEADLOCK) |
                       STEP_CLAIM(STEP_FIFO) | STEP_CLAIM(STEP_OVERTAKINGS);
    unsigned queuelike = ordered | STEP_CLAIM(STEP_C2) | STEP_CLAIM(STEP_C4) | STEP_CLAIM(STEP_C5);
    if (system->machine->loose_regions) {
        return live;
    }
    if (is(system,
           SLEEPS)) { /* the 1979 properties are about the next step, and a sleeper needs more */
        return ordered;
    }
    return system->k < system->n ? queuelike | STEP_CLAIM(STEP_C6) : queuelike;
}

int gate__prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    struct gate_constants constants = {0};
    unsigned bits = gate_least_bits(is(system, CROWDED) ? 1 : system->n, system->k);
    if (gate_start(&constants.start, is(system, CROWDED) ? 1 : system->n, system->k, bits) != 0 ||
        colored_shape_with(&constants.shape, system->n, system->k, 1U << bits) != 0) {
        (void)snprintf(why, STEP_WHY_BYTES, "a gate for n=%u, k=%u does not fit one 64-bit word",
                       system->n, system->k);
        return -1;
    }
    if (is(system, SLEEPS) && system->n > MOST_ASLEEP) {
        (void)snprintf(why, STEP_WHY_BYTES, "n must be at most %d", MOST_ASLEEP);
        return -1;
    }
    memcpy(system->constants, &constants, sizeof constants);
    system->shared_words = is(system, SLEEPS) ? 2 : 1;
    system->private_bytes = sizeof(struct gate_guest);
    system->claims = claims_of(system);
    return 0;
}

void gate__init(const struct step_system *system, uint64_t *words)
{
    memset(words, 0, system->shared_words * sizeof *words);
    words[AT_GATE] = constants_of(system)->start;
}

static void go(struct gate_guest *guest, enum gate_mode mode)
{
    *guest = (struct gate_guest){.mode = (uint8_t)mode, .ticket = guest->ticket};
    guest->ticket = mode == RESTING || mode == WAKING ? 0 : guest->ticket;
}

static uint64_t take(const struct step_system *system, uint64_t word, void *state, unsigned process)
{
    struct gate_guest *guest = state;
    struct gate_step step = is(system, TRIES) && process % 2 == 1 ? gate_try(word, broken(system))
                                                                  : gate_take(word, broken(system));
    if (step.result >= 0) {
        guest->ticket = step.ticket;
        go(guest, step.result == 0 ? INSIDE : SPINNING);
    }
    return step.word;
}

static uint64_t leave(const struct step_system *system, uint64_t word, void *state,
                      unsigned process)
{
    struct gate_guest *guest = state;
    struct gate_step step = gate_leave(word, guest->ticket, broken(system));
    (void)process;
    if (step.result == 0) {
        go(guest, step.wakes != 0 && is(system, SLEEPS) ? WAKING : RESTING);
        guest->wakes = is(system, SLEEPS) ? step.wakes : 0;
    } else { /* the gate refuses the leaving guest: its seat is lost */
        go(guest, RESTING);
    }
    return step.word;
}

/* The word of sleepers: six bits a process, the number of its futex bit + 1; 0: awake. Clear those
   on `bits`. */
static uint64_t woken(uint64_t asleep, uint32_t bits)
{
    for (unsigned i = 0; i < MOST_ASLEEP; i++) {
        unsigned on = (unsigned)(asleep >> 6 * i) & 63;
        if (on != 0 && bits >> (on - 1) & 1) {
            asleep &= ~(63ULL << 6 * i);
        }
    }
    return asleep;
}

/* FUTEX_WAKE_BITSET of all sleepers on the bits. */
static uint64_t wake(const struct step_system *system, uint64_t asleep, void *state,
                     unsigned process)
{
    struct gate_guest *guest = state;
    (void)system;
    (void)process;
    asleep = woken(asleep, guest->wakes);
    go(guest, RESTING);
    return asleep;
}

/* A step of a sleeping guest: wake up if it was woken, or by timeout. */
static uint64_t sleep_on(const struct step_system *system, uint64_t asleep, void *state,
                         unsigned process)
{
    uint64_t own = 63ULL << 6 * process;
    if ((asleep & own) == 0 || !is(system, UNTIMED)) {
        go(state, SPINNING);
        return asleep & ~own;
    }
    return asleep;
}

/* FUTEX_WAIT_BITSET: the kernel compares the word and puts the guest to sleep in one step; the
   second word is the kernel's. */
static void fall_asleep(const struct step_system *system, struct step_memory *memory,
                        struct gate_guest *guest, unsigned process)
{
    uint64_t word = step_read(memory, AT_GATE);
    if ((uint32_t)word != guest->low && !is(system, BLIND)) {
        go(guest, SPINNING);
        return;
    }
    uint64_t on = (uint64_t)__builtin_ctz(gate_bit(guest->ticket)) + 1;
    (void)atomic_fetch_or(&memory->words[AT_KERNEL], on << 6 * process);
    go(guest, ASLEEP);
}

static void read_validity(const struct step_system *system, struct step_memory *memory,
                          struct gate_guest *guest)
{
    uint64_t word = step_read(memory, AT_GATE);
    if (gate_is_valid(word, guest->ticket) == 1) {
        go(guest, INSIDE);
    } else if (is(system, SLEEPS)) {
        go(guest, FALLING_ASLEEP);
        guest->low = (uint32_t)word;
    }
}

void gate__step(const struct step_system *system, struct step_memory *memory, void *state,
                unsigned process)
{
    struct gate_guest *guest = state;
    switch ((enum gate_mode)guest->mode) {
    case RESTING:
        step_update(system, memory, AT_GATE, take, state, process);
        break;
    case SPINNING:
        read_validity(system, memory, guest);
        break;
    case FALLING_ASLEEP:
        fall_asleep(system, memory, guest, process);
        break;
    case ASLEEP:
        step_update(system, memory, AT_KERNEL, sleep_on, state, process);
        break;
    case INSIDE:
        step_update(system, memory, AT_GATE, leave, state, process);
        break;
    case WAKING:
        step_update(system, memory, AT_KERNEL, wake, state, process);
        break;
    }
}

enum step_region gate__region(const struct step_system *system, const void *state)
{
    (void)system;
    switch ((enum gate_mode)((const struct gate_guest *)state)->mode) {
    case SPINNING:
    case FALLING_ASLEEP:
    case ASLEEP:
        return STEP_TRYING;
    case INSIDE:
        return STEP_CRITICAL;
    case WAKING:
        return STEP_EXIT;
    case RESTING:
        break;
    }
    return STEP_REMAINDER;
}

double gate__bound(const struct step_system *system)
{
    const struct colored_shape *s = &constants_of(system)->shape;
    double tickets = (s->k + 1.0) * s->m;
    return is(system, SLEEPS) ? 0 : quant_rows(s->k) * tickets * tickets;
}

const struct step_machine model_gate = {
    MODEL_GATE("gate", "The gate of libusher, as it ships: Colored Ticket in one word", 0),
    .anonymous = true,
    .one_step_enabled = true,
};
const struct step_machine model_gate_sleep = {
    MODEL_GATE("gate-sleep", "The gate: waiting guests sleep, and are woken", SLEEPS),
};
const struct step_machine model_gate_try = {
    MODEL_GATE("gate-try", "The gate: every second guest only tries", TRIES),
    .loose_regions = true,
};
const struct step_machine model_gate_crowded = {
    MODEL_GATE("gate-crowded", "The gate: more guests than it has room for", CROWDED),
    .loose_regions = true,
};

const struct step_machine *const model_gates[] = {
    &model_gate, &model_gate_sleep, &model_gate_try, &model_gate_crowded, NULL,
};
