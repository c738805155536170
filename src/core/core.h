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
 *     a place is recorded before I moves on or its row stops waiting; a ticket without a place was
 *                                entered with: it is granted to whoever took it
 *     VALID - ISSUE <= seats + owed; equal when every row is IDLE and there is a seat
 *     a granted row holds one seat at most: the one its own word says, if the seat says so, too
 *     row IDLE -> WAITING -> GRANTED -> LEAVING -> IDLE, or WAITING -> IDLE (gives up, is reaped);
 *     IDLE -> ENTERING -> GRANTED or LEAVING, or -> IDLE (somebody else took the ticket);
 *     IDLE -> GROWING or SHRINKING -> IDLE. Only the owner leaves IDLE, and only the owner or, when
 *     it is certainly dead, a reaper moves GRANTED to LEAVING.
 *
 * A crash inside any of these leaves the row as evidence: core_reap finishes it.
 */
#ifndef USHER_CORE_H
#define USHER_CORE_H

#include "core/steps.h"
#include "core/words.h"

/* Guards, one of which a mutant drops to show what it is for; only in exploring builds. */
enum core_guard {
    CORE_GUARD_TAKE_I_STILL = 1, /* I still i, before the line is recorded */
    CORE_GUARD_TAKE_TAG,         /* the author's row has I's tag */
    CORE_GUARD_ENTERING_I_STILL, /* I still i, before a row that enters is granted */
    CORE_GUARD_V_STILL,          /* V still v, before finish_release acts on a row */
    CORE_GUARD_AUTHOR_V_STILL,   /* V still v, before the author's row is set free */
    CORE_GUARD_AUTHOR_TAG,       /* the author's row has V's tag */
    CORE_GUARD_LINE_TAG,         /* the waiter's row has the line's tag */
    CORE_GUARD_SERVED,           /* SERVED is marked */
    CORE_GUARD_SKIPPED,          /* a hole is passed over */
    CORE_GUARD_LAP,              /* a place of another lap is not this place */
    CORE_GUARD_REAP_FINISH_TAKE, /* the reaper finishes I before it frees a waiting row */
    CORE_GUARD_FRESH_TAG,        /* no cycle starts with a tag that I or V still names */
    CORE_GUARD_FINISH_I,         /* nobody publishes over I before it is finished */
    CORE_GUARD_FINISH_V,         /* nobody publishes over V before it is finished */
    CORE_GUARD_ADOPT_HOLE,       /* only a hole is adopted */
    CORE_GUARD_ADOPT_VALID,      /* only a place beyond VALID is adopted */
    CORE_GUARD_SLIDE_LIVE,       /* only a hole or a copy is slid over */
    CORE_GUARD_LEAVING_STILL,    /* publish only for a row that is still leaving */
    CORE_GUARD_NAMED,            /* V that names us already is our publication */
    CORE_GUARD_REAP_CYCLE,       /* a row that has gone on is not reaped */
    CORE_GUARD_HOLE_GRANTED,     /* a place granted but not yet marked is no hole */
    CORE_GUARD_DECIDED_STILL,    /* the row still waits, before it gets the next place */
    CORE_GUARD_SAME_AUTHOR,      /* an I that moved on for the same guest is followed */
    CORE_GUARD_SKIP_DECIDED,     /* an adopted place passed over meanwhile is replaced */
    CORE_GUARD_ROOM,             /* no place is taken that another ticket still needs */
    CORE_GUARD_ENTER_VALID,      /* only a ticket that is valid already is entered with */
    CORE_GUARD_OWN_TICKET,       /* only V's delivery to the leaver itself needs no look */
    CORE_GUARD_LEAVE_DELIVER,    /* the leaver delivers, if its ticket has been issued */
    CORE_GUARD_ABSORB,           /* a free ticket that is owed is taken for nobody */
    CORE_GUARD_OWED,             /* and by nobody else */
    CORE_GUARD_STALE_PLACE,      /* a place of 2^20 tickets ago is cleared first */
    CORE_GUARD_STALE_STILL,      /* I still i, before a place is found to be so old */
    CORE_GUARD_COUNTED,          /* a resize that K names is not counted again */
    CORE_GUARD_COUNT_V_STILL,    /* V still v, before a resize is counted */
    CORE_GUARD_COUNT_TAG,        /* no resize starts with a tag that K still names */
    CORE_GUARD_RESIZE_LIMIT,     /* nobody shrinks an empty pool, or grows one that is full */
    CORE_GUARD_SEAT_HELD,        /* a seat is not taken from one who is in */
    CORE_GUARD_SEAT_ASKED,       /* a seat is asked for before it is taken */
    CORE_GUARD_SEAT_FIRST,       /* a guest says which seat it means before it asks for it */
    CORE_GUARD_SEAT_COUNT,       /* each question and each death is told from those before */
    CORE_GUARD_SEAT_ENTERING,    /* one who enters is in as soon as I says so */
    CORE_GUARD_SEAT_NOT_IN,      /* and not before */
    CORE_GUARD_SEAT_SAID,        /* a seat is held only by one who means that very seat */
    CORE_GUARD_SEAT_HELPED,      /* what another has asked is decided for it */
    CORE_GUARD_DIED_ASKED,       /* what the dead one asked is decided, before its seat is marked */
    CORE_GUARD_DIED_STILL,       /* the row is still the dead one's, before its seat is marked */
    CORE_GUARD_GRANT_VALID,      /* I's author is granted only a ticket that is valid */
    CORE_GUARD_ISSUED,           /* only a ticket that has been issued is delivered */
    CORE_GUARD_SLIDE_PLACE,      /* only an undecided place of this lap is slid over */
    CORE_GUARD_SLIDE_NEXT,       /* and only with another such */
    CORE_GUARD_AGAIN_UNTIL,      /* no field of I, V or the row runs over when it enters again */
    CORE_GUARD_AGAIN_V,          /* V is what the guest last published, before it enters again */
};

/*
 * A pool's words as one process sees them, and where in them everything is. I, V and K each have a
 * cache line, the rows follow, and a row is six words, of which the core uses the first and a part
 * of the fifth. An exploration packs all tightly, and can shorten the tags.
 */
struct core {
    _Atomic uint64_t *words;
    uint32_t rows;             /* guests: 1..CORE_MAX_ROWS */
    uint32_t seats;            /* room for this many seats; K says how many there are */
    uint32_t line_mask;        /* places in the line, a power of two, less one */
    uint32_t at_line, at_seat; /* indices of words */
    /* A row has become GRANTED: wake whoever sleeps on it. May be called for one's own row. */
    void (*wake)(void *context, uint32_t row);
    void *wake_context;
#ifdef CORE_STEPS
    uint32_t at_i, at_v, at_k, at_row, at_own;
    uint32_t i_tag_mask, v_tag_mask, seat_count;
    struct step_memory *memory;
    enum core_guard broken;                     /* 0: none */
    bool doomed;                                /* CORE_DOOMED said so */
    const struct core_finish_release *delivers; /* whoever delivers, in the call at hand */
#endif
};

#ifdef CORE_STEPS
#define CORE_AT_I(c) ((c)->at_i)
#define CORE_AT_V(c) ((c)->at_v)
#define CORE_AT_K(c) ((c)->at_k)
#define CORE_AT_ROWS(c) ((c)->at_row)
#define CORE_ROW_STRIDE(c) 1
#define CORE_AT_OWN(c) ((c)->at_own)
/* A seat's count goes as far as the exploration says, or is not kept at all. */
#define CORE_SEAT_COUNT(c) (CORE_DROPS(c, CORE_GUARD_SEAT_COUNT) ? 0 : (c)->seat_count)
#define CORE_I_TAGS(c) ((c)->i_tag_mask)
#define CORE_V_TAGS(c) ((c)->v_tag_mask)
#else
#define CORE_AT_I(c) 0
#define CORE_AT_V(c) 8
#define CORE_AT_K(c) 16
#define CORE_AT_ROWS(c) 24
#define CORE_ROW_STRIDE(c) 6
#define CORE_AT_OWN(c) (CORE_AT_ROWS(c) + 1)
#define CORE_SEAT_COUNT(c) CORE_SEAT_COUNT_BITS
#define CORE_I_TAGS(c) 0xffff
#define CORE_V_TAGS(c) 0xfff
#endif

/* Frames: what an operation has to remember between two accesses. CORE_FRESH before the first call;
   the caller sets the fields before the blank line. */
struct core_place { /* where a part of an operation is that uses the operation's own frame */
    CORE_AT
};

struct core_finish_take {
    uint64_t i; /* the published I to finish; goes on if the place was passed over */

    CORE_AT
    CORE_ACTS
    uint64_t e, r, again;
    bool ok;
    struct core_place next;
};

struct core_finish_release {
    uint64_t v; /* the published V to finish */

    CORE_AT
    CORE_ACTS
    uint64_t e, r, word;
    bool ok;
    struct core_place deliver, decide;
};

struct core_publish {
    uint32_t row;
    uint64_t r; /* the row as it is, LEAVING, GROWING or SHRINKING */

    CORE_AT
    uint64_t v, word, k;
    bool ok, ours;
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
};

struct core_leave_slowly {
    struct core_leave leave;

    CORE_AT
    bool ok;
    uint64_t word;
    struct core_finish_release release;
};

struct core_slide {
    CORE_AT
    uint32_t t, last;
    uint64_t a, b, word;
    bool ok;
};

struct core_enter {
    uint32_t row;
    uint64_t cycle; /* the last one used; becomes the new one, if one was begun */
    bool absorb;    /* take only what is owed, for nobody */
    uint32_t seat;  /* the one in its own word; CORE_NO_SEAT: which will not do */

    CORE_AT
    bool granted; /* inside: the row has the ticket */
    bool seated;  /* and that seat; otherwise one is to be claimed */
    bool again;   /* somebody was faster: try again */
    bool untidy;  /* something is to be finished first: core_tidy, then try again */
    bool ok;
    uint32_t ticket;
    uint64_t i, v, word;
};

/* A guest that was the last to come and to leave: again.h. */
struct core_again {
    uint32_t row_at, seat_at; /* core__own_at: where its row is; and the seat it had last */
    uint64_t mark;            /* core_seat_mark of its row */
    uint64_t r;               /* its row when it entered last */
    uint64_t i;               /* as it published it when it entered */
    uint64_t v;               /* as it published it, with nothing owed, when it left */

    CORE_AT
    bool granted, seated; /* in: as in core_enter */
    bool published, done; /* out: as in core_leave */
    uint64_t word;
};

/* Finish I, clear the place of the next ticket, take for nobody what is owed. */
struct core_tidy {
    uint32_t row;
    uint64_t cycle; /* as in core_enter */

    CORE_AT
    CORE_ACTS
    struct core_place clear;
    bool ok;
    uint64_t i, e, again;
    union {
        struct core_enter enter;
        struct core_finish_take take;
        struct core_leave_slowly leave;
    } u;
};

struct core_take {
    uint32_t row;
    uint64_t cycle; /* the last one used; becomes the new one */
    uint32_t seat;  /* as in core_enter */

    CORE_AT
    uint32_t ticket; /* the place taken */
    bool full;       /* no place could be had: the line is full of waiting guests */
    bool granted;    /* it was granted at once; enter.seated: with its seat, too */
    bool ok, slid;
    CORE_LOOKS
    uint64_t i, v, e, word;
    struct core_place last, queue;
    struct core_enter enter;
    union {
        struct core_tidy tidy;
        struct core_finish_take take;
        struct core_slide slide;
    } u;
};

struct core_give_up {
    uint32_t row;
    uint64_t cycle;

    CORE_AT
    bool granted; /* too late: the grant won, and the seat is to be claimed */
    struct core_slide slide;
};

/* A seat that is asked for: is it held by the row whose it is? */
struct core_settle {
    uint32_t seat;
    uint64_t word; /* as it was read */

    CORE_AT
    bool held, ok;
    uint64_t r, i;
    struct core_place in;
};

struct core_claim {
    uint32_t row;
    uint32_t first, seats; /* where to begin to look, and at how many from 0 on */

    CORE_AT
    bool ok;        /* a seat was had; otherwise look again: they were taken and freed around us */
    bool inherited; /* the seat's last holder died in it */
    bool asked;
    uint32_t seat, left;
    uint64_t word;
    struct core_place try, ask, sit;
    struct core_settle settle;
};

struct core_release {
    uint32_t row;
    uint64_t cycle;
    uint32_t ticket;

    CORE_AT
    struct core_leave_slowly slow;
};

struct core_resize {
    uint32_t row;
    uint64_t cycle; /* as in core_take */
    bool grow;
    uint32_t to; /* but not beyond this many seats; growing, 0: as many as there is room for */

    CORE_AT
    uint64_t i, v, k;
    union {
        struct core_publish publish;
        struct core_tidy tidy;
    } u;
};

struct core_reap {
    uint32_t row; /* a row whose owner is certainly dead, ... */
    uint64_t
        cycle;   /* ... and its cycle as it was read before that was found out: by now the row may
                       have been reaped by another, and a new guest have begun a cycle of its own */
    bool gently; /* the seat is given back for its owner, who lives: nobody has died in it */

    CORE_AT
    uint32_t seat;
    bool ok;
    uint64_t r, word, again;
    struct core_place died;
    union {
        struct core_finish_take take;
        struct core_publish publish;
        struct core_slide slide;
        struct core_settle settle;
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

/* core_enter and core_leave, the ways in and out when nobody waits, are in fast.h. */

/* Get a seat for a granted row: there is one, but it may take more than one look. */
enum core_progress core_claim(struct core *c, struct core_claim *f);

/* Make core_enter possible, if it found that something is to be finished first. */
enum core_progress core_tidy(struct core *c, struct core_tidy *f);
/* Enter, or take a place in the line. The row must be IDLE and ours. */
enum core_progress core_take(struct core *c, struct core_take *f);
/* Leave the line, unless the grant has won. */
enum core_progress core_give_up(struct core *c, struct core_give_up *f);
/* Go on where core_leave could not. */
enum core_progress core_leave_slowly(struct core *c, struct core_leave_slowly *f);
/* Free the seat and validate the next ticket. */
enum core_progress core_release(struct core *c, struct core_release *f);
/* Change the number of seats by one: a seat more, or one fewer as soon as one comes free. */
enum core_progress core_resize(struct core *c, struct core_resize *f);
/* Finish what a dead owner left: afterwards its row is IDLE. */
/* Decide what is asked in f->word. f->ok: we did, and f->held is what we found; otherwise somebody
   else has. */
enum core_progress core_settle(struct core *c, struct core_settle *f);
enum core_progress core_reap(struct core *c, struct core_reap *f);
enum core_progress core_help(struct core *c, struct core_help *f);

/* Write the words of a new pool with that many seats. No one else may see it yet. */
void core_init(struct core *c, uint32_t seats);

#endif
