/*
 * Pools that are removed or discarded while other processes use them, wait in them, or have died in
 * them. pool_api_test covers what one process sees.
 */
#include "held_up.h"
#include "mortals.h"

#include "pool/pool.h"

#include <pthread.h>

static void a_pool_whose_users_are_dead_can_be_removed(void)
{
    struct usher_pool *pool = scene_open("tomb", 2);
    struct usher_pool *next;
    pid_t holders[2] = {scene_holder(0, "tomb"), scene_holder(1, "tomb")};
    pid_t waiter = scene_waiter(2, "tomb", 1);
    EXPECT_EQ(usher_remove("tomb"), -EBUSY);
    scene_kill(holders[0]);
    scene_kill(holders[1]);
    UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
    EXPECT_EQ(usher_remove("tomb"), -EBUSY);
    scene_kill(waiter);
    EXPECT_EQ(usher_remove("tomb"), 0);
    EXPECT_EQ(usher_open(&next, "tomb", &(struct usher_options){.seats = 7}), 0);
    usher_close(next);
    usher_close(pool);
    EXPECT_EQ(usher_remove("tomb"), 0);
}

static void a_discarded_pool_ends_the_waits_of_other_processes(void)
{
    struct usher_pool *pool = scene_open("discard", 1);
    struct usher_seat seat;
    scene_clear();
    pid_t holder = scene_holder(0, "discard");
    pid_t waiters[4];
    for (int i = 0; i < 4; i++) {
        waiters[i] = scene_waiter(i + 1, "discard", (uint32_t)i + 1);
    }
    EXPECT_EQ(usher_discard("discard"), 0);
    for (int i = 0; i < 4; i++) {
        UNTIL(atomic_load(&board->step[i + 1]) == SCENE_DONE);
        EXPECT_EQ(atomic_load(&board->result[i + 1]), -EIDRM);
        scene_leave(i + 1, waiters[i]);
    }
    struct usher_pool *next = scene_open("discard", 1);
    /* the holder in the old pool keeps its own seat */
    EXPECT_EQ(usher_try_acquire(next, &seat), 0);
    scene_leave(0, holder); /* and can release it */
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EIDRM);
    usher_close(pool);
    usher_close(next);
    EXPECT_EQ(usher_remove("discard"), 0);
}

static void use_any_pool(void *unused)
{
    (void)unused;
    scene_seed ^= (uint64_t)getpid() << 32;
    for (int round = 0; round < 500; round++) {
        struct usher_seat seat;
        struct usher_pool *pool = scene_open("again", 1);
        int error = usher_acquire(pool, &seat);
        if (error == 0) {
            if (atomic_fetch_add(&board->inside, 1) != 0) {
                atomic_fetch_add(&board->most_inside, 1);
            }
            scene_pause_us((long)(scene_random() % 100));
            atomic_fetch_sub(&board->inside, 1);
            EXPECT_EQ(usher_release(pool, &seat), 0);
        } else {
            EXPECT_EQ(error, -EIDRM);
        }
        usher_close(pool);
        scene_pause_us((long)(scene_random() % 500));
    }
}

static void remove_repeatedly(void *unused)
{
    (void)unused;
    while (atomic_load(&board->flags[0]) == 0) {
        int error = usher_remove("again");
        EXPECT(error == 0 || error == -EBUSY || error == -ENOENT);
        atomic_fetch_add(&board->flags[1], error == 0);
    }
}

static void removing_never_makes_two_holders_of_one_seat(void)
{
    pid_t users[3];
    pid_t removers[2];
    scene_clear();
    for (int i = 0; i < 3; i++) {
        users[i] = scene_start(use_any_pool, NULL);
    }
    for (int i = 0; i < 2; i++) {
        removers[i] = scene_start(remove_repeatedly, NULL);
    }
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(scene_end(users[i]), 0);
    }
    atomic_store(&board->flags[0], 1);
    EXPECT_EQ(scene_end(removers[0]), 0);
    EXPECT_EQ(scene_end(removers[1]), 0);
    (void)printf("  removed %d times\n", atomic_load(&board->flags[1]));
    EXPECT_EQ(atomic_load(&board->most_inside), 0);
    (void)usher_remove("again");
}

static void *remove_held_up(void *context)
{
    struct held_up *held_up = context;
    if (held_up_here(held_up)) {
        EXPECT_EQ(usher_remove("slow"), 0);
    }
    held_up_end(held_up);
    return NULL;
}

/* Until the name is gone, no process can create another pool of that name. So a slow remover cannot
   remove the wrong one. */
static void a_slow_remover_removes_no_other_pool(void)
{
    struct held_up remover = {.call = SYS_unlinkat};
    struct usher_pool *pool = scene_open("slow", 1);
    pthread_t thread;
    EXPECT_EQ(pthread_create(&thread, NULL, remove_held_up, &remover), 0);
    if (held_up_begun(&remover)) {
        EXPECT(held_up_now(&remover)); /* before it unlinks the name */
        EXPECT_EQ(atomic_load(&pool->header->removed), FORMAT_GONE);
        EXPECT_EQ(os_locked(pool->fd, POOL_LOCK_REMOVE), 1); /* an opener waits for this lock */
        struct usher_pool *none;
        EXPECT_EQ(usher_open(&none, "slow", NULL), -EBUSY);
        EXPECT_EQ(usher_remove("slow"), -EBUSY);
        EXPECT_EQ(usher_discard("slow"), -EBUSY);
        held_up_no_longer(&remover);
        EXPECT(!held_up_now(&remover));
        struct usher_pool *next = scene_open("slow", 1);
        EXPECT_EQ(os_locked(next->fd, POOL_LOCK_REMOVE), 0);
        finish(next, "slow", 1);
    }
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    usher_close(pool);
}

int main(void)
{
    scene_begin();
    RUN(a_pool_whose_users_are_dead_can_be_removed);
    RUN(a_discarded_pool_ends_the_waits_of_other_processes);
    RUN(removing_never_makes_two_holders_of_one_seat);
    RUN(a_slow_remover_removes_no_other_pool);
    return 0;
}
