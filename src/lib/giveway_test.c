/*
 * Giving way before one sleeps (giveway.c), in a pool and at a gate: who does, how often, and when
 * not; and whoever does has its place in line like anyone else. Giving way is seen on its way to
 * the kernel (-Wl,--wrap=sched_yield), and so is each sleep (-Wl,--wrap=syscall); the clock is the
 * test's own where it says so (-Wl,--wrap=clock_gettime).
 */
#include "lib/giveway.h"
#include "lib/lib.h"
#include "sitters.h"
#include "syscalls.h"

#include <signal.h>
#include <sys/wait.h>

enum {
    NEAR = 16,
    WAYS = 1000,
    WAY_NS = 100000,
    VAIN = 4,
    SELDOM = 64,
    LONG_NS = 1000000,
    SPARED = 64,
    PACE_NS = 100000,
    MOST_NS = 100000000,  /* for which it is spared */
    MOST_PROCESSORS = 40, /* so that a line of more than twice as many has rows on the board */
    HANG_SECONDS = 100
};

static _Thread_local unsigned ways, naps;        /* given and slept by this thread */
static _Thread_local void (*on_way)(unsigned n); /* what happens while it gives its nth way */
static _Thread_local int64_t time_ns;            /* its clock; 0: everybody's */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_sched_yield(void);
int __wrap_sched_yield(void);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (time_ns == 0) {
        return __real_clock_gettime(clock, now);
    }
    *now = (struct timespec){.tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000};
    return 0;
}

int __wrap_sched_yield(void)
{
    ways++;
    if (on_way != NULL) {
        on_way(ways);
        return 0;
    }
    return __real_sched_yield();
}

static long on_syscall(long number, long *a)
{
    naps += sleeps(number, a);
    return call_it(number, a);
}

static int64_t way_takes_ns;

static void take_time(unsigned n)
{
    (void)n;
    time_ns += way_takes_ns;
}

/* A pool of so many seats with a line that is so long, and our row's place at its end. The words
   are made up: nobody waits there for real. */
static struct usher_pool *open_with_line(uint32_t seats, uint32_t ahead, struct guest *guest)
{
    struct usher_pool *pool = open_with((struct usher_options){.seats = seats});
    *guest = (struct guest){.row = 0};
    time_ns = 1000000000;
    way_takes_ns = 0;
    on_way = take_time;
    atomic_store(&pool->core.words[CORE_AT_I(&pool->core)], core_i(seats + ahead, CORE_NOBODY, 0));
    atomic_store(&pool->rows[0].word, core_row(CORE_WAITING, 1, 0));
    return pool;
}

static struct usher_pool *made_up; /* by open_with_line, for on_way */

static void close_made_up(struct usher_pool *pool)
{
    time_ns = 0;
    on_way = NULL;
    atomic_store(&pool->core.words[CORE_AT_I(&pool->core)], core_i(0, CORE_NOBODY, 0));
    atomic_store(&pool->rows[0].word, core_row(CORE_IDLE, 1, 0));
    finish(pool);
}

static void grant_first(unsigned n)
{
    (void)n;
    atomic_store(&made_up->rows[0].word, core_row(CORE_GRANTED, 1, 7));
}

static void grant_second(unsigned n)
{
    if (n == 2) {
        grant_first(n);
    }
}

static bool is_granted(const void *pool)
{
    return core_row_state(usher__row_word(pool, 0)) == CORE_GRANTED;
}

static uint32_t let_in(const void *pool)
{
    const struct core *core = &((const struct usher_pool *)pool)->core;
    return core_v_valid(atomic_load(&core->words[CORE_AT_V(core)]));
}

/* How often a guest gives way before it finds that it has been granted, or sleeps. */
static unsigned gives_way(struct usher_pool *pool, struct guest *guest, bool granted)
{
    struct turn turn = {&pool->header->crowded_ns, is_granted, let_in, pool};
    ways = 0;
    EXPECT_EQ(
        usher__give_way_first(&turn, usher__seats(pool), usher__line_ahead(pool), &guest->way),
        granted);
    return ways;
}

/* The clock stands still here. */
static void who_does_and_how_often_depends_on_the_seats_and_the_line(void)
{
    const uint32_t processors = os_processors();
    const bool few = 2 * processors < NEAR;
    const struct {
        uint32_t seats, ahead;
        unsigned ways;
    } rows[] = {
        {processors, 2 * processors, 0},
        {processors, 2 * processors + 1, few ? WAYS : 0},
        {4 * processors, 2 * processors, 0},
        {4 * processors, 2 * processors + 1, few ? WAYS : 1},
        {processors, 2 * processors + NEAR + 1, 0},
        {4 * processors, 2 * processors + NEAR + 1, 1},
        {processors, few ? NEAR : 0, few ? WAYS : 0},
        {processors - 1, 1, WAYS},
        {processors - 1, NEAR, WAYS},
        {processors - 1, NEAR + 1, 0},
        {processors - 1, 1000, 0},
        {processors, UINT32_MAX, 0}, /* seats are free: the line ends before it begins */
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct guest guest;
        if (rows[r].seats == 0) {
            continue; /* with one processor there is no such pool */
        }
        struct usher_pool *pool = open_with_line(rows[r].seats, rows[r].ahead, &guest);
        EXPECT_EQ(gives_way(pool, &guest, false), rows[r].ways);
        close_made_up(pool);
    }
}

static void it_is_not_for_longer_than_a_wake_up_or_two(void)
{
    struct guest guest;
    if (2 * os_processors() >= NEAR) {
        return; /* here all are far back */
    }
    struct usher_pool *pool = open_with_line(os_processors(), 2 * os_processors() + 1, &guest);
    way_takes_ns = WAY_NS / 5;
    EXPECT_EQ(gives_way(pool, &guest, false), 5);
    way_takes_ns = WAY_NS / 5 - 1;
    EXPECT_EQ(gives_way(pool, &guest, false), 6);
    way_takes_ns = WAY_NS;
    EXPECT_EQ(gives_way(pool, &guest, false), 1);
    close_made_up(pool);
}

/* With as many seats as processors nobody knows for which of them it was in vain. */
static void where_it_is_in_vain_it_is_tried_now_and_then(void)
{
    for (uint32_t spare = 0; spare < 2; spare++) {
        struct guest guest;
        if (os_processors() == 1 || 2 * os_processors() >= NEAR) {
            return;
        }
        struct usher_pool *pool =
            open_with_line(os_processors() - spare, 2 * os_processors() + 1, &guest);
        for (unsigned n = 1; n <= VAIN + 3 * SELDOM; n++) {
            bool often = spare == 0 || n <= VAIN || (n - VAIN) % SELDOM == 0;
            EXPECT_EQ(gives_way(pool, &guest, false), often ? WAYS : 1);
        }
        /* and when it has not been in vain, again */
        atomic_store(&pool->rows[0].word, core_row(CORE_GRANTED, 1, 7));
        for (unsigned n = 0; n < 2 * SELDOM; n++) {
            EXPECT_EQ(gives_way(pool, &guest, true), 0);
        }
        EXPECT_EQ(guest.way.vain, 0);
        atomic_store(&pool->rows[0].word, core_row(CORE_WAITING, 1, 0));
        EXPECT_EQ(gives_way(pool, &guest, false), WAYS);
        close_made_up(pool);
    }
}

static void whoever_is_granted_meanwhile_does_not_sleep(void)
{
    struct guest guest;
    made_up = open_with_line(2 * os_processors(), 2 * os_processors() + 1, &guest);
    grant_first(0);
    EXPECT_EQ(gives_way(made_up, &guest, true), 0); /* it was so before */
    atomic_store(&made_up->rows[0].word, core_row(CORE_WAITING, 1, 0));
    on_way = grant_first;
    EXPECT_EQ(gives_way(made_up, &guest, true), 1);
    if (2 * os_processors() < NEAR) {
        atomic_store(&made_up->rows[0].word, core_row(CORE_WAITING, 1, 0));
        on_way = grant_second;
        EXPECT_EQ(gives_way(made_up, &guest, true), 2);
    }
    close_made_up(made_up);
}

/* The time it took is what counts, and that times SPARED it is spared. */
static void who_had_to_wait_long_spares_others_that_for_a_while(void)
{
    struct guest guest;
    const int64_t took[] = {LONG_NS, 4 * LONG_NS, MOST_NS / SPARED, MOST_NS, 3600LL * MOST_NS};
    struct usher_pool *pool =
        open_with_line(2 * os_processors(), 2 * os_processors() + NEAR, &guest);
    for (size_t n = 0; n < sizeof took / sizeof took[0]; n++) {
        way_takes_ns = LONG_NS - 1;
        EXPECT_EQ(gives_way(pool, &guest, false), 1);
        EXPECT_EQ(gives_way(pool, &guest, false), 1);
        way_takes_ns = took[n];
        EXPECT_EQ(gives_way(pool, &guest, false), 1);
        int64_t spared = SPARED * took[n] < MOST_NS ? SPARED * took[n] : MOST_NS;
        time_ns += spared - 1;
        EXPECT_EQ(gives_way(pool, &guest, false), 0);
        time_ns += 1;
    }
    close_made_up(pool);
}

static uint32_t let_in_meanwhile;

static void let_others_in(unsigned n)
{
    _Atomic uint64_t *v = &made_up->core.words[CORE_AT_V(&made_up->core)];
    uint32_t valid = core_v_valid(atomic_load(v));
    atomic_store(v, core_v(valid + let_in_meanwhile, 0, CORE_NOBODY, 0));
    take_time(n);
}

/* Then they are who ran, and not somebody who has nothing to do with it. Tickets begin again. */
static void not_if_the_line_went_on_meanwhile(void)
{
    for (uint32_t first = 0; first < 2; first++) {
        struct guest guest;
        made_up = open_with_line(2 * os_processors(), 2 * os_processors() + NEAR, &guest);
        uint64_t v = atomic_load(&made_up->core.words[CORE_AT_V(&made_up->core)]);
        for (unsigned more = 0; more < 2; more++) {
            uint32_t valid = first == 0 ? core_v_valid(v) : CORE_TICKET_MASK - 3;
            uint32_t issue = valid + 2 * os_processors() + NEAR;
            atomic_store(&made_up->core.words[CORE_AT_V(&made_up->core)],
                         core_v(valid, 0, CORE_NOBODY, 0));
            atomic_store(&made_up->core.words[CORE_AT_I(&made_up->core)],
                         core_i(issue, CORE_NOBODY, 0));
            atomic_store(&made_up->header->crowded_ns, 0);
            on_way = let_others_in;
            way_takes_ns = 4 * LONG_NS;
            let_in_meanwhile = 4 * LONG_NS / PACE_NS - 1 + more;
            EXPECT_EQ(gives_way(made_up, &guest, false), 1);
            EXPECT_EQ(atomic_load(&made_up->header->crowded_ns) == 0, more);
        }
        atomic_store(&made_up->core.words[CORE_AT_V(&made_up->core)], v);
        close_made_up(made_up);
    }
}

/* Nor does it give way a second time itself. */
static void who_had_to_wait_long_sleeps_then(void)
{
    struct guest guest;
    if (2 * os_processors() >= NEAR) {
        return; /* here nobody gives way twice */
    }
    struct usher_pool *pool = open_with_line(os_processors(), 2 * os_processors() + 1, &guest);
    way_takes_ns = 4 * LONG_NS;
    EXPECT_EQ(gives_way(pool, &guest, false), 1);
    close_made_up(pool);
}

/* What stands there may be of another boot, or made up: nothing depends on it but time. */
static void whatever_stands_there_nobody_is_kept_waiting(void)
{
    const int64_t until[] = {INT64_MIN, -1, 0, 1000000000 + MOST_NS + 1, INT64_MAX};
    for (size_t n = 0; n < sizeof until / sizeof until[0]; n++) {
        struct guest guest;
        struct usher_pool *pool =
            open_with_line(2 * os_processors(), 2 * os_processors() + NEAR, &guest);
        atomic_store(&pool->header->crowded_ns, until[n]);
        EXPECT_EQ(gives_way(pool, &guest, false), 1);
        close_made_up(pool);
    }
}

/* One more, who comes behind all those who sleep in line. */
struct comer {
    struct usher_pool *pool;
    bool brief;
    const struct timespec *deadline;
    unsigned ways, naps;
    atomic_int done;
};

static _Thread_local struct comer *me;
static atomic_bool hold_up; /* whoever gives way, until it is granted */

static void be_granted(unsigned n)
{
    struct format_row *row = &me->pool->rows[usher__mine.last.guest->row];
    (void)n;
    atomic_store(&board->flags[0], 1);
    while (atomic_load(&hold_up) && core_row_state(atomic_load(&row->word)) != CORE_GRANTED) {
        scene_pause_us(300);
    }
}

static void *come(void *context)
{
    struct comer *self = context;
    struct guest *guest;
    struct usher_seat seat;
    EXPECT_EQ(usher__guest_get(self->pool, &guest), 0);
    guest->brief = self->brief;
    me = self;
    on_way = be_granted;
    EXPECT_EQ(usher_acquire_until(self->pool, &seat, self->deadline), 0);
    self->ways = ways;
    self->naps = naps;
    atomic_store(&self->done, 1);
    EXPECT_EQ(usher_release(self->pool, &seat), 0);
    return NULL;
}

static int not_now(struct usher_pool *pool, void *context)
{
    (void)pool;
    (void)context;
    return 0;
}

static struct sitter sitters[4 * MOST_PROCESSORS + 1];

/* All seats are taken, and one more than twice as many as there are processors wait. */
static unsigned fill(struct usher_pool *pool)
{
    const unsigned processors = os_processors();
    for (unsigned n = 0; n < processors; n++) {
        memset((void *)&sitters[n], 0, sizeof sitters[n]);
        sitters[n].pool = pool;
        sitters[n].thread = start(sit, &sitters[n]);
        UNTIL(atomic_load(&sitters[n].done));
    }
    for (unsigned n = processors; n < 3 * processors + 1; n++) {
        queue_up(&sitters[n], pool);
    }
    return 3 * processors + 1;
}

/* Let a comer of that kind come, and all before it leave. */
static void let_one_come(struct comer *comer, struct usher_options options)
{
    options.seats = os_processors();
    options.guests = 5 * MOST_PROCESSORS;
    struct usher_pool *pool = open_with(options);
    unsigned count = fill(pool);
    uint32_t before = scene_info(pool).waiters;
    comer->pool = pool;
    pthread_t thread = start(come, comer);
    UNTIL(scene_info(pool).waiters == before + 1);
    for (unsigned n = 0; n < count; n++) {
        UNTIL(atomic_load(&sitters[n].done));
        if (n + os_processors() <= count) { /* its turn is after theirs */
            EXPECT_EQ(atomic_load(&comer->done), 0);
        }
        leave(&sitters[n]);
    }
    join(thread);
    finish(pool);
}

static void who_comes_again_and_again_gives_way_and_need_not_be_woken(void)
{
    struct comer comer = {.brief = true};
    atomic_store(&hold_up, true);
    let_one_come(&comer, (struct usher_options){0});
    EXPECT_EQ(comer.ways, 1);
    EXPECT_EQ(comer.naps, 0);
    atomic_store(&hold_up, false);
}

static void nobody_else_does(void)
{
    struct timespec deadline = scene_in_ms(100000);
    const struct {
        struct comer comer;
        struct usher_options options;
    } rows[] = {
        {{.brief = false}, {0}}, /* its waits are long, or it has never waited */
        {{.brief = true, .deadline = &deadline}, {0}},
        {{.brief = true}, {.waiting = not_now, .waiting_ms = 100}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct comer comer = rows[r].comer;
        let_one_come(&comer, rows[r].options);
        EXPECT_EQ(comer.ways, 0);
        EXPECT(comer.naps > 0);
    }
}

/* It is granted its seat while it gives way, and killed there: whoever waits behind it finds out by
   itself, and has the seat. */
static void give_way_for_ever(void *context)
{
    struct usher_pool *pool = scene_open(context, 0);
    struct comer comer = {.pool = pool, .brief = true};
    (void)come(&comer);
}

static void one_that_is_killed_while_it_gives_way_costs_nothing(void)
{
    static char name[] = "pool";
    scene_clear();
    with_file = true;
    atomic_store(&hold_up, true);
    struct usher_pool *pool =
        open_with((struct usher_options){.seats = os_processors(), .guests = 5 * MOST_PROCESSORS});
    unsigned count = fill(pool);
    uint32_t before = scene_info(pool).waiters;
    pid_t child = scene_start(give_way_for_ever, name);
    UNTIL(scene_info(pool).waiters == before + 1);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    for (unsigned n = 0; n < os_processors(); n++) { /* as many as there are seats */
        queue_up(&sitters[count + n], pool);
    }
    EXPECT_EQ(kill(child, SIGSTOP), 0);
    for (unsigned n = 0; n < count; n++) {
        UNTIL(atomic_load(&sitters[n].done));
        leave(&sitters[n]);
    }
    UNTIL(scene_info(pool).waiters == 1); /* for the seat that it has been granted */
    scene_kill(child);
    for (unsigned n = 0; n < os_processors(); n++) {
        UNTIL(atomic_load(&sitters[count + n].done));
    }
    for (unsigned n = 0; n < os_processors(); n++) {
        leave(&sitters[count + n]);
    }
    atomic_store(&hold_up, false);
    finish(pool);
}

/* At a gate. */
enum { PASSAGES = 400 };

static struct usher_gate gate;
static atomic_int inside, most_inside, gate_ways;

static void *pass_often(void *context)
{
    (void)context;
    on_way = NULL;
    for (int n = 0; n < PASSAGES; n++) {
        struct usher_pass pass = {0};
        EXPECT_EQ(usher_gate_enter(&gate, &pass), 0);
        int now = atomic_fetch_add(&inside, 1) + 1;
        for (int most = atomic_load(&most_inside);
             most < now && !atomic_compare_exchange_weak(&most_inside, &most, now);) {
        }
        for (int more = 0; more < 3; more++) {
            (void)__real_sched_yield(); /* so that others come */
        }
        atomic_fetch_sub(&inside, 1);
        EXPECT_EQ(usher_gate_leave(&gate, &pass), 0);
    }
    atomic_fetch_add(&gate_ways, (int)ways);
    return NULL;
}

/* How often those give way who come again and again to a gate: four times as many as there are
   processors. */
static int ways_at_a_gate(uint32_t seats)
{
    const unsigned count = 4 * os_processors();
    pthread_t threads[4 * MOST_PROCESSORS];
    EXPECT_EQ(usher_gate_init(&gate, count, seats), 0);
    atomic_store(&gate_ways, 0);
    atomic_store(&most_inside, 0);
    for (unsigned n = 0; n < count; n++) {
        threads[n] = start(pass_often, NULL);
    }
    for (unsigned n = 0; n < count; n++) {
        join(threads[n]);
    }
    EXPECT(atomic_load(&most_inside) <= (int)seats);
    EXPECT_EQ(atomic_load(&inside), 0);
    return atomic_load(&gate_ways);
}

static void so_it_is_at_a_gate(void)
{
    if (os_processors() > 10) {
        return; /* no gate has more seats and room for so many */
    }
    /* unless others have the processors */
    UNTIL(ways_at_a_gate(os_processors()) > 0);
    UNTIL(os_processors() == 1 || ways_at_a_gate(os_processors() - 1) > 0);
}

int main(void)
{
    (void)alarm(HANG_SECONDS);
    scene_begin();
    if (os_processors() > MOST_PROCESSORS) {
        (void)printf("more processors than this test has guests for\n");
        return 77;
    }
    RUN_BOTH(who_does_and_how_often_depends_on_the_seats_and_the_line);
    RUN_BOTH(it_is_not_for_longer_than_a_wake_up_or_two);
    RUN_BOTH(where_it_is_in_vain_it_is_tried_now_and_then);
    RUN_BOTH(whoever_is_granted_meanwhile_does_not_sleep);
    RUN_BOTH(who_had_to_wait_long_spares_others_that_for_a_while);
    RUN_BOTH(not_if_the_line_went_on_meanwhile);
    RUN_BOTH(who_had_to_wait_long_sleeps_then);
    RUN_BOTH(whatever_stands_there_nobody_is_kept_waiting);
    RUN_BOTH(who_comes_again_and_again_gives_way_and_need_not_be_woken);
    RUN_BOTH(nobody_else_does);
    RUN(so_it_is_at_a_gate);
    RUN(one_that_is_killed_while_it_gives_way_costs_nothing);
    return 0;
}
