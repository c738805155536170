/*
 * The core: recoverable tickets. Take a place in the line, wait until it is granted, leave by
 * validating the next; and finish what anyone, dead or alive, has left half done.
 *
 * No operating system, nothing that blocks, no lock: each transition of shared state is one
 * compare-and-swap, and whoever finds one half-recorded completes it. words.h has the shared words.
 * Four rules make it recoverable:
 *
 *   1. I and V name their author, and nobody publishes over a word before what it says has been
 *      done (core_finish_take, core_finish_release). So at most one operation per word is
 *      unfinished, and anyone can finish it.
 *   2. A grant is delivered into the guest's own row. A waiter looks only at its row.
 *   3. A place in the line is decided once, SERVED or SKIPPED, before VALID moves past it.
 *   4. Every word that is compared and swapped names its author and the author's tag. A guest that
 *      will compare and swap a word announces the author and the tag that it read, and reads the
 *      word again (core__get). An author uses a tag again only when no word names it and no guest
 *      has announced it (core_reserve). So a word never returns to a value that a guest relies on,
 *      however long that guest is stopped.
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

#include "core/guards.h"
#include "core/steps.h"
#include "core/words.h"

/*
 * A pool's words as one process sees them, and where in them everything is. I, V and K each have a
 * cache line, the rows follow, and a row is eight words: the core uses the first, a part of the
 * second, and the last two, which have the announcements. An exploration packs all tightly, and can
 * shorten tickets, tags and cycles.
 */
struct core {
    _Atomic uint64_t *words;
    uint32_t rows;             /* guests: 1..CORE_MAX_ROWS */
    uint32_t seats;            /* room for this many seats; K says how many there are */
    uint32_t line_mask;        /* places in the line, a power of two, less one */
    uint32_t at_line, at_seat; /* indices of words */
    /* No row from this number on has ever been owned; NULL: all may have been. */
    const _Atomic uint32_t *rows_used;
    uint32_t visitors; /* rows behind those, to announce in for processes that are no guests */
    /* A row has become GRANTED: wake whoever sleeps on it. May be called for one's own row. */
    void (*wake)(void *context, uint32_t row);
    void *wake_context;
#ifdef CORE_STEPS
    uint32_t at_i, at_v, at_k, at_row, at_own, at_announced;
    bool repeats; /* words are short enough to repeat: otherwise nothing need be announced */
    bool ghosts;  /* keep what each process relies on: see core_steps_rely */
    struct step_memory *memory;
    struct core_buffer *buffer; /* stores not yet in memory; NULL: there are none */
    uint32_t self, at_relied;   /* whose step this is; what each process relies on: CORE_RELY */
    bool replaced;              /* a compare-and-swap succeeded on a value that was replaced */
    enum core_guard broken;     /* 0: none */
    bool doomed;                /* CORE_DOOMED said so */
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
#define CORE_REPEATS(c) ((c)->repeats)
#else
#define CORE_AT_I(c) 0
#define CORE_AT_V(c) 8
#define CORE_AT_K(c) 16
#define CORE_AT_ROWS(c) 24
#define CORE_ROW_STRIDE(c) 8
#define CORE_AT_OWN(c) (CORE_AT_ROWS(c) + 1)
#define CORE_AT_ANNOUNCED(c) (CORE_AT_ROWS(c) + 6)
#define CORE_REPEATS(c) true
#endif

/* The words that are compared and swapped. */
enum core_kind {
    CORE_WORD_I,
    CORE_WORD_V,
    CORE_WORD_K,
    CORE_WORD_LINE,
    CORE_WORD_SEAT,
    CORE_WORD_ROW
};

/* What a guest can announce at a time. */
enum core_slot {
    CORE_SLOT_TOP,   /* of I or V */
    CORE_SLOT_PLACE, /* of a place of the line, a seat, or K */
    CORE_SLOT_NEXT,  /* of the next place of the line */
    CORE_SLOT_DEAD,  /* of a dead guest's row */
    CORE_SLOTS
};

/*
 * Numbers of cycles, or of questions, that a guest may use: last + 1 to end. Nobody has read a word
 * with one of their tags and will compare it later. All zero: none.
 */
struct core_run {
    uint32_t last, end; /* as many bits as a cycle has; equal: the run is spent */
    bool line;          /* nor does the line name one of these cycles: a guest may wait in them */
};

static inline bool core_run_spent(const struct core *c, const struct core_run *run)
{
    (void)c;
    return CORE_REPEATS(c) && run->last == run->end;
}

/* Frames: what an operation has to remember between two accesses. CORE_FRESH before the first call;
   the caller sets the fields before the blank line. `by` is the row of the guest that carries the
   operation out: it announces there what it relies on. */
struct core_place { /* where a part of an operation is that uses the operation's own frame */
    CORE_AT
};

/* Read a word that will be compared and swapped: see core__get in parts.h. */
struct core_get {
    CORE_AT
    uint64_t again;
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
    struct core_place scan;
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
    uint64_t e, again;
    struct core_get get;
};

struct core_finish_take {
    uint32_t by;
    uint64_t i; /* the published I to finish, announced; goes on if the place was passed over */

    CORE_AT
    CORE_ACTS
    uint64_t e, r, again;
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
    bool granted; /* inside: the row has the ticket */
    bool seated;  /* and that seat; otherwise one is to be claimed */
    bool again;   /* another guest was faster: try again */
    bool untidy;  /* core_tidy must come first, then try again */
    bool ok;
    uint32_t ticket, cycle;
    uint64_t i, v, word;
    struct core_get get;
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

/* Reserve cycles, finish I, clear the place of the next ticket, take for nobody what is owed. */
struct core_tidy {
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
        struct core_tidy tidy;
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
    struct core_place try, ask, sit;
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
        struct core_tidy tidy;
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
    uint64_t r, word, again;
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
struct core_help {
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

enum core_progress core_finish_take(struct core *c, struct core_finish_take *f);
enum core_progress core_finish_release(struct core *c, struct core_finish_release *f);

/* core_enter and core_leave, the ways in and out when nobody waits, are in fast.h. */

/* Find cycles, or questions, that no stopped guest can mistake for earlier ones: reserve.c. */
enum core_progress core_reserve(struct core *c, struct core_reserve *f);
/* Get a seat for a granted row: there is one, but it may take more than one look. */
enum core_progress core_claim(struct core *c, struct core_claim *f);
/* Make core_enter possible, if it found that something must be finished first. */
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
/* Answer the question that is open in f->word. f->ok: we did, and f->held is the answer; otherwise
   another guest has answered it. */
enum core_progress core_settle(struct core *c, struct core_settle *f);
/* Announce a row and read it. The announcement stays until core_reap, or core_unwatch. */
enum core_progress core_watch(struct core *c, struct core_watch *f);
/* Finish what a dead owner left: afterwards its row is IDLE. */
enum core_progress core_reap(struct core *c, struct core_reap *f);
enum core_progress core_help(struct core *c, struct core_help *f);

/* Withdraw the announcement of core_watch. */
void core_unwatch(struct core *c, uint32_t by);
/* Withdraw all that a row announces: for its new owner, before it signs as the owner. */
void core_disown(struct core *c, uint32_t row);

/* Write the words of a new pool with that many seats. No one else may see it yet. */
void core_init(struct core *c, uint32_t seats);

#ifdef CORE_STEPS
#include "core/simulated.h"
#endif

#endif
