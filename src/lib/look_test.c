/*
 * Who looks for the dead when the line has moved (wait.c). Whoever looked and gets in tells another
 * to look, and that one sleeps for a short while only, wherever it stands; one that may give up
 * before it looks is neither told nor counted on. For how long each is about to sleep is seen on
 * its way to the kernel (-Wl,--wrap=syscall), so that it does not matter how busy the machine is.
 */
#include "lib/lib.h"
#include "sitters.h"

#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAITERS = 3, TRIES = 20, HANG_SECONDS = 100, SOON_NS = 12 * 1000 * 1000 };

/* The first sleep of one of these threads since it was last asked for. */
static _Atomic pthread_t watched[WAITERS];
static atomic_int first;          /* which of them, plus one; 0: nobody yet */
static atomic_llong first_for_ns; /* and for how long */
static atomic_int second_slept;   /* so often has the second of them since, two times at most; */
static atomic_llong longest_ns;   /* and for how long at most */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(rest, long);
    }
    va_end(rest);
    if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET && a[3] != 0) {
        const struct timespec *until = (const struct timespec *)a[3];
        long long for_ns = until->tv_sec * 1000000000LL + until->tv_nsec - os_now_ns();
        if (pthread_equal(pthread_self(), watched[1]) && atomic_load(&second_slept) < 2) {
            atomic_store(&longest_ns, for_ns > longest_ns ? for_ns : longest_ns);
            atomic_fetch_add(&second_slept, 1);
        }
        for (int w = 0; w < WAITERS; w++) {
            int nobody = 0;
            if (pthread_equal(pthread_self(), watched[w]) &&
                atomic_compare_exchange_strong(&first, &nobody, -1)) {
                atomic_store(&first_for_ns, for_ns);
                atomic_store(&first, w + 1);
            }
        }
    }
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The row of the waiter at that place in line, from 0. */
static struct format_row *at(struct usher_pool *pool, int place)
{
    struct line_walk walk;
    uint64_t word;
    uint32_t row = 0;
    uint32_t ticket;
    usher__line_begin(pool, &walk);
    for (int p = 0; p <= place; p++) {
        EXPECT(usher__line_next(pool, &walk, &row, &word, &ticket));
    }
    return &pool->rows[row];
}

static uint32_t marks(struct usher_pool *pool, int place)
{
    return atomic_load(&at(pool, place)->watch) & ~FORMAT_REAPED;
}

/* They wait, and each has found its place and sleeps accordingly. */
static void settle(struct usher_pool *pool, struct sitter *waiters)
{
    atomic_store(&first, -1);
    for (int w = 0; w < WAITERS; w++) {
        queue_up(&waiters[w], pool);
        watched[w] = waiters[w].thread;
    }
    UNTIL(marks(pool, 0) == (FORMAT_WAITS | FORMAT_LOOKS));
    UNTIL(marks(pool, 1) == (FORMAT_WAITS | FORMAT_LOOKS | FORMAT_SELDOM));
    UNTIL(marks(pool, 2) == FORMAT_WAITS);
}

static void leave_all(struct sitter *waiters)
{
    for (int w = 0; w < WAITERS; w++) {
        UNTIL(atomic_load(&waiters[w].done));
        leave(&waiters[w]);
    }
}

/* Whoever is told to look is the second by then. Now and then one has woken by itself just then,
   and is the first to sleep again: not every time. */
static void who_is_told_to_look_looks_soon(void)
{
    bool soon = false;
    for (int try = 0; try < TRIES && !soon; try++) {
        struct usher_pool *pool = open_pool(1);
        struct usher_seat seat = scene_acquire(pool);
        struct sitter waiters[WAITERS];
        settle(pool, waiters);
        atomic_store(&first, 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        UNTIL(atomic_load(&first) > 0);
        soon = atomic_load(&first) == WAITERS && atomic_load(&first_for_ns) <= SOON_NS;
        leave_all(waiters);
        finish(pool);
    }
    EXPECT(soon);
}

/* Whoever has become the first looks, and once more soon after that: then a vigil is kept for it.
   Only where processes may die. */
static void the_new_first_looks_twice_soon(void)
{
    bool soon = false;
    with_file = true;
    for (int try = 0; try < TRIES && !soon; try++) {
        struct usher_pool *pool = open_pool(1);
        struct usher_seat seat = scene_acquire(pool);
        struct sitter waiters[WAITERS];
        settle(pool, waiters);
        (void)atomic_fetch_or(&at(pool, 2)->watch, FORMAT_BRIEF); /* so that the second is told */
        atomic_store(&longest_ns, 0);
        atomic_store(&second_slept, 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        UNTIL(atomic_load(&second_slept) == 2);
        soon = atomic_load(&longest_ns) <= SOON_NS;
        leave_all(waiters);
        finish(pool);
    }
    EXPECT(soon);
}

/* The last in line says that it may be gone: so the one before it is told. */
static void who_may_give_up_is_not_told(void)
{
    bool other = false;
    for (int try = 0; try < TRIES && !other; try++) {
        struct usher_pool *pool = open_pool(1);
        struct usher_seat seat = scene_acquire(pool);
        struct sitter waiters[WAITERS];
        settle(pool, waiters);
        (void)atomic_fetch_or(&at(pool, 2)->watch, FORMAT_BRIEF);
        atomic_store(&first, 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        UNTIL(atomic_load(&first) > 0);
        other = atomic_load(&first) == WAITERS - 1 && atomic_load(&first_for_ns) <= SOON_NS;
        leave_all(waiters);
        finish(pool);
    }
    EXPECT(other);
}

static void *give_up_soon(void *context)
{
    struct usher_pool *pool = context;
    struct usher_seat seat;
    struct timespec deadline = scene_in_ms(30);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &deadline), -ETIMEDOUT);
    atomic_store(&board->told[0], 1);
    return NULL;
}

/* It would look after 60 ms, with three before it, and gives up after 30. */
static void who_gives_up_before_it_looks_says_so(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiters[WAITERS];
    bool seen = false;
    settle(pool, waiters);
    while (!seen) {
        atomic_store(&board->told[0], 0);
        pthread_t brief = start(give_up_soon, pool);
        while (atomic_load(&board->told[0]) == 0 && !seen) {
            for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
                uint32_t watch = atomic_load(&pool->rows[row].watch) & ~FORMAT_REAPED;
                seen = seen || watch == (FORMAT_WAITS | FORMAT_BRIEF);
            }
        }
        join(brief);
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    leave_all(waiters);
    finish(pool);
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN_BOTH(who_is_told_to_look_looks_soon);
    RUN(the_new_first_looks_twice_soon);
    RUN_BOTH(who_may_give_up_is_not_told);
    RUN_BOTH(who_gives_up_before_it_looks_says_so);
    return 0;
}
