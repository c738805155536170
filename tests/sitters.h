/*
 * Threads that acquire, wait and leave on command; and tests of any pool, which run with and
 * without a file.
 */
#ifndef USHER_SITTERS_H
#define USHER_SITTERS_H

#include "scene.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

static bool with_file;

#define RUN_BOTH(test)                                                                             \
    do {                                                                                           \
        with_file = true;                                                                          \
        RUN(test);                                                                                 \
        with_file = false;                                                                         \
        test();                                                                                    \
    } while (0)

static inline struct usher_pool *open_with(struct usher_options options)
{
    struct usher_pool *pool = NULL;
    EXPECT_EQ(usher_open(&pool, with_file ? "pool" : NULL, &options), 0);
    return pool;
}

static inline struct usher_pool *open_pool(uint32_t seats)
{
    return open_with((struct usher_options){.seats = seats});
}

/* Close the last handle and check that nothing is left of the pool. */
static inline void finish(struct usher_pool *pool)
{
    uint32_t seats = scene_info(pool).seats;
    usher_close(pool);
    if (with_file) {
        scene_expect_whole("pool", seats);
        EXPECT_EQ(usher_remove("pool"), 0);
    }
}

static inline pthread_t start(void *(*body)(void *), void *context)
{
    pthread_t thread;
    EXPECT_EQ(pthread_create(&thread, NULL, body, context), 0);
    return thread;
}

static inline void join(pthread_t thread)
{
    EXPECT_EQ(pthread_join(thread, NULL), 0);
}

/* A thread that acquires and keeps the seat until it may leave. */
struct sitter {
    struct usher_pool *pool;
    struct usher_seat seat;
    const struct timespec *deadline;
    atomic_int done, may_leave, turn;
    int result;
    pthread_t thread;
};

static atomic_int turns; /* number of acquires so far */

static inline void *sit(void *context)
{
    struct sitter *self = context;
    self->result = usher_acquire_until(self->pool, &self->seat, self->deadline);
    atomic_store(&self->turn, atomic_fetch_add(&turns, 1) + 1);
    atomic_store(&self->done, 1);
    while (atomic_load(&self->may_leave) == 0) {
        scene_pause_us(300);
    }
    if (self->result == 0) {
        EXPECT_EQ(usher_release(self->pool, &self->seat), 0);
    }
    return NULL;
}

/* Start a thread that must wait, and check that it waits. */
static inline void queue_up(struct sitter *sitter, struct usher_pool *pool)
{
    uint32_t before = scene_info(pool).waiters;
    memset((void *)sitter, 0, sizeof *sitter);
    sitter->pool = pool;
    sitter->thread = start(sit, sitter);
    UNTIL(scene_info(pool).waiters == before + 1);
}

static inline void leave(struct sitter *sitter)
{
    atomic_store(&sitter->may_leave, 1);
    join(sitter->thread);
}

enum { CROWD = 24, CROWD_SEATS = 3, CROWD_ROUNDS = 150 };

static int seat_users[CROWD_SEATS]; /* each entry is touched by that seat's holder only */

static inline void *jostle(void *context)
{
    struct usher_pool *pool = context;
    for (int round = 0; round < CROWD_ROUNDS; round++) {
        struct usher_seat seat;
        struct timespec deadline = scene_in_ms(round % 3);
        int error = round % 4 == 0   ? usher_acquire_until(pool, &seat, &deadline)
                    : round % 4 == 1 ? usher_try_acquire(pool, &seat)
                                     : usher_acquire(pool, &seat);
        EXPECT(error == 0 || (round % 4 == 0 && error == -ETIMEDOUT) ||
               (round % 4 == 1 && error == -EAGAIN));
        if (error == 0) {
            EXPECT(seat.number < CROWD_SEATS);
            EXPECT_EQ(seat_users[seat.number]++, 0);
            if (round % 8 == 0) {
                (void)sched_yield();
            }
            EXPECT_EQ(--seat_users[seat.number], 0);
            EXPECT_EQ(usher_release(pool, &seat), 0);
        }
    }
    return NULL;
}

#endif
