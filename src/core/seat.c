/*
 * Which seat a granted guest gets: see core.h; words.h has the words.
 *
 * A guest that leaves changes no seat. The seat still names its row, and when the guest enters
 * again it finds its seat with one read. A seat is held if its row is in (GRANTED, or ENTERING and
 * named by I) and the row's hint is this seat. So each row that is in holds at most one seat, and
 * as many seats as there are valid tickets that are not taken are held by no row.
 *
 * To take a seat that names another row and is not held:
 *
 *     1. write the seat into one's own hint
 *     2. ask: a compare-and-swap makes oneself the seat's author, with the question open
 *     3. settle: is the seat's row in, with this seat as its hint? Then the seat stays; otherwise
 *        its row becomes the author
 *
 * The seat's row first gets in and then reads the seat. The asking guest first asks and then reads
 * whether the row is in. So one of them sees the other. Any guest settles another guest's question,
 * so nothing waits for a slow or dead author. Each question has a number that no stopped guest
 * relies on (core_reserve), so it is settled once.
 */
#include "core/core.h"

#include "core/parts.h"

/*
 * Does the seat's row hold the seat, f->word? The answer is f->held. One "no" is enough: the row
 * did not hold the seat at that instant, and to hold it later it must read the seat, and sees the
 * question.
 *
 * I is read before the row. A guest that enters writes its row, swaps I, and then reads its seat.
 * If the I read here includes that swap, the row read next includes that write. If not, the guest
 * reads its seat after the question was asked, and sees it.
 */
static enum core_progress is_held(struct core *c, struct core_settle *f)
{
    CORE_BEGIN(&f->in);
    CORE_READ(c, &f->in, f->i, CORE_AT_I(c));
    CORE_READ(c, &f->in, f->r, core__row_at(c, core_seat_row(f->word)));
    f->held = core_row_state(f->r) == CORE_GRANTED && !CORE_DROPS(c, CORE_GUARD_SEAT_HELD);
    if (core_row_state(f->r) == CORE_ENTERING && !CORE_DROPS(c, CORE_GUARD_SEAT_ENTERING)) {
        CORE_READ(c, &f->in, f->i, CORE_AT_I(c));
        f->held = core__names_i(f->i, core_seat_row(f->word), core_row_cycle(f->r)) ||
                  CORE_DROPS(c, CORE_GUARD_SEAT_NOT_IN);
        CORE_FORGET(f->i);
        if (!f->held) {
            /* I may have changed because it was finished, and then the row is GRANTED. Any other
               change of the row counts as "held" as well: the asking guest tries another seat. */
            CORE_READ(c, &f->in, f->i, core__row_at(c, core_seat_row(f->word)));
            f->held = f->i != f->r;
        }
    }
    CORE_FORGET(f->i);
    CORE_FORGET(f->r);
    if (f->held && !CORE_DROPS(c, CORE_GUARD_SEAT_SAID)) {
        CORE_READ(c, &f->in, f->r, core__hint_at(c, core_seat_row(f->word)));
        f->held = core_hint_seat(f->r) == f->seat;
        CORE_FORGET(f->r);
    }
    CORE_END(&f->in);
}

enum core_progress core_settle(struct core *c, struct core_settle *f)
{
    CORE_BEGIN(f);
    CORE_CALL(f, is_held(c, f));
    CORE_CAS(c, f, f->ok, c->at_seat + f->seat, f->word, core_seat_settled(f->word, f->held));
    CORE_FORGET(f->word);
    CORE_END(f);
}

/* Ask for a seat, f->word, that names another row, and settle that. f->ok: the caller holds it. */
static enum core_progress ask(struct core *c, struct core_claim *f)
{
    CORE_BEGIN(&f->ask);
    CORE_FRESH(f->u);
    f->u.settle.seat = f->seat;
    f->u.settle.word = f->word;
    CORE_CALL(&f->ask, is_held(c, &f->u.settle));
    if (f->u.settle.held) {
        CORE_RETURN(&f->ask);
    }
    CORE_FORGET(f->u);
    if (core_run_spent(c, &f->run)) {
        CORE_CALL(&f->ask, core__reserve(c, &f->u.reserve, f->row, CORE_TO_ASK, &f->run, &f->full));
        if (f->full) {
            CORE_RETURN(&f->ask);
        }
    }
    if (core_hint_seat(core__own_hint(c, f->row)) != f->seat &&
        !CORE_DROPS(c, CORE_GUARD_SEAT_FIRST)) {
        CORE_WRITE(c, &f->ask, core__own_hint_at(c, f->row),
                   core_hint(f->seat, core__own_hint(c, f->row)));
    }
    f->run.last = core__next_question(&f->run);
    if (CORE_DROPS(c, CORE_GUARD_SEAT_ASKED)) {
        CORE_CAS(c, &f->ask, f->ok, c->at_seat + f->seat, f->word,
                 core_seat(f->row, f->row, f->run.last) | (f->word & CORE_SEAT_DIED));
        CORE_RETURN(&f->ask);
    }
    CORE_FRESH(f->u);
    f->u.settle.seat = f->seat;
    f->u.settle.word = core_seat_asked(f->word, f->row, f->run.last);
    CORE_CAS(c, &f->ask, f->ok, c->at_seat + f->seat, f->word, f->u.settle.word);
    if (!f->ok) {
        CORE_RETURN(&f->ask);
    }
    f->ok = false;
    f->asked = true;
    CORE_KEEP(f->word, f->word & CORE_SEAT_DIED);
    CORE_CALL(&f->ask, core_settle(c, &f->u.settle));
    f->ok = f->u.settle.ok && !f->u.settle.held && (f->word & CORE_SEAT_DIED) == 0;
    if (CORE_DROPS(c, CORE_GUARD_SEAT_FIRST)) {
        CORE_WRITE(c, &f->ask, core__own_hint_at(c, f->row),
                   core_hint(f->seat, core__own_hint(c, f->row)));
    }
    CORE_END(&f->ask);
}

/* Take a seat, f->word, that names the caller's row or no row: f->ok. This clears CORE_SEAT_DIED.
   */
static enum core_progress sit(struct core *c, struct core_claim *f)
{
    CORE_BEGIN(&f->ask);
    if (core_run_spent(c, &f->run)) {
        CORE_CALL(&f->ask, core__reserve(c, &f->u.reserve, f->row, CORE_TO_ASK, &f->run, &f->full));
        if (f->full) {
            CORE_RETURN(&f->ask);
        }
    }
    if (core_hint_seat(core__own_hint(c, f->row)) != f->seat) {
        CORE_WRITE(c, &f->ask, core__own_hint_at(c, f->row),
                   core_hint(f->seat, core__own_hint(c, f->row)));
    }
    f->run.last = core__next_question(&f->run);
    CORE_CAS(c, &f->ask, f->ok, c->at_seat + f->seat, f->word,
             core_seat(f->row, f->row, f->run.last));
    f->inherited = f->ok && (f->word & CORE_SEAT_DIED) != 0;
    CORE_END(&f->ask);
}

/* Try to get one seat, f->seat: f->ok. */
static enum core_progress try_seat(struct core *c, struct core_claim *f)
{
    CORE_BEGIN(&f->try);
    CORE_CALL(&f->try, core__get_seat(c, &f->get, f->row, f->seat, &f->word));
    if (core_seat_asks(f->word) != CORE_NOBODY && !CORE_DROPS(c, CORE_GUARD_SEAT_HELPED)) {
        CORE_FRESH(f->u);
        f->u.settle.seat = f->seat;
        f->u.settle.word = f->word;
        CORE_FORGET(f->word);
        CORE_CALL(&f->try, core_settle(c, &f->u.settle));
        CORE_FORGET(f->u);
        CORE_CALL(&f->try, core__get_seat(c, &f->get, f->row, f->seat, &f->word));
    }
    if (core_seat_asks(f->word) == CORE_NOBODY && core_seat_row(f->word) != CORE_NOBODY &&
        core_seat_row(f->word) != f->row) {
        f->asked = false;
        CORE_CALL(&f->try, ask(c, f));
        CORE_FORGET(f->u);
        CORE_FORGET(f->word);
        if (!f->asked || f->ok) {
            CORE_FORGET(f->asked);
            CORE_RETURN(&f->try);
        }
        CORE_FORGET(f->asked);
        /* Another guest may have settled it for us; or a holder died in it, and sit() must clear
           that. */
        CORE_CALL(&f->try, core__get_seat(c, &f->get, f->row, f->seat, &f->word));
    }
    if (core_seat_asks(f->word) == CORE_NOBODY &&
        (core_seat_row(f->word) == CORE_NOBODY || core_seat_row(f->word) == f->row)) {
        CORE_CALL(&f->try, sit(c, f));
    }
    CORE_FORGET(f->word);
    CORE_END(&f->try);
}

enum core_progress core_claim(struct core *c, struct core_claim *f)
{
    CORE_BEGIN(f);
    f->ok = f->inherited = f->full = false;
    f->seat = f->first;
    for (f->left = f->seats; f->left > 0; f->left--) {
        CORE_CALL(f, try_seat(c, f));
        if (f->ok || f->full) {
            break;
        }
        f->seat = f->seat + 1 < f->seats ? f->seat + 1 : 0;
    }
    CORE_WITHDRAW(c, f, f->row, CORE_SLOT_PLACE);
    CORE_END(f);
}
