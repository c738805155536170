/*
 * Who looks for the dead, and how. A waiter is granted its seat and woken, and nothing else is
 * needed as long as nobody dies; for the dead somebody must look.
 *
 * Three waiters of the line do, the lookers. The first in line looks every LOOK_FIRST_NS, or more
 * seldom if it has a vigil that wakes it when a process dies (watch.c). The second is the next of
 * another process, for threads die together, and looks every LOOK_SECOND_NS. The third is the next
 * of a third process, and looks every LOOK_THIRD_NS. The second and the third have vigils, too,
 * once they have been that for a moment: so a death wakes one of the three even if the other two
 * are stopped. The others sleep long, the longer the more they are, so that all of them together
 * hardly wake, about once in LOOK_EACH_NS: should the three be killed or stopped at once, one of
 * the others finds out. A looker that leaves the line sees that a waiter near its front looks soon.
 *
 * A stopped waiter is not asleep, though it says so (os_is_slept_on): it is no looker, and the next
 * one is in its place. A looker finds that out with its next look, so that as many lookers as can
 * be had are running again after LOOK_THIRD_NS at the latest.
 *
 * A look: finish what is published; reap dead holders and the dead at the front of the line; wake
 * again whoever was granted a seat by one that died before it could wake it. watch.c makes it
 * cheap; wait.c says when it is time.
 */
#include "pool/pool.h"

#include <errno.h>
#include <stdlib.h>

enum {
    LOOK_FIRST_NS = 85 * 1000 * 1000,
    LOOK_SECOND_NS = 300 * 1000 * 1000,
    LOOK_THIRD_NS = 1000 * 1000 * 1000,
    LOOK_EACH_NS = 1000 * 1000 * 1000, /* times the number of waiters, for the others */
    LOOK_LOCKS = 64,
    LOOKERS = 3,
    NEAR = 64,    /* so far we look for one of another process */
    SCOUT = 24,   /* so far for one who looks soon */
    ARM_TRIES = 4 /* attempts to tell the lookers, if they wake up just then */
};

uint32_t usher__look_scatter(uint32_t row, int64_t now)
{
    uint64_t x = ((uint64_t)row << 40) ^ (uint64_t)now;
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(x >> 32);
}

/* It says that it sleeps, and does not: it is stopped, or about to run or to sleep. This process is
   not stopped. */
static bool is_absent(struct usher_pool *pool, uint32_t row)
{
    return pool->shared && usher__guest_with(pool, row) == NULL &&
           (atomic_load(&pool->rows[row].watch) & FORMAT_WAITS) &&
           !os_is_slept_on(&pool->rows[row].word, true);
}

/* The lookers found so far, and whose they are. */
struct lookers {
    unsigned found;
    uint32_t row[LOOKERS];
    uint64_t owner[LOOKERS];
    uint32_t stand_in; /* the second for want of one of another process; CORE_NOBODY: none */
    uint64_t absent;   /* the process that was found to be absent last; 0: none */
    unsigned asked;    /* so many were asked for whether they are */
};

/* Is it of a process that none of them is of? In a pool without a file any thread will do. */
static bool is_other(const struct usher_pool *pool, const struct lookers *l, uint64_t owner)
{
    for (unsigned f = 0; f < l->found && pool->shared; f++) {
        if (l->owner[f] == owner) {
            return false;
        }
    }
    return true;
}

/* To be asked for at most NEAR waiters, and once for the threads of a process that follow each
   other: from there on a waiter is what it says. */
static bool counts(struct usher_pool *pool, struct lookers *l, uint32_t row, uint64_t owner)
{
    if (owner == l->absent && owner != 0) {
        return false;
    }
    if (l->asked < NEAR && is_other(pool, l, owner)) {
        l->asked++;
        l->absent = is_absent(pool, row) ? owner : l->absent;
        return l->absent != owner || owner == 0;
    }
    return true;
}

/* The lookers, at most `most` of them: of those whose `watch` has all of `marks`, and of `own`,
   which looks now. */
static struct lookers find_lookers(struct usher_pool *pool, uint32_t marks, uint32_t own,
                                   unsigned most)
{
    struct lookers l = {.stand_in = CORE_NOBODY};
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    most = pool->shared || most < LOOKERS ? most : LOOKERS - 1; /* threads are stopped together */
    usher__line_begin(pool, &walk);
    for (unsigned seen = 0;
         l.found < most && seen < NEAR && usher__line_next(pool, &walk, &row, &word, &ticket);) {
        uint64_t owner = atomic_load(&pool->rows[row].owner);
        if (row != own && ((atomic_load(&pool->rows[row].watch) & marks) != marks ||
                           !counts(pool, &l, row, owner))) {
            continue;
        }
        seen++;
        if (is_other(pool, &l, owner)) {
            l.owner[l.found] = owner;
            l.row[l.found++] = row;
        } else if (l.stand_in == CORE_NOBODY) {
            l.stand_in = row;
        }
    }
    if (l.found == 1 && most > 1 && l.stand_in != CORE_NOBODY) {
        l.row[l.found++] = l.stand_in;
    }
    return l;
}

/*
 * Tell a waiter to look, and wake it. Should it be granted a seat before it looks, it finds
 * FORMAT_TOLD as it wakes, and passes that on. 1: it was woken. 0: it was not asleep, but will find
 * FORMAT_TOLD before or after its next sleep. -EAGAIN: it is awake, and will find nothing.
 */
static int tell(struct usher_pool *pool, uint32_t row)
{
    uint32_t watch = atomic_load(&pool->rows[row].watch);
    while (watch & FORMAT_WAITS) {
        if (atomic_compare_exchange_weak(&pool->rows[row].watch, &watch, watch | FORMAT_TOLD)) {
            return os_wake(&pool->rows[row].word, pool->shared);
        }
    }
    return -EAGAIN;
}

/* Must this one be told, to be the looker in that place? */
static bool must_be_told(struct usher_pool *pool, uint32_t row, unsigned place)
{
    uint32_t looks = atomic_load(&pool->rows[row].watch) & (FORMAT_LOOKS | FORMAT_SELDOM);
    return place == LOOK_FIRST    ? looks != FORMAT_LOOKS
           : place == LOOK_SECOND ? !(looks & FORMAT_LOOKS)
                                  : looks == 0;
}

void usher__look_arm(struct usher_pool *pool, uint32_t own, unsigned count)
{
    bool again = true;
    for (unsigned tries = 0; tries < ARM_TRIES && again; tries++) {
        /* one that does not wait yet is about to, gives way, or is dead */
        struct lookers l = find_lookers(pool, FORMAT_WAITS, own, count);
        again = false;
        for (unsigned f = 0; f < l.found; f++) {
            if (l.row[f] != own && must_be_told(pool, l.row[f], LOOK_FIRST + f)) {
                again = tell(pool, l.row[f]) == -EAGAIN || again;
            }
        }
    }
}

/*
 * Whoever leaves the line and was one who looks sees that somebody near its front looks soon, and
 * tells one to if nobody does; that one then tells the first two, if they still stand there. So
 * where the line moves fast one in SCOUT has to be told, and not everybody. So does who gives up;
 * and of the others now and then one: who should have done so may have been killed.
 */
void usher__look_pass_on(struct usher_pool *pool)
{
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    uint32_t last = CORE_NOBODY;
    usher__line_begin(pool, &walk);
    for (unsigned n = 0; n < SCOUT && usher__line_next(pool, &walk, &row, &word, &ticket); n++) {
        uint32_t watch = atomic_load(&pool->rows[row].watch);
        if ((watch & (FORMAT_LOOKS | FORMAT_SELDOM)) == FORMAT_LOOKS && !is_absent(pool, row)) {
            return;
        }
        /* one that does not wait is about to, gives way, or is dead */
        last = (watch & (FORMAT_WAITS | FORMAT_BRIEF)) == FORMAT_WAITS ? row : last;
    }
    if (last != CORE_NOBODY && tell(pool, last) != 1) {
        usher__look_arm(pool, CORE_NOBODY, 1); /* it is awake, or dead */
    }
}

/* The dead at the front of the line: the first two live ones end the search. */
static void reap_front(struct usher_pool *pool, struct alive_round *round, uint32_t by)
{
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    unsigned live = 0;
    usher__line_begin(pool, &walk);
    while (live < 2 && usher__line_next(pool, &walk, &row, &word, &ticket)) {
        live += !usher__alive_reap(pool, round, by, row);
    }
}

void usher__look(struct usher_pool *pool, uint32_t by)
{
    struct core_finish_published help = {.by = by};
    struct alive_round *round = usher__alive_round(pool, LOOK_LOCKS);
    (void)core_finish_published(&pool->core, &help);
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        enum core_state state = core_row_state(usher__row_word(pool, row));
        if (state == CORE_IDLE || state == CORE_WAITING) {
            continue;
        }
        if (!usher__alive_reap(pool, round, by, row) && state == CORE_GRANTED &&
            (atomic_load(&pool->rows[row].watch) & FORMAT_WAITS)) {
            (void)os_wake(&pool->rows[row].word, pool->shared);
        }
    }
    if (pool->shared) {
        reap_front(pool, round, by);
    }
    free(round);
    usher__pool_settle(pool, by);
}

unsigned usher__look_place(struct usher_pool *pool, uint32_t own)
{
    struct lookers l = find_lookers(pool, 0, own, LOOKERS);
    for (unsigned f = 0; f < l.found; f++) {
        if (l.row[f] == own) {
            return LOOK_FIRST + f;
        }
    }
    /* With less than two, own is not found any more: it is being granted, or nothing is certain.
       Look. */
    return l.found < 2 ? LOOK_FIRST : LOOK_OTHERS;
}

int64_t usher__look_until(struct usher_pool *pool, unsigned place, uint32_t row, int64_t now)
{
    static const int64_t ns[] = {0, LOOK_FIRST_NS, LOOK_SECOND_NS, LOOK_THIRD_NS};
    if (place < LOOK_OTHERS) {
        return now + ns[place];
    }
    /* Each sleeps for a time that has no memory, so that, however few or many have begun to sleep
       together, one wakes in LOOK_EACH_NS on average: -ln of a random number below 1, by way
       of its binary logarithm. */
    uint32_t random = usher__look_scatter(row, now) | 1;
    unsigned zeros = (unsigned)__builtin_clz(random);
    int64_t log2_1024 = (int64_t)(zeros + 1) * 1024 - ((random << zeros) >> 21) % 1024;
    int64_t each = (int64_t)LOOK_EACH_NS * usher__line_waiters(pool);
    return now + each / 1024 * (log2_1024 * 710 / 1024);
}
