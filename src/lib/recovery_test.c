/*
 * How soon the next in line has the seat of a holder that was killed, when the line moved just as a
 * waiter that looks for the dead fell asleep. Real processes. The linker puts a function of this file before usher__look_until, where a waiter that
 * has found its place can be held up (--wrap).
 */
#include "mortals.h"

#include "lib/lib.h"

#include <stdlib.h>

enum { ROUNDS = 5, PROMISED_MS = 100, LIMIT_MS = 6000 };

/* flags on the board */
enum { HOLD = 0, HELD, GO_ON };

int64_t __real_usher__look_until(struct usher_pool *pool, unsigned place, uint32_t row,
                                 int64_t now);
int64_t __wrap_usher__look_until(struct usher_pool *pool, unsigned place, uint32_t row,
                                 int64_t now);

static bool may_be_held;

/* The second in line has found its place, and is about to sleep. */
int64_t __wrap_usher__look_until(struct usher_pool *pool, unsigned place, uint32_t row, int64_t now)
{
    if (may_be_held && place == 2 && atomic_load(&board->flags[HOLD]) == 1) {
        may_be_held = false;
        atomic_store(&board->flags[HELD], 1);
        UNTIL(atomic_load(&board->flags[GO_ON]) == 1);
    }
    return __real_usher__look_until(pool, place, row, now);
}

static uint32_t first_watch(struct usher_pool *pool)
{
    struct line_walk walk;
    uint64_t word;
    uint32_t row = 0;
    uint32_t ticket;
    usher__line_begin(pool, &walk);
    EXPECT(usher__line_next(pool, &walk, &row, &word, &ticket));
    return atomic_load(&pool->rows[row].watch);
}

/* Milliseconds until this guest of the board is in. */
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

/* The machine may be busy now and then: the median counts. */
static void expect_prompt(long ms[ROUNDS])
{
    qsort(ms, ROUNDS, sizeof ms[0], by_size);
    (void)printf("  the next was in after %ld to %ld ms, median %ld\n", ms[0], ms[ROUNDS - 1],
                 ms[ROUNDS / 2]);

    EXPECT(ms[ROUNDS / 2] < PROMISED_MS);
}

/* The first in line gets in, and sees no looker in the second, which is awake. The second goes on
   and sleeps as the second; but it is the first by now. Then the holder is killed. */
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

static void who_becomes_the_first_as_it_falls_asleep_looks_soon(void)
{
    long ms[ROUNDS];
    struct usher_pool *pool = scene_open("recovery", 1);
    for (int round = 0; round < ROUNDS; round++) {
        ms[round] = second_falls_asleep_as_the_line_moves(pool);
    }
    expect_prompt(ms);
    finish(pool, "recovery", 1);
}

int main(void)
{
    scene_begin();
    RUN(who_becomes_the_first_as_it_falls_asleep_looks_soon);
    return 0;
}
