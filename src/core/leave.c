/* Leaving, giving up and resizing; and finishing what V says: see core.h. */
#include "core/core.h"

#include "core/fast.h"

/*
 * Give the place of ticket v.VALID its verdict. f->e is the place and f->r the row that it names.
 * If the row waits there, grant it the ticket: SERVED. If it was granted already: SERVED. Otherwise
 * the place is a hole: SKIPPED. f->ok: the verdict is recorded.
 */
static enum core_progress decide(struct core *c, struct core_finish_release *f)
{
    CORE_BEGIN(&f->decide);
    if (core__waits_at(c, f->r, f->e)) {
        CORE_CAS(c, &f->decide, f->ok, core__row_at(c, core_line_row(f->e)), f->r,
                 core_row(CORE_GRANTED, core_row_cycle(f->r), core_v_valid(f->v)));
        if (!f->ok) {
            CORE_RETURN(&f->decide); /* it gave up, or another guest granted it: read again */
        }
        core__wake(c, core_line_row(f->e));
        f->word = CORE_SERVED;
    } else {
        f->word = core__granted_at(c, f->r, f->e) ? CORE_SERVED : CORE_SKIPPED;
    }
    CORE_FORGET(f->r);
    CORE_FORGET(f->ok);
    if (CORE_DROPS(c, f->word == CORE_SERVED ? CORE_GUARD_SERVED : CORE_GUARD_SKIPPED)) {
        f->ok = true;
        CORE_RETURN(&f->decide);
    }
    CORE_CAS(c, &f->decide, f->ok, core__line_at(c, core_v_valid(f->v)), f->e,
             core_line_with(f->e, (enum core_verdict)f->word));
    CORE_END(&f->decide);
}

/*
 * Deliver ticket v.VALID to the guest that waits in its place, if the ticket is issued. Skip holes:
 * the next ticket becomes valid instead. f->ok: f->v is what V says now; false: another guest has
 * changed V, and continues from there.
 *
 * If an issued ticket has no place, there are two cases. It was valid when it was taken: its guest
 * is in. Or it is the last ticket, and its place is not recorded yet: the guest that records it
 * reads V after that, and grants it (core_finish_take).
 */
static enum core_progress deliver(struct core *c, struct core_finish_release *f)
{
    CORE_DOOMED(c, f->deliver.at != 0 && !f->acts && core__release_is_over(c, f->v));
    CORE_DELIVERS(c, f);
    CORE_BEGIN(&f->deliver);
    for (;;) {
        f->ok = true;
        CORE_ACT(f, false);
        CORE_FORGET(f->e);
        CORE_FORGET(f->r);
        CORE_FORGET(f->word);
        CORE_READ(c, &f->deliver, f->word, CORE_AT_I(c));
        if (core_ticket_after(core_i_issue(f->word), core_v_valid(f->v)) < 0 &&
            !CORE_DROPS(c, CORE_GUARD_ISSUED)) {
            CORE_RETURN(&f->deliver); /* not issued yet: the guest that takes it finds it valid */
        }
        CORE_FORGET(f->word);
        CORE_CALL(&f->deliver,
                  core__get_place(c, &f->get, f->by, CORE_SLOT_PLACE, core_v_valid(f->v), &f->e));
        if (!core__is_place(c, f->e, core_v_valid(f->v)) ||
            core_line_verdict(f->e) == CORE_SERVED) {
            CORE_RETURN(&f->deliver); /* served, or no place */
        }
        if (!core_line_decided(f->e)) {
            CORE_READ(c, &f->deliver, f->r, core__row_at(c, core_line_row(f->e)));
        }
        if (!CORE_DROPS(c, CORE_GUARD_V_STILL)) {
            CORE_READ(c, &f->deliver, f->word, CORE_AT_V(c));
            f->ok = f->word == f->v;
            if (!f->ok) {
                CORE_RETURN(&f->deliver);
            }
        }
        CORE_FORGET(f->word);
        CORE_ACT(f, true);
        if (!core_line_decided(f->e)) {
            CORE_CALL(&f->deliver, decide(c, f));
            if ((CORE_DROPS(c, CORE_GUARD_SERVED) || CORE_DROPS(c, CORE_GUARD_SKIPPED)) && f->ok) {
                CORE_RETURN(&f->deliver);
            }
            continue;
        }
        /* SKIPPED: the next ticket becomes valid instead. */
        CORE_FORGET(f->e);
        f->word =
            core_v(core_v_valid(f->v) + 1, core_v_owed(f->v), core_v_row(f->v), core_v_tag(f->v));
        CORE_CAS(c, &f->deliver, f->ok, CORE_AT_V(c), f->v, f->word);
        if (!f->ok) {
            CORE_RETURN(&f->deliver);
        }
        f->v = f->word;
    }
    CORE_END(&f->deliver);
}

/*
 * V says: its author has left or resized, and ticket VALID is valid. Deliver the ticket, count a
 * resize in K, and then make the author's row IDLE.
 */
enum core_progress core_finish_release(struct core *c, struct core_finish_release *f)
{
    CORE_DOOMED(c, f->at != 0 && f->deliver.at == 0 && !f->acts && core__release_is_over(c, f->v));
    CORE_BEGIN(f);
    CORE_CALL(f, deliver(c, f));
    CORE_ACT(f, false);
    CORE_FORGET(f->e);
    CORE_FORGET(f->r);
    CORE_FORGET(f->word);
    if (!f->ok || core_v_row(f->v) == CORE_NOBODY) {
        CORE_RETURN(f);
    }
    CORE_READ(c, f, f->r, core__row_at(c, core_v_row(f->v)));
    if (!core__leaves_for_v(c, f->r, f->v)) {
        CORE_RETURN(f);
    }
    if (core_row_state(f->r) != CORE_LEAVING) {
        CORE_CALL(
            f, core__get(c, &f->get, f->by, CORE_SLOT_PLACE, CORE_WORD_K, 0, CORE_AT_K(c), &f->e));
        if (!core__names_k(f->e, core_v_row(f->v), core_row_cycle(f->r)) ||
            CORE_DROPS(c, CORE_GUARD_COUNTED)) {
            if (!CORE_DROPS(c, CORE_GUARD_COUNT_V_STILL)) {
                CORE_READ(c, f, f->word, CORE_AT_V(c));
                if (f->word != f->v) {
                    CORE_RETURN(f);
                }
            }
            f->word = core_k(core__resized(c, core_k_seats(f->e), f->r), core_v_row(f->v),
                             core_v_tag(f->v));
            CORE_ACT(f, true);
            /* If it fails, another guest has counted the resize. */
            CORE_CAS(c, f, f->ok, CORE_AT_K(c), f->e, f->word);
            CORE_ACT(f, false);
        }
    }
    CORE_FORGET(f->e);
    CORE_FORGET(f->ok);
    CORE_FORGET(f->word);
    /* V need not be v any more: its author and tag are announced, so the row is still in the cycle
       that v names. */
    CORE_ACT(f, true);
    CORE_CAS(c, f, f->ok, core__row_at(c, core_v_row(f->v)), f->r,
             core_row(CORE_IDLE, core_row_cycle(f->r), 0));
    CORE_ACT(f, false);
    CORE_END(f);
}

enum core_progress core_leave_slowly(struct core *c, struct core_leave_slowly *f)
{
    CORE_BEGIN(f);
    f->release.v = f->leave.v;
    f->ok = f->leave.published;
    CORE_FORGET(f->leave.v);
    CORE_FORGET(f->leave.published);
    while (!f->ok) {
        CORE_CALL(f, core__get_v(c, &f->get, f->leave.row, &f->word));
        if (!CORE_DROPS(c, CORE_GUARD_FINISH_V)) {
            CORE_FRESH(f->release);
            f->release.by = f->leave.row;
            f->release.v = f->word;
            CORE_FORGET(f->word);
            CORE_CALL(f, core_finish_release(c, &f->release));
            f->word = f->release.v; /* V may have moved over holes */
            CORE_FORGET(f->release);
        }
        f->release.v = core__next_v(c, f->word, f->leave.row, f->leave.r);
        CORE_CAS(c, f, f->ok, CORE_AT_V(c), f->word, f->release.v);
        CORE_FORGET(f->word);
    }
    CORE_FORGET(f->ok);
    f->release.by = f->leave.row;
    CORE_CALL(f, deliver(c, &f->release));
    CORE_FORGET(f->release);
    CORE_WRITE(c, f, core__row_at(c, f->leave.row),
               core_row(CORE_IDLE, core_row_cycle(f->leave.r), 0));
    CORE_WITHDRAW(c, f, f->leave.row, CORE_SLOT_TOP);
    CORE_WITHDRAW(c, f, f->leave.row, CORE_SLOT_PLACE);
    CORE_END(f);
}

/*
 * Publish for a row that leaves or resizes: the caller's own, or a dead guest's. Any number of
 * guests may do this for one row: V is changed once, because a V that names the row in this cycle
 * is taken to be its publication, and because the row stops leaving when V is finished.
 */
enum core_progress core_publish(struct core *c, struct core_publish *f)
{
    CORE_BEGIN(f);
    for (;;) {
        CORE_FORGET(f->v);
        CORE_FORGET(f->word);
        CORE_FORGET(f->ok);
        CORE_FORGET(f->ours);
        CORE_FORGET(f->release);
        CORE_CALL(f, core__get_v(c, &f->get, f->by, &f->v));
        if (!CORE_DROPS(c, CORE_GUARD_LEAVING_STILL)) {
            CORE_READ(c, f, f->word, core__row_at(c, f->row));
            if (f->word != f->r) {
                CORE_RETURN(f);
            }
        }
        f->ok =
            core__names_v(f->v, f->row, core_row_cycle(f->r)) && !CORE_DROPS(c, CORE_GUARD_NAMED);
        if (f->ok || !CORE_DROPS(c, CORE_GUARD_FINISH_V)) {
            f->ours = f->ok;
            CORE_FORGET(f->ok);
            CORE_FRESH(f->release);
            f->release.by = f->by;
            f->release.v = f->v;
            CORE_FORGET(f->v);
            CORE_FORGET(f->word);
            CORE_CALL(f, core_finish_release(c, &f->release));
            f->v = f->release.v; /* V may have moved over holes */
            CORE_FORGET(f->release);
            if (f->ours) {
                continue; /* done, unless V changed meanwhile: the row's state tells */
            }
        }
        f->word = core__next_v(c, f->v, f->row, f->r);
        if (core_row_state(f->r) != CORE_LEAVING) {
            /* K does not change as long as V is v. If another resizer has reached the limit
               already, V changes its author only. */
            CORE_READ(c, f, f->k, CORE_AT_K(c));
            if (core__resized(c, core_k_seats(f->k), f->r) == core_k_seats(f->k) &&
                !CORE_DROPS(c, CORE_GUARD_RESIZE_LIMIT)) {
                f->word =
                    core_v(core_v_valid(f->v), core_v_owed(f->v), f->row, core_row_cycle(f->r));
            }
            CORE_FORGET(f->k);
        }
        CORE_CAS(c, f, f->ok, CORE_AT_V(c), f->v, f->word);
        if (f->ok) {
            CORE_FRESH(f->release);
            f->release.by = f->by;
            f->release.v = f->word;
            CORE_FORGET(f->v);
            CORE_FORGET(f->word);
            CORE_FORGET(f->ok);
            CORE_CALL(f, core_finish_release(c, &f->release));
        }
    }
    CORE_END(f);
}

enum core_progress core_release(struct core *c, struct core_release *f)
{
    CORE_BEGIN(f);
    f->slow.leave.row = f->row;
    f->slow.leave.r = core_row(CORE_LEAVING, f->cycle, f->ticket);
    CORE_FORGET(f->cycle);
    CORE_FORGET(f->ticket);
    CORE_CALL(f, core_leave(c, &f->slow.leave));
    if (!f->slow.leave.done) {
        CORE_CALL(f, core_leave_slowly(c, &f->slow));
    }
    CORE_END(f);
}

enum core_progress core_resize(struct core *c, struct core_resize *f)
{
    CORE_BEGIN(f);
    f->full = false;
    if (core_run_spent(c, &f->run)) {
        CORE_CALL(f, core__reserve(c, &f->u.reserve, f->row, CORE_TO_ENTER, &f->run, &f->full));
        if (f->full) {
            CORE_RETURN(f);
        }
    }
    f->run.last = core__next_cycle(&f->run);
    CORE_FRESH(f->u);
    f->u.publish.by = f->u.publish.row = f->row;
    f->u.publish.r = core_row(f->grow ? CORE_GROWING : CORE_SHRINKING, f->run.last, f->to);
    CORE_WRITE(c, f, core__row_at(c, f->row), f->u.publish.r);
    CORE_CALL(f, core_publish(c, &f->u.publish));
    CORE_FRESH(f->u);
    f->u.help.row = f->row;
    f->u.help.run = f->run;
    /* If a seat is free now, pay what is owed at once. */
    CORE_CALL(f, core_help_enter(c, &f->u.help));
    f->run = f->u.help.run;
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_TOP);
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_PLACE);
    CORE_END(f);
}

enum core_progress core_give_up(struct core *c, struct core_give_up *f)
{
    CORE_BEGIN(f);
    CORE_CAS(c, f, f->granted, core__row_at(c, f->row), core_row(CORE_WAITING, f->cycle, 0),
             core_row(CORE_IDLE, f->cycle, 0));
    f->granted = !f->granted; /* if it failed: only a grant can have changed the row */
    if (!f->granted) {
        CORE_FORGET(f->cycle);
        f->slide.by = f->row;
        CORE_CALL(f, core_slide(c, &f->slide));
    }
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_PLACE);
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_NEXT);
    CORE_END(f);
}
