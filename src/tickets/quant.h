/*
 * QUANT: for each of k+1 colours, the number of valid tickets of that colour; the numbers sum to k.
 * There are binom(2k, k) such vectors (multisets of k colours out of k+1), and QUANT is stored in
 * as few bits as they need.
 *
 * There are two forms. Functions work on a row of stars and bars, 2k bits: for each colour in turn
 * one 1 (star) per ticket, and one 0 (bar) between two colours. Colour 0 is at the low end. For k =
 * 3 and the counts 1,0,2,0:
 *
 *     bit  5 4 3 2 1 0
 *          0 1 1 0 0 1        colour 0 *  bar  (1: none)  bar  2 **  bar  (3: none)
 *
 * The word stores the rank of that row among all rows of 2k bits with k ones, in increasing order
 * (the combinatorial number system): 0 .. binom(2k,k)-1.
 *
 * Pure functions. quant_free_color takes a few instructions for any number of colours; rank and
 * unrank walk the row once.
 */
#ifndef USHER_TICKETS_QUANT_H
#define USHER_TICKETS_QUANT_H

#include <stdint.h>

enum { QUANT_MAX_K = 15 }; /* a row of 2k bits fits 32 bits, with room to shift */

/* Columns of Pascal's triangle, each from the one before; 0 where r > n, and every / is exact. */
#define QUANT__1(n) ((uint64_t)(n))
#define QUANT__2(n) (QUANT__1(n) * ((n)-1) / 2)
#define QUANT__3(n) (QUANT__2(n) * ((n)-2) / 3)
#define QUANT__4(n) (QUANT__3(n) * ((n)-3) / 4)
#define QUANT__5(n) (QUANT__4(n) * ((n)-4) / 5)
#define QUANT__6(n) (QUANT__5(n) * ((n)-5) / 6)
#define QUANT__7(n) (QUANT__6(n) * ((n)-6) / 7)
#define QUANT__8(n) (QUANT__7(n) * ((n)-7) / 8)
#define QUANT__9(n) (QUANT__8(n) * ((n)-8) / 9)
#define QUANT__10(n) (QUANT__9(n) * ((n)-9) / 10)
#define QUANT__11(n) (QUANT__10(n) * ((n)-10) / 11)
#define QUANT__12(n) (QUANT__11(n) * ((n)-11) / 12)
#define QUANT__13(n) (QUANT__12(n) * ((n)-12) / 13)
#define QUANT__14(n) (QUANT__13(n) * ((n)-13) / 14)
#define QUANT__15(n) (QUANT__14(n) * ((n)-14) / 15)
#define QUANT__ROW(n)                                                                              \
    {                                                                                              \
        1, (uint32_t)QUANT__1(n), (uint32_t)QUANT__2(n), (uint32_t)QUANT__3(n),                    \
            (uint32_t)QUANT__4(n), (uint32_t)QUANT__5(n), (uint32_t)QUANT__6(n),                   \
            (uint32_t)QUANT__7(n), (uint32_t)QUANT__8(n), (uint32_t)QUANT__9(n),                   \
            (uint32_t)QUANT__10(n), (uint32_t)QUANT__11(n), (uint32_t)QUANT__12(n),                \
            (uint32_t)QUANT__13(n), (uint32_t)QUANT__14(n), (uint32_t)QUANT__15(n)                 \
    }

/* binom(n, r) for n < 32 and r <= QUANT_MAX_K. A table, because rank and unrank need dozens. */
static inline uint32_t quant_binom(unsigned n, unsigned r)
{
    static const uint32_t triangle[32][QUANT_MAX_K + 1] = {
        QUANT__ROW(0U),  QUANT__ROW(1U),  QUANT__ROW(2U),  QUANT__ROW(3U),  QUANT__ROW(4U),
        QUANT__ROW(5U),  QUANT__ROW(6U),  QUANT__ROW(7U),  QUANT__ROW(8U),  QUANT__ROW(9U),
        QUANT__ROW(10U), QUANT__ROW(11U), QUANT__ROW(12U), QUANT__ROW(13U), QUANT__ROW(14U),
        QUANT__ROW(15U), QUANT__ROW(16U), QUANT__ROW(17U), QUANT__ROW(18U), QUANT__ROW(19U),
        QUANT__ROW(20U), QUANT__ROW(21U), QUANT__ROW(22U), QUANT__ROW(23U), QUANT__ROW(24U),
        QUANT__ROW(25U), QUANT__ROW(26U), QUANT__ROW(27U), QUANT__ROW(28U), QUANT__ROW(29U),
        QUANT__ROW(30U), QUANT__ROW(31U),
    };
    return n < 32 && r <= QUANT_MAX_K ? triangle[n][r] : 0;
}

/* The number of rows: binom(2k, k). */
static inline uint32_t quant_rows(unsigned k)
{
    return quant_binom(2 * k, k);
}

/* The row in which all k tickets have colour 0. */
static inline uint32_t quant_all_first(unsigned k)
{
    return (uint32_t)((1ULL << k) - 1);
}

static inline uint32_t quant_rank(uint32_t row)
{
    uint32_t rank = 0;
    for (unsigned stars = 1; row != 0; stars++, row &= row - 1) {
        rank += quant_binom((unsigned)__builtin_ctz(row), stars);
    }
    return rank;
}

static inline uint32_t quant_unrank(unsigned k, uint32_t rank)
{
    uint32_t row = 0;
    unsigned stars = k;
    for (unsigned bit = 2 * k; bit-- > 0 && stars > 0;) {
        uint32_t below = quant_binom(bit, stars); /* rows whose highest remaining star is lower */
        if (rank >= below) {
            row |= 1U << bit;
            rank -= below;
            stars--;
        }
    }
    return row;
}

/* The bit at which the tickets of `color` begin in the row. Colours are 0..k. */
static inline unsigned quant_begin(unsigned k, uint32_t row, unsigned color)
{
    uint32_t bars = ~row & (uint32_t)((1ULL << 2 * k) - 1);
    if (color == 0) {
        return 0;
    }
    for (unsigned skip = 1; skip < color; skip++) {
        bars &= bars - 1;
    }
    return (unsigned)__builtin_ctz(bars) + 1;
}

static inline unsigned quant_count(unsigned k, uint32_t row, unsigned color)
{
    return (unsigned)__builtin_ctz(~(row >> quant_begin(k, row, color)));
}

/* Move one ticket from one colour to another: QUANT(to) += 1, QUANT(from) -= 1. Arguments from a
   corrupt word (a colour out of range, or one without tickets) leave the row unchanged. */
static inline uint32_t quant_move(unsigned k, uint32_t row, unsigned from, unsigned to)
{
    if (from > k || to > k || quant_count(k, row, from) == 0) {
        return row;
    }
    unsigned at = quant_begin(k, row, from);
    uint32_t low = row & (uint32_t)((1ULL << at) - 1);
    row = low | (row >> (at + 1)) << at; /* remove a star */
    at = quant_begin(k, row, to);
    low = row & (uint32_t)((1ULL << at) - 1);
    return low | 1U << at | (row >> at) << (at + 1); /* insert a star */
}

/*
 * NEW_COLOR: the lowest colour with QUANT = 0. It exists: k tickets cannot have k+1 colours. A
 * colour without tickets is a bar with a bar (or the row's end) right below it. So put a bar at
 * each end, find the lowest pair of adjacent bars, and count the bars before it.
 */
static inline unsigned quant_free_color(unsigned k, uint32_t row)
{
    uint64_t ends = 1 | 1ULL << (2 * k + 1);
    uint64_t bars = (~((uint64_t)row << 1) & ((1ULL << (2 * k + 1)) - 1)) | ends;
    uint64_t pairs = bars & bars >> 1;
    unsigned at = (unsigned)__builtin_ctzll(pairs);
    return (unsigned)__builtin_popcountll(bars & ((1ULL << at) - 1));
}

#endif
