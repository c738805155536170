/*
 * The gate: the Colored Ticket Algorithm (1989 paper, Figs 2, 4, 6, 7) in one 64-bit word that says
 * everything, its own shape included. Pure functions, word in and word out: the caller makes the
 * result true by one compare-and-swap. No operating system: src/gate/gate.c sleeps and wakes.
 *
 * The word is that of tickets/colored.h, with blocks of M = 2^b tickets and the shape on top:
 *
 *     63  59 58 55 54    32+b 32+b-1   32 31                   b+c b+c-1     b b-1        0
 *    +------+-----+----------+-----------+------------------------+-----------+-----------+
 *    |  b   |  k  |  ISSUE   |   ISSUE   |         QUANT          |   VALID   |   VALID   |
 *    |      |     |  COLOR   |   VALUE   |   rank of a multiset   |   COLOR   |   VALUE   |
 *    +------+-----+----------+-----------+------------------------+-----------+-----------+
 *     nothing        taking changes         leaving changes this half only;
 *     changes        these bits only        waiters sleep on it
 *     these
 *
 *     k seats, 1 to 13; c bits for 0..k, q bits for 0..binom(2k,k)-1
 *     c <= b     b + c <= 23     b + c + q <= 32
 *     ISSUE.COLOR <= k           VALID.COLOR <= k           QUANT < binom(2k,k)
 *
 * A word that breaks one of these is no gate: -EINVAL, and it is left alone. All zero is no gate.
 *
 * Always, with psi the number of a ticket as in colored.h:
 *     psi(VALID) - psi(ISSUE) <= k          if = k nobody is inside, and leaving is refused
 *     psi(ISSUE) - psi(VALID) <= M - 1      if = M - 1 there is no room, and taking is refused
 *     waiting = max(0, psi(ISSUE) - psi(VALID))     inside = k - max(0, psi(VALID) - psi(ISSUE))
 *     a ticket in hand is valid  <=>  COLOR = VALID.COLOR and VALUE <= VALID.VALUE
 *                                     or COLOR != VALID.COLOR and QUANT(COLOR) >= 1
 * The last line speaks of the low half only. So as long as a ticket is in hand, no low half comes
 * again under which it was not yet valid, and a waiter that sleeps on that half misses nothing,
 * although a futex compares no more than these 32 bits.
 *
 * The whole word repeats after (k + 1) M tickets. A guest that is stopped between reading it and
 * its compare-and-swap may succeed on a word that was replaced and came back. That is harmless:
 * what an operation makes of the word depends on the word and on the guest's own ticket alone, so
 * the swap is the operation as it would have been made at that moment (gate_repeat_test.c).
 *
 *     property            promised                      decided
 *     at most k           yes                           holds, n <= 4, k <= 3
 *     order               first in, first enabled       holds, n <= 4, k <= 3: 0 overtakings
 *     failures survived   k-1, each costs its seat      holds, n <= 4, k <= 3: lockout
 *     equivalent to       queue; colored if its M is    holds, n <= 4, k <= 3
 *                         a power of two
 *     guests at a time    k+M-1; one more is refused    holds, n = 3, 4 and 5, k = 1, M = 2
 *     sleepers            enter as spinners do          holds, n <= 3, k <= 2; n = 4, k = 1
 *     shared space        8 bytes                       one word
 * tests/gate_model_test.c has each row; src/gate/gate_crash_test.c kills and stops real guests.
 */
#ifndef USHER_CORE_GATE_H
#define USHER_CORE_GATE_H

#include "tickets/colored.h"

/* Guards that a mutant drops, to show what each is for; 0 where the code is meant to be right. */
enum gate_broken {
    GATE_TAKE_FREE = 1 << 0,   /* the quick take: ISSUE is not at VALID yet */
    GATE_TAKE_NEAR = 1 << 1,   /* the quick take: nor beyond it, in a block of a lower colour */
    GATE_LEAVE_BLOCK = 1 << 2, /* the quick leave: ticket and next VALID are in one block */
    GATE_LEAVE_BEFORE =
        1 << 3,                /* the quick leave: and not because VALID goes from block to block */
    GATE_LEAVE_ALONE = 1 << 4, /* the quick leave: no guest waits for the ticket it validates */
    GATE_ROOM = 1 << 5,        /* no ticket is taken that is M beyond VALID */
    GATE_TRY_VALID = 1 << 6,   /* try takes a ticket only if it is valid at once */
    GATE_WAKE_LAST = 1 << 7,   /* the waiter with the very last ticket is woken too */
    GATE_NOBODY_IN = 1 << 8,   /* leaving is refused if no guest is inside */
    GATE_LEAVE_VALID = 1 << 9  /* leaving is refused with a ticket that is not valid */
};

enum { GATE_MOST_SEATS = 13, GATE_SEATS_SHIFT = 55, GATE_BITS_SHIFT = 59, GATE_SHAPES = 512 };

/* What an operation makes of a word. */
struct gate_step {
    uint64_t word;   /* to be swapped in; after a failure, the same as before */
    int result;      /* 0: inside, or has left; 1: has a ticket to wait with; or -errno */
    uint32_t ticket; /* that has been taken */
    uint32_t wakes;  /* the leaving guest wakes the sleepers on this bit; 0: there are none */
};

/* By shape, the nine bits on top: b + c ones, the mask of a ticket; 0 where no gate has that shape.
   Looked up: worked out from b and k it makes a passage of 7 ns one of 9. */
extern const uint32_t gate__masks[GATE_SHAPES];

/* What is read off a word, whatever its bits are. */
struct gate_view {
    uint32_t mask; /* 0: no gate */
    uint32_t seats, issue, valid;
    unsigned bits; /* b */
};

static inline uint32_t gate_mask(uint64_t word)
{
    return gate__masks[word >> GATE_SEATS_SHIFT];
}

/* The same for a caller that knows the mask of that word. */
static inline struct gate_view gate_view_by(uint64_t word, uint32_t mask)
{
    return (struct gate_view){.mask = mask,
                              .seats = (uint32_t)(word >> GATE_SEATS_SHIFT) & 15,
                              .issue = (uint32_t)(word >> 32) & mask,
                              .valid = (uint32_t)word & mask,
                              .bits = (unsigned)(word >> GATE_BITS_SHIFT)};
}

static inline struct gate_view gate_view(uint64_t word)
{
    return gate_view_by(word, gate_mask(word));
}

/*
 * Prepare a word for `seats`, and at least `guests` at a time, with blocks of 2^value_bits tickets.
 * 0: the largest blocks, whose ends are met least often. 0, -EINVAL: no guests or no seats, or
 * -ERANGE: does not fit.
 */
int gate_start(uint64_t *word, uint32_t guests, uint32_t seats, unsigned value_bits);

/* The bits of a VALUE in the smallest blocks for this many guests; may be more than fit. */
unsigned gate_least_bits(uint32_t guests, uint32_t seats);

/* How many guests a gate has room for; 0: no gate. */
uint32_t gate_room(uint64_t word);

/*
 * The quick ways, which need no more than a few compares because they stay within a block. Each is
 * one of the operations below, or false. `mask` is gate_mask(word).
 *
 * Take: VALID is ahead of ISSUE by d = 1..k. As numbers with COLOR above VALUE, VALID - ISSUE is d
 * in one block, and also if VALID is in the next block and its colour is ISSUE's plus 1; then
 * adding 1 to ISSUE at its block's end is right as well, since the one behind takes the colour of
 * the other. If ISSUE is ahead, the difference is not positive or more than M, hence more than k.
 */
static inline bool gate_quick_take(uint64_t word, uint32_t mask, struct gate_step *step,
                                   unsigned broken)
{
    struct gate_view v = gate_view_by(word, mask);
    uint32_t most = broken & GATE_TAKE_NEAR ? UINT32_MAX / 2 : v.seats;
    bool free_ticket = v.valid - v.issue - 1 < most ||
                       ((broken & GATE_TAKE_FREE) && v.mask != 0 && v.valid == v.issue);
    *step = (struct gate_step){.word = word + (1ULL << 32), .ticket = v.issue + 1};
    return free_ticket;
}

/* Leave: the ticket is of VALID's block, so QUANT stays as it is; VALID is not at the end of it;
   ISSUE has not reached the next ticket, so no guest waits for it; and at least one is inside. */
static inline bool gate_quick_leave(uint64_t word, uint32_t mask, uint32_t ticket,
                                    struct gate_step *step, unsigned broken)
{
    struct gate_view v = gate_view_by(word, mask);
    *step = (struct gate_step){.word = word + 1};
    return v.mask != 0 && (v.valid - v.issue < v.seats || (broken & GATE_LEAVE_ALONE)) &&
           (ticket <= v.valid || (broken & GATE_LEAVE_BEFORE)) &&
           (((v.valid + 1) ^ ticket) >> v.bits == 0 || (broken & GATE_LEAVE_BLOCK));
}

/* TAKE_NEXT_TICKET: 0: it is valid, 1: wait for it, -EUSERS: no room, -EINVAL: no gate. */
struct gate_step gate_take(uint64_t word, unsigned broken);

/* The same if the ticket is valid at once, else -EAGAIN. */
struct gate_step gate_try(uint64_t word, unsigned broken);

/* IS_VALID(T) of a ticket that was taken: 1, 0, or -EINVAL: no gate. */
int gate_is_valid(uint64_t word, uint32_t ticket);

/* How many leaves it takes until a ticket that is not valid is. */
uint32_t gate_places(uint64_t word, uint32_t ticket);

/* VALIDATE_NEXT_TICKET(T): 0, -EPERM: no such ticket can be inside, or -EINVAL: no gate. */
struct gate_step gate_leave(uint64_t word, uint32_t ticket, unsigned broken);

/* The bit on which the waiter with this ticket sleeps; every 32nd ticket shares it. */
static inline uint32_t gate_bit(uint32_t ticket)
{
    return 1U << (ticket & 31);
}

#endif
