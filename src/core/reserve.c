/*
 * Reserving numbers for cycles and questions: rule 4 of core.h.
 *
 * A guest reads a word, announces its author and tag, and reads it a second time. It may then be
 * stopped for any time before it compares and swaps the word. An author that wants to use a tag
 * again:
 *
 *     1. reads the words that may name it: while one does, guests may still begin to rely on it
 *     2. reads the announcements of all rows
 *
 * It uses the tag only if neither names it. An announcement that counts was made while a word named
 * the tag, that is before step 1, so step 2 sees it. A guest that announces later finds by its
 * second read that the word has changed.
 *
 * Places of the line differ in two ways. In step 1 the whole cycle, 26 bits, is compared, because
 * as many places can name a guest as there are tags. And core_slide may write a place long after it
 * was read; it has announced that, so before a guest waits, the announcements are read before the
 * line as well. In a cycle in which a guest only enters or resizes, no place of its own is written,
 * so the line does not matter.
 *
 * One scan reserves a run of up to 2^12 - 1 numbers, which share its cost.
 */
#include "core/core.h"

#include "core/parts.h"

#include <string.h>

/* Exclude a number from the run. Numbers are compared modulo mask + 1. */
static void exclude(struct core_reserve *f, uint32_t number, uint32_t mask)
{
    uint32_t ahead = (number - f->run.last - 1) & mask;
    if (ahead <= CORE_TAG_MASK) {
        f->named[ahead / 64] |= 1ULL << (ahead % 64);
    }
}

/* The first number from `ahead` on that is excluded (or not). CORE_TAG_MASK + 1: none. */
static uint32_t next_that(const struct core_reserve *f, uint32_t ahead, bool excluded)
{
    while (ahead <= CORE_TAG_MASK) {
        uint64_t word = excluded ? f->named[ahead / 64] : ~f->named[ahead / 64];
        word &= ~0ULL << (ahead % 64);
        if (word != 0) {
            ahead = ahead / 64 * 64 + (uint32_t)__builtin_ctzll(word);
            break;
        }
        ahead = ahead / 64 * 64 + 64;
    }
    return ahead <= CORE_TAG_MASK ? ahead : CORE_TAG_MASK + 1;
}

/* The next row, from `row` on, that may have announced anything. rows + visitors: none. rows_used
   is read here, that is after the words of step 1. */
static uint32_t next_row(const struct core *c, uint32_t row)
{
    uint32_t used = c->rows_used != NULL ? atomic_load(c->rows_used) : c->rows;
    return row < used || row >= c->rows ? row : c->rows;
}

static enum core_progress scan_announced(struct core *c, struct core_reserve *f)
{
    CORE_BEGIN(&f->scan);
    for (f->at_row = next_row(c, 0); f->at_row < c->rows + c->visitors;
         f->at_row = next_row(c, f->at_row + 1)) {
        if (f->at_row == f->by) {
            continue;
        }
        for (f->at_slot = 0; f->at_slot < CORE_SLOTS; f->at_slot++) {
            CORE_READ_ANNOUNCED(c, &f->scan, f->word, f->at_row, (enum core_slot)f->at_slot);
            if (core_announced_of((uint32_t)f->word, f->by, f->purpose == CORE_TO_ASK) &&
                !CORE_DROPS(c, CORE_GUARD_SCAN_ANNOUNCED)) {
                exclude(f, core_announced_tag((uint32_t)f->word), CORE_TAG_MASK);
            }
            CORE_FORGET(f->word);
        }
    }
    CORE_FORGET(f->at_row);
    CORE_FORGET(f->at_slot);
    CORE_END(&f->scan);
}

/* I, V and K. */
static enum core_progress scan_published(struct core *c, struct core_reserve *f)
{
    CORE_BEGIN(&f->scan);
    CORE_READ(c, &f->scan, f->word, CORE_AT_I(c));
    if (core_i_row(f->word) == f->by && !CORE_DROPS(c, CORE_GUARD_SCAN_I)) {
        exclude(f, core_i_tag(f->word), CORE_TAG_MASK);
    }
    CORE_FORGET(f->word);
    CORE_READ(c, &f->scan, f->word, CORE_AT_V(c));
    if (core_v_row(f->word) == f->by && !CORE_DROPS(c, CORE_GUARD_SCAN_V)) {
        exclude(f, core_v_tag(f->word), CORE_TAG_MASK);
    }
    CORE_FORGET(f->word);
    CORE_READ(c, &f->scan, f->word, CORE_AT_K(c));
    if (core_k_row(f->word) == f->by && !CORE_DROPS(c, CORE_GUARD_SCAN_K)) {
        exclude(f, core_k_tag(f->word), CORE_TAG_MASK);
    }
    CORE_FORGET(f->word);
    CORE_END(&f->scan);
}

static enum core_progress scan_line(struct core *c, struct core_reserve *f)
{
    CORE_BEGIN(&f->scan);
    for (f->at_row = 0; f->at_row <= c->line_mask; f->at_row++) {
        CORE_READ(c, &f->scan, f->word, c->at_line + f->at_row);
        if (core_line_row(f->word) == f->by && !CORE_DROPS(c, CORE_GUARD_SCAN_LINE)) {
            exclude(f, core_line_cycle(f->word), CORE_CYCLE_MASK);
        }
        CORE_FORGET(f->word);
    }
    CORE_FORGET(f->at_row);
    CORE_END(&f->scan);
}

static enum core_progress scan_seats(struct core *c, struct core_reserve *f)
{
    CORE_BEGIN(&f->scan);
    for (f->at_row = 0; f->at_row < c->seats; f->at_row++) {
        CORE_READ(c, &f->scan, f->word, c->at_seat + f->at_row);
        if (core_seat_author(f->word) == f->by && !CORE_DROPS(c, CORE_GUARD_SCAN_SEATS)) {
            exclude(f, core_seat_question(f->word), CORE_QUESTION_MASK);
        }
        CORE_FORGET(f->word);
    }
    CORE_FORGET(f->at_row);
    CORE_END(&f->scan);
}

/* Choose the first run of numbers that are not excluded. It ends where the tag would overflow,
   because repeat.h adds to the tag. */
static void choose(struct core_reserve *f)
{
    uint32_t begin = next_that(f, 0, false);
    uint32_t end = next_that(f, begin, true);
    uint32_t over = begin + CORE_TAG_MASK + 1 - ((f->run.last + 1 + begin) & CORE_TAG_MASK);
    end = end < over ? end : over;
    f->full = begin > CORE_TAG_MASK;
    begin = f->full ? 0 : begin;
    end = f->full ? 0 : end;
    f->run.end = (f->run.last + end) & CORE_CYCLE_MASK;
    f->run.last = (f->run.last + begin) & CORE_CYCLE_MASK;
    f->run.line = f->purpose == CORE_TO_WAIT;
}

enum core_progress core_reserve(struct core *c, struct core_reserve *f)
{
    CORE_BEGIN(f);
    memset(f->named, 0, sizeof f->named);
    exclude(f, f->run.last, CORE_TAG_MASK); /* the row, or a seat, may still have it */
    if ((f->purpose == CORE_TO_WAIT && !CORE_DROPS(c, CORE_GUARD_SCAN_FIRST)) ||
        CORE_DROPS(c, CORE_GUARD_SCAN_ORDER)) {
        CORE_CALL(f, scan_announced(c, f));
    }
    if (f->purpose == CORE_TO_WAIT) {
        CORE_CALL(f, scan_line(c, f));
    }
    if (f->purpose == CORE_TO_ASK) {
        CORE_CALL(f, scan_seats(c, f));
    } else {
        CORE_CALL(f, scan_published(c, f));
    }
    if (!CORE_DROPS(c, CORE_GUARD_SCAN_ORDER)) {
        CORE_CALL(f, scan_announced(c, f));
    }
    choose(f);
    CORE_FORGET(f->named);
    CORE_END(f);
}

enum core_progress core__reserve(struct core *c, struct core_reserve *f, uint32_t by,
                                 enum core_purpose purpose, struct core_run *run, bool *full)
{
    CORE_BEGIN(&f->call);
    CORE_FRESH(*f);
    f->by = by;
    f->purpose = purpose;
    f->run = *run;
    CORE_CALL(&f->call, core_reserve(c, f));
    *run = f->run;
    *full = f->full;
    CORE_FORGET(*f);
    CORE_END(&f->call);
}
