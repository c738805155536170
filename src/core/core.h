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

#include "core/frames.h"
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
    uint32_t at_i, at_v, at_k, at_row, at_hint, at_announced;
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
#define CORE_AT_HINT(c) ((c)->at_hint)
#define CORE_REPEATS(c) ((c)->repeats)
#else
#define CORE_AT_I(c) 0
#define CORE_AT_V(c) 8
#define CORE_AT_K(c) 16
#define CORE_AT_ROWS(c) 24
#define CORE_ROW_STRIDE(c) 8
#define CORE_AT_HINT(c) (CORE_AT_ROWS(c) + 1)
#define CORE_AT_ANNOUNCED(c) (CORE_AT_ROWS(c) + 6)
#define CORE_REPEATS(c) true
#endif

/* What a guest can announce at a time. */
enum core_slot {
    CORE_SLOT_TOP,   /* of I or V */
    CORE_SLOT_PLACE, /* of a place of the line, a seat, or K */
    CORE_SLOT_NEXT,  /* of the next place of the line */
    CORE_SLOT_DEAD,  /* of a dead guest's row */
    CORE_SLOTS
};

static inline bool core_run_spent(const struct core *c, const struct core_run *run)
{
    (void)c;
    return CORE_REPEATS(c) && run->last == run->end;
}

enum core_progress core_finish_take(struct core *c, struct core_finish_take *f);
enum core_progress core_finish_release(struct core *c, struct core_finish_release *f);

/* core_enter and core_leave, the ways in and out when nobody waits, are in fast.h. */

/* Find cycles, or questions, that no stopped guest can mistake for earlier ones: reserve.c. */
enum core_progress core_reserve(struct core *c, struct core_reserve *f);
/* Get a seat for a granted row: there is one, but it may take more than one look. */
enum core_progress core_claim(struct core *c, struct core_claim *f);
/* Make core_enter possible, if it found that something must be finished first. */
enum core_progress core_help_enter(struct core *c, struct core_help_enter *f);
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
enum core_progress core_finish_published(struct core *c, struct core_finish_published *f);

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
