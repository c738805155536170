/*
 * Proposition 3.1 (1994) as a record for each process, for tests that explore a timestamp system.
 * Call record_* when a Label or a Scan begins and ends, and check `wrong`. A Scan here says which
 * processes are before the scanning one; that is the part of (1) that record_end_scan checks. (1)
 * also covers Scans about two other processes: record_begin_pairs and record_end_pairs check that.
 */
#ifndef USHER_TESTS_PROPOSITION_H
#define USHER_TESTS_PROPOSITION_H

#include "step/step.h"

/* With a sanitizer gcc does not see that a masked value fits a field of four bits. */
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"

enum { RECORD_MOST = 3 };

/* The history of one process, as sets of processes. Its label is the one it took last. */
union record {
    struct {
        uint64_t has : 4;     /* 1: it has a label, and is not taking another */
        uint64_t begun : 4;   /* processes in a Label that began after its label was finished */
        uint64_t late : 4;    /* processes that finished such a Label */
        uint64_t after : 4;   /* processes that its Scans must find after itself from now on */
        uint64_t later : 4;   /* processes that began to take their label after this one did */
        uint64_t done : 4;    /* labels finished when this one began to take its own */
        uint64_t expects : 4; /* in a Scan: `after` when it began */
        uint64_t asks : 4;    /* in a Scan: processes that it must find before itself */
        uint64_t found : 4;   /* in a Scan: processes found before itself so far */
        uint64_t ready : 4;   /* in a Scan: labels finished when it began, and unchanged since */
        uint64_t scanned : 4; /* 1: scanned since its label; the last Scan: */
        uint64_t before : 4;  /* processes before it */
        uint64_t peers : 4;   /* `ready` */
        uint64_t wrong : 4;   /* the part of the proposition that is violated */
        uint64_t pairs : 4;   /* in a Scan: which other must be found before the third of three */
    } is;
    uint64_t word;
};

struct records {
    union record of[RECORD_MOST];
};

static inline unsigned record_everyone(const struct step_system *system)
{
    return (1U << system->n) - 1;
}

static inline void record_begin_label(const struct step_system *system, struct records *records,
                                      unsigned i)
{
    unsigned me = 1U << i;
    union record fresh = {.word = 0};
    for (unsigned j = 0; j < system->n; j++) {
        union record *r = &records->of[j];
        if (j == i) {
            continue;
        }
        fresh.is.done |= (r->is.has & 1U) << j & 15U;
        r->is.begun |= (r->is.has ? me : 0U) & 15U;
        r->is.later |= me & 15U;
        r->is.done &= ~me & 15U;
        r->is.asks &= ~me & 15U;
        r->is.ready &= ~me & 15U;
        r->is.peers &= ~me & 15U;
        r->is.pairs &= ~me & 15U;
    }
    records->of[i] = fresh;
}

static inline void record_end_label(const struct step_system *system, struct records *records,
                                    unsigned i)
{
    unsigned me = 1U << i;
    records->of[i].is.has = 1;
    for (unsigned j = 0; j < system->n; j++) {
        union record *r = &records->of[j];
        r->is.late |= r->is.begun & me & 15U;
        r->is.after |= r->is.begun & me & 15U; /* (1) */
        r->is.begun &= ~me & 15U;
    }
}

static inline void record_begin_scan(const struct step_system *system, struct records *records,
                                     unsigned i)
{
    union record *r = &records->of[i];
    r->is.expects = r->is.after;
    r->is.asks = r->is.found = r->is.ready = 0;
    for (unsigned j = 0; j < system->n; j++) {
        r->is.asks |= (records->of[j].is.late >> i & 1U) << j & 15U; /* (1) */
        r->is.ready |= (records->of[j].is.has & 1U) << j & 15U;
    }
}

/* (4) and (5) of the set C. */
static inline unsigned record_judge_set(const struct step_system *system,
                                        const struct records *records, unsigned set)
{
    bool some_last = false;
    bool some_first = false;
    bool all_after = true;
    unsigned recent = 0; /* C' */
    for (unsigned i = 0; i < system->n; i++) {
        const union record *r = &records->of[i];
        if (set >> i & 1 && !(r->is.has && r->is.scanned)) {
            return 0;
        }
        if (set >> i & 1 && (r->is.later & set) == 0) {
            recent = set & ~(unsigned)r->is.done;
        }
    }
    for (unsigned i = 0; i < system->n; i++) {
        const union record *r = &records->of[i];
        unsigned others = set & ~(1U << i);
        if (set >> i & 1) {
            some_last = some_last || (recent >> i & 1 && (others & ~(unsigned)r->is.before) == 0);
            some_first = some_first || (others & r->is.before) == 0;
            all_after = all_after && (others & ~(unsigned)r->is.peers) == 0;
        }
    }
    return !some_last ? 4 : all_after && !some_first ? 5 : 0;
}

static inline void record_end_scan(const struct step_system *system, struct records *records,
                                   unsigned i)
{
    union record *r = &records->of[i];
    unsigned behind = record_everyone(system) & ~(1U << i) & ~(unsigned)r->is.found;
    r->is.wrong = (r->is.expects & r->is.found) != 0 ? 2 : (r->is.asks & ~r->is.found) != 0 ? 1 : 0;
    r->is.after |= behind & 15U; /* (2) */
    for (unsigned j = 0; j < system->n; j++) {
        if (records->of[j].is.late >> i & 1) {
            records->of[j].is.after |= behind & ~(1U << j) & 15U; /* (3) */
        }
    }
    r->is.scanned = 1;
    r->is.before = r->is.found;
    r->is.peers = r->is.ready;
    r->is.expects = r->is.asks = r->is.found = r->is.ready = 0;
    for (unsigned set = 1; set <= record_everyone(system) && r->is.wrong == 0; set++) {
        r->is.wrong = record_judge_set(system, records, set) & 15U;
    }
}

/* The third process of three; n if there are only two. */
static inline unsigned record_third(const struct step_system *system, unsigned i, unsigned j)
{
    return system->n == RECORD_MOST ? RECORD_MOST - i - j : system->n;
}

/* (1) for a Scan of i about all processes: call it when the Scan begins. */
static inline void record_begin_pairs(const struct step_system *system, struct records *records,
                                      unsigned i)
{
    records->of[i].is.pairs = 0;
    for (unsigned j = 0; j < system->n; j++) {
        unsigned third = j == i ? system->n : record_third(system, i, j);
        if (third < system->n && records->of[j].is.late >> third & 1) {
            records->of[i].is.pairs |= 1U << j & 15U;
        }
    }
}

/* Call it when the Scan ends, after record_end_scan: `first` is the process that the Scan found
   before the third. */
static inline void record_end_pairs(struct records *records, unsigned i, unsigned first)
{
    union record *r = &records->of[i];
    if ((r->is.pairs & ~first) != 0) {
        r->is.wrong = 1;
    }
    r->is.pairs = 0;
}

/* The part that is violated, or NULL. */
static inline const char *record_wrong(const union record *r)
{
    static const char *const parts[] = {NULL, "(1)", "(1), (2) or (3)", NULL, "(4)", "(5)"};
    return parts[r->is.wrong];
}

#endif
