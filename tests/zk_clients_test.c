/*
 * Pools on an ensemble of three ZooKeeper servers, while clients are killed, stopped and cut off:
 * the first waiter, and a holder. A dead client's seat is granted again after its session has
 * ended, and a client that was cut off knows before that. Writes with its old fence are refused.
 * Each server and client runs on a node of a private test network. Without such a network no client
 * is cut off.
 */
#include "scene.h"
#include "zk_judge.h"
#include "zk_net.h"
#include "zk_server.h"
#include "zk_workers.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SERVERS = 3, CLIENTS = 4, SESSION_MS = 3000 };
enum fault { KILLED, STOPPED, CUT };

static struct zk_server servers[SERVERS];
static bool network;

/* Events of a client, in shared memory. */
enum { HELD, LOST, WRITE, WRITTEN, LEAVE, FLAGS };
struct story {
    char pool[256];
    atomic_int flags[CLIENTS][FLAGS];
    atomic_llong held_ns[CLIENTS], lost_ns[CLIENTS];
};
static struct story *story;

static const char *named(const char *pool)
{
    return zk_server_pool(servers, SERVERS, pool);
}

/* A client that holds a seat and checks that it is alone there, until it must leave or has lost
   the seat. When asked, it writes with its fence, even if the seat is lost. */
static void be_client(void *which)
{
    int c = *(int *)which;
    struct usher_seat seat;
    struct usher_lease lease;
    zk_net_enter(network ? SERVERS + c : ZK_NET_HERE);
    struct usher_pool *pool = scene_open(story->pool, 0);
    int error = usher_acquire(pool, &seat);
    if (error == 0) {
        zk_judge_acquired(pool, &seat);
        (void)usher_check(pool, &seat, &lease);
        (void)zk_judge_write(seat.number, lease.fence);
        atomic_store(&story->held_ns[c], scene_now_ns());
        atomic_store(&story->flags[c][HELD], 1);
    }
    while (error == 0 && !atomic_load(&story->flags[c][LEAVE]) && zk_judge_holds(pool, &seat)) {
        scene_pause_us(300);
    }
    bool lost = error != 0 || usher_check(pool, &seat, &lease) != 0;
    EXPECT(error == 0 || error == -EKEYEXPIRED || error == -ENOTCONN);
    if (lost) {
        atomic_store(&story->lost_ns[c], scene_now_ns());
        atomic_store(&story->flags[c][LOST], 1);
        UNTIL(atomic_load(&story->flags[c][WRITE]));
        if (error == 0) {
            EXPECT(!zk_judge_write(seat.number, lease.fence)); /* the seat has a newer fence */
        }
        atomic_store(&story->flags[c][WRITTEN], 1);
        EXPECT(error != 0 || usher_release(pool, &seat) != 0);
    } else {
        zk_judge_releasing(&seat, lease.fence);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    usher_close(pool);
}

static pid_t start(int c)
{
    static int numbers[CLIENTS] = {0, 1, 2, 3};
    return scene_start(be_client, &numbers[c]);
}

static void befall(enum fault fault, int c, pid_t client)
{
    if (fault == CUT) {
        zk_net_move(SERVERS + c, ZK_NET_CUT);
    } else {
        EXPECT_EQ(kill(client, fault == KILLED ? SIGKILL : SIGSTOP), 0);
    }
}

/* Let the client continue, if it can, and write once more. */
static void recover(enum fault fault, int c, pid_t client)
{
    if (fault != KILLED) {
        if (fault == CUT) {
            UNTIL(atomic_load(&story->flags[c][LOST])); /* the client knows it without any
                                                           message */
            zk_net_heal();
        } else {
            EXPECT_EQ(kill(client, SIGCONT), 0);
        }
        UNTIL(atomic_load(&story->flags[c][LOST]));
        atomic_store(&story->flags[c][WRITE], 1);
        UNTIL(atomic_load(&story->flags[c][WRITTEN]));
    }
    EXPECT_EQ(scene_end(client), fault == KILLED ? SIGKILL : 0);
}

static void leave(int c, pid_t client)
{
    atomic_store(&story->flags[c][LEAVE], 1);
    EXPECT_EQ(scene_end(client), 0);
}

static struct usher_pool *begin(const char *name, uint32_t seats)
{
    (void)alarm(SCENE_HANG_SECONDS);
    memset((void *)story, 0, sizeof *story);
    memset((void *)zk_judge, 0, sizeof *zk_judge);
    (void)snprintf(story->pool, sizeof story->pool, "%s", named(name));
    return scene_open(story->pool, seats);
}

static const char *const faults[] = {"killed", "stopped", "cut off"};

static void while_it_holds(enum fault fault)
{
    struct usher_pool *pool = begin("holding", 1);
    pid_t holder = start(0);
    UNTIL(atomic_load(&story->flags[0][HELD]));
    pid_t next = start(1);
    UNTIL(scene_info(pool).waiters == 1);
    int64_t began = scene_now_ns();
    befall(fault, 0, holder);
    UNTIL(atomic_load(&story->flags[1][HELD]));
    (void)printf("  %s: granted again after %lld ms", faults[fault],
                 (long long)(atomic_load(&story->held_ns[1]) - began) / 1000000);
    if (fault == CUT) { /* and it knew before the seat was granted again */
        EXPECT(atomic_load(&story->flags[0][LOST]));
        (void)printf(", the client knew after %lld ms",
                     (long long)(atomic_load(&story->lost_ns[0]) - began) / 1000000);
    }
    recover(fault, 0, holder);
    EXPECT_EQ(atomic_load(&zk_judge->refused), fault != KILLED);
    (void)printf("; %d write refused\n", atomic_load(&zk_judge->refused));
    EXPECT_EQ(scene_info(pool).reaped, 1);
    leave(1, next);
    usher_close(pool);
    zk_expect_whole(named("test/holding"), 1);
}

/* Two clients hold seats, three wait. Both seats become free, and the first waiter does nothing
   with its own. The second waiter gets the other seat at once; the third gets the first waiter's
   seat when its session ends. */
static void fault_at_the_first_waiter(enum fault fault)
{
    struct usher_pool *pool = begin("waiting", 2);
    struct usher_seat held[2] = {scene_acquire(pool), scene_acquire(pool)};
    pid_t waiters[3];
    for (int c = 0; c < 3; c++) {
        waiters[c] = start(c);
        UNTIL(scene_info(pool).waiters == (uint32_t)c + 1);
    }
    int64_t began = scene_now_ns();
    befall(fault, 0, waiters[0]);
    EXPECT_EQ(usher_release(pool, &held[0]), 0);
    EXPECT_EQ(usher_release(pool, &held[1]), 0);
    UNTIL(atomic_load(&story->flags[1][HELD]));
    EXPECT(scene_now_ns() - began < SESSION_MS * 500000LL);
    (void)printf("  %s: second waiter granted after %lld ms", faults[fault],
                 (long long)(scene_now_ns() - began) / 1000000);
    UNTIL(atomic_load(&story->flags[2][HELD]));
    (void)printf(", third after %lld ms\n", (long long)(scene_now_ns() - began) / 1000000);
    EXPECT(!atomic_load(&story->flags[0][HELD]));
    recover(fault, 0, waiters[0]);
    leave(1, waiters[1]);
    leave(2, waiters[2]);
    usher_close(pool);
    zk_expect_whole(named("test/waiting"), 2);
}

static void a_lost_seat_is_granted_again_and_its_old_fence_is_refused(void)
{
    while_it_holds(KILLED);
    while_it_holds(STOPPED);
    if (network) {
        while_it_holds(CUT);
    }
}

static void a_dead_or_stopped_first_waiter_delays_no_other(void)
{
    fault_at_the_first_waiter(KILLED);
    fault_at_the_first_waiter(STOPPED);
    if (network) {
        fault_at_the_first_waiter(CUT);
    }
}

int main(void)
{
    zk_begin(SESSION_MS);
    zk_judge_begin();
    story = mmap(NULL, sizeof *story, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(story != MAP_FAILED);
    network = zk_net_begin(SERVERS + CLIENTS);
    zk_server_ensemble(servers, SERVERS, scene_directory(), network);
    RUN(a_lost_seat_is_granted_again_and_its_old_fence_is_refused);
    RUN(a_dead_or_stopped_first_waiter_delays_no_other);
    for (int s = 0; s < SERVERS; s++) {
        zk_server_kill(&servers[s]);
    }
    return 0;
}
