/*
 * Processes that share a pool and are killed, end, are stopped or become zombies. The library finds
 * every dead one, also on an old kernel and without descriptors. It never takes a live one for
 * dead, and the other guests lose nothing. inherited_test covers the seats of the dead, fork_test
 * fork and exec, namespace_test other pid namespaces.
 */
#include "mortals.h"

#include <sys/resource.h>
#include <sys/syscall.h>

static void a_zombie_is_dead(void)
{
    struct usher_pool *pool = scene_open("zombie", 1);
    struct usher_guest guest;
    for (int round = 0; round < 5; round++) {
        pid_t holder = scene_holder(0, "zombie");
        kill_to_zombie(holder);
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1); /* inspecting changes nothing */
        EXPECT_EQ(guest.pid, holder);
        EXPECT_EQ(guest.alive, 0);
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        if (round % 2 == 0) {
            EXPECT_EQ(usher_reap(pool), 1);
            EXPECT_EQ(usher_reap(pool), 0);
            EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 0);
        }
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(scene_end(holder), SIGKILL);
    }
    finish(pool, "zombie", 1);
}

static void a_stopped_process_keeps_its_seat_and_delays_no_other(void)
{
    struct usher_pool *pool = scene_open("stop", 2);
    pid_t stopped = scene_holder(0, "stop");
    pid_t holder = scene_holder(1, "stop");
    pid_t waiter = scene_waiter(2, "stop", 1);
    pid_t next = scene_waiter(3, "stop", 2);
    struct timespec soon = scene_in_ms(400);
    struct usher_seat seat;
    EXPECT_EQ(kill(stopped, SIGSTOP), 0);
    EXPECT_EQ(kill(waiter, SIGSTOP), 0);
    /* many scans have passed by now */
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ETIMEDOUT);
    EXPECT_EQ(usher_reap(pool), 0);
    EXPECT_EQ(scene_info(pool).holders, 2);
    scene_leave(1, holder); /* the stopped waiter is granted its seat, and keeps it */
    soon = scene_in_ms(400);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ETIMEDOUT);
    EXPECT(atomic_load(&board->step[3]) != SCENE_DONE);
    /* the third seat goes to a waiter behind the stopped ones */
    EXPECT_EQ(usher_resize(pool, 3), 0);
    UNTIL(atomic_load(&board->step[3]) == SCENE_DONE);
    EXPECT_EQ(kill(stopped, SIGCONT), 0);
    EXPECT_EQ(kill(waiter, SIGCONT), 0);
    UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
    scene_leave(0, stopped);
    scene_leave(2, waiter);
    scene_leave(3, next);
    EXPECT_EQ(scene_info(pool).reaped, 0);
    finish(pool, "stop", 3);
}

static void dead_waiters_are_skipped_and_the_order_stays(void)
{
    enum { LINE = 24 };
    struct usher_pool *pool = scene_open("line", 1);
    struct usher_seat seat = scene_acquire(pool);
    pid_t waiters[LINE];
    int last = 0;
    unsigned dead = 0;
    scene_clear();
    for (int i = 0; i < LINE; i++) {
        waiters[i] = scene_waiter(i, "line", (uint32_t)i + 1);
    }
    for (int i = 0; i < LINE; i++) { /* single ones, neighbours, the first and the last */
        if (i < 3 || i % 5 == 0 || i == LINE - 1) {
            scene_kill(waiters[i]);
            waiters[i] = 0;
            dead++;
        }
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < LINE; i++) {
        if (waiters[i] != 0) {
            UNTIL(atomic_load(&board->step[i]) == SCENE_DONE);
            EXPECT(atomic_load(&board->turn[i]) == ++last);
            EXPECT_EQ(board->seat[i].flags, 0); /* no holder died */
            scene_leave(i, waiters[i]);
        }
    }
    EXPECT(usher_reap(pool) >= 0);
    EXPECT_EQ(scene_info(pool).reaped, dead);
    EXPECT_EQ(scene_info(pool).waiters, 0);
    finish(pool, "line", 1);
}

static void fill_and_stay(void *context)
{
    struct usher_pool *pool = scene_open("full", 0);
    struct usher_seat seat;
    (void)context;
    for (int i = 0; i < 5; i++) {
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
    }
    atomic_store(&board->flags[0], 1);
    EXPECT_EQ(usher_acquire(pool, &seat), 0); /* waits for ever, in the last row */
    EXPECT(false);
}

static void a_table_full_of_dead_guests_has_room(void)
{
    struct usher_options options = {.seats = 5, .guests = 6};
    struct usher_pool *pool;
    struct usher_seat seat;
    EXPECT_EQ(usher_open(&pool, "full", &options), 0);
    for (int round = 0; round < 10; round++) {
        scene_clear();
        pid_t child = scene_start(fill_and_stay, NULL);
        UNTIL(atomic_load(&board->flags[0]) == 1 && scene_info(pool).waiters == 1);
        EXPECT_EQ(usher_try_acquire(pool, &seat), -EUSERS);
        EXPECT_EQ(usher_acquire(pool, &seat), -EUSERS);
        if (round % 2 == 0) {
            scene_kill(child);
        } else {
            kill_to_zombie(child);
        }
        EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT(round % 2 == 0 || scene_end(child) == SIGKILL);
        usher_close(pool); /* so that the next round has all six rows */
        EXPECT_EQ(usher_open(&pool, "full", &options), 0);
    }
    finish(pool, "full", 5);
}

/* All guests of a large pool have died. Work that is left to do there is not done in a small pool,
   which has no such rows. */
static void hold_99_and_wait(void *unused)
{
    struct usher_pool *pool = scene_open("large", 0);
    struct usher_seat seat;
    (void)unused;
    for (int i = 0; i < 99; i++) {
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
    }
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
}

static void pending_work_of_one_pool_is_not_done_in_another(void)
{
    struct usher_options options = {.seats = 99, .guests = 100};
    struct usher_pool *large;
    struct usher_pool *small;
    struct usher_seat seat;
    EXPECT_EQ(usher_open(&large, "large", &options), 0);
    options = (struct usher_options){.seats = 1, .guests = 1};
    EXPECT_EQ(usher_open(&small, "small", &options), 0);
    scene_fence(small);
    for (int round = 0; round < 3; round++) {
        pid_t child = scene_start(hold_99_and_wait, NULL);
        UNTIL(scene_info(large).waiters == 1);
        UNTIL(process_state(child) == 'S');
        scene_kill(child);
        EXPECT_EQ(usher_resize(large, 99),
                  0); /* takes a row from the dead, and does nothing else */
        EXPECT_EQ(usher_try_acquire(small, &seat), 0);
        EXPECT_EQ(usher_release(small, &seat), 0);
        EXPECT(usher_reap(large) >= 0);
        EXPECT_EQ(scene_info(large).free, 99);
        usher_close(large);
        EXPECT_EQ(usher_open(&large, "large", NULL), 0);
    }
    usher_close(large);
    EXPECT_EQ(usher_discard("large"), 0);
    finish(small, "small", 1);
}

static void inspecting_shows_the_processes_and_counts_what_they_did(void)
{
    struct usher_pool *pool = scene_open("look", 2);
    struct usher_guest guests[8];
    struct usher_info info;
    scene_clear();
    pid_t holders[2] = {scene_holder(0, "look"), scene_holder(1, "look")};
    pid_t waiters[3];
    for (int i = 0; i < 3; i++) {
        waiters[i] = scene_waiter(i + 2, "look", (uint32_t)i + 1);
    }
    do { /* a waiter records its time as soon as it waits */
        EXPECT_EQ(usher_inspect(pool, &info, guests, 8), 5);
    } while (guests[2].since_ns == 0 || guests[3].since_ns == 0 || guests[4].since_ns == 0);
    EXPECT_EQ(guests[board->seat[0].number].pid, holders[0]);
    EXPECT_EQ(guests[board->seat[1].number].pid, holders[1]);
    EXPECT_EQ(guests[0].ticket, board->seat[board->seat[0].number == 0 ? 0 : 1].ticket);
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(guests[2 + i].pid, waiters[i]);
        EXPECT_EQ(guests[2 + i].position, i + 1);
        EXPECT_EQ(guests[2 + i].seat, UINT32_MAX);
        EXPECT(guests[2 + i].since_ns > 0 && guests[2 + i].since_ns <= scene_now_ns());
    }
    for (int i = 0; i < 5; i++) {
        EXPECT_EQ(guests[i].alive, 1);
    }
    EXPECT_EQ(info.guests_used, 5);
    scene_kill(waiters[1]);
    /* it is dead; or another waiter is reaping it, and then `alive` is unknown */
    EXPECT(usher_inspect(pool, &info, guests, 8) == 4 || guests[3].alive != 1);
    UNTIL(usher_reap(pool) >= 0 && scene_info(pool).reaped == 1); /* we reap it, or a waiter does */
    EXPECT_EQ(usher_inspect(pool, &info, guests, 8), 4);
    EXPECT_EQ(guests[3].pid, waiters[2]);
    EXPECT_EQ(guests[3].position, 2);
    scene_leave(0, holders[0]);
    UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
    scene_leave(2, waiters[0]);
    UNTIL(atomic_load(&board->step[4]) == SCENE_DONE);
    scene_kill(holders[1]);
    EXPECT_EQ(usher_reap(pool), 1);
    scene_leave(4, waiters[2]);
    struct usher_seat both[2] = {scene_acquire(pool), scene_acquire(pool)};
    struct usher_seat seat;
    EXPECT_EQ(usher_acquire_until(pool, &seat, &(struct timespec){0, 0}), -ETIMEDOUT);
    EXPECT_EQ(usher_release(pool, &both[0]), 0);
    EXPECT_EQ(usher_release(pool, &both[1]), 0);
    info = scene_info(pool);
    EXPECT_EQ(info.served, 5); /* two dead holders, three that left, two of ours */
    EXPECT_EQ(info.reaped, 2);
    EXPECT_EQ(info.gave_up, 1);
    finish(pool, "look", 2);
}

static void idle(void *unused)
{
    (void)unused;
    stay();
}

/* A kernel that has no pidfd: then /proc tells. */
static void without_pidfds(void *unused)
{
    struct usher_seat seat;
    (void)unused;
    if (!scene_refuse(SYS_pidfd_open, -1, 0, 0, ENOSYS)) {
        return;
    }
    struct usher_pool *pool = scene_open("old", 1);
    for (int round = 0; round < 3; round++) {
        pid_t holder = scene_holder(0, "old");
        for (int i = 0; i < 10; i++) {
            expect_taken(pool);
        }
        scene_kill(holder);
        seat = get_soon(pool);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        pid_t heir = scene_start(idle, NULL);
        EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
        expect_taken(pool);
        if (round == 0) {
            scene_kill(heir);
        } else {
            kill_to_zombie(heir);
        }
        seat = get_soon(pool);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT(round == 0 || scene_end(heir) == SIGKILL);
    }
    usher_close(pool);
}

static void a_kernel_without_pidfds_is_enough(void)
{
    struct usher_pool *pool = scene_open("old", 1);
    scene_in_child(without_pidfds, NULL);
    finish(pool, "old", 1);
}

static void without_descriptors(void *unused)
{
    struct usher_pool *pool = scene_open("poor", 0);
    struct usher_seat seat;
    struct rlimit none = {0, 64};
    pid_t holder = (pid_t)atomic_load(&board->flags[0]);
    (void)unused;
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    none.rlim_cur = 0;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_EQ(usher_assign(pool, &seat, getppid()), -EMFILE);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    seat = scene_acquire(pool);
    for (int i = 0; i < 10; i++) { /* a process that cannot tell reports nobody dead */
        expect_taken(pool);
    }
    EXPECT_EQ(kill(holder, SIGKILL), 0);
    atomic_store(&board->flags[1], 1);
    seat = get_soon(pool); /* the lock shows the death */
    EXPECT_EQ(seat.flags, USHER_INHERITED);
}

static void without_descriptors_no_live_guest_is_reaped(void)
{
    struct usher_pool *pool = scene_open("poor", 2);
    scene_clear();
    pid_t holder = scene_holder(0, "poor");
    atomic_store(&board->flags[0], holder);
    pid_t child = scene_start(without_descriptors, NULL);
    EXPECT_EQ(scene_end(child), 0);
    EXPECT_EQ(scene_end(holder), SIGKILL);
    finish(pool, "poor", 2);
}

static void waiting_leaves_no_descriptors_open(void)
{
    struct usher_pool *pool = scene_open("watch", 1);
    struct usher_seat seat;
    pid_t holder = scene_holder(0, "watch");
    int before = scene_descriptors();
    for (int round = 0; round < 3; round++) {
        struct timespec soon = scene_in_ms(200);
        EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ETIMEDOUT);
        EXPECT_EQ(scene_descriptors(), before);
    }
    scene_leave(0, holder);
    finish(pool, "watch", 1);
}

int main(void)
{
    scene_begin();
    RUN(a_zombie_is_dead);
    RUN(a_stopped_process_keeps_its_seat_and_delays_no_other);
    RUN(dead_waiters_are_skipped_and_the_order_stays);
    RUN(a_table_full_of_dead_guests_has_room);
    RUN(pending_work_of_one_pool_is_not_done_in_another);
    RUN(inspecting_shows_the_processes_and_counts_what_they_did);
    RUN(a_kernel_without_pidfds_is_enough);
    RUN(without_descriptors_no_live_guest_is_reaped);
    RUN(waiting_leaves_no_descriptors_open);
    return 0;
}
