/*
 * Pools on ZooKeeper, when a request or an answer is lost, and the connection with it: every one
 * that there is in a call, one each time, until a run has none left to lose. A real server, behind
 * a link that fails when it is told to (zk_relay.h). After each there is neither a ticket too many
 * nor one too few, and the call has done what it says.
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

/* The same pool, by way of the link and by itself. */
static struct usher_pool *far, *near;

/* What is lost this time: of zk_relay_what, or the client library cannot send, and what it has sent
   before that is done. And what has happened in the pool, all told. */
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

/* The client library's, in place of the C library's: the other end has closed the connection. */
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

/* From here on it can happen. */
static void begin_to_lose(void)
{
    if (what == SENDING) {
        atomic_store(&sends_left, count);
    } else {
        zk_relay_lose((enum zk_relay_what)what, count);
    }
}

static void lose_nothing(void)
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

/* Nobody is left in it, and there were as many tickets and grants as there should have been. */
static void expect_sound(void)
{
    struct usher_info info = scene_info(near);
    EXPECT_EQ(info.holders, 0);
    EXPECT_EQ(info.waiters, 0);
    EXPECT_EQ(info.served, served);
    EXPECT_EQ(info.gave_up, gave_up);
    EXPECT_EQ(info.reaped, 0);
    EXPECT_EQ(usher_verify(near, say, NULL), 0);
}

/* Play a scene again and again, and lose something in it, until it is over before that. */
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
            lose_nothing();
            expect_sound();
        }
        (void)printf("  %d %s lost, one at a time: %lld ms\n", count - 2, whats[what],
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
    begin_to_lose();
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
    begin_to_lose();
    EXPECT_EQ(pthread_create(&waiter, NULL, wait_for_it, far), 0);
    UNTIL(scene_info(near).waiters == 1);
    EXPECT_EQ(usher_release(near, &seat), 0);
    EXPECT_EQ(pthread_join(waiter, NULL), 0);
    expect_held(far, &waited_for);
    lose_nothing();
    EXPECT_EQ(usher_release(far, &waited_for), 0);
    served += 2;
}

static void give_on_to_the_next(void)
{
    pthread_t waiter;
    struct usher_seat seat = scene_acquire(far);
    EXPECT_EQ(pthread_create(&waiter, NULL, wait_for_it, near), 0);
    UNTIL(scene_info(near).waiters == 1);
    begin_to_lose();
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
    begin_to_lose();
    EXPECT_EQ(usher_acquire_until(far, &other, &soon), -ETIMEDOUT);
    EXPECT_EQ(scene_info(near).waiters, 0);
    EXPECT_EQ(usher_release(near, &seat), 0);
    served++;
    gave_up++;
}

static void grow_and_shrink(void)
{
    begin_to_lose();
    EXPECT_EQ(usher_resize(far, 3), 0);
    EXPECT_EQ(scene_info(near).seats, 3);
    EXPECT_EQ(usher_resize(far, 1), 0);
    EXPECT_EQ(scene_info(near).seats, 1);
}

static void look_at_it(void)
{
    struct usher_info info;
    struct usher_guest guests[4];
    struct usher_seat seat = scene_acquire(near);
    begin_to_lose();
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
    begin_to_lose();
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

/* Whoever makes a seat free has seen that nobody waits; what it sends then, the third of its
   requests, comes late. Who arrives meanwhile sees that no seat is free, and sleeps. */
static void arrive_meanwhile(bool resizes)
{
    enum { LATE_MS = 400 };
    pthread_t leaver;
    leaving = scene_acquire(far);
    zk_relay_hold(3, LATE_MS);
    EXPECT_EQ(pthread_create(&leaver, NULL, leave, resizes ? far : NULL), 0);
    scene_pause_us(LATE_MS / 4 * 1000);
    int64_t began = scene_now_ns();
    struct usher_seat seat = scene_acquire(near);
    int64_t took_ms = (scene_now_ns() - began) / 1000000;
    EXPECT_EQ(pthread_join(leaver, NULL), 0);
    (void)printf("  %s: in after %lld ms\n", resizes ? "resized" : "given back",
                 (long long)took_ms);
    EXPECT(took_ms < SESSION_MS / 6); /* before anybody sweeps */
    EXPECT_EQ(usher_release(near, &seat), 0);
    if (resizes) {
        EXPECT_EQ(usher_release(far, &leaving), 0);
        EXPECT_EQ(usher_resize(far, 1), 0);
    }
    lose_nothing();
    served += 2;
    expect_sound();
}

static void who_comes_while_a_seat_comes_free_is_not_forgotten(void)
{
    arrive_meanwhile(false);
    arrive_meanwhile(true);
}

static void who_takes_a_free_seat_and_gives_it_back(void)
{
    lose_each(take_and_give_back);
}

static void who_waits_in_line(void)
{
    lose_each(wait_in_line);
}

static void who_gives_a_seat_on(void)
{
    lose_each(give_on_to_the_next);
}

static void who_gives_up(void)
{
    lose_each(give_up);
}

static void who_resizes(void)
{
    lose_each(grow_and_shrink);
}

static void who_looks(void)
{
    lose_each(look_at_it);
}

static void who_makes_opens_and_removes(void)
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
    RUN(who_comes_while_a_seat_comes_free_is_not_forgotten);
    RUN(who_takes_a_free_seat_and_gives_it_back);
    RUN(who_waits_in_line);
    RUN(who_gives_a_seat_on);
    RUN(who_gives_up);
    RUN(who_resizes);
    RUN(who_looks);
    RUN(who_makes_opens_and_removes);
    usher_close(far);
    usher_close(near);
    zk_expect_whole(named(false, "pool"), 1);
    zk_server_kill(&server);
    return 0;
}
