/*
 * The core: recoverable tickets. Take a ticket, wait until it is granted, leave by validating the
 * next ticket; and finish what any guest, dead or alive, has left half done.
 *
 * The core makes no system call, never blocks and has no lock. Each transition of shared state is
 * one compare-and-swap, and any guest that finds a transition half recorded completes it. words.h
 * has the shared words. Four rules make the core recoverable:
 *
 *   1. I and V name their author. No guest publishes over I or V before the operation that the word
 *      describes is finished (core_finish_take, core_finish_release). So each word has at most one
 *      unfinished operation, and any guest can finish it.
 *   2. A grant is written into the waiter's own row. A waiter reads only its row.
 *   3. A place in the line gets its verdict once, SERVED or SKIPPED, before VALID moves past it.
 *   4. Every word that is compared and swapped names its author and the author's tag. Before a
 *      guest compares and swaps a word, it announces the author and the tag that it read, and reads
 *      the word a second time (core__get). An author reuses a tag only when no word names it and no
 *      guest has announced it (core_reserve). So a word never returns to a value that a guest
 *      relies on, however long that guest is stopped.
 *
 * Invariants, for every ticket t and row r ("in": words.h):
 *
 *     t <= VALID and t <= ISSUE: t is granted to the guest that took it, or will be when I and V
 *         are finished.
 *     VALID < t <= ISSUE: t is in the line. line[t] names a guest that waits; or it is a hole: its
 *         row neither waits in that cycle nor was granted t, or the place is a copy of line[t - 1].
 *     line[t] is recorded before I changes again, and before the row of t stops waiting. A ticket
 *         without a place was valid when it was taken: its guest is in.
 *     VALID - ISSUE <= K.seats + V.owed, plus 1 while V says that a row grows and K not yet.
 *     VALID - ISSUE == K.seats + V.owed, if every row is IDLE and K.seats + V.owed > 0.
 *     r is in: r holds at most one seat s, where seat[s].row == r and hint[r].seat == s.
 *
 *     row[r].state: IDLE -> WAITING -> GRANTED -> LEAVING -> IDLE
 *                   WAITING -> IDLE (gives up, or is reaped)
 *                   IDLE -> ENTERING -> GRANTED or LEAVING
 *                   ENTERING -> IDLE (another guest took the ticket)
 *                   IDLE -> GROWING or SHRINKING -> IDLE
 *     Only the row's owner leaves IDLE. Only the owner changes GRANTED to LEAVING, or a reaper,
 *     when the owner is certainly dead.
 *
 * A crash inside any operation leaves the row as evidence. core_reap finishes it.
 *
 *     words.h, frames.h   the shared words; the frames of the operations
 *     fast.h, repeat.h    in and out without contention; the same, when no other guest came between
 *     core.c, issued.c    take a ticket; finish what I says
 *     leave.c             leave, give up, resize; finish what V says
 *     seat.c              which seat a granted guest gets
 *     reserve.c           which tags a guest may use
 *     reap.c              the dead, and the holes in the line
 *     query.h             questions that change nothing
 *     parts.h, steps.h    what these files share; how they are stopped before each access
 */
#ifndef USHER_CORE_H
#define USHER_CORE_H

#include "core/frames.h"
#include "core/guards.h"
#include "core/steps.h"
#include "core/words.h"

/*
 * A pool's words as one process sees them, and their layout. I, V and K have a cache line each. The
 * rows follow. A row is eight words: the core uses the first, 16 bits of the second (the hint), and
 * the last two (the announcements). An exploration packs all words tightly, and can shorten
 * tickets, tags and cycles.
 */
struct core {
    _Atomic uint64_t *words;
    uint32_t rows;             /* guests: 1..CORE_MAX_ROWS */
    uint32_t seats;            /* room for this many seats; K says how many there are */
    uint32_t line_mask;        /* the number of places, a power of two, minus one */
    uint32_t at_line, at_seat; /* indices into words */
    /* No row with this number or a higher one was ever owned; NULL: any row may have been. */
    const _Atomic uint32_t *rows_used;
    uint32_t visitors; /* rows behind those: processes without a row of their own announce there */
    /* Called when a row became GRANTED: wake its owner. The row may be the caller's own. */
    void (*wake)(void *context, uint32_t row);
    void *wake_context;
#ifdef CORE_STEPS
    uint32_t at_i, at_v, at_k, at_row, at_hint, at_announced;
    bool repeats; /* words are so short that they repeat: otherwise nothing is announced */
    bool ghosts;  /* record what each process relies on: core_steps_rely */
    struct step_memory *memory;
    struct core_buffer *buffer; /* stores not yet in memory; NULL: no store buffer */
    uint32_t self, at_relied;   /* the process that steps; where the words of CORE_RELY begin */
    bool replaced;              /* a compare-and-swap succeeded on a value that was replaced */
    enum core_guard broken;     /* the guard that is dropped; 0: none */
    bool doomed;                /* a CORE_DOOMED condition held in this call */
    const struct core_finish_release *delivers; /* the frame that delivers in this call, or NULL */
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

/* The announcements that a guest can make at the same time. */
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

/* core_enter and core_leave, in and out when no guest waits, are in fast.h; the same for a guest
   that was the last to do both, in repeat.h. */

/* Enter, or take a place in the line. The row must be IDLE and the caller's. */
enum core_progress core_take(struct core *c, struct core_take *f);
/* Leave the line, unless the grant came first. */
enum core_progress core_give_up(struct core *c, struct core_give_up *f);
/* Get a seat for a row that is in. A seat exists for it, but finding it may take several calls. */
enum core_progress core_claim(struct core *c, struct core_claim *f);
/* Leave: free the seat and validate the next ticket. */
enum core_progress core_release(struct core *c, struct core_release *f);
/* Finish leaving, if core_leave or core_repeat_leave did not. */
enum core_progress core_leave_slowly(struct core *c, struct core_leave_slowly *f);
/* Change the number of seats by one: one more now, or one fewer as soon as a seat is free. */
enum core_progress core_resize(struct core *c, struct core_resize *f);

/* Make core_enter possible after it returned needs_help: reserve cycles, finish I, clear the place
   of the next ticket, and take free tickets that are owed out of the pool. */
enum core_progress core_help_enter(struct core *c, struct core_help_enter *f);
/* Finish the operations that I and V describe now, so that no guest waits for a slow or dead
   author. */
enum core_progress core_finish_published(struct core *c, struct core_finish_published *f);
/* Finish the operation that f->i, a value of I, describes; f->v, a value of V. */
enum core_progress core_finish_take(struct core *c, struct core_finish_take *f);
enum core_progress core_finish_release(struct core *c, struct core_finish_release *f);
/* Close the open question in f->word. f->ok: we closed it, and f->held is the answer; otherwise
   another guest did. */
enum core_progress core_settle(struct core *c, struct core_settle *f);
/* Find cycles or questions whose tags no stopped guest relies on: reserve.c. */
enum core_progress core_reserve(struct core *c, struct core_reserve *f);

/* Announce a row and read it. The announcement stays until core_reap or core_unwatch. */
enum core_progress core_watch(struct core *c, struct core_watch *f);
/* Finish what a dead owner left. Afterwards its row is IDLE. */
enum core_progress core_reap(struct core *c, struct core_reap *f);
/* Withdraw the announcement of core_watch. */
void core_unwatch(struct core *c, uint32_t by);
/* Withdraw all announcements of a row. Its new owner calls this before it signs as the owner. */
void core_disown(struct core *c, uint32_t row);

/* Write the words of a new pool with that many seats. No other process may see it yet. */
void core_init(struct core *c, uint32_t seats);

#ifdef CORE_STEPS
#include "core/simulated.h"
#endif

#endif
