/*
 * What usher.h promises of several threads in one process: any thread may release a seat, threads
 * share a handle, and a thread that ends releases its seats.
 */
#include "sitters.h"

static void *release_seat_of_another(void *context)
{
    struct sitter *self = context;
    self->result = usher_release(self->pool, &self->seat);
    return NULL;
}

static void any_thread_of_the_process_may_release_a_seat(void)
{
    struct usher_pool *pool = open_pool(2);
    for (int round = 0; round < 100; round++) {
        struct sitter other = {.pool = pool, .seat = scene_acquire(pool)};
        join(start(release_seat_of_another, &other));
        EXPECT_EQ(other.result, 0);
        EXPECT_EQ(usher_release(pool, &other.seat), -EPERM);
    }
    EXPECT_EQ(scene_info(pool).guests_used, with_file ? 1 : 0);
    finish(pool);
}

static void many_threads_share_a_pool(void)
{
    pthread_t threads[CROWD];
    struct usher_pool *pool = open_pool(CROWD_SEATS);
    for (int t = 0; t < CROWD; t++) {
        threads[t] = start(jostle, pool);
    }
    for (int t = 0; t < CROWD; t++) {
        join(threads[t]);
    }
    struct usher_info info = scene_info(pool);
    EXPECT_EQ(info.free, CROWD_SEATS);
    EXPECT_EQ(info.waiters, 0);
    EXPECT_EQ(info.reaped, 0);
    EXPECT(info.served >= CROWD * CROWD_ROUNDS / 2);
    finish(pool);
}

static void *end_with_seats(void *context)
{
    struct usher_pool **pools = context;
    struct usher_seat seat;
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(usher_acquire(pools[0], &seat), 0);
    }
    EXPECT_EQ(usher_acquire(pools[1], &seat), 0);
    EXPECT_EQ(usher_release(pools[1], &seat), 0);
    EXPECT_EQ(usher_acquire(pools[1], &seat), 0);
    return NULL; /* with four seats held */
}

static void a_thread_that_ends_releases_its_seats(void)
{
    struct usher_pool *pools[2] = {open_pool(3), scene_open("other", 1)};
    for (int round = 0; round < 30; round++) {
        join(start(end_with_seats, pools));
        struct usher_info info = scene_info(pools[0]);
        EXPECT_EQ(info.free, 3);
        EXPECT_EQ(info.reaped, 0); /* no process has died */
        EXPECT_EQ(scene_info(pools[1]).free, 1);
    }
    /* The seats are free at once: a waiter gets one. */
    struct sitter waiter;
    struct usher_seat held[3];
    for (int i = 0; i < 3; i++) {
        held[i] = scene_acquire(pools[0]);
    }
    queue_up(&waiter, pools[0]);
    struct usher_seat first = held[1];
    struct sitter owner = {.pool = pools[0], .seat = first};
    join(start(release_seat_of_another, &owner));
    UNTIL(atomic_load(&waiter.done));
    EXPECT_EQ(waiter.seat.number, first.number);
    EXPECT_EQ(waiter.seat.flags, 0);
    leave(&waiter);
    EXPECT_EQ(usher_release(pools[0], &held[0]), 0);
    EXPECT_EQ(usher_release(pools[0], &held[2]), 0);
    usher_close(pools[1]);
    EXPECT_EQ(usher_remove("other"), 0);
    finish(pools[0]);
}

static void *end_as_another_releases(void *context)
{
    struct sitter *self = context;
    EXPECT_EQ(usher_acquire(self->pool, &self->seat), 0);
    atomic_store(&self->done, 1);
    return NULL; /* the exit releases the seat, unless the other thread has done so */
}

static void releasing_a_seat_while_its_thread_ends_loses_no_row(void)
{
    struct usher_pool *pool = open_with((struct usher_options){.seats = 1, .guests = 1});
    for (int round = 0; round < 2500; round++) {
        struct sitter other = {.pool = pool};
        pthread_t thread = start(end_as_another_releases, &other);
        for (int looks = 1; atomic_load(&other.done) == 0; looks++) {
            (void)(looks % 1000 == 0 && sched_yield());
        }
        for (volatile int later = 0; later < round % 64 * 16; later++) {
        }
        int result = usher_release(pool, &other.seat);
        EXPECT(result == 0 || result == -EPERM); /* either thread may be first */
        join(thread);
        EXPECT_EQ(scene_info(pool).free, 1);
    }
    finish(pool);
}

int main(void)
{
    scene_begin();
    RUN_BOTH(any_thread_of_the_process_may_release_a_seat);
    RUN_BOTH(many_threads_share_a_pool);
    RUN_BOTH(a_thread_that_ends_releases_its_seats);
    RUN_BOTH(releasing_a_seat_while_its_thread_ends_loses_no_row);
    return 0;
}
