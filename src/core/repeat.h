/*
 * The repeat path: in and out for a guest that was the last to enter and the last to leave. The
 * guest remembers I as it published it when it entered, and V as it published it when it left. If I
 * and V still have these values, nothing has happened since:
 *
 *     I is finished: it names this guest, whose row is IDLE
 *     V is finished: it names this guest, which delivered V's ticket itself
 *     V.owed == 0, and no guest has resized the pool
 *     ISSUE < VALID, because V was published after I
 *     the next cycle's tag is neither I's nor V's: both have the last cycle's
 *
 * Of the questions of fast.h one is left: is the place of the next ticket 2^20 tickets old? That I
 * still has its value is decided by the compare-and-swap. If it does not, the row was ENTERING for
 * a moment, which is harmless: other guests ignore an ENTERING row that I does not name. On the way
 * out V alone is compared: a V that this guest delivered is finished, whatever happened to I.
 *
 * The new values of I, V and the row are the old ones plus one in the ticket and one in the cycle.
 * So they are added to, not composed, until a field would overflow (core_repeat_until). Explored
 * like the rest of the core.
 */
#ifndef USHER_CORE_REPEAT_H
#define USHER_CORE_REPEAT_H

#include "core/parts.h"

/* The ticket and the author's tag, `by` later. No field overflows into another (core_repeat_until);
   ISSUE and VALID wrap at the top of their words, as they should. */
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

/* The last I that a guest may publish on the repeat path, after it published i and the row r: its
   run of cycles is not spent before, and neither the tag nor the ticket overflows. */
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

/* May the guest that published i last take the repeat path? */
static inline bool core_repeat_may(const struct core *c, uint64_t i, uint64_t until)
{
    (void)c;
    return i != until || CORE_DROPS(c, CORE_GUARD_REPEAT_UNTIL);
}

/* Enter, if core_repeat_may. f->granted: the row is in. Otherwise the row is IDLE as before. */
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

/* After core_repeat_enter: does the guest still hold its last seat? */
static inline __attribute__((always_inline)) enum core_progress
core_repeat_sit(struct core *c, struct core_repeat *f)
{
    CORE_BEGIN(f);
    CORE_READ(c, f, f->word, f->seat_at);
    f->seated = core_seat_is(f->word, f->mark);
    CORE_FORGET(f->word);
    CORE_END(f);
}

/* Leave, after core_repeat_enter. */
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
