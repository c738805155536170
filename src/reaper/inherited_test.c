/*
 * The seat of a holder that did not release it: the next waiter gets it, with USHER_INHERITED. Some
 * endings set the flag and some do not: INHERITED SEATS in usher(3).
 */
#include "mortals.h"

static void a_killed_holders_seat_is_inherited_by_the_next(void)
{
    struct usher_pool *pool = scene_open("kill", 1);
    for (int round = 1; round <= 10; round++) {
        scene_clear();
        pid_t holder = scene_holder(0, "kill");
        pid_t first = scene_waiter(1, "kill", 1);
        pid_t second = scene_waiter(2, "kill", 2);
        EXPECT_EQ(board->seat[0].flags, 0);
        scene_kill(holder);
        UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
        EXPECT_EQ(atomic_load(&board->result[1]), 0);
        EXPECT_EQ(board->seat[1].flags, USHER_INHERITED);
        EXPECT_EQ(scene_info(pool).reaped, (uint64_t)round);
        EXPECT(atomic_load(&board->step[2]) != SCENE_DONE);
        scene_leave(1, first);
        UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
        EXPECT_EQ(board->seat[2].flags, 0); /* a live holder released it */
        scene_leave(2, second);
        struct usher_seat seat = scene_acquire(pool);
        EXPECT_EQ(seat.flags, 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    finish(pool, "kill", 1);
}

static void only_the_seat_of_a_dead_holder_is_inherited(void)
{
    struct usher_pool *pool = scene_open("three", 3);
    struct usher_seat seats[3];
    pid_t holders[3];
    for (int i = 0; i < 3; i++) {
        holders[i] = scene_holder(i, "three");
    }
    scene_kill(holders[1]);
    scene_leave(0, holders[0]);
    scene_leave(2, holders[2]);
    EXPECT_EQ(usher_reap(pool), 1);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            seats[i] = scene_acquire(pool);
            EXPECT_EQ(seats[i].flags,
                      round == 0 && seats[i].number == board->seat[1].number ? USHER_INHERITED : 0);
        }
        for (int i = 0; i < 3; i++) {
            EXPECT_EQ(usher_release(pool, &seats[i]), 0);
        }
    }
    finish(pool, "three", 3);
}

static void acquire_and_exit(void *name)
{
    (void)scene_acquire(scene_open(name, 0));
}

static void a_holder_that_exits_leaves_an_inherited_seat(void)
{
    struct usher_pool *pool = scene_open("exit", 1);
    for (int round = 0; round < 20; round++) {
        scene_in_child(acquire_and_exit, "exit");
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    EXPECT_EQ(scene_info(pool).reaped, 20);
    finish(pool, "exit", 1);
}

/* Any call finds the seat of a dead holder free, even with a deadline in the past. */
static void a_dead_holders_seat_is_acquired_without_waiting(void)
{
    struct timespec past = {1, 0};
    struct usher_pool *pool = scene_open("dead", 1);
    struct usher_seat seat;
    scene_kill(scene_holder(0, "dead"));
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    scene_kill(scene_holder(0, "dead"));
    EXPECT_EQ(usher_acquire_until(pool, &seat, &past), 0);
    EXPECT_EQ(seat.flags, USHER_INHERITED);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(scene_info(pool).gave_up, 0);
    finish(pool, "dead", 1);
}

static void exit_on_command(void *unused)
{
    (void)unused;
    UNTIL(atomic_load(&board->flags[0]) == 1);
}

/* The exit status of a zombie shows whether it ended by itself. After waitpid it is gone. */
static void an_heir_that_was_waited_for_leaves_an_inherited_seat(void)
{
    struct usher_pool *pool = scene_open("heir", 1);
    struct usher_seat seat = scene_acquire(pool);
    for (int waited_for = 0; waited_for < 2; waited_for++) {
        siginfo_t info;
        scene_clear();
        pid_t heir = scene_start(exit_on_command, NULL);
        EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
        atomic_store(&board->flags[0], 1);
        EXPECT_EQ(waitid(P_PID, (id_t)heir, &info, WEXITED | (waited_for ? 0 : WNOWAIT)), 0);
        seat = get_soon(pool);
        EXPECT_EQ(seat.flags, waited_for ? USHER_INHERITED : 0);
        EXPECT(waited_for || scene_end(heir) == 0);
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool, "heir", 1);
}

/* The waiter is stopped, granted the seat, and killed before it has entered. */
static void a_guest_that_dies_before_it_enters_leaves_no_flag(void)
{
    struct usher_pool *pool = scene_open("granted", 1);
    struct usher_guest guest;
    scene_clear();
    pid_t holder = scene_holder(0, "granted");
    pid_t waiter = scene_waiter(1, "granted", 1);
    UNTIL(process_state(waiter) == 'S');
    EXPECT_EQ(kill(waiter, SIGSTOP), 0);
    UNTIL(process_state(waiter) == 'T');
    scene_leave(0, holder);
    EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
    EXPECT_EQ(guest.pid, waiter);
    EXPECT_EQ(guest.position, 0); /* no waiter any more */
    EXPECT_EQ(guest.seat, UINT32_MAX);
    scene_kill(waiter);
    struct usher_seat seat = get_soon(pool);
    EXPECT_EQ(seat.flags, 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(scene_info(pool).reaped, 1);
    finish(pool, "granted", 1);
}

/* A holder that inherits a seat and dies leaves it inherited again. */
static void a_seat_stays_inherited_until_a_holder_releases_it(void)
{
    struct usher_pool *pool = scene_open("again", 1);
    scene_clear();
    for (int round = 0; round < 3; round++) {
        pid_t holder = scene_holder(round, "again");
        EXPECT_EQ(board->seat[round].flags, round > 0 ? USHER_INHERITED : 0);
        scene_kill(holder);
    }
    struct usher_seat seat = get_soon(pool);
    EXPECT_EQ(seat.flags, USHER_INHERITED);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    seat = scene_acquire(pool);
    EXPECT_EQ(seat.flags, 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool, "again", 1);
}

int main(void)
{
    scene_begin();
    RUN(a_killed_holders_seat_is_inherited_by_the_next);
    RUN(only_the_seat_of_a_dead_holder_is_inherited);
    RUN(a_holder_that_exits_leaves_an_inherited_seat);
    RUN(a_dead_holders_seat_is_acquired_without_waiting);
    RUN(an_heir_that_was_waited_for_leaves_an_inherited_seat);
    RUN(a_guest_that_dies_before_it_enters_leaves_no_flag);
    RUN(a_seat_stays_inherited_until_a_holder_releases_it);
    return 0;
}
