/*
 * Pools on ZooKeeper with lines of tens of thousands, and with sequence numbers that run out. Uses
 * a real server.
 */
#include "scene.h"
#include "zk_raw.h"
#include "zk_server.h"
#include "zk_workers.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_MS = 20000, CROWD = 45000, FRONT = 100 };

static struct zk_server server;

static const char *named(const char *pool)
{
    return zk_server_pool(&server, 1, pool);
}

static void say(void *context, const char *sentence)
{
    (void)context;
    (void)fprintf(stderr, "%s\n", sentence);
}

static void expect_consistent(struct usher_pool *pool)
{
    EXPECT_EQ(usher_verify(pool, say, NULL), 0);
}

/* The handles of threads that wait in front of the crowd. */
static struct usher_pool *patient, *hasty;
static atomic_int over;      /* set: threads that wait with `hasty` give up */
static uint64_t last_ticket; /* ticket of the last holder; there is one seat, so writes alternate */
static atomic_int served, gone;

static int is_over(struct usher_pool *pool, void *context)
{
    (void)pool;
    (void)context;
    return atomic_load(&over);
}

static void *take_a_turn(void *pool)
{
    struct usher_seat seat;
    int error = usher_acquire(pool, &seat);
    if (pool == hasty) {
        EXPECT_EQ(error, -ECANCELED);
        (void)atomic_fetch_add(&gone, 1);
        return NULL;
    }
    EXPECT_EQ(error, 0);
    EXPECT(seat.ticket > last_ticket);
    last_ticket = seat.ticket;
    (void)atomic_fetch_add(&served, 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    return NULL;
}

/* Every third thread gives up before its turn. */
static void line_up(const char *name, pthread_t *threads)
{
    struct usher_options options = {.waiting = is_over, .waiting_ms = 20};
    patient = scene_open(name, 1);
    EXPECT_EQ(usher_open(&hasty, name, &options), 0);
    atomic_store(&over, 0);
    atomic_store(&served, 0);
    atomic_store(&gone, 0);
    last_ticket = 0;
    for (uint32_t t = 0; t < FRONT; t++) {
        EXPECT_EQ(pthread_create(&threads[t], NULL, take_a_turn, t % 3 == 2 ? hasty : patient), 0);
    }
    UNTIL(scene_info(patient).waiters == FRONT);
}

static void count_list(struct zk_raw *raw, const char *path, int least)
{
    size_t length;
    int64_t began = scene_now_ns();
    int count = zk_raw_list(raw, path, &length);
    EXPECT(count >= least);
    (void)printf("  listing %d tickets: %zu bytes of names and %d of lengths, %lld ms\n", count,
                 length, 4 * count, (long long)(scene_now_ns() - began) / 1000000);
    EXPECT(length + 4 * (size_t)count > 1048576); /* more than jute.maxbuffer */
}

static void a_line_of_tens_of_thousands_works_like_a_short_one(void)
{
    const char *name = named("crowd");
    pthread_t threads[FRONT];
    struct usher_pool *pool = scene_open(name, 1);
    struct usher_seat seat = scene_acquire(pool);
    line_up(name, threads);
    struct zk_raw *raw = zk_raw_open(server.port, NULL);
    int64_t began = scene_now_ns();
    EXPECT_EQ(zk_raw_tickets(raw, "/crowd/t0/000000000010", CROWD), 0);
    (void)printf("  %d tickets in %lld ms\n", CROWD, (long long)(scene_now_ns() - began) / 1000000);
    count_list(raw, "/crowd/t0", CROWD + 1);
    atomic_store(&over, 1);
    UNTIL(atomic_load(&gone) == FRONT / 3);
    began = scene_now_ns();
    EXPECT_EQ(usher_release(pool, &seat), 0);
    (void)printf("  first release, which lists the line: %lld ms\n",
                 (long long)(scene_now_ns() - began) / 1000000);
    began = scene_now_ns();
    for (int t = 0; t < FRONT; t++) {
        EXPECT_EQ(pthread_join(threads[t], NULL), 0);
    }
    int turns = atomic_load(&served);
    (void)printf("  next %d turns: %lld us each\n", turns,
                 (long long)(scene_now_ns() - began) / 1000 / turns);
    EXPECT_EQ(turns, FRONT - FRONT / 3);
    EXPECT(last_ticket < FRONT + 1);
    expect_consistent(pool);
    EXPECT_EQ(scene_info(pool).waiters, CROWD - 1); /* the first of the crowd holds the seat now */
    EXPECT_EQ(scene_info(pool).gave_up, FRONT / 3);
    struct timespec soon = scene_in_ms(300);
    long long before = zk_server_number(&server, "zk_packets_received");
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ETIMEDOUT); /* at the end of the line */
    EXPECT(zk_server_number(&server, "zk_packets_received") - before < 16);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EAGAIN);
    zk_raw_close(raw); /* ends all their sessions at once */
    int error;
    UNTIL((error = usher_try_acquire(pool, &seat)) != -EAGAIN);
    EXPECT_EQ(error, 0);
    EXPECT_EQ(scene_info(pool).reaped, 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    usher_close(patient);
    usher_close(hasty);
    usher_close(pool);
    zk_expect_whole(name, 1);
}

/* The data names the next waiters, and all of them are gone. Then the line is listed. */
static void next_waiters_that_are_gone_delay_no_other(void)
{
    const char *name = named("gone");
    zk_set_session(5000); /* waiters far behind scan every 4 T */
    struct usher_pool *pool = scene_open(name, 1);
    struct usher_seat seat = scene_acquire(pool);
    struct zk_raw *first = zk_raw_open(server.port, NULL);
    struct zk_raw *then = zk_raw_open(server.port, NULL);
    EXPECT_EQ(zk_raw_tickets(first, "/gone/t0/000000000010", 100), 0);
    EXPECT_EQ(zk_raw_tickets(then, "/gone/t0/000000000020", 100), 0);
    scene_clear();
    pid_t last = scene_waiter(0, name, 201);
    EXPECT_EQ(usher_release(pool, &seat), 0); /* to the first of them; NEXT names others */
    char text[4096];
    EXPECT_EQ(zk_raw_get(then, "/gone", text, sizeof text), 0);
    EXPECT(strstr(text, " / 0.0000000000100000000002 ") != NULL);
    expect_consistent(pool);
    zk_raw_close(first);
    zk_raw_close(then);
    UNTIL(atomic_load(&board->step[0]) == SCENE_DONE);
    scene_leave(0, last);
    usher_close(pool);
    zk_expect_whole(name, 1);
    zk_set_session(SESSION_MS);
}

/* A crowd ends together with the holder while no client scans. A new client gets the free seat
   at once. */
static void after_a_crowd_ends_a_seat_is_free(void)
{
    const char *name = named("empty");
    struct timespec past = {0, 0};
    for (int times = 0; times < 2; times++) {
        size_t length;
        struct usher_pool *pool = scene_open(name, 1);
        struct usher_seat seat = scene_acquire(pool);
        struct zk_raw *crowd = zk_raw_open(server.port, NULL);
        struct zk_raw *observer = zk_raw_open(server.port, NULL);
        EXPECT_EQ(zk_raw_tickets(crowd, "/empty/t0/000000000010", 100), 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        zk_raw_close(crowd);
        UNTIL(zk_raw_list(observer, "/empty/t0", &length) == 0);
        zk_raw_close(observer);
        EXPECT_EQ(times == 0 ? usher_try_acquire(pool, &seat)
                             : usher_acquire_until(pool, &seat, &past),
                  0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        usher_close(pool);
        zk_expect_whole(name, 1);
    }
}

static void a_pool_with_a_crowd_is_removed_by_force(void)
{
    const char *name = named("forced");
    char text[64];
    struct usher_pool *pool = scene_open(name, 1);
    struct usher_seat seat = scene_acquire(pool);
    struct zk_raw *crowd = zk_raw_open(server.port, NULL);
    EXPECT_EQ(zk_raw_tickets(crowd, "/forced/t0/000000000010", 3000), 0);
    EXPECT_EQ(usher_remove(name), -EBUSY);
    EXPECT_EQ(usher_discard(name), 0);
    EXPECT_EQ(zk_raw_get(crowd, "/forced", text, sizeof text), ZNONODE);
    zk_raw_close(crowd);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_acquire(pool, &seat), -EIDRM);
    usher_close(pool);
}

static void each_full_roll_is_followed_by_the_next(void)
{
    const char *name = named("rolls");
    EXPECT_EQ(setenv("USHER_ZK_RENEW", "40", 1), 0);
    zk_workers_run(name, NULL);
    struct usher_pool *pool = scene_open(name, 3);
    struct usher_seat seat = scene_acquire(pool);
    (void)printf("  %llu rolls\n", (unsigned long long)(seat.ticket >> 31) + 1);
    EXPECT(seat.ticket >> 31 >= 2);
    EXPECT_EQ(scene_info(pool).served, ZK_WORK);
    EXPECT_EQ(scene_info(pool).gave_up, atomic_load(&zk_seen->gave_up));
    EXPECT_EQ(usher_release(pool, &seat), 0);
    usher_close(pool);
    zk_expect_whole(name, 3);
    EXPECT_EQ(unsetenv("USHER_ZK_RENEW"), 0);
}

/* Fill as many rolls as can exist, each with a waiter. All later tickets use the last roll. */
static void seats_go_in_order_of_arrival_across_rolls(void)
{
    enum { GUESTS = 12 };
    const char *name = named("across");
    pid_t guests[GUESTS];
    EXPECT_EQ(setenv("USHER_ZK_RENEW", "0", 1), 0);
    struct usher_pool *pool = scene_open(name, 1);
    scene_clear();
    guests[0] = scene_holder(0, name);
    for (int g = 1; g < GUESTS; g++) {
        guests[g] = scene_waiter(g, name, (uint32_t)g);
    }
    expect_consistent(pool);
    uint64_t before = 0;
    for (int g = 0; g < GUESTS; g++) {
        UNTIL(atomic_load(&board->step[g]) == SCENE_DONE);
        EXPECT_EQ(atomic_load(&board->turn[g]), g + 1);
        EXPECT(g == 0 || board->seat[g].ticket > before);
        before = board->seat[g].ticket;
        scene_leave(g, guests[g]);
    }
    EXPECT_EQ(before >> 31, 7);
    expect_consistent(pool);
    usher_close(pool);
    EXPECT_EQ(unsetenv("USHER_ZK_RENEW"), 0);
    zk_expect_whole(name, 1);
}

/* Make the roll 2^31 - 2 tickets old: two numbers are left. */
static void a_roll_is_renewed_before_its_numbers_run_out(void)
{
    const char *name = named("aged");
    struct usher_seat seat;
    pid_t guests[3];
    zk_set_session(30000); /* longer than a restart takes */
    struct usher_pool *pool = scene_open(name, 1);
    struct usher_seat held = scene_acquire(pool);
    zk_server_age(&server, "/aged/t0", INT32_MAX - 1);
    scene_clear();
    for (int g = 0; g < 3; g++) {
        guests[g] = scene_waiter(g, name, (uint32_t)g + 1);
    }
    expect_consistent(pool);
    EXPECT_EQ(scene_info(pool).gave_up, INT32_MAX - 1 - 1); /* the aged count looks like this */
    EXPECT_EQ(usher_release(pool, &held), 0);
    for (int g = 0; g < 3; g++) {
        UNTIL(atomic_load(&board->step[g]) == SCENE_DONE);
        EXPECT_EQ(atomic_load(&board->turn[g]), g + 1);
        scene_leave(g, guests[g]);
    }
    EXPECT_EQ(board->seat[0].ticket, INT32_MAX - 1);
    EXPECT_EQ(board->seat[1].ticket, INT64_C(1) << 31); /* first ticket of the next roll */
    EXPECT_EQ(board->seat[2].ticket, (INT64_C(1) << 31) + 1);
    seat = scene_acquire(pool);
    EXPECT_EQ(seat.ticket, (INT64_C(1) << 31) + 2);
    EXPECT_EQ(scene_info(pool).gave_up, INT32_MAX - 1 - 1);
    usher_close(pool);
    zk_expect_whole(name, 1);
    zk_set_session(SESSION_MS);
}

int main(void)
{
    zk_begin(SESSION_MS);
    zk_server_start(&server, scene_directory());
    RUN(each_full_roll_is_followed_by_the_next);
    RUN(seats_go_in_order_of_arrival_across_rolls);
    RUN(a_roll_is_renewed_before_its_numbers_run_out);
    RUN(next_waiters_that_are_gone_delay_no_other);
    RUN(after_a_crowd_ends_a_seat_is_free);
    RUN(a_pool_with_a_crowd_is_removed_by_force);
    RUN(a_line_of_tens_of_thousands_works_like_a_short_one);
    zk_server_kill(&server);
    return 0;
}
