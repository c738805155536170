/*
 * The world's word: what the shared memory of a pool does not say, who is dead, what may yet
 * happen, who came when.
 *
 *     dead 8 bits | crashes 4 | gives up 4 | grows 4 | shrinks 4 (left) | turn 4 | order
 *
 * The order has 4 bits for each who has a place and has not been granted, in order of arrival,
 * process + 1.
 *
 * As long as there is a turn, only that process, less one, moves: how an exploration begins with a
 * line (step_limits.queue).
 */
#ifndef USHER_MODEL_POOL_WORLD_H
#define USHER_MODEL_POOL_WORLD_H

#include <stdbool.h>
#include <stdint.h>

enum event { CRASH = 1, GIVE_UP, GROW, SHRINK, EVENTS };

enum { LEFT_SHIFT = 8, LEFT_BITS = 4, TURN_SHIFT = 24, ORDER_SHIFT = 28 };

static inline unsigned world__left_shift(unsigned event)
{
    return LEFT_SHIFT + (event - 1) * LEFT_BITS;
}

static inline unsigned world__left(uint64_t world, unsigned event)
{
    return world >> world__left_shift(event) & 15;
}

static inline bool world__dead(uint64_t world, unsigned process)
{
    return world >> process & 1;
}

static inline unsigned world__turn(uint64_t world)
{
    return world >> TURN_SHIFT & 15;
}

static inline uint64_t world__with_turn(uint64_t world, unsigned turn)
{
    return (world & ~(15ULL << TURN_SHIFT)) | (uint64_t)turn << TURN_SHIFT;
}

static inline uint64_t world__without(uint64_t world, unsigned process)
{
    uint64_t order = world >> ORDER_SHIFT;
    uint64_t kept = 0;
    unsigned shift = 0;
    for (; order != 0; order >>= 4) {
        if ((order & 15) != process + 1) {
            kept |= (order & 15) << shift;
            shift += 4;
        }
    }
    return (world & ((1ULL << ORDER_SHIFT) - 1)) | kept << ORDER_SHIFT;
}

/* The process is the last in the order. */
static inline uint64_t world__with(uint64_t world, unsigned process)
{
    unsigned shift = ORDER_SHIFT;
    world = world__without(world, process);
    while (world >> shift != 0) {
        shift += 4;
    }
    return world | (uint64_t)(process + 1) << shift;
}

#endif
