/*
 * Stepping aside for one who was faster (rivals.c): when, for how long, and when not any more. The
 * clock is the test's own (-Wl,--wrap=clock_gettime), and so many come with each look at it as are
 * wanted: nothing depends on how busy the machine is. In usher_acquire another comes and goes
 * between two accesses (CORE_COUNTED). And in a crowd, for real, nothing is lost by it.
 */
#include "pool/pool.h"
#include "sitters.h"

#include <unistd.h>

enum {
    PAYS = 16,    /* so many come meanwhile, or it does not */
    VAIN = 4,     /* so often it is tried in vain, ... */
    SELDOM = 256, /* ... and then once in so many times */
    OFTEN = 64,   /* and only by who lost so few tickets ago, too */
    ASIDE_NS = 1600,
    LOOK_NS = 100, /* goes by with each look at the clock */
    RIVALS = 4,
    CROWD_MS = 500,
    DISTURBED = 40, /* so often at most */
    HANG_SECONDS = 100
};

static _Thread_local struct usher_pool *clocked; /* whose I moves with this thread's clock */
static _Thread_local uint32_t come;              /* by so many tickets with the next look, ... */
static _Thread_local unsigned looks;             /* of so many so far */
static _Thread_local int64_t time_ns;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    looks++;
    if (clocked == NULL) {
        return __real_clock_gettime(clock, now);
    }
    _Atomic uint64_t *i = &clocked->core.words[CORE_AT_I(&clocked->core)];
    atomic_fetch_add(i, (uint64_t)come << 32);
    come = 0;
    time_ns += LOOK_NS;
    *now = (struct timespec){.tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000};
    return 0;
}

static uint32_t issued(const void *line)
{
    const struct usher_pool *pool = line;
    return core_i_issue(atomic_load(&pool->core.words[CORE_AT_I(&pool->core)]));
}

/* Does it step aside? Meanwhile so many come. */
static bool aside(struct usher_pool *pool, struct guest *guest, bool lost, uint32_t many)
{
    looks = 0;
    come = many;
    clocked = pool;
    bool stepped = usher__rivals_aside(&guest->rival, lost, issued, pool);
    clocked = NULL;
    EXPECT_EQ(stepped, looks > 0);
    return stepped;
}

/* A pool, the I of which is moved as it suits the test; not for entering it. */
static struct usher_pool *open_unused(uint32_t issue)
{
    with_file = false;
    struct usher_pool *pool = open_pool(2);
    atomic_store(&pool->core.words[CORE_AT_I(&pool->core)], core_i(issue, CORE_NOBODY, 0));
    return pool;
}

static void close_unused(struct usher_pool *pool)
{
    atomic_store(&pool->core.words[CORE_AT_I(&pool->core)], core_i(0, CORE_NOBODY, 0));
    finish(pool);
}

static void who_neither_lost_nor_gained_by_it_goes_on_at_once(void)
{
    struct usher_pool *pool = open_unused(0);
    struct guest guest = {0};
    for (int i = 0; i < 2 * SELDOM; i++) {
        EXPECT(!aside(pool, &guest, false, 100));
    }
    EXPECT_EQ(guest.rival.vain + guest.rival.spared, 0);
    close_unused(pool);
}

static void it_is_for_a_moment(void)
{
    struct usher_pool *pool = open_unused(0);
    struct guest guest = {.rival = {.lost_in = pool}};
    EXPECT(aside(pool, &guest, true, 0));
    EXPECT_EQ(looks, ASIDE_NS / LOOK_NS + 1);
    close_unused(pool);
}

/* Tickets wrap, in 20 bits where they are compared and in 32 where they are counted. */
static void where_many_come_it_goes_on_stepping_aside(void)
{
    static const uint32_t issues[] = {0, CORE_TICKET_MASK - 2 * PAYS, UINT32_MAX - 2 * PAYS};
    for (size_t n = 0; n < sizeof issues / sizeof issues[0]; n++) {
        struct usher_pool *pool = open_unused(issues[n]);
        struct guest guest = {.rival = {.lost_at = issues[n], .lost_in = pool}};
        EXPECT(aside(pool, &guest, true, 3 * PAYS));
        for (int i = 0; i < 3 * VAIN; i++) {
            EXPECT(aside(pool, &guest, false, PAYS));
            EXPECT(aside(pool, &guest, true, PAYS + 1));
        }
        EXPECT(aside(pool, &guest, false, PAYS - 1)); /* once more, and it has not paid: */
        EXPECT(!aside(pool, &guest, false, PAYS));
        EXPECT(aside(pool, &guest, true, PAYS)); /* but it may */
        EXPECT(aside(pool, &guest, false, 0));
        close_unused(pool);
    }
}

static void where_nobody_comes_it_is_tried_now_and_then(void)
{
    struct usher_pool *pool = open_unused(0);
    struct guest guest = {.rival = {.lost_in = pool}};
    for (int i = 0; i < VAIN; i++) {
        EXPECT(aside(pool, &guest, true, PAYS - 1));
        EXPECT(!aside(pool, &guest, false, 0));
    }
    for (int i = 1; i <= 3 * SELDOM; i++) {
        EXPECT_EQ(aside(pool, &guest, true, 0), i % SELDOM == 0);
    }
    close_unused(pool);
}

static void move_on(struct usher_pool *pool, uint32_t tickets)
{
    atomic_fetch_add(&pool->core.words[CORE_AT_I(&pool->core)], (uint64_t)tickets << 32);
}

/* But who has found that it pays does not ask how often. */
static void who_loses_seldom_goes_on_at_once(void)
{
    static const uint32_t issues[] = {OFTEN, UINT32_MAX - OFTEN, UINT32_MAX - OFTEN / 2};
    for (size_t n = 0; n < sizeof issues / sizeof issues[0]; n++) {
        struct usher_pool *pool = open_unused(issues[n]);
        struct guest guest = {0};
        EXPECT(!aside(pool, &guest, true, 100)); /* for the first time */
        for (int i = 0; i < 2 * SELDOM; i++) {
            move_on(pool, OFTEN);
            EXPECT(!aside(pool, &guest, true, 100));
        }
        EXPECT_EQ(guest.rival.vain + guest.rival.spared, 0);
        move_on(pool, OFTEN - 1);
        EXPECT(aside(pool, &guest, true, 2 * OFTEN));
        EXPECT(aside(pool, &guest, true, 0));
        move_on(pool, OFTEN);
        EXPECT(!aside(pool, &guest, true, 100));
        close_unused(pool);
    }
}

/* One thread that comes to several gates has one memory for all of them. */
static void who_loses_elsewhere_goes_on_at_once(void)
{
    struct usher_pool *pools[] = {open_unused(OFTEN), open_unused(OFTEN)};
    struct guest guest = {0};
    for (int i = 0; i < 2 * SELDOM; i++) {
        EXPECT(!aside(pools[i % 2], &guest, true, 100));
    }
    EXPECT(aside(pools[1], &guest, true, 0));
    close_unused(pools[0]);
    close_unused(pools[1]);
}

/* As often in vain as in the beginning, and not only once. */
static void whoever_finds_that_it_pays_begins_anew(void)
{
    struct usher_pool *pool = open_unused(0);
    struct guest guest = {.rival = {.lost_in = pool}};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < VAIN - 1; i++) {
            EXPECT(aside(pool, &guest, true, 0));
        }
        EXPECT(aside(pool, &guest, true, PAYS));
    }
    for (int i = 0; i < VAIN; i++) {
        EXPECT(aside(pool, &guest, true, 0));
    }
    for (int i = 1; i < SELDOM; i++) {
        EXPECT(!aside(pool, &guest, true, PAYS));
    }
    EXPECT(aside(pool, &guest, true, PAYS)); /* that one time */
    EXPECT(aside(pool, &guest, false, 0));
    close_unused(pool);
}

/* Another thread, which comes and goes when it is told to. */
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
        disturb = looks > 0 ? 0 : disturb - 1; /* until it has stepped aside */
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

/* Has this thread stepped aside, to come and go once, if it is disturbed so often? */
static bool steps_aside(struct usher_pool *pool, unsigned disturbed)
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

static void who_comes_steps_aside_if_another_was_faster(void)
{
    struct usher_pool *pool = open_pool(2);
    pthread_t other = start(rival, pool);
    EXPECT(!steps_aside(pool, 0)); /* its first time is another way in */
    for (int i = 0; i < VAIN; i++) {
        EXPECT(steps_aside(pool, DISTURBED));
        EXPECT(!steps_aside(pool, 0));
    }
    EXPECT_EQ(usher__mine.last.guest->rival.vain, VAIN);
    EXPECT(!steps_aside(pool, DISTURBED)); /* and was so too often in vain */
    tell(END);
    join(other);
    finish(pool);
}

/* It has come in, and nobody has seen that yet: whoever comes next does so first. */
static void who_finds_another_in_the_door_steps_aside_if_that_pays(void)
{
    struct usher_pool *pool = open_pool(2);
    pthread_t other = start(rival, pool);
    EXPECT(!steps_aside(pool, 0));
    for (int paid = 0; paid < 2; paid++) {
        struct guest *guest = usher__mine.last.guest;
        tell(COME_AND_GO); /* so that its next way in is the quickest */
        tell(COME);
        uint32_t its = core_i_row(atomic_load(&pool->core.words[CORE_AT_I(&pool->core)]));
        EXPECT_EQ(core_row_state(usher__row_word(pool, its)), CORE_ENTERING);
        guest->rival.paid = paid;
        EXPECT_EQ(steps_aside(pool, 0), paid);
        EXPECT(!guest->rival.paid);
        EXPECT_EQ(core_row_state(usher__row_word(pool, its)), CORE_GRANTED);
        tell(GO);
    }
    tell(END);
    join(other);
    finish(pool);
}

/* Those who do nothing but meet at the door. On the board: flags[0] ends it, flags[1..2] is who
   sits on which seat, result[] how often each came. */
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
        came++;
    }
    atomic_store(&board->result[self], came);
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

/* All have come, and each of them is counted. */
static void finish_crowd(struct usher_pool *pool)
{
    uint64_t came = 0;
    for (int i = 0; i < RIVALS; i++) {
        EXPECT(atomic_load(&board->result[i]) > 0);
        came += (uint64_t)atomic_load(&board->result[i]);
    }
    EXPECT_EQ(scene_info(pool).served, came);
    EXPECT_EQ(scene_info(pool).free, 2);
    EXPECT_EQ(scene_info(pool).waiters, 0);
    EXPECT_EQ(usher_verify(pool, NULL, NULL), 0);
    finish(pool);
}

static void threads_that_meet_at_the_door_lose_nothing(void)
{
    struct usher_pool *pool = open_pool(2);
    pthread_t threads[RIVALS];
    scene_clear();
    atomic_store(&threads_so_far, 0);
    for (int i = 0; i < RIVALS; i++) {
        threads[i] = start(meet_as_thread, pool);
    }
    scene_pause_us(CROWD_MS * 1000L);
    atomic_store(&board->flags[0], 1);
    for (int i = 0; i < RIVALS; i++) {
        join(threads[i]);
    }
    finish_crowd(pool);
}

static void so_do_processes(void)
{
    with_file = true;
    struct usher_pool *pool = open_pool(2);
    pid_t processes[RIVALS];
    scene_clear();
    for (int i = 0; i < RIVALS; i++) {
        processes[i] = scene_start(meet_as_process, &i);
    }
    scene_pause_us(CROWD_MS * 1000L);
    atomic_store(&board->flags[0], 1);
    for (int i = 0; i < RIVALS; i++) {
        EXPECT_EQ(scene_end(processes[i]), 0);
    }
    finish_crowd(pool);
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN(who_neither_lost_nor_gained_by_it_goes_on_at_once);
    RUN(it_is_for_a_moment);
    RUN(where_many_come_it_goes_on_stepping_aside);
    RUN(where_nobody_comes_it_is_tried_now_and_then);
    RUN(who_loses_seldom_goes_on_at_once);
    RUN(who_loses_elsewhere_goes_on_at_once);
    RUN(whoever_finds_that_it_pays_begins_anew);
    RUN_BOTH(who_comes_steps_aside_if_another_was_faster);
    RUN_BOTH(who_finds_another_in_the_door_steps_aside_if_that_pays);
    RUN_BOTH(threads_that_meet_at_the_door_lose_nothing);
    RUN(so_do_processes);
    return 0;
}
