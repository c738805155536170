/*
 * The seat of a guest that has been granted a ticket: with which one the search for a free seat
 * begins, and the rounds until one is claimed.
 */
#include "core/core.h"
#include "pool/pool.h"
#include "wait/act.h"

#include <errno.h>

/* Rounds over all seats before a pool without a free one counts as damaged. Tests use fewer. */
#ifndef SIT_ROUNDS
#define SIT_ROUNDS 10000
#endif

/* Among how many seats to search for a free one: the pool's k, and after some rounds all that a
   shrinking pool still has. Among these there is one for every granted guest. */
static uint32_t seats_to_search(const struct usher_pool *pool, unsigned round)
{
    uint32_t seats = usher__seats(pool);
    uint32_t owed = core_v_owed(atomic_load(&pool->core.words[CORE_AT_V(&pool->core)]));
    if (round < 20 || owed == 0) {
        return seats;
    }
    return owed < pool->core.seats - seats ? seats + owed : pool->core.seats;
}

enum { FEW_SEATS = 64 };

/* Does the seat seem to be free? It may be taken the next moment. */
static bool seems_free(const struct usher_pool *pool, uint32_t seat)
{
    uint32_t row = core_seat_row(atomic_load(&pool->core.words[pool->core.at_seat + seat]));
    if (row >= pool->core.rows) {
        return true;
    }
    enum core_state state = core_row_state(usher__row_word(pool, row));
    return (state != CORE_GRANTED && state != CORE_ENTERING) ||
           core_hint_seat(atomic_load(&pool->rows[row].seat_hint)) != seat;
}

/*
 * The seat at which the search for a free one begins, so that it is short however many seats there
 * are. First choice: the guest's last seat, if the seat still names it. If another guest has taken
 * that one, the seat after it, so that guests that take turns end up with one seat each. Otherwise
 * the seat of the guest that left last, which most likely made room. In a large pool in which no
 * guest has left: a seat that no other newcomer begins with.
 */
static uint32_t first_to_search(const struct usher_pool *pool, const struct guest *guest,
                                uint32_t seats, uint32_t ticket)
{
    const struct core *core = &pool->core;
    if (guest->seat < seats &&
        core_seat_row(atomic_load(&core->words[core->at_seat + guest->seat])) == guest->row) {
        return guest->seat;
    }
    uint32_t next = guest->seat + 1U < seats ? guest->seat + 1U : 0;
    if (guest->came && seats == usher__seats(pool) && seems_free(pool, next)) {
        return next;
    }
    uint32_t left = core_v_row(atomic_load(&core->words[CORE_AT_V(core)]));
    uint32_t seat =
        left < core->rows ? core_hint_seat(atomic_load(&pool->rows[left].seat_hint)) : CORE_NO_SEAT;
    seat = seat < seats ? seat : 0;
    /* In a small pool a guest gets what people expect: the next seat that is free. */
    return seats <= FEW_SEATS || seems_free(pool, seat) ? seat : (ticket - 1) % seats;
}

void usher__help(struct usher_pool *pool, const struct guest *guest, bool only_i)
{
    struct core_finish_published help;
    struct pool_act act;
    CORE_FRESH(help);
    help.by = guest->row;
    help.only_i = only_i;
    usher__act_begin(&act, pool, guest->row);
    (void)core_finish_published(&act.core, &help);
    usher__act_end(&act);
}

int usher__sit(struct usher_pool *pool, struct guest *guest, uint32_t ticket, bool *inherited)
{
    bool full = false;
    for (unsigned round = 0; round < SIT_ROUNDS; round++) {
        struct core_claim claim;
        CORE_FRESH(claim);
        claim.row = guest->row;
        claim.run = guest->questions;
        claim.seats = seats_to_search(pool, round);
        claim.first = first_to_search(pool, guest, claim.seats, ticket);
        (void)core_claim(&pool->core, &claim);
        guest->questions = claim.run;
        full = claim.full;
        if (claim.ok) {
            usher__guest_sits(pool, guest, claim.seat);
            guest->came = true;
            *inherited = claim.inherited;
            return 0;
        }
        if (full) {
            break;
        }
        usher__help(pool, guest, false); /* a resizer may not have counted a seat yet */
    }
    struct pool_act act;
    usher__act_begin(&act, pool, guest->row);
    usher__reap_finish(&act, guest->row, core_row_cycle(guest->r), true);
    usher__act_end(&act);
    return full ? -USHER_EFULL : -USHER_EDAMAGED;
}
