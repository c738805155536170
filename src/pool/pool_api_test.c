/*
 * What usher.h promises of seats and handles within one process: acquire, release, close, a full
 * guest table, a removed pool. threads_api_test covers several threads, process_test other
 * processes, above all their deaths. usage: pool_api_test [SEED]
 */
#include "sitters.h"

#include <sched.h>
#include <unistd.h>

static void seats_are_numbered_from_0_and_each_has_one_holder(void)
{
    for (uint32_t seats = 1; seats <= 40; seats += seats < 4 ? 1 : 9) {
        struct usher_pool *pool = open_pool(seats);
        for (int round = 0; round < 3; round++) {
            struct usher_seat held[40];
            uint64_t taken = 0;
            for (uint32_t s = 0; s < seats; s++) {
                EXPECT_EQ(usher_acquire(pool, &held[s]), 0);
                EXPECT(held[s].number < seats);
                EXPECT(!(taken >> held[s].number & 1));
                EXPECT_EQ(held[s].flags, 0);
                taken |= 1ULL << held[s].number;
                EXPECT(s == 0 || held[s].ticket == held[s - 1].ticket + 1);
            }
            EXPECT_EQ(scene_info(pool).free, 0);
            for (uint32_t s = 0; s < seats; s++) { /* release in another order */
                EXPECT_EQ(usher_release(pool, &held[(s * 7 + 3) % seats]),
                          seats % 7 != 0 ? 0 : usher_release(pool, &held[0]));
            }
            EXPECT_EQ(scene_info(pool).free, seats);
        }
        finish(pool);
    }
}

static void a_seat_is_released_once(void)
{
    struct usher_pool *pool = open_pool(2);
    for (int round = 0; round < 2000; round++) {
        struct usher_seat seat = scene_acquire(pool);
        struct usher_seat copy = seat;
        /* a copy is as good as the original */
        EXPECT_EQ(usher_release(pool, round % 2 ? &seat : &copy), 0);
        EXPECT_EQ(usher_release(pool, &seat), -EPERM);
        EXPECT_EQ(usher_release(pool, &copy), -EPERM);
        struct usher_seat next = scene_acquire(pool);
        /* the same seat may be held again, by a new request */
        EXPECT_EQ(usher_release(pool, &seat), -EPERM);
        EXPECT_EQ(usher_release(pool, &next), 0);
    }
    EXPECT_EQ(scene_info(pool).served, 4000);
    finish(pool);
}

static void a_seat_that_was_never_acquired_cannot_be_released(void)
{
    struct usher_pool *pool = open_pool(3);
    struct usher_seat seat = scene_acquire(pool);
    struct usher_seat false_ = {0};
    EXPECT_EQ(usher_release(pool, &false_), -EPERM);
    memset(&false_, 0xff, sizeof false_);
    EXPECT_EQ(usher_release(pool, &false_), -EPERM);
    for (int round = 0; round < 5000; round++) {
        false_ = seat;
        switch (round % 4) {
        case 0:
            false_.number += 1 + (uint32_t)scene_random() % 1000;
            break;
        case 1:
            false_.request ^= 1ULL << scene_random() % 64;
            break;
        case 2:
            false_.request = scene_random() % 8; /* the number of no request */
            break;
        default:
            false_ = (struct usher_seat){.number = (uint32_t)scene_random() % 4,
                                         .ticket = scene_random(),
                                         .request = scene_random() % 4 << 33 | scene_random() % 16};
            if (false_.number == seat.number && false_.request == seat.request) {
                continue;
            }
        }
        EXPECT_EQ(usher_release(pool, &false_), -EPERM);
    }
    EXPECT_EQ(scene_info(pool).holders, 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool);
}

static void a_seat_belongs_to_the_handle_that_acquired_it(void)
{
    struct usher_pool *one = scene_open("twice", 2);
    struct usher_pool *two = scene_open("twice", 2);
    struct usher_seat first;
    struct usher_seat second;
    struct usher_seat third;
    for (int round = 0; round < 100; round++) {
        EXPECT_EQ(usher_acquire(one, &first), 0);
        EXPECT_EQ(usher_try_acquire(two, &second), 0);
        EXPECT(first.number != second.number);
        EXPECT_EQ(usher_try_acquire(one, &third), -EAGAIN);
        EXPECT_EQ(usher_try_acquire(two, &third), -EAGAIN);
        EXPECT_EQ(usher_release(two, &first), -EPERM);
        EXPECT_EQ(usher_release(one, &second), -EPERM);
        EXPECT_EQ(usher_assign(two, &first, getpid()), -EPERM);
        EXPECT_EQ(usher_reap(one), 0); /* each handle sees that the other is alive */
        EXPECT_EQ(usher_reap(two), 0);
        EXPECT_EQ(usher_release(one, &first), 0);
        EXPECT_EQ(usher_release(two, &second), 0);
    }
    EXPECT_EQ(usher_acquire(one, &first), 0);
    EXPECT_EQ(usher_acquire(two, &second), 0);
    usher_close(one); /* releases its own seat, and no other */
    EXPECT_EQ(scene_info(two).holders, 1);
    EXPECT_EQ(usher_try_acquire(two, &third), 0);
    EXPECT_EQ(third.number, first.number);
    EXPECT_EQ(third.flags, 0);
    EXPECT_EQ(usher_release(two, &third), 0);
    EXPECT_EQ(usher_release(two, &second), 0);
    usher_close(two);
    scene_expect_whole("twice", 2);
    EXPECT_EQ(usher_remove("twice"), 0);
}

static void two_pools_without_a_file_are_independent(void)
{
    struct usher_pool *pools[8];
    struct usher_seat seats[8];
    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(usher_open(&pools[i], NULL, NULL), 0);
        EXPECT(strcmp(usher_path(pools[i]), "") == 0);
    }
    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(usher_try_acquire(pools[i], &seats[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(usher_assign(pools[i], &seats[i], getpid()), -EINVAL);
        EXPECT_EQ(usher_release(pools[i], &seats[i]), 0);
        usher_close(pools[i]);
    }
}

static void a_process_may_have_many_pools(void)
{
    enum { POOLS = 64 };
    struct usher_pool *pools[POOLS];
    struct usher_seat seats[POOLS];
    char name[16];
    for (int i = 0; i < POOLS; i++) {
        (void)snprintf(name, sizeof name, "many-%d", i);
        pools[i] = scene_open(name, (uint32_t)i % 5 + 1);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < POOLS; i++) {
            EXPECT_EQ(usher_acquire(pools[i * 29 % POOLS], &seats[i * 29 % POOLS]), 0);
        }
        for (int i = 0; i < POOLS; i++) {
            /* a seat of another pool is refused, unless the numbers happen to agree */
            int other = (i + 1) % POOLS;
            if (seats[i].request != seats[other].request ||
                seats[i].number != seats[other].number) {
                EXPECT_EQ(usher_release(pools[i], &seats[other]), -EPERM);
            }
        }
        for (int i = 0; i < POOLS; i++) {
            EXPECT_EQ(scene_info(pools[i]).holders, 1);
            EXPECT_EQ(usher_release(pools[i], &seats[i]), 0);
            EXPECT_EQ(scene_info(pools[i]).holders, 0);
        }
    }
    for (int i = 0; i < POOLS; i++) {
        (void)snprintf(name, sizeof name, "many-%d", i);
        usher_close(pools[i]);
        EXPECT_EQ(usher_remove(name), 0);
    }
}

static void closing_releases_what_is_held(void)
{
    struct usher_pool *watch = scene_open("pool", 3);
    for (int round = 0; round < 50; round++) {
        struct usher_pool *pool = scene_open("pool", 3);
        struct usher_seat seat;
        for (int i = 0; i < 3; i++) {
            EXPECT_EQ(usher_acquire(pool, &seat), 0);
        }
        EXPECT_EQ(scene_info(watch).holders, 3);
        usher_close(pool);
        EXPECT_EQ(scene_info(watch).holders, 0);
        EXPECT_EQ(usher_try_acquire(watch, &seat), 0);
        EXPECT_EQ(seat.flags, 0);
        EXPECT_EQ(usher_release(watch, &seat), 0);
    }
    struct usher_info info = scene_info(watch);
    EXPECT_EQ(info.reaped, 0);
    EXPECT_EQ(info.guests_used, 1);
    usher_close(watch);
    EXPECT_EQ(usher_remove("pool"), 0);
}

static void *try_once(void *context)
{
    struct sitter *self = context;
    self->result = usher_try_acquire(self->pool, &self->seat);
    return NULL;
}

static void a_full_guest_table_is_an_error_until_a_row_is_free(void)
{
    struct usher_pool *pool = open_with((struct usher_options){.seats = 2, .guests = 2});
    struct usher_seat held[2];
    struct sitter third = {.pool = pool};
    for (int round = 0; round < 20; round++) {
        held[0] = scene_acquire(pool);
        held[1] = scene_acquire(pool);
        join(start(try_once, &third));
        EXPECT_EQ(third.result, -EUSERS);
        EXPECT_EQ(usher_acquire(pool, &third.seat), -EUSERS);
        EXPECT_EQ(usher_acquire_until(pool, &third.seat, &(struct timespec){0, 0}), -EUSERS);
        EXPECT_EQ(usher_release(pool, &held[0]), 0);
        EXPECT_EQ(usher_release(pool, &held[1]), 0);
        EXPECT_EQ(usher_try_acquire(pool, &held[0]), 0); /* this thread still has its rows */
        EXPECT_EQ(usher_release(pool, &held[0]), 0);
        EXPECT_EQ(scene_info(pool).free, 2);
    }
    usher_close(pool);
    EXPECT(!with_file || usher_remove("pool") == 0);
    /* Any thread of the process can use the row of a thread that has ended. */
    pool = open_with((struct usher_options){.seats = 1, .guests = 1});
    third.pool = pool;
    for (int round = 0; round < 50; round++) {
        join(start(try_once, &third));
        EXPECT_EQ(third.result, 0);
    }
    EXPECT_EQ(usher_try_acquire(pool, &held[0]), 0);
    join(start(try_once, &third));
    EXPECT_EQ(third.result, -EUSERS);
    EXPECT_EQ(usher_release(pool, &held[0]), 0);
    finish(pool);
}

static void closing_frees_a_table_full_of_one_handles_rows(void)
{
    struct usher_pool *one;
    struct usher_pool *two;
    struct usher_seat seat;
    struct usher_options options = {.seats = 2, .guests = 2};
    EXPECT_EQ(usher_open(&one, "full", &options), 0);
    EXPECT_EQ(usher_open(&two, "full", &options), 0);
    EXPECT_EQ(usher_try_acquire(one, &seat), 0);
    EXPECT_EQ(usher_try_acquire(one, &seat), 0);
    for (int round = 0; round < 20; round++) {
        EXPECT_EQ(usher_try_acquire(two, &seat), -EUSERS);
        usher_close(one);
        EXPECT_EQ(usher_try_acquire(two, &seat), 0);
        EXPECT_EQ(usher_try_acquire(two, &seat), 0);
        EXPECT_EQ(usher_try_acquire(two, &seat), -EUSERS);
        one = two;
        EXPECT_EQ(usher_open(&two, "full", &options), 0);
    }
    usher_close(one);
    usher_close(two);
    EXPECT_EQ(usher_remove("full"), 0);
}

/* Every call fails with -USHER_EREMOVED. Seats that are held can still be released. */
static void expect_removed(struct usher_pool *pool)
{
    struct usher_seat seat;
    struct usher_info info;
    struct timespec soon = scene_in_ms(10);
    EXPECT_EQ(usher_acquire(pool, &seat), -EIDRM);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EIDRM);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -EIDRM);
    EXPECT_EQ(usher_reap(pool), -EIDRM);
    EXPECT_EQ(usher_resize(pool, 2), -EIDRM);
    EXPECT_EQ(usher_inspect(pool, &info, NULL, 0), -EIDRM);
    EXPECT_EQ(usher_history(pool, NULL, 0), -EIDRM);
    EXPECT_EQ(usher_verify(pool, NULL, NULL), -EIDRM);
}

static void a_pool_in_use_is_not_removed(void)
{
    struct usher_pool *pool = scene_open("used", 1);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_remove("used"), -EBUSY);
    struct sitter waiter;
    queue_up(&waiter, pool);
    EXPECT_EQ(usher_remove("used"), -EBUSY);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    UNTIL(atomic_load(&waiter.done));
    EXPECT_EQ(usher_remove("used"), -EBUSY);
    leave(&waiter);
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0); /* the failed removal changed nothing */
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_remove("used"), 0);
    EXPECT_EQ(usher_remove("used"), -ENOENT);
    expect_removed(pool);
    struct usher_pool *next = scene_open("used", 5); /* a new pool, with another number of seats */
    EXPECT_EQ(scene_info(next).served, 0);
    expect_removed(pool);
    usher_close(pool);
    usher_close(next);
    EXPECT_EQ(usher_remove("used"), 0);
}

static void a_discarded_pool_ends_all_waits(void)
{
    struct usher_pool *pool = scene_open("used", 2);
    struct usher_seat held[2] = {scene_acquire(pool), scene_acquire(pool)};
    struct sitter waiters[6];
    for (int i = 0; i < 6; i++) {
        queue_up(&waiters[i], pool);
    }
    EXPECT_EQ(usher_discard("used"), 0);
    for (int i = 0; i < 6; i++) {
        UNTIL(atomic_load(&waiters[i].done));
        EXPECT_EQ(waiters[i].result, -EIDRM);
        leave(&waiters[i]);
    }
    expect_removed(pool);
    struct usher_pool *next = scene_open("used", 2);
    struct usher_seat seat;
    /* the new pool does not know the holders of the old one */
    EXPECT_EQ(scene_info(next).holders, 0);
    EXPECT_EQ(usher_try_acquire(next, &seat), 0);
    EXPECT_EQ(usher_try_acquire(next, &seat), 0);
    EXPECT_EQ(usher_release(pool, &held[0]), 0);
    EXPECT_EQ(usher_release(pool, &held[0]), -EPERM);
    EXPECT_EQ(scene_info(next).holders, 2);
    usher_close(pool); /* while it holds the other seat */
    EXPECT_EQ(scene_info(next).holders, 2);
    usher_close(next);
    EXPECT_EQ(usher_discard("used"), 0);
    EXPECT_EQ(usher_discard("used"), -ENOENT);
}

int main(int argc, char **argv)
{
    scene_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)scene_now_ns();
    (void)printf("seed %llu\n", (unsigned long long)scene_seed);
    scene_begin();
    RUN_BOTH(seats_are_numbered_from_0_and_each_has_one_holder);
    RUN_BOTH(a_seat_is_released_once);
    RUN_BOTH(a_seat_that_was_never_acquired_cannot_be_released);
    RUN(a_seat_belongs_to_the_handle_that_acquired_it);
    RUN(two_pools_without_a_file_are_independent);
    RUN(a_process_may_have_many_pools);
    RUN(closing_releases_what_is_held);
    RUN_BOTH(a_full_guest_table_is_an_error_until_a_row_is_free);
    RUN(closing_frees_a_table_full_of_one_handles_rows);
    RUN(a_pool_in_use_is_not_removed);
    RUN(a_discarded_pool_ends_all_waits);
    return 0;
}
