/*
 * The watchdog: a death wakes its waiter however long the waiter means to sleep. The thread handles
 * no signals, and it ends with the wait.
 */
#include "mortals.h"

#include "pool/pool.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

static _Atomic uint64_t word;

static void idle(void *unused)
{
    (void)unused;
    stay();
}

/* The newest thread of a process: its watchdog, if it has one. */
static long newest_thread_of(pid_t process)
{
    char path[64];
    long newest = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
    DIR *directory = opendir(path);
    EXPECT(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        newest = entry->d_name[0] != '.' ? strtol(entry->d_name, NULL, 10) : newest;
    }
    (void)closedir(directory);
    return newest;
}

static int threads_at_first; /* before the first watchdog */

static void *be_known(void *tid)
{
    *(long *)tid = syscall(SYS_gettid);
    return NULL;
}

/* A sanitizer may start a thread of its own with our first one. */
static void count_threads(void)
{
    pthread_t thread;
    char path[64];
    long tid = 0;
    EXPECT_EQ(pthread_create(&thread, NULL, be_known, &tid), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld", tid);
    UNTIL(access(path, F_OK) != 0); /* /proc shows a joined thread for a moment */
    threads_at_first = process_threads(getpid());
}

static struct pollfd watch(pid_t process)
{
    struct os_identity identity;
    EXPECT_EQ(os_identify(process, &identity), 0);
    return (struct pollfd){.fd = os_watch_process(process, &identity), .events = POLLIN};
}

static void a_death_wakes_a_sleeper_that_would_sleep_for_ever(void)
{
    pid_t mortals[3];
    struct pollfd watched[3];
    for (int m = 0; m < 3; m++) {
        mortals[m] = scene_start(idle, NULL);
        watched[m] = watch(mortals[m]);
    }
    struct watchdog *watchdog = usher__watchdog_begin(&word, watched, 3);
    EXPECT(watchdog != NULL);
    EXPECT(!usher__watchdog_barked(watchdog));
    scene_kill(mortals[1]);
    /* the waiter sleeps before the death, or after it */
    while (!usher__watchdog_barked(watchdog)) {
        (void)os_sleep(&word, 0, INT64_MAX, true);
    }
    usher__watchdog_end(watchdog);
    for (int m = 0; m < 3; m++) {
        (void)close(watched[m].fd);
    }
    scene_kill(mortals[0]);
    scene_kill(mortals[2]);
}

static void a_waiter_that_falls_asleep_after_the_death_is_woken(void)
{
    pid_t mortal = scene_start(idle, NULL);
    struct pollfd watched = watch(mortal);
    struct watchdog *watchdog = usher__watchdog_begin(&word, &watched, 1);
    scene_kill(mortal);
    UNTIL(usher__watchdog_barked(watchdog));
    EXPECT_EQ(os_sleep(&word, 0, INT64_MAX, true), 0);
    usher__watchdog_end(watchdog);
    (void)close(watched.fd);
}

static void a_watchdog_can_be_stopped(void)
{
    pid_t mortal = scene_start(idle, NULL);
    struct pollfd watched = watch(mortal);
    UNTIL(process_threads(getpid()) ==
          threads_at_first); /* the threads of earlier tests have ended */
    int descriptors = scene_descriptors();
    for (int round = 0; round < SCENE_ROUNDS(200); round++) {
        struct watchdog *watchdog = usher__watchdog_begin(&word, &watched, 1);
        EXPECT(watchdog != NULL);
        usher__watchdog_end(watchdog);
    }
    UNTIL(process_threads(getpid()) == threads_at_first);
    EXPECT_EQ(scene_descriptors(), descriptors);
    scene_kill(mortal);
    (void)close(watched.fd);
}

static _Atomic long handled_by;

static void handle(int signal)
{
    (void)signal;
    atomic_store(&handled_by, syscall(SYS_gettid));
}

static void a_watchdog_handles_no_signals(void)
{
    struct sigaction action = {.sa_handler = handle};
    sigset_t one;
    pid_t mortal = scene_start(idle, NULL);
    struct pollfd watched = watch(mortal);
    EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    (void)sigemptyset(&one);
    (void)sigaddset(&one, SIGUSR1);
    struct watchdog *watchdog = usher__watchdog_begin(&word, &watched, 1);
    /* now only the watchdog could handle it */
    EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
    EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
    usher__watchdog_end(watchdog);
    EXPECT_EQ(atomic_load(&handled_by), 0);
    EXPECT_EQ(pthread_sigmask(SIG_UNBLOCK, &one, NULL), 0);
    EXPECT_EQ(atomic_load(&handled_by), syscall(SYS_gettid));
    scene_kill(mortal);
    (void)close(watched.fd);
}

static void the_first_in_line_has_a_watchdog_and_a_holder_has_none(void)
{
    struct usher_pool *pool = scene_open("watchdog", 1);
    scene_clear();
    pid_t holder = scene_holder(0, "watchdog");
    pid_t first = scene_waiter(1, "watchdog", 1);
    pid_t second = scene_waiter(2, "watchdog", 2);
    const int alone = process_threads(holder); /* a sanitizer may have one of its own */
    UNTIL(process_threads(first) == alone + 1);
    EXPECT_EQ(process_threads(second), alone);
    scene_kill(holder);
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    UNTIL(process_threads(first) == alone);
    UNTIL(process_threads(second) == alone + 1); /* it is the first now */
    scene_kill(first);
    UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
    EXPECT_EQ(board->seat[2].flags, USHER_INHERITED);
    scene_leave(2, second);
    finish(pool, "watchdog", 1);
}

static void at_most_three_waiters_have_a_watchdog(void)
{
    enum { LINE = 6 };
    struct usher_pool *pool = scene_open("watchdog", 1);
    pid_t waiters[LINE];
    scene_clear();
    pid_t holder = scene_holder(0, "watchdog");
    const int alone = process_threads(holder);
    for (int w = 0; w < LINE; w++) {
        waiters[w] = scene_waiter(w + 1, "watchdog", (uint32_t)w + 1);
    }
    UNTIL(process_threads(waiters[0]) == alone + 1);
    int64_t until = scene_now_ns() + 1500000000; /* the third scans every second */
    while (scene_now_ns() < until) {
        int watchdogs = 0;
        for (int w = 0; w < LINE; w++) {
            watchdogs += process_threads(waiters[w]) - alone;
        }
        EXPECT(watchdogs <= 3);
        scene_pause_us(10000);
    }
    scene_leave(0, holder);
    for (int w = 0; w < LINE; w++) {
        UNTIL(atomic_load(&board->step[w + 1]) == SCENE_DONE);
        scene_leave(w + 1, waiters[w]);
    }
    finish(pool, "watchdog", 1);
}

/* Is its watchdog the same thread after two more scans? */
static bool keeps_its_watchdog(pid_t process)
{
    long before = newest_thread_of(process);
    scene_pause_us(2400000);
    return newest_thread_of(process) == before;
}

/* The first in line scans every second. The watchdog stays if it watches the same processes. */
static void a_watchdog_stays_as_long_as_nothing_happens(void)
{
    struct usher_pool *pool = scene_open("watchdog", 1);
    scene_clear();
    pid_t holder = scene_holder(0, "watchdog");
    const int alone = process_threads(holder);
    pid_t first = scene_waiter(1, "watchdog", 1);
    UNTIL(process_threads(first) == alone + 1);
    pid_t second = scene_waiter(2, "watchdog", 2);
    UNTIL(keeps_its_watchdog(first)); /* after the first has seen the second */
    EXPECT_EQ(process_threads(first), alone + 1);
    scene_kill(holder);
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    scene_leave(1, first);
    UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
    scene_leave(2, second);
    finish(pool, "watchdog", 1);
}

/* No guest needs to release a seat before. */
static void waiters_behind_find_a_dead_first_in_line(void)
{
    struct usher_pool *pool = scene_open("watchdog", 1);
    scene_clear();
    pid_t holder = scene_holder(0, "watchdog");
    pid_t waiters[3];
    for (int w = 0; w < 3; w++) {
        waiters[w] = scene_waiter(w + 1, "watchdog", (uint32_t)w + 1);
    }
    scene_kill(waiters[0]);
    UNTIL(scene_info(pool).waiters == 2);
    EXPECT_EQ(scene_info(pool).reaped, 1);
    scene_leave(0, holder);
    for (int w = 1; w < 3; w++) {
        UNTIL(atomic_load(&board->step[w + 1]) == SCENE_DONE);
        EXPECT_EQ(board->seat[w + 1].flags, 0);
        scene_leave(w + 1, waiters[w]);
    }
    finish(pool, "watchdog", 1);
}

int main(void)
{
    scene_begin();
    count_threads();
    RUN(a_death_wakes_a_sleeper_that_would_sleep_for_ever);
    RUN(a_waiter_that_falls_asleep_after_the_death_is_woken);
    RUN(a_watchdog_can_be_stopped);
    RUN(a_watchdog_handles_no_signals);
    RUN(waiters_behind_find_a_dead_first_in_line);
    RUN(the_first_in_line_has_a_watchdog_and_a_holder_has_none);
    RUN(at_most_three_waiters_have_a_watchdog);
    RUN(a_watchdog_stays_as_long_as_nothing_happens);
    return 0;
}
