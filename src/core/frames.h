/*
 * The frames of the core's operations. A frame is a struct with an operation's arguments, results
 * and locals. core.h has the operations.
 *
 * The caller applies CORE_FRESH to a frame and sets the fields before the blank line: those are the
 * arguments. The commented fields behind CORE_AT are results. `by` is the row of the guest that
 * executes the operation; it announces there. `row` is the row that the operation is about. Words
 * that were read: i, v, k are I, V, K; r is a row, e a place of the line.
 */
#ifndef USHER_CORE_FRAMES_H
#define USHER_CORE_FRAMES_H

#include "core/steps.h"
#include "core/words.h"

/*
 * A run of numbers of cycles, or of questions, that a guest may use: last + 1 to end. No guest
 * relies on a word with one of their tags. All zero: an empty run.
 */
struct core_run {
    uint32_t last, end; /* of as many bits as a cycle; equal: the run is spent */
    bool line;          /* the line names none of these cycles either: the guest may wait in them */
};

/* The position inside a part of an operation. The part uses the operation's frame. */
struct core_part {
    CORE_AT
};

/* Read a word that will be compared and swapped: core__get in parts.h. */
struct core_get {
    CORE_AT
    uint64_t reread;
};

/* One bit for each tag. */
#ifdef CORE_STEPS
enum { CORE_NAMED_WORDS = 1 };
#else
enum { CORE_NAMED_WORDS = (CORE_TAG_MASK + 1) / 64 };
_Static_assert(CORE_CYCLE_MASK == CORE_QUESTION_MASK, "one function reserves runs of both");
#endif

/* What a run is reserved for. */
enum core_purpose { CORE_TO_ENTER, CORE_TO_WAIT, CORE_TO_ASK };

struct core_reserve {
    uint32_t by;
    enum core_purpose purpose;
    struct core_run run; /* becomes a run that is not spent */

    CORE_AT
    bool full; /* no run exists: every tag is named or announced */
    uint32_t at_row, at_slot;
    uint64_t named[CORE_NAMED_WORDS]; /* bit b: run.last + 1 + b is excluded */
    struct core_part scan, call;
    uint64_t word;
};

/* Announce a row before the caller proves that its owner is dead. */
struct core_watch {
    uint32_t by, row;

    CORE_AT
    uint64_t r; /* the row's word */
    struct core_get get;
};

/* Clear the place of the ticket after i, if its entry is 2^20 tickets old. */
struct core_clear {
    uint32_t by;
    uint64_t i;

    CORE_AT
    CORE_ACTS
    bool ok;
    uint64_t e, reread;
    struct core_get get;
};

struct core_finish_take {
    uint32_t by;
    uint64_t i; /* the value of I to finish, announced; follows I to the next place if needed */

    CORE_AT
    CORE_ACTS
    uint64_t e, r, reread;
    bool ok;
    struct core_part next;
    struct core_get get;
    struct core_clear clear;
};

struct core_finish_release {
    uint32_t by;
    uint64_t v; /* the value of V to finish, announced; follows V over holes */

    CORE_AT
    CORE_ACTS
    uint64_t e, r, word;
    bool ok;
    struct core_part deliver, decide;
    struct core_get get;
};

/* Publish in V for a row that leaves or resizes, and finish it. The row may be another guest's. */
struct core_publish {
    uint32_t by, row;
    uint64_t r; /* the row's word: LEAVING, GROWING or SHRINKING */

    CORE_AT
    uint64_t v, word, k;
    bool ok, ours;
    struct core_get get;
    struct core_finish_release release;
};

struct core_leave {
    uint32_t row;
    uint64_t r; /* the row's next word: LEAVING */

    CORE_AT
    bool plain;
    bool published; /* V names the row */
    bool done;      /* and the row is IDLE; otherwise core_leave_slowly must finish */
    uint64_t v, word;
    struct core_get get;
};

struct core_leave_slowly {
    struct core_leave leave;

    CORE_AT
    bool ok;
    uint64_t word;
    struct core_get get;
    struct core_finish_release release;
};

/* Move waiters forward over holes: reap.c. */
struct core_slide {
    uint32_t by;

    CORE_AT
    uint32_t t, last;
    uint64_t a, b, word;
    bool ok;
    struct core_get get;
};

struct core_enter {
    uint32_t row;
    struct core_run run; /* of cycles: `last` becomes the new cycle, if one was begun */
    bool absorb;         /* take a ticket only if it is owed */
    uint32_t seat;       /* the row's seat hint; CORE_NO_SEAT: none, or the seat no longer exists */

    CORE_AT
    bool granted;    /* the row is in */
    bool seated;     /* and holds `seat`; otherwise the caller must call core_claim */
    bool lost_race;  /* another guest took the ticket: try again */
    bool needs_help; /* call core_help_enter, then try again */
    bool ok;
    uint32_t ticket, cycle;
    uint64_t i, v, word;
    struct core_get get;
};

/* Enter and leave again, after no other guest did either: repeat.h. */
struct core_repeat {
    uint32_t row_at, seat_at; /* core__own_row_at; where the word of its last seat is */
    uint64_t mark;            /* core_seat_mark of its row */
    uint64_t r;               /* its row's word when it entered last */
    uint64_t i;               /* I as it published it when it entered last */
    uint64_t v;               /* V as it published it, with owed == 0, when it left last */

    CORE_AT
    bool granted, seated; /* as in core_enter */
    bool published, done; /* as in core_leave */
    uint64_t word;
};

struct core_help_enter {
    uint32_t row;
    struct core_run run; /* as in core_enter */

    CORE_AT
    bool full; /* no cycle can be reserved: nothing was changed */
    uint64_t i;
    struct core_get get;
    union {
        struct core_reserve reserve;
        struct core_enter enter;
        struct core_clear clear;
        struct core_finish_take take;
        struct core_leave_slowly leave;
    } u;
};

struct core_take {
    uint32_t row;
    struct core_run run; /* of cycles: `last` becomes the new cycle */
    uint32_t seat;       /* as in core_enter */

    CORE_AT
    uint32_t ticket; /* if granted */
    bool full;       /* every place has a waiter, or no cycle can be reserved: nothing was taken */
    bool granted;    /* the row is in; enter.seated: and holds a seat. Otherwise it waits */
    bool ok, slid;
    CORE_LOOKS
    uint64_t i, v, e, word;
    struct core_part last, queue;
    struct core_get get;
    struct core_enter enter;
    union {
        struct core_reserve reserve;
        struct core_help_enter help;
        struct core_clear clear;
        struct core_finish_take take;
        struct core_slide slide;
    } u;
};

struct core_give_up {
    uint32_t row;
    uint32_t cycle;

    CORE_AT
    bool granted; /* the grant came first: the row is in, and has a seat to claim */
    struct core_slide slide;
};

/* Close an open question: does the seat's row hold it? */
struct core_settle {
    uint32_t seat;
    uint64_t word; /* the seat's word, announced, or written by ourselves */

    CORE_AT
    bool held, ok;
    uint64_t r, i;
    struct core_part in;
};

struct core_claim {
    uint32_t row;
    uint32_t first, seats; /* search seats 0 to seats - 1, starting with `first` */
    struct core_run run;   /* of questions: `last` becomes the last question asked */

    CORE_AT
    bool ok;        /* the row holds `seat`; otherwise search again: seats moved meanwhile */
    bool inherited; /* the seat's last holder died in it */
    bool asked;
    bool full; /* no question can be reserved */
    uint32_t seat, left;
    uint64_t word;
    struct core_part try, ask;
    struct core_get get;
    union {
        struct core_settle settle;
        struct core_reserve reserve;
    } u;
};

struct core_release {
    uint32_t row;
    uint32_t cycle;
    uint32_t ticket;

    CORE_AT
    struct core_leave_slowly slow;
};

struct core_resize {
    uint32_t row;
    struct core_run run; /* as in core_take */
    bool grow;
    uint32_t to; /* never past this many seats; 0 and grow: as many as there is room for */

    CORE_AT
    bool full; /* no cycle can be reserved: nothing was changed */
    union {
        struct core_reserve reserve;
        struct core_publish publish;
        struct core_help_enter help;
    } u;
};

/*
 * Finish what a dead guest left. The order matters. First core_watch announces the row and reads
 * it. Then the caller proves that the row's owner is dead. Then core_reap is called, with the cycle
 * that core_watch read. After the announcement no new owner of the row starts a cycle with the same
 * tag.
 */
struct core_reap {
    uint32_t by, row;
    uint32_t cycle;
    bool gently; /* the owner lives, and the seat is given back for it: do not mark the seat died */

    CORE_AT
    uint32_t seat;
    bool ok;
    uint64_t r, word, reread;
    struct core_part died;
    struct core_get get;
    union {
        struct core_finish_take take;
        struct core_publish publish;
        struct core_slide slide;
        struct core_settle settle;
    } u;
};

struct core_finish_published {
    uint32_t by;
    bool only_i; /* finish I alone */

    CORE_AT
    uint64_t word;
    struct core_get get;
    union {
        struct core_finish_take take;
        struct core_finish_release release;
    } u;
};

#endif
