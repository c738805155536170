/* Supervisor elimination (Lemma 4.3): the layout of its variables in shared words and private
   states. */
#include "papers/eliminated_parts.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct eliminated_layout) <= STEP_MAX_CONSTANT_BYTES, "the layout fits");

/* Private states: worker, x, slot, prevhelper, sent, got, rbuf. */
enum { OWN_FIXED = 2 };

static unsigned words_for(unsigned bytes)
{
    return (bytes + 7) / 8;
}

static void place(struct eliminated_layout *layout, const struct supervised *subject)
{
    unsigned slots = layout->slots;
    layout->xs = (uint16_t)subject->value_bytes;
    layout->control = (uint16_t)(layout->xs + subject->supervisor_bytes);
    layout->status = (uint16_t)(layout->control + 8);
    layout->channels = (uint16_t)(layout->status + 8 * words_for(slots));
    layout->ghost = (uint16_t)(layout->channels + 8 * words_for(slots * slots));
    layout->past = (uint16_t)(layout->ghost + (layout->watched ? subject->supervisor_bytes : 0));
    layout->end = (uint16_t)(layout->past + (layout->watched ? subject->supervisor_bytes : 0));
}

int eliminated_lay_out(struct step_system *system, bool watched, char why[STEP_WHY_BYTES])
{
    const struct supervised *subject = eliminated_subject(system);
    struct eliminated_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.size = (struct supervised_size){system->workers, system->k, system->robustness,
                                           system->machine->variant & 0xffff};
    layout.watched = watched;
    if (system->robustness > ELIMINATED_MOST_R) {
        (void)snprintf(why, STEP_WHY_BYTES, "robustness must be from 1 to %d", ELIMINATED_MOST_R);
        return -1;
    }
    if (subject->prepare(&layout.size, why) != 0) {
        return -1;
    }
    unsigned bits = subject->most_bits(&layout.size);
    unsigned fewer = eliminated_is(system, ELIMINATED_SLOT_FEWER);
    layout.slots = (uint16_t)(3 * system->robustness - 1 - fewer);
    layout.message_bytes = (uint16_t)((bits + 7) / 8);
    place(&layout, subject);
    system->shared_words = layout.end / 8U;
    unsigned per_slot = 2 * (unsigned)sizeof(uint16_t) + layout.message_bytes;
    system->private_bytes = 8 * words_for(subject->worker_bytes + subject->supervisor_bytes +
                                          OWN_FIXED + layout.slots * per_slot);
    system->claims = subject->claims | STEP_CLAIM(STEP_INVARIANT);
    memcpy(system->constants, &layout, sizeof layout);
    if (bits > ELIMINATED_MOST_BITS || system->shared_words > STEP_MAX_SHARED_WORDS ||
        system->private_bytes > STEP_MAX_PRIVATE_BYTES) {
        (void)snprintf(why, STEP_WHY_BYTES,
                       "n or r is too large: the supervisor has %u bits, and "
                       "there are %u slots",
                       bits, layout.slots);
        return -1;
    }
    return 0;
}

void eliminated_get(const struct step_system *system, const uint64_t *words,
                    struct eliminated_shared *shared)
{
    const struct eliminated_layout *layout = eliminated_layout(system);
    const struct supervised *subject = eliminated_subject(system);
    const unsigned char *bytes = (const unsigned char *)words;
    const unsigned char *control = bytes + layout->control;
    memcpy(shared->value, bytes, subject->value_bytes);
    memcpy(shared->xs, bytes + layout->xs, subject->supervisor_bytes);
    memcpy(&shared->step, control, sizeof shared->step);
    shared->stateholders = control[2];
    shared->loccur = control[3];
    shared->locprev = control[4];
    shared->awry = control[5];
    memcpy(shared->status, bytes + layout->status, layout->slots);
    for (unsigned s = 0; s < layout->slots; s++) {
        memcpy(shared->channels[s], bytes + layout->channels + s * layout->slots, layout->slots);
    }
    if (layout->watched) {
        memcpy(shared->ghost, bytes + layout->ghost, subject->supervisor_bytes);
        memcpy(shared->past, bytes + layout->past, subject->supervisor_bytes);
    }
}

void eliminated_put(const struct step_system *system, const struct eliminated_shared *shared,
                    uint64_t *words)
{
    const struct eliminated_layout *layout = eliminated_layout(system);
    const struct supervised *subject = eliminated_subject(system);
    unsigned char *bytes = (unsigned char *)words;
    unsigned char *control = bytes + layout->control;
    memcpy(bytes, shared->value, subject->value_bytes);
    memcpy(bytes + layout->xs, shared->xs, subject->supervisor_bytes);
    memcpy(control, &shared->step, sizeof shared->step);
    control[2] = shared->stateholders;
    control[3] = shared->loccur;
    control[4] = shared->locprev;
    control[5] = shared->awry;
    memcpy(bytes + layout->status, shared->status, layout->slots);
    for (unsigned s = 0; s < layout->slots; s++) {
        memcpy(bytes + layout->channels + s * layout->slots, shared->channels[s], layout->slots);
    }
    if (layout->watched) {
        memcpy(bytes + layout->ghost, shared->ghost, subject->supervisor_bytes);
        memcpy(bytes + layout->past, shared->past, subject->supervisor_bytes);
    }
}

void eliminated_get_own(const struct step_system *system, const void *state,
                        struct eliminated_own *own)
{
    const struct eliminated_layout *layout = eliminated_layout(system);
    const struct supervised *subject = eliminated_subject(system);
    const unsigned char *at = state;
    size_t counts = layout->slots * sizeof(uint16_t);
    memcpy(own->worker, at, subject->worker_bytes);
    at += subject->worker_bytes;
    memcpy(own->x, at, subject->supervisor_bytes);
    at += subject->supervisor_bytes;
    own->slot = at[0];
    own->prevhelper = at[1];
    at += OWN_FIXED;
    memcpy(own->sent, at, counts);
    memcpy(own->got, at + counts, counts);
    at += 2 * counts;
    for (unsigned s = 0; s < layout->slots; s++) {
        memcpy(own->rbuf[s], at + (size_t)s * layout->message_bytes, layout->message_bytes);
    }
}

void eliminated_put_own(const struct step_system *system, const struct eliminated_own *own,
                        void *state)
{
    const struct eliminated_layout *layout = eliminated_layout(system);
    const struct supervised *subject = eliminated_subject(system);
    unsigned char *at = state;
    size_t counts = layout->slots * sizeof(uint16_t);
    memcpy(at, own->worker, subject->worker_bytes);
    at += subject->worker_bytes;
    memcpy(at, own->x, subject->supervisor_bytes);
    at += subject->supervisor_bytes;
    at[0] = own->slot;
    at[1] = own->prevhelper;
    at += OWN_FIXED;
    memcpy(at, own->sent, counts);
    memcpy(at + counts, own->got, counts);
    at += 2 * counts;
    for (unsigned s = 0; s < layout->slots; s++) {
        memcpy(at + (size_t)s * layout->message_bytes, own->rbuf[s], layout->message_bytes);
    }
}

static unsigned width_of(unsigned most)
{
    unsigned width = 0;
    while (most >> width != 0) {
        width++;
    }
    return width;
}

/* Each of the `count` bytes from `first` on is a variable. Return how many lie in the 8 bytes from
   `byte` on. */
static unsigned overlap(unsigned byte, unsigned first, unsigned count)
{
    unsigned from = byte > first ? byte : first;
    unsigned to = byte + 8 < first + count ? byte + 8 : first + count;
    return to > from ? to - from : 0;
}

unsigned eliminated_bits(const struct step_system *system, unsigned word, unsigned steps)
{
    const struct eliminated_layout *layout = eliminated_layout(system);
    unsigned byte = 8 * word;
    if (byte == layout->control) {
        return width_of(steps - 1) + width_of(system->robustness) + 2;
    }
    /* a status has five values, a channel four; a slot has no channel to itself */
    unsigned channels = overlap(byte, layout->channels, layout->slots * layout->slots);
    for (unsigned s = 0; s < layout->slots; s++) {
        channels -= overlap(byte, layout->channels + s * (layout->slots + 1U), 1);
    }
    return 3 * overlap(byte, layout->status, layout->slots) + 2 * channels;
}
