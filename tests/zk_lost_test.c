/*
 * Pools on ZooKeeper when a request or an answer is lost together with the connection. Each test
 * loses the first message of a call, then the second, and so on, until a run has none left to lose.
 * A real server runs behind a relay that fails on command (zk_relay.h). After each run there is no
 * ticket too many or too few, and the call's result is true.
 */
#include "scene.h"
#include "zk_relay.h"
#include "zk_server.h"
#include "zk_workers.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SESSION_MS = 12000, MOST = 100 };

static struct zk_server server;
static int relay; /* its port */

/* The same pool through the relay (far) and directly (near). */
static struct usher_pool *far, *near;

/* What is lost this time: a message of zk_relay_what; or SENDING: the client library cannot
   send, though its earlier requests are carried out. And counters of what happened in the pool. */
enum { SENDING = ZK_RELAY_ANSWER + 1, WHATS };
static int what;
static int count;
static atomic_int sends_left, sends_lost;
static uint64_t served, gave_up;

static const char *named(bool by_link, const char *pool)
{
    static char names[4][128];
    static unsigned next;
    char *name = names[next++ % 4];
    (void)snprintf(name, 128, "zk://127.0.0.1:%d/%s", by_link ? relay : server.port, pool);
    return name;
}

/* Replaces the C library's send for the client library: fails as if the peer had closed the
   connection. */
ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    struct sockaddr_in peer = {0};
    socklen_t size = sizeof peer;
    if (atomic_load(&sends_left) > 0 && getpeername(fd, (struct sockaddr *)&peer, &size) == 0 &&
        ntohs(peer.sin_port) == relay && atomic_fetch_sub(&sends_left, 1) == 1) {
        (void)atomic_fetch_add(&sends_lost, 1);
        (void)shutdown(fd, SHUT_RDWR);
        errno = EPIPE;
        return -1;
    }
    return sendto(fd, bytes, length, flags, NULL, 0);
}

/* Losses may happen from here on. */
static void allow_losses(void)
{
    if (what == SENDING) {
        atomic_store(&sends_left, count);
    } else {
        zk_relay_lose((enum zk_relay_what)what, count);
    }
}

static void stop_losses(void)
{
    atomic_store(&sends_left, 0);
    zk_relay_lose(ZK_RELAY_REQUEST, 0);
}

static int lost(void)
{
    return zk_relay_lost() + atomic_load(&sends_lost);
}

static void say(void *context, const char *sentence)
{
    (void)context;
    (void)fprintf(stderr, "%s\n", sentence);
}

/* Check that the pool is empty and has the expected numbers of tickets and grants. */
static void expect_consistent(void)
{
    struct usher_info info = scene_info(near);
    EXPECT_EQ(info.holders, 0);
    EXPECT_EQ(info.waiters, 0);
    EXPECT_EQ(info.served, served);
    EXPECT_EQ(info.gave_up, gave_up);
    EXPECT_EQ(info.reaped, 0);
    EXPECT_EQ(usher_verify(near, say, NULL), 0);
}

/* Run a scene again and again, each time losing a later message, until the scene ends before the
   loss. */
static void lose_each(void (*scene)(void))
{
    static const char *const whats[] = {"requests", "answers", "calls of send()"};
    for (what = 0; what < WHATS; what++) {
        int64_t began = scene_now_ns();
        int before = -1;
        for (count = 1; lost() != before; count++) {
            EXPECT(count < MOST);
            before = lost();
            scene();
            stop_losses();
            expect_consistent();
        }
        (void)printf("  %d %s lost, one in each run: %lld ms\n", count - 2, whats[what],
                     (long long)(scene_now_ns() - began) / 1000000);
        EXPECT(count > 3);
    }
}

static void expect_held(struct usher_pool *pool, const struct usher_seat *seat)
{
    struct usher_lease lease;
    EXPECT_EQ(usher_check(pool, seat, &lease), 0);
}

static void take_and_give_back(void)
{
    struct usher_seat seat;
    allow_losses();
    EXPECT_EQ(usher_acquire(far, &seat), 0);
    expect_held(far, &seat);
    EXPECT_EQ(usher_release(far, &seat), 0);
    served++;
}

static struct usher_seat waited_for;

static void *wait_for_it(void *pool)
{
    waited_for = scene_acquire(pool);
    return NULL;
}

static void wait_in_line(void)
{
    pthread_t waiter;
    struct usher_seat seat = scene_acquire(near);
    allow_losses();
    EXPECT_EQ(pthread_create(&waiter, NULL, wait_for_it, far), 0);
    UNTIL(scene_info(near).waiters == 1);
    EXPECT_EQ(usher_release(near, &seat), 0);
    EXPECT_EQ(pthread_join(waiter, NULL), 0);
    expect_held(far, &waited_for);
    stop_losses();
    EXPECT_EQ(usher_release(far, &waited_for), 0);
    served += 2;
}

static void release_to_the_next_waiter(void)
{
    pthread_t waiter;
    struct usher_seat seat = scene_acquire(far);
    EXPECT_EQ(pthread_create(&waiter, NULL, wait_for_it, near), 0);
    UNTIL(scene_info(near).waiters == 1);
    allow_losses();
    EXPECT_EQ(usher_release(far, &seat), 0);
    EXPECT_EQ(pthread_join(waiter, NULL), 0);
    expect_held(near, &waited_for);
    EXPECT_EQ(usher_release(near, &waited_for), 0);
    served += 2;
}

static void give_up(void)
{
    struct usher_seat other;
    struct usher_seat seat = scene_acquire(near);
    struct timespec soon = scene_in_ms(100);
    allow_losses();
    EXPECT_EQ(usher_acquire_until(far, &other, &soon), -ETIMEDOUT);
    EXPECT_EQ(scene_info(near).waiters, 0);
    EXPECT_EQ(usher_release(near, &seat), 0);
    served++;
    gave_up++;
}

static void grow_and_shrink(void)
{
    allow_losses();
    EXPECT_EQ(usher_resize(far, 3), 0);
    EXPECT_EQ(scene_info(near).seats, 3);
    EXPECT_EQ(usher_resize(far, 1), 0);
    EXPECT_EQ(scene_info(near).seats, 1);
}

static void inspect_and_verify(void)
{
    struct usher_info info;
    struct usher_guest guests[4];
    struct usher_seat seat = scene_acquire(near);
    allow_losses();
    EXPECT_EQ(usher_inspect(far, &info, guests, 4), 1);
    EXPECT_EQ(guests[0].pid, getpid());
    EXPECT_EQ(usher_verify(far, say, NULL), 0);
    EXPECT_EQ(usher_release(near, &seat), 0);
    served++;
}

static void make_open_and_remove(void)
{
    struct usher_pool *pool;
    struct usher_seat seat;
    allow_losses();
    EXPECT_EQ(usher_open(&pool, named(true, "made/here"), &(struct usher_options){.seats = 2}), 0);
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    EXPECT_EQ(seat.ticket, 0);
    usher_close(pool); /* gives it back */
    EXPECT_EQ(usher_remove(named(true, "made/here")), 0);
    EXPECT_EQ(usher_remove(named(false, "made/here")), -ENOENT);
}

static struct usher_seat leaving;

static void *leave(void *resizes)
{
    EXPECT_EQ(resizes != NULL ? usher_resize(far, 2) : usher_release(far, &leaving), 0);
    return NULL;
}

/* A client frees a seat after it has seen no waiter. Its transaction, the third request, is
   delayed. A client that arrives meanwhile sees no free seat and sleeps. */
static void arrive_meanwhile(bool resizes)
{
    enum { LATE_MS = 400 };
    pthread_t leaver;
    leaving = scene_acquire(far);
    int held = zk_relay_held();
    zk_relay_hold(3, LATE_MS);
    EXPECT_EQ(pthread_create(&leaver, NULL, leave, resizes ? far : NULL), 0);
    UNTIL(zk_relay_held() > held);
    int64_t began = scene_now_ns();
    struct usher_seat seat = scene_acquire(near);
    int64_t took_ms = (scene_now_ns() - began) / 1000000;
    EXPECT_EQ(pthread_join(leaver, NULL), 0);
    (void)printf("  %s: granted after %lld ms\n", resizes ? "resized" : "given back",
                 (long long)took_ms);
    EXPECT(took_ms < SESSION_MS / 6); /* before any waiter scans */
    EXPECT_EQ(usher_release(near, &seat), 0);
    if (resizes) {
        EXPECT_EQ(usher_release(far, &leaving), 0);
        EXPECT_EQ(usher_resize(far, 1), 0);
    }
    stop_losses();
    served += 2;
    expect_consistent();
}

static void a_client_that_arrives_while_a_seat_becomes_free_is_served(void)
{
    arrive_meanwhile(false);
    arrive_meanwhile(true);
}

static void acquire_and_release_survive_any_lost_message(void)
{
    lose_each(take_and_give_back);
}

static void waiting_survives_any_lost_message(void)
{
    lose_each(wait_in_line);
}

static void release_to_a_waiter_survives_any_lost_message(void)
{
    lose_each(release_to_the_next_waiter);
}

static void giving_up_survives_any_lost_message(void)
{
    lose_each(give_up);
}

static void resize_survives_any_lost_message(void)
{
    lose_each(grow_and_shrink);
}

static void inspect_survives_any_lost_message(void)
{
    lose_each(inspect_and_verify);
}

static void create_open_and_remove_survive_any_lost_message(void)
{
    lose_each(make_open_and_remove);
}

int main(void)
{
    zk_begin(SESSION_MS);
    zk_server_start(&server, scene_directory());
    relay = zk_relay_start(server.port);
    near = scene_open(named(false, "pool"), 1);
    far = scene_open(named(true, "pool"), 1);
    RUN(a_client_that_arrives_while_a_seat_becomes_free_is_served);
    RUN(acquire_and_release_survive_any_lost_message);
    RUN(waiting_survives_any_lost_message);
    RUN(release_to_a_waiter_survives_any_lost_message);
    RUN(giving_up_survives_any_lost_message);
    RUN(resize_survives_any_lost_message);
    RUN(inspect_survives_any_lost_message);
    RUN(create_open_and_remove_survive_any_lost_message);
    usher_close(far);
    usher_close(near);
    zk_expect_whole(named(false, "pool"), 1);
    zk_server_kill(&server);
    return 0;
}
