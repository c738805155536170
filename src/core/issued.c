/* Finishing what I says, by its author or any other guest: see core.h. */
#include "core/core.h"

#include "core/parts.h"

/*
 * The place that I names got its verdict before its guest, f->r, was recorded there. Two cases:
 * - The place was served just now. Then the row no longer waits: f->ok is false.
 * - The guest adopted a hole, which was then skipped. Then the guest gets the next place, and any
 *   guest may publish that: f->ok is true, and f->reread is I after that.
 */
static enum core_progress next_place(struct core *c, struct core_finish_take *f)
{
    CORE_BEGIN(&f->next);
    f->ok = false;
    if (CORE_DROPS(c, CORE_GUARD_SKIP_DECIDED)) {
        CORE_RETURN(&f->next);
    }
    if (!CORE_DROPS(c, CORE_GUARD_DECIDED_STILL)) {
        CORE_READ(c, &f->next, f->reread, core__row_at(c, core_i_row(f->i)));
        if (f->reread != f->r) {
            CORE_RETURN(&f->next);
        }
    }
    CORE_FORGET(f->r);
    CORE_FORGET(f->reread);
    if (!CORE_DROPS(c, CORE_GUARD_NEXT_CLEARED)) {
        CORE_FRESH(f->clear);
        f->clear.by = f->by;
        f->clear.i = f->i;
        CORE_CALL(&f->next, core_clear_place(c, &f->clear));
        CORE_FORGET(f->clear);
    }
    f->reread = core_i(core_i_issue(f->i) + 1, core_i_row(f->i), core_i_tag(f->i));
    CORE_CAS(c, &f->next, f->ok, CORE_AT_I(c), f->i, f->reread);
    if (!f->ok) {
        CORE_READ(c, &f->next, f->reread, CORE_AT_I(c));
    }
    f->ok = true;
    CORE_END(&f->next);
}

/* Record I's place for the row f->r; f->e is the place as it was read. f->ok: it is recorded.
   Otherwise the caller continues from I as it is now, f->reread. */
static enum core_progress record(struct core *c, struct core_finish_take *f)
{
    CORE_BEGIN(&f->next);
    f->reread = f->i;
    f->ok = f->e == core__place_of(f->i, f->r);
    if (f->ok) {
        CORE_ACT(f, true);
        CORE_RETURN(&f->next);
    }
    if (!CORE_DROPS(c, CORE_GUARD_TAKE_I_STILL)) {
        CORE_READ(c, &f->next, f->reread, CORE_AT_I(c));
        if (f->reread != f->i) {
            CORE_RETURN(&f->next);
        }
    }
    CORE_ACT(f, true);
    CORE_CAS(c, &f->next, f->ok, core__line_at(c, core_i_issue(f->i)), f->e,
             core__place_of(f->i, f->r));
    CORE_END(&f->next);
}

/*
 * I says: row i.row has taken ticket i.ISSUE. Record its place in the line; and if the ticket is
 * valid already, grant it. An ENTERING row needs no place: its ticket was valid before.
 *
 * The row is read first, and I is read again before anything is changed. As long as I is still i, a
 * row that waits with i's tag waits in the cycle that took the ticket (CORE_GUARD_SCAN_I), and the
 * place is of this lap. Every change after that is a compare-and-swap on the exact value read
 * before.
 */
enum core_progress core_finish_take(struct core *c, struct core_finish_take *f)
{
    CORE_DOOMED(c, f->at != 0 && !f->acts && !f->clear.acts && core__take_is_over(c, f->i));
    CORE_BEGIN(f);
    if (core_i_row(f->i) == CORE_NOBODY) {
        CORE_RETURN(f);
    }
    for (f->reread = f->i;;) {
        /* I has changed. If it names another guest or cycle, i is finished. If it moved to the next
           place for the same guest, follow it. */
        if (f->reread != f->i &&
            (((f->reread ^ f->i) & 0xffffffffU) != 0 || CORE_DROPS(c, CORE_GUARD_SAME_AUTHOR))) {
            CORE_RETURN(f);
        }
        f->i = f->reread;
        CORE_FORGET(f->reread);
        CORE_FORGET(f->e);
        CORE_FORGET(f->r);
        CORE_FORGET(f->ok);
        CORE_ACT(f, false);
        CORE_READ(c, f, f->r, core__row_at(c, core_i_row(f->i)));
        if (!core__waits_for_i(c, f->r, f->i)) {
            CORE_RETURN(f);
        }
        if (core_row_state(f->r) == CORE_ENTERING) {
            /* I need not be i any more: its author and tag are announced, so the row is still in
               the cycle that i names. */
            CORE_ACT(f, true);
            CORE_CAS(c, f, f->ok, core__row_at(c, core_i_row(f->i)), f->r,
                     core_row(CORE_GRANTED, core_row_cycle(f->r), core_row_ticket(f->r)));
            CORE_RETURN(f);
        }
        CORE_CALL(f,
                  core__get_place(c, &f->get, f->by, CORE_SLOT_PLACE, core_i_issue(f->i), &f->e));
        if (core__is_place(c, f->e, core_i_issue(f->i)) && core_line_decided(f->e)) {
            CORE_FORGET(f->e);
            CORE_CALL(f, next_place(c, f));
            if (!f->ok) {
                CORE_RETURN(f);
            }
            continue;
        }
        CORE_CALL(f, record(c, f));
        if (!f->ok) {
            continue;
        }
        CORE_FORGET(f->ok);
        CORE_FORGET(f->reread);
        CORE_FORGET(f->e);
        CORE_READ(c, f, f->e, CORE_AT_V(c));
        if (core_ticket_after(core_v_valid(f->e), core_i_issue(f->i)) < 0 &&
            !CORE_DROPS(c, CORE_GUARD_GRANT_VALID)) {
            CORE_RETURN(f);
        }
        /* I need not be i any more: the place is the row's, and the row is compared with its cycle.
           */
        CORE_FORGET(f->e);
        CORE_CAS(c, f, f->ok, core__row_at(c, core_i_row(f->i)), f->r,
                 core_row(CORE_GRANTED, core_row_cycle(f->r), core_i_issue(f->i)));
        if (f->ok) {
            core__wake(c, core_i_row(f->i));
        }
        CORE_RETURN(f);
    }
    CORE_END(f);
}

/*
 * Ticket numbers wrap after 2^20, and not every ticket gets a place. So before a ticket is issued,
 * its place must not have an entry of the ticket of the same number before. As long as I is still
 * i, the ticket after it is not issued, so an entry with its number is an old one.
 */
enum core_progress core_clear_place(struct core *c, struct core_clear *f)
{
    CORE_BEGIN(f);
    CORE_CALL(f,
              core__get_place(c, &f->get, f->by, CORE_SLOT_PLACE, core_i_issue(f->i) + 1, &f->e));
    if (!core_line_stale(f->e, core_i_issue(f->i) + 1) || CORE_DROPS(c, CORE_GUARD_STALE_PLACE)) {
        CORE_RETURN(f);
    }
    if (!CORE_DROPS(c, CORE_GUARD_STALE_STILL)) {
        CORE_READ(c, f, f->reread, CORE_AT_I(c));
        if (f->reread != f->i) {
            CORE_RETURN(f);
        }
    }
    CORE_ACT(f, true);
    CORE_CAS(c, f, f->ok, core__line_at(c, core_i_issue(f->i) + 1), f->e,
             core_line_with(f->e, CORE_CLEARED));
    CORE_ACT(f, false);
    CORE_END(f);
}
