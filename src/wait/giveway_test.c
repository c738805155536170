/*
 * Giving way before one sleeps (giveway.c): who does, how often, and when not. The words of the
 * pools here are made up; giveway_line_test.c has lines in which others wait.
 */
#include "pool/pool.h"
#include "sitters.h"
#include "wait/giveway.h"
#include "ways.h"

enum {
    WAYS = 1000,
    WAY_NS = 100000,
    VAIN = 4,
    SELDOM = 64,
    SPARED = 4,
    JUST_NS = 10000000,
    MOST_NS = 100000000, /* for which it is spared */
    LOW = 3              /* ns that do not matter: other things stand there */
};

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

/* It gives way, and that takes so long: nobody else does so for `spared` after that. */
static void expect_spared(struct usher_pool *pool, struct guest *guest, int64_t took,
                          int64_t spared)
{
    way_takes_ns = took;
    EXPECT_EQ(gives_way(pool, guest, false), 1);
    way_takes_ns = 0;
    time_ns += spared - LOW - 1;
    EXPECT_EQ(gives_way(pool, guest, false), 0);
    time_ns += 2 * LOW + 1;
    EXPECT_EQ(gives_way(pool, guest, false), 1);
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
        expect_spared(pool, &guest, took[n],
                      SPARED * took[n] < MOST_NS ? SPARED * took[n] : MOST_NS);
        time_ns += JUST_NS;
    }
    close_made_up(pool);
}

/* As it is where others keep the processor who have nothing to do with it. */
static void if_it_is_so_again_at_once_they_are_spared_for_longer(void)
{
    struct guest guest;
    struct usher_pool *pool =
        open_with_line(2 * os_processors(), 2 * os_processors() + NEAR, &guest);
    for (int round = 0; round < 2; round++) {
        expect_spared(pool, &guest, LONG_NS, 4 * LONG_NS);
        expect_spared(pool, &guest, LONG_NS, 16 * LONG_NS);
        expect_spared(pool, &guest, LONG_NS, 64 * LONG_NS);
        expect_spared(pool, &guest, LONG_NS, 64 * LONG_NS);
        expect_spared(pool, &guest, 2 * LONG_NS, MOST_NS);
        time_ns += JUST_NS - 2 * LOW - 1;
        expect_spared(pool, &guest, LONG_NS, 64 * LONG_NS); /* just before, still */
        expect_spared(pool, &guest, 2 * JUST_NS, MOST_NS);
        time_ns += JUST_NS + LOW + 1;
    }
    close_made_up(pool);
}

static int64_t noted_by_another;

static void let_another_note_it(unsigned n)
{
    take_time(n);
    atomic_store(&made_up->header->crowded_ns, noted_by_another);
}

static void several_who_find_out_at_the_same_time_find_one_crowd(void)
{
    for (int64_t times = 0; times < 3; times++) {
        struct guest guest;
        made_up = open_with_line(2 * os_processors(), 2 * os_processors() + NEAR, &guest);
        on_way = let_another_note_it;
        way_takes_ns = LONG_NS;
        const int64_t later[] = {1000, MOST_NS / 2, MOST_NS + 1000}; /* by whoever was faster */
        for (size_t n = 0; n < sizeof later / sizeof later[0]; n++) {
            noted_by_another = ((time_ns + LONG_NS + later[n]) & ~(int64_t)LOW) | times;
            EXPECT_EQ(gives_way(made_up, &guest, false), 1);
            int64_t until = atomic_load(&made_up->header->crowded_ns);
            EXPECT_EQ(until & LOW, times);
            EXPECT_EQ((until - time_ns + LOW) / LONG_NS, SPARED << (2 * times));
            time_ns += MOST_NS;
        }
        close_made_up(made_up);
    }
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
    const int64_t until[] = {INT64_MIN, -1, 0, 1000000000 + 3 * MOST_NS, INT64_MAX};
    for (size_t n = 0; n < sizeof until / sizeof until[0]; n++) {
        struct guest guest;
        struct usher_pool *pool =
            open_with_line(2 * os_processors(), 2 * os_processors() + NEAR, &guest);
        atomic_store(&pool->header->crowded_ns, until[n]);
        EXPECT_EQ(gives_way(pool, &guest, false), 1);
        atomic_store(&pool->header->crowded_ns, until[n] | LOW);
        expect_spared(pool, &guest, LONG_NS, SPARED * LONG_NS);
        time_ns += JUST_NS;
        atomic_store(&pool->header->crowded_ns, (time_ns + MOST_NS + 4) | LOW);
        EXPECT_EQ(gives_way(pool, &guest, false), 1);
        atomic_store(&pool->header->crowded_ns, time_ns | LOW);
        time_ns += 4;
        expect_spared(pool, &guest, LONG_NS, MOST_NS);
        close_made_up(pool);
    }
}

int main(void)
{
    (void)alarm(HANG_SECONDS);
    scene_begin();
    RUN_BOTH(who_does_and_how_often_depends_on_the_seats_and_the_line);
    RUN_BOTH(it_is_not_for_longer_than_a_wake_up_or_two);
    RUN_BOTH(where_it_is_in_vain_it_is_tried_now_and_then);
    RUN_BOTH(whoever_is_granted_meanwhile_does_not_sleep);
    RUN_BOTH(who_had_to_wait_long_spares_others_that_for_a_while);
    RUN_BOTH(if_it_is_so_again_at_once_they_are_spared_for_longer);
    RUN_BOTH(several_who_find_out_at_the_same_time_find_one_crowd);
    RUN_BOTH(not_if_the_line_went_on_meanwhile);
    RUN_BOTH(who_had_to_wait_long_sleeps_then);
    RUN_BOTH(whatever_stands_there_nobody_is_kept_waiting);
    return 0;
}
