/*
 * Entering, and taking a place in the line: see core.h. issued.c finishes what I says, leave.c has
 * the way out, reap.c the dead.
 */
#include "core/core.h"

#include "core/fast.h"

#ifdef CORE_STEPS
_Thread_local struct core_widths core_widths = {32, 20, 12, 26, 26};
#endif

void core_init(struct core *c, uint32_t seats)
{
    atomic_init(&c->words[CORE_AT_I(c)], core_i(0, CORE_NOBODY, 0));
    atomic_init(&c->words[CORE_AT_V(c)], core_v(seats, 0, CORE_NOBODY, 0));
    atomic_init(&c->words[CORE_AT_K(c)], core_k(seats, CORE_NOBODY, 0));
    for (uint32_t g = 0; g < c->rows; g++) {
        atomic_init(&c->words[core__row_at(c, g)], core_row(CORE_IDLE, 0, 0));
        atomic_init(&c->words[core__hint_at(c, g)], core_hint(CORE_NO_SEAT, 0));
        core_disown(c, g);
    }
    /* Ticket 0 is never issued: its place, and the places of the lap before it, are SERVED. */
    for (uint32_t t = 0; t <= c->line_mask; t++) {
        uint32_t before = t == 0 ? 0 : t - c->line_mask - 1;
        atomic_init(&c->words[core__line_at(c, t)], core_line(before, CORE_NOBODY, 0, CORE_SERVED));
    }
    for (uint32_t s = 0; s < c->seats; s++) {
        atomic_init(&c->words[c->at_seat + s], 0);
    }
}

enum core_progress core_help_enter(struct core *c, struct core_help_enter *f)
{
    CORE_BEGIN(f);
    f->full = false;
    for (;;) {
        CORE_FORGET(f->u);
        if (core_run_spent(c, &f->run)) {
            CORE_CALL(f, core__reserve(c, &f->u.reserve, f->row, CORE_TO_ENTER, &f->run, &f->full));
            if (f->full) {
                break;
            }
        }
        CORE_CALL(f, core__get_i(c, &f->get, f->row, &f->i));
        if (!CORE_DROPS(c, CORE_GUARD_FINISH_I)) {
            CORE_FRESH(f->u);
            f->u.take.by = f->row;
            f->u.take.i = f->i;
            CORE_CALL(f, core_finish_take(c, &f->u.take));
            CORE_FORGET(f->u);
        }
        CORE_FRESH(f->u);
        f->u.clear.by = f->row;
        f->u.clear.i = f->i;
        CORE_CALL(f, core_clear_place(c, &f->u.clear));
        CORE_FORGET(f->i);
        CORE_FRESH(f->u);
        f->u.enter.row = f->row;
        f->u.enter.run = f->run;
        f->u.enter.absorb = true;
        CORE_CALL(f, core_enter(c, &f->u.enter));
        f->run = f->u.enter.run;
        if (f->u.enter.granted) { /* with an owed ticket: leaving pays the debt in V */
            f->i = core_row(CORE_LEAVING, f->run.last, f->u.enter.ticket);
            CORE_FRESH(f->u);
            f->u.leave.leave.row = f->row;
            f->u.leave.leave.r = f->i;
            CORE_FORGET(f->i);
            CORE_CALL(f, core_leave(c, &f->u.leave.leave));
            if (!f->u.leave.leave.done) {
                CORE_CALL(f, core_leave_slowly(c, &f->u.leave));
            }
        } else if (!f->u.enter.lost_race && !f->u.enter.needs_help) {
            break;
        }
    }
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_PLACE);
    CORE_END(f);
}

/*
 * Is the last place of the line a hole, which the next guest can adopt? Input: f->i is I, finished;
 * f->v is V. Output: f->ok. A hole is a place whose guest no longer waits in that cycle, or a copy
 * of the place before it (core_slide).
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
    if (!core__is_place(c, f->e, core_i_issue(f->i)) || core_line_decided(f->e)) {
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

/* Get a place for the row, which is WAITING. f->full: no place is free. */
static enum core_progress queue_up(struct core *c, struct core_take *f)
{
    CORE_DOOMED(c,
                f->queue.at != 0 && f->looks && !f->u.clear.acts && core__in_vain(c, f->i, f->v));
    CORE_BEGIN(&f->queue);
    for (;;) {
        CORE_FORGET(f->i);
        CORE_FORGET(f->v);
        CORE_FORGET(f->e);
        CORE_FORGET(f->word);
        CORE_FORGET(f->ok);
        CORE_FORGET(f->ticket);
        CORE_FORGET(f->u);
        CORE_CALL(&f->queue, core__get_i(c, &f->get, f->row, &f->i));
        if (!CORE_DROPS(c, CORE_GUARD_FINISH_I)) {
            CORE_FRESH(f->u);
            f->u.take.by = f->row;
            f->u.take.i = f->i;
            CORE_CALL(&f->queue, core_finish_take(c, &f->u.take));
            CORE_FORGET(f->u);
        }
        CORE_LOOK(f, true);
        CORE_READ(c, &f->queue, f->v, CORE_AT_V(c));
        CORE_CALL(&f->queue, last_is_hole(c, f));
        CORE_FORGET(f->e);
        CORE_FORGET(f->word);
        f->ticket = core_i_issue(f->i);
        if (!f->ok) {
            f->ticket++;
            if (core_ticket_after(f->ticket, core_v_valid(f->v)) > (int32_t)c->line_mask &&
                !CORE_DROPS(c, CORE_GUARD_ROOM)) {
                /* No room. Once, move the holes to the end of the line, and try again. */
                f->full = f->slid;
                if (f->full) {
                    CORE_RETURN(&f->queue);
                }
                f->slid = true;
                CORE_LOOK(f, false);
                CORE_FORGET(f->i);
                CORE_FORGET(f->v);
                CORE_FORGET(f->ticket);
                CORE_FRESH(f->u);
                f->u.slide.by = f->row;
                CORE_CALL(&f->queue, core_slide(c, &f->u.slide));
                continue;
            }
            CORE_FORGET(f->v);
            CORE_FRESH(f->u);
            f->u.clear.by = f->row;
            f->u.clear.i = f->i;
            CORE_CALL(&f->queue, core_clear_place(c, &f->u.clear));
            CORE_FORGET(f->u);
        }
        CORE_FORGET(f->v);
        CORE_FORGET(f->ok);
        f->word = core_i(f->ticket, f->row, f->run.last);
        CORE_CAS(c, &f->queue, f->ok, CORE_AT_I(c), f->i, f->word);
        CORE_LOOK(f, false);
        if (f->ok) {
            CORE_RETURN(&f->queue);
        }
    }
    CORE_END(&f->queue);
}

/* Enter, if a ticket is valid: f->enter.granted. Otherwise reserve cycles to wait in: f->run. */
static enum core_progress enter_or_reserve(struct core *c, struct core_take *f)
{
    CORE_BEGIN(&f->last);
    do {
        CORE_FRESH(f->enter);
        f->enter.row = f->row;
        f->enter.run = f->run;
        f->enter.absorb = false;
        f->enter.seat = f->seat;
        CORE_CALL(&f->last, core_enter(c, &f->enter));
        f->run = f->enter.run;
        if (f->enter.needs_help) {
            CORE_FRESH(f->u);
            f->u.help.row = f->row;
            f->u.help.run = f->run;
            CORE_CALL(&f->last, core_help_enter(c, &f->u.help));
            f->run = f->u.help.run;
            f->full = f->u.help.full;
            CORE_FORGET(f->u);
        }
    } while ((f->enter.lost_race || f->enter.needs_help) && !f->full);
    if (!f->enter.granted && !f->full && !core__may_wait(c, &f->run)) {
        CORE_CALL(&f->last,
                  core__reserve(c, &f->u.reserve, f->row, CORE_TO_WAIT, &f->run, &f->full));
    }
    CORE_END(&f->last);
}

enum core_progress core_take(struct core *c, struct core_take *f)
{
    CORE_BEGIN(f);
    f->full = f->slid = false;
    CORE_CALL(f, enter_or_reserve(c, f));
    f->granted = f->enter.granted;
    f->ticket = f->enter.ticket;
    if (f->granted || f->full) {
        CORE_RETURN(f);
    }
    CORE_FORGET(f->enter);
    f->run.last = core__next_cycle(&f->run);
    CORE_WRITE(c, f, core__row_at(c, f->row), core_row(CORE_WAITING, f->run.last, 0));
    CORE_CALL(f, queue_up(c, f));
    CORE_FORGET(f->i);
    CORE_FORGET(f->v);
    CORE_FORGET(f->e);
    CORE_FORGET(f->ok);
    CORE_FORGET(f->slid);
    CORE_FORGET(f->u);
    CORE_FORGET(f->ticket);
    if (f->full) {
        CORE_WRITE(c, f, core__row_at(c, f->row), core_row(CORE_IDLE, f->run.last, 0));
    } else {
        CORE_FRESH(f->u);
        f->u.take.by = f->row;
        f->u.take.i = f->word;
        CORE_FORGET(f->word);
        CORE_CALL(f, core_finish_take(c, &f->u.take));
        CORE_FORGET(f->u);
        CORE_READ(c, f, f->word, core__row_at(c, f->row));
        f->granted = core_row_state(f->word) == CORE_GRANTED;
        f->ticket = core_row_ticket(f->word);
    }
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_TOP);
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_PLACE);
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_NEXT);
    CORE_END(f);
}

enum core_progress core_finish_published(struct core *c, struct core_finish_published *f)
{
    CORE_BEGIN(f);
    CORE_CALL(f, core__get_i(c, &f->get, f->by, &f->word));
    CORE_FRESH(f->u);
    f->u.take.by = f->by;
    f->u.take.i = f->word;
    CORE_FORGET(f->word);
    CORE_CALL(f, core_finish_take(c, &f->u.take));
    CORE_FORGET(f->u);
    if (!f->only_i) {
        CORE_CALL(f, core__get_v(c, &f->get, f->by, &f->word));
        CORE_FRESH(f->u);
        f->u.release.by = f->by;
        f->u.release.v = f->word;
        CORE_FORGET(f->word);
        CORE_CALL(f, core_finish_release(c, &f->u.release));
        CORE_FORGET(f->u);
    }
    CORE_WITHDRAW(c, f, f->by, CORE_SLOT_TOP);
    CORE_WITHDRAW(c, f, f->by, CORE_SLOT_PLACE);
    CORE_END(f);
}
