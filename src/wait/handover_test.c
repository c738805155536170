/*
 * A seat is made over to another process, or given back, while somebody asks whether its holder
 * lives, and the holder is gone before the answer is there. The answer is about the wrong one,
 * then, and must not count. The process that asks is held up in the middle, in the system call that
 * asks (held_up.h).
 */
#include "held_up.h"
#include "mortals.h"

#include "pool/pool.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

/* flags: 0 the heir; 1 the holder is in; 2 it is to hand over; 3 it has; 4 the result, plus one */
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
        UNTIL(os_locked(asker.pool->fd, POOL_LOCK_ROW) == 0); /* it has */
    }
    do {
        held_up_no_longer(&asker.held_up);
    } while (held_up_now(&asker.held_up));
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT_EQ(atomic_load(&board->flags[4]), 1); /* nobody was reaped */
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

static void an_answer_about_the_giver_says_nothing_of_the_heir(void)
{
    for (enum way way = ENDS; way < WAYS; way++) {
        hand_over_while_asked(way, SYS_pidfd_open, 0, 0);
        hand_over_while_asked(way, SYS_fcntl, UINT32_MAX, F_OFD_GETLK);
    }
}

static void who_has_given_its_seat_back_did_not_die_in_it(void)
{
    hand_over_while_asked(LEAVES, SYS_pidfd_open, 0, 0);
    hand_over_while_asked(LEAVES, SYS_fcntl, UINT32_MAX, F_OFD_GETLK);
}

/* Of several who reap the same guest, or give back what it was assigned, one counts it. */
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
    if (argc > 1 && strcmp(argv[1], "stay") == 0) { /* what an exec leads to */
        stay();
    }
    scene_begin();
    RUN(an_answer_about_the_giver_says_nothing_of_the_heir);
    RUN(who_has_given_its_seat_back_did_not_die_in_it);
    RUN(a_guest_is_counted_once_in_each_cycle);
    return 0;
}
