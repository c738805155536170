/*
 * Short names for a few numbers out of many (1979, Lemma 4.5).
 *
 * A map gives each of m numbers a short name, 1..m, all different. It uses at most m-1 bits of a
 * number. While two numbers agree on the bits chosen so far, choose a bit in which they differ.
 * Each choice splits at least one class, so m-1 choices separate all numbers. A map is the
 * positions of those bits and, for each name, their values.
 *
 * So sets of m numbers up to N need O((log N)^(m-1)) maps, for a fixed m.
 */
#ifndef USHER_PAPERS_SHORT_NAMES_H
#define USHER_PAPERS_SHORT_NAMES_H

#include <stdint.h>

enum { SHORT_NAMES_MOST = 4 }; /* names in one map */

/* Unused bytes and bits are zero. All zero: no map. */
struct short_names {
    uint8_t count; /* m, the number of names */
    /* Positions of the chosen bits, in the order of choice; unneeded ones repeat the last. */
    uint8_t position[SHORT_NAMES_MOST - 1];
    uint16_t codes; /* of name i: bits 4(i-1).., the j-th chosen bit at j */
};

/* The map that separates 1 to SHORT_NAMES_MOST different numbers. numbers[i] has name i+1. */
struct short_names short_names_of(const unsigned *numbers, unsigned count);

/* The short name of a number. For a number outside the set: the least name with the same bits, or
   1. */
unsigned short_name(const struct short_names *map, unsigned number);

/* The number of maps with at most `most` names for numbers of this many bits, the empty map
   included. */
double short_names_maps(unsigned most, unsigned bits);

#endif
