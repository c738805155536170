/*
 * A holder assigns or releases its seat and is gone while another process asks the kernel whether
 * it lives. The answer is then about the wrong process and must not count. The asking process is
 * held up in the system call (held_up.h).
 */
#include "held_up.h"
#include "mortals.h"

#include "pool/pool.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

/* flags: 0 the heir; 1 the holder has the seat; 2 hand over now; 3 done; 4 the result, plus one */
enum way { ENDS, CLOSES, EXECS, WAYS, LEAVES };

static void idle(void *unused)
{
    (void)unused;
    stay();
}

static void hold_and_hand_over(void *context)
{
    const enum way *way = context;
    struct usher_pool *pool = scene_open("handover", 0);
    struct usher_seat seat = scene_acquire(pool);
    atomic_store(&board->flags[1], 1);
    UNTIL(atomic_load(&board->flags[2]) == 1);
    if (*way == LEAVES) { /* and ends, with the pool open */
        EXPECT_EQ(usher_release(pool, &seat), 0);
        atomic_store(&board->flags[3], 1);
        return;
    }
    EXPECT_EQ(usher_assign(pool, &seat, (pid_t)atomic_load(&board->flags[0])), 0);
    if (*way == CLOSES) {
        usher_close(pool);
    }
    atomic_store(&board->flags[3], 1);
    if (*way == EXECS) {
        (void)execl("/proc/self/exe", "handover_test", "stay", NULL);
    }
    if (*way == CLOSES) {
        stay();
    }
}

struct asker {
    struct usher_pool *pool;
    struct held_up held_up;
};

static void *ask(void *context)
{
    struct asker *asker = context;
    if (held_up_here(&asker->held_up)) {
        atomic_store(&board->flags[4], usher_reap(asker->pool) + 1);
    }
    held_up_end(&asker->held_up);
    return NULL;
}

static void hand_over_while_asked(enum way way, long call, uint32_t mask, uint32_t value)
{
    struct asker asker = {scene_open("handover", 1), {.call = call, .mask = mask, .value = value}};
    pthread_t thread;
    scene_clear();
    pid_t heir = scene_start(idle, NULL);
    atomic_store(&board->flags[0], heir);
    pid_t holder = scene_start(hold_and_hand_over, &way);
    UNTIL(atomic_load(&board->flags[1]) == 1);
    EXPECT_EQ(pthread_create(&thread, NULL, ask, &asker), 0);
    if (!held_up_begun(&asker.held_up)) {
        exit(77);
    }
    EXPECT(held_up_now(&asker.held_up));
    atomic_store(&board->flags[2], 1);
    UNTIL(atomic_load(&board->flags[3]) == 1);
    if (way == ENDS || way == LEAVES) {
        EXPECT_EQ(scene_end(holder), 0);
    } else if (way == EXECS) {
        UNTIL(os_locked(asker.pool->fd, POOL_LOCK_ROW) == 0); /* it has ended */
    }
    do {
        held_up_no_longer(&asker.held_up);
    } while (held_up_now(&asker.held_up));
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT_EQ(atomic_load(&board->flags[4]), 1); /* no guest was reaped */
    EXPECT_EQ(scene_info(asker.pool).reaped, 0);
    if (way != LEAVES) {
        expect_taken(asker.pool);
        EXPECT_EQ(usher_release_for(asker.pool, heir), 1);
    }
    scene_kill(heir);
    if (way == CLOSES || way == EXECS) {
        scene_kill(holder);
    }
    finish(asker.pool, "handover", 1);
}

static void the_death_of_the_assigner_does_not_reap_the_heir(void)
{
    for (enum way way = ENDS; way < WAYS; way++) {
        hand_over_while_asked(way, SYS_pidfd_open, 0, 0);
        hand_over_while_asked(way, SYS_fcntl, UINT32_MAX, F_OFD_GETLK);
    }
}

static void a_guest_that_released_its_seat_is_not_reaped(void)
{
    hand_over_while_asked(LEAVES, SYS_pidfd_open, 0, 0);
    hand_over_while_asked(LEAVES, SYS_fcntl, UINT32_MAX, F_OFD_GETLK);
}

/* Several processes reap the same guest, or release the seat assigned to it. One of them counts it.
   */
static void a_guest_is_counted_once_in_each_cycle(void)
{
    struct usher_pool *pool = scene_open("handover", 1);
    for (uint32_t cycle = 1; cycle < 4; cycle++) {
        EXPECT(usher__reap_first(pool, 2, cycle));
        EXPECT(!usher__reap_first(pool, 2, cycle));
        EXPECT(!usher__reap_first(pool, 2, cycle));
        EXPECT(usher__reap_first(pool, 3, cycle));
    }
    finish(pool, "handover", 1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "stay") == 0) { /* the program that exec starts */
        stay();
    }
    scene_begin();
    RUN(the_death_of_the_assigner_does_not_reap_the_heir);
    RUN(a_guest_that_released_its_seat_is_not_reaped);
    RUN(a_guest_is_counted_once_in_each_cycle);
    return 0;
}
