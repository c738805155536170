/*
 * Recoverable tickets: taking a place, and finishing what is published. See core.h; leaving is in
 * leave.c, what happens to the dead in reap.c.
 */
#include "core/core.h"

#include "core/parts.h"

void core_init(struct core *c, uint32_t seats)
{
    atomic_init(&c->words[c->at_i], core_i(0, CORE_NOBODY, 0));
    atomic_init(&c->words[c->at_v], core_v(seats, 0, CORE_NOBODY, 0));
    atomic_init(&c->words[c->at_k], core_k(seats, CORE_NOBODY, 0));
    for (uint32_t g = 0; g < c->rows; g++) {
        atomic_init(&c->words[core__row_at(c, g)], core_row(CORE_IDLE, 0, 0));
    }
    /* Ticket 0 was never issued: its place, and all of the lap before, count as served. */
    for (uint32_t t = 0; t <= c->line_mask; t++) {
        uint32_t before = t == 0 ? 0 : t - c->line_mask - 1;
        atomic_init(&c->words[core__line_at(c, t)], core_line(before, CORE_NOBODY, CORE_SERVED));
    }
    for (uint32_t s = 0; s < c->seats; s++) {
        atomic_init(&c->words[c->at_seat + s], 0);
    }
}

/*
 * What I says: row i.row has taken ticket i.ISSUE. To do: record its place in the line; and if the
 * ticket is valid already, grant it.
 *
 * The row is read first and I again before anything is done: as long as I is still i, a row that
 * waits with i's tag waits in the cycle that took the ticket (CORE_GUARD_FRESH_TAG), and the place
 * is of this lap. Afterwards every change is an exact compare-and-swap on what was read before.
 */
enum core_progress core_finish_take(struct core *c, struct core_finish_take *f)
{
    CORE_BEGIN(f);
    if (core_i_row(f->i) == CORE_NOBODY) {
        CORE_RETURN(f);
    }
    for (f->again = f->i;;) {
        /* I has moved on: to another's ticket, and then all is done here; or only to the next place
           for the same guest, see below. */
        if (f->again != f->i &&
            (((f->again ^ f->i) & 0xffffffffU) != 0 || CORE_DROPS(c, CORE_GUARD_SAME_AUTHOR))) {
            CORE_RETURN(f);
        }
        f->i = f->again;
        CORE_FORGET(f->e);
        CORE_FORGET(f->ok);
        CORE_READ(c, f, f->r, core__row_at(c, core_i_row(f->i)));
        if (!core__waits_for_i(c, f->r, f->i)) {
            CORE_RETURN(f);
        }
        CORE_READ(c, f, f->e, core__line_at(c, core_i_issue(f->i)));
        if (core__is_place(c, f->e, core_i_issue(f->i)) && core_line_decided(f->e)) {
            /* Either it was served just now: then the row no longer waits. Or it was adopted, and
               decided before that was recorded: then the next place is its. */
            if (CORE_DROPS(c, CORE_GUARD_SKIP_DECIDED)) {
                CORE_RETURN(f);
            }
            if (!CORE_DROPS(c, CORE_GUARD_DECIDED_STILL)) {
                CORE_READ(c, f, f->again, core__row_at(c, core_i_row(f->i)));
                if (f->again != f->r) {
                    CORE_RETURN(f);
                }
            }
            f->again = core_i(core_i_issue(f->i) + 1, core_i_row(f->i), core_i_tag(f->i));
            CORE_CAS(c, f, f->ok, c->at_i, f->i, f->again);
            if (!f->ok) {
                CORE_READ(c, f, f->again, c->at_i);
            }
            continue;
        }
        if (f->e != core__own_place(f->i, f->r)) {
            if (!CORE_DROPS(c, CORE_GUARD_TAKE_I_STILL)) {
                CORE_READ(c, f, f->again, c->at_i);
                if (f->again != f->i) {
                    continue;
                }
            }
            CORE_CAS(c, f, f->ok, core__line_at(c, core_i_issue(f->i)), f->e,
                     core__own_place(f->i, f->r));
            if (!f->ok) {
                continue;
            }
        }
        CORE_FORGET(f->ok);
        CORE_READ(c, f, f->e, c->at_v);
        if (core_ticket_after(core_v_valid(f->e), core_i_issue(f->i)) < 0) {
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
 * Is the last place in the line one that nobody waits in? f->i is I, finished; f->v is V. The
 * answer is in f->ok. A place is a hole if its guest no longer waits in that cycle, if nothing was
 * recorded (its guest was gone before), or if it is a copy of the place before it (core_slide).
 */
static enum core_progress last_is_hole(struct core *c, struct core_take *f)
{
    CORE_BEGIN(&f->last);
    f->ok = false;
    if (core_ticket_after(core_i_issue(f->i), core_v_valid(f->v)) <= 0 &&
        !CORE_DROPS(c, CORE_GUARD_ADOPT_VALID)) {
        CORE_RETURN(&f->last);
    }
    CORE_READ(c, &f->last, f->e, core__line_at(c, core_i_issue(f->i)));
    if (!core__is_place(c, f->e, core_i_issue(f->i))) {
        f->ok = core_ticket_after(core_i_issue(f->i), core_v_valid(f->v)) > 0;
        CORE_RETURN(&f->last);
    }
    if (core_line_decided(f->e)) {
        CORE_RETURN(&f->last);
    }
    CORE_READ(c, &f->last, f->word, core__row_at(c, core_line_row(f->e)));
    f->ok = core__is_hole(c, f->word, f->e) || CORE_DROPS(c, CORE_GUARD_ADOPT_HOLE);
    if (!f->ok && core_ticket_after(core_i_issue(f->i) - 1, core_v_valid(f->v)) > 0) {
        CORE_READ(c, &f->last, f->word, core__line_at(c, core_i_issue(f->i) - 1));
        f->ok = core__is_place(c, f->word, core_i_issue(f->i) - 1) &&
                core_line_who(f->word) == core_line_who(f->e);
    }
    CORE_END(&f->last);
}

enum core_progress core_take(struct core *c, struct core_take *f)
{
    CORE_BEGIN(f);
    CORE_READ(c, f, f->i, c->at_i);
    CORE_READ(c, f, f->v, c->at_v);
    CORE_READ(c, f, f->word, c->at_k);
    f->cycle = core__fresh_cycle(c, f->cycle, f->row, f->i, f->v, f->word);
    CORE_WRITE(c, f, core__row_at(c, f->row), core_row(CORE_WAITING, f->cycle, 0));
    for (;;) {
        CORE_FORGET(f->i);
        CORE_FORGET(f->v);
        CORE_FORGET(f->e);
        CORE_FORGET(f->word);
        CORE_FORGET(f->ok);
        CORE_FORGET(f->ticket);
        CORE_READ(c, f, f->i, c->at_i);
        if (!CORE_DROPS(c, CORE_GUARD_FINISH_I)) {
            f->take.i = f->i;
            CORE_CALL(f, core_finish_take(c, &f->take));
            CORE_FORGET(f->take);
        }
        CORE_READ(c, f, f->v, c->at_v);
        CORE_CALL(f, last_is_hole(c, f));
        f->ticket = core_i_issue(f->i);
        if (!f->ok) {
            f->ticket++;
            if (core_ticket_after(f->ticket, core_v_valid(f->v)) > (int32_t)c->line_mask) {
                /* No room: give the holes back to the end of the line, once. */
                if (f->slid) {
                    f->full = true;
                    CORE_WRITE(c, f, core__row_at(c, f->row), core_row(CORE_IDLE, f->cycle, 0));
                    CORE_RETURN(f);
                }
                f->slid = true;
                CORE_CALL(f, core_slide(c, &f->slide));
                continue;
            }
        }
        CORE_FORGET(f->v);
        CORE_FORGET(f->e);
        f->word = core_i(f->ticket, f->row, (uint32_t)f->cycle & c->i_tag_mask);
        CORE_CAS(c, f, f->ok, c->at_i, f->i, f->word);
        if (!f->ok) {
            continue;
        }
        f->take.i = f->word;
        CORE_FORGET(f->i);
        CORE_FORGET(f->word);
        CORE_FORGET(f->ok);
        CORE_CALL(f, core_finish_take(c, &f->take));
        CORE_FORGET(f->take);
        CORE_READ(c, f, f->word, core__row_at(c, f->row));
        f->granted = core_row_state(f->word) == CORE_GRANTED;
        break;
    }
    CORE_END(f);
}

enum core_progress core_help(struct core *c, struct core_help *f)
{
    CORE_BEGIN(f);
    CORE_READ(c, f, f->word, c->at_i);
    memset(&f->u, 0, sizeof f->u);
    f->u.take.i = f->word;
    CORE_CALL(f, core_finish_take(c, &f->u.take));
    CORE_READ(c, f, f->word, c->at_v);
    memset(&f->u, 0, sizeof f->u);
    f->u.release.v = f->word;
    CORE_CALL(f, core_finish_release(c, &f->u.release));
    CORE_END(f);
}
