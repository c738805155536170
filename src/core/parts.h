/* What the core's files share: where a word is, and what one word says of another. */
#ifndef USHER_CORE_PARTS_H
#define USHER_CORE_PARTS_H

#include "core/core.h"

#include <stddef.h>
#include <string.h>

/* Rows are read from shared memory, which others may have damaged: never an index beyond it. */
static inline uint32_t core__row_at(const struct core *c, uint32_t row)
{
    return CORE_AT_ROWS(c) + (row < c->rows ? row : 0) * CORE_ROW_STRIDE(c);
}

/* One's own row is not read from there. */
static inline uint32_t core__own_at(const struct core *c, uint32_t row)
{
    (void)c;
    return CORE_AT_ROWS(c) + row * CORE_ROW_STRIDE(c);
}

/* A guest's second word, another's and one's own. */
static inline uint32_t core__seat_of_at(const struct core *c, uint32_t row)
{
    return CORE_AT_OWN(c) + (row < c->rows ? row : 0) * CORE_ROW_STRIDE(c);
}

static inline uint32_t core__own_seat_at(const struct core *c, uint32_t row)
{
    (void)c;
    return CORE_AT_OWN(c) + row * CORE_ROW_STRIDE(c);
}

/* One's own second word, which nobody else writes while one is inside the core: one knows it, and
   reading it is no shared access. */
static inline uint64_t core__own(const struct core *c, uint32_t row)
{
    return atomic_load_explicit(&c->words[core__own_seat_at(c, row)], memory_order_relaxed);
}

static inline uint32_t core__line_at(const struct core *c, uint32_t ticket)
{
    return c->at_line + (ticket & c->line_mask);
}

/* Do I, V, K name this row in this cycle? */
static inline bool core__names_i(const struct core *c, uint64_t i, uint32_t row, uint64_t cycle)
{
    (void)c;
    return core_i_row(i) == row && core_i_tag(i) == ((uint32_t)cycle & CORE_I_TAGS(c));
}

static inline bool core__names_v(const struct core *c, uint64_t v, uint32_t row, uint64_t cycle)
{
    (void)c;
    return core_v_row(v) == row && core_v_tag(v) == ((uint32_t)cycle & CORE_V_TAGS(c));
}

static inline bool core__names_k(const struct core *c, uint64_t k, uint32_t row, uint64_t cycle)
{
    (void)c;
    return core_k_row(k) == row && core_k_tag(k) == ((uint32_t)cycle & CORE_V_TAGS(c));
}

/* Is this entry of the line the place of ticket t, and not of another lap? */
static inline bool core__is_place(const struct core *c, uint64_t e, uint32_t t)
{
    (void)c;
    return core_line_ticket(e) == (t & CORE_TICKET_MASK) || CORE_DROPS(c, CORE_GUARD_LAP);
}

/* Does the row wait, or enter, in the cycle that I names? Then what I says is not done yet. */
static inline bool core__waits_for_i(const struct core *c, uint64_t r, uint64_t i)
{
    (void)c;
    return (core_row_state(r) == CORE_WAITING || core_row_state(r) == CORE_ENTERING) &&
           (core_i_tag(i) == ((uint32_t)core_row_cycle(r) & CORE_I_TAGS(c)) ||
            CORE_DROPS(c, CORE_GUARD_TAKE_TAG));
}

/* Does the row leave, or resize, in the cycle that V names? Then what V says is not done yet. */
static inline bool core__leaves_for_v(const struct core *c, uint64_t r, uint64_t v)
{
    (void)c;
    return core_row_state(r) >= CORE_LEAVING &&
           (core_v_tag(v) == ((uint32_t)core_row_cycle(r) & CORE_V_TAGS(c)) ||
            CORE_DROPS(c, CORE_GUARD_AUTHOR_TAG));
}

/* Is the row in the cycle that the line's entry names? */
static inline bool core__same_cycle(const struct core *c, uint64_t r, uint64_t e)
{
    (void)c;
    return core_line_tag(e) == (core_row_cycle(r) & CORE_LINE_TAG_MASK) ||
           CORE_DROPS(c, CORE_GUARD_LINE_TAG);
}

/* Does the row wait in the cycle that the line's entry names? */
static inline bool core__waits_at(const struct core *c, uint64_t r, uint64_t e)
{
    return core_row_state(r) == CORE_WAITING && core__same_cycle(c, r, e);
}

/* Has the row been granted the very ticket of this place? Then it is served, marked or not. */
static inline bool core__granted_at(const struct core *c, uint64_t r, uint64_t e)
{
    return core__same_cycle(c, r, e) &&
           (core_row_state(r) == CORE_GRANTED || core_row_state(r) == CORE_LEAVING) &&
           core_row_ticket(r) == core_line_ticket(e);
}

/* Does nobody wait in this place any more, without having been granted it? */
static inline bool core__is_hole(const struct core *c, uint64_t r, uint64_t e)
{
    return !core__waits_at(c, r, e) &&
           (!core__granted_at(c, r, e) || CORE_DROPS(c, CORE_GUARD_HOLE_GRANTED));
}

/* The place of the ticket that I names, for the row as it is. */
static inline uint64_t core__own_place(uint64_t i, uint64_t r)
{
    return core_line(core_i_issue(i), core_i_row(i), core_row_cycle(r));
}

static inline void core__wake(struct core *c, uint32_t row)
{
    if (c->wake != NULL) {
        c->wake(c->wake_context, row);
    }
}

/* A cycle whose tag neither I nor V still names for the row: see words.h. */
static inline uint64_t core__fresh_cycle(const struct core *c, uint64_t cycle, uint32_t row,
                                         uint64_t i, uint64_t v)
{
    do {
        cycle++;
    } while (!CORE_DROPS(c, CORE_GUARD_FRESH_TAG) &&
             (core__names_i(c, i, row, cycle) || core__names_v(c, v, row, cycle)));
    return cycle;
}

#ifdef CORE_STEPS
/*
 * What will be found to be over, for CORE_DOOMED: I, V and a row's cycle never say again what they
 * have said, as long as tags do not come round.
 *
 * I has gone on to another guest, or another cycle, and the guest it named does not wait any more:
 * its place is not recorded, and it is not granted.
 */
static inline bool core__take_is_over(const struct core *c, uint64_t i)
{
    uint64_t r = atomic_load(&c->words[core__row_at(c, core_i_row(i))]);
    return ((atomic_load(&c->words[CORE_AT_I(c)]) ^ i) & 0xffffffffU) != 0 &&
           !core__waits_for_i(c, r, i) && !CORE_DROPS(c, CORE_GUARD_TAKE_I_STILL) &&
           !CORE_DROPS(c, CORE_GUARD_ENTERING_I_STILL);
}

/* V has gone on: nothing is delivered, and nobody's leaving finished. */
static inline bool core__release_is_over(const struct core *c, uint64_t v)
{
    return atomic_load(&c->words[CORE_AT_V(c)]) != v && !CORE_DROPS(c, CORE_GUARD_V_STILL) &&
           !CORE_DROPS(c, CORE_GUARD_AUTHOR_V_STILL) && !CORE_DROPS(c, CORE_GUARD_COUNT_V_STILL);
}

/* I has gone on, and there is room for the ticket after i (v: V as it was read, or 0 if it has not
   been or does not matter): it is tried to take that, in vain, and nothing else. */
static inline bool core__in_vain(const struct core *c, uint64_t i, uint64_t v)
{
    uint32_t valid = core_v_valid(v != 0 ? v : atomic_load(&c->words[CORE_AT_V(c)]));
    return atomic_load(&c->words[CORE_AT_I(c)]) != i &&
           core_ticket_after(core_i_issue(i) + 1, valid) <= (int32_t)c->line_mask &&
           !CORE_DROPS(c, CORE_GUARD_STALE_STILL);
}
#endif

/* What a place is overwritten with that holds an entry of 2^20 tickets ago: of the lap before. */
static inline uint64_t core__past_place(const struct core *c, uint32_t t)
{
    return core_line(t - c->line_mask - 1, CORE_NOBODY, CORE_SERVED);
}

enum core_progress core_slide(struct core *c, struct core_slide *f);
enum core_progress core_publish(struct core *c, struct core_publish *f);

#endif
