/*
 * What usher.h promises of waiting: try, deadlines, giving up, signals, options.waiting, thread
 * cancellation.
 */
#include "sitters.h"

#include <limits.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static void try_gets_a_free_seat_or_none(void)
{
    struct usher_pool *pool = open_pool(2);
    struct usher_seat seats[3];
    for (int round = 0; round < 100; round++) {
        EXPECT_EQ(usher_try_acquire(pool, &seats[0]), 0);
        EXPECT_EQ(usher_try_acquire(pool, &seats[1]), 0);
        EXPECT_EQ(usher_try_acquire(pool, &seats[2]), -EAGAIN);
        EXPECT_EQ(usher_release(pool, &seats[round % 2]), 0);
        EXPECT_EQ(usher_try_acquire(pool, &seats[2]), 0);
        EXPECT_EQ(usher_release(pool, &seats[2]), 0);
        EXPECT_EQ(usher_release(pool, &seats[1 - round % 2]), 0);
    }
    EXPECT_EQ(scene_info(pool).gave_up, 0); /* usher_try_acquire never stands in line */
    finish(pool);
}

static void try_never_overtakes_a_waiter(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct usher_seat other;
    struct sitter waiters[3];
    for (int i = 0; i < 3; i++) {
        queue_up(&waiters[i], pool);
        EXPECT_EQ(usher_try_acquire(pool, &other), -EAGAIN);
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < 3; i++) { /* the release grants the seat to the first waiter at once */
        EXPECT_EQ(usher_try_acquire(pool, &other), -EAGAIN);
        UNTIL(atomic_load(&waiters[i].done));
        EXPECT_EQ(usher_try_acquire(pool, &other), -EAGAIN);
        EXPECT(i == 2 || !atomic_load(&waiters[i + 1].done));
        leave(&waiters[i]);
    }
    EXPECT_EQ(usher_try_acquire(pool, &other), 0);
    EXPECT_EQ(usher_release(pool, &other), 0);
    finish(pool);
}

static void a_deadline_is_kept_and_a_past_one_gets_a_free_seat(void)
{
    static const struct timespec past[] = {
        {0, 0}, {-1, 0}, {1, 0}, {-1000000, 999999999}, {LONG_MIN, 5}};
    static const struct timespec wrong[] = {
        {10, -1}, {10, 1000000000}, {-10, LONG_MAX}, {LONG_MAX, LONG_MIN}};
    static const struct timespec never = {LONG_MAX, 999999999};
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat;
    struct usher_seat other;
    for (unsigned i = 0; i < sizeof past / sizeof past[0]; i++) {
        EXPECT_EQ(usher_acquire_until(pool, &seat, &past[i]), 0);
        EXPECT_EQ(usher_acquire_until(pool, &other, &past[i]), -ETIMEDOUT);
        EXPECT_EQ(scene_info(pool).waiters, 0);
        EXPECT_EQ(scene_info(pool).gave_up, i + 1);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT_EQ(usher_acquire_until(pool, &seat, &wrong[i]), -EINVAL);
    }
    EXPECT_EQ(usher_acquire_until(pool, &seat, &never), 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_acquire_until(pool, &seat, NULL), 0);
    for (long ms = 1; ms < 200; ms *= 3) {
        struct timespec at = scene_in_ms(ms);
        int64_t at_ns = (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
        EXPECT_EQ(usher_acquire_until(pool, &other, &at), -ETIMEDOUT);
        EXPECT(scene_now_ns() >= at_ns);
    }
    /* Waiters with a far deadline or none are served. */
    struct sitter waiters[2];
    memset((void *)waiters, 0, sizeof waiters);
    for (int i = 0; i < 2; i++) {
        waiters[i].pool = pool;
        waiters[i].deadline = i == 0 ? &never : NULL;
        waiters[i].thread = start(sit, &waiters[i]);
        UNTIL(scene_info(pool).waiters == (uint32_t)i + 1);
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < 2; i++) {
        UNTIL(atomic_load(&waiters[i].done));
        EXPECT_EQ(waiters[i].result, 0);
        leave(&waiters[i]);
    }
    finish(pool);
}

/* Three waiters have a deadline in `ms`, three have none. False: the deadline passed before all six
   stood in line. */
static bool every_other_gives_up(struct usher_pool *pool, long ms)
{
    struct usher_seat seat = scene_acquire(pool);
    struct usher_info before = scene_info(pool);
    struct sitter waiters[6];
    struct timespec soon = scene_in_ms(ms);
    memset((void *)waiters, 0, sizeof waiters);
    for (int i = 0; i < 6; i++) {
        waiters[i].pool = pool;
        waiters[i].deadline = i % 2 == 0 ? &soon : NULL;
        waiters[i].thread = start(sit, &waiters[i]);
        UNTIL(scene_info(pool).waiters == (uint32_t)i + 1 || atomic_load(&waiters[0].done));
    }
    bool all = !atomic_load(&waiters[0].done);
    UNTIL(scene_info(pool).gave_up == before.gave_up + 3);
    UNTIL(scene_info(pool).waiters == 3);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < 6; i++) {
        atomic_store(&waiters[i].may_leave, !all); /* they may have arrived in any order */
    }
    for (int i = 0; i < 6; i++) {
        UNTIL(atomic_load(&waiters[i].done));
        EXPECT_EQ(waiters[i].result, i % 2 == 0 ? -ETIMEDOUT : 0);
        leave(&waiters[i]);
    }
    EXPECT_EQ(scene_info(pool).served, before.served + 4);
    return all;
}

static void a_waiter_that_gave_up_delays_no_other(void)
{
    struct usher_pool *pool = open_pool(1);
    for (long ms = 50; !every_other_gives_up(pool, ms); ms *= 2) {
    }
    finish(pool);
}

/* More guests give up than the line has places. The waiters are served in order. */
static void giving_up_never_fills_the_line(void)
{
    struct usher_pool *pool = open_with((struct usher_options){.seats = 1, .guests = 8});
    struct usher_seat seat = scene_acquire(pool);
    struct usher_seat other;
    struct sitter waiters[4];
    struct timespec past = {1, 0};
    for (int i = 0; i < 4; i++) {
        queue_up(&waiters[i], pool);
        for (int round = 0; round < 200; round++) {
            EXPECT_EQ(usher_acquire_until(pool, &other, &past), -ETIMEDOUT);
        }
    }
    EXPECT_EQ(scene_info(pool).waiters, 4);
    EXPECT_EQ(scene_info(pool).gave_up, 800);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < 4; i++) {
        UNTIL(atomic_load(&waiters[i].done));
        EXPECT_EQ(waiters[i].result, 0);
        leave(&waiters[i]);
        EXPECT(i == 0 || atomic_load(&waiters[i].turn) == atomic_load(&waiters[i - 1].turn) + 1);
    }
    finish(pool);
}

static atomic_int signals;

static void count_signal(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
    atomic_fetch_add(&board->flags[2], 1);
}

static void in_a_storm_of_signals(void *context)
{
    const int *flags = context;
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = *flags};
    struct itimerspec often = {{0, 200000}, {0, 200000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    struct usher_pool *pool = open_with((struct usher_options){.seats = 1});
    struct usher_seat seat;
    long ms = 40;
    (void)alarm(0);
    EXPECT_EQ(sigaction(SIGALRM, &action, NULL), 0);
    EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    EXPECT_EQ(timer_settime(timer, 0, &often, NULL), 0);
    /* a busy machine delivers few signals in a short time */
    for (int stormy = 0; stormy < 3; ms *= 2) {
        struct timespec at = scene_in_ms(ms);
        int64_t at_ns = (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
        int before = atomic_load(&signals);
        EXPECT_EQ(usher_acquire_until(pool, &seat, &at), -ETIMEDOUT);
        EXPECT(scene_now_ns() >= at_ns);
        EXPECT(scene_now_ns() < at_ns + 20000000000);
        stormy += atomic_load(&signals) > before + 10;
    }
    atomic_store(&board->flags[0], 1);
    EXPECT_EQ(usher_acquire(pool, &seat), 0); /* signals do not end the wait */
    EXPECT(atomic_load(&board->flags[1]) == 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(timer_delete(timer), 0);
    usher_close(pool);
}

static void signals_neither_end_nor_prolong_a_wait(void)
{
    static int flags[] = {0, SA_RESTART, SA_NODEFER};
    with_file = true;
    for (int f = 0; f < 3; f++) {
        scene_clear();
        struct usher_pool *pool = scene_open("pool", 1);
        struct usher_seat seat = scene_acquire(pool);
        pid_t child = scene_start(in_a_storm_of_signals, &flags[f]);
        UNTIL(atomic_load(&board->flags[0]) == 1 && scene_info(pool).waiters == 1);
        int so_far = atomic_load(&board->flags[2]);
        UNTIL(atomic_load(&board->flags[2]) > so_far + 10);
        atomic_store(&board->flags[1], 1);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(scene_end(child), 0);
        finish(pool);
    }
}

/* The context of options.waiting. */
struct asked {
    atomic_int times;
    int until; /* the call that cancels the wait, from 1; 0: none */
    bool inspects;
    atomic_bool ends; /* the seat is being released: the waiter may have been granted it already */
};

static int ask(struct usher_pool *pool, void *context)
{
    struct asked *asked = context;
    int times = atomic_fetch_add(&asked->times, 1) + 1;
    if (asked->inspects) {
        uint32_t waiters = scene_info(pool).waiters;
        EXPECT(waiters >= 1 || atomic_load(&asked->ends));
    }
    return times == asked->until;
}

static void options_waiting_is_called_and_may_cancel_the_wait(void)
{
    struct asked asked = {.until = 5, .inspects = true};
    struct usher_pool *pool = open_with(
        (struct usher_options){.seats = 1, .waiting = ask, .context = &asked, .waiting_ms = 1});
    struct usher_seat seat = scene_acquire(pool);
    struct usher_seat other;
    EXPECT_EQ(atomic_load(&asked.times), 0); /* it did not have to wait */
    EXPECT_EQ(usher_acquire(pool, &other), -ECANCELED);
    EXPECT_EQ(atomic_load(&asked.times), 5);
    struct usher_info info = scene_info(pool);
    EXPECT_EQ(info.waiters, 0);
    EXPECT_EQ(info.gave_up, 1);
    struct timespec soon = scene_in_ms(50);
    EXPECT_EQ(usher_acquire_until(pool, &other, &soon), -ETIMEDOUT);
    EXPECT(atomic_load(&asked.times) > 5);
    int before = atomic_load(&asked.times);
    EXPECT_EQ(usher_try_acquire(pool, &other), -EAGAIN);
    EXPECT_EQ(atomic_load(&asked.times), before);
    struct sitter waiter; /* a waiter that is not cancelled is served */
    queue_up(&waiter, pool);
    UNTIL(atomic_load(&asked.times) > before + 5);
    atomic_store(&asked.ends, true);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    UNTIL(atomic_load(&waiter.done));
    EXPECT_EQ(waiter.result, 0);
    leave(&waiter);
    finish(pool);
}

static void options_waiting_is_called_after_a_signal(void)
{
    struct asked asked = {.until = 2};
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    struct usher_pool *pool =
        open_with((struct usher_options){.seats = 1, .waiting = ask, .context = &asked});
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiter;
    EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    queue_up(&waiter, pool);
    scene_pause_us(5000);
    EXPECT_EQ(atomic_load(&asked.times), 0); /* waiting_ms is 0: not periodically */
    for (int times = 1; times <= 2; times++) {
        while (atomic_load(&asked.times) < times) { /* until a signal finds it asleep */
            EXPECT_EQ(pthread_kill(waiter.thread, SIGUSR1), 0);
            scene_pause_us(1000);
        }
    }
    UNTIL(atomic_load(&waiter.done));
    EXPECT_EQ(waiter.result, -ECANCELED);
    leave(&waiter);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool);
}

static void a_cancelled_thread_loses_no_seat(void)
{
    struct usher_pool *pool = open_with((struct usher_options){.seats = 1, .guests = 3});
    for (int round = 0; round < 20; round++) {
        struct usher_seat seat = scene_acquire(pool);
        struct sitter waiter;
        queue_up(&waiter, pool);
        EXPECT_EQ(pthread_cancel(waiter.thread), 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        join(waiter.thread); /* cancelled before, in or after the wait: it holds no seat */
        EXPECT_EQ(scene_info(pool).free, 1);
        EXPECT_EQ(scene_info(pool).waiters, 0);
    }
    finish(pool);
}

int main(void)
{
    scene_begin();
    RUN_BOTH(try_gets_a_free_seat_or_none);
    RUN_BOTH(try_never_overtakes_a_waiter);
    RUN_BOTH(a_deadline_is_kept_and_a_past_one_gets_a_free_seat);
    RUN_BOTH(a_waiter_that_gave_up_delays_no_other);
    RUN_BOTH(giving_up_never_fills_the_line);
    RUN(signals_neither_end_nor_prolong_a_wait);
    RUN_BOTH(options_waiting_is_called_and_may_cancel_the_wait);
    RUN_BOTH(options_waiting_is_called_after_a_signal);
    RUN_BOTH(a_cancelled_thread_loses_no_seat);
    return 0;
}
