/*
 * The bucket algorithm (1979, Lemma 4.4): the shared variable and the supervisor's state. bucket.c
 * has the algorithm, bucket_state.c the encoding and the checks of its states.
 *
 *     buf ..> main ..> gate ..> queue[0] .. queue[length-1]     at most k buckets on the queue
 *
 * A bucket is identified by its colour. A process in T holds the colour of its bucket; an arriving
 * process takes buf's colour.
 *
 *     holders of buf   = bufcount
 *     holders of main  = maincount, less the process that has moved and is not yet noticed by the
 *                        supervisor; 0 while main is being filled: maincount then counts up to
 *                        bufcount
 *     holders of gate  = gatecount, or that process
 *     holders of queue[i] = count[i] + enb[queue[i]] <= bucket_limit; gate has the same limit
 *     in C = cscount;  cscount + the sum of enb <= k
 *
 * The report's lists of data omit enb and cscount (shared) and gatecount (the supervisor's).
 */
#ifndef USHER_PAPERS_BUCKET_H
#define USHER_PAPERS_BUCKET_H

#include "papers/supervised.h"

enum { BUCKET_SEATS = 13, BUCKET_COLORS = BUCKET_SEATS + 3 }; /* upper limits */

/* Shared. `elig` is an enum supervised_eligibility for each colour. */
struct bucket_value {
    uint8_t buf, main, gate; /* colours; written by the supervisor */
    uint8_t move; /* set by the supervisor, cleared by the process that moves from main to gate */
    uint8_t bufcount;  /* incremented by arriving processes; cleared by the supervisor */
    uint8_t cscount;   /* workers in C; written by the workers */
    uint8_t unused[2]; /* zero */
    uint8_t elig[BUCKET_COLORS];
    /* Processes of the bucket that may enter: the supervisor increments, workers decrement. */
    uint8_t enb[BUCKET_COLORS];
};

struct bucket_worker {
    uint8_t region; /* enum step_region */
    uint8_t color;  /* the colour of its bucket in T, else 0 */
    uint8_t unused[6];
};

/* The supervisor's program counter: its next LOCK .. UNLOCK. */
enum bucket_place {
    BUCKET_ELIMINATE, /* delete empty buckets from the queue */
    BUCKET_FILL_MAIN, /* count buf, then make it main */
    BUCKET_FILL_GATE, /* with all of main, or ask one process to move */
    BUCKET_AWAIT_MOVE,
    BUCKET_QUEUE_GATE, /* put gate on the queue */
    BUCKET_ENABLE,     /* enable one more process */
    BUCKET_PLACES
};

struct bucket_supervisor {
    uint8_t place; /* enum bucket_place */
    uint8_t length;
    uint8_t gatecount, maincount;
    uint8_t queue[BUCKET_SEATS]; /* colours; 0 beyond `length` */
    uint8_t count[BUCKET_SEATS]; /* holders of each, less enb */
    uint8_t unused[2];
};

/* size.variant: the change that a mutant makes. */
enum bucket_variant {
    BUCKET_AS_CORRECTED,
    BUCKET_AS_PRINTED,    /* `maincount < r-1`, buckets of r-1, and c1 accordingly */
    BUCKET_STRICT,        /* `maincount <` with the corrected limit */
    BUCKET_LIMIT,         /* buckets of r-1 for r = 1 too, and c1 accordingly */
    BUCKET_ACTIVE,        /* active() counts maincount also while main is being filled */
    BUCKET_ONE_MORE,      /* k+1 processes are enabled */
    BUCKET_FORGETS,       /* enabled processes that are not yet in C are not counted */
    BUCKET_ELIMINATES,    /* a bucket is deleted when all in it are enabled, even if not empty */
    BUCKET_ANY_MOVES,     /* any process in T may move to the gate */
    BUCKET_MOVE_STAYS,    /* a process that moves does not clear `move` */
    BUCKET_NO_DRONES,     /* elig stays Q when a bucket is enabled */
    BUCKET_NO_QUITTERS,   /* elig stays H when a bucket is queued */
    BUCKET_STALE,         /* a new colour keeps its old elig */
    BUCKET_LONGER,        /* k+1 buckets on the queue */
    BUCKET_UNCOUNTED,     /* main is filled without counting */
    BUCKET_LAST_FIRST,    /* the last bucket of the queue is enabled first */
    BUCKET_STAYS_INSIDE,  /* a process that leaves C does not decrement cscount */
    BUCKET_WHOLE,         /* all of main moves to the gate, whatever its number */
    BUCKET_MAIN_TAKEN,    /* main is filled although it is not empty */
    BUCKET_GATE_TAKEN,    /* the gate is filled although it is not empty */
    BUCKET_ENABLES_TWICE, /* an enabled process still counts as not enabled */
    BUCKET_VARIANTS
};

static inline bool bucket_is(const struct supervised_size *size, enum bucket_variant variant)
{
    return size->variant == (unsigned)variant;
}

extern const struct supervised papers_bucket_system;
extern const struct step_machine papers_bucket_mutants[BUCKET_VARIANTS - 1];

/* The limit of processes in gate and in each bucket of the queue. */
unsigned bucket_limit(const struct supervised_size *size);

/* Members of papers_bucket_system, in bucket_state.c. */
unsigned bucket_encode(const struct supervised_size *size, const void *supervisor,
                       unsigned char *bits);
void bucket_decode(const struct supervised_size *size, const unsigned char *bits, unsigned length,
                   void *supervisor);
unsigned bucket_most_bits(const struct supervised_size *size);
const char *bucket_wrong(const struct supervised_size *size, const void *value, const void *workers,
                         const void *supervisor);
int bucket_print(const struct supervised_size *size, const void *value, char *out, size_t bytes);

/* Members of the machines over bucket. */
double bucket_bound(const struct step_system *system);
extern const struct step_space bucket_space;

#endif
