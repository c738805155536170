/*
 * Who is called before its turn (call.c, ready.c, gate.c): the first in line, once, by those who
 * come again and again, where that pays. And whoever was called is granted its seat like anyone
 * else, whether it is awake by then, sleeps again, or is dead. syscall(2) and sched_yield(2) are
 * seen on their way (-Wl,--wrap).
 */
#include "wait/call.h"

#include "pool/pool.h"
#include "sitters.h"
#include "syscalls.h"

#include <signal.h>
#include <sys/wait.h>

enum {
    VAIN_MOST = 16,
    VAIN_COSTS = 4,
    SELDOM = 16,
    SOON = 2,
    SOON_NS = 60000000,
    WAITERS = 3,
    CALLERS = 12,
    INSIDE_NS = 20000,
    HANG_SECONDS = 100
};

static _Thread_local unsigned wakes; /* calls of this thread's that were to wake somebody */
static atomic_int asleep, woke;      /* threads of this process */
static atomic_bool untimed;        /* sleepers have no clock: a wake that is lost is not made up */
static struct usher_pool *calling; /* in which to see who is called */
static atomic_uint calls;
static atomic_uint ways; /* given by all */

int __real_sched_yield(void);
int __wrap_sched_yield(void);

int __wrap_sched_yield(void)
{
    atomic_fetch_add(&ways, 1);
    return __real_sched_yield();
}

/* Is it the word of a row that has been called? */
static void note_call(long address)
{
    for (uint32_t row = 0; calling != NULL && row < usher__rows_used(calling); row++) {
        const struct format_row *its = &calling->rows[row];
        if (address >= (long)its && address < (long)(its + 1)) {
            atomic_fetch_add(&calls, (atomic_load(&its->watch) & FORMAT_CALLED) != 0);
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
    wakes += number == SYS_futex && a[1] == FUTEX_WAKE_BITSET;
    atomic_fetch_add(&asleep, sleeping);
    long result = call_it(number, a);
    atomic_fetch_sub(&asleep, sleeping);
    atomic_fetch_add(&woke, sleeping);
    return result;
}

static void it_pays_where_there_is_a_processor_for_the_called_one(void)
{
    const uint32_t processors = os_processors();
    const struct {
        uint32_t seats, ahead;
        bool pays;
    } rows[] = {
        {1, 0, false}, /* there is nobody to call */
        {1, 1, processors > 1},
        {processors - 1, 1, processors > 1},
        {processors - 1, 1000, processors > 1},
        {processors, 2 * processors, false},
        {processors, 2 * processors + 1, true},
        {processors + 1, 2 * processors + 1, false},
        {processors + 1, 1000, false},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        _Atomic uint32_t vain = 0;
        uint32_t spared = 0;
        EXPECT_EQ(usher__call_pays(rows[r].seats, rows[r].ahead, &vain, &spared), rows[r].pays);
    }
}

/* Where one in five is in vain, or more, it is tried now and then. */
static void whether_it_pays_is_found_out_by_trying(void)
{
    const uint32_t processors = os_processors();
    const uint32_t ahead = 2 * processors + 1;
    _Atomic uint32_t vain = 0;
    uint32_t spared = 0;
    for (unsigned n = 0; n < VAIN_MOST / VAIN_COSTS; n++) {
        EXPECT(usher__call_pays(processors, ahead, &vain, &spared));
        usher__call_learn(&vain, false);
    }
    for (unsigned n = 1; n <= 3 * SELDOM; n++) {
        EXPECT_EQ(usher__call_pays(processors, ahead, &vain, &spared), n % SELDOM == 0);
    }
    usher__call_learn(&vain, false);
    EXPECT_EQ(atomic_load(&vain), VAIN_MOST); /* and no more */
    usher__call_learn(&vain, true);
    EXPECT(usher__call_pays(processors, ahead, &vain, &spared));
    for (unsigned n = 0; n < 2 * VAIN_MOST; n++) {
        usher__call_learn(&vain, true);
    }
    EXPECT_EQ(atomic_load(&vain), 0);
}

/* What stands in a pool may be made up. */
static void whatever_stands_there_it_is_found_out(void)
{
    const uint32_t processors = os_processors();
    _Atomic uint32_t vain = UINT32_MAX;
    uint32_t spared = SELDOM - 1;
    EXPECT(usher__call_pays(processors, 2 * processors + 1, &vain, &spared));
    usher__call_learn(&vain, true);
    EXPECT_EQ(atomic_load(&vain), VAIN_MOST - 1);
    atomic_store(&vain, UINT32_MAX);
    usher__call_learn(&vain, false);
    EXPECT(atomic_load(&vain) >= VAIN_MOST);
}

static void who_waits_long_or_comes_seldom_does_not_call(void)
{
    static const struct {
        int64_t waited_ns[3];
        bool often;
    } rows[] = {
        {{SOON_NS, SOON_NS, 0}, false},
        {{0, SOON_NS, 0}, false},
        {{0, 0, SOON_NS}, false},
        {{SOON_NS, SOON_NS - 1, SOON_NS - 1}, true},
        {{0, 0, 0}, true},
        {{INT64_MAX, 0, 0}, true},
        {{0, 0, INT64_MAX /* gave up */}, false},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct guest guest = {0};
        for (size_t n = 0; n < 3; n++) {
            usher__ready_waited(&guest, rows[r].waited_ns[n]);
        }
        EXPECT_EQ(guest.soon == SOON, rows[r].often);
    }
}

/* The row of whoever waits as the first, asleep or nearly. */
static struct format_row *first_in_line(struct usher_pool *pool)
{
    struct core_line_walk walk;
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

/* Calls, as one that comes again and again. */
static void call(struct usher_pool *pool)
{
    struct guest guest = {.soon = SOON};
    usher__ready_call(pool, &guest);
}

static void the_first_in_line_is_called(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiters[WAITERS];
    struct guest seldom = {.soon = SOON - 1};
    unsigned before = wakes;
    call(pool);
    EXPECT_EQ(wakes, before); /* there is nobody */
    put_to_sleep(waiters, WAITERS, pool);
    struct format_row *row = first_in_line(pool);
    int woken = atomic_load(&woke);
    usher__ready_call(pool, &seldom);
    EXPECT_EQ(wakes, before);
    atomic_store(&ways, 0);
    call(pool);
    EXPECT_EQ(wakes, before + 1);
    UNTIL(atomic_load(&woke) > woken);
    UNTIL((atomic_load(&row->watch) & (FORMAT_WAITS | FORMAT_CALLED)) == FORMAT_WAITS);
    EXPECT(first_in_line(pool) == row); /* and sleeps again, where it was */
    EXPECT_EQ(atomic_load(&pool->header->vain_calls), VAIN_COSTS);
    EXPECT(atomic_load(&ways) > 0);
    for (int i = 0; i < WAITERS; i++) {
        EXPECT_EQ(atomic_load(&waiters[i].done), 0);
    }
    let_all_in(waiters, WAITERS, pool, &seat);
    finish(pool);
}

/* As if the one who called had died, or been stopped, before it woke it: nobody calls again, and
   the grant wakes. */
static void a_call_that_was_not_heard_costs_nothing(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiter;
    put_to_sleep(&waiter, 1, pool);
    (void)atomic_fetch_or(&first_in_line(pool)->watch, FORMAT_CALLED);
    unsigned before = wakes;
    call(pool);
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

/* Stop a process while it sleeps in line, or is about to: now and then it is awake, to look. */
static void stop_asleep(pid_t child, const struct format_row *row)
{
    for (int status = 0;;) {
        EXPECT_EQ(kill(child, SIGSTOP), 0);
        EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
        EXPECT(WIFSTOPPED(status));
        if (atomic_load(&row->watch) & FORMAT_WAITS) {
            return;
        }
        EXPECT_EQ(kill(child, SIGCONT), 0);
        scene_pause_us(1000);
    }
}

/* Nor does it take a clock, unless whoever granted it the seat comes again, and looks then. */
static void whoever_does_not_come_again_asks_at_once_for_one_that_was_called(void)
{
    scene_clear();
    struct usher_pool *pool = scene_open("pool", 1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiter;
    pid_t child = scene_waiter(0, "pool", 1);
    struct format_row *row = first_in_line(pool);
    atomic_store(&untimed, true);
    queue_up(&waiter, pool);
    UNTIL(atomic_load(&asleep) == 1);
    stop_asleep(child, row);
    (void)atomic_fetch_or(&row->watch, FORMAT_CALLED);
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitpid(child, NULL, 0), child);
    let_all_in(&waiter, 1, pool, &seat);
    with_file = true;
    finish(pool);
}

/* Who has no time to give way, having a deadline, sleeps on. */
static void one_with_a_deadline_is_called_in_vain(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiter = {.pool = pool};
    struct timespec deadline = scene_in_ms(100000);
    waiter.deadline = &deadline;
    atomic_store(&untimed, false);
    waiter.thread = start(sit, &waiter);
    UNTIL(atomic_load(&asleep) == 1);
    struct format_row *row = first_in_line(pool);
    atomic_store(&ways, 0);
    call(pool);
    UNTIL(atomic_load(&pool->header->vain_calls) == VAIN_COSTS);
    EXPECT_EQ(atomic_load(&ways), 0);
    UNTIL((atomic_load(&row->watch) & (FORMAT_WAITS | FORMAT_CALLED)) == FORMAT_WAITS);
    let_all_in(&waiter, 1, pool, &seat);
    finish(pool);
}

static atomic_bool enough;
static atomic_int inside;

static void stay_inside(int most)
{
    EXPECT(atomic_fetch_add(&inside, 1) < most);
    int64_t until = os_now_ns() + INSIDE_NS;
    while (os_now_ns() < until) {
    }
    atomic_fetch_sub(&inside, 1);
}

static void *come_and_go(void *pool)
{
    while (!atomic_load(&enough)) {
        struct usher_seat seat = scene_acquire(pool);
        stay_inside(1);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    return NULL;
}

/* For real: they do call each other, sooner or later. */
static void those_who_stay_briefly_call_each_other(void)
{
    struct usher_pool *pool = open_pool(1);
    pthread_t threads[CALLERS];
    atomic_store(&untimed, false);
    atomic_store(&enough, false);
    atomic_store(&calls, 0);
    calling = pool;
    for (int i = 0; i < CALLERS; i++) {
        threads[i] = start(come_and_go, pool);
    }
    UNTIL(os_processors() == 1 || atomic_load(&calls) > 10);
    atomic_store(&enough, true);
    for (int i = 0; i < CALLERS; i++) {
        join(threads[i]);
    }
    calling = NULL;
    finish(pool);
}

static struct usher_gate gate;

static void *pass_once(void *context)
{
    struct usher_pass pass = {0};
    (void)context;
    EXPECT_EQ(usher_gate_enter(&gate, &pass), 0);
    EXPECT_EQ(usher_gate_leave(&gate, &pass), 0);
    return NULL;
}

/* Who has not waited there before wakes the next, and nobody else; and who is called is ready. */
static void at_a_gate_who_comes_for_once_does_not_call(void)
{
    pthread_t threads[WAITERS];
    struct usher_pass pass = {0};
    atomic_store(&untimed, false);
    EXPECT_EQ(usher_gate_init(&gate, WAITERS + 1, 1), 0);
    EXPECT_EQ(usher_gate_enter(&gate, &pass), 0);
    for (int i = 0; i < WAITERS; i++) {
        threads[i] = start(pass_once, NULL);
        UNTIL(atomic_load(&asleep) == i + 1);
    }
    /* whoever is woken and is next gives way, before it sleeps again */
    atomic_store(&ways, 0);
    uint32_t *half = (uint32_t *)(void *)&gate.word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    (void)syscall(SYS_futex, half, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, ~0U);
    UNTIL(atomic_load(&ways) > 0);
    UNTIL(atomic_load(&asleep) == WAITERS);
    unsigned before = wakes;
    EXPECT_EQ(usher_gate_leave(&gate, &pass), 0);
    EXPECT_EQ(wakes, before + 1);
    for (int i = 0; i < WAITERS; i++) {
        join(threads[i]);
    }
}

static void *pass_often(void *context)
{
    (void)context;
    while (!atomic_load(&enough)) {
        struct usher_pass pass = {0};
        EXPECT_EQ(usher_gate_enter(&gate, &pass), 0);
        stay_inside(1);
        unsigned before = wakes;
        EXPECT_EQ(usher_gate_leave(&gate, &pass), 0);
        atomic_fetch_add(&calls, wakes == before + 2);
    }
    return NULL;
}

/* At a gate one that leaves wakes the next, and calls the one after it. */
static void so_it_is_at_a_gate(void)
{
    pthread_t threads[CALLERS];
    EXPECT_EQ(usher_gate_init(&gate, CALLERS, 1), 0);
    atomic_store(&enough, false);
    atomic_store(&calls, 0);
    for (int i = 0; i < CALLERS; i++) {
        threads[i] = start(pass_often, NULL);
    }
    UNTIL(os_processors() == 1 || atomic_load(&calls) > 10);
    atomic_store(&enough, true);
    for (int i = 0; i < CALLERS; i++) {
        join(threads[i]);
    }
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN(it_pays_where_there_is_a_processor_for_the_called_one);
    RUN(whether_it_pays_is_found_out_by_trying);
    RUN(whatever_stands_there_it_is_found_out);
    RUN(who_waits_long_or_comes_seldom_does_not_call);
    if (os_processors() > 1) { /* otherwise nobody is ever called */
        RUN_BOTH(the_first_in_line_is_called);
        RUN_BOTH(a_call_that_was_not_heard_costs_nothing);
        RUN_BOTH(one_with_a_deadline_is_called_in_vain);
        RUN(one_that_dies_when_called_is_reaped);
        RUN(whoever_does_not_come_again_asks_at_once_for_one_that_was_called);
    }
    RUN_BOTH(those_who_stay_briefly_call_each_other);
    RUN(at_a_gate_who_comes_for_once_does_not_call);
    RUN(so_it_is_at_a_gate);
    return 0;
}
