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
#ifndef USHER_CORE_REPEAT_H
#define USHER_CORE_REPEAT_H

#include "core/parts.h"

/* The next ticket, and the author's next cycle, `by` times. No field runs over: core_repeat_until.
   (ISSUE and VALID run over at the top of their words: that is right.) */
#ifdef CORE_STEPS
static inline uint64_t core__repeat_i(uint64_t i, uint32_t by)
{
    return core_i(core_i_issue(i) + by, core_i_row(i), core_i_tag(i) + by);
}

static inline uint64_t core__repeat_v(uint64_t v)
{
    return core_v(core_v_valid(v) + 1, core_v_owed(v), core_v_row(v), core_v_tag(v) + 1);
}
#else
static inline uint64_t core__repeat_i(uint64_t i, uint32_t by)
{
    return i + by * (1ULL << 32 | 1);
}

static inline uint64_t core__repeat_v(uint64_t v)
{
    return v + (1ULL << 44 | 1);
}
#endif

static inline uint64_t core__repeat_row(uint64_t r)
{
    return r + (1ULL << 20 | 1);
}

/* The last I up to which a guest may enter again that published i as it entered with the row r: as
   long as its run of cycles is not spent and neither the tag nor the ticket runs over. */
static inline uint64_t core_repeat_until(const struct core *c, uint64_t i, uint64_t r,
                                         const struct core_run *run)
{
    (void)c;
    uint32_t left = CORE_TAG_MASK - (core_row_cycle(r) & CORE_TAG_MASK);
    uint32_t tickets = CORE_TICKET_MASK - core_row_ticket(r);
    uint32_t reserved = (run->end - core_row_cycle(r)) & CORE_CYCLE_MASK;
    left = left < tickets ? left : tickets;
    left = left < reserved || !CORE_REPEATS(c) ? left : reserved;
    return core__repeat_i(i, left);
}

/* May it enter again after it published i? */
static inline bool core_repeat_may(const struct core *c, uint64_t i, uint64_t until)
{
    (void)c;
    return i != until || CORE_DROPS(c, CORE_GUARD_REPEAT_UNTIL);
}

/* For one that may. */
static inline __attribute__((always_inline)) enum core_progress
core_repeat_enter(struct core *c, struct core_repeat *f)
{
    CORE_BEGIN(f);
    f->granted = false;
    CORE_READ(c, f, f->word, CORE_AT_V(c));
    f->granted = f->word == f->v || CORE_DROPS(c, CORE_GUARD_REPEAT_V);
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
    CORE_WRITE(c, f, f->row_at, core__repeat_row(f->r));
    CORE_CAS(c, f, f->granted, CORE_AT_I(c), f->i, core__repeat_i(f->i, 1));
    if (!f->granted) {
        CORE_WRITE(c, f, f->row_at, core_row(CORE_IDLE, core_row_cycle(f->r), 0));
        CORE_RETURN(f);
    }
    f->i = core__repeat_i(f->i, 1);
    f->r = core__repeat_row(f->r);
    CORE_END(f);
}

/* It is in: is the seat that it had last still its? */
static inline __attribute__((always_inline)) enum core_progress
core_repeat_sit(struct core *c, struct core_repeat *f)
{
    CORE_BEGIN(f);
    CORE_READ(c, f, f->word, f->seat_at);
    f->seated = core_seat_is(f->word, f->mark);
    CORE_FORGET(f->word);
    CORE_END(f);
}

/* Out, for a guest that came in again. */
static inline __attribute__((always_inline)) enum core_progress
core_repeat_leave(struct core *c, struct core_repeat *f)
{
    CORE_BEGIN(f);
    f->published = f->done = false;
    CORE_WRITE(c, f, f->row_at, core_row_leaves(f->r));
    CORE_CAS(c, f, f->published, CORE_AT_V(c), f->v, core__repeat_v(f->v));
    if (!f->published) {
        CORE_RETURN(f);
    }
    f->v = core__repeat_v(f->v);
    CORE_READ(c, f, f->word, CORE_AT_I(c));
    f->done = core_ticket_after(core_i_issue(f->word), core_v_valid(f->v)) < 0;
    CORE_FORGET(f->word);
    if (f->done) {
        CORE_WRITE(c, f, f->row_at, core_row(CORE_IDLE, core_row_cycle(f->r), 0));
    }
    CORE_END(f);
}

#endif
