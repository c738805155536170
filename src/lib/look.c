/*
 * Who looks for the dead, and how. A waiter is granted its seat and woken, and nothing else is
 * needed as long as nobody dies; for the dead somebody must look.
 *
 * The first in line does, every LOOK_FIRST_NS, or more seldom if it has a vigil that tells it of
 * deaths (watch.c); and, because the first may die, too, every LOOK_SECOND_NS the second: the first
 * behind it of another process, for threads die together. The others sleep long, the longer the
 * more they are, so that all of them together hardly wake, about once in LOOK_EACH_NS: should those
 * two be killed at once, one of the others finds out. Who looked and leaves the line sees that
 * somebody near its front looks soon.
 *
 * A look: finish what is published; reap dead holders and the dead at the front of the line; wake
 * again whoever was granted a seat by one that died before it could wake it. watch.c makes it
 * cheap; wait.c says when it is time.
 */
#include "lib/lib.h"

#include <errno.h>
#include <stdlib.h>

enum {
    LOOK_FIRST_NS = 85 * 1000 * 1000,
    LOOK_SECOND_NS = 300 * 1000 * 1000,
    LOOK_EACH_NS = 1000 * 1000 * 1000, /* times the number of waiters, for the others */
    LOOK_LOCKS = 64,
    NEAR = 64,    /* so far we look for one of another process */
    SCOUT = 24,   /* so far for one who looks soon */
    ARM_TRIES = 4 /* so often the lookers are told, if they wake up just then */
};

uint32_t usher__look_scatter(uint32_t row, int64_t now)
{
    uint64_t x = ((uint64_t)row << 40) ^ (uint64_t)now;
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(x >> 32);
}

/* The two who look, or the first of them, of those whose `watch` has all of `marks`, and of `own`,
   which looks now: how many there are, at most `most`. */
static unsigned lookers(struct usher_pool *pool, uint32_t marks, uint32_t own, unsigned most,
                        uint32_t who[2])
{
    struct line_walk walk;
    uint64_t first = 0;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    unsigned found = 0;
    usher__line_begin(pool, &walk);
    for (unsigned seen = 0; seen < NEAR && usher__line_next(pool, &walk, &row, &word, &ticket);) {
        if (row != own && (atomic_load(&pool->rows[row].watch) & marks) != marks) {
            continue;
        }
        uint64_t owner = atomic_load(&pool->rows[row].owner);
        bool other = seen > 0 && (owner != first || !pool->shared);
        first = seen == 0 ? owner : first;
        if (seen < 2 || other) { /* for want of another, the next will do */
            who[seen == 0 ? 0 : 1] = row;
            found = seen == 0 ? 1 : 2;
        }
        if (other || most == 1) {
            break;
        }
        seen++;
    }
    return found;
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

/* Must this one be told, to be the first who looks (0) or the second (1)? */
static bool must_be_told(struct usher_pool *pool, uint32_t row, unsigned which)
{
    uint32_t looks = atomic_load(&pool->rows[row].watch) & (FORMAT_LOOKS | FORMAT_SELDOM);
    return looks != FORMAT_LOOKS && (which == 0 || looks == 0);
}

void usher__look_arm(struct usher_pool *pool, uint32_t own, unsigned count)
{
    bool again = true;
    for (unsigned tries = 0; tries < ARM_TRIES && again; tries++) {
        uint32_t who[2];
        /* one that does not wait yet is about to, gives way, or is dead */
        unsigned found = lookers(pool, FORMAT_WAITS, own, count, who);
        again = false;
        for (unsigned w = 0; w < found; w++) {
            if (who[w] != own && must_be_told(pool, who[w], w)) {
                again = tell(pool, who[w]) == -EAGAIN || again;
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
    struct line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    uint32_t last = CORE_NOBODY;
    usher__line_begin(pool, &walk);
    for (unsigned n = 0; n < SCOUT && usher__line_next(pool, &walk, &row, &word, &ticket); n++) {
        uint32_t watch = atomic_load(&pool->rows[row].watch);
        if ((watch & (FORMAT_LOOKS | FORMAT_SELDOM)) == FORMAT_LOOKS) {
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
static void reap_front(struct usher_pool *pool, struct alive_round *round)
{
    struct line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    unsigned live = 0;
    usher__line_begin(pool, &walk);
    while (live < 2 && usher__line_next(pool, &walk, &row, &word, &ticket)) {
        live += !usher__alive_reap(pool, round, row);
    }
}

void usher__look(struct usher_pool *pool)
{
    struct core_help help = {0};
    struct alive_round *round = usher__alive_round(pool, LOOK_LOCKS);
    (void)core_help(&pool->core, &help);
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        enum core_state state = core_row_state(usher__row_word(pool, row));
        if (state == CORE_IDLE || state == CORE_WAITING) {
            continue;
        }
        if (!usher__alive_reap(pool, round, row) && state == CORE_GRANTED &&
            (atomic_load(&pool->rows[row].watch) & FORMAT_WAITS)) {
            (void)os_wake(&pool->rows[row].word, pool->shared);
        }
    }
    if (pool->shared) {
        reap_front(pool, round);
    }
    free(round);
    usher__pool_settle(pool);
}

unsigned usher__look_place(struct usher_pool *pool, uint32_t own)
{
    uint32_t who[2];
    unsigned found = lookers(pool, 0, CORE_NOBODY, 2, who);
    if (found > 0 && who[0] == own) {
        return 1;
    }
    if (found == 2) {
        return who[1] == own ? 2 : 3;
    }
    return 1; /* not found any more: it is being granted, or nothing is certain. Look. */
}

int64_t usher__look_until(struct usher_pool *pool, unsigned place, uint32_t row, int64_t now)
{
    if (place <= 2) {
        return now + (place == 1 ? LOOK_FIRST_NS : LOOK_SECOND_NS);
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
