/*
 * Read-only questions about a pool: who holds which seat, who waits in which order, and whether the
 * relations between the words hold. These functions change nothing and announce nothing.
 *
 * Code outside src/core and src/model uses this header, core.h, fast.h and repeat.h, and no other
 * of the core. Every row, seat and place that is read from the words is checked against its bound
 * before it is used, so a damaged pool gives wrong answers, never a wild access.
 *
 * Guests move while a question is answered. Each answer is true of each word at the instant when
 * that word was read.
 */
#ifndef USHER_CORE_QUERY_H
#define USHER_CORE_QUERY_H

#include "core/core.h"

/* ISSUE: the last ticket issued, with all its 32 bits. */
uint32_t core_query_issue(const struct core *c);
/* V.owed: seats that a shrunk pool has yet to take back. */
uint32_t core_query_owed(const struct core *c);

/*
 * Find the holder of a seat. Return its row, or CORE_NOBODY. *ticket is its whole ticket.
 *
 * `issue` is core_query_issue, read once by the caller for a series of these calls: guests that
 * arrive need that cache line.
 */
uint32_t core_query_holder(const struct core *c, uint32_t seat, uint32_t issue, uint32_t *ticket);
/* Does the row have a granted ticket, and no seat yet? *ticket is its whole ticket. */
bool core_query_unseated(const struct core *c, uint32_t row, uint32_t issue, uint32_t *ticket);

/* A walk along the line, from VALID + 1 to ISSUE as they were at the start. */
struct core_line_walk {
    uint32_t at, last; /* the next ticket, and the last one: at > last is the end */
    uint64_t before;   /* core_line_who of the place before: a copy of it is not counted twice */
};

void core_line_begin(const struct core *c, struct core_line_walk *walk);
/* Find the next waiter: its row, its row's word, its whole ticket. false: the end of the line. */
bool core_line_next(const struct core *c, struct core_line_walk *walk, uint32_t *row,
                    uint64_t *word, uint32_t *ticket);
/* ISSUE - VALID, or 0 if that is negative. Guests that gave up are counted, too. */
uint32_t core_line_ahead(const struct core *c);
/* Estimate how many guests wait: exact if the line has at most 128 places, else extrapolated. */
uint32_t core_line_waiters(const struct core *c);

/* The relations that core_verify checks, each with the two numbers that it reports. */
enum core_relation {
    CORE_STATE_KNOWN,     /* a: a row whose state does not exist */
    CORE_ROW_OWNED,       /* a: a row that is not IDLE, but beyond rows_used */
    CORE_SEATS_FIT,       /* a: K.seats > b: seats that there is room for */
    CORE_VALID_BOUNDED,   /* a: VALID - ISSUE > b: K.seats + owed */
    CORE_LINE_FITS,       /* a: ISSUE - VALID >= b: places of the line */
    CORE_SEATS_ACCOUNTED, /* a: K.seats + owed > b: free tickets + rows that are in or leaving */
    CORE_HOLDERS_BOUNDED, /* a: rows that are in > b: K.seats + owed */
    CORE_SEAT_ROWS_EXIST, /* a: a seat that names b: a row that does not exist */
    CORE_HINTS_EXIST,     /* a: a row whose hint is b: a seat that does not exist */
    CORE_WAITERS_PLACED,  /* a: rows that wait > b: waiters found in the line */
};

struct core_fault {
    enum core_relation broken;
    uint32_t a, b;
};

/*
 * Check every relation, and call `report` for each that does not hold. Return how many. The
 * pool must be at rest: a relation may be broken for an instant while a guest moves.
 */
unsigned core_verify(const struct core *c,
                     void (*report)(void *context, const struct core_fault *fault), void *context);

#endif
