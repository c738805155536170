/*
 * Supervisor elimination: see eliminated.h. The parts of a step are those of the report's code, in
 * its order. A comment in quotation marks is the report's heading.
 */
#include "papers/eliminated_parts.h"

#include <stdio.h>
#include <string.h>

/* One step, while it is computed. */
struct act {
    const struct step_system *system;
    const struct supervised *subject;
    const struct supervised_size *size;
    struct eliminated_shared *shared;
    struct eliminated_own *own;
    unsigned slots;
};

static enum supervised_eligibility eligibility(const struct act *a)
{
    return a->subject->eligibility(a->size, a->shared->value, a->own->worker);
}

/* "New state is distributed": CURRENT becomes PREVIOUS, RECEIVE and PREVIOUS become DEAD. */
static void distribute(const struct act *a)
{
    struct eliminated_shared *shared = a->shared;
    shared->loccur = DIST;
    for (unsigned t = 0; t < a->slots; t++) {
        bool void_now = shared->status[t] == RECEIVE
                            ? !eliminated_is(a->system, ELIMINATED_RECEIVE_ON)
                            : shared->status[t] == PREVIOUS &&
                                  !eliminated_is(a->system, ELIMINATED_PREVIOUS_ON);
        if (shared->status[t] == CURRENT && !eliminated_is(a->system, ELIMINATED_CURRENT_ON)) {
            shared->status[t] = PREVIOUS;
        } else if (void_now) {
            shared->status[t] = DEAD;
        }
    }
    if (!eliminated_is(a->system, ELIMINATED_CHANNELS_KEPT)) {
        memset(shared->channels, READY, sizeof shared->channels);
    }
}

/* "New state is kept in shared memory." */
static void keep(const struct act *a, const void *next)
{
    struct eliminated_shared *shared = a->shared;
    shared->loccur = SHARE;
    memcpy(shared->xs, next, a->subject->supervisor_bytes);
    for (unsigned t = 0; t < a->slots; t++) {
        if (shared->status[t] != FREE && !eliminated_is(a->system, ELIMINATED_NOT_DEAD)) {
            shared->status[t] = DEAD;
        }
    }
    if (!eliminated_is(a->system, ELIMINATED_CHANNELS_KEPT)) {
        memset(shared->channels, READY, sizeof shared->channels); /* no process will read them */
    }
    shared->step = 0; /* no process will read it */
}

/* "Simulate supervisor step." */
static void simulate(const struct act *a)
{
    struct eliminated_shared *shared = a->shared;
    const struct supervised *subject = a->subject;
    _Alignas(8) unsigned char x[SUPERVISED_SUPERVISOR_BYTES] = {0};
    memcpy(x, shared->loccur == SHARE ? shared->xs : a->own->x, subject->supervisor_bytes);
    unsigned step = subject->transition(a->size, shared->value, x);
    if (eliminated_is(a->system, ELIMINATED_TRANSNO_LATE)) {
        _Alignas(8) unsigned char after[SUPERVISED_VALUE_BYTES] = {0};
        memcpy(after, shared->value, subject->value_bytes);
        step = subject->transition(a->size, after, x);
    }
    subject->follow(a->size, x, step);
    shared->step = (uint16_t)step;
    shared->locprev = shared->loccur;
    if (!eliminated_is(a->system, ELIMINATED_HOLDERS_KEPT)) {
        shared->stateholders = 0;
    }
    unsigned threshold =
        subject->threshold(a->size) - eliminated_is(a->system, ELIMINATED_THRESHOLD_LESS);
    if (subject->active(a->size, shared->value, x) <= threshold) {
        keep(a, x);
        return;
    }
    if (shared->locprev == DIST) {
        memset(shared->xs, 0, subject->supervisor_bytes); /* no process will read it */
    } else if (eliminated_is(a->system, ELIMINATED_XS_NEW)) {
        memcpy(shared->xs, x, subject->supervisor_bytes);
    }
    distribute(a);
}

/* Clear everything that belongs to a slot. */
static void forget(const struct act *a)
{
    struct eliminated_own *own = a->own;
    memset(own->x, 0, sizeof own->x);
    if (!eliminated_is(a->system, ELIMINATED_SENT_KEPT)) {
        memset(own->sent, 0, sizeof own->sent);
    }
    if (!eliminated_is(a->system, ELIMINATED_RBUF_KEPT)) {
        memset(own->got, 0, sizeof own->got);
        memset(own->rbuf, 0, sizeof own->rbuf);
    }
}

/* "Release current slot if necessary." A process that was a helper in the stage before has a copy
   that counts. It must keep it up to date although it is about to quit. */
static void release(const struct act *a)
{
    struct eliminated_own *own = a->own;
    if (own->slot == 0) {
        return;
    }
    enum supervised_eligibility class = eligibility(a);
    uint8_t *status = &a->shared->status[own->slot - 1];
    bool needed = eliminated_is(a->system, ELIMINATED_QUITTER_STAYS)    ? true
                  : eliminated_is(a->system, ELIMINATED_QUITTER_LEAVES) ? class == SUPERVISED_HELPER
                                                                        : own->prevhelper;
    bool drone = class == SUPERVISED_DRONE && !eliminated_is(a->system, ELIMINATED_DRONE_STAYS);
    if (*status == DEAD || drone || (*status == PREVIOUS && !needed)) {
        *status = FREE;
        own->slot = 0;
        forget(a);
    }
}

/* "Take a new slot if needed and possible." */
static void take(const struct act *a)
{
    enum supervised_eligibility class = eligibility(a);
    bool may = class == SUPERVISED_HELPER ||
               (class == SUPERVISED_QUITTER && eliminated_is(a->system, ELIMINATED_ANYBODY_TAKES));
    if (a->shared->loccur != DIST || a->own->slot != 0 || !may) {
        return;
    }
    for (unsigned t = 0; t < a->slots; t++) {
        if (a->shared->status[t] == FREE) {
            a->own->slot = (uint8_t)(t + 1);
            a->shared->status[t] = RECEIVE;
            return;
        }
    }
}

/* The copy is CURRENT from now on. */
static void hold(const struct act *a, bool counts)
{
    a->shared->status[a->own->slot - 1] = CURRENT;
    a->shared->stateholders = (uint8_t)(a->shared->stateholders + counts);
    if (!eliminated_is(a->system, ELIMINATED_SENT_KEPT)) {
        memset(a->own->sent, 0, sizeof a->own->sent);
    }
}

/* Write the next bit, or DONE, into every channel that is READY. */
static void send(const struct act *a)
{
    unsigned char bits[ELIMINATED_MOST_BITS] = {0};
    unsigned s = a->own->slot - 1U;
    unsigned length = a->subject->encode(a->size, a->own->x, bits);
    if (eliminated_is_short(a->system)) {
        length = 1;
        bits[0] = 0;
    }
    for (unsigned t = 0; t < a->slots; t++) {
        uint8_t *channel = &a->shared->channels[s][t];
        if (t == s || *channel != READY) {
            continue; /* the report's loop also writes to its own channel, which no process reads */
        }
        if (a->own->sent[t] >= length) {
            *channel = DONE;
        } else {
            *channel = bits[a->own->sent[t]] ? BIT_1 : BIT_0;
            a->own->sent[t]++;
        }
    }
}

static void append(const struct act *a, unsigned t, bool bit)
{
    struct eliminated_own *own = a->own;
    if (own->got[t] < 8U * eliminated_layout(a->system)->message_bytes) {
        own->rbuf[t][own->got[t] / 8] |= (unsigned char)(bit << own->got[t] % 8);
        own->got[t]++;
    }
}

/* "Complete state has been received from t." */
static void complete(const struct act *a, unsigned t)
{
    struct eliminated_own *own = a->own;
    unsigned char bits[ELIMINATED_MOST_BITS] = {0};
    _Alignas(8) unsigned char x[SUPERVISED_SUPERVISOR_BYTES] = {0};
    for (unsigned i = 0; i < own->got[t]; i++) {
        bits[i] = own->rbuf[t][i / 8] >> i % 8 & 1;
    }
    if (eliminated_is_short(a->system)) {
        memcpy(x, a->shared->ghost, a->subject->supervisor_bytes);
    } else {
        a->subject->decode(a->size, bits, own->got[t], x);
    }
    forget(a);
    memcpy(own->x, x, sizeof x);
    hold(a, true);
}

/* "Receive state through some channel." */
static void receive(const struct act *a)
{
    unsigned s = a->own->slot - 1U;
    for (unsigned t = 0; t < a->slots; t++) {
        uint8_t *channel = &a->shared->channels[t][s];
        if (*channel == DONE) {
            complete(a, t);
            return;
        }
        if (*channel == BIT_0 || *channel == BIT_1) {
            append(a, t, *channel == BIT_1);
            *channel = READY;
        }
    }
}

/* "Service slot held, if any." */
static void serve(const struct act *a)
{
    struct eliminated_shared *shared = a->shared;
    struct eliminated_own *own = a->own;
    unsigned enough = a->size->r - eliminated_is(a->system, ELIMINATED_HOLDERS_FEWER);
    if (own->slot == 0 ||
        (shared->stateholders >= enough && !eliminated_is(a->system, ELIMINATED_ALWAYS_SERVES))) {
        return;
    }
    uint8_t *status = &shared->status[own->slot - 1];
    if (*status == CURRENT) {
        if (!eliminated_is(a->system, ELIMINATED_NO_CHANNELS)) {
            send(a);
        }
    } else if (*status == PREVIOUS) {
        a->subject->follow(a->size, own->x, shared->step);
        hold(a, eligibility(a) == SUPERVISED_HELPER ||
                    eliminated_is(a->system, ELIMINATED_HOLDERS_ANY));
    } else if (*status == RECEIVE && shared->locprev == SHARE) {
        memcpy(own->x, shared->xs, a->subject->supervisor_bytes);
        *status = PREVIOUS;
    } else if (*status == RECEIVE) {
        receive(a);
    }
}

bool eliminated_act(const struct step_system *system, struct eliminated_shared *shared,
                    struct eliminated_own *own, unsigned process)
{
    const struct eliminated_layout *layout = eliminated_layout(system);
    struct act a = {.system = system,
                    .subject = eliminated_subject(system),
                    .size = &layout->size,
                    .shared = shared,
                    .own = own,
                    .slots = layout->slots};
    a.subject->work(a.size, shared->value, own->worker, process);
    bool simulates = eliminated_can_simulate(system, shared, own);
    if (simulates) {
        simulate(&a);
    }
    release(&a);
    take(&a);
    serve(&a);
    own->prevhelper = own->slot != 0 && eligibility(&a) == SUPERVISED_HELPER;
    return simulates;
}

bool eliminated_simulates(const struct step_system *system, const uint64_t *words,
                          const void *state)
{
    struct eliminated_shared shared = {0};
    struct eliminated_own own = {0};
    eliminated_get(system, words, &shared);
    eliminated_get_own(system, state, &own);
    return eliminated_can_simulate(system, &shared, &own);
}

int eliminated_prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    return eliminated_lay_out(system, false, why);
}

void eliminated_init(const struct step_system *system, uint64_t *words)
{
    struct eliminated_shared shared = {0};
    eliminated_subject(system)->init(&eliminated_layout(system)->size, shared.value, shared.xs);
    eliminated_put(system, &shared, words);
}

static void delta(const struct step_system *system, uint64_t *words, void *state, unsigned process)
{
    struct eliminated_shared shared = {0};
    struct eliminated_own own = {0};
    eliminated_get(system, words, &shared);
    eliminated_get_own(system, state, &own);
    (void)eliminated_act(system, &shared, &own, process);
    eliminated_put(system, &shared, words);
    eliminated_put_own(system, &own, state);
}

void eliminated_step(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process)
{
    step_update_all(system, memory, delta, state, process);
}

/* The worker's state is the first part of the private state. */
enum step_region eliminated_region(const struct step_system *system, const void *state)
{
    return eliminated_subject(system)->region(&eliminated_layout(system)->size, state);
}

/* Print the value, the place of the state, the slots (R, C, P, D or -) and the channels in use. */
int eliminated_print_all(const struct step_system *system, const uint64_t *words, char *out,
                         size_t size)
{
    const struct eliminated_layout *layout = eliminated_layout(system);
    struct eliminated_shared shared = {0};
    char slots[ELIMINATED_SLOTS + 1] = "";
    char channels[256] = "";
    char value[512] = "";
    size_t length = 0;
    eliminated_get(system, words, &shared);
    for (unsigned s = 0; s < layout->slots; s++) {
        slots[s] = "-RCPD"[shared.status[s]];
        for (unsigned t = 0; t < layout->slots; t++) {
            if (shared.channels[s][t] != READY && length < sizeof channels) {
                length += (size_t)snprintf(channels + length, sizeof channels - length, " %u>%u:%c",
                                           s + 1, t + 1, "?01."[shared.channels[s][t]]);
            }
        }
    }
    (void)eliminated_subject(system)->print(&layout->size, shared.value, value, sizeof value);
    return snprintf(out, size, "%s %s slots=%s step=%u holders=%u%s", value,
                    shared.loccur == SHARE ? "SHARE" : "DIST", slots, shared.step,
                    shared.stateholders, channels);
}
