/*
 * Who looks for the dead when the line has moved (look.c). Whoever looked and gets in tells another
 * to look, and that one sleeps for a short while only, wherever it stands; one that may give up
 * before it looks is neither told nor counted on. And how soon one looks that has just come. For
 * how long each is about to sleep is seen on its way to the kernel (-Wl,--wrap=syscall), so that it
 * does not matter how busy the machine is.
 */
#include "pool/pool.h"
#include "sitters.h"
#include "syscalls.h"

#include <signal.h>
#include <sys/wait.h>

enum { WAITERS = 3, TRIES = 20, HANG_SECONDS = 100, SOON_NS = 12 * 1000 * 1000 };

/* The first sleep of one of these threads since it was last asked for. */
static _Atomic pthread_t watched[WAITERS];
static atomic_int first;          /* which of them, plus one; 0: nobody yet */
static atomic_llong first_for_ns; /* and for how long */
static atomic_int second_slept;   /* so often has the second of them since, two times at most; */
static atomic_llong longest_ns;   /* and for how long at most */

static struct format_row *_Atomic awaited; /* who is to be woken */
static atomic_int told;                    /* so often it was */

/* Of this thread: until when its first sleep is to last, since that was last 0; and when it began.
   */
static _Thread_local long long own_until_ns, own_at_ns;

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
        own_at_ns = own_until_ns == 0 ? now : own_at_ns;
        own_until_ns = own_until_ns == 0 ? until_ns : own_until_ns;
        note_sleep(until_ns - now);
    }
    const struct format_row *row = atomic_load(&awaited);
    if (wakes_somebody(number, a) && row != NULL && a[0] >= (long)row && a[0] < (long)(row + 1)) {
        atomic_fetch_add(&told, 1);
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

/* The two who look are killed in their sleep, and granted the seat one after the other: who finds
   that out sees that others look. Who they are by then sleeps, and has nothing else to wake it. */
static void who_reaps_the_dead_sees_that_others_look(void)
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
    atomic_store(&told, 0);
    atomic_store(&awaited, at(pool, 3)); /* behind the one that gets in */
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT(atomic_load(&told) > 0);
    atomic_store(&awaited, NULL);
    leave_all(waiters);
    finish(pool);
}

/* However short it was there. Nobody looks soon, say the marks. */
static void who_gives_up_sees_that_one_looks(void)
{
    bool seen = false;
    for (int try = 0; try < TRIES && !seen; try++) {
        struct usher_pool *pool = open_pool(1);
        struct usher_seat seat = scene_acquire(pool);
        struct usher_seat none;
        struct sitter waiters[WAITERS];
        settle(pool, waiters);
        for (int w = 0; w < WAITERS; w++) {
            (void)atomic_fetch_and(&at(pool, w)->watch, ~(uint32_t)FORMAT_LOOKS);
        }
        atomic_store(&told, 0);
        atomic_store(&awaited, at(pool, 2));
        struct timespec soon = scene_in_ms(1);
        EXPECT_EQ(usher_acquire_until(pool, &none, &soon), -ETIMEDOUT);
        seen = atomic_load(&told) > 0;
        atomic_store(&awaited, NULL);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        leave_all(waiters);
        finish(pool);
    }
    EXPECT(seen);
}

/* Until its first look whoever has begun to wait sleeps for so long. */
enum { FIRST_NS = 2 * 1000 * 1000, BRIEF_NS = 12 * 1000 * 1000, LATER_NS = 60 * 1000 * 1000 };

/* Where every wait is timed, also on a machine with one processor: see brief_test.c. */
static struct usher_pool *open_timed(void)
{
    return open_with((struct usher_options){.seats = 1, .flags = USHER_TIMES});
}

struct newcomer {
    struct usher_pool *pool;
    bool brief;
    int64_t first_ns;
};

static void *come_and_sleep(void *context)
{
    const struct newcomer *self = context;
    struct guest *guest;
    EXPECT_EQ(usher__guest_get(self->pool, &guest), 0);
    guest->brief = self->brief;
    watched[0] = pthread_self();
    own_until_ns = 0;
    int64_t before = os_now_ns();
    struct usher_seat seat = scene_acquire(self->pool);
    /* It began to wait in between: so this is exact, however long anything takes. */
    EXPECT(own_until_ns - before >= self->first_ns);
    EXPECT(own_until_ns - own_at_ns <= self->first_ns);
    EXPECT_EQ(usher_release(self->pool, &seat), 0);
    return NULL;
}

/* The first two in line soon, but not before the kernel's next tick if they waited but briefly the
   last time; the others later. */
static void how_soon_one_looks_for_the_first_time(void)
{
    static const int64_t first_ns[2][WAITERS] = {{FIRST_NS, FIRST_NS, LATER_NS},
                                                 {BRIEF_NS, BRIEF_NS, LATER_NS}};
    for (int row = 0; row < 2 * WAITERS; row++) {
        int ahead = row % WAITERS;
        struct usher_pool *pool = open_timed();
        struct usher_seat seat = scene_acquire(pool);
        struct sitter waiters[WAITERS];
        for (int w = 0; w < WAITERS; w++) {
            watched[w] = pthread_self();
        }
        for (int w = 0; w < ahead; w++) {
            queue_up(&waiters[w], pool);
        }
        atomic_store(&first, 0);
        struct newcomer self = {pool, row >= WAITERS, first_ns[row / WAITERS][ahead]};
        pthread_t newcomer = start(come_and_sleep, &self);
        UNTIL(atomic_load(&first) > 0); /* it sleeps */
        EXPECT_EQ(usher_release(pool, &seat), 0);
        for (int w = 0; w < ahead; w++) {
            UNTIL(atomic_load(&waiters[w].done));
            leave(&waiters[w]);
        }
        join(newcomer);
        finish(pool);
    }
}

/* On the board: told[0], the round in which it is to wait; step[0], that in which it is in. */
static atomic_int waits[2]; /* so many were long, and so many brief */

static void *wait_when_told(void *pool)
{
    for (int round = 1; waits[0] == 0 || waits[1] == 0; round++) {
        UNTIL(atomic_load(&board->told[0]) == round);
        struct usher_seat seat = scene_acquire(pool);
        const struct guest *guest = usher__mine.last.guest;
        EXPECT_EQ(guest->brief, guest->waited_ns < FIRST_NS);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        atomic_fetch_add(&waits[guest->brief], 1);
        atomic_store(&board->step[0], round);
    }
    struct timespec soon = scene_in_ms(0);
    struct usher_seat none;
    UNTIL(atomic_load(&board->told[0]) < 0);
    EXPECT_EQ(usher_acquire_until(pool, &none, &soon), -ETIMEDOUT);
    EXPECT(!usher__mine.last.guest->brief); /* it did not get in, however soon that was */
    return NULL;
}

/* Every other time it waits for longer than until it looks. On a busy machine it may do so at any
   time. */
static void a_wait_is_brief_if_it_ends_before_the_first_look(void)
{
    struct usher_pool *pool = open_timed();
    struct usher_seat seat;
    scene_clear();
    atomic_store(&waits[0], 0);
    atomic_store(&waits[1], 0);
    pthread_t waiter = start(wait_when_told, pool);
    for (int round = 1; waits[0] == 0 || waits[1] == 0; round++) {
        seat = scene_acquire(pool);
        atomic_store(&board->told[0], round);
        UNTIL(scene_info(pool).waiters == 1);
        scene_pause_us(round % 2 == 0 ? 3000 : 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        UNTIL(atomic_load(&board->step[0]) == round);
    }
    seat = scene_acquire(pool);
    atomic_store(&board->told[0], -1);
    join(waiter);
    EXPECT_EQ(usher_release(pool, &seat), 0);
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
    RUN_BOTH(who_gives_up_sees_that_one_looks);
    RUN(who_reaps_the_dead_sees_that_others_look);
    RUN_BOTH(how_soon_one_looks_for_the_first_time);
    RUN_BOTH(a_wait_is_brief_if_it_ends_before_the_first_look);
    return 0;
}
