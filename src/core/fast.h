/*
 * Recoverable tickets: in and out when nobody waits. These are the only parts that a pool without
 * contention ever runs: one compare-and-swap in (I), one out (V). Whatever they find that is not
 * plain, they leave to the rest of the core. Inline, so that their frames are
 * registers; explored like the rest.
 */
#ifndef USHER_CORE_FAST_H
#define USHER_CORE_FAST_H

#include "core/parts.h"

/*
 * The way in when a seat is free: VALID has been published beyond ISSUE, so whoever takes the next
 * ticket holds it from that very moment. The row says so before I does. A crash before I is changed
 * has taken nothing; afterwards I names the row, and whoever finishes I, to publish over it or to
 * reap the row, makes it GRANTED. The row must be IDLE and ours. If no ticket is free, or one is
 * owed (a pool that has shrunk), nothing is done; and if somebody else was faster, as good as
 * nothing: the same cycle is tried again, because I has never named it. A spent run of cycles is
 * needs_help, too: core_help_enter reserves another.
 *
 * All is read before the compare-and-swap but the seat: a guest has the seat it had before, if that
 * is still its (seat.c), and whoever asks for it must find the guest inside or be found.
 */
static inline __attribute__((always_inline)) enum core_progress core_enter(struct core *c,
                                                                           struct core_enter *f)
{
    CORE_BEGIN(f);
    f->granted = f->lost_race = f->seated = false;
    f->needs_help = core_run_spent(c, &f->run);
    if (f->needs_help) {
        CORE_RETURN(f);
    }
    CORE_CALL(f, core__get_i(c, &f->get, f->row, &f->i));
    CORE_READ(c, f, f->v, CORE_AT_V(c));
    f->ticket = core_i_issue(f->i) + 1;
    f->ok = core_ticket_after(core_v_valid(f->v), f->ticket) >= 0 ||
            CORE_DROPS(c, CORE_GUARD_ENTER_VALID);
    if (f->ok && f->absorb) {
        f->ok = core_v_owed(f->v) != 0 && !CORE_DROPS(c, CORE_GUARD_ABSORB);
    } else if (f->ok && core_v_owed(f->v) != 0 && !CORE_DROPS(c, CORE_GUARD_OWED)) {
        f->ok = false;
        f->needs_help = true;
    }
    CORE_FORGET(f->v);
    if (!f->ok) {
        CORE_FORGET(f->i);
        CORE_FORGET(f->ticket);
        CORE_WITHDRAW(c, f, f->row, CORE_SLOT_TOP);
        CORE_RETURN(f);
    }
    CORE_READ(c, f, f->word, core__line_at(c, f->ticket));
    f->needs_help = core_line_stale(f->word, f->ticket) && !CORE_DROPS(c, CORE_GUARD_STALE_PLACE);
    CORE_FORGET(f->word);
    /* If I names the row itself: it is IDLE, so that is done. */
    if (!f->needs_help && core_i_row(f->i) != CORE_NOBODY && core_i_row(f->i) != f->row) {
        CORE_READ(c, f, f->word, core__row_at(c, core_i_row(f->i)));
        f->needs_help = core__waits_for_i(c, f->word, f->i) && !CORE_DROPS(c, CORE_GUARD_FINISH_I);
        CORE_FORGET(f->word);
    }
    if (f->needs_help) {
        CORE_FORGET(f->i);
        CORE_FORGET(f->ticket);
        CORE_WITHDRAW(c, f, f->row, CORE_SLOT_TOP);
        CORE_RETURN(f);
    }
    f->cycle = core__next_cycle(&f->run);
    CORE_WRITE(c, f, core__own_row_at(c, f->row), core_row(CORE_ENTERING, f->cycle, f->ticket));
    CORE_CAS(c, f, f->granted, CORE_AT_I(c), f->i, core_i(f->ticket, f->row, f->cycle));
    CORE_FORGET(f->i);
    if (!f->granted) {
        f->lost_race = true;
        CORE_FORGET(f->ticket);
        CORE_FORGET(f->cycle);
        CORE_WRITE(c, f, core__own_row_at(c, f->row), core_row(CORE_IDLE, f->run.last, 0));
        CORE_WITHDRAW(c, f, f->row, CORE_SLOT_TOP);
        CORE_RETURN(f);
    }
    f->run.last = f->cycle;
    CORE_FORGET(f->cycle);
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_TOP);
    if (!f->absorb && f->seat != CORE_NO_SEAT) {
        CORE_READ(c, f, f->word, c->at_seat + f->seat);
        f->seated = core_seat_is(f->word, core_seat_mark(f->row));
        CORE_FORGET(f->word);
    }
    CORE_END(f);
}

/* How many seats there are after a row, r, has resized: never fewer or more than it asked for,
   which the row says in place of a ticket (growing, 0: as many as there is room for), so that all
   who finish it agree. */
static inline uint32_t core__resized(const struct core *c, uint32_t seats, uint64_t r)
{
    bool any = CORE_DROPS(c, CORE_GUARD_RESIZE_LIMIT);
    if (core_row_state(r) == CORE_GROWING) {
        uint32_t most = core_row_ticket(r) != 0 && core_row_ticket(r) < c->seats
                            ? core_row_ticket(r)
                            : c->seats;
        return seats < most || any ? seats + 1 : seats;
    }
    return seats > core_row_ticket(r) || any ? (seats - 1) & 0xffff : seats;
}

/* V after a row, r, has left or resized. A seat that is owed is not given on; growing first cancels
   what is owed. */
static inline uint64_t core__next_v(const struct core *c, uint64_t v, uint32_t row, uint64_t r)
{
    (void)c;
    uint32_t valid = core_v_valid(v);
    uint32_t owed = core_v_owed(v);
    if (core_row_state(r) == CORE_SHRINKING) {
        owed++;
    } else if (owed > 0) {
        owed--;
    } else {
        valid++;
    }
    return core_v(valid, owed, row, core_row_cycle(r));
}

/*
 * The owner leaves. Nobody else can publish for its row, so it publishes once. V's ticket needs no
 * look if it is the leaver's own, or not issued yet; V's author, if its row has gone on. When the
 * new V is delivered, too, the row is IDLE, whether it says so itself or a helper does.
 */
static inline __attribute__((always_inline)) enum core_progress core_leave(struct core *c,
                                                                           struct core_leave *f)
{
    CORE_BEGIN(f);
    f->published = f->done = false;
    CORE_CALL(f, core__get_v(c, &f->get, f->row, &f->v));
    f->plain = true;
    /* If V names the row itself, then for an earlier cycle, with another tag: that is done. */
    if (core_v_row(f->v) != CORE_NOBODY && core_v_row(f->v) != f->row) {
        CORE_READ(c, f, f->word, core__row_at(c, core_v_row(f->v)));
        f->plain = !core__leaves_for_v(c, f->word, f->v) || CORE_DROPS(c, CORE_GUARD_FINISH_V);
        CORE_FORGET(f->word);
    }
    if (f->plain && core_row_ticket(f->r) != core_v_valid(f->v) &&
        !CORE_DROPS(c, CORE_GUARD_OWN_TICKET)) {
        CORE_READ(c, f, f->word, CORE_AT_I(c));
        f->plain = core_ticket_after(core_i_issue(f->word), core_v_valid(f->v)) < 0;
        CORE_FORGET(f->word);
    }
    CORE_WRITE(c, f, core__own_row_at(c, f->row), f->r);
    if (f->plain) {
        f->word = core__next_v(c, f->v, f->row, f->r);
        CORE_CAS(c, f, f->published, CORE_AT_V(c), f->v, f->word);
        f->v = f->word;
    }
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_TOP);
    CORE_FORGET(f->plain);
    CORE_KEEP(f->r, core_row(CORE_LEAVING, core_row_cycle(f->r), 0));
    if (!f->published) {
        CORE_FORGET(f->v);
        CORE_FORGET(f->word);
        CORE_RETURN(f);
    }
    CORE_READ(c, f, f->word, CORE_AT_I(c));
    f->done = core_ticket_after(core_i_issue(f->word), core_v_valid(f->v)) < 0 ||
              CORE_DROPS(c, CORE_GUARD_LEAVE_DELIVER);
    CORE_FORGET(f->word);
    if (f->done) {
        CORE_WRITE(c, f, core__own_row_at(c, f->row), core_row(CORE_IDLE, core_row_cycle(f->r), 0));
    }
    CORE_END(f);
}

#endif
