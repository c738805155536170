/*
 * Numbered tickets: TAKE_NEXT_TICKET, IS_VALID and VALIDATE_NEXT_TICKET of the 1989 paper (Fig. 2),
 * in the version of its Fig. 3, on one 64-bit word. Pure functions: no atomics, no system calls.
 *
 *     63            32 31             0
 *    +----------------+----------------+
 *    |     ISSUE      |     VALID      |
 *    +----------------+----------------+
 *     last ticket       last ticket
 *     issued            validated
 *
 * Always: -k <= ISSUE - VALID <= N - k. So 32 bits may wrap, and comparisons stay right for every
 * ticket that is less than 2^31 tickets old.
 */
#ifndef USHER_TICKETS_NUMBERED_H
#define USHER_TICKETS_NUMBERED_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t numbered_word(uint32_t issue, uint32_t valid)
{
    return (uint64_t)issue << 32 | valid;
}

static inline uint32_t numbered_issue(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static inline uint32_t numbered_valid(uint64_t word)
{
    return (uint32_t)word;
}

/* ISSUE = 0, VALID = k: the first k tickets are valid before a process takes them. */
static inline uint64_t numbered_start(uint32_t k)
{
    return numbered_word(0, k);
}

/* TAKE_NEXT_TICKET. The ticket taken is the new ISSUE. */
static inline uint64_t numbered_take(uint64_t word)
{
    return numbered_word(numbered_issue(word) + 1, numbered_valid(word));
}

/* IS_VALID(T): T <= VALID, by the sign of the difference, because both wrap. */
static inline bool numbered_is_valid(uint64_t word, uint32_t ticket)
{
    return (int32_t)(numbered_valid(word) - ticket) >= 0;
}

/* VALIDATE_NEXT_TICKET. */
static inline uint64_t numbered_validate(uint64_t word)
{
    return numbered_word(numbered_issue(word), numbered_valid(word) + 1);
}

#endif
