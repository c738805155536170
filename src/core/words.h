/*
 * The shared words of a pool, bit by bit. Pure functions.
 *
 *     I     63         32 31     16 15      0
 *          +-------------+---------+---------+   the last ticket issued, and who took it
 *          |    ISSUE    |   row   |   tag   |
 *          +-------------+---------+---------+
 *     V     63     44 43     28 27     12 11   0
 *          +---------+---------+---------+------+   the last ticket validated; seats owed to a
 *          |  VALID  |  owed   |   row   |  tag |   shrinking pool; who published this
 *          +---------+---------+---------+------+
 *     K     63     48 47     32 31     16 15   0
 *          +---------+---------+---------+------+   the seats of the pool; who changed it last
 *          |  seats  |  unused |   row   |  tag |
 *          +---------+---------+---------+------+
 *     row   63 61 60                20 19      0
 *          +-----+--------------------+---------+   what a guest is doing, in which cycle,
 *          |state|       cycle        | ticket  |   and with which ticket
 *          +-----+--------------------+---------+
 *     line  63     44 43     28 27             0
 *          +---------+---------+----------------+   the place of a ticket: whose; row = NOBODY:
 *          |    t    |   row   |      tag       |   decided, tag says how (SERVED or SKIPPED)
 *          +---------+---------+----------------+
 *     own   63     48 47                     0
 *          +---------+-------------------------+   a guest's second word: its seat, held or held
 *          |  seat   |      not the core's     |   last; the rest is the library's
 *          +---------+-------------------------+
 *     seat  63     48 47     32 31 30          0
 *          +---------+---------+--+------------+   whose it is: held, if that row is in and its own
 *          | row + 1 | row + 1 |d |    count   |   word says so; who asks for it; d: a holder
 *          +---------+---------+--+------------+   died in it; how often asked for, or died in
 *
 * Tickets are compared only while they are fresh, so 20 bits that wrap are enough: a line is at
 * most 2^17 places long, and no ticket is issued while its place still holds an entry of the same
 * number from 2^20 tickets ago (CORE_GUARD_STALE_PLACE). A tag is the low bits of the author's
 * cycle. The tags of I and V may be as short as two bits, because a row never starts a cycle with a
 * tag that I, V or K still names for it. The line's tags are 28 bits: a stale entry could be
 * mistaken only after its row has gone through exactly 2^28 cycles (or a multiple) while the entry
 * stood undecided; and it would cost the order of two guests, never a seat.
 */
#ifndef USHER_CORE_WORDS_H
#define USHER_CORE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

enum core_state {
    CORE_IDLE,
    CORE_WAITING,
    CORE_ENTERING, /* holds its ticket, which was valid before it was taken, once I says so */
    CORE_GRANTED,
    CORE_LEAVING,
    CORE_GROWING,
    CORE_SHRINKING
};

enum {
    CORE_TICKET_BITS = 20,
    CORE_TICKET_MASK = (1 << CORE_TICKET_BITS) - 1,
    CORE_NOBODY = 0xffff,
    CORE_SERVED = 1,
    CORE_SKIPPED = 2,
    CORE_MAX_ROWS = 0xffff, /* numbered from 0, and the next number is nobody's */
    CORE_MAX_SEATS = 0xffff,
    CORE_NO_SEAT = 0xffff
};

#define CORE_LINE_TAG_MASK 0xfffffffULL
#define CORE_CYCLE_MASK 0x1ffffffffffULL
#define CORE_SEAT_DIED (1ULL << 31)
#define CORE_SEAT_COUNT_BITS (CORE_SEAT_DIED - 1)

/* a - b for tickets that wrap: negative if a came before b. */
static inline int32_t core_ticket_after(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << (32 - CORE_TICKET_BITS)) >> (32 - CORE_TICKET_BITS);
}

static inline uint64_t core_i(uint32_t issue, uint32_t row, uint32_t tag)
{
    return (uint64_t)issue << 32 | (uint64_t)row << 16 | tag;
}

static inline uint32_t core_i_issue(uint64_t i)
{
    return (uint32_t)(i >> 32);
}

static inline uint32_t core_i_row(uint64_t i)
{
    return i >> 16 & 0xffff;
}

static inline uint32_t core_i_tag(uint64_t i)
{
    return i & 0xffff;
}

static inline uint64_t core_v(uint32_t valid, uint32_t owed, uint32_t row, uint32_t tag)
{
    return (uint64_t)(valid & CORE_TICKET_MASK) << 44 | (uint64_t)owed << 28 | (uint64_t)row << 12 |
           tag;
}

static inline uint32_t core_v_valid(uint64_t v)
{
    return (uint32_t)(v >> 44);
}

static inline uint32_t core_v_owed(uint64_t v)
{
    return v >> 28 & 0xffff;
}

static inline uint32_t core_v_row(uint64_t v)
{
    return v >> 12 & 0xffff;
}

static inline uint32_t core_v_tag(uint64_t v)
{
    return v & 0xfff;
}

static inline uint64_t core_k(uint32_t seats, uint32_t row, uint32_t tag)
{
    return (uint64_t)seats << 48 | (uint64_t)row << 16 | tag;
}

static inline uint32_t core_k_seats(uint64_t k)
{
    return (uint32_t)(k >> 48);
}

static inline uint32_t core_k_row(uint64_t k)
{
    return k >> 16 & 0xffff;
}

static inline uint32_t core_k_tag(uint64_t k)
{
    return k & 0xffff;
}

static inline uint64_t core_row(enum core_state state, uint64_t cycle, uint32_t ticket)
{
    return (uint64_t)state << 61 | (cycle & CORE_CYCLE_MASK) << 20 | (ticket & CORE_TICKET_MASK);
}

/* The same guest in the same cycle, that was ENTERING and leaves. */
static inline uint64_t core_row_leaves(uint64_t row)
{
    return row + ((uint64_t)(CORE_LEAVING - CORE_ENTERING) << 61);
}

static inline enum core_state core_row_state(uint64_t row)
{
    return (enum core_state)(row >> 61);
}

static inline uint64_t core_row_cycle(uint64_t row)
{
    return row >> 20 & CORE_CYCLE_MASK;
}

static inline uint32_t core_row_ticket(uint64_t row)
{
    return row & CORE_TICKET_MASK;
}

static inline uint64_t core_line(uint32_t ticket, uint32_t row, uint64_t tag)
{
    return (uint64_t)(ticket & CORE_TICKET_MASK) << 44 | (uint64_t)row << 28 |
           (tag & CORE_LINE_TAG_MASK);
}

static inline uint32_t core_line_ticket(uint64_t e)
{
    return (uint32_t)(e >> 44);
}

static inline uint32_t core_line_row(uint64_t e)
{
    return e >> 28 & 0xffff;
}

static inline uint32_t core_line_tag(uint64_t e)
{
    return e & CORE_LINE_TAG_MASK;
}

/* Is the entry that stands in the place of ticket t one of the same number, from long ago? */
static inline bool core_line_stale(uint64_t e, uint32_t t)
{
    return ((core_line_ticket(e) ^ t) & CORE_TICKET_MASK) == 0;
}

static inline bool core_line_decided(uint64_t e)
{
    return core_line_row(e) == CORE_NOBODY;
}

/* Whoever holds a place: the place without its ticket. */
static inline uint64_t core_line_who(uint64_t e)
{
    return e & ((1ULL << 44) - 1);
}

/* A guest's second word. */
static inline uint64_t core_own(uint32_t seat, uint64_t rest)
{
    return (uint64_t)seat << 48 | (rest & ((1ULL << 48) - 1));
}

static inline uint32_t core_own_seat(uint64_t own)
{
    return (uint32_t)(own >> 48);
}

/* Whose a seat is, and who asks for it; CORE_NOBODY if it is nobody. */
static inline uint32_t core_seat_row(uint64_t seat)
{
    return (uint32_t)((seat >> 48) - 1) & 0xffff;
}

static inline uint32_t core_seat_asks(uint64_t seat)
{
    return (uint32_t)((seat >> 32 & 0xffff) - 1) & 0xffff;
}

/* The seat `from` when it is row's, and `asks` asks for it; the rest stays. */
static inline uint64_t core_seat(uint64_t from, uint32_t row, uint32_t asks)
{
    return (uint64_t)((row + 1) & 0xffff) << 48 | (uint64_t)((asks + 1) & 0xffff) << 32 |
           (from & (CORE_SEAT_DIED | CORE_SEAT_COUNT_BITS));
}

/* The same, and this is told from all that was before: when it is asked for, or somebody died in
   it. What else happens to a seat is decided by what is asked, or by its own guest. */
static inline uint64_t core_seat_counted(uint64_t seat, uint64_t most)
{
    return (seat & ~(uint64_t)CORE_SEAT_COUNT_BITS) | ((seat + 1) & most);
}

/* The seat of a row, without any question; is it that? */
static inline uint64_t core_seat_mark(uint32_t row)
{
    return (uint64_t)(row + 1) << 48;
}

static inline bool core_seat_is(uint64_t seat, uint64_t mark)
{
    return (seat & ~CORE_SEAT_COUNT_BITS) == mark;
}

#endif
