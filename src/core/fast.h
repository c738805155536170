/*
 * In and out when no guest waits: one compare-and-swap in (on I), one out (on V). A pool without
 * contention runs nothing else of the core. What these two functions find to be not plain, they
 * leave to the rest of the core. They are inline so that their frames are registers, and explored
 * like the rest.
 */
#ifndef USHER_CORE_FAST_H
#define USHER_CORE_FAST_H

#include "core/parts.h"

/*
 * Enter with the next ticket, if it is valid already: ISSUE < VALID. The row must be IDLE and the
 * caller's.
 *
 * The row becomes ENTERING before I names it, and the compare-and-swap on I grants the ticket. A
 * crash before that took nothing. After it I names the row, and the guest that finishes I, to
 * publish over it or to reap the row, makes the row GRANTED.
 *
 * If no ticket is valid, or if the valid ticket is owed (the pool shrank), nothing changes. If
 * another guest takes the ticket first (lost_race), the row is IDLE again, and the same cycle is
 * used for the next attempt, because I never named it. needs_help: the run of cycles is spent, a
 * ticket is owed, the place of the ticket is old, or I is not finished.
 *
 * The seat is read last, after the compare-and-swap on I: the guest keeps its last seat if that
 * seat still names the row. A guest that asks for this seat reads I and the row after it asked. So
 * one of the two sees the other (seat.c).
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
    /* If I names the caller's own row, I is finished: the row is IDLE. */
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

/* The number of seats after a row, r, has resized. It never passes the number that the row wants.
   The row has that number in place of a ticket, so that all guests that finish the resize agree. 0
   in a GROWING row: as many as there is room for. */
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

/* V after a row, r, has left or resized. If a seat is owed, leaving or growing pays it back and
   validates no ticket. */
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
 * Leave. Only the owner publishes for its living row, so it publishes once.
 *
 * The current V is finished (`plain`) if two things hold. Its author's row no longer leaves in V's
 * cycle. And its ticket is delivered: it is the caller's own ticket, or it was not issued yet. If
 * the new V's ticket was not issued yet either, nothing is to deliver, and the row becomes IDLE;
 * the caller or a helper writes that.
 */
static inline __attribute__((always_inline)) enum core_progress core_leave(struct core *c,
                                                                           struct core_leave *f)
{
    CORE_BEGIN(f);
    f->published = f->done = false;
    CORE_CALL(f, core__get_v(c, &f->get, f->row, &f->v));
    f->plain = true;
    /* If V names the caller's own row, then in an earlier cycle: V is finished. */
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
