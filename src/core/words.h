/*
 * The shared words of a pool, bit by bit, as pure functions over one word.
 *
 *     I     63         32 31     16 15 12 11   0
 *          +-------------+---------+-----+------+   ISSUE: the last ticket issued.
 *          |    ISSUE    |   row   |  0  |  tag |   Author: the guest that took it.
 *          +-------------+---------+-----+------+
 *     V     63     44 43     28 27     12 11   0
 *          +---------+---------+---------+------+   VALID: the last valid ticket.
 *          |  VALID  |  owed   |   row   |  tag |   owed: seats that a shrunk pool must still take
 *          +---------+---------+---------+------+   back. Author: the guest that left or resized.
 *     K     63     48 47     32 31     16 15 12 11   0
 *          +---------+---------+---------+-----+------+   seats: the number of seats.
 *          |  seats  |    0    |   row   |  0  |  tag |   Author: the guest that resized last.
 *          +---------+---------+---------+-----+------+
 *     row   63 61 60  46 45          20 19      0
 *          +-----+------+--------------+---------+   A guest's state, its cycle (one per request)
 *          |state|  0   |    cycle     | ticket  |   and its ticket; while it resizes, how many
 *          +-----+------+--------------+---------+   seats it wants. Author: the guest itself.
 *     line  63     44 43     28 27          2 1  0
 *          +---------+---------+-------------+----+   The place of ticket t. Author: the guest that
 *          |    t    |   row   |    cycle    |  v |   waits there. v: the verdict, core_verdict.
 *          +---------+---------+-------------+----+
 *     hint  63     48 47                     0
 *          +---------+-------------------------+   A row's second word. seat: the seat that the
 *          |  seat   |      not the core's     |   guest holds, held last, or is about to ask for.
 *          +---------+-------------------------+   The low bits are the library's.
 *     seat  63     48 47     32 31 30 29 26 25        0
 *          +---------+---------+--+--+-----+------------+   The first row is the seat's row. The
 *          | row + 1 | row + 1 |d |o |  0  |  question  |   second is the author: the guest that
 *          +---------+---------+--+--+-----+------------+   asked for it or sat down last; and its
 *                                                           question's number. d: a holder died in
 *                                                           it. o: the question is open.
 *     announced  31 30 29 28 27     12 11   0
 *          +--+-----+--+---------+------+   Four of 32 bits in each row: the author and the tag of
 *          |1 |  0  |q |   row   |  tag |   a word that the row's owner will compare and swap.
 *          +--+-----+--+---------+------+   q: a question's tag, not a cycle's. 0: nothing.
 *
 * A tag is the low 12 bits of its author's cycle or question. Row 0xffff is CORE_NOBODY.
 *
 * A row is *in* if it is GRANTED, or if it is ENTERING and I names its row and its tag. A seat is
 * held if its row is in and that row's hint is this seat.
 *
 * Every field repeats. No compare-and-swap succeeds on a value that was replaced after it was read:
 *
 *   field       repeats after               why that is harmless
 *   ISSUE       2^32 tickets                I differs by its author's tag.
 *   VALID, t,   2^20 tickets                Two tickets are compared only while both are in use,
 *   row.ticket                              and fewer than 2^19 are. V and line differ by their
 *                                           author's tag or cycle.
 *   owed        any two resizes             V differs by its author's tag.
 *   seats       any two resizes             K differs by its author's tag.
 *   tag         2^12 cycles of its author   A guest announces the author and the tag that it read,
 *                                           reads the word a second time, and only then relies on
 *                                           it. An author starts no cycle with a tag that I, V or
 *                                           K names or that is announced (reserve.c).
 *   cycle       2^26 cycles of its author   The low bits are the tag. And no guest waits in a cycle
 *                                           that a place of the line still names.
 *   state, v,   one cycle or question       Under one author and tag they change one way: states
 *   d, o                                    as in core.h; v from UNDECIDED to SERVED or SKIPPED to
 *                                           CLEARED; o from 1 to 0; d from 0 to 1.
 *   question    2^26 questions of its       As for cycles: no question starts with a number that a
 *               author                      seat still has, or with a tag that is announced.
 *   row + 1     any two holders             A seat differs by its author's question.
 *   hint        -                           Never compared. Only its guest changes its seat.
 *   announced   -                           Never compared. Only the row's owner writes it.
 *
 * A row can show one value twice. A guest that loses the race for I sets its row from ENTERING back
 * to IDLE, and may enter with the same cycle and ticket later. That is harmless: other processes
 * compare an ENTERING row only if I names its cycle, which I has not done yet, or if its owner is
 * dead.
 *
 * An exploration can shorten tickets, tags and cycles until they do repeat (CORE_STEPS, below).
 */
#ifndef USHER_CORE_WORDS_H
#define USHER_CORE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

enum core_state {
    CORE_IDLE,
    CORE_WAITING,
    CORE_ENTERING, /* tries to take a ticket that is already valid; has it once I names the row */
    CORE_GRANTED,
    CORE_LEAVING,
    CORE_GROWING,
    CORE_SHRINKING
};

/* What happened to a place. A verdict leaves the author of the place as it was. */
enum core_verdict {
    CORE_UNDECIDED,
    CORE_SERVED,  /* its guest was granted the ticket */
    CORE_SKIPPED, /* its guest had gone: VALID moved on to the next ticket */
    CORE_CLEARED  /* t is about to be issued again: this is not the place of the new ticket t */
};

enum {
    CORE_NOBODY = 0xffff,
    CORE_MAX_ROWS = 0xffff, /* rows 0 to 0xfffe; 0xffff is CORE_NOBODY */
    CORE_MAX_SEATS = 0xffff,
    CORE_NO_SEAT = 0xffff
};

#ifdef CORE_STEPS
/* The widths in bits that an exploration uses. The exploring thread sets them before it calls the
   core. */
struct core_widths {
    unsigned issue, ticket, tag, cycle, question;
};
extern _Thread_local struct core_widths core_widths;
#define CORE_TICKET_BITS core_widths.ticket
#define CORE_ISSUE_MASK ((uint32_t)((1ULL << core_widths.issue) - 1))
#define CORE_TAG_MASK ((1U << core_widths.tag) - 1)
#define CORE_CYCLE_MASK ((1U << core_widths.cycle) - 1)
#define CORE_QUESTION_MASK ((1U << core_widths.question) - 1)
#else
#define CORE_TICKET_BITS 20
#define CORE_ISSUE_MASK 0xffffffffU
#define CORE_TAG_MASK 0xfffU
#define CORE_CYCLE_MASK 0x3ffffffU
#define CORE_QUESTION_MASK 0x3ffffffU
#endif
#define CORE_TICKET_MASK ((1U << CORE_TICKET_BITS) - 1)

#define CORE_SEAT_DIED (1ULL << 31)
#define CORE_SEAT_OPEN (1ULL << 30)

/* a - b for tickets that wrap: negative if a was issued before b. */
static inline int32_t core_ticket_after(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << (32 - CORE_TICKET_BITS)) >> (32 - CORE_TICKET_BITS);
}

static inline uint64_t core_i(uint32_t issue, uint32_t row, uint32_t cycle)
{
    return (uint64_t)(issue & CORE_ISSUE_MASK) << 32 | (uint64_t)row << 16 |
           (cycle & CORE_TAG_MASK);
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
    return (uint32_t)i & CORE_TAG_MASK;
}

static inline uint64_t core_v(uint32_t valid, uint32_t owed, uint32_t row, uint32_t cycle)
{
    return (uint64_t)(valid & CORE_TICKET_MASK) << 44 | (uint64_t)owed << 28 | (uint64_t)row << 12 |
           (cycle & CORE_TAG_MASK);
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
    return (uint32_t)v & CORE_TAG_MASK;
}

static inline uint64_t core_k(uint32_t seats, uint32_t row, uint32_t cycle)
{
    return (uint64_t)seats << 48 | (uint64_t)row << 16 | (cycle & CORE_TAG_MASK);
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
    return (uint32_t)k & CORE_TAG_MASK;
}

static inline uint64_t core_row(enum core_state state, uint32_t cycle, uint32_t ticket)
{
    return (uint64_t)state << 61 | (uint64_t)(cycle & CORE_CYCLE_MASK) << 20 |
           (ticket & CORE_TICKET_MASK);
}

/* An ENTERING row, changed to LEAVING. */
static inline uint64_t core_row_leaves(uint64_t row)
{
    return row + ((uint64_t)(CORE_LEAVING - CORE_ENTERING) << 61);
}

static inline enum core_state core_row_state(uint64_t row)
{
    return (enum core_state)(row >> 61);
}

static inline uint32_t core_row_cycle(uint64_t row)
{
    return (uint32_t)(row >> 20) & CORE_CYCLE_MASK;
}

static inline uint32_t core_row_ticket(uint64_t row)
{
    return (uint32_t)row & CORE_TICKET_MASK;
}

static inline uint64_t core_line(uint32_t ticket, uint32_t row, uint32_t cycle,
                                 enum core_verdict verdict)
{
    return (uint64_t)(ticket & CORE_TICKET_MASK) << 44 | (uint64_t)row << 28 |
           (uint64_t)(cycle & CORE_CYCLE_MASK) << 2 | verdict;
}

static inline uint32_t core_line_ticket(uint64_t e)
{
    return (uint32_t)(e >> 44);
}

static inline uint32_t core_line_row(uint64_t e)
{
    return e >> 28 & 0xffff;
}

static inline uint32_t core_line_cycle(uint64_t e)
{
    return (uint32_t)(e >> 2) & CORE_CYCLE_MASK;
}

static inline enum core_verdict core_line_verdict(uint64_t e)
{
    return (enum core_verdict)(e & 3);
}

/* The entry with this verdict. */
static inline uint64_t core_line_with(uint64_t e, enum core_verdict verdict)
{
    return (e & ~3ULL) | verdict;
}

/* The entry's guest at the place of another ticket, undecided. */
static inline uint64_t core_line_moved(uint64_t e, uint32_t ticket)
{
    return core_line(ticket, core_line_row(e), core_line_cycle(e), CORE_UNDECIDED);
}

/* Before ticket t is issued: is this the entry of the ticket of the same number, 2^20 tickets ago?
   Then the place must be cleared first. */
static inline bool core_line_stale(uint64_t e, uint32_t t)
{
    return ((core_line_ticket(e) ^ t) & CORE_TICKET_MASK) == 0 &&
           core_line_verdict(e) != CORE_CLEARED;
}

static inline bool core_line_decided(uint64_t e)
{
    return core_line_verdict(e) != CORE_UNDECIDED;
}

/* The guest of a place and its cycle: the entry without ticket and verdict. */
static inline uint64_t core_line_who(uint64_t e)
{
    return (e & ((1ULL << 44) - 1)) >> 2;
}

/* A row's hint; `rest` keeps the library's bits. */
static inline uint64_t core_hint(uint32_t seat, uint64_t rest)
{
    return (uint64_t)seat << 48 | (rest & ((1ULL << 48) - 1));
}

static inline uint32_t core_hint_seat(uint64_t hint)
{
    return (uint32_t)(hint >> 48);
}

/* A seat. Both rows may be CORE_NOBODY. */
static inline uint64_t core_seat(uint32_t row, uint32_t author, uint32_t question)
{
    return (uint64_t)((row + 1) & 0xffff) << 48 | (uint64_t)((author + 1) & 0xffff) << 32 |
           (question & CORE_QUESTION_MASK);
}

static inline uint32_t core_seat_row(uint64_t seat)
{
    return (uint32_t)((seat >> 48) - 1) & 0xffff;
}

static inline uint32_t core_seat_author(uint64_t seat)
{
    return (uint32_t)((seat >> 32 & 0xffff) - 1) & 0xffff;
}

static inline uint32_t core_seat_question(uint64_t seat)
{
    return (uint32_t)seat & CORE_QUESTION_MASK;
}

/* The guest that asks for the seat; CORE_NOBODY if no question is open. */
static inline uint32_t core_seat_asks(uint64_t seat)
{
    return seat & CORE_SEAT_OPEN ? core_seat_author(seat) : CORE_NOBODY;
}

/* The seat with an open question of `author`. */
static inline uint64_t core_seat_asked(uint64_t seat, uint32_t author, uint32_t question)
{
    return core_seat(core_seat_row(seat), author, question) | (seat & CORE_SEAT_DIED) |
           CORE_SEAT_OPEN;
}

/* The seat with its question closed: it stays with its row, or goes to the author. */
static inline uint64_t core_seat_settled(uint64_t seat, bool stays)
{
    uint64_t row = stays ? seat >> 48 : seat >> 32 & 0xffff;
    return row << 48 | (seat & 0xffffffffffffULL & ~CORE_SEAT_OPEN);
}

/* The bits of a seat whose row is this one, with no open question and no dead holder. */
static inline uint64_t core_seat_mark(uint32_t row)
{
    return (uint64_t)(row + 1) << 48;
}

static inline bool core_seat_is(uint64_t seat, uint64_t mark)
{
    return (seat & (0xffffULL << 48 | CORE_SEAT_DIED | CORE_SEAT_OPEN)) == mark;
}

/* An announcement of the author and the tag of a word. 0 announces nothing. */
static inline uint32_t core_announced_cycle(uint32_t row, uint32_t cycle)
{
    return 1U << 31 | row << 12 | (cycle & CORE_TAG_MASK);
}

static inline uint32_t core_announced_question(uint32_t row, uint32_t question)
{
    return 1U << 31 | 1U << 28 | row << 12 | (question & CORE_TAG_MASK);
}

/* Does the announcement name this row, and a question (or a cycle)? */
static inline bool core_announced_of(uint32_t announced, uint32_t row, bool question)
{
    return announced >> 12 == (1U << 19 | (question ? 1U << 16 : 0U) | row);
}

static inline uint32_t core_announced_tag(uint32_t announced)
{
    return announced & CORE_TAG_MASK;
}

#endif
