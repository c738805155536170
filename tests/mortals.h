/*
 * What the tests of processes that die share: ways to stay and to die, and what is to be seen of it
 * in a pool.
 */
#ifndef USHER_MORTALS_H
#define USHER_MORTALS_H

#include "scene.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void stay(void)
{
    for (;;) {
        (void)pause();
    }
}

/* The body of a child that comes to this pool, leaves it, and ends. */
static inline void come_and_go(void *name)
{
    struct usher_pool *own = scene_open(name, 0);
    struct usher_seat seat = scene_acquire(own);
    EXPECT_EQ(usher_release(own, &seat), 0);
    usher_close(own);
}

/* Let a process die by SIGKILL, but do not wait for it: it is a zombie then. */
static inline void kill_to_zombie(pid_t child)
{
    siginfo_t info;
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

/* The seat can be had, now or as soon as somebody finds out. */
static inline struct usher_seat get_soon(struct usher_pool *pool)
{
    struct usher_seat seat;
    struct timespec deadline = scene_in_ms(30000);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &deadline), 0);
    return seat;
}

static inline void expect_taken(struct usher_pool *pool)
{
    struct usher_seat seat;
    struct timespec soon = scene_in_ms(5);
    EXPECT_EQ(usher_reap(pool), 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EAGAIN);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ETIMEDOUT);
}

static inline void finish(struct usher_pool *pool, const char *name, uint32_t seats)
{
    usher_close(pool);
    scene_expect_whole(name, seats);
    EXPECT_EQ(usher_remove(name), 0);
}

#endif
