/*
 * The hidden queue (1979, Lemma 4.5): FIFO enabling with O(N (log N)^c) shared values, for workers
 * and a supervisor that never fails. The report's l is k here, and its k is r. docs/algorithms.md
 * describes the construction, and where and why it differs from the report's sketch.
 *
 * All processes in T or C are in one queue, in order of arrival. Its first part, the exposed cells,
 * is in the value. The rest is hidden in the supervisor's memory. An arriving process takes a
 * ticket (issue, issued + 1), a colour and a number: its long name. Exposed cells contain short
 * names: a map for each colour distinguishes its holders, at most max(1, r-1) (short_names.h).
 *
 *     cell 0 .. k-1    k           k+1 .. 2k+2r-2   hidden queue, then arrivals not yet noticed
 *          drones,     a quitter   helpers          helpers
 *          may enter
 *
 * A cell is empty or has one process. A process that leaves empties its cell. The supervisor
 * deletes one empty cell with an occupied cell behind it per step: all cells behind it move up by
 * one, and an empty cell is appended. It places the first process of the hidden queue in the last
 * cell when that is empty. The process needs a short name for this. If too many processes have its
 * colour, the supervisor holds a round of talks (the report's conversation phase): in channels, r
 * at a time and bit by bit, it talks to the processes of the hidden queue and gives them new
 * tickets. The first gets a colour of its own, `alone`; the others get the colour `fresh`.
 *
 * Invariants (hidden_queue_wrong):
 *     every worker in T is in exactly one cell, hidden entry or unnoticed ticket, under its name
 *     every worker in C is in a cell with INSIDE, below k; no other worker is in such a cell
 *     a colour in a cell has a map, and at most max(1, r-1) holders; issue and fresh have no map
 *     a long name's number <= N, and <= members of T + r-1: (R7) needs this
 *     colours of the hidden queue behind its first, outside a round: at most r+1 with `issue`
 *     colours with a map: at most cells + r-1
 *     the supervisor never waits for an unused colour (except with HIDDEN_QUEUE_TIGHT)
 */
#ifndef USHER_PAPERS_HIDDEN_QUEUE_H
#define USHER_PAPERS_HIDDEN_QUEUE_H

#include "papers/short_names.h"
#include "papers/supervised.h"

enum {
    HIDDEN_QUEUE_WORKERS = 32, /* limit of N */
    HIDDEN_QUEUE_SEATS = 4,    /* limit of k */
    HIDDEN_QUEUE_R = 4,        /* limit of r */
    HIDDEN_QUEUE_CELLS = 2 * HIDDEN_QUEUE_SEATS + 2 * HIDDEN_QUEUE_R - 1,
    HIDDEN_QUEUE_COLORS = 2 * HIDDEN_QUEUE_SEATS + 3 * HIDDEN_QUEUE_R + 2
};

/* size.variant: the guard that a mutant drops, in the lower 8 bits; HIDDEN_QUEUE_TIGHT may be
   added. */
enum hidden_queue_broken {
    HIDDEN_QUEUE_UNPADDED = 1,   /* placed behind the last occupied cell, not in the last cell */
    HIDDEN_QUEUE_TWO_DELETED,    /* two deletions a step */
    HIDDEN_QUEUE_NONE_DELETED,   /* empty cells are not deleted */
    HIDDEN_QUEUE_ISSUE_KEPT,     /* `issue` does not change when a round begins */
    HIDDEN_QUEUE_ISSUE_MAPPED,   /* `issue` does not change when its own map is made */
    HIDDEN_QUEUE_UNNOTICED,      /* `issue` changes although an arrival is unnoticed */
    HIDDEN_QUEUE_NOT_CANCELLED,  /* the end of a round does not cancel an open talk */
    HIDDEN_QUEUE_DONE_MISSED,    /* a round ends although a channel is DONE */
    HIDDEN_QUEUE_ALL_TALK,       /* a round ends only when all have talked */
    HIDDEN_QUEUE_TALK_FEWER,     /* r-1 talks at a time */
    HIDDEN_QUEUE_NO_NAMES,       /* r-1 short names, not max(1, r-1) */
    HIDDEN_QUEUE_POSITION_FEWER, /* the last position of a map is ignored */
    HIDDEN_QUEUE_COLOR_FEWER,    /* one colour fewer */
    HIDDEN_QUEUE_ROUND_EARLY,    /* a round begins although no cell is empty */
    HIDDEN_QUEUE_HEARD_TOO_SOON, /* a new ticket counts before its receipt */
    HIDDEN_QUEUE_COLOR_TOO_SOON, /* a colour counts as unused although it is in a cell */
    HIDDEN_QUEUE_BROKEN_END,
    HIDDEN_QUEUE_BROKEN_MASK = 0xff,
    HIDDEN_QUEUE_TIGHT = 0x100 /* not broken: k+2 cells and k+r+3 colours are enough */
};

static inline bool hidden_queue_is(const struct supervised_size *size, unsigned broken)
{
    return (size->variant & HIDDEN_QUEUE_BROKEN_MASK) == broken;
}

static inline unsigned hidden_queue_cells(const struct supervised_size *size)
{
    return size->variant & HIDDEN_QUEUE_TIGHT ? size->k + 2 : 2 * size->k + 2 * size->r - 1;
}

/* One colour for each cell but the last, r+1 in the hidden queue behind its first, and three new
   ones when a round begins: the report's 2l+3k+2. With these the supervisor never waits for a
   colour. If it may wait, fewer are enough: whenever a process waits while a seat is free, fewer
   than k cells are occupied. */
static inline unsigned hidden_queue_colors(const struct supervised_size *size)
{
    unsigned exposed =
        size->variant & HIDDEN_QUEUE_TIGHT ? size->k - 1 : hidden_queue_cells(size) - 1;
    return exposed + size->r + 1 + 3 - hidden_queue_is(size, HIDDEN_QUEUE_COLOR_FEWER);
}

/* The number of processes of one colour that can have short names. */
static inline unsigned hidden_queue_names(const struct supervised_size *size)
{
    return size->r > 2 || hidden_queue_is(size, HIDDEN_QUEUE_NO_NAMES) ? size->r - 1 : 1;
}

/* The number of talks at one time. */
static inline unsigned hidden_queue_channels(const struct supervised_size *size)
{
    return size->r - hidden_queue_is(size, HIDDEN_QUEUE_TALK_FEWER);
}

enum hidden_queue_cell_state { HIDDEN_QUEUE_EMPTY, HIDDEN_QUEUE_WAITS, HIDDEN_QUEUE_INSIDE };

struct hidden_queue_cell {
    uint8_t state; /* the supervisor writes WAITS and EMPTY, the process itself INSIDE and EMPTY */
    uint8_t color, name;
};

/*
 * A talk, in one channel. A number is sent bit by bit, the lowest first. Its highest bit is a 1 and
 * is sent as LAST, so a number of b bits takes b symbols.
 *
 *     CLOSED -> OPEN            supervisor   a round begins
 *     OPEN -> CLAIM             worker       its colour, and the first symbol of its name
 *     CLAIM, SAY -> HEARD       supervisor
 *     HEARD -> SAY              worker       the next symbol of its name: the short name if it has
 *                                            one, else the long name's number
 *     CLAIM, SAY -> ALONE, TELL supervisor   after LAST: the ticket (alone, 1), or the first symbol
 *                                            of the number of a fresh ticket
 *     TELL -> TAKEN             worker
 *     TAKEN -> TELL             supervisor   the next symbol
 *     ALONE, TELL -> DONE       worker       after LAST: it holds the new ticket from now on
 *     DONE -> OPEN              supervisor   the hidden queue has its new name
 *     any but DONE -> CLOSED    supervisor   the round ends; `cancelled` tells a worker that was
 *                                            in a talk
 */
enum hidden_queue_channel_state {
    HIDDEN_QUEUE_CLOSED,
    HIDDEN_QUEUE_OPEN,
    HIDDEN_QUEUE_CLAIM,
    HIDDEN_QUEUE_HEARD,
    HIDDEN_QUEUE_SAY,
    HIDDEN_QUEUE_ALONE,
    HIDDEN_QUEUE_TELL,
    HIDDEN_QUEUE_TAKEN,
    HIDDEN_QUEUE_DONE
};

enum hidden_queue_symbol {
    HIDDEN_QUEUE_0,
    HIDDEN_QUEUE_1,
    HIDDEN_QUEUE_LAST,
    HIDDEN_QUEUE_SYMBOLS
};

struct hidden_queue_channel {
    uint8_t state;
    uint8_t color;  /* with CLAIM */
    uint8_t symbol; /* with CLAIM, SAY and TELL */
};

/* The value. */
struct hidden_queue_value {
    uint8_t issue, issued; /* tickets (issue, 1) to (issue, issued) have been taken */
    uint8_t alone, fresh;  /* 1 + colour, during a round; else 0 */
    struct hidden_queue_cell cells[HIDDEN_QUEUE_CELLS];
    struct hidden_queue_channel channels[HIDDEN_QUEUE_R];
    /* Bit name-1: a talk of that process is over. The supervisor sets it, the process clears it. */
    uint8_t cancelled[HIDDEN_QUEUE_COLORS];
    uint8_t unused;
    struct short_names maps[HIDDEN_QUEUE_COLORS];
};

/* A worker. It is in a talk if `channel` is not 0. */
struct hidden_queue_worker {
    uint8_t region;
    uint8_t color, number; /* its ticket, in T and C */
    uint8_t channel;       /* 1 + the channel of its talk */
    uint8_t hears;         /* 0: it sends its name; 1: it receives its new number */
    uint8_t position;      /* symbols sent or received */
    uint8_t heard;         /* the bits received */
    uint8_t unused;
};

/* The supervisor's side of a channel. */
enum hidden_queue_talk_stage { HIDDEN_QUEUE_NO_TALK, HIDDEN_QUEUE_LISTENS, HIDDEN_QUEUE_TELLS };

struct hidden_queue_talk {
    uint8_t stage;
    uint8_t color, name; /* as received so far */
    uint8_t position;    /* symbols received or sent */
    uint8_t reply;       /* the number of the fresh ticket; 0: the ticket (alone, 1) */
};

/* An entry of the hidden queue. */
struct hidden_queue_entry {
    uint8_t color;
    uint8_t name; /* a number, or SHORT + a short name */
};

enum { HIDDEN_QUEUE_SHORT = 0x80 };

/* The supervisor. */
struct hidden_queue_supervisor {
    uint8_t length;
    uint8_t issue,
        noticed;          /* tickets from (issue, noticed + 1) on are not yet in the hidden queue */
    uint8_t alone, fresh; /* as in the value */
    uint8_t dealt;        /* fresh tickets given in this round */
    struct hidden_queue_talk talks[HIDDEN_QUEUE_R];
    uint8_t unused[6];
    struct hidden_queue_entry hidden[HIDDEN_QUEUE_WORKERS];
};

_Static_assert(sizeof(struct hidden_queue_value) % 8 == 0, "whole words");
_Static_assert(sizeof(struct hidden_queue_worker) % 8 == 0, "whole words");
_Static_assert(sizeof(struct hidden_queue_supervisor) % 8 == 0, "whole words");
_Static_assert(sizeof(struct hidden_queue_value) <= SUPERVISED_VALUE_BYTES, "a value fits");
_Static_assert(SHORT_NAMES_MOST >= HIDDEN_QUEUE_R - 1, "names for r-1");

/* The symbol of a number at a position, 0 for its lowest bit. */
static inline uint8_t hidden_queue_symbol(unsigned number, unsigned position)
{
    unsigned symbol = number >> (position + 1) == 0 ? HIDDEN_QUEUE_LAST : number >> position & 1;
    return (uint8_t)symbol;
}

/* Add a symbol at a position to the bits received before. */
static inline uint8_t hidden_queue_hear(uint8_t heard, unsigned position, unsigned symbol)
{
    return (uint8_t)(heard | (symbol != HIDDEN_QUEUE_0) << (position & 7U));
}

/* hidden_queue_worker.c: the worker's steps. */
void hidden_queue_work(const struct supervised_size *size, void *value, void *worker,
                       unsigned process);
enum step_region hidden_queue_region(const struct supervised_size *size, const void *worker);
enum supervised_eligibility hidden_queue_eligibility(const struct supervised_size *size,
                                                     const void *value, const void *worker);
/* The short name of a worker's ticket, or 0 if its colour has no map; its cell, or -1. */
unsigned hidden_queue_name_of(const struct hidden_queue_value *v,
                              const struct hidden_queue_worker *w);
int hidden_queue_cell_of(const struct supervised_size *size, const struct hidden_queue_value *v,
                         const struct hidden_queue_worker *w);

/* hidden_queue_supervisor.c and hidden_queue_follow.c: the supervisor's step, and its next
   state. */
unsigned hidden_queue_transition(const struct supervised_size *size, void *value,
                                 const void *supervisor);
void hidden_queue_follow(const struct supervised_size *size, void *supervisor, unsigned transition);
unsigned hidden_queue_transitions(const struct supervised_size *size, const void *supervisor);
/* Must the supervisor wait for an unused colour? Only with the few colours of
   HIDDEN_QUEUE_TIGHT. */
bool hidden_queue_lacks_colors(const struct supervised_size *size,
                               const struct hidden_queue_value *v,
                               const struct hidden_queue_supervisor *s);
/* Holders of a colour in the hidden queue. */
unsigned hidden_queue_holders(const struct hidden_queue_supervisor *s, unsigned color);

/* hidden_queue_talk.c: the supervisor's side of the talks. */
/* The channel in which the supervisor must act, DONE before all others; r if there is none. */
unsigned hidden_queue_channel_due(const struct supervised_size *size,
                                  const struct hidden_queue_value *v);
/* Read a channel, as a number below HIDDEN_QUEUE_SYMBOLS times colours; apply it to the
   supervisor's state; and answer. */
unsigned hidden_queue_listen(const struct hidden_queue_value *v,
                             const struct hidden_queue_supervisor *s, unsigned channel);
void hidden_queue_take_in(const struct supervised_size *size, struct hidden_queue_supervisor *s,
                          unsigned channel, unsigned heard);
void hidden_queue_answer(const struct supervised_size *size, struct hidden_queue_value *v,
                         const struct hidden_queue_supervisor *s, unsigned channel);

/* hidden_queue_state.c and hidden_queue_judge.c: encoding, invariants, printing, number of
   values. */
unsigned hidden_queue_encode(const struct supervised_size *size, const void *supervisor,
                             unsigned char *bits);
void hidden_queue_decode(const struct supervised_size *size, const unsigned char *bits,
                         unsigned length, void *supervisor);
unsigned hidden_queue_most_bits(const struct supervised_size *size);
const char *hidden_queue_wrong(const struct supervised_size *size, const void *value,
                               const void *workers, const void *supervisor);
int hidden_queue_print(const struct supervised_size *size, const void *value, char *out,
                       size_t bytes);

/* The product of the ranges of all fields of the value. */
double hidden_queue_values(const struct supervised_size *size);
/* The number of supervisor states that can go with one value while at most c1 processes are in T:
   c2 of (R7). It does not depend on N. */
double hidden_queue_supervisors(const struct supervised_size *size);
/* hidden_queue_values is O(N (log2 N)^c) for fixed k and r, with this c. */
unsigned hidden_queue_exponent(const struct supervised_size *size);

extern const struct supervised papers_hidden_queue_system;
extern const struct step_machine papers_hidden_queue_mutants[17];

#endif
