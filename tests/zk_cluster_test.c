/*
 * Pools on an ensemble of three ZooKeeper servers: leaders that are killed and stopped under load,
 * clients that are killed and stopped. Nobody loses a seat to a server's failure; nobody keeps one
 * that was given on.
 */
#include "scene.h"
#include "zk_server.h"
#include "zk_workers.h"

#include <signal.h>
#include <unistd.h>

enum { SERVERS = 3, SESSION_MS = 10000, SHORT_MS = 3000 };

static struct zk_server servers[SERVERS];

static const char *named(const char *pool)
{
    static char name[256];
    (void)snprintf(name, sizeof name, "zk://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/test/%s",
                   servers[0].port, servers[1].port, servers[2].port, pool);
    return name;
}

/* The leader, when there is one. */
static int leader(void)
{
    int found;
    UNTIL((found = zk_server_leader(servers, SERVERS)) >= 0);
    return found;
}

/* Go on when the workers have. */
static void until_work_goes_on(void)
{
    int before = atomic_load(&zk_seen->count);
    UNTIL(atomic_load(&zk_seen->count) >= before + 8);
}

static void kill_leaders(void)
{
    for (int times = 0; times < 2; times++) {
        until_work_goes_on();
        int killed = leader();
        zk_server_kill(&servers[killed]);
        until_work_goes_on();
        zk_server_restart(&servers[killed]);
    }
}

static void stop_leaders(void)
{
    for (int times = 0; times < 2; times++) {
        until_work_goes_on();
        int stopped = leader();
        EXPECT_EQ(kill(servers[stopped].pid, SIGSTOP), 0);
        until_work_goes_on();
        EXPECT_EQ(kill(servers[stopped].pid, SIGCONT), 0);
    }
}

static void work_goes_on_when_leaders_are_killed(void)
{
    zk_workers_run(named("killed"), kill_leaders);
    zk_expect_whole(named("killed"), 3);
}

static void work_goes_on_when_leaders_are_stopped(void)
{
    zk_workers_run(named("stopped"), stop_leaders);
    zk_expect_whole(named("stopped"), 3);
}

/* It stays in its seat as long as that is certainly its, and says so when it is not any more. */
static void sit_and_tell(void *name)
{
    struct usher_lease lease;
    struct usher_pool *pool = scene_open(name, 0);
    struct usher_seat seat = scene_acquire(pool);
    atomic_store(&board->flags[0], 1);
    while (usher_check(pool, &seat, &lease) == 0) {
        scene_pause_us(1000);
    }
    atomic_store(&board->flags[1], 1);
    usher_close(pool);
}

static void a_clients_seat_is_given_on_if_it_is_killed_or_stopped(void)
{
    const char *name = named("clients");
    zk_set_session(SHORT_MS);
    struct usher_pool *pool = scene_open(name, 1);
    for (int stopped = 0; stopped < 2; stopped++) {
        scene_clear();
        pid_t client = scene_start(sit_and_tell, (void *)(uintptr_t)name);
        UNTIL(atomic_load(&board->flags[0]) == 1);
        EXPECT_EQ(kill(client, stopped ? SIGSTOP : SIGKILL), 0);
        struct usher_seat seat = scene_acquire(pool);
        EXPECT_EQ(atomic_load(&board->flags[1]), 0);
        if (stopped) {
            EXPECT_EQ(kill(client, SIGCONT), 0);
            UNTIL(atomic_load(&board->flags[1]) == 1);
        }
        EXPECT_EQ(scene_end(client), stopped ? 0 : SIGKILL);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    EXPECT_EQ(scene_info(pool).reaped, 2);
    usher_close(pool);
    zk_expect_whole(name, 1);
    zk_set_session(SESSION_MS);
}

/* Two of three are gone: who holds must know before the third can have given its seat on. */
static void without_a_quorum_a_seat_is_lost_in_time(void)
{
    struct usher_lease lease;
    zk_set_session(SHORT_MS);
    struct usher_pool *pool = scene_open(named("quorum"), 1);
    struct usher_seat seat = scene_acquire(pool);
    for (int s = 0; s < SERVERS - 1; s++) {
        zk_server_kill(&servers[s]);
    }
    int64_t killed = scene_now_ns();
    UNTIL(usher_check(pool, &seat, &lease) == -EKEYEXPIRED);
    EXPECT(scene_now_ns() - killed < SHORT_MS * 1000000LL);
    for (int s = 0; s < SERVERS - 1; s++) {
        zk_server_restart(&servers[s]);
    }
    usher_close(pool);
    zk_expect_whole(named("quorum"), 1);
}

int main(void)
{
    if (!zk_server_possible()) {
        return 77;
    }
    scene_begin();
    EXPECT_EQ(unsetenv("USHER_MODULES"), 0);
    zk_workers_begin();
    zk_set_session(SESSION_MS);
    zk_server_ensemble(servers, SERVERS, scene_directory());
    RUN(work_goes_on_when_leaders_are_killed);
    RUN(work_goes_on_when_leaders_are_stopped);
    RUN(a_clients_seat_is_given_on_if_it_is_killed_or_stopped);
    RUN(without_a_quorum_a_seat_is_lost_in_time);
    for (int s = 0; s < SERVERS; s++) {
        zk_server_kill(&servers[s]);
    }
    return 0;
}
