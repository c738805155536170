/* Short names: see short_names.h. */
#include "papers/short_names.h"

#include <assert.h>
#include <stdbool.h>

enum { CODE_BITS = 4 };

static unsigned code_of(const struct short_names *map, unsigned number)
{
    unsigned code = 0;
    for (unsigned j = 0; j + 1 < map->count; j++) {
        code |= (number >> map->position[j] & 1) << j;
    }
    return code;
}

/* Do two numbers agree on the first `chosen` positions? */
static bool alike(const struct short_names *map, unsigned chosen, unsigned a, unsigned b)
{
    for (unsigned j = 0; j < chosen; j++) {
        if ((a ^ b) >> map->position[j] & 1) {
            return false;
        }
    }
    return true;
}

/* The lowest bit that tells two of the numbers apart that agree on all chosen positions; -1 if
   there is none. */
static int next_position(const struct short_names *map, unsigned chosen, const unsigned *numbers,
                         unsigned count)
{
    int lowest = -1;
    for (unsigned a = 0; a < count; a++) {
        for (unsigned b = 0; b < a; b++) {
            if (alike(map, chosen, numbers[a], numbers[b])) {
                int bit = __builtin_ctz(numbers[a] ^ numbers[b]);
                lowest = lowest < 0 || bit < lowest ? bit : lowest;
            }
        }
    }
    return lowest;
}

struct short_names short_names_of(const unsigned *numbers, unsigned count)
{
    struct short_names map = {.count = (uint8_t)count};
    assert(count >= 1 && count <= SHORT_NAMES_MOST);
    for (unsigned j = 0; j + 1 < count; j++) {
        int bit = next_position(&map, j, numbers, count);
        map.position[j] = bit < 0 ? map.position[j - 1] : (uint8_t)bit;
    }
    for (unsigned i = 0; i < count; i++) {
        map.codes = (uint16_t)(map.codes | code_of(&map, numbers[i]) << (CODE_BITS * i));
    }
    return map;
}

unsigned short_name(const struct short_names *map, unsigned number)
{
    unsigned code = code_of(map, number);
    for (unsigned i = 0; i < map->count; i++) {
        if ((map->codes >> (CODE_BITS * i) & ((1U << CODE_BITS) - 1)) == code) {
            return i + 1;
        }
    }
    return 1;
}

double short_names_maps(unsigned most, unsigned bits)
{
    double all = 1; /* the empty map */
    for (unsigned m = 1; m <= most; m++) {
        double maps = 1;
        for (unsigned j = 0; j + 1 < m; j++) {
            maps *= bits * (double)(1U << m); /* a position, and one bit for each name */
        }
        all += maps;
    }
    return all;
}
