/*
 * Processes that act on a pool without being guests, in usher_reap and usher_release_for. The file
 * has eight rows for these visitors. If all eight are in use, perhaps by stopped processes, a
 * visitor takes a guest's row. A normal release is never counted as a death.
 */
#include "pool/pool.h"

#include "scene.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUESTS = 4 };

/* Lock all rows of visitors, by an open file description of our own, until it is closed. */
static int occupy(const struct usher_pool *pool)
{
    int fd = open(pool->path, O_RDWR | O_CLOEXEC);
    EXPECT(fd >= 0);
    for (uint32_t v = 0; v < FORMAT_VISITORS; v++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
        lock.l_start = (off_t)POOL_LOCK_ROW + pool->core.rows + v;
        EXPECT_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0);
    }
    return fd;
}

static struct usher_pool *open_small(uint32_t seats)
{
    struct usher_pool *pool;
    struct usher_options options = {.seats = seats, .guests = GUESTS};
    EXPECT_EQ(usher_open(&pool, "visited", &options), 0);
    return pool;
}

static void finish(struct usher_pool *pool)
{
    usher_close(pool);
    EXPECT_EQ(usher_remove("visited"), 0);
}

static void hold(void *unused)
{
    (void)unused;
    (void)scene_acquire(scene_open("visited", 0));
    atomic_store(&board->flags[0], 1);
    for (;;) {
        (void)pause();
    }
}

/* Start a child that holds a seat, and kill it. */
static void leave_a_corpse(void)
{
    scene_clear();
    pid_t child = scene_start(hold, NULL);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    scene_kill(child);
}

static void a_visitor_uses_no_guests_row(void)
{
    struct usher_pool *pool = open_small(1);
    leave_a_corpse();
    uint32_t used = atomic_load(&pool->header->rows_used);
    EXPECT_EQ(usher_reap(pool), 1);
    EXPECT_EQ(usher_reap(pool), 0);
    EXPECT_EQ(atomic_load(&pool->header->rows_used), used);
    EXPECT_EQ(scene_info(pool).guests_used, 0);
    finish(pool);
}

static void a_visitor_without_a_visitors_row_takes_a_guests_row(void)
{
    struct usher_pool *pool = open_small(2);
    struct usher_seat seat;
    int fd = occupy(pool);
    leave_a_corpse();
    EXPECT_EQ(usher_reap(pool), 1);
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_assign(pool, &seat, getpid()), 0);
    EXPECT_EQ(usher_release_for(pool, getpid()), 1);
    EXPECT_EQ(scene_info(pool).free, 2);
    EXPECT_EQ(scene_info(pool).reaped, 1); /* the killed child, and no other */
    EXPECT_EQ(close(fd), 0);
    finish(pool);
}

static void a_visitor_without_any_row_fails_and_changes_nothing(void)
{
    struct usher_pool *pool = open_small(GUESTS);
    struct usher_pool *visitor = scene_open("visited", 0);
    struct usher_seat seats[GUESTS];
    for (int g = 0; g < GUESTS; g++) {
        EXPECT_EQ(usher_acquire(pool, &seats[g]), 0);
    }
    EXPECT_EQ(usher_assign(pool, &seats[0], getpid()), 0);
    int fd = occupy(pool);
    EXPECT_EQ(usher_release_for(visitor, getpid()), -EUSERS);
    EXPECT_EQ(usher_reap(visitor), -EUSERS);
    EXPECT_EQ(scene_info(pool).holders, GUESTS);
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(usher_release_for(visitor, getpid()), 1);
    for (int g = 1; g < GUESTS; g++) {
        EXPECT_EQ(usher_release(pool, &seats[g]), 0);
    }
    usher_close(visitor);
    finish(pool);
}

int main(void)
{
    scene_begin();
    RUN(a_visitor_uses_no_guests_row);
    RUN(a_visitor_without_a_visitors_row_takes_a_guests_row);
    RUN(a_visitor_without_any_row_fails_and_changes_nothing);
    return 0;
}
