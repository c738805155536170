/*
 * Which waiter scans for dead processes when the line has moved (scan.c, duty.c). A scanner that
 * enters asks another waiter to scan. That one then sleeps only for a short time, wherever it
 * stands. A waiter that may give up before it scans is neither asked nor counted. The test sees
 * each sleep and its length on its way to the kernel (-Wl,--wrap=syscall), so the load of the
 * machine does not matter.
 */
#include "pool/pool.h"
#include "sitters.h"
#include "syscalls.h"

#include <signal.h>
#include <sys/wait.h>

enum { WAITERS = 3, TRIES = 20, HANG_SECONDS = 100, SOON_NS = 60 * 1000 * 1000 };

/* The first sleep of one of these threads since `first` was set to 0. */
static _Atomic pthread_t watched[WAITERS];
static atomic_int first;          /* index of that thread, plus one; 0: none yet */
static atomic_llong first_for_ns; /* length of its sleep */
static atomic_int second_slept;   /* sleeps of watched[1] since then, counted up to two */
static atomic_llong longest_ns;   /* length of the longest of them */

static struct format_row *_Atomic awaited; /* the row whose wake-ups are counted */
static atomic_int asked;                   /* number of its wake-ups */

static void note_sleep(long long for_ns)
{
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

static long on_syscall(long number, long *a)
{
    if (sleeps(number, a) && a[3] != 0) {
        const struct timespec *until = (const struct timespec *)a[3];
        long long until_ns = until->tv_sec * 1000000000LL + until->tv_nsec;
        long long now = os_now_ns();
        note_sleep(until_ns - now);
    }
    const struct format_row *row = atomic_load(&awaited);
    if (wakes_waiter(number, a) && row != NULL && a[0] >= (long)row && a[0] < (long)(row + 1)) {
        atomic_fetch_add(&asked, 1);
    }
    return call_it(number, a);
}

/* The row of the waiter at that place in line, from 0. */
static struct format_row *at(struct usher_pool *pool, int place)
{
    struct core_line_walk walk;
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

/* Start the waiters. Each has found its place and sleeps. */
static void settle(struct usher_pool *pool, struct sitter *waiters)
{
    atomic_store(&first, -1);
    for (int w = 0; w < WAITERS; w++) {
        queue_up(&waiters[w], pool);
        watched[w] = waiters[w].thread;
    }
    UNTIL(marks(pool, 0) == (FORMAT_WAITS | FORMAT_SCANS));
    UNTIL(marks(pool, 1) == (FORMAT_WAITS | FORMAT_SCANS | FORMAT_SELDOM));
    UNTIL(marks(pool, 2) == FORMAT_WAITS);
}

static void leave_all(struct sitter *waiters)
{
    for (int w = 0; w < WAITERS; w++) {
        UNTIL(atomic_load(&waiters[w].done));
        leave(&waiters[w]);
    }
}

/* The waiter that is asked is the second by then. Another may have woken by itself and be the first
   to sleep again, so one success in 20 tries is enough. */
static void a_waiter_that_is_asked_scans_soon(void)
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

/* The new first scans, and once more soon after that: then it has a watchdog. Only in pools with a
   file, whose guests can die. */
static void the_new_first_scans_twice_soon(void)
{
    bool soon = false;
    with_file = true;
    for (int try = 0; try < TRIES && !soon; try++) {
        struct usher_pool *pool = open_pool(1);
        struct usher_seat seat = scene_acquire(pool);
        struct sitter waiters[WAITERS];
        settle(pool, waiters);
        (void)atomic_fetch_or(&at(pool, 2)->watch, FORMAT_BRIEF); /* so that the second is asked */
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

/* The last in line is marked as a waiter that may give up, so the waiter before it is asked. */
static void a_waiter_that_may_give_up_is_not_asked(void)
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
    atomic_store(&board->order[0], 1);
    return NULL;
}

/* With three waiters before it, it gives up before its first scan. */
static void a_waiter_that_gives_up_before_it_scans_says_so(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiters[WAITERS];
    bool seen = false;
    settle(pool, waiters);
    while (!seen) {
        atomic_store(&board->order[0], 0);
        pthread_t brief = start(give_up_soon, pool);
        while (atomic_load(&board->order[0]) == 0 && !seen) {
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

/* Two scanners are killed in their sleep and granted the seat one after the other. The process that
   finds this asks other waiters to scan. Nothing else would wake them. */
static void a_reaper_asks_another_waiter_to_scan(void)
{
    scene_clear();
    struct usher_pool *pool = scene_open("pool", 1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiters[WAITERS];
    pid_t first_two[2];
    with_file = true;
    for (int i = 0; i < 2; i++) {
        first_two[i] = scene_waiter(i, "pool", (uint32_t)i + 1);
    }
    for (int w = 0; w < WAITERS; w++) {
        queue_up(&waiters[w], pool);
        UNTIL(marks(pool, w + 2) == FORMAT_WAITS);
    }
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(kill(first_two[i], SIGKILL), 0);
        EXPECT_EQ(waitpid(first_two[i], NULL, 0), first_two[i]);
    }
    atomic_store(&asked, 0);
    atomic_store(&awaited, at(pool, 3)); /* behind the waiter that enters */
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT(atomic_load(&asked) > 0);
    atomic_store(&awaited, NULL);
    leave_all(waiters);
    finish(pool);
}

/* Even after a short wait. The marks say that no waiter scans soon. */
static void a_waiter_that_gives_up_asks_another_to_scan(void)
{
    bool seen = false;
    for (int try = 0; try < TRIES && !seen; try++) {
        struct usher_pool *pool = open_pool(1);
        struct usher_seat seat = scene_acquire(pool);
        struct usher_seat none;
        struct sitter waiters[WAITERS];
        settle(pool, waiters);
        for (int w = 0; w < WAITERS; w++) {
            (void)atomic_fetch_and(&at(pool, w)->watch, ~(uint32_t)FORMAT_SCANS);
        }
        atomic_store(&asked, 0);
        atomic_store(&awaited, at(pool, 2));
        struct timespec soon = scene_in_ms(1);
        EXPECT_EQ(usher_acquire_until(pool, &none, &soon), -ETIMEDOUT);
        seen = atomic_load(&asked) > 0;
        atomic_store(&awaited, NULL);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        leave_all(waiters);
        finish(pool);
    }
    EXPECT(seen);
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN_BOTH(a_waiter_that_is_asked_scans_soon);
    RUN(the_new_first_scans_twice_soon);
    RUN_BOTH(a_waiter_that_may_give_up_is_not_asked);
    RUN_BOTH(a_waiter_that_gives_up_before_it_scans_says_so);
    RUN_BOTH(a_waiter_that_gives_up_asks_another_to_scan);
    RUN(a_reaper_asks_another_waiter_to_scan);
    return 0;
}
