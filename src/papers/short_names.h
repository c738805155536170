/*
 * Short names for a few numbers out of many (1979, Lemma 4.5).
 *
 * A map gives each number of a set of m a short name, 1..m, so that no two of the set share one.
 * It looks at m-1 bits of a number at most: of the numbers that agree on the bits chosen so far,
 * two differ in some bit, which is chosen next; each choice splits at least one class, so m-1
 * choices split all. A map is the positions of those bits and, for each name, what the bits are.
 *
 * So sets of numbers up to N need O((log N)^(m-1)) maps, for any m that is fixed.
 */
#ifndef USHER_PAPERS_SHORT_NAMES_H
#define USHER_PAPERS_SHORT_NAMES_H

#include <stdint.h>

enum { SHORT_NAMES_MOST = 4 }; /* of one map */

/* Bytes and bits that are not in use are zero. All zero: no map. */
struct short_names {
    uint8_t count;                          /* m: names there are */
    uint8_t position[SHORT_NAMES_MOST - 1]; /* of the bits, in the order in which they were chosen;
                                               what is not needed repeats the last one */
    uint16_t codes;                         /* of name i: bits 4(i-1).., the j-th bit chosen at j */
};

/* The map that tells these apart: 1 to SHORT_NAMES_MOST different numbers. numbers[i] has name
   i+1. */
struct short_names short_names_of(const unsigned *numbers, unsigned count);

/* The short name of a number. Of one that is not in the set: the least name with the same bits,
   or 1. */
unsigned short_name(const struct short_names *map, unsigned number);

/* How many maps there are of at most `most` names for numbers of so many bits, no map included. */
double short_names_maps(unsigned most, unsigned bits);

#endif
