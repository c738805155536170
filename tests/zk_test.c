/*
 * Pools on ZooKeeper: a real server, and real processes that are killed and stopped. Uses the
 * public header only. The session timeout is short, so that sessions end soon.
 */
#include "scene.h"
#include "zk_server.h"
#include "zk_workers.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { SESSION_MS = 2000 };

static struct zk_server server;

static const char *named(const char *pool)
{
    return zk_server_pool(&server, 1, pool);
}

static void at_most_k_hold_a_seat_each_with_its_own_and_fences_grow(void)
{
    const char *name = named("test/many");
    zk_workers_run(name, NULL);
    struct usher_pool *pool = scene_open(name, 0);
    EXPECT_EQ(scene_info(pool).served, ZK_WORK);
    EXPECT(atomic_load(&zk_seen->gave_up) > 0);
    EXPECT_EQ(scene_info(pool).gave_up, atomic_load(&zk_seen->gave_up));
    EXPECT_EQ(scene_info(pool).reaped, 0);
    usher_close(pool);
    zk_expect_whole(name, 3);
}

static void restart_twice(void)
{
    for (int times = 0; times < 2; times++) {
        int before = atomic_load(&zk_seen->count);
        UNTIL(atomic_load(&zk_seen->count) >= before + 10);
        zk_server_kill(&server);
        zk_server_restart(&server);
    }
}

static void holders_and_waiters_survive_a_killed_server(void)
{
    const char *name = named("test/restarted");
    zk_set_session(30000); /* longer than a restart takes */
    zk_workers_run(name, restart_twice);
    zk_expect_whole(name, 3);
    zk_set_session(SESSION_MS);
}

static void seats_go_in_order_of_arrival(void)
{
    const char *name = named("test/order");
    pid_t guests[6];
    usher_close(scene_open(name, 1));
    scene_clear();
    guests[0] = scene_holder(0, name);
    for (int g = 1; g < 6; g++) {
        guests[g] = scene_waiter(g, name, (uint32_t)g);
    }
    for (int g = 0; g < 6; g++) {
        UNTIL(atomic_load(&board->step[g]) == SCENE_DONE);
        EXPECT_EQ(atomic_load(&board->result[g]), 0);
        EXPECT_EQ(atomic_load(&board->turn[g]), g + 1);
        scene_leave(g, guests[g]);
    }
    zk_expect_whole(name, 1);
}

static int no_more(struct usher_pool *pool, void *context)
{
    (void)pool;
    return ++*(int *)context >= 3;
}

static void giving_up_leaves_no_trace(void)
{
    const char *name = named("test/impatient");
    struct usher_pool *pool = scene_open(name, 1);
    struct usher_seat seat = scene_acquire(pool);
    struct usher_seat other;
    struct timespec soon = scene_in_ms(50);
    EXPECT_EQ(usher_try_acquire(pool, &other), -EAGAIN);
    EXPECT_EQ(usher_acquire_until(pool, &other, &soon), -ETIMEDOUT);
    int calls = 0;
    struct usher_pool *watched;
    struct usher_options options = {.waiting = no_more, .context = &calls, .waiting_ms = 20};
    EXPECT_EQ(usher_open(&watched, name, &options), 0);
    EXPECT_EQ(usher_acquire(watched, &other), -ECANCELED);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(scene_info(pool).waiters, 0);
    EXPECT_EQ(scene_info(pool).gave_up, 2);
    EXPECT_EQ(usher_release(watched, &seat), -EPERM);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    struct timespec past = {0, 0};
    EXPECT_EQ(usher_acquire_until(watched, &other, &past), 0); /* free now */
    usher_close(watched);                                      /* gives it back */
    usher_close(pool);
    zk_expect_whole(name, 1);
}

static void a_killed_holders_seat_is_granted_again_when_its_session_ends(void)
{
    const char *name = named("test/killed");
    struct usher_pool *pool = scene_open(name, 1);
    scene_clear();
    pid_t holder = scene_holder(0, name);
    pid_t waiter = scene_waiter(1, name, 1);
    scene_kill(holder);
    int64_t killed = scene_now_ns();
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    int64_t took_ms = (scene_now_ns() - killed) / 1000000;
    (void)printf("  granted again %lld ms after the kill, session timeout %d ms\n",
                 (long long)took_ms, SESSION_MS);
    EXPECT(took_ms > SESSION_MS / 2);
    EXPECT_EQ(scene_info(pool).reaped, 1);
    scene_leave(1, waiter);
    usher_close(pool);
    zk_expect_whole(name, 1);
}

/* Both seats become free. The first waiter is stopped or dead, and that costs one seat only. */
static void a_stopped_or_dead_first_waiter_delays_no_other(void)
{
    const char *name = named("test/stopped");
    for (int dead = 0; dead < 2; dead++) {
        usher_close(scene_open(name, 2));
        scene_clear();
        pid_t first = scene_holder(0, name);
        pid_t second = scene_holder(1, name);
        pid_t head = scene_waiter(2, name, 1);
        pid_t next = scene_waiter(3, name, 2);
        EXPECT_EQ(kill(head, dead ? SIGKILL : SIGSTOP), 0);
        int64_t began = scene_now_ns();
        scene_leave(0, first);
        scene_leave(1, second);
        UNTIL(atomic_load(&board->step[3]) == SCENE_DONE);
        EXPECT(scene_now_ns() - began < SESSION_MS / 2 * 1000000LL);
        EXPECT(atomic_load(&board->step[2]) != SCENE_DONE);
        scene_leave(3, next);
        if (!dead) {
            scene_kill(head);
        } else {
            EXPECT_EQ(scene_end(head), SIGKILL);
        }
        zk_expect_whole(name, 2);
    }
}

static void hold_and_look(void *name)
{
    struct usher_lease lease;
    struct usher_pool *pool = scene_open(name, 0);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_check(pool, &seat, &lease), 0);
    atomic_store(&board->flags[0], 1);
    while (atomic_load(&board->flags[1]) == 0) { /* stopped during this loop */
        scene_pause_us(1000);
    }
    EXPECT_EQ(usher_check(pool, &seat, &lease), -EKEYEXPIRED);
    EXPECT_EQ(lease.left_ns, 0);
    EXPECT_EQ(usher_release(pool, &seat), -EKEYEXPIRED);
    struct usher_seat again;
    EXPECT_EQ(usher_acquire(pool, &again), -EKEYEXPIRED);
    usher_close(pool);
}

static void a_stopped_holder_knows_at_once_that_its_seat_is_lost(void)
{
    const char *name = named("test/asleep");
    struct usher_pool *pool = scene_open(name, 1);
    scene_clear();
    pid_t holder = scene_start(hold_and_look, (void *)(uintptr_t)name);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    EXPECT_EQ(kill(holder, SIGSTOP), 0);
    struct usher_seat seat = scene_acquire(pool);
    atomic_store(&board->flags[1], 1);
    EXPECT_EQ(kill(holder, SIGCONT), 0);
    EXPECT_EQ(scene_end(holder), 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    usher_close(pool);
    zk_expect_whole(name, 1);
}

static void a_silent_server_costs_a_seat_only_if_it_stays_silent(void)
{
    const char *name = named("test/silent");
    struct usher_lease lease;
    struct usher_pool *pool = scene_open(name, 1);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(kill(server.pid, SIGSTOP), 0);
    scene_pause_us(SESSION_MS / 5 * 1000);
    EXPECT_EQ(kill(server.pid, SIGCONT), 0);
    UNTIL(usher_check(pool, &seat, &lease) == 0 && lease.left_ns > SESSION_MS / 2 * 1000000LL);
    EXPECT_EQ(kill(server.pid, SIGSTOP), 0);
    int64_t stopped = scene_now_ns();
    UNTIL(usher_check(pool, &seat, &lease) == -EKEYEXPIRED);
    /* before the server ends the session */
    EXPECT(scene_now_ns() - stopped < SESSION_MS * 1000000LL);
    EXPECT_EQ(kill(server.pid, SIGCONT), 0);
    EXPECT_EQ(usher_check(pool, &seat, &lease), -EKEYEXPIRED); /* and it stays lost */
    usher_close(pool);
    zk_expect_whole(name, 1);
}

static void use_after_fork(void *pool)
{
    struct usher_seat seat;
    EXPECT_EQ(usher_acquire(pool, &seat), -ESTALE);
    EXPECT_EQ(usher_inspect(pool, NULL, NULL, 0), -ESTALE);
    EXPECT_EQ(usher_resize(pool, 3), -ESTALE);
    usher_close(pool);
}

static void a_forked_child_has_no_share_in_the_pool(void)
{
    const char *name = named("test/forked");
    struct usher_lease lease;
    struct usher_pool *pool = scene_open(name, 1);
    struct usher_seat seat = scene_acquire(pool);
    scene_in_child(use_after_fork, pool);
    EXPECT_EQ(usher_check(pool, &seat, &lease), 0);
    EXPECT_EQ(scene_info(pool).holders, 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    usher_close(pool);
    zk_expect_whole(name, 1);
}

static void a_pool_grows_and_shrinks(void)
{
    const char *name = named("test/resized");
    struct usher_pool *pool = scene_open(name, 1);
    struct usher_pool *other;
    struct usher_options three = {.seats = 3};
    EXPECT_EQ(usher_open(&other, name, &three), -EDOM);
    scene_clear();
    pid_t guests[3];
    guests[0] = scene_holder(0, name);
    guests[1] = scene_waiter(1, name, 1);
    guests[2] = scene_waiter(2, name, 2);
    EXPECT_EQ(usher_resize(pool, 2), 0);
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    EXPECT_EQ(scene_info(pool).waiters, 1);
    EXPECT_EQ(usher_resize(pool, 1), 0);
    EXPECT_EQ(scene_info(pool).owed, 1);
    scene_leave(0, guests[0]);
    EXPECT_EQ(scene_info(pool).waiters, 1); /* the lost seat is granted again */
    EXPECT_EQ(scene_info(pool).owed, 0);
    scene_leave(1, guests[1]);
    UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
    EXPECT_EQ(board->seat[2].number, 0);
    scene_leave(2, guests[2]);
    EXPECT_EQ(usher_resize(pool, 5000), -ERANGE);
    usher_close(pool);
    zk_expect_whole(name, 1);
}

static void a_pool_in_use_is_removed_only_by_force(void)
{
    const char *name = named("test/removed");
    struct usher_pool *pool = scene_open(name, 1);
    struct usher_pool *again;
    struct usher_seat seat = scene_acquire(pool);
    struct usher_options existing = {.flags = USHER_EXISTING};
    uint64_t fence = zk_fence_of(pool, &seat);
    EXPECT_EQ(usher_remove(name), -EBUSY);
    scene_clear();
    pid_t waiter = scene_waiter(0, name, 1);
    EXPECT_EQ(usher_discard(name), 0);
    UNTIL(atomic_load(&board->step[0]) == SCENE_DONE);
    EXPECT_EQ(atomic_load(&board->result[0]), -EIDRM);
    scene_leave(0, waiter);
    EXPECT_EQ(usher_open(&again, name, &existing), -ENOENT);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    again = scene_open(name, 2);
    EXPECT_EQ(usher_acquire(pool, &seat), -EIDRM); /* a new pool at the same path */
    seat = scene_acquire(again);
    EXPECT(zk_fence_of(again, &seat) > fence);
    usher_close(again);
    usher_close(pool);
    zk_expect_whole(name, 2);
}

static void bad_names_and_options_are_refused(void)
{
    static const char *const wrong[] = {"zk://",
                                        "zk://h",
                                        "zk://h/",
                                        "zk:///a",
                                        "zk://h//a",
                                        "zk://h/a/",
                                        "zk://h/./a",
                                        "zk://h/..",
                                        "zk://h,/a",
                                        "zk://,h/a",
                                        "zk://h/a\n",
                                        "zk://h,,i/a",
                                        "zk://h/zookeeper/quota"};
    struct usher_pool *pool;
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
        EXPECT_EQ(usher_open(&pool, wrong[w], NULL), -EINVAL);
        EXPECT(pool == NULL);
    }
    struct usher_options options = {.seats = 5000};
    EXPECT_EQ(usher_open(&pool, named("test/bad"), &options), -ERANGE);
    options = (struct usher_options){.guests = 10};
    EXPECT_EQ(usher_open(&pool, named("test/bad"), &options), -EOPNOTSUPP);
    options = (struct usher_options){.flags = USHER_EXISTING};
    EXPECT_EQ(usher_open(&pool, named("test/bad"), &options), -ENOENT);
    EXPECT_EQ(usher_open(&pool, "zk://127.0.0.1:1/nobody", NULL), -ENOTCONN);
    EXPECT_EQ(setenv("USHER_ZK_TIMEOUT", "soon", 1), 0);
    EXPECT_EQ(usher_open(&pool, named("test/bad"), NULL), -EINVAL);
    zk_set_session(SESSION_MS);
    options = (struct usher_options){.flags = USHER_EXCLUSIVE, .seats = 2};
    EXPECT_EQ(usher_open(&pool, named("test/bad"), &options), 0);
    struct usher_pool *second;
    EXPECT_EQ(usher_open(&second, named("test/bad"), &options), -EEXIST);
    EXPECT_EQ(usher_assign(pool, &(struct usher_seat){0}, getpid()), -EOPNOTSUPP);
    usher_close(pool);
    zk_expect_whole(named("test/bad"), 2);
}

int main(void)
{
    zk_begin(SESSION_MS);
    zk_server_start(&server, scene_directory());
    RUN(bad_names_and_options_are_refused);
    RUN(at_most_k_hold_a_seat_each_with_its_own_and_fences_grow);
    RUN(seats_go_in_order_of_arrival);
    RUN(giving_up_leaves_no_trace);
    RUN(a_killed_holders_seat_is_granted_again_when_its_session_ends);
    RUN(a_stopped_or_dead_first_waiter_delays_no_other);
    RUN(a_stopped_holder_knows_at_once_that_its_seat_is_lost);
    RUN(a_silent_server_costs_a_seat_only_if_it_stays_silent);
    RUN(a_forked_child_has_no_share_in_the_pool);
    RUN(a_pool_grows_and_shrinks);
    RUN(a_pool_in_use_is_removed_only_by_force);
    RUN(holders_and_waiters_survive_a_killed_server);
    zk_server_kill(&server);
    return 0;
}
