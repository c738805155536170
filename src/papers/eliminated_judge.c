/*
 * Supervisor elimination (Lemma 4.3): the invariants, and the ghost of the supervisor that the
 * checker runs alongside. eliminated.h lists the invariants.
 */
#include "papers/eliminated_parts.h"

#include <string.h>

struct judging {
    const struct step_system *system;
    const struct supervised *subject;
    const struct eliminated_layout *layout;
    const struct eliminated_shared *shared;
    const void *now, *before;
    unsigned char bits[ELIMINATED_MOST_BITS]; /* of `now` */
    unsigned length;
    unsigned counted, copies;
    unsigned holders[ELIMINATED_SLOTS];
};

static bool same(const struct judging *j, const void *a, const void *b)
{
    return memcmp(a, b, j->subject->supervisor_bytes) == 0;
}

/* Is x the state before the last step, from which `step` leads to the current one? */
static bool follows(const struct judging *j, const void *x)
{
    _Alignas(8) unsigned char next[SUPERVISED_SUPERVISOR_BYTES] = {0};
    memcpy(next, x, j->subject->supervisor_bytes);
    j->subject->follow(&j->layout->size, next, j->shared->step);
    return same(j, next, j->now) && (j->before == NULL || same(j, x, j->before));
}

static const char *wrong_message(const struct judging *j, const struct eliminated_own *own)
{
    unsigned s = own->slot - 1U;
    bool in_full = !eliminated_is_short(j->system);
    for (unsigned t = 0; t < j->layout->slots; t++) {
        uint8_t channel = j->shared->channels[t][s];
        unsigned got = own->got[t];
        if (got > j->length || (channel == DONE && got != j->length)) {
            return "a message has the wrong length";
        }
        for (unsigned i = 0; in_full && i < got; i++) {
            if ((own->rbuf[t][i / 8] >> i % 8 & 1) != j->bits[i]) {
                return "what was received is not a prefix of the supervisor's state";
            }
        }
        if ((channel == BIT_0 || channel == BIT_1) &&
            (got == j->length || (in_full && (channel == BIT_1) != j->bits[got]))) {
            return "the bit in a channel is not the next of the supervisor's state";
        }
    }
    return NULL;
}

static const char *wrong_holder(struct judging *j, const struct eliminated_own *own)
{
    const struct supervised_size *size = &j->layout->size;
    enum supervised_eligibility class =
        j->subject->eligibility(size, j->shared->value, own->worker);
    unsigned status = j->shared->status[own->slot - 1];
    if (j->holders[own->slot - 1]++ > 0) {
        return "two processes hold the same slot";
    }
    if (j->subject->region(size, own->worker) != STEP_TRYING) {
        return "a process outside T holds a slot";
    }
    if (status == FREE) {
        return "a slot that is FREE has a holder";
    }
    if (status == RECEIVE) {
        return class != SUPERVISED_HELPER ? "a receiver is not a helper" : wrong_message(j, own);
    }
    if (status == CURRENT) {
        j->counted += class == SUPERVISED_HELPER;
        j->copies++;
        return same(j, own->x, j->now) ? NULL : "a CURRENT copy is not the supervisor's state";
    }
    if (status == PREVIOUS) {
        j->copies += own->prevhelper;
        return follows(j, own->x) ? NULL : "a PREVIOUS copy is not one step behind";
    }
    return NULL;
}

static const char *wrong_place(const struct judging *j)
{
    const struct eliminated_shared *shared = j->shared;
    unsigned in_use = 0;
    for (unsigned s = 0; s < j->layout->slots; s++) {
        in_use += shared->status[s] != FREE && shared->status[s] != DEAD;
        if (shared->status[s] != FREE && j->holders[s] == 0) {
            return "a slot that is not FREE has no holder";
        }
    }
    if (shared->loccur == SHARE) {
        return in_use != 0 ? "a slot is in use while the state is in shared memory"
               : !same(j, shared->xs, j->now) ? "xs is not the supervisor's state"
                                              : NULL;
    }
    if (shared->locprev == SHARE) {
        return follows(j, shared->xs) ? NULL
                                      : "xs is not the state before the first distributed one";
    }
    return j->copies == 0 ? "no process holds a copy that will be kept" : NULL;
}

const char *eliminated_judge(const struct step_system *system,
                             const struct eliminated_shared *shared, const void *states,
                             const void *now, const void *before)
{
    struct judging j = {.system = system,
                        .subject = eliminated_subject(system),
                        .layout = eliminated_layout(system),
                        .shared = shared,
                        .now = now,
                        .before = before};
    _Alignas(8) unsigned char workers[STEP_MAX_PROCESSES * SUPERVISED_WORKER_BYTES];
    const char *wrong = NULL;
    j.length = j.subject->encode(&j.layout->size, now, j.bits);
    j.length = eliminated_is_short(system) ? 1 : j.length;
    for (unsigned i = 0; i < system->n && wrong == NULL; i++) {
        struct eliminated_own own;
        eliminated_get_own(system, (const unsigned char *)states + i * system->private_bytes, &own);
        memcpy(workers + i * j.subject->worker_bytes, own.worker, j.subject->worker_bytes);
        wrong = own.slot == 0 ? NULL : wrong_holder(&j, &own);
    }
    if (wrong == NULL) {
        wrong = wrong_place(&j);
    }
    if (wrong == NULL && (j.counted != shared->stateholders || j.counted > system->robustness)) {
        wrong = "stateholders is not the number of helpers with a CURRENT copy, or exceeds r";
    }
    if (wrong == NULL && j.subject->wrong != NULL) {
        wrong = j.subject->wrong(&j.layout->size, shared->value, workers, now);
    }
    return wrong;
}

/* Find the supervisor's state: in shared memory, else in a CURRENT copy, else from a PREVIOUS
   copy. */
static bool find_state(const struct step_system *system, const struct eliminated_shared *shared,
                       const void *states, void *now)
{
    const struct supervised *subject = eliminated_subject(system);
    const struct eliminated_layout *layout = eliminated_layout(system);
    bool behind = shared->loccur == DIST && shared->locprev == SHARE;
    memcpy(now, shared->xs, subject->supervisor_bytes);
    for (unsigned i = 0; shared->loccur == DIST && i < system->n; i++) {
        struct eliminated_own own;
        eliminated_get_own(system, (const unsigned char *)states + i * system->private_bytes, &own);
        unsigned status = own.slot == 0 ? FREE : shared->status[own.slot - 1];
        if (status == CURRENT || status == PREVIOUS) {
            memcpy(now, own.x, subject->supervisor_bytes);
            behind = status == PREVIOUS;
        }
        if (status == CURRENT) {
            return true;
        }
    }
    if (behind) {
        subject->follow(&layout->size, now, shared->step);
    }
    return behind || shared->loccur == SHARE;
}

const char *eliminated_wrong(const struct step_system *system, const uint64_t *words,
                             const void *states)
{
    struct eliminated_shared shared;
    _Alignas(8) unsigned char now[SUPERVISED_SUPERVISOR_BYTES] = {0};
    eliminated_get(system, words, &shared);
    return find_state(system, &shared, states, now)
               ? eliminated_judge(system, &shared, states, now, NULL)
               : "the supervisor's state is lost";
}

int eliminated_watched_prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    return eliminated_lay_out(system, true, why);
}

void eliminated_watched_init(const struct step_system *system, uint64_t *words)
{
    struct eliminated_shared shared = {0};
    eliminated_subject(system)->init(&eliminated_layout(system)->size, shared.value, shared.xs);
    memcpy(shared.ghost, shared.xs, sizeof shared.ghost);
    eliminated_put(system, &shared, words);
}

/* Must any copy equal the state before the last step? */
static bool past_matters(const struct step_system *system, const struct eliminated_shared *shared)
{
    for (unsigned s = 0; s < eliminated_layout(system)->slots; s++) {
        if (shared->status[s] == PREVIOUS) {
            return true;
        }
    }
    return shared->loccur == DIST && shared->locprev == SHARE;
}

static void watched_delta(const struct step_system *system, uint64_t *words, void *state,
                          unsigned process)
{
    const struct supervised *subject = eliminated_subject(system);
    const struct supervised_size *size = &eliminated_layout(system)->size;
    struct eliminated_shared shared = {0};
    struct eliminated_own own = {0};
    _Alignas(8) unsigned char value[SUPERVISED_VALUE_BYTES] = {0};
    _Alignas(8) unsigned char worker[SUPERVISED_WORKER_BYTES] = {0};
    eliminated_get(system, words, &shared);
    eliminated_get_own(system, state, &own);
    memcpy(value, shared.value, sizeof value);
    memcpy(worker, own.worker, sizeof worker);
    bool simulated = eliminated_act(system, &shared, &own, process);
    subject->work(size, value, worker, process);
    if (simulated) {
        memcpy(shared.past, shared.ghost, sizeof shared.past);
        subject->follow(size, shared.ghost, subject->transition(size, value, shared.ghost));
    }
    if (!past_matters(system, &shared)) {
        memset(shared.past, 0, sizeof shared.past);
    }
    if (memcmp(value, shared.value, sizeof value) != 0 ||
        memcmp(worker, own.worker, sizeof worker) != 0) {
        shared.awry = 1;
    }
    eliminated_put(system, &shared, words);
    eliminated_put_own(system, &own, state);
}

void eliminated_watched_step(const struct step_system *system, struct step_memory *memory,
                             void *state, unsigned process)
{
    step_update_all(system, memory, watched_delta, state, process);
}

const char *eliminated_watched_wrong(const struct step_system *system, const uint64_t *words,
                                     const void *states)
{
    struct eliminated_shared shared;
    eliminated_get(system, words, &shared);
    if (shared.awry) {
        return "a step was not the worker's, followed at most by the supervisor's (S2)";
    }
    return eliminated_judge(system, &shared, states, shared.ghost,
                            past_matters(system, &shared) ? shared.past : NULL);
}

struct step_machine eliminated_watched(const struct step_machine *machine)
{
    struct step_machine watched = *machine;
    watched.prepare = eliminated_watched_prepare;
    watched.init = eliminated_watched_init;
    watched.step = eliminated_watched_step;
    watched.wrong = eliminated_watched_wrong;
    return watched;
}
