/*
 * Giving way before one sleeps, in a line in which others wait, of a pool and at a gate: whoever
 * does has its place in line like anyone else. giveway_test.c has the rules.
 */
#include "pool/pool.h"
#include "sitters.h"
#include "wait/giveway.h"
#include "ways.h"

#include <signal.h>
#include <sys/wait.h>

/* One more, who comes behind all those who sleep in line. */
struct comer {
    struct usher_pool *pool;
    void (*on_way)(unsigned n);
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
    on_way = self->on_way != NULL ? self->on_way : be_granted;
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

static atomic_bool moved;

static void wait_until_it_has_moved(unsigned n)
{
    (void)n;
    atomic_store(&board->flags[0], 1);
    while (!atomic_load(&moved)) {
        scene_pause_us(300);
    }
    time_ns += 4 * LONG_NS; /* that long it took, whatever the others needed */
}

/* Its clock stands still but for that. */
static void *come_by_own_clock(void *comer)
{
    time_ns = 1000000000LL * 1000000;
    return come(comer);
}

/* A line in which so many are let in while its last gives way: is that a crowd? */
static bool is_a_crowd(unsigned let_in_now)
{
    enum { LINE = 4 * LONG_NS / PACE_NS + 2 };
    const unsigned seats = 2 * os_processors();
    struct comer comer = {.brief = true, .on_way = wait_until_it_has_moved};
    struct usher_pool *pool =
        open_with((struct usher_options){.seats = seats, .guests = 5 * MOST_PROCESSORS});
    atomic_store(&board->flags[0], 0);
    atomic_store(&moved, false);
    for (unsigned n = 0; n < seats + LINE; n++) {
        if (n < seats) {
            memset((void *)&sitters[n], 0, sizeof sitters[n]);
            sitters[n].pool = pool;
            sitters[n].thread = start(sit, &sitters[n]);
            UNTIL(atomic_load(&sitters[n].done));
        } else {
            queue_up(&sitters[n], pool);
        }
    }
    comer.pool = pool;
    pthread_t thread = start(come_by_own_clock, &comer);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    for (unsigned n = 0; n < seats + LINE; n++) {
        if (n == let_in_now) {
            atomic_store(&moved, true);
        }
        UNTIL(atomic_load(&sitters[n].done));
        leave(&sitters[n]);
    }
    join(thread);
    EXPECT_EQ(comer.ways, 1);
    bool crowd = atomic_load(&pool->header->crowded_ns) != 0;
    finish(pool);
    return crowd;
}

static void a_line_that_goes_on_is_no_crowd(void)
{
    if (2 * os_processors() + 4 * LONG_NS / PACE_NS + 2 > sizeof sitters / sizeof sitters[0]) {
        return;
    }
    EXPECT(is_a_crowd(0));
    EXPECT(!is_a_crowd(4 * LONG_NS / PACE_NS));
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
    RUN_BOTH(who_comes_again_and_again_gives_way_and_need_not_be_woken);
    RUN_BOTH(nobody_else_does);
    RUN_BOTH(a_line_that_goes_on_is_no_crowd);
    RUN(so_it_is_at_a_gate);
    RUN(one_that_is_killed_while_it_gives_way_costs_nothing);
    return 0;
}
