/*
 * Past bugs, each with a test: live guests taken for dead, deaths found late, too many seats, a
 * removed pool that still granted a seat.
 */
#include "test.h"
#include "usher.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared {
    atomic_int held, go, removed, entered_after;
};

static struct shared *shared;
static char directory[] = "/tmp/usher-lessons-XXXXXX";

static void nap_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct usher_pool *open_pool(const char *name, uint32_t seats)
{
    struct usher_pool *pool;
    struct usher_options options = {.seats = seats};
    EXPECT_EQ(usher_open(&pool, name, &options), 0);
    return pool;
}

static void wait_for(atomic_int *flag, int value)
{
    for (int tries = 0; atomic_load(flag) != value; tries++) {
        EXPECT(tries < 20000);
        nap_ms(1);
    }
}

static void wait_for_waiters(struct usher_pool *pool, uint32_t waiters)
{
    struct usher_info info = {0};
    for (int tries = 0; info.waiters < waiters; tries++) {
        EXPECT(tries < 20000);
        EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
        nap_ms(1);
    }
}

/* A process that could not read the boot id recorded that in a way that made it count as dead. */
static void a_holder_without_free_descriptors_does_not_count_as_dead(void)
{
    struct usher_pool *pool = open_pool("descriptors", 1);
    unsigned held = 0;
    for (rlim_t most = 3; most < 16; most++) {
        int status;
        atomic_store(&shared->held, 0);
        pid_t holder = fork();
        if (holder == 0) {
            struct usher_pool *own;
            struct usher_seat seat;
            struct rlimit limit = {most, most};
            (void)setrlimit(RLIMIT_NOFILE, &limit);
            if (usher_open(&own, "descriptors", NULL) != 0 || usher_acquire(own, &seat) != 0) {
                _exit(1);
            }
            atomic_store(&shared->held, 1);
            for (;;) {
                (void)pause();
            }
        }
        while (atomic_load(&shared->held) == 0 && waitpid(holder, &status, WNOHANG) == 0) {
            nap_ms(1);
        }
        if (atomic_load(&shared->held) != 0) {
            struct usher_seat seat;
            held++;
            EXPECT_EQ(usher_try_acquire(pool, &seat), -EAGAIN);
            EXPECT_EQ(usher_reap(pool), 0);
            EXPECT_EQ(kill(holder, SIGKILL), 0);
            EXPECT_EQ(waitpid(holder, NULL, 0), holder);
            EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
            EXPECT_EQ(usher_release(pool, &seat), 0);
        }
    }
    EXPECT(held > 2);
    usher_close(pool);
}

static void growing_first_cancels_owed_seats(void)
{
    struct usher_pool *pool = open_pool("owed", 2);
    struct usher_seat seats[3];
    struct usher_info info;
    EXPECT_EQ(usher_acquire(pool, &seats[0]), 0);
    EXPECT_EQ(usher_acquire(pool, &seats[1]), 0);
    EXPECT_EQ(usher_resize(pool, 1), 0);
    EXPECT_EQ(usher_resize(pool, 2), 0);
    EXPECT_EQ(usher_try_acquire(pool, &seats[2]), -EAGAIN);
    EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
    EXPECT_EQ(info.owed, 0);
    EXPECT_EQ(usher_release(pool, &seats[0]), 0);
    EXPECT_EQ(usher_try_acquire(pool, &seats[0]), 0);
    usher_close(pool);
}

/* Newcomers counted dead waiters before them as a long line and slept accordingly. */
static void a_newcomer_behind_dead_waiters_does_not_wait_long(void)
{
    enum { DEAD = 60 };
    struct usher_pool *pool = open_pool("dead-line", 1);
    struct usher_seat seat;
    pid_t dead[DEAD];
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    for (unsigned d = 0; d < DEAD; d++) {
        dead[d] = fork();
        if (dead[d] == 0) {
            struct usher_pool *own = open_pool("dead-line", 1);
            (void)usher_acquire(own, &seat);
            _exit(0);
        }
    }
    wait_for_waiters(pool, DEAD);
    for (unsigned d = 0; d < DEAD; d++) {
        EXPECT_EQ(kill(dead[d], SIGKILL), 0);
        EXPECT_EQ(waitpid(dead[d], NULL, 0), dead[d]);
    }
    double began = now();
    atomic_store(&shared->go, 0);
    pid_t newcomer = fork();
    if (newcomer == 0) {
        struct usher_pool *own = open_pool("dead-line", 1);
        EXPECT_EQ(usher_acquire(own, &seat), 0);
        _exit(0);
    }
    wait_for_waiters(pool, 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(waitpid(newcomer, NULL, 0), newcomer);
    EXPECT(now() - began < 5); /* it was 250 ms for each dead waiter */
    usher_close(pool);
}

static void a_seat_assigned_to_a_foreign_process_outlives_its_giver(void)
{
    struct usher_pool *pool = open_pool("assigned", 1);
    struct usher_seat seat;
    pid_t stranger = fork();
    if (stranger == 0) {
        for (;;) {
            (void)pause();
        }
    }
    pid_t giver = fork();
    if (giver == 0) {
        struct usher_pool *own;
        struct usher_options keep = {.seats = 1, .flags = USHER_KEEP};
        EXPECT_EQ(usher_open(&own, "assigned", &keep), 0);
        EXPECT_EQ(usher_acquire(own, &seat), 0);
        EXPECT_EQ(usher_assign(own, &seat, stranger), 0);
        _exit(0);
    }
    int status;
    EXPECT_EQ(waitpid(giver, &status, 0), giver);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EAGAIN);
    EXPECT_EQ(usher_reap(pool), 0);
    EXPECT_EQ(kill(stranger, SIGKILL), 0);
    EXPECT_EQ(waitpid(stranger, NULL, 0), stranger);
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    usher_close(pool);
}

static void *wait_in_line(void *pool)
{
    struct usher_seat seat;
    (void)usher_acquire(pool, &seat);
    pthread_testcancel();
    return NULL;
}

static void a_thread_cancelled_in_a_wait_keeps_no_seat(void)
{
    struct usher_pool *pool = open_pool("cancel", 1);
    for (unsigned round = 0; round < 50; round++) {
        struct usher_seat seat;
        pthread_t thread;
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
        EXPECT_EQ(pthread_create(&thread, NULL, wait_in_line, pool), 0);
        wait_for_waiters(pool, 1);
        EXPECT_EQ(pthread_cancel(thread), 0);
        nap_ms((long)round % 5);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(pthread_join(thread, NULL), 0);
        EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    usher_close(pool);
}

static void a_removed_pool_grants_no_seat(void)
{
    for (unsigned round = 0; round < 60; round++) {
        struct usher_pool *pool = open_pool("removed", 1);
        atomic_store(&shared->go, 0);
        atomic_store(&shared->removed, 0);
        pid_t user = fork();
        if (user == 0) {
            struct usher_pool *own = open_pool("removed", 1);
            struct usher_seat seat;
            atomic_store(&shared->go, 1);
            for (;;) {
                int error = usher_acquire(own, &seat);
                if (error == 0 && atomic_load(&shared->removed) == 1) {
                    _exit(1);
                }
                if (error == -EIDRM && atomic_load(&shared->removed) == 1) {
                    _exit(0);
                }
                if (error == 0) {
                    (void)usher_release(own, &seat);
                }
            }
        }
        wait_for(&shared->go, 1);
        while (usher_remove("removed") == -EBUSY) {
        }
        atomic_store(&shared->removed, 1);
        int status;
        EXPECT_EQ(waitpid(user, &status, 0), user);
        EXPECT_EQ(status, 0);
        usher_close(pool);
    }
}

/* Write into the header what a killed remover leaves: docs/pool-format.md. */
static void say_removed(struct usher_pool *pool, uint32_t mark)
{
    int fd = open(usher_path(pool), O_RDWR);
    EXPECT(fd >= 0);
    EXPECT_EQ(pwrite(fd, &mark, sizeof mark, 128), sizeof mark);
    EXPECT_EQ(close(fd), 0);
}

static void a_remover_that_died_undecided_leaves_the_pool_in_use(void)
{
    struct usher_pool *pool = open_pool("undecided", 1);
    struct usher_seat seat;
    struct usher_seat other;
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    say_removed(pool, 1);
    EXPECT_EQ(usher_try_acquire(pool, &other), -EIDRM); /* until the next scan */
    struct usher_pool *newcomer = open_pool("undecided", 1);
    EXPECT_EQ(usher_try_acquire(newcomer, &other), -EAGAIN);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_try_acquire(pool, &other), 0);
    EXPECT_EQ(usher_release(pool, &other), 0);
    usher_close(newcomer);
    /* A remover that had decided counts: the name goes to a new pool. */
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    say_removed(pool, 2);
    newcomer = open_pool("undecided", 1);
    EXPECT_EQ(usher_try_acquire(newcomer, &other), 0);
    EXPECT_EQ(usher_release(newcomer, &other), 0);
    usher_close(newcomer);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    usher_close(pool);
    EXPECT_EQ(usher_remove("undecided"), 0);
}

/* Close gave back the seats one by one and freed its data about each. It read that data again
   when the next seat went to a waiter that did not wake. */
static void a_handle_with_two_seats_is_closed_while_a_waiter_is_stopped(void)
{
    struct usher_pool *pool = open_pool("closing", 2);
    struct usher_seat seat;
    struct usher_info info;
    pid_t waiters[2];
    int status;
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    atomic_store(&shared->go, 0);
    for (uint32_t w = 0; w < 2; w++) {
        waiters[w] = fork();
        if (waiters[w] == 0) {
            struct usher_pool *own = open_pool("closing", 2);
            EXPECT_EQ(usher_acquire(own, &seat), 0);
            wait_for(&shared->go, 1);
            _exit(0);
        }
        wait_for_waiters(pool, w + 1);
    }
    EXPECT_EQ(kill(waiters[1], SIGSTOP), 0);
    EXPECT_EQ(waitpid(waiters[1], &status, WUNTRACED), waiters[1]);
    usher_close(pool);
    EXPECT_EQ(kill(waiters[1], SIGCONT), 0);
    atomic_store(&shared->go, 1);
    for (uint32_t w = 0; w < 2; w++) {
        EXPECT_EQ(waitpid(waiters[w], &status, 0), waiters[w]);
        EXPECT_EQ(status, 0);
    }
    pool = open_pool("closing", 2);
    EXPECT(usher_reap(pool) >= 0);
    EXPECT(usher_inspect(pool, &info, NULL, 0) == 0);
    EXPECT_EQ(info.free, 2);
    usher_close(pool);
}

int main(void)
{
    EXPECT(mkdtemp(directory) != NULL);
    EXPECT_EQ(setenv("USHER_DIR", directory, 1), 0);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(shared != MAP_FAILED);
    RUN(a_holder_without_free_descriptors_does_not_count_as_dead);
    RUN(growing_first_cancels_owed_seats);
    RUN(a_newcomer_behind_dead_waiters_does_not_wait_long);
    RUN(a_seat_assigned_to_a_foreign_process_outlives_its_giver);
    RUN(a_thread_cancelled_in_a_wait_keeps_no_seat);
    RUN(a_removed_pool_grants_no_seat);
    RUN(a_remover_that_died_undecided_leaves_the_pool_in_use);
    RUN(a_handle_with_two_seats_is_closed_while_a_waiter_is_stopped);
    (void)usher_remove("closing");
    (void)usher_remove("descriptors");
    (void)usher_remove("owed");
    (void)usher_remove("dead-line");
    (void)usher_remove("assigned");
    (void)usher_remove("cancel");
    (void)rmdir(directory);
    return 0;
}
