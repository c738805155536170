/*
 * The world's word: what a pool's shared memory does not say. Which processes are dead, which
 * events may still happen, and in which order the waiters arrived.
 *
 *     paused 4 | order 32 | turn 4 | shrinks 4 | grows 4 | gives up 4 | crashes 4 | dead 8 bits
 *
 * dead: one bit a process. crashes to shrinks: how many of these events are left. order: process +
 * 1, 4 bits each, for each guest that has a place and is not granted, in order of arrival. turn: if
 * not 0, only process turn - 1 moves; so an exploration begins with a line (step_limits.queue).
 * paused: how many processes are inside an operation, where that is limited (step_limits.pauses).
 */
#ifndef USHER_MODEL_POOL_WORLD_H
#define USHER_MODEL_POOL_WORLD_H

#include <stdbool.h>
#include <stdint.h>

enum event { CRASH = 1, GIVE_UP, GROW, SHRINK, PAUSE, FLUSH, EVENTS };

enum { LEFT_SHIFT = 8, LEFT_BITS = 4, TURN_SHIFT = 24, ORDER_SHIFT = 28, PAUSED_SHIFT = 60 };

/* The waiters, in order of arrival: 4 bits each. */
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

/* The world with the process last in the order. */
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
