/*
 * Who wakes whom. A granted seat wakes its new holder and no other waiter. If no process dies,
 * nothing else is needed, so here sleeps have no timeout: a lost wake-up makes the test hang. And
 * while nobody wakes them, few waiters scan, however many wait. The test counts calls of syscall(2)
 * (-Wl,--wrap=syscall).
 */
#include "sitters.h"
#include "syscalls.h"

#include <signal.h>
#include <stddef.h>

enum { WAITERS = 8, IDLERS = 48, WINDOW_MS = 150, HANG_SECONDS = 60 };

/* Counts of all processes, on the board. */
enum flag { UNTIMED, SLEEPS, WOKE, FLAGS };
static _Thread_local unsigned wakes; /* wake-ups by this thread */
static atomic_llong latest_ns;       /* the latest end of a sleep */
static atomic_int other_clocks;      /* sleeps by another clock than CLOCK_MONOTONIC */

static long on_syscall(long number, long *a)
{
    bool asleep = sleeps(number, a);
    if (asleep && atomic_load(&board->flags[UNTIMED])) {
        a[3] = 0;
    }
    if (asleep && a[3] != 0) {
        const struct timespec *until = (const struct timespec *)a[3];
        long long until_ns = until->tv_sec * 1000000000LL + until->tv_nsec;
        atomic_store(&latest_ns, until_ns > latest_ns ? until_ns : latest_ns);
        atomic_fetch_add(&other_clocks, (a[1] & FUTEX_CLOCK_REALTIME) != 0);
    }
    wakes += wakes_waiter(number, a);
    atomic_fetch_add(&board->flags[SLEEPS], asleep);
    long result = call_it(number, a);
    atomic_fetch_sub(&board->flags[SLEEPS], asleep);
    atomic_fetch_add(&board->flags[WOKE], asleep);
    return result;
}

static void without_clocks(bool untimed)
{
    scene_clear();
    atomic_store(&board->flags[UNTIMED], untimed);
}

/* Start threads that wait, and wait until they sleep. */
static void put_to_sleep(struct sitter *waiters, int count, struct usher_pool *pool)
{
    for (int i = 0; i < count; i++) {
        queue_up(&waiters[i], pool);
        UNTIL(atomic_load(&board->flags[SLEEPS]) == i + 1);
    }
}

static void expect_in(struct sitter *waiter, int result)
{
    UNTIL(atomic_load(&waiter->done));
    EXPECT_EQ(waiter->result, result);
}

/* Each sitter releases its seat by itself, in `sit`. Then the next one has it. */
static void a_release_wakes_the_next_waiter_and_no_other(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiters[WAITERS];
    without_clocks(true);
    put_to_sleep(waiters, WAITERS, pool);
    unsigned before = wakes;
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(wakes, before + 1);
    for (int i = 0; i < WAITERS; i++) {
        expect_in(&waiters[i], 0);
        EXPECT_EQ(atomic_load(&board->flags[WOKE]), i + 1);
        EXPECT_EQ(atomic_load(&board->flags[SLEEPS]), WAITERS - i - 1);
        leave(&waiters[i]);
    }
    before = wakes;
    seat = scene_acquire(pool);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(wakes, before); /* nobody waits */
    finish(pool);
}

static void *take_two_and_end(void *pool)
{
    (void)scene_acquire(pool);
    (void)scene_acquire(pool);
    atomic_store(&board->order[0], 1);
    UNTIL(atomic_load(&board->order[1]) == 1);
    return NULL;
}

static void seats_freed_in_other_ways_wake_waiters_too(void)
{
    struct usher_pool *pool = open_pool(2);
    struct sitter waiters[5];
    without_clocks(true);
    pthread_t ends = start(take_two_and_end, pool);
    UNTIL(atomic_load(&board->order[0]) == 1);
    put_to_sleep(waiters, 5, pool);
    EXPECT_EQ(usher_resize(pool, 3), 0);
    expect_in(&waiters[0], 0);
    EXPECT_EQ(atomic_load(&board->flags[WOKE]), 1);
    atomic_store(&board->order[1], 1);
    join(ends); /* with both seats held */
    expect_in(&waiters[1], 0);
    expect_in(&waiters[2], 0);
    EXPECT_EQ(usher_release(pool, &waiters[1].seat), 0); /* another thread acquired it */
    waiters[1].result = -EPERM;
    expect_in(&waiters[3], 0);
    for (int i = 0; i < 5; i++) {
        expect_in(&waiters[i], i == 1 ? -EPERM : 0);
        leave(&waiters[i]);
    }
    finish(pool);
}

static void a_discarded_pool_wakes_all(void)
{
    struct usher_pool *pool = scene_open("pool", 1);
    struct sitter waiters[WAITERS];
    without_clocks(true);
    (void)scene_acquire(pool);
    put_to_sleep(waiters, WAITERS, pool);
    EXPECT_EQ(usher_discard("pool"), 0);
    for (int i = 0; i < WAITERS; i++) {
        expect_in(&waiters[i], -EIDRM);
        leave(&waiters[i]);
    }
    usher_close(pool);
}

static void processes_wake_each_other(void)
{
    struct usher_pool *pool = scene_open("pool", 1);
    pid_t waiters[WAITERS];
    without_clocks(true);
    struct usher_seat seat = scene_acquire(pool);
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = scene_waiter(i, "pool", (uint32_t)i + 1);
        UNTIL(atomic_load(&board->flags[SLEEPS]) == i + 1);
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < WAITERS; i++) {
        UNTIL(atomic_load(&board->step[i]) == SCENE_DONE);
        EXPECT_EQ(atomic_load(&board->flags[WOKE]), i + 1);
        scene_leave(i, waiters[i]);
    }
    with_file = true;
    finish(pool);
}

static void do_nothing(int number)
{
    (void)number;
}

/* Signals end its sleep again and again. It sleeps until the deadline and not longer. False: on a
   busy machine the deadline passed before it slept. */
static bool sleep_among_signals(struct usher_pool *pool, long ms)
{
    struct timespec at = scene_in_ms(ms);
    struct sitter waiter = {.pool = pool, .deadline = &at};
    without_clocks(false);
    atomic_store(&latest_ns, 0);
    waiter.thread = start(sit, &waiter);
    while (atomic_load(&waiter.done) == 0) {
        EXPECT_EQ(pthread_kill(waiter.thread, SIGUSR1), 0);
        scene_pause_us(500);
    }
    expect_in(&waiter, -ETIMEDOUT);
    leave(&waiter);
    EXPECT(atomic_load(&latest_ns) <= at.tv_sec * 1000000000LL + at.tv_nsec);
    EXPECT_EQ(atomic_load(&other_clocks), 0);
    return atomic_load(&board->flags[WOKE]) > 0;
}

static void signals_do_not_move_a_deadline(void)
{
    struct sigaction action = {.sa_handler = do_nothing};
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    for (long ms = 30; !sleep_among_signals(pool, ms); ms *= 2) {
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool);
}

static atomic_uint wakes_by_entering;

static void *sit_and_leave(void *context)
{
    struct sitter *self = context;
    unsigned before = wakes;
    self->seat = scene_acquire(self->pool);
    atomic_fetch_add(&wakes_by_entering, wakes - before);
    EXPECT_EQ(usher_release(self->pool, &self->seat), 0);
    return NULL;
}

/* With timeouts: the first two waiters scan often, the others seldom. On a busy machine one window
   may have late scans, but not every window. When the first two have entered, they ask others to
   scan. */
static void of_many_waiters_few_scan(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiters[IDLERS];
    int woke = IDLERS;
    without_clocks(false);
    atomic_store(&wakes_by_entering, 0);
    for (int i = 0; i < IDLERS; i++) {
        waiters[i] = (struct sitter){.pool = pool};
        waiters[i].thread = start(sit_and_leave, &waiters[i]);
    }
    for (int window = 0; window < 20 && woke > IDLERS / 3; window++) {
        int before = atomic_load(&board->flags[WOKE]);
        scene_pause_us(WINDOW_MS * 1000L);
        woke = atomic_load(&board->flags[WOKE]) - before;
    }
    EXPECT(woke <= IDLERS / 3);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < IDLERS; i++) {
        join(waiters[i].thread);
    }
    EXPECT(atomic_load(&wakes_by_entering) > 0);
    finish(pool);
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN_BOTH(a_release_wakes_the_next_waiter_and_no_other);
    RUN_BOTH(seats_freed_in_other_ways_wake_waiters_too);
    RUN(a_discarded_pool_wakes_all);
    RUN(processes_wake_each_other);
    RUN_BOTH(signals_do_not_move_a_deadline);
    RUN_BOTH(of_many_waiters_few_scan);
    return 0;
}
