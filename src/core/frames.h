/*
 * The frames of the core's operations: what each remembers between two accesses, its arguments and
 * its results. core.h has the operations.
 */
#ifndef USHER_CORE_FRAMES_H
#define USHER_CORE_FRAMES_H

#include "core/steps.h"
#include "core/words.h"

/*
 * Numbers of cycles, or of questions, that a guest may use: last + 1 to end. Nobody has read a word
 * with one of their tags and will compare it later. All zero: none.
 */
struct core_run {
    uint32_t last, end; /* as many bits as a cycle has; equal: the run is spent */
    bool line;          /* nor does the line name one of these cycles: a guest may wait in them */
};

/* Frames: what an operation has to remember between two accesses. CORE_FRESH before the first call;
   the caller sets the fields before the blank line. `by` is the row of the guest that carries the
   operation out: it announces there what it relies on. */
struct core_place { /* where a part of an operation is that uses the operation's own frame */
    CORE_AT
};

/* Read a word that will be compared and swapped: see core__get in parts.h. */
struct core_get {
    CORE_AT
    uint64_t reread;
};

/* A bit for each tag. */
#ifdef CORE_STEPS
enum { CORE_NAMED_WORDS = 1 };
#else
enum { CORE_NAMED_WORDS = (CORE_TAG_MASK + 1) / 64 };
_Static_assert(CORE_CYCLE_MASK == CORE_QUESTION_MASK, "runs of both are reserved alike");
#endif

/* What a run is reserved for. */
enum core_purpose { CORE_TO_ENTER, CORE_TO_WAIT, CORE_TO_ASK };

struct core_reserve {
    uint32_t by;
    enum core_purpose purpose;
    struct core_run run; /* becomes one that is not spent */

    CORE_AT
    bool full; /* there is none: every tag is named by a stopped or dead guest */
    uint32_t at_row, at_slot;
    uint64_t named[CORE_NAMED_WORDS]; /* bit b: not run.last + 1 + b */
    struct core_place scan, call;
    uint64_t word;
};

/* Announce a row, before its owner is found to be dead. */
struct core_watch {
    uint32_t by, row;

    CORE_AT
    uint64_t r; /* the row */
    struct core_get get;
};

/* Clear the place of the ticket after i, if it holds an entry of a round ago. */
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
    uint64_t i; /* the published I to finish, announced; goes on if the place was passed over */

    CORE_AT
    CORE_ACTS
    uint64_t e, r, reread;
    bool ok;
    struct core_place next;
    struct core_get get;
    struct core_clear clear;
};

struct core_finish_release {
    uint32_t by;
    uint64_t v; /* the published V to finish, announced */

    CORE_AT
    CORE_ACTS
    uint64_t e, r, word;
    bool ok;
    struct core_place deliver, decide;
    struct core_get get;
};

struct core_publish {
    uint32_t by, row;
    uint64_t r; /* the row as it is, LEAVING, GROWING or SHRINKING */

    CORE_AT
    uint64_t v, word, k;
    bool ok, ours;
    struct core_get get;
    struct core_finish_release release;
};

struct core_leave {
    uint32_t row;
    uint64_t r; /* the row as it will be, LEAVING */

    CORE_AT
    bool plain;
    bool published; /* V says so */
    bool done;      /* and all is done; otherwise the long way is for core_leave_slowly */
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
    struct core_run run; /* of cycles: `last` becomes the new one, if one was begun */
    bool absorb;         /* take only what is owed, for nobody */
    uint32_t seat;       /* the one in its own word; CORE_NO_SEAT: which will not do */

    CORE_AT
    bool granted;    /* inside: the row has the ticket */
    bool seated;     /* and that seat; otherwise one is to be claimed */
    bool lost_race;  /* another guest took the ticket: try again */
    bool needs_help; /* core_help_enter must come first, then try again */
    bool ok;
    uint32_t ticket, cycle;
    uint64_t i, v, word;
    struct core_get get;
};

/* A guest that was the last to come and to leave: repeat.h. */
struct core_repeat {
    uint32_t row_at, seat_at; /* core__own_row_at: where its row is; and the seat it had last */
    uint64_t mark;            /* core_seat_mark of its row */
    uint64_t r;               /* its row when it entered last */
    uint64_t i;               /* as it published it when it entered */
    uint64_t v;               /* as it published it, with nothing owed, when it left */

    CORE_AT
    bool granted, seated; /* in: as in core_enter */
    bool published, done; /* out: as in core_leave */
    uint64_t word;
};

/* Reserve cycles, finish I, clear the place of the next ticket, take for nobody what is owed. */
struct core_help_enter {
    uint32_t row;
    struct core_run run; /* as in core_enter */

    CORE_AT
    bool full; /* no cycle can be reserved: nothing was done */
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
    struct core_run run; /* of cycles: `last` becomes the new one */
    uint32_t seat;       /* as in core_enter */

    CORE_AT
    uint32_t ticket; /* the place taken */
    bool full;       /* the line is full of guests that wait, or no cycle can be reserved */
    bool granted;    /* it was granted at once; enter.seated: with its seat, too */
    bool ok, slid;
    CORE_LOOKS
    uint64_t i, v, e, word;
    struct core_place last, queue;
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
    bool granted; /* too late: the grant won, and the seat is to be claimed */
    struct core_slide slide;
};

/* An open question: is the seat held by the row whose it is? */
struct core_settle {
    uint32_t seat;
    uint64_t word; /* as it was read, announced or asked by ourselves */

    CORE_AT
    bool held, ok;
    uint64_t r, i;
    struct core_place in;
};

struct core_claim {
    uint32_t row;
    uint32_t first, seats; /* where to begin to look, and at how many from 0 on */
    struct core_run run;   /* of questions; `last` becomes the last one asked */

    CORE_AT
    bool ok;        /* it has a seat; otherwise look again: they were taken and freed around us */
    bool inherited; /* the seat's last holder died in it */
    bool asked;
    bool full; /* no question can be reserved */
    uint32_t seat, left;
    uint64_t word;
    struct core_place try, ask;
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
    uint32_t to; /* but not beyond this many seats; growing, 0: as many as there is room for */

    CORE_AT
    bool full; /* no cycle can be reserved: nothing was done */
    union {
        struct core_reserve reserve;
        struct core_publish publish;
        struct core_help_enter help;
    } u;
};

/*
 * Finish what a dead guest left. The order matters: core_watch announces the row and reads it; then
 * the caller finds out that the row's owner is dead; then this, with the cycle that was read. From
 * the announcement on, no new owner of the row starts a cycle with the same tag.
 */
struct core_reap {
    uint32_t by, row;
    uint32_t cycle;
    bool gently; /* the seat is given back for its owner, who lives: nobody has died in it */

    CORE_AT
    uint32_t seat;
    bool ok;
    uint64_t r, word, reread;
    struct core_place died;
    struct core_get get;
    union {
        struct core_finish_take take;
        struct core_publish publish;
        struct core_slide slide;
        struct core_settle settle;
    } u;
};

/* Look at what is published and finish it, so that nothing waits for a slow or dead author. */
struct core_finish_published {
    uint32_t by;
    bool only_i; /* V is left alone */

    CORE_AT
    uint64_t word;
    struct core_get get;
    union {
        struct core_finish_take take;
        struct core_finish_release release;
    } u;
};

#endif
