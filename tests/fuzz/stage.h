/*
 * The environment of a fuzzed library: what a hostile peer changes before which access, a simulated
 * operating system (os.c), and what counts as a failure: an access outside the pool, and a call
 * that does not end although nothing changes any more.
 *
 * A script is a list of edits, 13 bytes each:
 *
 *     when 2 | where 1 | index 1 | how 1 | value 8      little-endian
 *
 * An edit is made `when` accesses after the previous one.
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
    STAGE_HERE, /* the word that is about to be accessed */
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
    STAGE_ANY, /* the word with that index */
    STAGE_WHERES
};

enum stage_how {
    STAGE_SET,
    STAGE_XOR,
    STAGE_ADD_TO,
    STAGE_SHORT,  /* 16 bits at a position that the value names */
    STAGE_STATE,  /* the top three bits */
    STAGE_ISSUED, /* the ticket of I, in this word's ticket bits, plus a small number */
    STAGE_BACK,   /* the value before its last change (ABA) */
    STAGE_HOWS
};

/* Start an input: no maps, no edits, the clock at zero. */
void stage_begin(void);
/* Use these edits from now on. The script must live until the next stage_begin. */
void stage_edits(const uint8_t *script, size_t size);
/* Call before each library call. */
void stage_call(const char *name);
/* From now on accesses are only checked, not edited. */
void stage_quiet(void);
/* Apply an edit to plain bytes: a file that is not open yet. */
void stage_edit_bytes(uint8_t *bytes, size_t size, const uint8_t *edit);

/* The peer's locks: if bit b is set, the peer has locked every byte with number b modulo 8. */
extern uint8_t stage_locked;
/* Set when a wait has lasted long: callers that can give up should. */
extern bool stage_enough;
/* If not NULL, called instead of a sleep. */
extern void (*stage_interrupt)(void);

/* For os.c. */
void stage_moment(void);
void stage_forget_locks(int fd);
void stage_reset_os(void);
extern unsigned stage_sleeps; /* sleeps of this call */

/* Print what is wrong, keep the input, and end. */
__attribute__((noreturn, format(printf, 1, 2))) void stage_fail(const char *format, ...);

#endif
