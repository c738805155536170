/* Who waits, in order: a walk along the line that changes nothing. */
#include "core/parts.h"
#include "pool/pool.h"

enum { SAMPLE = 128 }; /* places, to find out how many wait */

void usher__line_begin(const struct usher_pool *pool, struct line_walk *walk)
{
    uint64_t v = atomic_load(&pool->core.words[CORE_AT_V(&pool->core)]);
    uint64_t i = atomic_load(&pool->core.words[CORE_AT_I(&pool->core)]);
    walk->at = core_v_valid(v) + 1;
    walk->last = core_i_issue(i);
    walk->before = 0;
}

bool usher__line_next(const struct usher_pool *pool, struct line_walk *walk, uint32_t *row,
                      uint64_t *word, uint32_t *ticket)
{
    const struct core *c = &pool->core;
    for (uint32_t steps = 0; steps <= c->line_mask; steps++) {
        if (core_ticket_after(walk->at, walk->last) > 0) {
            return false;
        }
        uint32_t t = walk->at++;
        uint64_t e = atomic_load(&c->words[core__line_at(c, t)]);
        uint64_t before = walk->before;
        walk->before = core_line_who(e);
        if (!core__is_place(c, e, t) || core_line_decided(e) || core_line_row(e) >= c->rows ||
            core_line_who(e) == before) {
            continue;
        }
        *word = usher__row_word(pool, core_line_row(e));
        if (core__waits_at(c, *word, e)) {
            *row = core_line_row(e);
            /* the whole ticket, of which the line has the low bits */
            *ticket = walk->last - (uint32_t)core_ticket_after(walk->last, t);
            return true;
        }
    }
    return false;
}

uint32_t usher__line_ahead(struct usher_pool *pool)
{
    struct line_walk walk;
    usher__line_begin(pool, &walk);
    int32_t ahead = core_ticket_after(walk.last, walk.at) + 1; /* negative where seats are free */
    return ahead > 0 ? (uint32_t)ahead : 0;
}

uint32_t usher__line_waiters(struct usher_pool *pool)
{
    struct line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    uint32_t count = 0;
    usher__line_begin(pool, &walk);
    uint32_t first = walk.at;
    while (walk.at - first < SAMPLE && usher__line_next(pool, &walk, &row, &word, &ticket)) {
        count++;
    }
    uint32_t walked = walk.at - first;
    /* What is left of this walk: nothing where seats are free, for then it begins behind its end;
       and a second walk may find another line. */
    int32_t left = core_ticket_after(walk.last, walk.at) + 1;
    if (left <= 0 || walked == 0) {
        return count;
    }
    return count + (uint32_t)((uint64_t)count * (uint32_t)left / walked) + 1;
}
