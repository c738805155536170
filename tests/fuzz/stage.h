/*
 * The stage on which the library is fuzzed: what a hostile peer changes before which access, a
 * seam to an operating system that is made up (os.c), and what counts as a failure: memory touched
 * beside the pool, and a call that does not come to an end although nobody changes anything.
 *
 * A script is a list of edits, 13 bytes each:
 *
 *     when 2 | where 1 | index 1 | how 1 | value 8      little end first
 *
 * An edit is made before the access that is `when` accesses after the one before it.
 */
#ifndef USHER_FUZZ_STAGE_H
#define USHER_FUZZ_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STAGE_EDIT = 13,
    STAGE_MOST_ACCESSES = 1 << 22, /* of a call, since the last edit */
    STAGE_MOST_SLEEPS = 1 << 12
};

enum stage_where {
    STAGE_HERE, /* the very word that is about to be accessed */
    STAGE_I,
    STAGE_V,
    STAGE_K,
    STAGE_ROW,
    STAGE_OWNER,
    STAGE_IDENTITY,
    STAGE_SINCE,
    STAGE_OWN,
    STAGE_WATCH,
    STAGE_LINE,
    STAGE_SEAT,
    STAGE_COUNTERS, /* removed, rows_used, ... */
    STAGE_SHAPE,
    STAGE_ANY, /* the word with that number */
    STAGE_WHERES
};

enum stage_how {
    STAGE_SET,
    STAGE_XOR,
    STAGE_ADD_TO,
    STAGE_SHORT,  /* 16 bits, at a place that the value names */
    STAGE_STATE,  /* the topmost three bits */
    STAGE_ISSUED, /* the ticket of I, in the bits that a ticket has here, plus a little */
    STAGE_BACK,   /* what it was when it was changed last: it was never away */
    STAGE_HOWS
};

/* A new performance: no maps, no edits, the clock at its beginning. */
void stage_begin(void);
/* From now on these edits are made. They must live as long as the performance. */
void stage_edits(const uint8_t *script, size_t size);
/* Before each call of the library. */
void stage_call(const char *name);
/* From now on accesses are only checked. */
void stage_quiet(void);
/* The edit in bytes that stand still: a file that is not open yet. */
void stage_edit_bytes(uint8_t *bytes, size_t size, const uint8_t *edit);

/* Who has locked what: with bit b of it every byte that is b modulo 8 is locked by a peer. */
extern uint8_t stage_locked;
/* Set once a wait has gone on for long: whoever can shall give up. */
extern bool stage_enough;
/* If not NULL: called instead, in the sleep. */
extern void (*stage_interrupt)(void);

/* For os.c. */
void stage_moment(void);
void stage_forget_locks(int fd);
void stage_reset_os(void);
extern unsigned stage_sleeps; /* of this call */

/* Say what is wrong, keep the input, and end. */
__attribute__((noreturn, format(printf, 1, 2))) void stage_fail(const char *format, ...);

#endif
