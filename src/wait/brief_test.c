/*
 * Brief waits (wait.c): who waited but briefly the last time, where nobody has processors to spare,
 * does not ask the clock, and looks for the dead only if its sleep was not that brief after all, or
 * if another told it to. Each sleep is seen on its way to the kernel (-Wl,--wrap=syscall), and each
 * look at the clock is counted (-Wl,--wrap=clock_gettime).
 */
#include "pool/pool.h"
#include "sitters.h"
#include "syscalls.h"

#include <time.h>

enum {
    BRIEF_NS = 12 * 1000 * 1000,
    SOON_NS = 2 * 1000 * 1000, /* who has waited for less than that is brief */
    UNTIMED = 8,               /* one wait in so many is timed */
    TRIES = 100,
    WAITERS = 3,
    HANG_SECONDS = 100
};

/* A sleep on its way to the kernel. */
struct nap {
    long command;
    int64_t ns; /* as it is there: for so long, or until then */
    uint32_t marks;
    int64_t since_ns;
    bool timed_out, woken;
    int64_t ended_ns;
};

/* A thread that comes with a guest of its own, sits down, and stays until it is told to leave. */
struct comer {
    struct usher_pool *pool;
    const struct timespec *deadline;
    bool brief;
    struct format_row *_Atomic row;
    struct format_row *_Atomic behind; /* whose wakes by this thread are counted */
    bool hold_up;                      /* woken, it is held up until its seat is granted */
    struct nap naps[2];                /* the first ones */
    atomic_int slept;                  /* so many have begun */
    int asked;                         /* the clock, so often, in usher_acquire */
    int told;                          /* `behind`, so often */
    int64_t since_ns, done_ns;
    atomic_int done, leave;
    int result;
    struct usher_seat seat;
    pthread_t thread;
};

static _Thread_local struct comer *me; /* while it acquires */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (me != NULL) {
        me->asked++;
    }
    return __real_clock_gettime(clock, now);
}

/* Nobody counts that. */
static int64_t now_ns(void)
{
    struct timespec now;
    EXPECT_EQ(__real_clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long sleep_noted(long number, const long *a)
{
    int n = atomic_load(&me->slept);
    struct nap *nap = &me->naps[n < 2 ? n : 1];
    struct format_row *row = atomic_load(&me->row);
    if (n < 2) {
        const struct timespec *time = (const struct timespec *)a[3];
        nap->command = a[1] & FUTEX_CMD_MASK;
        nap->ns = time == NULL ? INT64_MAX : time->tv_sec * 1000000000LL + time->tv_nsec;
        nap->marks = atomic_load(&row->watch) & ~FORMAT_REAPED;
        nap->since_ns = atomic_load(&row->since_ns);
    }
    atomic_store(&me->slept, n + 1);
    long result = call_it(number, a);
    int error = errno;
    if (n < 2) {
        nap->timed_out = result == -1 && error == ETIMEDOUT;
        nap->woken = result == 0;
        nap->ended_ns = now_ns();
    }
    while (n == 0 && me->hold_up && core_row_state(atomic_load(&row->word)) != CORE_GRANTED) {
        scene_pause_us(300);
    }
    errno = error;
    return result;
}

static long on_syscall(long number, long *a)
{
    if (me != NULL && sleeps(number, a)) {
        return sleep_noted(number, a);
    }
    const struct format_row *behind = me != NULL ? atomic_load(&me->behind) : NULL;
    if (wakes_somebody(number, a) && behind != NULL && a[0] >= (long)behind &&
        a[0] < (long)(behind + 1)) {
        me->told++;
    }
    return call_it(number, a);
}

static void *come(void *context)
{
    struct comer *self = context;
    struct guest *guest;
    EXPECT_EQ(usher__guest_get(self->pool, &guest), 0);
    guest->brief = self->brief;
    guest->untimed = 0;
    atomic_store(&self->row, &self->pool->rows[guest->row]);
    me = self;
    self->result = usher_acquire_until(self->pool, &self->seat, self->deadline);
    me = NULL;
    self->done_ns = now_ns();
    self->since_ns = atomic_load(&atomic_load(&self->row)->since_ns);
    atomic_store(&self->done, 1);
    UNTIL(atomic_load(&self->leave) != 0);
    if (self->result == 0) {
        EXPECT_EQ(usher_release(self->pool, &self->seat), 0);
    }
    return NULL;
}

/* Let it come, and see it sleep. */
static void send(struct comer *comer, struct usher_pool *pool)
{
    comer->pool = pool;
    comer->thread = start(come, comer);
    UNTIL(atomic_load(&comer->slept) > 0);
}

static void see_off(struct comer *comer)
{
    UNTIL(atomic_load(&comer->done));
    atomic_store(&comer->leave, 1);
    join(comer->thread);
}

static uint32_t marks(const struct comer *comer)
{
    return atomic_load(&atomic_load(&comer->row)->watch) & ~FORMAT_REAPED;
}

static struct usher_seat *held; /* by the main thread; the pool has a few more guests than seats */

static struct usher_pool *open_held(uint32_t seats, uint32_t hold, struct usher_options options)
{
    scene_clear();
    options.seats = seats;
    options.guests = seats + 64;
    struct usher_pool *pool = open_with(options);
    held = calloc(hold + 1, sizeof *held);
    EXPECT(held != NULL);
    for (uint32_t h = 0; h < hold; h++) {
        held[h] = scene_acquire(pool);
    }
    return pool;
}

static void give_back(struct usher_pool *pool, uint32_t first, uint32_t hold)
{
    for (uint32_t h = first; h < hold; h++) {
        EXPECT_EQ(usher_release(pool, &held[h]), 0);
    }
}

static void finish_held(struct usher_pool *pool, uint32_t first, uint32_t hold)
{
    give_back(pool, first, hold);
    free(held);
    finish(pool);
}

static void expect_brief(const struct nap *nap)
{
    EXPECT_EQ(nap->command, FUTEX_WAIT);
    EXPECT_EQ(nap->ns, BRIEF_NS);
    EXPECT_EQ(nap->marks, FORMAT_WAITS | FORMAT_BRIEF);
    EXPECT_EQ(nap->since_ns, 0);
}

static void expect_timed(const struct nap *nap)
{
    EXPECT_EQ(nap->command, FUTEX_WAIT_BITSET);
    EXPECT_EQ(nap->marks, FORMAT_WAITS | FORMAT_LOOKS);
    EXPECT(nap->since_ns > 0);
}

/* Should the machine be so busy that it waits for longer, it has to look: not every time. */
static void a_brief_wait_is_not_timed(void)
{
    const uint32_t seats = os_processors();
    bool untimed = false;
    for (int try = 0; try < TRIES && !untimed; try++) {
        struct usher_pool *pool = open_held(seats, seats, (struct usher_options){0});
        struct comer comer = {.brief = true};
        send(&comer, pool);
        give_back(pool, 0, 1);
        UNTIL(atomic_load(&comer.done));
        EXPECT_EQ(comer.result, 0);
        expect_brief(&comer.naps[0]);
        untimed = comer.asked == 0;
        EXPECT_EQ(untimed, comer.since_ns == 0);
        see_off(&comer);
        finish_held(pool, 1, seats);
    }
    EXPECT(untimed);
}

static int go_on(struct usher_pool *pool, void *context)
{
    (void)pool;
    (void)context;
    return 0;
}

/* For one that is not known to wait briefly; for one that wants to know; for one that has to; and
   where there are processors to spare. */
static void other_waits_are_timed(void)
{
    const struct timespec late = scene_in_ms(3600 * 1000L);
    const struct {
        bool brief;
        struct usher_options options;
        const struct timespec *deadline;
        uint32_t spare;
    } rows[] = {
        {false, {0}, NULL, 0},
        {true, {.flags = USHER_TIMES}, NULL, 0},
        {true, {.waiting = go_on}, NULL, 0},
        {true, {.waiting = go_on, .waiting_ms = 3600 * 1000}, NULL, 0},
        {true, {0}, &late, 0},
        {true, {0}, NULL, 1},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const uint32_t seats = os_processors() - rows[r].spare;
        if (seats == 0) {
            (void)printf("  left out: processors to spare, there is one\n");
            continue;
        }
        struct usher_pool *pool = open_held(seats, seats, rows[r].options);
        struct comer comer = {.brief = rows[r].brief, .deadline = rows[r].deadline};
        send(&comer, pool);
        give_back(pool, 0, 1);
        UNTIL(atomic_load(&comer.done));
        EXPECT_EQ(comer.result, 0);
        expect_timed(&comer.naps[0]);
        EXPECT(comer.asked > 0 && comer.since_ns > 0);
        see_off(&comer);
        finish_held(pool, 1, seats);
    }
}

/* Whoever is woken and has no seat is awake for something else: it will look. */
static void who_is_woken_for_nothing_looks(void)
{
    const uint32_t seats = os_processors();
    bool woken = false;
    for (int try = 0; try < TRIES && !woken; try++) {
        struct usher_pool *pool = open_held(seats, seats, (struct usher_options){0});
        struct comer comer = {.brief = true};
        send(&comer, pool);
        while (atomic_load(&comer.slept) == 1) {
            (void)os_wake(&atomic_load(&comer.row)->word, pool->shared);
        }
        give_back(pool, 0, 1);
        UNTIL(atomic_load(&comer.done));
        expect_brief(&comer.naps[0]);
        expect_timed(&comer.naps[1]);
        EXPECT(comer.asked > 0 && comer.since_ns > 0);
        woken = comer.naps[0].woken;
        see_off(&comer);
        finish_held(pool, 1, seats);
    }
    EXPECT(woken);
}

/* One behind it that looks after 2 ms wakes it, and looks more seldom from then on. So it has that
   one look when it gets in, however soon that is: soon enough, now and then, to be brief. */
static void who_was_told_to_look_sees_that_another_does(void)
{
    const uint32_t seats = os_processors();
    bool soon = false;
    with_file = true; /* threads do not die */
    for (int try = 0; try < TRIES && !soon; try++) {
        struct usher_pool *pool = open_held(seats, seats, (struct usher_options){0});
        struct comer comer = {.brief = true};
        struct comer behind = {.brief = false};
        send(&comer, pool);
        send(&behind, pool);
        atomic_store(&comer.behind, atomic_load(&behind.row));
        UNTIL(atomic_load(&comer.slept) > 1 &&
              marks(&behind) == (FORMAT_WAITS | FORMAT_LOOKS | FORMAT_SELDOM));
        give_back(pool, 0, 1);
        UNTIL(atomic_load(&comer.done));
        soon = comer.naps[0].woken && comer.done_ns - comer.naps[0].ended_ns < SOON_NS;
        EXPECT(!soon || comer.told > 0);
        see_off(&comer);
        see_off(&behind);
        finish_held(pool, 1, seats);
    }
    EXPECT(soon);
}

/* The same if it is granted its seat before it is awake, and does not ask the clock at all. */
static void even_if_its_seat_comes_first(void)
{
    const uint32_t seats = os_processors();
    bool crossed = false;
    with_file = true;
    for (int try = 0; try < TRIES && !crossed; try++) {
        struct usher_pool *pool = open_held(seats, seats, (struct usher_options){0});
        struct comer comer = {.brief = true, .hold_up = true};
        struct comer behind = {.brief = false};
        send(&comer, pool);
        send(&behind, pool);
        atomic_store(&comer.behind, atomic_load(&behind.row));
        UNTIL(marks(&behind) == (FORMAT_WAITS | FORMAT_LOOKS | FORMAT_SELDOM));
        give_back(pool, 0, 1);
        UNTIL(atomic_load(&comer.done));
        crossed = comer.naps[0].woken;
        EXPECT_EQ(comer.asked, 0);
        EXPECT(!crossed || comer.told > 0);
        see_off(&comer);
        see_off(&behind);
        finish_held(pool, 1, seats);
    }
    EXPECT(crossed);
}

/* It comes when the holder is dead already: so after one sleep it finds that, and is in. */
static void whoever_sleeps_longer_looks(void)
{
    const uint32_t seats = os_processors();
    with_file = true;
    struct usher_pool *pool = open_held(seats, seats - 1, (struct usher_options){0});
    scene_kill(scene_holder(0, "pool"));
    struct comer comer = {.brief = true};
    send(&comer, pool);
    UNTIL(atomic_load(&comer.done));
    EXPECT_EQ(comer.result, 0);
    expect_brief(&comer.naps[0]);
    EXPECT(comer.naps[0].timed_out);
    EXPECT_EQ(atomic_load(&comer.slept), 1);
    EXPECT(comer.asked > 0);
    see_off(&comer);
    finish_held(pool, 0, seats - 1);
}

/* Where all wait briefly, and a holder is killed. */
static void a_death_is_found_where_all_wait_briefly(void)
{
    const uint32_t seats = os_processors();
    bool brief = false;
    with_file = true;
    for (int try = 0; try < TRIES && !brief; try++) {
        struct usher_pool *pool = open_held(seats, seats - 1, (struct usher_options){0});
        pid_t holder = scene_holder(0, "pool");
        struct comer comers[WAITERS];
        brief = true;
        for (int c = 0; c < WAITERS; c++) {
            comers[c] = (struct comer){.brief = true};
            send(&comers[c], pool);
        }
        for (int c = 0; c < WAITERS; c++) {
            brief = brief && marks(&comers[c]) == (FORMAT_WAITS | FORMAT_BRIEF);
        }
        int64_t killed = now_ns();
        scene_kill(holder);
        UNTIL(atomic_load(&comers[0].done));
        EXPECT(comers[0].done_ns - killed < 1000000000);
        for (int c = 0; c < WAITERS; c++) {
            see_off(&comers[c]);
            EXPECT_EQ(comers[c].result, 0);
        }
        finish_held(pool, 0, seats - 1);
    }
    EXPECT(brief);
}

static atomic_int rounds; /* in which it is to wait; -1: no more */

struct steady {
    struct usher_pool *pool;
    atomic_int in; /* so often so far */
};

static void *wait_on_and_on(void *context)
{
    struct steady *self = context;
    struct guest *guest;
    EXPECT_EQ(usher__guest_get(self->pool, &guest), 0);
    guest->brief = true;
    guest->untimed = 0;
    for (int round = 1;; round++) {
        UNTIL(atomic_load(&rounds) == round || atomic_load(&rounds) < 0);
        if (atomic_load(&rounds) < 0) {
            return NULL;
        }
        struct usher_seat seat = scene_acquire(self->pool);
        EXPECT_EQ(usher_release(self->pool, &seat), 0);
        atomic_store(&self->in, round);
    }
}

/* A holder is dead, but there is another seat, so that each wait is over before anybody would look,
   though it is not brief any more. Of these some are timed, and the next has a look. */
static void waits_that_are_brief_no_more_are_found_out(void)
{
    const uint32_t seats = os_processors() + 1; /* two at least */
    with_file = true;
    struct usher_pool *pool = open_held(seats, seats - 1, (struct usher_options){0});
    struct steady steady = {.pool = pool};
    int round = 0;
    bool found = false;
    scene_kill(scene_holder(0, "pool"));
    atomic_store(&rounds, 0);
    pthread_t thread = start(wait_on_and_on, &steady);
    while (!found && round < 2 * UNTIMED) {
        atomic_store(&rounds, ++round);
        UNTIL(scene_info(pool).waiters == 1 || atomic_load(&steady.in) == round);
        scene_pause_us(2 * SOON_NS / 1000);
        found = atomic_load(&steady.in) == round; /* it has the dead one's */
        EXPECT_EQ(usher_release(pool, &held[0]), 0);
        UNTIL(atomic_load(&steady.in) == round);
        held[0] = scene_acquire(pool);
    }
    EXPECT(found);
    atomic_store(&rounds, -1);
    join(thread);
    finish_held(pool, 0, seats - 1);
}

/* It is woken for that, or wakes by itself; and while it sleeps nobody has told it anything. */
static void a_removed_pool_ends_brief_waits(void)
{
    const uint32_t seats = os_processors();
    with_file = true;
    struct usher_pool *pool = open_held(seats, seats, (struct usher_options){0});
    struct comer comers[WAITERS];
    for (int c = 0; c < WAITERS; c++) {
        comers[c] = (struct comer){.brief = true};
        send(&comers[c], pool);
    }
    EXPECT_EQ(usher_discard("pool"), 0);
    for (int c = 0; c < WAITERS; c++) {
        UNTIL(atomic_load(&comers[c].done));
        EXPECT_EQ(comers[c].result, -EIDRM);
        EXPECT_EQ(comers[c].since_ns, 0);
        expect_brief(&comers[c].naps[0]);
        see_off(&comers[c]);
    }
    give_back(pool, 0, seats);
    free(held);
    usher_close(pool);
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN_BOTH(a_brief_wait_is_not_timed);
    RUN_BOTH(other_waits_are_timed);
    RUN_BOTH(who_is_woken_for_nothing_looks);
    RUN(who_was_told_to_look_sees_that_another_does);
    RUN(even_if_its_seat_comes_first);
    RUN(whoever_sleeps_longer_looks);
    RUN(a_death_is_found_where_all_wait_briefly);
    RUN(waits_that_are_brief_no_more_are_found_out);
    RUN(a_removed_pool_ends_brief_waits);
    return 0;
}
