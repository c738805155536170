/*
 * What pools on ZooKeeper cost: requests and notifications, as a real server counts them. The table
 * in docs/distributed.md has these numbers.
 */
#include "scene.h"
#include "zk_raw.h"
#include "zk_server.h"
#include "zk_workers.h"

#include <pthread.h>
#include <unistd.h>

enum { SESSION_MS = 30000, TIMES = 12 }; /* long, so that confirmations are rare */

static struct zk_server server;

static const char *named(const char *pool)
{
    return zk_server_pool(&server, 1, pool);
}

/* Return the server's request count. This call adds one. */
static long long requests(void)
{
    return zk_server_number(&server, "zk_packets_received");
}

/* Keep the least of several runs; the rest are confirmations of the session. */
static void note(long long *least, long long count)
{
    *least = count < *least ? count : *least;
}

/* Each waiter watches its own ticket and nothing else. */
static void one_notification_for_each_release(void)
{
    enum { WAITERS = 12, RELEASES = 6 };
    const char *name = named("watch");
    pid_t guests[WAITERS + 1];
    usher_close(scene_open(name, 1));
    scene_clear();
    guests[0] = scene_holder(0, name);
    for (int g = 1; g <= WAITERS; g++) {
        guests[g] = scene_waiter(g, name, (uint32_t)g);
    }
    UNTIL(zk_server_number(&server, "zk_watch_count") == WAITERS);
    long long changed = zk_server_number(&server, "zk_sum_node_changed_watch_count");
    long long deleted = zk_server_number(&server, "zk_sum_node_deleted_watch_count");
    long long children = zk_server_number(&server, "zk_sum_node_children_watch_count");
    for (int g = 0; g < RELEASES; g++) {
        scene_leave(g, guests[g]);
        UNTIL(atomic_load(&board->step[g + 1]) == SCENE_DONE);
    }
    EXPECT_EQ(zk_server_number(&server, "zk_sum_node_changed_watch_count") - changed, RELEASES);
    EXPECT_EQ(zk_server_number(&server, "zk_sum_node_deleted_watch_count") - deleted, 0);
    EXPECT_EQ(zk_server_number(&server, "zk_sum_node_children_watch_count") - children, 0);
    for (int g = RELEASES; g <= WAITERS; g++) {
        UNTIL(atomic_load(&board->step[g]) == SCENE_DONE);
        scene_leave(g, guests[g]);
    }
    zk_expect_whole(name, 1);
}

/* Acquire: create, get, list together; then a transaction. Release: get, list together; then a
   transaction and a list together. */
static void a_free_seat_costs_four_requests_to_acquire_and_four_to_release(void)
{
    struct usher_pool *pool = scene_open(named("free"), 1);
    struct usher_seat seat = scene_acquire(pool); /* also creates the session's own node, once */
    EXPECT_EQ(usher_release(pool, &seat), 0);
    long long acquire = 1000;
    long long release = 1000;
    long long in_vain = 1000;
    for (int t = 0; t < TIMES; t++) {
        long long before = requests();
        seat = scene_acquire(pool);
        long long held = requests();
        struct usher_seat other;
        EXPECT_EQ(usher_try_acquire(pool, &other), -EAGAIN);
        long long tried = requests();
        EXPECT_EQ(usher_release(pool, &seat), 0);
        note(&acquire, held - before - 1);
        note(&in_vain, tried - held - 1);
        note(&release, requests() - tried - 1);
    }
    (void)printf("  requests: acquire %lld, failed try %lld, release %lld\n", acquire, in_vain,
                 release);
    EXPECT_EQ(acquire, 4);
    EXPECT_EQ(in_vain, 2);
    EXPECT_EQ(release, 4);
    int64_t began = scene_now_ns();
    for (int t = 0; t < 100; t++) {
        seat = scene_acquire(pool);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    (void)printf("  %lld us for acquire and release\n",
                 (long long)(scene_now_ns() - began) / 1000 / 100);
    usher_close(pool);
    zk_expect_whole(named("free"), 1);
}

static struct usher_pool *second;
static struct usher_seat seat_of_second;

static void *wait_for_it(void *context)
{
    seat_of_second = scene_acquire(second);
    return context;
}

/* Create, get, list; sync, get with a watch. After the notification: sync, get. */
static void waiting_costs_five_requests_and_two_after_the_grant(void)
{
    struct usher_pool *first = scene_open(named("line"), 1);
    second = scene_open(named("line"), 1);
    struct usher_seat seat = scene_acquire(second);
    EXPECT_EQ(usher_release(second, &seat), 0);
    long long arrival = 1000;
    long long handover = 1000;
    for (int t = 0; t < TIMES; t++) {
        pthread_t waiter;
        seat = scene_acquire(first);
        long long before = requests();
        EXPECT_EQ(pthread_create(&waiter, NULL, wait_for_it, NULL), 0);
        long long polls = 0; /* polls of the waiter; each is a request */
        do {
            scene_pause_us(20000);
            polls++;
        } while (zk_server_number(&server, "zk_watch_count") == 0);
        long long waits = requests();
        EXPECT_EQ(usher_release(first, &seat), 0);
        EXPECT_EQ(pthread_join(waiter, NULL), 0);
        note(&handover, requests() - waits - 1);
        note(&arrival, waits - before - 1 - polls);
        EXPECT_EQ(usher_release(second, &seat_of_second), 0);
    }
    (void)printf("  requests: arrive and wait %lld, release and grant %lld\n", arrival, handover);
    EXPECT_EQ(arrival, 5);
    EXPECT_EQ(handover, 3 + 2);
    usher_close(first);
    usher_close(second);
    zk_expect_whole(named("line"), 1);
}

/* With a hundred waiters, the pool's data names the next ones, and no client lists the line. */
static void a_long_line_costs_fewer_requests(void)
{
    struct usher_pool *first = scene_open(named("long"), 2);
    struct usher_seat held[2] = {scene_acquire(first), scene_acquire(first)};
    struct usher_seat seat;
    struct zk_raw *crowd = zk_raw_open(server.port, NULL);
    EXPECT_EQ(zk_raw_tickets(crowd, "/long/t0/000000000010", 100), 0);
    EXPECT_EQ(usher_release(first, &held[0]), 0); /* from here on the data names them */
    long long before = requests();
    EXPECT_EQ(usher_release(first, &held[1]), 0);
    long long released = requests() - before - 1;
    struct timespec soon = scene_in_ms(200);
    before = requests();
    EXPECT_EQ(usher_acquire_until(first, &seat, &soon), -ETIMEDOUT);
    long long arrived = requests() - before - 1;
    (void)printf("  requests: release %lld, arrive and give up %lld\n", released, arrived);
    EXPECT(released == 2 || released == 3); /* get and a transaction; perhaps a confirmation */
    EXPECT(arrived == 6 || arrived == 7);   /* create, get; get; sync, get; delete */
    zk_raw_close(crowd);
    usher_close(first);
    UNTIL(usher_remove(named("long")) == 0);
}

int main(void)
{
    zk_begin(SESSION_MS);
    zk_server_start(&server, scene_directory());
    RUN(a_free_seat_costs_four_requests_to_acquire_and_four_to_release);
    RUN(waiting_costs_five_requests_and_two_after_the_grant);
    RUN(a_long_line_costs_fewer_requests);
    RUN(one_notification_for_each_release);
    zk_server_kill(&server);
    return 0;
}
