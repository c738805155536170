/*
 * What the core's files share: where each word is, how a word is read before it is compared and
 * swapped, and what one word says about another. Private to src/core and src/model.
 */
#ifndef USHER_CORE_PARTS_H
#define USHER_CORE_PARTS_H

#include "core/core.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* The kinds of words that are compared and swapped. */
enum core_kind {
    CORE_WORD_I,
    CORE_WORD_V,
    CORE_WORD_K,
    CORE_WORD_LINE,
    CORE_WORD_SEAT,
    CORE_WORD_ROW
};

/* A row number read from shared memory may be damaged: an index beyond the rows becomes row 0. */
static inline uint32_t core__row_at(const struct core *c, uint32_t row)
{
    return CORE_AT_ROWS(c) + (row < c->rows ? row : 0) * CORE_ROW_STRIDE(c);
}

/* The caller's own row number is not read from shared memory. */
static inline uint32_t core__own_row_at(const struct core *c, uint32_t row)
{
    (void)c;
    return CORE_AT_ROWS(c) + row * CORE_ROW_STRIDE(c);
}

/* A row's hint: any row's, and the caller's own. */
static inline uint32_t core__hint_at(const struct core *c, uint32_t row)
{
    return CORE_AT_HINT(c) + (row < c->rows ? row : 0) * CORE_ROW_STRIDE(c);
}

static inline uint32_t core__own_hint_at(const struct core *c, uint32_t row)
{
    (void)c;
    return CORE_AT_HINT(c) + row * CORE_ROW_STRIDE(c);
}

/* The caller's own hint. No other process writes it while the caller is inside the core, so reading
   it is no shared access. */
static inline uint64_t core__own_hint(const struct core *c, uint32_t row)
{
    return atomic_load_explicit(&c->words[core__own_hint_at(c, row)], memory_order_relaxed);
}

static inline uint32_t core__line_at(const struct core *c, uint32_t ticket)
{
    return c->at_line + (ticket & c->line_mask);
}

/* A row's announcements. */
#ifdef CORE_STEPS
static inline uint32_t core__announced_at(const struct core *c, uint32_t row, enum core_slot slot)
{
    assert(row < c->rows); /* an exploration has no visitors */
    return c->at_announced + row * CORE_SLOTS + slot;
}

static inline bool core__announces(const struct core *c, uint32_t row, enum core_slot slot)
{
    uint32_t at = core__announced_at(c, row, slot);
    uint64_t announced = atomic_load(&c->words[at]);
    for (unsigned b = 0; c->buffer != NULL && b < c->buffer->count; b++) {
        announced = c->buffer->word[b] == at ? c->buffer->value[b] : announced;
    }
    return announced != 0;
}
#else
static inline _Atomic uint32_t *core__announced(const struct core *c, uint32_t row,
                                                enum core_slot slot)
{
    uintptr_t at = (uintptr_t)&c->words[CORE_AT_ANNOUNCED(c) + row * CORE_ROW_STRIDE(c)];
    return (_Atomic uint32_t *)at + slot;
}
#endif

/* Do I, V, K name this row and the tag of this cycle? */
static inline bool core__names_i(uint64_t i, uint32_t row, uint32_t cycle)
{
    return core_i_row(i) == row && core_i_tag(i) == (cycle & CORE_TAG_MASK);
}

static inline bool core__names_v(uint64_t v, uint32_t row, uint32_t cycle)
{
    return core_v_row(v) == row && core_v_tag(v) == (cycle & CORE_TAG_MASK);
}

static inline bool core__names_k(uint64_t k, uint32_t row, uint32_t cycle)
{
    return core_k_row(k) == row && core_k_tag(k) == (cycle & CORE_TAG_MASK);
}

/*
 * What a guest, `by`, announces of a word: its author and tag. 0, nothing to announce, in two
 * cases: the author is `by` itself, which starts no cycle meanwhile; or CORE_NOBODY, to which no
 * word returns. `row` is the author of a row's word.
 */
static inline uint32_t core__author(uint64_t word, enum core_kind kind, uint32_t row, uint32_t by)
{
    uint32_t cycle = 0;
    switch (kind) {
    case CORE_WORD_I:
        row = core_i_row(word);
        cycle = core_i_tag(word);
        break;
    case CORE_WORD_V:
        row = core_v_row(word);
        cycle = core_v_tag(word);
        break;
    case CORE_WORD_K:
        row = core_k_row(word);
        cycle = core_k_tag(word);
        break;
    case CORE_WORD_LINE:
        row = core_line_row(word);
        cycle = core_line_cycle(word);
        break;
    case CORE_WORD_SEAT:
        row = core_seat_author(word);
        return row == by || row == CORE_NOBODY
                   ? 0
                   : core_announced_question(row, core_seat_question(word));
    case CORE_WORD_ROW:
        cycle = core_row_cycle(word);
        break;
    }
    return row == by || row == CORE_NOBODY ? 0 : core_announced_cycle(row, cycle);
}

/*
 * Read a word into *x and announce it, before the word is compared and swapped, and before any
 * other word is read to decide that. Until the announcement is withdrawn, or another announcement
 * takes its slot, the word does not return to *x once it has changed. `row` as in core__author.
 *
 * The word is read, announced and read a second time until both reads agree. So *x was in the word
 * after it was announced (reserve.c says why that is enough).
 */
static inline __attribute__((always_inline)) enum core_progress
core__get(struct core *c, struct core_get *f, uint32_t by, enum core_slot slot, enum core_kind kind,
          uint32_t row, uint32_t at, uint64_t *x)
{
    CORE_BEGIN(f);
    CORE_READ(c, f, *x, at);
    CORE_RELY(c, at);
    while (CORE_REPEATS(c) && core__author(*x, kind, row, by) != 0) {
        if (!CORE_DROPS(c, (enum core_guard)(CORE_GUARD_ANNOUNCE_I + kind))) {
            CORE_ANNOUNCE(c, f, by, slot, core__author(*x, kind, row, by));
        }
        if (CORE_DROPS(c, (enum core_guard)(CORE_GUARD_SECOND_I + kind))) {
            break;
        }
        CORE_READ(c, f, f->reread, at);
        CORE_RELY(c, at);
        if (f->reread == *x) {
            break;
        }
        *x = f->reread;
    }
    CORE_FORGET(f->reread);
    CORE_END(f);
}

static inline __attribute__((always_inline)) enum core_progress
core__get_i(struct core *c, struct core_get *f, uint32_t by, uint64_t *x)
{
    return core__get(c, f, by, CORE_SLOT_TOP, CORE_WORD_I, 0, CORE_AT_I(c), x);
}

static inline __attribute__((always_inline)) enum core_progress
core__get_v(struct core *c, struct core_get *f, uint32_t by, uint64_t *x)
{
    return core__get(c, f, by, CORE_SLOT_TOP, CORE_WORD_V, 0, CORE_AT_V(c), x);
}

static inline enum core_progress core__get_place(struct core *c, struct core_get *f, uint32_t by,
                                                 enum core_slot slot, uint32_t ticket, uint64_t *x)
{
    return core__get(c, f, by, slot, CORE_WORD_LINE, 0, core__line_at(c, ticket), x);
}

static inline enum core_progress core__get_seat(struct core *c, struct core_get *f, uint32_t by,
                                                uint32_t seat, uint64_t *x)
{
    return core__get(c, f, by, CORE_SLOT_PLACE, CORE_WORD_SEAT, 0, c->at_seat + seat, x);
}

/* Is this entry the place of ticket t, and not of a ticket of another lap around the line? */
static inline bool core__is_place(const struct core *c, uint64_t e, uint32_t t)
{
    (void)c;
    return (core_line_ticket(e) == (t & CORE_TICKET_MASK) &&
            core_line_verdict(e) != CORE_CLEARED) ||
           CORE_DROPS(c, CORE_GUARD_LAP);
}

/* Does I's row wait or enter in the cycle that I names? Then I is not finished. */
static inline bool core__waits_for_i(const struct core *c, uint64_t r, uint64_t i)
{
    (void)c;
    return (core_row_state(r) == CORE_WAITING || core_row_state(r) == CORE_ENTERING) &&
           (core_i_tag(i) == (core_row_cycle(r) & CORE_TAG_MASK) ||
            CORE_DROPS(c, CORE_GUARD_TAKE_TAG));
}

/* Does V's row leave or resize in the cycle that V names? Then V is not finished. */
static inline bool core__leaves_for_v(const struct core *c, uint64_t r, uint64_t v)
{
    (void)c;
    return core_row_state(r) >= CORE_LEAVING &&
           (core_v_tag(v) == (core_row_cycle(r) & CORE_TAG_MASK) ||
            CORE_DROPS(c, CORE_GUARD_AUTHOR_TAG));
}

/* Is the row in the cycle that the entry names? */
static inline bool core__same_cycle(const struct core *c, uint64_t r, uint64_t e)
{
    (void)c;
    return core_line_cycle(e) == core_row_cycle(r) || CORE_DROPS(c, CORE_GUARD_LINE_TAG);
}

/* Does the row wait in the cycle that the entry names? */
static inline bool core__waits_at(const struct core *c, uint64_t r, uint64_t e)
{
    return core_row_state(r) == CORE_WAITING && core__same_cycle(c, r, e);
}

/* Was the row granted the ticket of this place? Then the place is served, even if still unmarked.
   */
static inline bool core__granted_at(const struct core *c, uint64_t r, uint64_t e)
{
    return core__same_cycle(c, r, e) &&
           (core_row_state(r) == CORE_GRANTED || core_row_state(r) == CORE_LEAVING) &&
           core_row_ticket(r) == core_line_ticket(e);
}

/* Is the place a hole: its guest neither waits in it nor was granted its ticket? */
static inline bool core__is_hole(const struct core *c, uint64_t r, uint64_t e)
{
    return !core__waits_at(c, r, e) &&
           (!core__granted_at(c, r, e) || CORE_DROPS(c, CORE_GUARD_HOLE_GRANTED));
}

/* The entry for the ticket and the row of I; r is the row's word. */
static inline uint64_t core__place_of(uint64_t i, uint64_t r)
{
    return core_line(core_i_issue(i), core_i_row(i), core_row_cycle(r), CORE_UNDECIDED);
}

static inline void core__wake(struct core *c, uint32_t row)
{
    if (c->wake != NULL) {
        c->wake(c->wake_context, row);
    }
}

/* The next number of a run, which is not spent. */
static inline uint32_t core__next_cycle(const struct core_run *run)
{
    return (run->last + 1) & CORE_CYCLE_MASK;
}

static inline uint32_t core__next_question(const struct core_run *run)
{
    return (run->last + 1) & CORE_QUESTION_MASK;
}

/* Does the run have a next cycle, in which the guest may wait? */
static inline bool core__may_wait(const struct core *c, const struct core_run *run)
{
    return !core_run_spent(c, run) && (run->line || !CORE_REPEATS(c));
}

#ifdef CORE_STEPS
/*
 * Conditions for CORE_DOOMED: an operation will change nothing any more. They hold as long as tags
 * do not repeat, because then I, V and a row's cycle never return to an earlier value.
 *
 * I names another guest or cycle, and the row that i names no longer waits for i: finishing i
 * records no place and grants nothing.
 */
static inline bool core__take_is_over(const struct core *c, uint64_t i)
{
    uint64_t r = atomic_load(&c->words[core__row_at(c, core_i_row(i))]);
    return ((atomic_load(&c->words[CORE_AT_I(c)]) ^ i) & 0xffffffffU) != 0 &&
           !core__waits_for_i(c, r, i) && !CORE_DROPS(c, CORE_GUARD_TAKE_I_STILL);
}

/* V has changed, and the row that v names no longer leaves: finishing v delivers nothing and frees
   no row. */
static inline bool core__release_is_over(const struct core *c, uint64_t v)
{
    if (core_v_row(v) != CORE_NOBODY &&
        core__leaves_for_v(c, atomic_load(&c->words[core__row_at(c, core_v_row(v))]), v)) {
        return false;
    }
    return atomic_load(&c->words[CORE_AT_V(c)]) != v && !CORE_DROPS(c, CORE_GUARD_V_STILL) &&
           !CORE_DROPS(c, CORE_GUARD_COUNT_V_STILL);
}

/* I has changed, and the line has room for the ticket after i: the guest will try to take that
   ticket, fail, and do nothing else. v is V as it was read, or 0 if it was not read. */
static inline bool core__in_vain(const struct core *c, uint64_t i, uint64_t v)
{
    uint32_t valid = core_v_valid(v != 0 ? v : atomic_load(&c->words[CORE_AT_V(c)]));
    return atomic_load(&c->words[CORE_AT_I(c)]) != i &&
           core_ticket_after(core_i_issue(i) + 1, valid) <= (int32_t)c->line_mask &&
           !CORE_DROPS(c, CORE_GUARD_STALE_STILL);
}
#endif

/* Reserve a run after *run, with this frame: core_reserve. */
enum core_progress core__reserve(struct core *c, struct core_reserve *f, uint32_t by,
                                 enum core_purpose purpose, struct core_run *run, bool *full);
/* Clear the place of the ticket after f->i, if its entry is 2^20 tickets old: issued.c. */
enum core_progress core_clear_place(struct core *c, struct core_clear *f);
/* Move waiters forward over holes: reap.c. */
enum core_progress core_slide(struct core *c, struct core_slide *f);
/* Publish in V for a row, f->r, that leaves or resizes, and finish it: leave.c. */
enum core_progress core_publish(struct core *c, struct core_publish *f);

#endif
