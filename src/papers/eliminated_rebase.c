/*
 * Supervisor elimination (Lemma 4.3): a canonical form of its states, for the checker.
 *
 * States with the same canonical form go through the same regions under the same schedules, for two
 * reasons. First, the following is cleared because it is never read:
 *
 *     n, unless the slot is CURRENT: it is reset when a copy becomes CURRENT;
 *     x of DEAD, and rbuf unless RECEIVE: the slot is freed before anything is read, and
 *       prevhelper of DEAD: every step sets it;
 *     channels to a CURRENT slot: its holder does not receive, and keeps the slot until a step of
 *       the supervisor, which resets all channels (likewise what was sent into them).
 *
 * Second, names of slots do not matter: slots are numbered in the order of their holders, the FREE
 * ones last. A process takes the first FREE slot, and FREE slots are all alike: in this stage
 * nothing was sent from them, and the same was sent to each.
 */
#include "papers/eliminated_parts.h"

#include <string.h>

struct all {
    struct eliminated_shared shared;
    struct eliminated_own own[STEP_MAX_PROCESSES];
};

/* Clear what no process will read. */
static void clear(struct all *all, unsigned n, unsigned slots)
{
    struct eliminated_shared *shared = &all->shared;
    for (unsigned i = 0; i < n; i++) {
        struct eliminated_own *own = &all->own[i];
        unsigned status = own->slot == 0 ? FREE : shared->status[own->slot - 1];
        for (unsigned t = 0; t < slots; t++) {
            if (status != CURRENT || shared->status[t] == CURRENT) {
                own->sent[t] = 0;
            }
            if (status != RECEIVE) {
                own->got[t] = 0;
                memset(own->rbuf[t], 0, sizeof own->rbuf[t]);
            }
        }
        if (status == DEAD) {
            memset(own->x, 0, sizeof own->x);
            own->prevhelper = 0;
        }
    }
    for (unsigned s = 0; s < slots; s++) {
        for (unsigned t = 0; t < slots; t++) {
            if (shared->status[t] == CURRENT) {
                shared->channels[s][t] = READY;
            }
        }
    }
}

/* Compute the new number of each slot. True if any changes. */
static bool renumber(const struct all *all, unsigned n, unsigned slots, unsigned *number)
{
    bool changes = false;
    bool held[ELIMINATED_SLOTS] = {false};
    unsigned next = 0;
    for (unsigned i = 0; i < n; i++) {
        if (all->own[i].slot != 0) {
            number[all->own[i].slot - 1] = next++;
            held[all->own[i].slot - 1] = true;
        }
    }
    for (unsigned s = 0; s < slots; s++) {
        number[s] = held[s] ? number[s] : next++;
        changes = changes || number[s] != s;
    }
    return changes;
}

static void rename_slots(struct all *all, unsigned n, unsigned slots, const unsigned *number)
{
    struct eliminated_shared old = all->shared;
    for (unsigned s = 0; s < slots; s++) {
        all->shared.status[number[s]] = old.status[s];
        for (unsigned t = 0; t < slots; t++) {
            all->shared.channels[number[s]][number[t]] = old.channels[s][t];
        }
    }
    for (unsigned i = 0; i < n; i++) {
        struct eliminated_own *own = &all->own[i];
        struct eliminated_own before = *own;
        own->slot = before.slot == 0 ? 0 : (uint8_t)(number[before.slot - 1] + 1);
        for (unsigned s = 0; s < slots; s++) {
            own->sent[number[s]] = before.sent[s];
            own->got[number[s]] = before.got[s];
            memcpy(own->rbuf[number[s]], before.rbuf[s], sizeof before.rbuf[s]);
        }
    }
}

void eliminated_rebase(const struct step_system *system, uint64_t *words, void *states)
{
    unsigned slots = eliminated_layout(system)->slots;
    unsigned number[ELIMINATED_SLOTS];
    struct all all;
    eliminated_get(system, words, &all.shared);
    for (unsigned i = 0; i < system->n; i++) {
        eliminated_get_own(system, step_state_of(system, states, i), &all.own[i]);
    }
    clear(&all, system->n, slots);
    if (renumber(&all, system->n, slots, number)) {
        rename_slots(&all, system->n, slots, number);
    }
    eliminated_put(system, &all.shared, words);
    for (unsigned i = 0; i < system->n; i++) {
        eliminated_put_own(system, &all.own[i], step_state_of(system, states, i));
    }
}
