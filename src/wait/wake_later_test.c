/*
 * When a granted waiter is woken (act.c). It may run at once, and must find no half-done operation
 * to finish. But it is not left asleep while the guest that granted it the seat sleeps itself. The
 * test checks the words on the way to the kernel (-Wl,--wrap=syscall). Sleeps have no timeout, so
 * no other process repairs anything.
 */
#include "core/parts.h"
#include "pool/pool.h"
#include "sitters.h"
#include "syscalls.h"
#include "wait/act.h"

enum { WAITERS = 3, HANG_SECONDS = 100 };

/* What a checked thread does, and in which pool. */
enum role { OTHER, LEAVES, QUEUES };
static _Thread_local enum role role;
static _Thread_local struct usher_pool *checked_pool;
static _Thread_local uint32_t own; /* its row */

static _Thread_local long last_woken; /* address of this thread's last wake-up; 0: none */

static atomic_int asleep;
static atomic_int woken_by_leaver, woken_by_queuer; /* number of wake-ups by each */
static atomic_bool queuer_has_slept;                /* or sleeps now */

static uint64_t word_at(uint32_t at)
{
    return atomic_load(&checked_pool->core.words[at]);
}

/* The row that is woken. */
static uint32_t woken(long address)
{
    const char *rows = (const char *)checked_pool->rows;
    ptrdiff_t at = ((const char *)address - rows) / (ptrdiff_t)sizeof checked_pool->rows[0];
    EXPECT(at >= 0 && at < checked_pool->core.rows);
    return (uint32_t)at;
}

/* The row has been granted its ticket, and V says that the ticket is valid. */
static uint32_t expect_granted(uint32_t row)
{
    uint64_t word = usher__row_word(checked_pool, row);
    EXPECT_EQ(core_row_state(word), CORE_GRANTED);
    EXPECT_EQ(core_row_ticket(word), core_v_valid(word_at(CORE_AT_V(&checked_pool->core))));
    return core_row_ticket(word);
}

/* The leaver's row is free, and the place of the next waiter is marked as served. */
static void expect_left(long address)
{
    const struct core *c = &checked_pool->core;
    uint32_t ticket = expect_granted(woken(address));
    EXPECT_EQ(core_line_ticket(word_at(core__line_at(c, ticket))), ticket);
    EXPECT_EQ(core_line_verdict(word_at(core__line_at(c, ticket))), CORE_SERVED);
    EXPECT_EQ(core_row_state(usher__row_word(checked_pool, own)), CORE_IDLE);
    atomic_fetch_add(&woken_by_leaver, 1);
}

/* The queueing guest has its ticket, and its place in line is written. */
static void expect_queued(long address)
{
    const struct core *c = &checked_pool->core;
    uint64_t i = word_at(CORE_AT_I(c));
    uint64_t row = usher__row_word(checked_pool, own);
    (void)expect_granted(woken(address));
    EXPECT_EQ(core_row_state(row), CORE_WAITING);
    EXPECT(core__names_i(i, own, core_row_cycle(row)));
    EXPECT_EQ(word_at(core__line_at(c, core_i_issue(i))), core__place_of(i, row));
    atomic_fetch_add(&woken_by_queuer, 1);
}

static long on_syscall(long number, long *a)
{
    bool sleeping = sleeps(number, a);
    a[3] = sleeping ? 0 : a[3];
    last_woken = wakes_waiter(number, a) ? a[0] : last_woken;
    if (wakes_waiter(number, a) && role == LEAVES) {
        expect_left(a[0]);
    } else if (wakes_waiter(number, a) && role == QUEUES) {
        expect_queued(a[0]);
    }
    if (sleeping && role == QUEUES && !atomic_load(&queuer_has_slept)) {
        EXPECT_EQ(atomic_load(&woken_by_queuer), 1);
        atomic_store(&queuer_has_slept, true);
    }
    atomic_fetch_add(&asleep, sleeping);
    long result = call_it(number, a);
    atomic_fetch_sub(&asleep, sleeping);
    return result;
}

/* The leaver is held up after it has published V and before it delivers the seat to the next
   waiter. */
static _Thread_local bool held_up;
static atomic_bool has_said_so, may_go_on;

void core_counted(void)
{
    if (held_up && core_v_row(word_at(CORE_AT_V(&checked_pool->core))) == own) {
        held_up = false;
        atomic_store(&has_said_so, true);
        UNTIL(atomic_load(&may_go_on));
    }
}

static void look_at(struct usher_pool *pool, enum role as)
{
    checked_pool = pool;
    own = usher__mine.last.guest->row;
    role = as;
}

static void put_to_sleep(struct sitter *waiters, int count, struct usher_pool *pool)
{
    for (int i = 0; i < count; i++) {
        queue_up(&waiters[i], pool);
        UNTIL(atomic_load(&asleep) == i + 1);
    }
}

static void let_in(struct sitter *waiter)
{
    UNTIL(atomic_load(&waiter->done));
    EXPECT_EQ(waiter->result, 0);
    leave(waiter);
}

/* A guest's first release and its later ones take two paths. */
static void a_release_wakes_the_next_when_it_is_done(void)
{
    for (int before = 0; before < 3; before++) {
        struct usher_pool *pool = open_pool(1);
        struct sitter waiters[WAITERS];
        for (int i = 0; i < before; i++) {
            struct usher_seat earlier = scene_acquire(pool);
            EXPECT_EQ(usher_release(pool, &earlier), 0);
        }
        struct usher_seat seat = scene_acquire(pool);
        put_to_sleep(waiters, WAITERS, pool);
        atomic_store(&woken_by_leaver, 0);
        look_at(pool, LEAVES);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        role = OTHER;
        EXPECT_EQ(atomic_load(&woken_by_leaver), 1);
        for (int i = 0; i < WAITERS; i++) {
            let_in(&waiters[i]);
        }
        finish(pool);
    }
}

static void *hold_and_be_held_up(void *pool)
{
    struct usher_seat seat = scene_acquire(pool);
    atomic_store(&board->order[0], 1);
    UNTIL(atomic_load(&board->order[1]) == 1);
    look_at(pool, OTHER);
    held_up = true;
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT(!held_up);
    return NULL;
}

/* It enters once before, so that its row is known. */
static void *come_and_queue(void *pool)
{
    struct guest *guest;
    EXPECT_EQ(usher__guest_get(pool, &guest), 0);
    checked_pool = pool;
    own = guest->row;
    role = QUEUES;
    struct usher_seat seat = scene_acquire(pool);
    role = OTHER;
    EXPECT_EQ(usher_release(pool, &seat), 0);
    return NULL;
}

/* V says that the sleeper's ticket is valid, but the sleeper was not granted it. The next guest
   that arrives finds this, grants the seat and takes its own place. No other process wakes the
   sleeper. */
static void a_guest_that_queues_wakes_another_before_it_sleeps(void)
{
    struct usher_pool *pool = open_pool(1);
    struct sitter waiter;
    scene_clear();
    atomic_store(&has_said_so, false);
    atomic_store(&may_go_on, false);
    atomic_store(&queuer_has_slept, false);
    atomic_store(&woken_by_queuer, 0);
    pthread_t holder = start(hold_and_be_held_up, pool);
    UNTIL(atomic_load(&board->order[0]) == 1);
    put_to_sleep(&waiter, 1, pool);
    atomic_store(&board->order[1], 1);
    UNTIL(atomic_load(&has_said_so));
    EXPECT_EQ(atomic_load(&asleep), 1);
    pthread_t comer = start(come_and_queue, pool);
    UNTIL(atomic_load(&queuer_has_slept));
    UNTIL(atomic_load(&waiter.done));
    atomic_store(&may_go_on, true);
    join(holder);
    let_in(&waiter);
    join(comer);
    EXPECT_EQ(atomic_load(&woken_by_queuer), 1);
    finish(pool);
}

/* All rows that an act grants are woken when it ends, each once, however many they are. The rows
   are only marked as waiting; no thread sleeps. */
static void an_act_wakes_all_when_it_ends(void)
{
    enum { GRANTS = 20 };
    with_file = false;
    struct usher_pool *pool = open_pool(GRANTS);
    unsigned wakes[GRANTS] = {0};
    struct pool_act act;
    checked_pool = pool;
    usher__act_begin(&act, pool, POOL_NO_ROW);
    for (uint32_t row = 0; row < GRANTS; row++) {
        atomic_store(&pool->rows[row].watch, FORMAT_WAITS);
        last_woken = 0;
        act.core.wake(act.core.wake_context, row);
        EXPECT(row != 0 || last_woken == 0); /* not before the end */
        wakes[row] += last_woken != 0 && woken(last_woken) == row;
    }
    while (act.granted != 0) {
        unsigned left = act.granted;
        uint32_t last = act.row[left - 1];
        struct pool_act one = act;
        one.row[0] = last;
        one.granted = 1;
        last_woken = 0;
        usher__act_end(&one);
        EXPECT(last_woken != 0);
        wakes[woken(last_woken)]++;
        act.granted--;
    }
    for (uint32_t row = 0; row < GRANTS; row++) {
        EXPECT_EQ(wakes[row], 1);
        atomic_store(&pool->rows[row].watch, 0);
    }
    finish(pool);
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN_BOTH(a_release_wakes_the_next_when_it_is_done);
    RUN_BOTH(a_guest_that_queues_wakes_another_before_it_sleeps);
    RUN(an_act_wakes_all_when_it_ends);
    return 0;
}
