/*
 * What usher.h promises of changing the number of seats.
 */
#include "sitters.h"

#include <sched.h>

static void growing_admits_waiters_at_once(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter waiters[5];
    for (int i = 0; i < 5; i++) {
        queue_up(&waiters[i], pool);
    }
    EXPECT_EQ(usher_resize(pool, 3), 0);
    UNTIL(atomic_load(&waiters[0].done) && atomic_load(&waiters[1].done));
    struct usher_info info = scene_info(pool);
    EXPECT_EQ(info.seats, 3);
    EXPECT_EQ(info.holders, 3);
    EXPECT_EQ(info.waiters, 3);
    EXPECT_EQ(info.free, 0);
    EXPECT_EQ(usher_resize(pool, 8), 0);
    for (int i = 0; i < 5; i++) {
        UNTIL(atomic_load(&waiters[i].done));
        EXPECT(waiters[i].seat.number < 8 && waiters[i].seat.number != seat.number);
    }
    EXPECT_EQ(scene_info(pool).free, 2);
    for (int i = 0; i < 5; i++) {
        leave(&waiters[i]);
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_resize(pool, 8), 0);
    finish(pool);
}

static void shrinking_evicts_no_holder_and_admits_no_waiter(void)
{
    struct usher_pool *pool = open_pool(4);
    struct usher_seat held[4];
    struct sitter waiters[2];
    for (int i = 0; i < 4; i++) {
        held[i] = scene_acquire(pool);
    }
    EXPECT_EQ(usher_resize(pool, 1), 0);
    queue_up(&waiters[0], pool);
    queue_up(&waiters[1], pool);
    for (int i = 0; i < 3; i++) {
        struct usher_info info = scene_info(pool);
        EXPECT_EQ(info.seats, 1);
        EXPECT_EQ(info.holders, 4 - (uint32_t)i);
        EXPECT_EQ(info.owed, 3 - (uint32_t)i);
        EXPECT_EQ(info.free, 0);
        EXPECT_EQ(usher_release(pool, &held[i]), 0); /* any of the held seats */
        EXPECT_EQ(usher_release(pool, &held[i]), -EPERM);
        EXPECT(!atomic_load(&waiters[0].done));
    }
    EXPECT_EQ(scene_info(pool).holders, 1);
    EXPECT_EQ(scene_info(pool).waiters, 2);
    EXPECT_EQ(usher_release(pool, &held[3]), 0);
    for (int i = 0; i < 2; i++) {
        UNTIL(atomic_load(&waiters[i].done));
        EXPECT_EQ(waiters[i].seat.number, 0);
        EXPECT(i == 1 || !atomic_load(&waiters[1].done));
        leave(&waiters[i]);
    }
    finish(pool);
}

/* The number of seats grows and shrinks while all are held. Never more guests hold a seat than
   there are seats. */
static void a_pool_that_shrank_and_grew_admits_no_more_than_its_seats(void)
{
    struct usher_pool *pool = open_pool(3);
    struct usher_seat held[3];
    struct sitter waiters[3];
    for (int i = 0; i < 3; i++) {
        held[i] = scene_acquire(pool);
    }
    for (int i = 0; i < 3; i++) {
        queue_up(&waiters[i], pool);
    }
    for (uint32_t seats = 0; seats < 3; seats++) {
        EXPECT_EQ(usher_resize(pool, seats), 0);
        EXPECT_EQ(usher_resize(pool, 3), 0); /* as before: three hold three seats */
        EXPECT_EQ(scene_info(pool).holders, 3);
        EXPECT_EQ(scene_info(pool).waiters, 3);
    }
    EXPECT_EQ(usher_resize(pool, 1), 0);
    EXPECT_EQ(usher_resize(pool, 2), 0); /* one holder more than seats */
    EXPECT_EQ(scene_info(pool).holders, 3);
    EXPECT_EQ(scene_info(pool).waiters, 3);
    EXPECT_EQ(usher_release(pool, &held[0]), 0);
    EXPECT_EQ(scene_info(pool).waiters, 3);
    EXPECT_EQ(usher_release(pool, &held[1]), 0);
    UNTIL(atomic_load(&waiters[0].done));
    EXPECT_EQ(scene_info(pool).holders, 2);
    EXPECT_EQ(usher_resize(pool, 4), 0);
    UNTIL(atomic_load(&waiters[1].done) && atomic_load(&waiters[2].done));
    EXPECT_EQ(usher_release(pool, &held[2]), 0);
    for (int i = 0; i < 3; i++) {
        leave(&waiters[i]);
    }
    finish(pool);
}

static void a_pool_without_seats_admits_nobody(void)
{
    struct usher_pool *pool = open_pool(2);
    struct usher_seat held = scene_acquire(pool);
    struct usher_seat other;
    struct sitter waiters[4];
    struct timespec soon = scene_in_ms(20);
    EXPECT_EQ(usher_resize(pool, 0), 0);
    EXPECT_EQ(usher_try_acquire(pool, &other), -EAGAIN);
    EXPECT_EQ(usher_acquire_until(pool, &other, &soon), -ETIMEDOUT);
    for (int i = 0; i < 4; i++) {
        queue_up(&waiters[i], pool);
    }
    EXPECT_EQ(usher_release(pool, &held), 0);
    EXPECT_EQ(usher_try_acquire(pool, &other), -EAGAIN);
    EXPECT_EQ(usher_resize(pool, 0), 0);
    struct usher_info info = scene_info(pool);
    EXPECT_EQ(info.seats, 0);
    EXPECT_EQ(info.free, 0);
    EXPECT_EQ(info.holders, 0);
    EXPECT_EQ(info.waiters, 4);
    EXPECT_EQ(usher_resize(pool, 1), 0);
    for (int i = 0; i < 4; i++) { /* in order of arrival */
        UNTIL(atomic_load(&waiters[i].done));
        EXPECT(i == 3 || !atomic_load(&waiters[i + 1].done));
        leave(&waiters[i]);
    }
    finish(pool);
}

static void a_pool_grows_to_most_seats_and_no_further(void)
{
    static const uint32_t shapes[][2] = {{1, 1},  {1, 2},  {3, 3},  {2, 5},
                                         {1, 33}, {7, 65}, {5, 300}};
    for (unsigned s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct usher_pool *pool =
            open_with((struct usher_options){.seats = shapes[s][0], .guests = shapes[s][1]});
        uint32_t most = scene_info(pool).most_seats;
        EXPECT(most >= shapes[s][0] && most <= shapes[s][1]);
        EXPECT_EQ(usher_resize(pool, most + 1), -ERANGE);
        EXPECT_EQ(usher_resize(pool, UINT32_MAX), -ERANGE);
        EXPECT_EQ(usher_resize(pool, 65536), -ERANGE);
        EXPECT_EQ(scene_info(pool).seats, shapes[s][0]);
        EXPECT_EQ(usher_resize(pool, most), 0);
        EXPECT_EQ(scene_info(pool).free, most);
        struct usher_seat seat;
        uint32_t had = 0;
        uint64_t numbers = 0;
        while (had < most) {
            int error = usher_try_acquire(pool, &seat);
            if (error == -EUSERS) { /* every row holds a seat */
                EXPECT_EQ(had, shapes[s][1]);
                break;
            }
            EXPECT_EQ(error, 0);
            EXPECT(seat.number < most);
            numbers += seat.number;
            had++;
        }
        EXPECT_EQ(numbers, (uint64_t)most * (most - 1) / 2);
        usher_close(pool);
        EXPECT(!with_file || usher_remove("pool") == 0);
    }
}

static atomic_int stop;

static void a_table_of_16_or_of_a_power_of_two_can_hold_as_many_seats(void)
{
    for (uint32_t guests = 1; guests <= 4096; guests = guests < 16 ? guests + 1 : 2 * guests) {
        struct usher_pool *pool = open_with((struct usher_options){.seats = 1, .guests = guests});
        EXPECT_EQ(scene_info(pool).most_seats, guests);
        usher_close(pool);
        EXPECT(!with_file || usher_remove("pool") == 0);
    }
}

static void resizing_needs_a_row_of_the_guest_table(void)
{
    with_file = true;
    struct usher_pool *pool = open_with((struct usher_options){.seats = 1, .guests = 1});
    struct usher_pool *other = scene_open("pool", 0);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_resize(other, 0), -USHER_EFULL);
    EXPECT_EQ(scene_info(pool).seats, 1);
    usher_close(other);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool);
}

static void *resize_repeatedly(void *context)
{
    struct usher_pool *pool = context;
    uint64_t random = (uint64_t)(uintptr_t)&random;
    while (!atomic_load(&stop)) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        EXPECT_EQ(usher_resize(pool, 1 + (uint32_t)(random >> 33) % CROWD_SEATS), 0);
    }
    return NULL;
}

static void jostle_while_resized(int resizers)
{
    pthread_t threads[8];
    pthread_t others[2];
    struct usher_pool *pool = open_pool(1);
    atomic_store(&stop, 0);
    for (int r = 0; r < resizers; r++) {
        others[r] = start(resize_repeatedly, pool);
    }
    for (int t = 0; t < 8; t++) {
        threads[t] = start(jostle, pool);
    }
    for (int t = 0; t < 8; t++) {
        join(threads[t]);
    }
    atomic_store(&stop, 1);
    for (int r = 0; r < resizers; r++) {
        join(others[r]);
    }
    EXPECT_EQ(usher_resize(pool, 2), 0);
    struct usher_info info = scene_info(pool);
    EXPECT_EQ(info.seats, 2);
    EXPECT_EQ(info.owed, 0);
    EXPECT_EQ(info.free, 2);
    struct usher_seat seats[3];
    EXPECT_EQ(usher_try_acquire(pool, &seats[0]), 0);
    EXPECT_EQ(usher_try_acquire(pool, &seats[1]), 0);
    EXPECT_EQ(usher_try_acquire(pool, &seats[2]), -EAGAIN);
    finish(pool);
}

static void acquire_during_a_resize_returns_an_existing_seat(void)
{
    jostle_while_resized(1);
}

static void acquire_during_two_resizes_returns_an_existing_seat(void)
{
    jostle_while_resized(2);
}

enum { GROWTHS = 3000 };

static void *grow_to_the_most(void *context)
{
    struct sitter *self = context;
    for (int round = 1; round <= GROWTHS; round++) {
        while (atomic_load(&self->may_leave) < round) {
            (void)sched_yield();
        }
        EXPECT_EQ(usher_resize(self->pool, 3), 0);
        atomic_store(&self->done, round);
    }
    return NULL;
}

static void two_threads_that_grow_a_pool_make_no_more_seats_than_asked(void)
{
    struct usher_pool *pool = open_with((struct usher_options){.seats = 1, .guests = 5});
    EXPECT_EQ(scene_info(pool).most_seats, 5);
    struct sitter other = {.pool = pool};
    other.thread = start(grow_to_the_most, &other);
    for (int round = 1; round <= GROWTHS; round++) {
        atomic_store(&other.may_leave, round);
        EXPECT_EQ(usher_resize(pool, 3), 0);
        while (atomic_load(&other.done) < round) {
            EXPECT(scene_info(pool).seats <= 3);
        }
        EXPECT_EQ(scene_info(pool).seats, 3);
        EXPECT_EQ(usher_resize(pool, 1), 0);
        EXPECT_EQ(scene_info(pool).seats, 1);
    }
    join(other.thread);
    finish(pool);
}

int main(void)
{
    scene_begin();
    RUN_BOTH(two_threads_that_grow_a_pool_make_no_more_seats_than_asked);
    RUN_BOTH(acquire_during_two_resizes_returns_an_existing_seat);
    RUN_BOTH(growing_admits_waiters_at_once);
    RUN_BOTH(shrinking_evicts_no_holder_and_admits_no_waiter);
    RUN_BOTH(a_pool_that_shrank_and_grew_admits_no_more_than_its_seats);
    RUN_BOTH(a_pool_without_seats_admits_nobody);
    RUN_BOTH(a_pool_grows_to_most_seats_and_no_further);
    RUN_BOTH(a_table_of_16_or_of_a_power_of_two_can_hold_as_many_seats);
    RUN(resizing_needs_a_row_of_the_guest_table);
    RUN_BOTH(acquire_during_a_resize_returns_an_existing_seat);
    return 0;
}
