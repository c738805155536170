/*
 * QUANT: how many of the k valid tickets have each of k+1 colours, in as few bits as there are such
 * counts: binom(2k, k), the multisets of k colours out of k+1.
 *
 * Two forms. To work on, a row of stars and bars: 2k bits, for each colour in turn as many ones
 * (stars) as it has tickets, and a zero (bar) between one colour and the next. Colour 0 is at the
 * low end. For k = 3 and the counts 1,0,2,0:
 *
 *     bit  5 4 3 2 1 0
 *          0 1 1 0 0 1        colour 0 *  bar  (1: none)  bar  2 **  bar  (3: none)
 *
 * To store, the rank of that row among all rows of 2k bits with k ones, in increasing order (the
 * combinatorial number system): 0 .. binom(2k,k)-1.
 *
 * Pure functions. Asking a row for a colour without tickets takes a few instructions however many
 * colours there are; rank and unrank walk the row once.
 */
#ifndef USHER_TICKETS_QUANT_H
#define USHER_TICKETS_QUANT_H

#include <stdint.h>

enum { QUANT_MAX_K = 15 }; /* so that a row fits 32 bits with room to shift */

/* binom(n, r) for the sizes used here: n <= 32. */
static inline uint32_t quant_binom(unsigned n, unsigned r)
{
    uint64_t product = 1;
    if (r > n) {
        return 0;
    }
    for (unsigned i = 1; i <= r; i++) {
        product = product * (n - r + i) / i;
    }
    return (uint32_t)product;
}

/* How many rows there are: binom(2k, k). */
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
    /* below = binom(bit, stars): the rows whose highest remaining star lies below `bit`. */
    uint32_t below = quant_binom(2 * k - 1, stars);
    for (unsigned bit = 2 * k; bit-- > 0 && stars > 0;) {
        if (rank >= below) {
            row |= 1U << bit;
            rank -= below;
            below = bit == 0 ? 0 : (uint32_t)((uint64_t)below * stars / bit);
            stars--;
        } else {
            below = bit == 0 ? 0 : (uint32_t)((uint64_t)below * (bit - stars) / bit);
        }
    }
    return row;
}

/* Where the tickets of `color` begin in the row. Colours 0..k. */
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

/* Move one ticket from one colour to another: QUANT(to) += 1, QUANT(from) -= 1. Numbers that come
   from a spoilt word (no such colour, none of its tickets left) leave the row as it is. */
static inline uint32_t quant_move(unsigned k, uint32_t row, unsigned from, unsigned to)
{
    if (from > k || to > k || quant_count(k, row, from) == 0) {
        return row;
    }
    unsigned at = quant_begin(k, row, from);
    uint32_t low = row & (uint32_t)((1ULL << at) - 1);
    row = low | (row >> (at + 1)) << at; /* a star less ... */
    at = quant_begin(k, row, to);
    low = row & (uint32_t)((1ULL << at) - 1);
    return low | 1U << at | (row >> at) << (at + 1); /* ... and one more */
}

/*
 * NEW_COLOR: the lowest colour with QUANT = 0; there is one, as k tickets cannot have k+1 colours.
 * A colour without tickets is a bar with a bar (or the row's end) right below it: put a bar at each
 * end, find the lowest pair of neighbouring bars, and count the bars before it.
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
