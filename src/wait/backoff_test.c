/*
 * Backing off (backoff.c): a guest that repeatedly loses the race for a ticket reads the clock for
 * a moment before it tries again, and does so less often if that does not pay. A rival thread
 * enters and leaves between two accesses of usher_acquire (CORE_COUNTED). The last tests show that
 * a crowd of real guests loses no entry.
 */
#include "pool/pool.h"
#include "sitters.h"

#include <unistd.h>

enum {
    RIVALS = 4,
    CROWD_MS = 500,
    DISTURBED = 40, /* the most races lost in one acquire */
    TRIES = 50,     /* acquires after which a guest has learnt that backing off does not pay */
    HANG_SECONDS = 100
};

static _Thread_local unsigned looks; /* clock readings by this thread */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    looks++;
    return __real_clock_gettime(clock, now);
}

/* A rival thread that enters and leaves on command. */
enum order { REST, COME_AND_GO, COME, GO, END };
static atomic_int order;
static _Thread_local unsigned
    disturb; /* how many times another comes just before this thread swaps I */

static struct usher_pool *disturbed_in;

static void tell(enum order what)
{
    atomic_store(&order, what);
    while (atomic_load(&order) != REST) {
        (void)sched_yield();
    }
}

void core_counted(void)
{
    const struct guest *guest = usher__mine.last.guest;
    if (disturb > 0 && guest != NULL &&
        core_row_state(atomic_load(&disturbed_in->rows[guest->row].word)) == CORE_ENTERING) {
        disturb = looks > 0 ? 0 : disturb - 1; /* until it has backed off */
        if (disturb > 0) {
            tell(COME_AND_GO);
        }
    }
}

static void *rival(void *context)
{
    struct usher_pool *pool = context;
    struct usher_seat seat;
    for (;;) {
        enum order what = (enum order)atomic_load(&order);
        if (what == COME || what == COME_AND_GO) {
            EXPECT_EQ(usher_acquire(pool, &seat), 0);
        }
        if (what == GO || what == COME_AND_GO) {
            EXPECT_EQ(usher_release(pool, &seat), 0);
        }
        if (what == REST) {
            (void)sched_yield();
        } else {
            atomic_store(&order, REST);
        }
        if (what == END) {
            return NULL;
        }
    }
}

/* Does this thread back off in an acquire in which it loses `disturbed` races? */
static bool backs_off(struct usher_pool *pool, unsigned disturbed)
{
    struct usher_seat seat;
    looks = 0;
    disturbed_in = pool;
    disturb = disturbed;
    int result = usher_acquire(pool, &seat);
    disturb = 0;
    unsigned looked = looks;
    EXPECT_EQ(result, 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    return looked > 0;
}

static void a_guest_that_loses_races_backs_off_until_it_does_not_pay(void)
{
    struct usher_pool *pool = open_pool(2);
    pthread_t other = start(rival, pool);
    unsigned backed_off = 0;
    bool stopped = false;
    EXPECT(!backs_off(pool, 0)); /* the first acquire takes the slow path */
    for (unsigned i = 0; i < TRIES && !stopped; i++) {
        bool did = backs_off(pool, DISTURBED);
        stopped = backed_off > 0 && !did;
        backed_off += did;
        EXPECT(!backs_off(pool, 0)); /* undisturbed, it has no reason to back off */
    }
    EXPECT(backed_off > 0);
    EXPECT(stopped);
    tell(END);
    join(other);
    finish(pool);
}

/* Guests that only enter and leave. On the board: flags[0] ends the test, flags[1..2] say which
   guest has which seat, result[] how many times each has entered. */
static void meet(struct usher_pool *pool, int self)
{
    int came = 0;
    while (atomic_load(&board->flags[0]) == 0) {
        struct usher_seat seat = scene_acquire(pool);
        int inside = atomic_fetch_add(&board->inside, 1) + 1;
        EXPECT(inside <= 2);
        EXPECT(seat.number < 2);
        EXPECT_EQ(atomic_exchange(&board->flags[1 + seat.number], self + 1), 0);
        EXPECT_EQ(atomic_exchange(&board->flags[1 + seat.number], 0), self + 1);
        atomic_fetch_sub(&board->inside, 1);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        atomic_store(&board->result[self], ++came);
    }
}

/* Let the guests race for a while, and until each has entered. */
static void let_them_race(void)
{
    scene_pause_us(CROWD_MS * 1000L);
    for (int i = 0; i < RIVALS; i++) {
        UNTIL(atomic_load(&board->result[i]) > 0);
    }
    atomic_store(&board->flags[0], 1);
}

static atomic_int threads_so_far;

static void *meet_as_thread(void *pool)
{
    meet(pool, atomic_fetch_add(&threads_so_far, 1));
    return NULL;
}

static void meet_as_process(void *self)
{
    struct usher_pool *pool = scene_open("pool", 0);
    meet(pool, *(int *)self);
    usher_close(pool);
}

/* Every entry is counted. */
static void finish_crowd(struct usher_pool *pool)
{
    uint64_t came = 0;
    for (int i = 0; i < RIVALS; i++) {
        came += (uint64_t)atomic_load(&board->result[i]);
    }
    EXPECT_EQ(scene_info(pool).served, came);
    EXPECT_EQ(scene_info(pool).free, 2);
    EXPECT_EQ(scene_info(pool).waiters, 0);
    EXPECT_EQ(usher_verify(pool, NULL, NULL), 0);
    finish(pool);
}

static void racing_threads_lose_no_entry(void)
{
    struct usher_pool *pool = open_pool(2);
    pthread_t threads[RIVALS];
    scene_clear();
    atomic_store(&threads_so_far, 0);
    for (int i = 0; i < RIVALS; i++) {
        threads[i] = start(meet_as_thread, pool);
    }
    let_them_race();
    for (int i = 0; i < RIVALS; i++) {
        join(threads[i]);
    }
    finish_crowd(pool);
}

static void racing_processes_lose_no_entry(void)
{
    with_file = true;
    struct usher_pool *pool = open_pool(2);
    pid_t processes[RIVALS];
    scene_clear();
    for (int i = 0; i < RIVALS; i++) {
        processes[i] = scene_start(meet_as_process, &i);
    }
    let_them_race();
    for (int i = 0; i < RIVALS; i++) {
        EXPECT_EQ(scene_end(processes[i]), 0);
    }
    finish_crowd(pool);
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN_BOTH(a_guest_that_loses_races_backs_off_until_it_does_not_pay);
    RUN_BOTH(racing_threads_lose_no_entry);
    RUN(racing_processes_lose_no_entry);
    return 0;
}
