/*
 * The world's word: what the shared memory of a pool does not say, who is dead, what may yet
 * happen, who came when.
 *
 *     dead 8 bits | crashes 4 | gives up 4 | grows 4 | shrinks 4 (left) | turn 4 | order 32 |
 *     paused 4
 *
 * The order has 4 bits for each who has a place and has not been granted, in order of arrival,
 * process + 1.
 *
 * As long as there is a turn, only that process, less one, moves: how an exploration begins with a
 * line (step_limits.queue). paused: how many are in the middle of an operation, where that is
 * limited (step_limits.pauses).
 */
#ifndef USHER_MODEL_POOL_WORLD_H
#define USHER_MODEL_POOL_WORLD_H

#include <stdbool.h>
#include <stdint.h>

enum event { CRASH = 1, GIVE_UP, GROW, SHRINK, PAUSE, FLUSH, EVENTS };

enum { LEFT_SHIFT = 8, LEFT_BITS = 4, TURN_SHIFT = 24, ORDER_SHIFT = 28, PAUSED_SHIFT = 60 };

/* Who waits, in order of arrival: 4 bits each. */
static inline uint64_t world__order(uint64_t world)
{
    return world << (64 - PAUSED_SHIFT) >> (64 - PAUSED_SHIFT + ORDER_SHIFT);
}

static inline unsigned world__paused(uint64_t world)
{
    return (unsigned)(world >> PAUSED_SHIFT);
}

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

static inline uint64_t world__with_order(uint64_t world, uint64_t order)
{
    const uint64_t mask = ((1ULL << (PAUSED_SHIFT - ORDER_SHIFT)) - 1) << ORDER_SHIFT;
    return (world & ~mask) | order << ORDER_SHIFT;
}

static inline uint64_t world__without(uint64_t world, unsigned process)
{
    uint64_t kept = 0;
    unsigned shift = 0;
    for (uint64_t order = world__order(world); order != 0; order >>= 4) {
        if ((order & 15) != process + 1) {
            kept |= (order & 15) << shift;
            shift += 4;
        }
    }
    return world__with_order(world, kept);
}

/* The process is the last in the order. */
static inline uint64_t world__with(uint64_t world, unsigned process)
{
    unsigned shift = 0;
    world = world__without(world, process);
    while (world__order(world) >> shift != 0) {
        shift += 4;
    }
    return world__with_order(world, world__order(world) | (uint64_t)(process + 1) << shift);
}

#endif
