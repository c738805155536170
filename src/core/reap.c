/* Finishing what the dead left, and closing the holes in the line: see core.h. */
#include "core/core.h"

#include "core/parts.h"

/*
 * Move waiters forward over holes, one place at a time from the front. The holes end up at the end
 * of the line, where the next guest adopts them. Without this, a line behind one long holder would
 * fill up with the places of guests that gave up.
 *
 * A hole, or a copy of the place before it, is overwritten with the guest of the next place. The
 * next place is then a copy, which is overwritten or skipped later. A waiter's last place is never
 * overwritten, because the waiter is copied forward first. Only a guest that waits is copied. The
 * copy may be written late, when that guest no longer waits. Until then the guest's cycle is
 * announced, so that it does not wait in the same cycle again.
 */
enum core_progress core_slide(struct core *c, struct core_slide *f)
{
    CORE_BEGIN(f);
    CORE_READ(c, f, f->word, CORE_AT_I(c));
    f->last = core_i_issue(f->word);
    CORE_FORGET(f->word);
    CORE_READ(c, f, f->word, CORE_AT_V(c));
    if (core_ticket_after(f->last, core_v_valid(f->word)) > (int32_t)c->line_mask) {
        f->last = core_v_valid(f->word) + c->line_mask; /* a longer line is damaged */
    }
    for (f->t = core_v_valid(f->word) + 1; core_ticket_after(f->t, f->last) < 0; f->t++) {
        CORE_FORGET(f->a);
        CORE_FORGET(f->b);
        CORE_FORGET(f->word);
        CORE_FORGET(f->ok);
        CORE_CALL(f, core__get_place(c, &f->get, f->by, CORE_SLOT_PLACE, f->t, &f->a));
        if (core_ticket_after(core_line_ticket(f->a), f->t) > 0) {
            break; /* a place of the next lap: the line has moved past t */
        }
        if ((core_line_ticket(f->a) != (f->t & CORE_TICKET_MASK) || core_line_decided(f->a)) &&
            !CORE_DROPS(c, CORE_GUARD_SLIDE_PLACE)) {
            continue;
        }
        CORE_READ(c, f, f->word, core__row_at(c, core_line_row(f->a)));
        f->ok = core__is_hole(c, f->word, f->a) || CORE_DROPS(c, CORE_GUARD_SLIDE_LIVE);
        CORE_FORGET(f->word);
        if (!f->ok) {
            CORE_READ(c, f, f->word, core__line_at(c, f->t - 1));
            f->ok = core_line_ticket(f->word) == ((f->t - 1) & CORE_TICKET_MASK) &&
                    core_line_who(f->word) == core_line_who(f->a);
        }
        if (!f->ok) {
            continue;
        }
        CORE_FORGET(f->word);
        CORE_CALL(f, core__get_place(c, &f->get, f->by, CORE_SLOT_NEXT, f->t + 1, &f->b));
        /* All places of a guest that waits are of this lap and undecided. */
        if (!CORE_DROPS(c, CORE_GUARD_SLIDE_WAITS)) {
            CORE_READ(c, f, f->word, core__row_at(c, core_line_row(f->b)));
            f->ok = core__waits_at(c, f->word, f->b);
            CORE_FORGET(f->word);
            if (!f->ok) {
                continue;
            }
        }
        CORE_CAS(c, f, f->ok, core__line_at(c, f->t), f->a, core_line_moved(f->b, f->t));
    }
    CORE_END(f);
}

/*
 * Mark the seat of a dead row, f->r, as one in which its holder died. f->ok: it is marked, or the
 * row has no seat. Otherwise the caller reads the row again.
 *
 * The row is read once more after the seat. If it is unchanged, no other guest has reaped it
 * further. A guest that does so from now on changes the seat first, so the compare-and-swap here
 * fails. For this, no reaper may continue while the dead guest's own question for the seat is open:
 * its answer could give the seat to the dead row later. So that question is closed first.
 */
static enum core_progress mark_died(struct core *c, struct core_reap *f)
{
    CORE_BEGIN(&f->died);
    CORE_READ(c, &f->died, f->word, core__hint_at(c, f->row));
    f->seat = core_hint_seat(f->word);
    CORE_FORGET(f->word);
    f->ok = f->seat >= c->seats;
    if (f->ok) {
        CORE_FORGET(f->seat);
        CORE_RETURN(&f->died);
    }
    CORE_CALL(&f->died, core__get_seat(c, &f->get, f->by, f->seat, &f->word));
    if (core_seat_asks(f->word) == f->row && !CORE_DROPS(c, CORE_GUARD_DIED_ASKED)) {
        CORE_FRESH(f->u);
        f->u.settle.seat = f->seat;
        f->u.settle.word = f->word;
        CORE_FORGET(f->seat);
        CORE_FORGET(f->word);
        CORE_CALL(&f->died, core_settle(c, &f->u.settle));
        CORE_FORGET(f->u);
        CORE_RETURN(&f->died);
    }
    f->ok = core_seat_row(f->word) != f->row || (f->word & CORE_SEAT_DIED) != 0;
    if (!f->ok && !CORE_DROPS(c, CORE_GUARD_DIED_STILL)) {
        CORE_READ(c, &f->died, f->reread, core__row_at(c, f->row));
        if (f->reread != f->r) {
            CORE_FORGET(f->seat);
            CORE_FORGET(f->word);
            CORE_FORGET(f->reread);
            CORE_RETURN(&f->died);
        }
        CORE_FORGET(f->reread);
    }
    if (!f->ok) {
        CORE_CAS(c, &f->died, f->ok, c->at_seat + f->seat, f->word, f->word | CORE_SEAT_DIED);
    }
    CORE_FORGET(f->seat);
    CORE_FORGET(f->word);
    CORE_END(&f->died);
}

enum core_progress core_watch(struct core *c, struct core_watch *f)
{
    CORE_BEGIN(f);
    CORE_CALL(f, core__get(c, &f->get, f->by, CORE_SLOT_DEAD, CORE_WORD_ROW, f->row,
                           core__row_at(c, f->row), &f->r));
    CORE_END(f);
}

/* Reap a row, f->r, that waits or enters. f->ok: it is IDLE. Otherwise the caller reads it again.
   */
static enum core_progress reap_waiter(struct core *c, struct core_reap *f)
{
    CORE_BEGIN(&f->died);
    /* Its ticket may be valid but not granted yet: finishing I makes the row GRANTED. */
    CORE_CALL(&f->died, core__get_i(c, &f->get, f->by, &f->word));
    if (core__names_i(f->word, f->row, core_row_cycle(f->r)) &&
        !CORE_DROPS(c, CORE_GUARD_REAP_FINISH_TAKE)) {
        CORE_FRESH(f->u);
        f->u.take.by = f->by;
        f->u.take.i = f->word;
        CORE_FORGET(f->word);
        CORE_CALL(&f->died, core_finish_take(c, &f->u.take));
    }
    CORE_FORGET(f->u);
    CORE_FORGET(f->word);
    CORE_CAS(c, &f->died, f->ok, core__row_at(c, f->row), f->r,
             core_row(CORE_IDLE, core_row_cycle(f->r), 0));
    if (f->ok) {
        CORE_FORGET(f->r);
        CORE_FRESH(f->u);
        f->u.slide.by = f->by;
        CORE_CALL(&f->died, core_slide(c, &f->u.slide));
    }
    CORE_END(&f->died);
}

enum core_progress core_reap(struct core *c, struct core_reap *f)
{
    CORE_BEGIN(f);
    for (;;) {
        CORE_FORGET(f->seat);
        CORE_FORGET(f->r);
        CORE_FORGET(f->word);
        CORE_FORGET(f->ok);
        CORE_FORGET(f->u);
        CORE_READ(c, f, f->r, core__row_at(c, f->row));
        if (core_row_state(f->r) == CORE_IDLE ||
            (core_row_cycle(f->r) != f->cycle && !CORE_DROPS(c, CORE_GUARD_REAP_CYCLE))) {
            break;
        }
        if (core_row_state(f->r) == CORE_WAITING || core_row_state(f->r) == CORE_ENTERING) {
            CORE_CALL(f, reap_waiter(c, f));
            if (f->ok) {
                break;
            }
        } else if (core_row_state(f->r) == CORE_GRANTED) {
            if (!f->gently) {
                CORE_CALL(f, mark_died(c, f));
                if (!f->ok) {
                    continue;
                }
            }
            CORE_CAS(c, f, f->ok, core__row_at(c, f->row), f->r,
                     core_row(CORE_LEAVING, core_row_cycle(f->r), core_row_ticket(f->r)));
        } else {
            CORE_FRESH(f->u);
            f->u.publish.by = f->by;
            f->u.publish.row = f->row;
            f->u.publish.r = f->r;
            CORE_FORGET(f->r);
            CORE_CALL(f, core_publish(c, &f->u.publish));
        }
    }
    CORE_FORGET(f->r);
    CORE_FORGET(f->u);
    CORE_WITHDRAW(c, f, f->by, CORE_SLOT_TOP);
    CORE_WITHDRAW(c, f, f->by, CORE_SLOT_PLACE);
    CORE_WITHDRAW(c, f, f->by, CORE_SLOT_NEXT);
    CORE_WITHDRAW(c, f, f->by, CORE_SLOT_DEAD);
    CORE_END(f);
}

void core_unwatch(struct core *c, uint32_t by)
{
#ifdef CORE_STEPS
    atomic_store(&c->words[core__announced_at(c, by, CORE_SLOT_DEAD)], 0);
#else
    atomic_store_explicit(core__announced(c, by, CORE_SLOT_DEAD), 0, memory_order_release);
#endif
}

void core_disown(struct core *c, uint32_t row)
{
    for (unsigned slot = 0; slot < CORE_SLOTS; slot++) {
#ifdef CORE_STEPS
        atomic_store(&c->words[core__announced_at(c, row, (enum core_slot)slot)], 0);
#else
        atomic_store(core__announced(c, row, (enum core_slot)slot), 0);
#endif
    }
}
