/*
 * Who is called before its turn (ready.c): the first in line, once, by those who stay about as long
 * as a wake-up takes. And whoever was called is granted its seat like anyone else, whether it is
 * awake by then, sleeps again, or is dead. syscall(2) is counted on its way (-Wl,--wrap=syscall).
 */
#include "lib/lib.h"
#include "sitters.h"
#include "syscalls.h"

#include <signal.h>
#include <sys/wait.h>

enum { WAITERS = 3, HANG_SECONDS = 100, CALLERS = 3, INSIDE_NS = 18000, REAPED = 3000000 };

static _Thread_local unsigned wakes; /* calls of this thread's that were to wake somebody */
static atomic_int asleep, woke;      /* threads of this process */
static atomic_bool untimed;        /* sleepers have no clock: a wake that is lost is not made up */
static struct usher_pool *calling; /* in which to see who is called */
static atomic_uint called;

static void note_call(long address)
{
    for (uint32_t row = 0; calling != NULL && row < usher__rows_used(calling); row++) {
        const struct format_row *its = &calling->rows[row];
        if (address >= (long)its && address < (long)(its + 1)) {
            atomic_fetch_add(&called, (atomic_load(&its->watch) & FORMAT_CALLED) != 0);
        }
    }
}

static long on_syscall(long number, long *a)
{
    bool sleeping = sleeps(number, a);
    a[3] = sleeping && atomic_load(&untimed) ? 0 : a[3];
    if (wakes_somebody(number, a)) {
        wakes++;
        note_call(a[0]);
    }
    atomic_fetch_add(&asleep, sleeping);
    long result = call_it(number, a);
    atomic_fetch_sub(&asleep, sleeping);
    atomic_fetch_add(&woke, sleeping);
    return result;
}

/* The row of whoever waits as the first, asleep or nearly. */
static struct format_row *first_in_line(struct usher_pool *pool)
{
    struct line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    usher__line_begin(pool, &walk);
    EXPECT(usher__line_next(pool, &walk, &row, &word, &ticket));
    UNTIL(atomic_load(&pool->rows[row].watch) & FORMAT_WAITS);
    return &pool->rows[row];
}

static void put_to_sleep(struct sitter *waiters, int count, struct usher_pool *pool)
{
    atomic_store(&woke, 0);
    atomic_store(&untimed, true);
    for (int i = 0; i < count; i++) {
        queue_up(&waiters[i], pool);
        UNTIL(atomic_load(&asleep) == i + 1);
    }
}

static void let_all_in(struct sitter *waiters, int count, struct usher_pool *pool,
                       struct usher_seat *seat)
{
    EXPECT_EQ(usher_release(pool, seat), 0);
    for (int i = 0; i < count; i++) {
        UNTIL(atomic_load(&waiters[i].done));
        EXPECT_EQ(waiters[i].result, 0);
        leave(&waiters[i]);
    }
}

static void the_first_in_line_is_called(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiters[WAITERS];
    unsigned before = wakes;
    usher__ready_call(pool);
    EXPECT_EQ(wakes, before); /* there is nobody */
    put_to_sleep(waiters, WAITERS, pool);
    struct format_row *row = first_in_line(pool);
    int woken = atomic_load(&woke);
    usher__ready_call(pool);
    EXPECT_EQ(wakes, before + 1);
    UNTIL(atomic_load(&woke) > woken);
    UNTIL((atomic_load(&row->watch) & (FORMAT_WAITS | FORMAT_CALLED)) == FORMAT_WAITS);
    EXPECT(first_in_line(pool) == row); /* and sleeps again, where it was */
    for (int i = 0; i < WAITERS; i++) {
        EXPECT_EQ(atomic_load(&waiters[i].done), 0);
    }
    let_all_in(waiters, WAITERS, pool, &seat);
    finish(pool);
}

/* As if the one who called had died before it woke it: nobody calls again, and the grant wakes. */
static void a_call_that_was_not_heard_costs_nothing(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiter;
    put_to_sleep(&waiter, 1, pool);
    (void)atomic_fetch_or(&first_in_line(pool)->watch, FORMAT_CALLED);
    unsigned before = wakes;
    usher__ready_call(pool);
    EXPECT_EQ(wakes, before);
    let_all_in(&waiter, 1, pool, &seat);
    finish(pool);
}

/* The seat is granted to one that was called and is dead: it is not thought to be on its way for
   ever. */
static void one_that_dies_when_called_is_reaped(void)
{
    scene_clear();
    atomic_store(&untimed, false);
    struct usher_pool *pool = scene_open("pool", 1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiter;
    pid_t child = scene_waiter(0, "pool", 1);
    struct format_row *row = first_in_line(pool);
    EXPECT_EQ(kill(child, SIGSTOP), 0);
    (void)atomic_fetch_or(&row->watch, FORMAT_CALLED);
    queue_up(&waiter, pool);
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitpid(child, NULL, 0), child);
    let_all_in(&waiter, 1, pool, &seat);
    with_file = true;
    finish(pool);
}

static atomic_bool marked_enough, marks_now;

static void *mark_all_the_time(void *context)
{
    struct format_row *row = context;
    while (!atomic_load(&marked_enough)) {
        (void)atomic_fetch_or(&row->watch, FORMAT_CALLED);
        (void)atomic_fetch_and(&row->watch, ~(uint32_t)FORMAT_CALLED);
        atomic_store(&marks_now, true);
    }
    return NULL;
}

/* Whoever reaps one that is being called is not thereby the second to. */
static void a_call_does_not_hide_who_reaped_first(void)
{
    struct usher_pool *pool = open_pool(1);
    atomic_store(&marked_enough, false);
    pthread_t marker = start(mark_all_the_time, &pool->rows[0]);
    UNTIL(atomic_load(&marks_now));
    for (uint64_t cycle = 1; cycle <= REAPED; cycle++) {
        EXPECT(usher__alive_first(pool, 0, cycle));
    }
    EXPECT(!usher__alive_first(pool, 0, REAPED));
    atomic_store(&marked_enough, true);
    join(marker);
    atomic_store(&pool->rows[0].watch, 0);
    finish(pool);
}

static void who_stays_as_long_as_a_wake_up_takes_calls(void)
{
    static const struct {
        int64_t got_in_ns, came_ns;
        bool calls;
    } rows[] = {
        {0, 20000, false}, /* it has not been in */
        {1000000, 1000000, false} /* shorter than calling takes */,
        {1000000, 1011999, false},
        {1000000, 1012000, true},
        {1000000, 1020000, true},
        {1000000, 1039999, true},
        {1000000, 1040000, false}, /* longer than a wake-up */
        {1000000, 900000000, false},
    };
    uint32_t sizes[] = {1, os_processors()};
    for (int s = 0; s < 2; s++) {
        struct usher_pool *pool = open_pool(sizes[s]);
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            struct guest guest = {.got_in_ns = rows[r].got_in_ns};
            EXPECT_EQ(usher__ready_calls(pool, &guest, rows[r].came_ns),
                      rows[r].calls && sizes[s] < os_processors());
        }
        finish(pool);
    }
}

/* Who is called in vain more often than not calls others only now and then itself. */
static void who_is_called_in_vain_calls_seldom(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiter;
    put_to_sleep(&waiter, 1, pool);
    struct guest guest = {.row = (uint32_t)(first_in_line(pool) - pool->rows), .got_in_ns = 1};
    unsigned calls = 0;
    for (int i = 0; i < 10; i++) {
        usher__ready_called(pool, &guest);
    }
    for (int i = 0; i < 640; i++) {
        calls += usher__ready_calls(pool, &guest, 20001);
    }
    EXPECT_EQ(calls, os_processors() > 1 ? 10 : 0);
    let_all_in(&waiter, 1, pool, &seat);
    finish(pool);
}

static atomic_bool enough;

static void stay_inside(void)
{
    int64_t until = os_now_ns() + INSIDE_NS;
    while (os_now_ns() < until) {
    }
}

static void *come_and_go(void *pool)
{
    while (!atomic_load(&enough)) {
        struct usher_seat seat = scene_acquire(pool);
        stay_inside();
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    return NULL;
}

/* For real: they do call each other, sooner or later. */
static void those_who_stay_briefly_call_each_other(void)
{
    struct usher_pool *pool = open_pool(1);
    pthread_t threads[CALLERS];
    if (os_processors() < 2) {
        usher_close(pool);
        return; /* then nobody ever does */
    }
    atomic_store(&untimed, false);
    atomic_store(&enough, false);
    atomic_store(&called, 0);
    calling = pool;
    for (int i = 0; i < CALLERS; i++) {
        threads[i] = start(come_and_go, pool);
    }
    UNTIL(atomic_load(&called) > 0);
    atomic_store(&enough, true);
    for (int i = 0; i < CALLERS; i++) {
        join(threads[i]);
    }
    calling = NULL;
    finish(pool);
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN_BOTH(the_first_in_line_is_called);
    RUN_BOTH(a_call_that_was_not_heard_costs_nothing);
    RUN(one_that_dies_when_called_is_reaped);
    with_file = false;
    RUN(a_call_does_not_hide_who_reaped_first);
    RUN(who_stays_as_long_as_a_wake_up_takes_calls);
    RUN_BOTH(who_is_called_in_vain_calls_seldom);
    RUN_BOTH(those_who_stay_briefly_call_each_other);
    return 0;
}
