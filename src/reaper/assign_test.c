/*
 * Seats that are assigned to another process, the heir: usher_assign, usher_release_for. The seat
 * stays held until the heir ends or any process releases it, whether the process that acquired it
 * lives or not.
 */
#include "mortals.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

static void idle(void *unused)
{
    (void)unused;
    stay();
}

/* Acquire, assign to the process flags[0], and end in one of four ways. */
static void acquire_and_assign(void *context)
{
    const int *way = context;
    struct usher_pool *pool;
    struct usher_options options = {.flags = *way == 3 ? USHER_KEEP : 0};
    pid_t heir = (pid_t)atomic_load(&board->flags[0]);
    EXPECT_EQ(usher_open(&pool, "assign", &options), 0);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
    EXPECT_EQ(usher_release(pool, &seat), -EPERM);
    EXPECT_EQ(usher_assign(pool, &seat, heir), -EPERM);
    if (*way == 1) {
        usher_close(pool);
    }
    if (*way == 2) {
        (void)raise(SIGKILL);
    }
}

static void an_assigned_seat_stays_until_that_process_ends(void)
{
    struct usher_pool *pool = scene_open("assign", 1);
    struct usher_guest guest;
    for (int way = 0; way < 4;
         way++) { /* ends; closes and ends; is killed; ends, with USHER_KEEP */
        scene_clear();
        pid_t heir = scene_start(idle, NULL);
        atomic_store(&board->flags[0], heir);
        EXPECT_EQ(scene_end(scene_start(acquire_and_assign, &way)), way == 2 ? SIGKILL : 0);
        for (int i = 0; i < 10; i++) {
            expect_taken(pool);
        }
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        EXPECT_EQ(guest.pid, heir);
        EXPECT_EQ(guest.alive, 1);
        kill_to_zombie(heir);
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(scene_end(heir), SIGKILL);
    }
    finish(pool, "assign", 1);
}

/* The process that assigned the seat has ended, so the row's lock is gone. The row is still not
   free, even if the table is full. */
static void the_row_of_a_live_heir_is_not_free(void)
{
    struct usher_options options = {.seats = 1, .guests = 1};
    struct usher_pool *pool;
    struct usher_seat seat;
    int way = 0;
    scene_clear();
    EXPECT_EQ(usher_open(&pool, "assign", &options), 0);
    pid_t heir = scene_start(idle, NULL);
    atomic_store(&board->flags[0], heir);
    scene_in_child(acquire_and_assign, &way);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EUSERS);
    EXPECT_EQ(scene_info(pool).holders, 1);
    EXPECT_EQ(scene_info(pool).reaped, 0);
    scene_kill(heir);
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    EXPECT_EQ(seat.flags, USHER_INHERITED);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool, "assign", 1);
}

static void end_on_command(void *unused)
{
    (void)unused;
    UNTIL(atomic_load(&board->order[0]) == SCENE_LEAVE);
}

/* A command ends before its wrapper has called waitpid. */
static void an_heir_that_exits_has_released_its_seat(void)
{
    struct usher_pool *pool = scene_open("assign", 1);
    struct usher_seat seat = scene_acquire(pool);
    siginfo_t info;
    pid_t heir = scene_start(idle, NULL);
    EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
    scene_kill(heir);
    seat = get_soon(pool);
    EXPECT_EQ(seat.flags, USHER_INHERITED); /* the first heir was killed */
    EXPECT_EQ(scene_info(pool).reaped, 1);
    scene_clear();
    heir = scene_start(end_on_command, NULL);
    EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
    atomic_store(&board->order[0], SCENE_LEAVE);
    EXPECT_EQ(waitid(P_PID, (id_t)heir, &info, WEXITED | WNOWAIT), 0);
    seat = get_soon(pool);
    EXPECT_EQ(seat.flags, 0);
    EXPECT_EQ(scene_info(pool).reaped, 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(scene_end(heir), 0);
    finish(pool, "assign", 1);
}

static void release_for_the_heir(void *unused)
{
    (void)unused;
    struct usher_pool *own = scene_open("assign", 0);
    EXPECT_EQ(usher_release_for(own, getpid()), 0);
    EXPECT_EQ(usher_release_for(own, 0), 0);
    EXPECT_EQ(usher_release_for(own, -1), 0);
    EXPECT_EQ(usher_release_for(own, INT_MIN), 0);
    EXPECT_EQ(usher_release_for(own, (pid_t)atomic_load(&board->flags[0])), 2);
    EXPECT_EQ(usher_release_for(own, (pid_t)atomic_load(&board->flags[0])), 0);
    usher_close(own);
}

static void any_process_may_release_an_assigned_seat(void)
{
    struct usher_pool *pool = scene_open("assign", 3);
    pid_t heir = scene_start(idle, NULL);
    struct usher_seat seats[3];
    uint64_t used = 0;
    scene_clear();
    atomic_store(&board->flags[0], heir);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 3; i++) {
            seats[i] = scene_acquire(pool);
            EXPECT_EQ(seats[i].flags, 0); /* released: no process died */
        }
        EXPECT_EQ(usher_assign(pool, &seats[0], heir), 0);
        EXPECT_EQ(usher_assign(pool, &seats[2], heir), 0);
        scene_in_child(release_for_the_heir, NULL);
        EXPECT_EQ(usher_release(pool, &seats[0]), -EPERM);
        EXPECT_EQ(scene_info(pool).free, 2);
        EXPECT_EQ(usher_release(pool, &seats[1]), 0);
        used = round == 0 ? scene_info(pool).guests_used : used;
        EXPECT_EQ(scene_info(pool).guests_used, used); /* their rows are ours again */
    }
    EXPECT_EQ(scene_info(pool).served, 60);
    EXPECT_EQ(scene_info(pool).reaped, 0);
    /* The process that assigned the seats releases them, while others wait. */
    struct usher_seat last[3] = {scene_acquire(pool), scene_acquire(pool), scene_acquire(pool)};
    EXPECT_EQ(usher_assign(pool, &last[1], heir), 0);
    pid_t waiter = scene_waiter(1, "assign", 1);
    EXPECT_EQ(usher_release_for(pool, heir), 1);
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    EXPECT_EQ(board->seat[1].number, last[1].number);
    scene_leave(1, waiter);
    scene_kill(heir);
    finish(pool, "assign", 3);
}

static void *be_a_thread(void *unused)
{
    (void)unused;
    atomic_store(&board->flags[2], (int)syscall(SYS_gettid));
    while (atomic_load(&board->flags[3]) == 0) {
        scene_pause_us(500);
    }
    return NULL;
}

static void a_seat_is_assigned_to_live_processes_only(void)
{
    struct usher_pool *pool = scene_open("assign", 1);
    struct usher_seat seat = scene_acquire(pool);
    struct usher_seat copy = seat;
    pthread_t thread;
    pid_t gone = scene_start(come_and_go, "other"); /* a process that ends; it uses another pool */
    EXPECT_EQ(scene_end(gone), 0);
    scene_clear();
    EXPECT_EQ(usher_assign(pool, &seat, gone), -ESRCH);
    EXPECT_EQ(usher_assign(pool, &seat, 0), -EINVAL);
    EXPECT_EQ(usher_assign(pool, &seat, -1), -EINVAL);
    EXPECT_EQ(usher_assign(pool, &seat, INT_MIN), -EINVAL);
    EXPECT_EQ(usher_assign(pool, &seat, INT_MAX), -ESRCH);
    EXPECT_EQ(pthread_create(&thread, NULL, be_a_thread, NULL), 0);
    UNTIL(atomic_load(&board->flags[2]) != 0);
    int error = usher_assign(pool, &seat, (pid_t)atomic_load(&board->flags[2]));
    EXPECT(error == -ESRCH || error == -EINVAL); /* a thread is not a process */
    atomic_store(&board->flags[3], 1);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    pid_t zombie = scene_start(idle, NULL);
    kill_to_zombie(zombie);
    EXPECT_EQ(usher_assign(pool, &seat, zombie), -ESRCH); /* the heir must be alive */
    EXPECT_EQ(scene_end(zombie), SIGKILL);
    copy.request++;
    EXPECT_EQ(usher_assign(pool, &copy, getppid()), -EPERM);
    EXPECT_EQ(scene_info(pool).holders, 1); /* we still hold the seat */
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_assign(pool, &seat, getppid()), -EPERM);
    /* Assign the seat to ourselves: it stays held until we end or call usher_release_for. */
    usher_close(pool);
    for (unsigned keep = 0; keep <= USHER_KEEP; keep += USHER_KEEP) {
        struct usher_options options = {.flags = keep};
        EXPECT_EQ(usher_open(&pool, "assign", &options), 0);
        seat = scene_acquire(pool);
        EXPECT_EQ(usher_assign(pool, &seat, getpid()), 0);
        expect_taken(pool);
        usher_close(pool);
        pool = scene_open("assign", 1);
        expect_taken(pool);
        EXPECT_EQ(usher_release_for(pool, getpid()), 1);
        usher_close(pool);
    }
    pool = scene_open("assign", 1);
    finish(pool, "assign", 1);
}

static void one_of_several_assigned_seats_can_be_given_back(void)
{
    struct usher_pool *pool = scene_open("one", 3);
    struct usher_pool *other = scene_open("one", 3);
    pid_t heir = scene_start(idle, NULL);
    for (int round = 0; round < 3; round++) {
        struct usher_seat seats[3] = {scene_acquire(pool), scene_acquire(pool),
                                      scene_acquire(pool)};
        EXPECT_EQ(usher_release_assigned(pool, &seats[0]), -EPERM); /* it is ours */
        for (int s = 0; s < 3; s++) {
            EXPECT_EQ(usher_assign(pool, &seats[s], heir), 0);
        }
        EXPECT_EQ(usher_release_assigned(other, &seats[1]), -EPERM);
        EXPECT_EQ(usher_release_assigned(pool, &seats[1]), 0);
        EXPECT_EQ(usher_release_assigned(pool, &seats[1]), -EPERM);
        EXPECT_EQ(scene_info(pool).free, 1);
        struct usher_seat again = scene_acquire(pool);
        EXPECT_EQ(again.number, seats[1].number);
        EXPECT_EQ(again.flags, 0);
        EXPECT_EQ(usher_assign(pool, &again, heir), 0);
        EXPECT_EQ(usher_release_assigned(pool, &seats[1]), -EPERM); /* another request */
        EXPECT_EQ(usher_release_for(pool, heir), 3);
        EXPECT_EQ(usher_release_assigned(pool, &seats[0]), -EPERM);
    }
    EXPECT_EQ(scene_info(pool).reaped, 0);
    scene_kill(heir);
    usher_close(other);
    finish(pool, "one", 3);
}

static void compete_to_release(void *unused)
{
    (void)unused;
    struct usher_pool *own = scene_open("compete", 0);
    for (int round = 1; round <= 200; round++) {
        while (atomic_load(&board->flags[1]) < round) {
            (void)sched_yield();
        }
        int released = usher_release_for(own, (pid_t)atomic_load(&board->flags[0]));
        EXPECT(released >= 0);
        atomic_fetch_add(&board->flags[2], released);
        atomic_fetch_add(&board->flags[3], 1);
    }
    usher_close(own);
}

static void a_seat_released_by_several_is_counted_once(void)
{
    struct usher_pool *pool = scene_open("compete", 2);
    scene_clear();
    atomic_store(&board->flags[0], getppid());
    pid_t children[3];
    for (int c = 0; c < 3; c++) {
        children[c] = scene_start(compete_to_release, NULL);
    }
    for (int round = 1; round <= 200; round++) {
        for (int i = 0; i < 2; i++) {
            struct usher_seat seat = scene_acquire(pool);
            EXPECT_EQ(usher_assign(pool, &seat, getppid()), 0);
        }
        atomic_store(&board->flags[1], round);
        UNTIL(atomic_load(&board->flags[3]) == 3 * round);
    }
    for (int c = 0; c < 3; c++) {
        EXPECT_EQ(scene_end(children[c]), 0);
    }
    EXPECT_EQ(atomic_load(&board->flags[2]), 400);
    EXPECT_EQ(scene_info(pool).served, 400);
    finish(pool, "compete", 2);
}

static void a_seat_can_be_released_for_its_holder_after_the_pool_is_removed(void)
{
    struct usher_pool *pool = scene_open("assign", 1);
    struct usher_seat seat = scene_acquire(pool);
    pid_t heir = scene_start(idle, NULL);
    EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
    EXPECT_EQ(usher_discard("assign"), 0);
    EXPECT_EQ(usher_release_for(pool, heir), 1);
    EXPECT_EQ(usher_release_for(pool, heir), 0);
    usher_close(pool);
    scene_kill(heir);
}

static void the_history_has_seats_released_for_others_and_no_reaped_ones(void)
{
    struct usher_pool *pool = scene_open("assign", 1);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, getpid()), 0);
    EXPECT_EQ(usher_release_for(pool, getpid()), 1);
    EXPECT_EQ(usher_history(pool, NULL, 0), 1);
    scene_clear();
    scene_kill(scene_holder(0, "assign"));
    EXPECT_EQ(usher_reap(pool), 1);
    EXPECT_EQ(usher_history(pool, NULL, 0), 1);
    finish(pool, "assign", 1);
}

/* Wait for a seat, assign it to the parent, release it, and enter again without waiting. */
static void *wait_assign_and_come_again(void *context)
{
    struct usher_pool *pool = context;
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, getppid()), 0);
    EXPECT_EQ(usher_release_for(pool, getppid()), 1);
    seat = scene_acquire(pool);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    return NULL;
}

/* Three seats were given back, and one of the three guests had waited. A process notes a seat after
   it has given it back, so that the order is not certain. */
static void the_wait_for_an_assigned_seat_is_not_counted_again(void)
{
    enum { WAITED_MS = 20 };
    struct usher_pool *pool;
    struct usher_options options = {.seats = 1, .flags = USHER_TIMES};
    struct usher_past past[3];
    pthread_t thread;
    EXPECT_EQ(usher_open(&pool, "assign", &options), 0);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(pthread_create(&thread, NULL, wait_assign_and_come_again, pool), 0);
    struct usher_guest guests[2] = {{.since_ns = 0}};
    do { /* the wait is measured from the time that is recorded then */
        (void)usher_inspect(pool, NULL, guests, 2);
    } while (guests[1].position != 1 || guests[1].since_ns == 0);
    scene_pause_us(WAITED_MS * 1000 + 1000);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT_EQ(usher_history(pool, past, 3), 3);
    int waits = 0;
    for (int p = 0; p < 3; p++) {
        waits += past[p].waited_ms >= WAITED_MS;
        EXPECT(past[p].waited_ms == 0 || past[p].waited_ms >= WAITED_MS);
    }
    EXPECT_EQ(waits, 1);
    finish(pool, "assign", 1);
}

int main(void)
{
    scene_begin();
    RUN(an_assigned_seat_stays_until_that_process_ends);
    RUN(the_row_of_a_live_heir_is_not_free);
    RUN(an_heir_that_exits_has_released_its_seat);
    RUN(any_process_may_release_an_assigned_seat);
    RUN(a_seat_is_assigned_to_live_processes_only);
    RUN(one_of_several_assigned_seats_can_be_given_back);
    RUN(a_seat_released_by_several_is_counted_once);
    RUN(the_wait_for_an_assigned_seat_is_not_counted_again);
    RUN(a_seat_can_be_released_for_its_holder_after_the_pool_is_removed);
    RUN(the_history_has_seats_released_for_others_and_no_reaped_ones);
    return 0;
}
