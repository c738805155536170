/*
 * Helpers for tests with processes that die: ways to hold and to die, and what the pool then shows.
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

/* Body of a child that acquires, releases and ends. */
static inline void come_and_go(void *name)
{
    struct usher_pool *own = scene_open(name, 0);
    struct usher_seat seat = scene_acquire(own);
    EXPECT_EQ(usher_release(own, &seat), 0);
    usher_close(own);
}

/* Kill a process with SIGKILL without waiting for it: it becomes a zombie. */
static inline void kill_to_zombie(pid_t child)
{
    siginfo_t info;
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

/* Acquire a seat that is free, or becomes free when a scan finds its dead holder. */
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
