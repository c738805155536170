/* The hash of the checker's tables. */
#ifndef USHER_CHECK_MIX_H
#define USHER_CHECK_MIX_H

#include <stdint.h>

/* Mix 64 bits: every input bit affects every output bit, so that neighbours get distant slots. */
static inline uint64_t check_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    return x ^ x >> 32;
}

#endif
