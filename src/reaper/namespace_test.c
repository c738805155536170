/*
 * Processes that share a pool across pid namespaces, where one pid can mean several processes. No
 * process is taken for another, or for dead. Needs the right to create a namespace.
 */
#include "mortals.h"
#include "spaces.h"

static void hold_as_process_1(void *context)
{
    const int *i = context;
    struct usher_pool *own = scene_open("space", 0);
    EXPECT_EQ(getpid(), 1);
    EXPECT_EQ(usher_acquire(own, &board->seat[*i]), 0);
    atomic_store(&board->step[*i], SCENE_DONE);
    while (atomic_load(&board->order[*i]) == SCENE_STAY) {
        scene_pause_us(500);
    }
    if (atomic_load(&board->order[*i]) == SCENE_LEAVE) {
        EXPECT_EQ(usher_release(own, &board->seat[*i]), 0);
        usher_close(own);
    }
}

static void a_holder_in_another_namespace_is_alive_until_it_dies(void)
{
    struct usher_pool *pool = scene_open("space", 1);
    struct usher_guest guest;
    int zero = 0;
    if (!space_allowed()) {
        usher_close(pool);
        EXPECT_EQ(usher_remove("space"), 0);
        return;
    }
    for (int round = 0; round < 4; round++) {
        scene_clear();
        pid_t child = space_start(hold_as_process_1, &zero, false);
        UNTIL(atomic_load(&board->step[0]) == SCENE_DONE);
        for (int i = 0; i < 1000; i++) { /* process 1 of our namespace is another one */
            EXPECT_EQ(usher_reap(pool), 0);
        }
        expect_taken(pool);
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        EXPECT_EQ(guest.pid, 0); /* its pid there means another process here */
        EXPECT_EQ(guest.alive, 1);
        pid_t waiter = scene_waiter(1, "space", 1);
        if (round % 2 == 0) {
            atomic_store(&board->order[0], SCENE_LEAVE);
            EXPECT_EQ(scene_end(child), 0);
        } else {
            scene_kill(child); /* process 1, its child, dies with it */
        }
        UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
        EXPECT_EQ(board->seat[1].flags, round % 2 == 0 ? 0 : USHER_INHERITED);
        scene_leave(1, waiter);
    }
    finish(pool, "space", 1);
}

/* Process 1 of a namespace, and process 2: look at a holder that is process 1 of another namespace,
   then hold and die beside it. */
static void hold_and_be_killed(void *unused)
{
    (void)unused;
    (void)scene_acquire(scene_open("space", 0));
    (void)raise(SIGKILL);
}

static void collide(void *unused)
{
    (void)unused;
    EXPECT_EQ(getpid(), 1);
    EXPECT_EQ(scene_end(scene_start(hold_and_be_killed, NULL)), SIGKILL); /* process 2 */
    struct usher_pool *own = scene_open("space", 0);
    EXPECT_EQ(usher_reap(own), 1);
    for (int i = 0; i < 300; i++) {
        EXPECT_EQ(usher_reap(own), 0);
    }
    EXPECT_EQ(scene_info(own).holders, 2);
    struct usher_seat seat = scene_acquire(own);
    EXPECT_EQ(seat.flags, USHER_INHERITED);
    struct usher_seat other;
    EXPECT_EQ(usher_try_acquire(own, &other), -EAGAIN);
    (void)raise(SIGKILL); /* process 1 ignores it */
    _exit(0);             /* while it holds the seat */
}

static void guests_with_the_same_pid_are_not_confused(void)
{
    int zero = 0;
    int one = 1;
    struct usher_pool *pool = scene_open("space", 3);
    if (!space_allowed()) {
        usher_close(pool);
        EXPECT_EQ(usher_remove("space"), 0);
        return;
    }
    scene_clear();
    pid_t first = space_start(hold_as_process_1, &zero, false);
    pid_t second = space_start(hold_as_process_1, &one, false);
    UNTIL(atomic_load(&board->step[0]) == SCENE_DONE && atomic_load(&board->step[1]) == SCENE_DONE);
    for (int round = 0; round < 10; round++) {
        pid_t third = space_start(collide, NULL, false);
        EXPECT_EQ(scene_end(third), 0);
        EXPECT_EQ(usher_reap(pool), 1);
        for (int i = 0; i < 200; i++) {
            EXPECT_EQ(usher_reap(pool), 0);
        }
        struct usher_seat seat = scene_acquire(pool);
        EXPECT(seat.number != board->seat[0].number && seat.number != board->seat[1].number);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    atomic_store(&board->order[0], SCENE_LEAVE);
    EXPECT_EQ(scene_end(first), 0);
    scene_kill(second);
    UNTIL(usher_reap(pool) == 1);
    EXPECT_EQ(scene_info(pool).reaped, 21);
    finish(pool, "space", 3);
}

/* A holder that has a child, flags[2], and is killed. */
static void hold_and_fork(void *unused)
{
    (void)unused;
    (void)scene_acquire(scene_open("outside", 0));
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        atomic_store(&board->flags[2], 1);
        stay();
    }
    stay();
}

static void leave_a_child(void *unused)
{
    (void)unused;
    pid_t holder = scene_start(hold_and_fork, NULL);
    UNTIL(atomic_load(&board->flags[1]) == 1);
    scene_kill(holder);
    atomic_store(&board->flags[0], 1);
    stay();
}

/* From outside only the lock shows the death. The child must not have inherited it. */
static void from_outside_a_child_is_not_taken_for_its_parent(void)
{
    if (!space_allowed()) {
        return;
    }
    struct usher_pool *pool = scene_open("outside", 1);
    scene_clear();
    pid_t container = space_start(leave_a_child, NULL, true);
    UNTIL(atomic_load(&board->flags[2]) == 1);
    expect_taken(pool);
    atomic_store(&board->flags[1], 1);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    EXPECT_EQ(usher_reap(pool), 1);
    scene_kill(container); /* the child dies with it */
    finish(pool, "outside", 1);
}

/* In a container with its own /proc: assign the seat to a child. `context`: the flags of the pool.
   told[0] SCENE_LEAVE: give the child's seat back. */
static void idle(void *unused)
{
    (void)unused;
    stay();
}

static void assign_inside(void *context)
{
    const unsigned *flags = context;
    struct usher_pool *pool;
    EXPECT_EQ(usher_open(&pool, "kept", &(struct usher_options){.flags = *flags}), 0);
    struct usher_seat seat = scene_acquire(pool);
    pid_t heir = scene_start(idle, NULL);
    EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
    atomic_store(&board->flags[1], heir);
    atomic_store(&board->flags[0], 1);
    UNTIL(atomic_load(&board->order[0]) == SCENE_LEAVE);
    struct usher_pool *other = scene_open("kept", 0);
    EXPECT_EQ(usher_release_for(other, heir),
              1); /* its keeper has the lock, and does not guard it */
    stay();
}

static pid_t start_assigning(unsigned *flags)
{
    scene_clear();
    pid_t container = space_start(assign_inside, flags, true);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    return container;
}

static void a_container_that_ends_with_an_assigned_seat_and_its_keeper_leaves_the_seat(void)
{
    unsigned keeper = USHER_KEEPER;
    struct usher_guest guest;
    struct usher_pool *pool = scene_open("kept", 1);
    for (int round = 0; round < 3; round++) {
        pid_t container = start_assigning(&keeper);
        for (int i = 0; i < 100; i++) {
            EXPECT_EQ(usher_reap(pool), 0);
        }
        expect_taken(pool);
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        EXPECT_EQ(guest.alive, 1);
        EXPECT_EQ(guest.pid, 0);
        EXPECT_EQ(guest.pid_there, (pid_t)atomic_load(&board->flags[1]));
        if (round == 2) {
            atomic_store(&board->order[0], SCENE_LEAVE);
            struct usher_seat seat = get_soon(pool);
            EXPECT_EQ(seat.flags, 0);
            EXPECT_EQ(usher_release(pool, &seat), 0);
            scene_kill(container);
            continue;
        }
        pid_t waiter = scene_waiter(1, "kept", 1);
        scene_kill(container);
        UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
        EXPECT_EQ(board->seat[1].flags, USHER_INHERITED);
        scene_leave(1, waiter);
    }
    finish(pool, "kept", 1);
}

/* Nothing proves the death of a holder that has neither a lock nor a pid here. */
static void without_a_keeper_nobody_outside_knows_about_an_assigned_seat(void)
{
    unsigned none = 0;
    struct usher_guest guest;
    struct usher_pool *pool = scene_open("kept", 1);
    pid_t container = start_assigning(&none);
    for (int dead = 0; dead < 2; dead++) {
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        EXPECT_EQ(guest.alive, -1);
        EXPECT_EQ(guest.pid, 0);
        EXPECT(guest.pid_namespace != 0);
        expect_taken(pool);
        if (dead == 0) {
            scene_kill(container);
        }
    }
    usher_close(pool);
    EXPECT_EQ(usher_discard("kept"), 0);
}

int main(void)
{
    scene_begin();
    RUN(a_holder_in_another_namespace_is_alive_until_it_dies);
    RUN(guests_with_the_same_pid_are_not_confused);
    RUN(from_outside_a_child_is_not_taken_for_its_parent);
    if (space_allowed()) {
        RUN(a_container_that_ends_with_an_assigned_seat_and_its_keeper_leaves_the_seat);
        RUN(without_a_keeper_nobody_outside_knows_about_an_assigned_seat);
    }
    return 0;
}
