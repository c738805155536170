/*
 * The bucket algorithm (1979, Lemma 4.4): what workers and supervisor share, and what the
 * supervisor keeps. bucket.c has the algorithm, bucket_state.c what can be said of its states.
 *
 *     buf ..> main ..> gate ..> queue[0] .. queue[length-1]     k buckets there at most
 *
 * A bucket is known by its colour; who tries holds the colour of its bucket. New ones hold buf.
 *
 *     holders of buf   = bufcount
 *     holders of main  = maincount, but for one if it has moved and the supervisor has not seen it;
 *                        none while main is filled: then maincount counts up to bufcount
 *     holders of gate  = gatecount, or that one
 *     holders of queue[i] = count[i] + enb[queue[i]] <= bucket_limit, and so for gate
 *     in C = cscount;  cscount + the sum of enb <= k
 *
 * Of these the report forgets to list enb and cscount (shared) and gatecount (the supervisor's).
 */
#ifndef USHER_PAPERS_BUCKET_H
#define USHER_PAPERS_BUCKET_H

#include "papers/supervised.h"

enum { BUCKET_SEATS = 13, BUCKET_COLORS = BUCKET_SEATS + 3 }; /* the most there may be */

/* Shared. `elig` is an enum supervised_eligibility for each colour. */
struct bucket_value {
    uint8_t buf, main, gate; /* colours; written by the supervisor */
    uint8_t move;            /* set by the supervisor, cleared by who moves from main to gate */
    uint8_t bufcount;        /* counted up by who arrives; cleared by the supervisor */
    uint8_t cscount;         /* workers in C; written by them */
    uint8_t unused[2];       /* zero */
    uint8_t elig[BUCKET_COLORS];
    uint8_t enb[BUCKET_COLORS]; /* how many of a bucket may enter: raised by the supervisor */
};

struct bucket_worker {
    uint8_t region; /* enum step_region */
    uint8_t color;  /* of its bucket while it tries, else 0 */
    uint8_t unused[6];
};

/* Where the supervisor is: which LOCK .. UNLOCK comes next. */
enum bucket_place {
    BUCKET_ELIMINATE, /* empty buckets from the queue */
    BUCKET_FILL_MAIN, /* count, then take over buf */
    BUCKET_FILL_GATE, /* with all of main, or ask one to move */
    BUCKET_AWAIT_MOVE,
    BUCKET_QUEUE_GATE, /* put gate on the queue */
    BUCKET_ENABLE,     /* one more process */
    BUCKET_PLACES
};

struct bucket_supervisor {
    uint8_t place; /* enum bucket_place */
    uint8_t length;
    uint8_t gatecount, maincount;
    uint8_t queue[BUCKET_SEATS]; /* colours; 0 beyond `length` */
    uint8_t count[BUCKET_SEATS]; /* of each: how many hold it, less enb */
    uint8_t unused[2];
};

/* size.variant: what is done otherwise. */
enum bucket_variant {
    BUCKET_AS_CORRECTED,
    BUCKET_AS_PRINTED,    /* `maincount < r-1`, buckets of r-1, and c1 to match */
    BUCKET_STRICT,        /* `maincount <` with the corrected limit */
    BUCKET_LIMIT,         /* buckets of r-1 also where r = 1, and c1 to match */
    BUCKET_ACTIVE,        /* active() counts maincount while main is filled, too */
    BUCKET_ONE_MORE,      /* one is enabled beyond the seats */
    BUCKET_FORGETS,       /* who is enabled but not yet in C is not counted */
    BUCKET_ELIMINATES,    /* a bucket is deleted when all are enabled, not when it is empty */
    BUCKET_ANY_MOVES,     /* whoever tries may move to the gate */
    BUCKET_MOVE_STAYS,    /* who moves does not say so */
    BUCKET_NO_DRONES,     /* elig stays Q when a bucket is enabled */
    BUCKET_NO_QUITTERS,   /* elig stays H when a bucket is queued */
    BUCKET_STALE,         /* a new colour keeps its old elig */
    BUCKET_LONGER,        /* one bucket more on the queue */
    BUCKET_UNCOUNTED,     /* main is filled without counting */
    BUCKET_LAST_FIRST,    /* the last bucket of the queue is enabled first */
    BUCKET_STAYS_INSIDE,  /* who leaves C does not say so */
    BUCKET_WHOLE,         /* all of main moves to the gate, however many */
    BUCKET_MAIN_TAKEN,    /* main is filled though it is not empty */
    BUCKET_GATE_TAKEN,    /* the gate is filled though it is not empty */
    BUCKET_ENABLES_TWICE, /* who is enabled still counts as to be enabled */
    BUCKET_VARIANTS
};

static inline bool bucket_is(const struct supervised_size *size, enum bucket_variant variant)
{
    return size->variant == (unsigned)variant;
}

extern const struct supervised papers_bucket_system;
extern const struct step_machine papers_bucket_mutants[BUCKET_VARIANTS - 1];

/* The most processes in gate and in each bucket of the queue. */
unsigned bucket_limit(const struct supervised_size *size);

/* The parts of papers_bucket_system in bucket_state.c. */
unsigned bucket_encode(const struct supervised_size *size, const void *supervisor,
                       unsigned char *bits);
void bucket_decode(const struct supervised_size *size, const unsigned char *bits, unsigned length,
                   void *supervisor);
unsigned bucket_most_bits(const struct supervised_size *size);
const char *bucket_wrong(const struct supervised_size *size, const void *value, const void *workers,
                         const void *supervisor);
int bucket_print(const struct supervised_size *size, const void *value, char *out, size_t bytes);

/* What a machine of bucket says of its shared space. */
double bucket_bound(const struct step_system *system);
extern const struct step_space bucket_space;

#endif
