/*
 * One scan for the dead, and who the scanners are: see reaper.h. A scan finishes what is published,
 * reaps dead holders and the dead at the front of the line, and wakes granted waiters that still
 * sleep because the process that granted them died before it could wake them. watch.c makes scans
 * cheap, duty.c says when it is time for one.
 */
#include "reaper/reaper.h"

#include "pool/pool.h"
#include "wait/act.h"

#include <errno.h>
#include <stdlib.h>

enum {
    SCAN_LOCKS = 64, /* locks asked for in one scan: each costs a system call */
    SCANNERS = 3,
    SCAN_REACH = 64,  /* waiters asked, from the front, to find scanners of three processes */
    SCOUT_REACH = 24, /* waiters from the front; one of them must scan soon */
    APPOINT_TRIES = 4 /* a waiter that wakes just then is missed; after this many tries it runs */
};

/* Whether a row says that it sleeps and does not: its owner is stopped, or about to run or to
   sleep. A thread of this process is not stopped. */
static bool is_absent(struct usher_pool *pool, uint32_t row)
{
    return pool->shared && usher__guest_with(pool, row) == NULL &&
           (atomic_load(&pool->rows[row].watch) & FORMAT_WAITS) &&
           !os_is_slept_on(&pool->rows[row].word, true);
}

/* The scanners found so far, and their processes. */
struct scanners {
    unsigned found;
    uint32_t row[SCANNERS];
    uint64_t owner[SCANNERS];
    uint32_t stand_in; /* the second if there is none of another process; CORE_NOBODY: none */
    uint64_t absent;   /* the process that was found absent last; 0: none */
    unsigned asked;    /* rows that were asked about that */
};

/* Is `owner` a process that none of the scanners belongs to? In a pool without a file any thread
   will do. */
static bool is_other(const struct usher_pool *pool, const struct scanners *s, uint64_t owner)
{
    for (unsigned f = 0; f < s->found && pool->shared; f++) {
        if (s->owner[f] == owner) {
            return false;
        }
    }
    return true;
}

/* May this waiter be a scanner? Asked once for the threads of one process that follow each other,
   and for SCAN_REACH waiters at most; after that a waiter is believed. */
static bool is_able(struct usher_pool *pool, struct scanners *s, uint32_t row, uint64_t owner)
{
    if (owner == s->absent && owner != 0) {
        return false;
    }
    if (s->asked < SCAN_REACH && is_other(pool, s, owner)) {
        s->asked++;
        s->absent = is_absent(pool, row) ? owner : s->absent;
        return s->absent != owner || owner == 0;
    }
    return true;
}

/* The scanners, at most `most` of them, among the waiters whose row has all of `marks`, and `own`,
   which scans now. */
static struct scanners find_scanners(struct usher_pool *pool, uint32_t marks, uint32_t own,
                                     unsigned most)
{
    struct scanners s = {.stand_in = CORE_NOBODY};
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    most = pool->shared || most < SCANNERS ? most : SCANNERS - 1; /* threads are stopped together */
    usher__line_begin(pool, &walk);
    for (unsigned seen = 0; s.found < most && seen < SCAN_REACH &&
                            usher__line_next(pool, &walk, &row, &word, &ticket);) {
        uint64_t owner = atomic_load(&pool->rows[row].owner);
        if (row != own && ((atomic_load(&pool->rows[row].watch) & marks) != marks ||
                           !is_able(pool, &s, row, owner))) {
            continue;
        }
        seen++;
        if (is_other(pool, &s, owner)) {
            s.owner[s.found] = owner;
            s.row[s.found++] = row;
        } else if (s.stand_in == CORE_NOBODY) {
            s.stand_in = row;
        }
    }
    if (s.found == 1 && most > 1 && s.stand_in != CORE_NOBODY) {
        s.row[s.found++] = s.stand_in;
    }
    return s;
}

/*
 * Ask a waiter to scan, and wake it. If it is granted a seat first, it finds FORMAT_SUMMONED as it
 * wakes, and passes the duty on. 1: it was woken. 0: it was not asleep, but finds FORMAT_SUMMONED
 * before or after its next sleep. -EAGAIN: it is awake, and finds nothing.
 */
static int ask_to_scan(struct usher_pool *pool, uint32_t row)
{
    uint32_t watch = atomic_load(&pool->rows[row].watch);
    while (watch & FORMAT_WAITS) {
        if (atomic_compare_exchange_weak(&pool->rows[row].watch, &watch, watch | FORMAT_SUMMONED)) {
            return os_wake(&pool->rows[row].word, pool->shared);
        }
    }
    return -EAGAIN;
}

/* Must this waiter be asked, to be the scanner in that place? */
static bool must_be_asked(struct usher_pool *pool, uint32_t row, unsigned place)
{
    uint32_t scans = atomic_load(&pool->rows[row].watch) & (FORMAT_SCANS | FORMAT_SELDOM);
    return place == SCAN_FIRST    ? scans != FORMAT_SCANS
           : place == SCAN_SECOND ? !(scans & FORMAT_SCANS)
                                  : scans == 0;
}

void usher__scan_appoint(struct usher_pool *pool, uint32_t own, unsigned count)
{
    bool again = true;
    for (unsigned tries = 0; tries < APPOINT_TRIES && again; tries++) {
        /* A waiter without FORMAT_WAITS is about to sleep, yields, or is dead. */
        struct scanners s = find_scanners(pool, FORMAT_WAITS, own, count);
        again = false;
        for (unsigned f = 0; f < s.found; f++) {
            if (s.row[f] != own && must_be_asked(pool, s.row[f], SCAN_FIRST + f)) {
                again = ask_to_scan(pool, s.row[f]) == -EAGAIN || again;
            }
        }
    }
}

/*
 * The waiter that is asked appoints the first scanners when it scans. In a line that moves fast one
 * waiter in SCOUT_REACH is asked, not each.
 */
void usher__scan_pass_on(struct usher_pool *pool)
{
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    uint32_t last = CORE_NOBODY;
    usher__line_begin(pool, &walk);
    for (unsigned n = 0; n < SCOUT_REACH && usher__line_next(pool, &walk, &row, &word, &ticket);
         n++) {
        uint32_t watch = atomic_load(&pool->rows[row].watch);
        if ((watch & (FORMAT_SCANS | FORMAT_SELDOM)) == FORMAT_SCANS && !is_absent(pool, row)) {
            return;
        }
        last = (watch & (FORMAT_WAITS | FORMAT_BRIEF)) == FORMAT_WAITS ? row : last;
    }
    if (last != CORE_NOBODY && ask_to_scan(pool, last) != 1) {
        usher__scan_appoint(pool, CORE_NOBODY, 1); /* it is awake, or dead */
    }
}

/* The dead at the front of the line: two live waiters end the search. How many were dead. */
static unsigned reap_front(struct pool_act *act, struct alive_round *round)
{
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    unsigned live = 0;
    unsigned dead = 0;
    usher__line_begin(act->pool, &walk);
    while (live < 2 && usher__line_next(act->pool, &walk, &row, &word, &ticket)) {
        bool reaped = usher__reap_row(act, round, row);
        live += !reaped;
        dead += reaped;
    }
    return dead;
}

unsigned usher__scan(struct pool_act *act)
{
    unsigned dead = 0;
    struct usher_pool *pool = act->pool;
    struct core_finish_published help = {.by = act->by};
    struct alive_round *round = usher__alive_round(pool, SCAN_LOCKS);
    (void)core_finish_published(&act->core, &help);
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        enum core_state state = core_row_state(usher__row_word(pool, row));
        if (state == CORE_IDLE || state == CORE_WAITING) {
            continue;
        }
        bool reaped = usher__reap_row(act, round, row);
        dead += reaped;
        if (!reaped && state == CORE_GRANTED &&
            (atomic_load(&pool->rows[row].watch) & FORMAT_WAITS)) {
            (void)os_wake(&pool->rows[row].word, pool->shared);
        }
    }
    if (pool->shared) {
        dead += reap_front(act, round);
    }
    free(round);
    return dead;
}

enum scan_place usher__scan_place(struct usher_pool *pool, uint32_t row)
{
    struct scanners s = find_scanners(pool, 0, row, SCANNERS);
    for (unsigned f = 0; f < s.found; f++) {
        if (s.row[f] == row) {
            return SCAN_FIRST + f;
        }
    }
    /* With fewer than two the row was not found: it is being granted a seat, or nothing is certain.
       It had better scan. */
    return s.found < 2 ? SCAN_FIRST : SCAN_OTHER;
}
