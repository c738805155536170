/*
 * The core: recoverable tickets. Take a place in the line, wait until it is granted, leave by
 * validating the next; and finish what anyone, dead or alive, has left half done.
 *
 * No operating system, nothing that blocks, no lock: each transition of shared state is one
 * compare-and-swap, and whoever finds one half-recorded completes it. words.h has the shared words.
 * Three rules make it recoverable:
 *
 *   1. I and V name their author, and nobody publishes over a word before what it says has been
 *      done (core_finish_take, core_finish_release). So at most one operation per word is
 *      unfinished, and anyone can finish it.
 *   2. A grant is delivered into the guest's own row. A waiter looks only at its row.
 *   3. A place in the line is decided once, SERVED or SKIPPED, before VALID moves past it.
 *
 * What is always so, for tickets t:
 *     t <= VALID and issued      granted to whoever took it, or about to be by whoever finishes I
 *     VALID < t <= ISSUE         in the line: line[t] names a guest that waits, or is a hole (its
 *                                row neither WAITING in that cycle nor granted this ticket; or a
 *                                copy of the place before)
 *     VALID - ISSUE <= seats + owed; equal when every row is IDLE and there is a seat
 *     row IDLE -> WAITING -> GRANTED -> LEAVING -> IDLE, or WAITING -> IDLE (gives up, is reaped);
 *     IDLE -> GROWING or SHRINKING -> IDLE. Only the owner leaves IDLE, and only the owner or, when
 *     it is certainly dead, a reaper moves GRANTED to LEAVING.
 *
 * A crash inside any of these leaves the row as evidence: core_reap finishes it.
 */
#ifndef USHER_CORE_H
#define USHER_CORE_H

#include "core/steps.h"
#include "core/words.h"

/* Guards that a mutant drops, one bit each, to show what each is for; only in exploring builds. */
enum core_guard {
    CORE_GUARD_TAKE_I_STILL = 1 << 0,      /* I still i, before the line is recorded */
    CORE_GUARD_TAKE_TAG = 1 << 2,          /* the author's row has I's tag */
    CORE_GUARD_V_STILL = 1 << 3,           /* V still v, before finish_release acts on a row */
    CORE_GUARD_AUTHOR_V_STILL = 1 << 4,    /* V still v, before the author's row is set free */
    CORE_GUARD_AUTHOR_TAG = 1 << 5,        /* the author's row has V's tag */
    CORE_GUARD_LINE_TAG = 1 << 6,          /* the waiter's row has the line's tag */
    CORE_GUARD_SERVED = 1 << 7,            /* SERVED is marked */
    CORE_GUARD_SKIPPED = 1 << 8,           /* a hole is passed over */
    CORE_GUARD_LAP = 1 << 9,               /* a place of another lap is not this place */
    CORE_GUARD_REAP_FINISH_TAKE = 1 << 10, /* the reaper finishes I before it frees a waiting row */
    CORE_GUARD_SEAT_CYCLE = 1 << 11,       /* a reaper frees only seats of the dead cycle */
    CORE_GUARD_FRESH_TAG = 1 << 12,     /* no cycle starts with a tag that I, V or K still names */
    CORE_GUARD_FINISH_I = 1 << 13,      /* nobody publishes over I before it is finished */
    CORE_GUARD_FINISH_V = 1 << 14,      /* nobody publishes over V before it is finished */
    CORE_GUARD_ADOPT_HOLE = 1 << 15,    /* only a hole is adopted */
    CORE_GUARD_ADOPT_VALID = 1 << 16,   /* only a place beyond VALID is adopted */
    CORE_GUARD_SLIDE_LIVE = 1 << 17,    /* only a hole or a copy is slid over */
    CORE_GUARD_LEAVING_STILL = 1 << 18, /* publish only for a row that is still leaving */
    CORE_GUARD_NAMED = 1 << 19,         /* V that names us already is our publication */
    CORE_GUARD_REAP_CYCLE = 1 << 21,    /* a row that has gone on is not reaped */
    CORE_GUARD_HOLE_GRANTED = 1 << 22,  /* a place granted but not yet marked is no hole */
    CORE_GUARD_DECIDED_STILL = 1 << 23, /* the row still waits, before it gets the next place */
    CORE_GUARD_SAME_AUTHOR = 1 << 24,   /* an I that moved on for the same guest is followed */
    CORE_GUARD_SKIP_DECIDED = 1 << 20,  /* an adopted place passed over meanwhile is replaced */
};

/* A pool's words as one process sees them, and where in them everything is. */
struct core {
    _Atomic uint64_t *words;
    uint32_t rows;      /* guests: 1..CORE_MAX_ROWS */
    uint32_t seats;     /* room for this many seats; K says how many there are */
    uint32_t line_mask; /* places in the line, a power of two, less one */
    uint32_t at_i, at_v, at_k, at_row, at_line, at_seat; /* indices of words */
    uint32_t row_stride;                                 /* words from one row to the next */
    uint32_t i_tag_mask, v_tag_mask;
    /* A row has become GRANTED: wake whoever sleeps on it. Not called for one's own row. */
    void (*wake)(void *context, uint32_t row);
    void *wake_context;
#ifdef CORE_STEPS
    struct step_memory *memory;
    unsigned broken; /* enum core_guard */
#endif
};

/* Frames: what an operation has to remember between two accesses. Zero before the first call; the
   caller sets the fields before the blank line. */
struct core_place { /* where a part of an operation is that uses the operation's own frame */
    CORE_AT
};

struct core_finish_take {
    uint64_t i; /* the published I to finish; goes on if the place was passed over */

    CORE_AT
    uint64_t e, r, again;
    bool ok;
};

struct core_finish_release {
    uint64_t v; /* the published V to finish */

    CORE_AT
    uint64_t e, r, word;
    bool ok;
    struct core_place deliver;
    struct core_finish_take take;
};

struct core_publish {
    uint32_t row;
    uint64_t r; /* the row as it is, LEAVING, GROWING or SHRINKING */

    CORE_AT
    uint64_t v, word;
    bool ok, ours;
    struct core_finish_release release;
};

struct core_slide {
    CORE_AT
    uint32_t t, last;
    uint64_t a, b, word;
    bool ok;
};

struct core_take {
    uint32_t row;
    uint64_t cycle; /* the last one used; becomes the new one */

    CORE_AT
    uint32_t ticket; /* the place taken */
    bool full;       /* no place could be had: the line is full of waiting guests */
    bool granted;    /* it was granted at once */
    bool ok, slid;
    uint64_t i, v, e, word;
    struct core_place last;
    struct core_finish_take take;
    struct core_slide slide;
};

struct core_give_up {
    uint32_t row;
    uint64_t cycle;

    CORE_AT
    bool granted; /* too late: the grant won, and the seat is to be claimed */
    struct core_slide slide;
};

struct core_claim {
    uint32_t row;
    uint64_t cycle;
    uint32_t first; /* where to begin to look */

    CORE_AT
    uint32_t seat;
    bool inherited; /* the seat's last holder died in it */
    bool ok;
    uint64_t word;
};

struct core_release {
    uint32_t row;
    uint64_t cycle;
    uint32_t ticket, seat;

    CORE_AT
    bool ok;
    struct core_publish publish;
};

struct core_resize {
    uint32_t row;
    uint64_t cycle; /* as in core_take */
    bool grow;

    CORE_AT
    uint64_t i, v, k;
    struct core_publish publish;
};

struct core_reap {
    uint32_t row; /* a row whose owner is certainly dead, ... */
    uint64_t
        cycle; /* ... and its cycle as it was read before that was found out: by now the row may
                       have been reaped by another, and a new guest have begun a cycle of its own */

    CORE_AT
    uint32_t seat;
    bool ok;
    uint64_t r, word;
    union {
        struct core_finish_take take;
        struct core_publish publish;
        struct core_slide slide;
    } u;
};

/* Look at what is published and finish it, so that nothing waits for a slow or dead author. */
struct core_help {
    CORE_AT
    uint64_t word;
    union {
        struct core_finish_take take;
        struct core_finish_release release;
    } u;
};

enum core_progress core_finish_take(struct core *c, struct core_finish_take *f);
enum core_progress core_finish_release(struct core *c, struct core_finish_release *f);

/* Take a place in the line. The row must be IDLE and ours. */
enum core_progress core_take(struct core *c, struct core_take *f);
/* Leave the line, unless the grant has won. */
enum core_progress core_give_up(struct core *c, struct core_give_up *f);
/* Claim a free seat for a granted row: there is one. */
enum core_progress core_claim(struct core *c, struct core_claim *f);
/* Free the seat and validate the next ticket. */
enum core_progress core_release(struct core *c, struct core_release *f);
/* Change the number of seats by one: a seat more, or one fewer as soon as one comes free. */
enum core_progress core_resize(struct core *c, struct core_resize *f);
/* Finish what a dead owner left: afterwards its row is IDLE. */
enum core_progress core_reap(struct core *c, struct core_reap *f);
enum core_progress core_help(struct core *c, struct core_help *f);

/* Write the words of a new pool with that many seats. No one else may see it yet. */
void core_init(struct core *c, uint32_t seats);

#endif
