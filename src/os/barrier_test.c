/*
 * A thread that releases the seat of another needs a barrier in all threads (release.c). The kernel
 * may refuse it at any time. Then the seat stays held and the caller gets an error.
 */
#include "pool/pool.h"
#include "sitters.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>

struct thief {
    struct usher_pool *pool;
    struct usher_seat seat;
    int result;
};

static void *release_it(void *context)
{
    struct thief *thief = context;
    thief->result = usher_release(thief->pool, &thief->seat);
    return NULL;
}

static int release_elsewhere(struct usher_pool *pool, const struct usher_seat *seat)
{
    struct thief thief = {pool, *seat, 0};
    join(start(release_it, &thief));
    return thief.result;
}

static void refuse(uint32_t command)
{
    EXPECT(scene_refuse(SYS_membarrier, 0, UINT32_MAX, command, EPERM));
}

/* After the thread has its row: it did not use the mutex from the beginning. */
static void without_any_barrier(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("barrier", 1);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT(os_has_barrier());
    refuse(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    refuse(MEMBARRIER_CMD_GLOBAL);
    int result = release_elsewhere(pool, &seat);
    (void)printf("  without a barrier the other thread's release says %d\n", result);
    EXPECT(result < 0);
    EXPECT_EQ(scene_info(pool).holders, 1);
    EXPECT_EQ(usher_release(pool, &seat), 0); /* the seat was still held */
    EXPECT_EQ(scene_info(pool).holders, 0);
    /* From now on the thread uses the mutex, and no barrier is needed. */
    for (int round = 0; round < 3; round++) {
        seat = scene_acquire(pool);
        EXPECT_EQ(release_elsewhere(pool, &seat), 0);
        EXPECT_EQ(usher_release(pool, &seat), -EPERM);
        seat = scene_acquire(pool);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(release_elsewhere(pool, &seat), -EPERM);
    }
    usher_close(pool);
}

static void with_the_slow_barrier(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("barrier", 1);
    struct usher_seat seat = scene_acquire(pool);
    refuse(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    EXPECT_EQ(release_elsewhere(pool, &seat), 0);
    EXPECT_EQ(usher_release(pool, &seat), -EPERM);
    usher_close(pool);
}

static void the_seat_stays_held_if_the_kernel_refuses_the_barrier(void)
{
    struct usher_pool *own = scene_open("barrier", 1);
    scene_in_child(without_any_barrier, NULL);
    scene_in_child(with_the_slow_barrier, NULL);
    usher_close(own);
    scene_expect_whole("barrier", 1);
    EXPECT_EQ(usher_remove("barrier"), 0);
}

int main(void)
{
    scene_begin();
    RUN(the_seat_stays_held_if_the_kernel_refuses_the_barrier);
    return 0;
}
