/*
 * Who looks for its grant before it sleeps (ready.c): where a processor is to spare and nobody is
 * before it, as long as that pays more often than not. Sleeps are counted on their way to the
 * kernel (-Wl,--wrap=syscall).
 */
#include "pool/pool.h"
#include "sitters.h"
#include "syscalls.h"

enum { VAIN = 4, SELDOM = 64, PAYS_NS = 50000, HANG_SECONDS = 100, REAPED = 3000000 };

static _Thread_local unsigned naps;

static long on_syscall(long number, long *a)
{
    naps += sleeps(number, a);
    return call_it(number, a);
}

/* A pool whose words are made up: so many are in line, and row 0 is in that state. */
static struct usher_pool *made_up(uint32_t seats, uint32_t ahead, enum core_state state)
{
    struct usher_pool *pool = open_pool(seats);
    atomic_store(&pool->core.words[CORE_AT_I(&pool->core)], core_i(seats + ahead, CORE_NOBODY, 0));
    atomic_store(&pool->rows[0].word, core_row(state, 1, 0));
    return pool;
}

static void close_made_up(struct usher_pool *pool)
{
    atomic_store(&pool->core.words[CORE_AT_I(&pool->core)], core_i(0, CORE_NOBODY, 0));
    atomic_store(&pool->rows[0].word, core_row(CORE_IDLE, 1, 0));
    finish(pool);
}

static void who_is_next_looks_where_a_processor_is_to_spare(void)
{
    const struct {
        uint32_t seats, ahead;
        bool looks;
    } rows[] = {
        {1, 1, os_processors() > 1},
        {1, 2, false}, /* somebody is before it */
        {os_processors(), 1, false},
        {os_processors() + 1, 1, false},
        {os_processors() > 1 ? os_processors() - 1 : 1, 1, os_processors() > 1},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (int granted = 0; granted < 2; granted++) {
            struct guest guest = {0};
            struct usher_pool *pool =
                made_up(rows[r].seats, rows[r].ahead, granted ? CORE_GRANTED : CORE_WAITING);
            EXPECT_EQ(usher__ready_first(pool, &guest), rows[r].looks && granted);
            EXPECT_EQ(guest.vain, rows[r].looks);
            close_made_up(pool);
        }
    }
}

/* How often it looks, of so many times in vain. */
static unsigned looks_in_vain(struct usher_pool *pool, struct guest *guest, unsigned times)
{
    unsigned looked = 0;
    for (unsigned n = 0; n < times; n++) {
        uint32_t spared = guest->spared;
        EXPECT(!usher__ready_first(pool, guest));
        looked += guest->spared == spared || guest->spared % SELDOM == 0;
    }
    return looked;
}

static void where_it_does_not_pay_it_is_tried_now_and_then(void)
{
    struct guest guest = {0};
    if (os_processors() == 1) {
        return; /* then nobody ever looks */
    }
    struct usher_pool *pool = made_up(1, 1, CORE_WAITING);
    EXPECT_EQ(looks_in_vain(pool, &guest, VAIN), VAIN);
    EXPECT_EQ(looks_in_vain(pool, &guest, SELDOM - 1), 0);
    EXPECT_EQ(looks_in_vain(pool, &guest, 1), 1);
    EXPECT_EQ(looks_in_vain(pool, &guest, 3 * SELDOM), 3);
    close_made_up(pool);
}

/* A grant that took longer than a wake-up came too late; one in time makes up for itself, and for
   one in vain. */
static void a_grant_in_time_pays(void)
{
    static const struct {
        uint32_t vain;
        int64_t waited_ns;
        uint32_t then;
    } rows[] = {
        {VAIN, PAYS_NS, VAIN}, {VAIN, PAYS_NS - 1, VAIN - 2},
        {VAIN, 0, VAIN - 2},   {2, 300, 0},
        {1, 300, 0},           {1, PAYS_NS, 1},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct guest guest = {.vain = rows[r].vain};
        usher__ready_paid(&guest, rows[r].waited_ns);
        EXPECT_EQ(guest.vain, rows[r].then);
    }
}

static atomic_bool enough;

static void *come_and_go(void *pool)
{
    while (!atomic_load(&enough)) {
        struct usher_seat seat = scene_acquire(pool);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    return NULL;
}

/* For real: of two who hand over to each other one gets in, sooner or later, because it looked. */
static void who_looked_in_time_does_not_sleep(void)
{
    struct usher_pool *pool = open_pool(1);
    if (os_processors() > 1) {
        atomic_store(&enough, false);
        pthread_t other = start(come_and_go, pool);
        int64_t until = scene_now_ns() + 30000000000LL;
        for (bool seen = false; !seen;) {
            unsigned before = naps;
            uint32_t vain = usher__mine.last.guest == NULL ? 0 : usher__mine.last.guest->vain;
            struct usher_seat seat = scene_acquire(pool);
            seen = naps == before && usher__mine.last.guest->vain < vain;
            EXPECT_EQ(usher_release(pool, &seat), 0);
            EXPECT(scene_now_ns() < until);
        }
        atomic_store(&enough, true);
        join(other);
    }
    finish(pool);
}

static atomic_bool marked_enough, marks_now;

static void *mark_all_the_time(void *context)
{
    struct format_row *row = context;
    while (!atomic_load(&marked_enough)) {
        (void)atomic_fetch_or(&row->watch, FORMAT_TOLD);
        (void)atomic_fetch_and(&row->watch, ~(uint32_t)FORMAT_TOLD);
        atomic_store(&marks_now, true);
    }
    return NULL;
}

/* Whoever reaps one that is being told to look is not thereby the second to. */
static void being_told_to_look_does_not_hide_who_reaped_first(void)
{
    struct usher_pool *pool = open_pool(1);
    atomic_store(&marked_enough, false);
    pthread_t marker = start(mark_all_the_time, &pool->rows[0]);
    UNTIL(atomic_load(&marks_now));
    for (uint32_t cycle = 1; cycle <= REAPED; cycle++) {
        EXPECT(usher__alive_first(pool, 0, cycle));
    }
    EXPECT(!usher__alive_first(pool, 0, REAPED));
    atomic_store(&marked_enough, true);
    join(marker);
    atomic_store(&pool->rows[0].watch, 0);
    finish(pool);
}

int main(void)
{
    scene_begin();
    (void)alarm(HANG_SECONDS);
    RUN_BOTH(who_is_next_looks_where_a_processor_is_to_spare);
    RUN_BOTH(where_it_does_not_pay_it_is_tried_now_and_then);
    RUN(a_grant_in_time_pays);
    RUN_BOTH(who_looked_in_time_does_not_sleep);
    with_file = false;
    RUN(being_told_to_look_does_not_hide_who_reaped_first);
    return 0;
}
