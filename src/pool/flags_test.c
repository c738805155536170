/*
 * Flags of usher_open. With USHER_PROCESS_SEATS a seat outlives the thread that acquired it. With
 * USHER_NO_WATCHDOG a waiter starts no thread.
 */
#include "mortals.h"

#include <pthread.h>
#include <sys/syscall.h>

struct work {
    struct usher_pool *pool;
    struct usher_seat seat;
    int result;
};

static void *acquire_it(void *context)
{
    struct work *work = context;
    work->result = usher_acquire(work->pool, &work->seat);
    return NULL;
}

static void *release_it(void *context)
{
    struct work *work = context;
    work->result = usher_release(work->pool, &work->seat);
    return NULL;
}

/* Run a function in a thread that ends. */
static int in_thread(void *(*body)(void *), struct work *work)
{
    pthread_t thread;
    EXPECT_EQ(pthread_create(&thread, NULL, body, work), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    return work->result;
}

static struct usher_pool *open_with(const char *name, uint32_t seats, unsigned flags)
{
    struct usher_pool *pool;
    struct usher_options options = {.seats = seats, .flags = flags};
    EXPECT_EQ(usher_open(&pool, name, &options), 0);
    return pool;
}

static const char *const names[] = {"flags", NULL}; /* NULL: a pool without a file */

static void a_seat_of_the_process_outlives_its_thread(void)
{
    for (int n = 0; n < 2; n++) {
        struct work work = {.pool = open_with(names[n], 1, USHER_PROCESS_SEATS)};
        struct usher_lease lease;
        struct usher_seat other;
        struct usher_info info;
        for (int round = 0; round < 100; round++) { /* rows are used again */
            EXPECT_EQ(in_thread(acquire_it, &work), 0);
            EXPECT_EQ(usher_try_acquire(work.pool, &other), -EAGAIN);
            EXPECT_EQ(usher_check(work.pool, &work.seat, &lease), 0);
            EXPECT_EQ(usher_release(work.pool, &work.seat), 0);
            EXPECT_EQ(usher_release(work.pool, &work.seat), -EPERM);
            EXPECT_EQ(in_thread(acquire_it, &work), 0);
            EXPECT_EQ(in_thread(release_it, &work), 0);
            EXPECT_EQ(usher_check(work.pool, &work.seat, &lease), -EPERM);
            /* acquired and released by one thread */
            EXPECT_EQ(usher_acquire(work.pool, &work.seat), 0);
            EXPECT_EQ(usher_release(work.pool, &work.seat), 0);
        }
        EXPECT_EQ(usher_inspect(work.pool, &info, NULL, 0), 0);
        EXPECT_EQ(info.served, 300);
        EXPECT(info.guests_used <= 3);
        EXPECT_EQ(usher_verify(work.pool, NULL, NULL), 0);
        usher_close(work.pool);
    }
    EXPECT_EQ(usher_remove("flags"), 0);
}

static void without_the_flag_a_seat_ends_with_its_thread(void)
{
    struct work work = {.pool = open_with("flags", 1, 0)};
    EXPECT_EQ(in_thread(acquire_it, &work), 0);
    EXPECT_EQ(usher_release(work.pool, &work.seat), -EPERM);
    finish(work.pool, "flags", 1);
}

static void closing_releases_the_seats_of_ended_threads(void)
{
    struct work work = {.pool = open_with("flags", 3, USHER_PROCESS_SEATS)};
    struct usher_pool *other = scene_open("flags", 3);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(in_thread(acquire_it, &work), 0);
        EXPECT_EQ(work.seat.number, i);
    }
    expect_taken(other);
    usher_close(work.pool);
    finish(other, "flags", 3);
}

/* The row of such a seat is free again when the process that the seat was assigned to has ended. */
static void the_seat_of_an_ended_thread_can_be_assigned(void)
{
    struct work work = {.pool = open_with("flags", 1, USHER_PROCESS_SEATS)};
    for (int round = 0; round < 20; round++) {
        pid_t heir = scene_start((void (*)(void *))stay, NULL);
        EXPECT_EQ(in_thread(acquire_it, &work), 0);
        EXPECT_EQ(usher_assign(work.pool, &work.seat, heir), 0);
        expect_taken(work.pool);
        scene_kill(heir);
        work.seat = get_soon(work.pool);
        EXPECT_EQ(work.seat.flags, USHER_INHERITED);
        EXPECT_EQ(usher_release(work.pool, &work.seat), 0);
    }
    EXPECT(scene_info(work.pool).guests_used <= 3);
    finish(work.pool, "flags", 1);
}

/* The kernel refuses membarrier(2). */
static void release_without_barrier(void *unused)
{
    (void)unused;
    struct work work = {.pool = open_with("flags", 1, USHER_PROCESS_SEATS)};
    work.seat = scene_acquire(work.pool);
    EXPECT_EQ(usher_release(work.pool, &work.seat), 0);
    if (!scene_refuse(SYS_membarrier, -1, 0, 0, ENOSYS)) {
        return;
    }
    work.seat = scene_acquire(work.pool);
    EXPECT_EQ(in_thread(release_it, &work), 0);
    usher_close(work.pool);
}

static void any_thread_can_release_on_any_kernel(void)
{
    scene_in_child(release_without_barrier, NULL);
    EXPECT_EQ(usher_remove("flags"), 0);
}

/* Threads release each other's seats and their own. */
enum { TRADERS = 4, TRADES = 3000 };
static _Atomic(struct work *) shelf;
static atomic_int in_use;

static void *trade(void *pool)
{
    for (int i = 0; i < SCENE_ROUNDS(TRADES); i++) {
        struct work *own = calloc(1, sizeof *own);
        EXPECT(own != NULL);
        own->pool = pool;
        EXPECT_EQ(usher_acquire(pool, &own->seat), 0);
        EXPECT(atomic_fetch_add(&in_use, 1) < 2 * TRADERS);
        struct work *other = atomic_exchange(&shelf, own);
        if (other != NULL) {
            atomic_fetch_sub(&in_use, 1);
            EXPECT_EQ(usher_release(pool, &other->seat), 0);
            free(other);
        }
    }
    return NULL;
}

static void seats_are_passed_between_threads(void)
{
    struct usher_pool *pool = open_with("flags", 2 * TRADERS, USHER_PROCESS_SEATS);
    pthread_t threads[TRADERS];
    for (int t = 0; t < TRADERS; t++) {
        EXPECT_EQ(pthread_create(&threads[t], NULL, trade, pool), 0);
    }
    for (int t = 0; t < TRADERS; t++) {
        EXPECT_EQ(pthread_join(threads[t], NULL), 0);
    }
    EXPECT_EQ(scene_info(pool).holders, 1);
    struct work *last = atomic_exchange(&shelf, NULL);
    EXPECT_EQ(usher_release(pool, &last->seat), 0);
    free(last);
    finish(pool, "flags", 2 * TRADERS);
}

static void hold_by_an_ended_thread(void *unused)
{
    (void)unused;
    struct work work = {.pool = open_with("flags", 1, USHER_PROCESS_SEATS)};
    EXPECT_EQ(in_thread(acquire_it, &work), 0);
    atomic_store(&board->flags[0], 1);
    stay();
}

static void the_death_of_the_process_frees_its_seats(void)
{
    struct usher_pool *pool = scene_open("flags", 1);
    scene_clear();
    pid_t holder = scene_start(hold_by_an_ended_thread, NULL);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    expect_taken(pool);
    scene_kill(holder);
    struct usher_seat seat = get_soon(pool);
    EXPECT_EQ(seat.flags, USHER_INHERITED);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool, "flags", 1);
}

static void wait_with(void *context)
{
    struct usher_pool *pool = open_with("flags", 0, *(unsigned *)context);
    atomic_store(&board->flags[1], 1);
    struct usher_seat seat = scene_acquire(pool);
    atomic_store(&board->flags[2], 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    usher_close(pool);
}

/* Return the highest number of threads of a waiter while it waits, for half a second and until it
   has `wanted`. The holder dies at the end. */
static int most_threads(unsigned flags, int wanted)
{
    struct usher_pool *pool = scene_open("flags", 1);
    int most = 0;
    scene_clear();
    pid_t holder = scene_holder(0, "flags");
    pid_t waiter = scene_start(wait_with, &flags);
    UNTIL(scene_info(pool).waiters == 1);
    for (int i = 0; i < 500 || (i < 30000 && most < wanted); i++) {
        int now = process_threads(waiter);
        most = now > most ? now : most;
        scene_pause_us(1000);
    }
    int64_t died = scene_now_ns();
    scene_kill(holder);
    UNTIL(atomic_load(&board->flags[2]) == 1);
    EXPECT(scene_now_ns() - died < 10000000000LL);
    EXPECT_EQ(scene_end(waiter), 0);
    finish(pool, "flags", 1);
    return most;
}

static void a_waiter_without_a_watchdog_has_one_thread_and_finds_the_dead(void)
{
    int without = most_threads(USHER_NO_WATCHDOG, 0);
    EXPECT_EQ(most_threads(0, without + 1), without + 1);
}

int main(void)
{
    scene_begin();
    RUN(a_seat_of_the_process_outlives_its_thread);
    RUN(without_the_flag_a_seat_ends_with_its_thread);
    RUN(closing_releases_the_seats_of_ended_threads);
    RUN(the_seat_of_an_ended_thread_can_be_assigned);
    RUN(any_thread_can_release_on_any_kernel);
    RUN(seats_are_passed_between_threads);
    RUN(the_death_of_the_process_frees_its_seats);
    RUN(a_waiter_without_a_watchdog_has_one_thread_and_finds_the_dead);
    return 0;
}
