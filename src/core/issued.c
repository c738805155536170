/*
 * Recoverable tickets: what I says, finished by its author or by any other guest. See core.h.
 */
#include "core/core.h"

#include "core/parts.h"

/*
 * The place that I names was decided before its guest was recorded there: f->r is the row. Either
 * it was served just now: then the row no longer waits, and f->ok is false. Or it was adopted, and
 * passed over: then the next place is its, for anyone to say; f->reread is what I says after that.
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

/* Record the place that I names, f->e as it is, for the row, f->r. f->ok: it is recorded. Otherwise
   look again from what I says, f->reread. */
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
 * What I says: row i.row has taken ticket i.ISSUE. To do: record its place in the line; and if the
 * ticket is valid already, grant it. A row that enters needs no place: its ticket was valid before.
 *
 * The row is read first and I again before anything is done: as long as I is still i, a row that
 * waits with i's tag waits in the cycle that took the ticket (CORE_GUARD_SCAN_I), and the place
 * is of this lap. Afterwards every change is an exact compare-and-swap on what was read before.
 */
enum core_progress core_finish_take(struct core *c, struct core_finish_take *f)
{
    CORE_DOOMED(c, f->at != 0 && !f->acts && !f->clear.acts && core__take_is_over(c, f->i));
    CORE_BEGIN(f);
    if (core_i_row(f->i) == CORE_NOBODY) {
        CORE_RETURN(f);
    }
    for (f->reread = f->i;;) {
        /* I has moved on: to another's ticket, and then all is done here; or only to the next place
           for the same guest. */
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
            /* I need not still be i: its author and tag are announced, so the row is still in the
               cycle that I named. */
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
        /* I need not still be i: the place is the row's, and the row is compared with its cycle. */
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
 * Tickets wrap, and not every ticket has a place: before a ticket is issued, see that its place
 * does not hold an entry of the same number from a whole round ago. As long as I is still i, the
 * ticket after it has not been issued, so an entry of its number is an old one.
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
