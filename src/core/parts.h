/* What the core's files share: where a word is, and what one word says of another. */
#ifndef USHER_CORE_PARTS_H
#define USHER_CORE_PARTS_H

#include "core/core.h"

#include <stddef.h>
#include <string.h>

static inline uint32_t core__row_at(const struct core *c, uint32_t row)
{
    return c->at_row + row * c->row_stride;
}

static inline uint32_t core__line_at(const struct core *c, uint32_t ticket)
{
    return c->at_line + (ticket & c->line_mask);
}

/* Do I, V, K name this row in this cycle? */
static inline bool core__names_i(const struct core *c, uint64_t i, uint32_t row, uint64_t cycle)
{
    return core_i_row(i) == row && core_i_tag(i) == ((uint32_t)cycle & c->i_tag_mask);
}

static inline bool core__names_v(const struct core *c, uint64_t v, uint32_t row, uint64_t cycle)
{
    return core_v_row(v) == row && core_v_tag(v) == ((uint32_t)cycle & c->v_tag_mask);
}

static inline bool core__names_k(const struct core *c, uint64_t k, uint32_t row, uint64_t cycle)
{
    return core_k_row(k) == row && core_k_tag(k) == ((uint32_t)cycle & c->v_tag_mask);
}

/* Is this entry of the line the place of ticket t, and not of another lap? */
static inline bool core__is_place(const struct core *c, uint64_t e, uint32_t t)
{
    (void)c;
    return core_line_ticket(e) == (t & CORE_TICKET_MASK) || CORE_DROPS(c, CORE_GUARD_LAP);
}

/* Does the row wait in the cycle that I names? */
static inline bool core__waits_for_i(const struct core *c, uint64_t r, uint64_t i)
{
    return core_row_state(r) == CORE_WAITING &&
           (core_i_tag(i) == ((uint32_t)core_row_cycle(r) & c->i_tag_mask) ||
            CORE_DROPS(c, CORE_GUARD_TAKE_TAG));
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

/* A cycle whose tag neither I nor V nor K still names for the row: see words.h. */
static inline uint64_t core__fresh_cycle(const struct core *c, uint64_t cycle, uint32_t row,
                                         uint64_t i, uint64_t v, uint64_t k)
{
    do {
        cycle++;
    } while (!CORE_DROPS(c, CORE_GUARD_FRESH_TAG) &&
             (core__names_i(c, i, row, cycle) || core__names_v(c, v, row, cycle) ||
              core__names_k(c, k, row, cycle)));
    return cycle;
}

enum core_progress core_slide(struct core *c, struct core_slide *f);
enum core_progress core_publish(struct core *c, struct core_publish *f);

#endif
