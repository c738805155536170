/*
 * Recoverable tickets: leaving. Validate the next ticket, deliver it, give up, release, resize. See
 * core.h.
 */
#include "core/core.h"

#include "core/parts.h"

/*
 * Deliver ticket u = v.VALID, if it has been issued, to whoever stands at its place, passing over
 * holes. f->ok says whether f->v is what V says now: if not, somebody else has gone on from here.
 */
static enum core_progress deliver(struct core *c, struct core_finish_release *f)
{
    CORE_BEGIN(&f->deliver);
    for (;;) {
        f->ok = true;
        CORE_FORGET(f->e);
        CORE_FORGET(f->r);
        CORE_FORGET(f->word);
        CORE_READ(c, &f->deliver, f->word, c->at_i);
        if (core_ticket_after(core_i_issue(f->word), core_v_valid(f->v)) < 0) {
            CORE_RETURN(&f->deliver); /* not issued yet: whoever takes it will find it valid */
        }
        if (core_ticket_after(core_i_issue(f->word), core_v_valid(f->v)) == 0) {
            f->take.i = f->word;
            CORE_FORGET(f->word);
            CORE_CALL(&f->deliver, core_finish_take(c, &f->take));
            CORE_FORGET(f->take);
        }
        CORE_FORGET(f->word);
        CORE_READ(c, &f->deliver, f->e, core__line_at(c, core_v_valid(f->v)));
        if (f->e == core_line(core_v_valid(f->v), CORE_NOBODY, CORE_SERVED)) {
            CORE_RETURN(&f->deliver);
        }
        f->r = 0;
        if (core__is_place(c, f->e, core_v_valid(f->v)) && !core_line_decided(f->e)) {
            CORE_READ(c, &f->deliver, f->r, core__row_at(c, core_line_row(f->e)));
        }
        if (!CORE_DROPS(c, CORE_GUARD_V_STILL)) {
            CORE_READ(c, &f->deliver, f->word, c->at_v);
            f->ok = f->word == f->v;
            if (!f->ok) {
                CORE_RETURN(&f->deliver);
            }
        }
        if (f->e == core_line(core_v_valid(f->v), CORE_NOBODY, CORE_SKIPPED)) {
            /* Pass it over: the next ticket is valid in its stead. */
            f->word = core_v(core_v_valid(f->v) + 1, core_v_owed(f->v), core_v_row(f->v),
                             core_v_tag(f->v));
            CORE_CAS(c, &f->deliver, f->ok, c->at_v, f->v, f->word);
            if (!f->ok) {
                CORE_RETURN(&f->deliver);
            }
            f->v = f->word;
            continue;
        }
        if (f->r != 0 && core__waits_at(c, f->r, f->e)) {
            CORE_CAS(c, &f->deliver, f->ok, core__row_at(c, core_line_row(f->e)), f->r,
                     core_row(CORE_GRANTED, core_row_cycle(f->r), core_v_valid(f->v)));
            if (!f->ok) {
                continue; /* it gave up, or somebody was faster: look again */
            }
            core__wake(c, core_line_row(f->e));
            f->word = CORE_SERVED;
        } else if (f->r != 0 && core__granted_at(c, f->r, f->e)) {
            f->word = CORE_SERVED;
        } else {
            f->word = CORE_SKIPPED;
        }
        if (f->word == CORE_SERVED && CORE_DROPS(c, CORE_GUARD_SERVED)) {
            CORE_RETURN(&f->deliver);
        }
        if (f->word == CORE_SKIPPED && CORE_DROPS(c, CORE_GUARD_SKIPPED)) {
            CORE_RETURN(&f->deliver);
        }
        CORE_CAS(c, &f->deliver, f->ok, core__line_at(c, core_v_valid(f->v)), f->e,
                 core_line(core_v_valid(f->v), CORE_NOBODY, f->word));
    }
    CORE_END(&f->deliver);
}

/*
 * What V says: its author has left (or resized), and ticket VALID is valid. To do: deliver the
 * ticket; count a resize in K; then the author's row is IDLE.
 */
enum core_progress core_finish_release(struct core *c, struct core_finish_release *f)
{
    CORE_BEGIN(f);
    CORE_CALL(f, deliver(c, f));
    CORE_FORGET(f->e);
    CORE_FORGET(f->r);
    CORE_FORGET(f->word);
    if (!f->ok || core_v_row(f->v) == CORE_NOBODY) {
        CORE_RETURN(f);
    }
    CORE_READ(c, f, f->r, core__row_at(c, core_v_row(f->v)));
    if (core_row_state(f->r) < CORE_LEAVING ||
        (!core__names_v(c, f->v, core_v_row(f->v), core_row_cycle(f->r)) &&
         !CORE_DROPS(c, CORE_GUARD_AUTHOR_TAG))) {
        CORE_RETURN(f);
    }
    if (core_row_state(f->r) != CORE_LEAVING) {
        CORE_READ(c, f, f->e, c->at_k);
        if (!core__names_k(c, f->e, core_v_row(f->v), core_row_cycle(f->r))) {
            CORE_READ(c, f, f->word, c->at_v);
            if (f->word != f->v) {
                CORE_RETURN(f);
            }
            f->word = core_k(core_row_state(f->r) == CORE_GROWING ? core_k_seats(f->e) + 1
                                                                  : core_k_seats(f->e) - 1,
                             core_v_row(f->v), core_v_tag(f->v));
            CORE_CAS(c, f, f->ok, c->at_k, f->e, f->word); /* if it fails, another has done it */
        }
    }
    CORE_FORGET(f->e);
    if (!CORE_DROPS(c, CORE_GUARD_AUTHOR_V_STILL)) {
        CORE_READ(c, f, f->word, c->at_v);
        if (f->word != f->v) {
            CORE_RETURN(f);
        }
    }
    CORE_CAS(c, f, f->ok, core__row_at(c, core_v_row(f->v)), f->r,
             core_row(CORE_IDLE, core_row_cycle(f->r), 0));
    CORE_END(f);
}

/* V after a row has left or resized. A seat that is owed is not given on. */
static uint64_t next_v(const struct core *c, const struct core_publish *f)
{
    uint32_t valid = core_v_valid(f->v);
    uint32_t owed = core_v_owed(f->v);
    if (core_row_state(f->r) == CORE_SHRINKING) {
        owed++;
    } else if (owed > 0) {
        owed--;
    } else {
        valid++;
    }
    return core_v(valid, owed, f->row, (uint32_t)core_row_cycle(f->r) & c->v_tag_mask);
}

enum core_progress core_publish(struct core *c, struct core_publish *f)
{
    CORE_BEGIN(f);
    for (;;) {
        CORE_FORGET(f->v);
        CORE_FORGET(f->word);
        CORE_FORGET(f->ok);
        CORE_FORGET(f->ours);
        CORE_FORGET(f->release);
        CORE_READ(c, f, f->v, c->at_v);
        if (!CORE_DROPS(c, CORE_GUARD_LEAVING_STILL)) {
            CORE_READ(c, f, f->word, core__row_at(c, f->row));
            if (f->word != f->r) {
                CORE_RETURN(f);
            }
        }
        f->ok = core__names_v(c, f->v, f->row, core_row_cycle(f->r)) &&
                !CORE_DROPS(c, CORE_GUARD_NAMED);
        if (f->ok || !CORE_DROPS(c, CORE_GUARD_FINISH_V)) {
            f->ours = f->ok;
            f->release.v = f->v;
            CORE_FORGET(f->v);
            CORE_FORGET(f->word);
            CORE_CALL(f, core_finish_release(c, &f->release));
            f->v = f->release.v; /* further on, if places were passed over */
            CORE_FORGET(f->release);
            if (f->ours) {
                continue; /* done, unless V has moved meanwhile: the row tells */
            }
        }
        f->word = next_v(c, f);
        CORE_CAS(c, f, f->ok, c->at_v, f->v, f->word);
        if (f->ok) {
            f->release.v = f->word;
            CORE_FORGET(f->v);
            CORE_FORGET(f->word);
            CORE_CALL(f, core_finish_release(c, &f->release));
        }
    }
    CORE_END(f);
}

enum core_progress core_release(struct core *c, struct core_release *f)
{
    CORE_BEGIN(f);
    CORE_CAS(c, f, f->ok, c->at_seat + f->seat, core_seat(f->row, f->cycle), 0);
    f->publish.row = f->row;
    f->publish.r = core_row(CORE_LEAVING, f->cycle, f->ticket);
    CORE_WRITE(c, f, core__row_at(c, f->row), f->publish.r);
    CORE_FORGET(f->cycle);
    CORE_FORGET(f->ticket);
    CORE_FORGET(f->seat);
    CORE_FORGET(f->ok);
    CORE_CALL(f, core_publish(c, &f->publish));
    CORE_END(f);
}

enum core_progress core_resize(struct core *c, struct core_resize *f)
{
    CORE_BEGIN(f);
    CORE_READ(c, f, f->i, c->at_i);
    CORE_READ(c, f, f->v, c->at_v);
    CORE_READ(c, f, f->k, c->at_k);
    f->cycle = core__fresh_cycle(c, f->cycle, f->row, f->i, f->v, f->k);
    f->publish.row = f->row;
    f->publish.r = core_row(f->grow ? CORE_GROWING : CORE_SHRINKING, f->cycle, 0);
    CORE_WRITE(c, f, core__row_at(c, f->row), f->publish.r);
    CORE_CALL(f, core_publish(c, &f->publish));
    CORE_END(f);
}

enum core_progress core_give_up(struct core *c, struct core_give_up *f)
{
    CORE_BEGIN(f);
    CORE_CAS(c, f, f->granted, core__row_at(c, f->row), core_row(CORE_WAITING, f->cycle, 0),
             core_row(CORE_IDLE, f->cycle, 0));
    f->granted = !f->granted; /* then nobody but a granter can have changed the row */
    if (!f->granted) {
        CORE_CALL(f, core_slide(c, &f->slide));
    }
    CORE_END(f);
}

enum core_progress core_claim(struct core *c, struct core_claim *f)
{
    CORE_BEGIN(f);
    for (f->seat = f->first; !f->ok; f->seat = (f->seat + 1) % c->seats) {
        CORE_READ(c, f, f->word, c->at_seat + f->seat);
        if (core_seat_free(f->word)) {
            CORE_CAS(c, f, f->ok, c->at_seat + f->seat, f->word, core_seat(f->row, f->cycle));
            if (f->ok) {
                f->inherited = (f->word & CORE_SEAT_DIED) != 0;
                CORE_RETURN(f);
            }
        }
    }
    CORE_END(f);
}
