/*
 * The shared words of a pool, bit by bit. Pure functions.
 *
 *     I     63         32 31     16 15 12 11   0
 *          +-------------+---------+-----+------+   the last ticket issued, and its author: the
 *          |    ISSUE    |   row   |  0  |  tag |   guest that took it
 *          +-------------+---------+-----+------+
 *     V     63     44 43     28 27     12 11   0
 *          +---------+---------+---------+------+   the last ticket validated; seats owed to a
 *          |  VALID  |  owed   |   row   |  tag |   shrinking pool; its author: the guest that left
 *          +---------+---------+---------+------+
 *     K     63     48 47     32 31     16 15 12 11   0
 *          +---------+---------+---------+-----+------+   the seats of the pool; its author: the
 *          |  seats  |    0    |   row   |  0  |  tag |   guest that changed it last
 *          +---------+---------+---------+-----+------+
 *     row   63 61 60  46 45          20 19      0
 *          +-----+------+--------------+---------+   what a guest is doing, in which cycle, and
 *          |state|  0   |    cycle     | ticket  |   with which ticket
 *          +-----+------+--------------+---------+
 *     line  63     44 43     28 27          2 1  0
 *          +---------+---------+-------------+----+   the place of ticket t; its author: the guest
 *          |    t    |   row   |    cycle    |  v |   that has it; v: the verdict, core_verdict
 *          +---------+---------+-------------+----+
 *     own   63     48 47                     0
 *          +---------+-------------------------+   a guest's second word: its seat, held or held
 *          |  seat   |      not the core's     |   last; the rest is the library's
 *          +---------+-------------------------+
 *     seat  63     48 47     32 31 30 29 26 25        0
 *          +---------+---------+--+--+-----+------------+   whose it is: held, if that row is in
 *          | row + 1 | row + 1 |d |o |  0  |  question  |   and its own word says so; its author:
 *          +---------+---------+--+--+-----+------------+   the guest that asked or sat down last;
 *                                                           d: a holder died in it; o: the question
 *                                                           is open; the author's question number
 *     announced  31 30 29 28 27     12 11   0
 *          +--+-----+--+---------+------+   four of 32 bits for each guest and visitor: the author
 *          |1 |  0  |q |   row   |  tag |   of a word that it will compare and swap; q: the tag is
 *          +--+-----+--+---------+------+   of a question, not of a cycle; 0: nothing
 *
 * A tag is the low 12 bits of its author's cycle, or of its question.
 *
 * Every field repeats. No compare-and-swap succeeds on a value that was replaced after it was read:
 *
 *     field       repeats after               why that is harmless
 *     ISSUE       2^32 tickets                I differs by its author's tag
 *     VALID, t,   2^20 tickets                two tickets are compared only while both are in use,
 *     row.ticket                              and those are fewer than 2^19; V and line differ by
 *                                             their author's tag or cycle
 *     owed        any two resizes             V differs by its author's tag
 *     seats       any two resizes             K differs by its author's tag
 *     tag         2^12 cycles of its author   a guest announces the author and the tag of what it
 *                                             read, reads the word again, and then relies on it;
 *                                             an author starts no cycle with a tag that I, V or K
 *                                             name, or that is announced (reserve.c)
 *     cycle       2^26 cycles of its author   its low bits are the tag; and no guest waits in a
 *                                             cycle that a place of the line still names
 *     state, v,   within one cycle or         under one author and tag they change in one
 *     d, o        question                    direction: core.h has the order of states; v:
 *                                             undecided, SERVED or SKIPPED, CLEARED; o: 1, 0;
 *                                             d: 0, 1
 *     question    2^26 questions of its       as for cycles: no question starts with a number that
 *                 author                      a seat still has, or with a tag that is announced
 *     row + 1     any two holders             a seat differs by its author's question
 *     own         -                           it is never compared; only its guest changes the seat
 *     announced   -                           it is never compared; only its row's owner writes it
 *
 * A row can show one value twice: a guest that loses a race to enter sets its row back to IDLE, and
 * enters with the same cycle and perhaps the same ticket again. Nobody compares a row that enters,
 * unless I names that cycle, which it has not done yet, or the row's owner is dead.
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
    CORE_ENTERING, /* holds its ticket, which was valid before it was taken, once I says so */
    CORE_GRANTED,
    CORE_LEAVING,
    CORE_GROWING,
    CORE_SHRINKING
};

/* What became of a place. A verdict keeps the author of the place. */
enum core_verdict {
    CORE_UNDECIDED,
    CORE_SERVED,  /* its guest has been granted the ticket */
    CORE_SKIPPED, /* its guest had gone: the next ticket is valid in its stead */
    CORE_CLEARED  /* the ticket's number comes round: this is not the place of the new ticket */
};

enum {
    CORE_NOBODY = 0xffff,
    CORE_MAX_ROWS = 0xffff, /* numbered from 0, and the next number is nobody's */
    CORE_MAX_SEATS = 0xffff,
    CORE_NO_SEAT = 0xffff
};

#ifdef CORE_STEPS
/* How many bits an exploration keeps of each; set by the exploring thread before it calls the core.
   */
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

/* a - b for tickets that wrap: negative if a came before b. */
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

/* The same guest in the same cycle, that was ENTERING and leaves. */
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

/* The same place of the same guest, with this verdict. */
static inline uint64_t core_line_with(uint64_t e, enum core_verdict verdict)
{
    return (e & ~3ULL) | verdict;
}

/* The guest of this entry at the place of another ticket, undecided. */
static inline uint64_t core_line_moved(uint64_t e, uint32_t ticket)
{
    return core_line(ticket, core_line_row(e), core_line_cycle(e), CORE_UNDECIDED);
}

/* Does the entry stand in for a ticket of the number t that was issued a whole round ago? Asked
   before ticket t is issued: the place must be cleared first. */
static inline bool core_line_stale(uint64_t e, uint32_t t)
{
    return ((core_line_ticket(e) ^ t) & CORE_TICKET_MASK) == 0 &&
           core_line_verdict(e) != CORE_CLEARED;
}

static inline bool core_line_decided(uint64_t e)
{
    return core_line_verdict(e) != CORE_UNDECIDED;
}

/* The guest of a place: the entry without its ticket and its verdict. */
static inline uint64_t core_line_who(uint64_t e)
{
    return (e & ((1ULL << 44) - 1)) >> 2;
}

/* A guest's second word. */
static inline uint64_t core_hint(uint32_t seat, uint64_t rest)
{
    return (uint64_t)seat << 48 | (rest & ((1ULL << 48) - 1));
}

static inline uint32_t core_hint_seat(uint64_t hint)
{
    return (uint32_t)(hint >> 48);
}

/* A seat; CORE_NOBODY for a row is nobody. */
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

/* Who asks for it; CORE_NOBODY if no question is open. */
static inline uint32_t core_seat_asks(uint64_t seat)
{
    return seat & CORE_SEAT_OPEN ? core_seat_author(seat) : CORE_NOBODY;
}

/* The seat when `author` asks for it. */
static inline uint64_t core_seat_asked(uint64_t seat, uint32_t author, uint32_t question)
{
    return core_seat(core_seat_row(seat), author, question) | (seat & CORE_SEAT_DIED) |
           CORE_SEAT_OPEN;
}

/* The seat when its open question is answered: it stays with its row, or goes to who asked. */
static inline uint64_t core_seat_settled(uint64_t seat, bool stays)
{
    uint64_t row = stays ? seat >> 48 : seat >> 32 & 0xffff;
    return row << 48 | (seat & 0xffffffffffffULL & ~CORE_SEAT_OPEN);
}

/* A seat that is this row's, asked for by nobody, in which nobody died; is it that? */
static inline uint64_t core_seat_mark(uint32_t row)
{
    return (uint64_t)(row + 1) << 48;
}

static inline bool core_seat_is(uint64_t seat, uint64_t mark)
{
    return (seat & (0xffffULL << 48 | CORE_SEAT_DIED | CORE_SEAT_OPEN)) == mark;
}

/* What a guest announces: the author of the word that it will compare and swap. 0 is nothing. */
static inline uint32_t core_announced_cycle(uint32_t row, uint32_t cycle)
{
    return 1U << 31 | row << 12 | (cycle & CORE_TAG_MASK);
}

static inline uint32_t core_announced_question(uint32_t row, uint32_t question)
{
    return 1U << 31 | 1U << 28 | row << 12 | (question & CORE_TAG_MASK);
}

/* Of an announcement without its tag: is it about cycles, or questions, of this row? */
static inline bool core_announced_of(uint32_t announced, uint32_t row, bool question)
{
    return announced >> 12 == (1U << 19 | (question ? 1U << 16 : 0U) | row);
}

static inline uint32_t core_announced_tag(uint32_t announced)
{
    return announced & CORE_TAG_MASK;
}

#endif
