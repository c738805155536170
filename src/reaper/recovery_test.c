/*
 * How soon the next waiter gets the seat of a killed holder if the scanners are delayed: one falls
 * asleep just as the line moves, or they are stopped. The linker replaces usher__duty_marks
 * (--wrap): there the test can hold up a waiter that has found its place and is about to sleep.
 */
#include "mortals.h"

#include "pool/pool.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { ROUNDS = 3, PROMISED_MS = 100, LIMIT_MS = 6000, MOST = 8 };

/* flags on the board */
enum { HOLD = 0, HELD, GO_ON };

uint32_t __real_usher__duty_marks(const struct duty *duty, int64_t until_ns);
uint32_t __wrap_usher__duty_marks(const struct duty *duty, int64_t until_ns);

static bool may_be_held;
static int threads_without; /* of a process without a watchdog; a sanitizer may have one */

/* The second in line has found its place and is about to sleep. */
uint32_t __wrap_usher__duty_marks(const struct duty *duty, int64_t until_ns)
{
    if (may_be_held && duty->place == SCAN_SECOND && atomic_load(&board->flags[HOLD]) == 1) {
        may_be_held = false;
        atomic_store(&board->flags[HELD], 1);
        UNTIL(atomic_load(&board->flags[GO_ON]) == 1);
    }
    return __real_usher__duty_marks(duty, until_ns);
}

static uint32_t first_watch(struct usher_pool *pool)
{
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row = 0;
    uint32_t ticket;
    usher__line_begin(pool, &walk);
    EXPECT(usher__line_next(pool, &walk, &row, &word, &ticket));
    return atomic_load(&pool->rows[row].watch);
}

/* Have the first three of these waiters a watchdog each? */
static bool have_watchdogs(const pid_t *waiters, int count)
{
    for (int w = 0; w < count && w < 3; w++) {
        if (process_threads(waiters[w]) != threads_without + 1) {
            return false;
        }
    }
    return true;
}

/* Milliseconds until this guest of the board has a seat. */
static long until_in(int guest, int64_t since_ns)
{
    while (atomic_load(&board->step[guest]) != SCENE_DONE &&
           scene_now_ns() - since_ns < LIMIT_MS * 1000000LL) {
        scene_pause_us(300);
    }
    return (long)((scene_now_ns() - since_ns) / 1000000);
}

static int by_size(const void *a, const void *b)
{
    long x = *(const long *)a;
    long y = *(const long *)b;
    return (x > y) - (x < y);
}

/* The machine may be busy at times, so the median counts. */
static void expect_prompt(long ms[ROUNDS])
{
    qsort(ms, ROUNDS, sizeof ms[0], by_size);
    (void)printf("  the next was in after %ld to %ld ms, median %ld\n", ms[0], ms[ROUNDS - 1],
                 ms[ROUNDS / 2]);

    EXPECT(ms[ROUNDS / 2] < PROMISED_MS);
}

/* The first in line enters while the second is awake and not yet marked as a scanner. The second
   then sleeps as if it were the second, but by now it is the first. Then the holder is killed. */
static long second_falls_asleep_as_the_line_moves(struct usher_pool *pool)
{
    scene_clear();
    struct usher_seat seat = scene_acquire(pool);
    pid_t first = scene_waiter(1, "recovery", 1);
    may_be_held = true;
    pid_t second = scene_waiter(2, "recovery", 2);
    may_be_held = false;
    atomic_store(&board->flags[HOLD], 1);
    UNTIL(atomic_load(&board->flags[HELD]) == 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    atomic_store(&board->flags[GO_ON], 1);
    UNTIL(first_watch(pool) & FORMAT_WAITS);
    int64_t began = scene_now_ns();
    scene_kill(first);
    long ms = until_in(2, began);
    scene_leave(2, second);
    return ms;
}

static void a_waiter_that_becomes_first_as_it_falls_asleep_scans_soon(void)
{
    long ms[ROUNDS];
    struct usher_pool *pool = scene_open("recovery", 1);
    for (int round = 0; round < ROUNDS; round++) {
        ms[round] = second_falls_asleep_as_the_line_moves(pool);
    }
    expect_prompt(ms);
    finish(pool, "recovery", 1);
}

static void stop(pid_t process)
{
    int status;
    EXPECT_EQ(kill(process, SIGSTOP), 0);
    EXPECT_EQ(waitpid(process, &status, WUNTRACED), process);
    EXPECT(WIFSTOPPED(status));
}

static _Atomic uint64_t *word; /* in shared memory */

static void sleep_once(void *unused)
{
    (void)unused;
    while (os_sleep(word, 0, INT64_MAX, true) != 0) { /* a signal, such as SIGCONT */
    }
    atomic_store(&board->flags[0], 1);
}

static void a_process_that_is_stopped_is_not_asleep(void)
{
    scene_clear();
    word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(word != MAP_FAILED);
    EXPECT(!os_is_slept_on(word, true));
    pid_t sleeper = scene_start(sleep_once, NULL);
    for (int round = 0; round < 3; round++) {
        UNTIL(os_is_slept_on(word, true));
        EXPECT(os_is_slept_on(word, true));
        stop(sleeper);
        EXPECT(!os_is_slept_on(word, true));
        EXPECT_EQ(kill(sleeper, SIGCONT), 0);
    }
    UNTIL(os_is_slept_on(word, true));
    EXPECT_EQ(atomic_load(&board->flags[0]), 0); /* the question does not wake it */
    EXPECT_EQ(os_wake(word, true), 1);
    EXPECT_EQ(scene_end(sleeper), 0);
    EXPECT(!os_is_slept_on(word, true));
}

/* Stop this many waiters at the front of the line, at once or in two halves. Then kill as many
   holders and one more: the waiter behind the stopped ones is owed a seat. */
static long front_is_stopped(int stopped, bool halves)
{
    pid_t holders[MOST];
    pid_t waiters[MOST];
    const int seats = stopped + 1;
    scene_clear();
    for (int h = 0; h < seats; h++) {
        holders[h] = scene_holder(h, "recovery");
    }
    for (int w = 0; w < seats; w++) {
        waiters[w] = scene_waiter(seats + w, "recovery", (uint32_t)w + 1);
    }
    threads_without = process_threads(holders[0]);
    UNTIL(have_watchdogs(waiters, seats));
    for (int w = 0; w < stopped; w++) {
        if (halves && w == stopped / 2) {
            UNTIL(have_watchdogs(&waiters[w], seats - w));
        }
        stop(waiters[w]);
    }
    int64_t began = scene_now_ns();
    for (int h = 0; h < seats; h++) {
        EXPECT_EQ(kill(holders[h], SIGKILL), 0);
    }
    long ms = until_in(seats + stopped, began);
    for (int w = 0; w < stopped; w++) {
        EXPECT_EQ(kill(waiters[w], SIGCONT), 0);
    }
    for (int w = 0; w < seats; w++) {
        UNTIL(atomic_load(&board->step[seats + w]) == SCENE_DONE);
        scene_leave(seats + w, waiters[w]);
    }
    for (int h = 0; h < seats; h++) {
        EXPECT_EQ(scene_end(holders[h]), SIGKILL);
    }
    return ms;
}

static void expect_prompt_behind(int stopped, bool halves)
{
    long ms[ROUNDS];
    struct usher_pool *pool = scene_open("recovery", (uint32_t)stopped + 1);
    for (int round = 0; round < ROUNDS; round++) {
        ms[round] = front_is_stopped(stopped, halves);
    }
    expect_prompt(ms);
    finish(pool, "recovery", (uint32_t)stopped + 1);
}

static void a_stopped_first_in_line_delays_no_recovery(void)
{
    expect_prompt_behind(1, false);
}

static void two_stopped_at_the_front_delay_no_recovery(void)
{
    expect_prompt_behind(2, false);
}

static void four_stopped_two_at_a_time_delay_no_recovery(void)
{
    expect_prompt_behind(4, true);
}

int main(void)
{
    scene_begin();
    RUN(a_waiter_that_becomes_first_as_it_falls_asleep_scans_soon);
    RUN(a_process_that_is_stopped_is_not_asleep);
    RUN(a_stopped_first_in_line_delays_no_recovery);
    RUN(two_stopped_at_the_front_delay_no_recovery);
    RUN(four_stopped_two_at_a_time_delay_no_recovery);
    return 0;
}
