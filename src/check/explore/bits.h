/* A set of states, one bit each. */
#ifndef USHER_CHECK_BITS_H
#define USHER_CHECK_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct check_bits {
    uint64_t *words;
};

static inline int check_bits_init(struct check_bits *bits, uint32_t states)
{
    bits->words = calloc((size_t)states / 64 + 1, sizeof *bits->words);
    return bits->words == NULL ? -1 : 0;
}

static inline void check_bits_free(struct check_bits *bits)
{
    free(bits->words);
    bits->words = NULL;
}

static inline bool check_bits_has(const struct check_bits *bits, uint32_t state)
{
    return bits->words[state / 64] >> state % 64 & 1;
}

static inline void check_bits_add(struct check_bits *bits, uint32_t state)
{
    bits->words[state / 64] |= 1ULL << state % 64;
}

#endif
