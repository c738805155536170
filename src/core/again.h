/*
 * Recoverable tickets: in and out for a guest that was the last to do both. It remembers what it
 * published: I when it came, V when it left. If both still say so, nothing has happened since:
 *
 *     I names it, and is finished: its row is IDLE       V names it, and it delivered that itself
 *     nothing is owed, nobody has resized                VALID was published after ISSUE, beyond it
 *     the next cycle's tag is neither I's nor V's, which have the last cycle's
 *
 * so that of all the questions of fast.h one is left, whether the place is an old one. Explored
 * like the rest. On the way out V alone is compared: whatever has happened to I meanwhile, a V that
 * this guest delivered is finished.
 */
#ifndef USHER_CORE_AGAIN_H
#define USHER_CORE_AGAIN_H

#include "core/parts.h"

static inline __attribute__((always_inline)) enum core_progress
core_enter_again(struct core *c, struct core_again *f)
{
    CORE_BEGIN(f);
    f->granted = false;
    CORE_READ(c, f, f->word, CORE_AT_I(c));
    if (f->word != f->i) {
        CORE_FORGET(f->word);
        CORE_RETURN(f);
    }
    CORE_READ(c, f, f->word, CORE_AT_V(c));
    f->granted = f->word == f->v || CORE_DROPS(c, CORE_GUARD_AGAIN_V);
    CORE_FORGET(f->word);
    if (!f->granted) {
        CORE_RETURN(f);
    }
    f->ticket = core_i_issue(f->i) + 1;
    CORE_READ(c, f, f->word, core__line_at(c, f->ticket));
    f->granted = core_line_ticket(f->word) != (f->ticket & CORE_TICKET_MASK) ||
                 CORE_DROPS(c, CORE_GUARD_STALE_PLACE);
    CORE_FORGET(f->word);
    if (!f->granted) {
        CORE_FORGET(f->ticket);
        CORE_RETURN(f);
    }
    f->cycle++;
    CORE_WRITE(c, f, core__own_at(c, f->row), core_row(CORE_ENTERING, f->cycle, f->ticket));
    CORE_CAS(c, f, f->granted, CORE_AT_I(c), f->i,
             core_i(f->ticket, f->row, (uint32_t)f->cycle & CORE_I_TAGS(c)));
    if (!f->granted) {
        CORE_FORGET(f->ticket);
        CORE_WRITE(c, f, core__own_at(c, f->row), core_row(CORE_IDLE, f->cycle, 0));
        CORE_RETURN(f);
    }
    f->i = core_i(f->ticket, f->row, (uint32_t)f->cycle & CORE_I_TAGS(c));
    CORE_END(f);
}

/* It is in: is the seat that it had last, f->seat, still its? */
static inline __attribute__((always_inline)) enum core_progress core_sit_again(struct core *c,
                                                                               struct core_again *f)
{
    CORE_BEGIN(f);
    CORE_READ(c, f, f->word, c->at_seat + f->seat);
    f->seated = core_seat_is(f->word, f->row);
    CORE_FORGET(f->word);
    CORE_END(f);
}

/* Its ticket is f->ticket. */
static inline __attribute__((always_inline)) enum core_progress
core_leave_again(struct core *c, struct core_again *f)
{
    CORE_BEGIN(f);
    f->published = f->done = false;
    CORE_WRITE(c, f, core__own_at(c, f->row), core_row(CORE_LEAVING, f->cycle, f->ticket));
    f->word = core_v(core_v_valid(f->v) + 1, 0, f->row, (uint32_t)f->cycle & CORE_V_TAGS(c));
    CORE_CAS(c, f, f->published, CORE_AT_V(c), f->v, f->word);
    if (!f->published) {
        CORE_FORGET(f->word);
        CORE_RETURN(f);
    }
    f->v = f->word;
    CORE_READ(c, f, f->word, CORE_AT_I(c));
    f->done = core_ticket_after(core_i_issue(f->word), core_v_valid(f->v)) < 0;
    CORE_FORGET(f->word);
    if (f->done) {
        CORE_WRITE(c, f, core__own_at(c, f->row), core_row(CORE_IDLE, f->cycle, 0));
    }
    CORE_END(f);
}

#endif
