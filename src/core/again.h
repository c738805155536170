/*
 * Recoverable tickets: in and out for a guest that was the last to do both. It remembers what it
 * published: I when it came, V when it left. If both still say so, nothing has happened since:
 *
 *     I names it, and is finished: its row is IDLE       V names it, and it delivered that itself
 *     nothing is owed, nobody has resized                VALID was published after ISSUE, beyond it
 *     the next cycle's tag is neither I's nor V's, which have the last cycle's
 *
 * so that of all the questions of fast.h one is left, whether the place is an old one. That I still
 * says so is told by the compare-and-swap: if it does not, the row has said ENTERING for a moment,
 * and nobody minds a row that enters and that I does not name. Explored like the rest. On the way
 * out V alone is compared: whatever has happened to I meanwhile, a V that this guest delivered is
 * finished.
 *
 * What it says now differs from what it said then by one in the ticket and one in the cycle: the
 * words are not put together anew, but added to, until one of their fields would run over.
 */
#ifndef USHER_CORE_AGAIN_H
#define USHER_CORE_AGAIN_H

#include "core/parts.h"

/* The next ticket, and the author's next cycle. */
#define CORE_NEXT_I (1ULL << 32 | 1)
#define CORE_NEXT_V (1ULL << 44 | 1)
#define CORE_NEXT_ROW (1ULL << 20 | 1)

/* The last I up to which that is so, for a guest that published i as it entered with the row r:
   after that the long way. (ISSUE and VALID run over at the top of their words: that is right.) */
static inline uint64_t core_again_until(const struct core *c, uint64_t i, uint64_t r)
{
    (void)c;
    uint32_t left = CORE_I_TAGS(c) - ((uint32_t)core_row_cycle(r) & CORE_I_TAGS(c));
    uint32_t left_v = CORE_V_TAGS(c) - ((uint32_t)core_row_cycle(r) & CORE_V_TAGS(c));
    uint32_t tickets = CORE_TICKET_MASK - core_row_ticket(r);
    left = left < left_v ? left : left_v;
    left = left < tickets ? left : tickets;
    return i + left * CORE_NEXT_I;
}

/* May it enter again after it published i? */
static inline bool core_again_may(const struct core *c, uint64_t i, uint64_t until)
{
    (void)c;
    return i != until || CORE_DROPS(c, CORE_GUARD_AGAIN_UNTIL);
}

/* For one that may. */
static inline __attribute__((always_inline)) enum core_progress
core_enter_again(struct core *c, struct core_again *f)
{
    CORE_BEGIN(f);
    f->granted = false;
    CORE_READ(c, f, f->word, CORE_AT_V(c));
    f->granted = f->word == f->v || CORE_DROPS(c, CORE_GUARD_AGAIN_V);
    CORE_FORGET(f->word);
    if (!f->granted) {
        CORE_RETURN(f);
    }
    CORE_READ(c, f, f->word, core__line_at(c, core_i_issue(f->i) + 1));
    f->granted =
        !core_line_stale(f->word, core_i_issue(f->i) + 1) || CORE_DROPS(c, CORE_GUARD_STALE_PLACE);
    CORE_FORGET(f->word);
    if (!f->granted) {
        CORE_RETURN(f);
    }
    CORE_WRITE(c, f, f->row_at, f->r + CORE_NEXT_ROW);
    CORE_CAS(c, f, f->granted, CORE_AT_I(c), f->i, f->i + CORE_NEXT_I);
    if (!f->granted) {
        CORE_WRITE(c, f, f->row_at, core_row(CORE_IDLE, core_row_cycle(f->r), 0));
        CORE_RETURN(f);
    }
    f->i += CORE_NEXT_I;
    f->r += CORE_NEXT_ROW;
    CORE_END(f);
}

/* It is in: is the seat that it had last still its? */
static inline __attribute__((always_inline)) enum core_progress core_sit_again(struct core *c,
                                                                               struct core_again *f)
{
    CORE_BEGIN(f);
    CORE_READ(c, f, f->word, f->seat_at);
    f->seated = core_seat_is(f->word, f->mark);
    CORE_FORGET(f->word);
    CORE_END(f);
}

/* Out, for a guest that came in again. */
static inline __attribute__((always_inline)) enum core_progress
core_leave_again(struct core *c, struct core_again *f)
{
    CORE_BEGIN(f);
    f->published = f->done = false;
    CORE_WRITE(c, f, f->row_at, core_row_leaves(f->r));
    CORE_CAS(c, f, f->published, CORE_AT_V(c), f->v, f->v + CORE_NEXT_V);
    if (!f->published) {
        CORE_RETURN(f);
    }
    f->v += CORE_NEXT_V;
    CORE_READ(c, f, f->word, CORE_AT_I(c));
    f->done = core_ticket_after(core_i_issue(f->word), core_v_valid(f->v)) < 0;
    CORE_FORGET(f->word);
    if (f->done) {
        CORE_WRITE(c, f, f->row_at, core_row(CORE_IDLE, core_row_cycle(f->r), 0));
    }
    CORE_END(f);
}

#endif
