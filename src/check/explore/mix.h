/* Scatter 64 bits over 64 bits: the hash behind the checker's tables. */
#ifndef USHER_CHECK_MIX_H
#define USHER_CHECK_MIX_H

#include <stdint.h>

/* Every input bit reaches every output bit: neighbouring numbers must not share slots. */
static inline uint64_t check_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    return x ^ x >> 32;
}

#endif
