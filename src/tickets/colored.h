/*
 * Colored tickets: TAKE_NEXT_TICKET, IS_VALID and VALIDATE_NEXT_TICKET of the 1989 paper (Fig. 2),
 * in the versions of its Figs 4, 6 and 7 with two misprints corrected, on one 64-bit word. Pure
 * functions: no atomics, no system calls.
 *
 * Tickets are divided into blocks of M. A ticket is its place in the block (VALUE) and the colour
 * of the block (COLOR). k+1 colours are enough, so the word is bounded; numbered tickets grow for
 * ever.
 *
 *     63    55 54    32+b 32+b-1 32 31                b+c b+c-1  b b-1      0
 *    +--------+----------+---------+---------------------+--------+----------+
 *    | spare  |  ISSUE   |  ISSUE  |        QUANT        | VALID  |  VALID   |
 *    | 9 bits |  COLOR   |  VALUE  |  rank of a multiset | COLOR  |  VALUE   |
 *    +--------+----------+---------+---------------------+--------+----------+
 *      owner's   taking changes              validating changes the low half only
 *                the high half only
 *
 * b bits hold 0..M-1, c bits hold 0..k, q bits hold 0..binom(2k,k)-1 (tickets/quant.h). A shape
 * fits if b+c+q <= 32 and b+c <= 23. These functions never change the spare bits; they belong to
 * the owner of the word.
 *
 * Always, with psi the number of a ticket (block number times M plus VALUE):
 *     psi(VALID) - psi(ISSUE) <= k       psi(ISSUE) - psi(VALID) <= N - k       M > both
 *     QUANT(c) = valid, not yet discarded tickets of colour c;  sum = k;  QUANT(VALID.COLOR) >= 1
 */
#ifndef USHER_TICKETS_COLORED_H
#define USHER_TICKETS_COLORED_H

#include "tickets/quant.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Guards that a mutant drops, to show what each prevents; 0 in correct code. */
enum colored_broken {
    COLORED_LEADS_STRICT = 1,       /* LEADS with > on equal colours, as the scan prints */
    COLORED_QUANT_STALE = 2,        /* validate without updating QUANT */
    COLORED_COLOR_NOT_FREE = 4,     /* NEW_COLOR returns the first colour, free or not */
    COLORED_TRAILING_NEW_COLOR = 8, /* the trailing pointer picks a new colour too */
    COLORED_VALID_EARLY = 16,       /* tickets of ISSUE's block count as valid at once */
    COLORED_OLD_BLOCK_INVALID = 32  /* tickets of a block behind both pointers count as invalid */
};

struct colored_shape {
    uint32_t n, k, m;
    uint8_t value_bits, color_bits, quant_bits; /* b, c, q */
};

/* A ticket as stored in a half word: VALUE in the low bits, COLOR above. */
static inline uint32_t colored_ticket(const struct colored_shape *s, uint32_t value, uint32_t color)
{
    return color << s->value_bits | value;
}

static inline uint32_t colored_value(const struct colored_shape *s, uint32_t ticket)
{
    return ticket & ((1U << s->value_bits) - 1);
}

static inline uint32_t colored_color(const struct colored_shape *s, uint32_t ticket)
{
    return ticket >> s->value_bits & ((1U << s->color_bits) - 1);
}

static inline uint32_t colored__mask(const struct colored_shape *s)
{
    return (1U << (s->value_bits + s->color_bits)) - 1;
}

static inline uint32_t colored_issue(const struct colored_shape *s, uint64_t word)
{
    return (uint32_t)(word >> 32) & colored__mask(s);
}

static inline uint32_t colored_valid(const struct colored_shape *s, uint64_t word)
{
    return (uint32_t)word & colored__mask(s);
}

static inline uint32_t colored_quant(const struct colored_shape *s, uint64_t word)
{
    return (uint32_t)word >> (s->value_bits + s->color_bits);
}

/* Bits of the word that are in use. */
static inline unsigned colored_bits(const struct colored_shape *s)
{
    return 2U * (s->value_bits + s->color_bits) + s->quant_bits;
}

/* Compute the shape for n, k and blocks of m tickets. Return 0, or -ERANGE if it does not fit. */
static inline int colored_shape_with(struct colored_shape *s, uint32_t n, uint32_t k, uint32_t m)
{
    unsigned b = 1;
    unsigned c = 1;
    unsigned q = 1;
    if (k < 1 || k > QUANT_MAX_K || n < 1 || m < 1 || m > 1U << 22) {
        return -ERANGE;
    }
    while (1U << b < m) {
        b++;
    }
    while (1U << c < k + 1) {
        c++;
    }
    while (1U << q < quant_rows(k)) {
        q++;
    }
    if (b + c + q > 32 || b + c > 23) {
        return -ERANGE;
    }
    *s = (struct colored_shape){n, k, m, (uint8_t)b, (uint8_t)c, (uint8_t)q};
    return 0;
}

/* The paper's M = 1 + max(k, N - k). */
static inline uint32_t colored_paper_m(uint32_t n, uint32_t k)
{
    return 1 + (n > 2 * k ? n - k : k);
}

static inline int colored_shape_for(struct colored_shape *s, uint32_t n, uint32_t k)
{
    return colored_shape_with(s, n, k, colored_paper_m(n, k));
}

static inline uint64_t colored_word(const struct colored_shape *s, uint32_t issue, uint32_t valid,
                                    uint32_t quant_rank_)
{
    return (uint64_t)issue << 32 | (uint64_t)quant_rank_ << (s->value_bits + s->color_bits) | valid;
}

/* ISSUE = (0,0), VALID = (k,0), QUANT[0] = k. (The scan prints QUANT all 0.) */
static inline uint64_t colored_start(const struct colored_shape *s)
{
    return colored_word(s, 0, s->k, quant_rank(quant_all_first(s->k)));
}

/* LEADS(A, B): is A ahead of B? If they are equal, each leads the other. (The scan prints > for
   >=.) */
static inline bool colored_leads(const struct colored_shape *s, uint32_t a, uint32_t b,
                                 unsigned broken)
{
    uint32_t av = colored_value(s, a);
    uint32_t bv = colored_value(s, b);
    if (colored_color(s, a) == colored_color(s, b)) {
        return broken & COLORED_LEADS_STRICT ? av > bv : av >= bv;
    }
    return av < bv;
}

/* NEW_COLOR (Fig. 6). */
static inline uint32_t colored_new_color(const struct colored_shape *s, uint64_t word,
                                         unsigned broken)
{
    if (broken & COLORED_COLOR_NOT_FREE) {
        return 0;
    }
    return quant_free_color(s->k, quant_unrank(s->k, colored_quant(s, word)));
}

/* The ticket after `own`, which is ISSUE or VALID; `other` is the other one of the two. */
static inline uint32_t colored_next(const struct colored_shape *s, uint64_t word, uint32_t own,
                                    uint32_t other, unsigned broken)
{
    if (colored_value(s, own) < s->m - 1) {
        return own + 1;
    }
    if (colored_leads(s, own, other, broken) || (broken & COLORED_TRAILING_NEW_COLOR)) {
        return colored_ticket(s, 0, colored_new_color(s, word, broken));
    }
    return colored_ticket(s, 0, colored_color(s, other));
}

/* TAKE_NEXT_TICKET. The ticket taken is the new ISSUE. */
static inline uint64_t colored_take(const struct colored_shape *s, uint64_t word, unsigned broken)
{
    uint32_t issue = colored_issue(s, word);
    uint32_t next = colored_next(s, word, issue, colored_valid(s, word), broken);
    return word ^ (uint64_t)(issue ^ next) << 32;
}

/* IS_VALID(T), Fig. 4. */
static inline bool colored_is_valid(const struct colored_shape *s, uint64_t word, uint32_t ticket,
                                    unsigned broken)
{
    uint32_t valid = colored_valid(s, word);
    uint32_t issue = colored_issue(s, word);
    uint32_t color = colored_color(s, ticket);
    if (color == colored_color(s, valid)) {
        return colored_value(s, ticket) <= colored_value(s, valid);
    }
    if (color == colored_color(s, issue)) {
        return colored_leads(s, valid, issue, broken) || (broken & COLORED_VALID_EARLY);
    }
    return !(broken & COLORED_OLD_BLOCK_INVALID);
}

/* VALIDATE_NEXT_TICKET(T): discard the valid ticket T and validate the next one. */
static inline uint64_t colored_validate(const struct colored_shape *s, uint64_t word,
                                        uint32_t ticket, unsigned broken)
{
    uint32_t valid = colored_valid(s, word);
    uint32_t next = colored_next(s, word, valid, colored_issue(s, word), broken);
    uint32_t from = colored_color(s, ticket);
    uint32_t to = colored_color(s, next);
    word ^= valid ^ next;
    if (from != to && !(broken & COLORED_QUANT_STALE)) {
        uint32_t rank = colored_quant(s, word);
        uint32_t row = quant_move(s->k, quant_unrank(s->k, rank), from, to);
        word ^= (uint64_t)(rank ^ quant_rank(row)) << (s->value_bits + s->color_bits);
    }
    return word;
}

#endif
