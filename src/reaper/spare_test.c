/*
 * A process without free descriptors still finds deaths: it keeps one descriptor in reserve
 * (os_linux.c). It scans what it cannot watch every 85 ms, not all the time.
 */
#include "mortals.h"

#include "pool/pool.h"

#include <sys/resource.h>

enum { FEW = 64, FOUND_MS = 5000 };

static void idle(void *unused)
{
    (void)unused;
    stay();
}

static void acquire_and_assign(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("spare", 0);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, (pid_t)atomic_load(&board->flags[0])), 0);
    usher_close(pool);
}

static pid_t assign_the_seat(void (*live)(void *))
{
    pid_t heir = scene_start(live, NULL);
    atomic_store(&board->flags[0], heir);
    scene_in_child(acquire_and_assign, NULL);
    return heir;
}

static void use_up_descriptors(void)
{
    struct rlimit few = {FEW, FEW};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (dup(0) >= 0) {
    }
    EXPECT_EQ(errno, EMFILE);
}

/* Result on the board: result[1] and seat[1], when step[1] is SCENE_DONE. */
static void wait_without_descriptors(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("spare", 0);
    struct timespec deadline = scene_in_ms(20000);
    use_up_descriptors();
    expect_taken(pool); /* the holder lives */
    atomic_store(&board->step[1], SCENE_BEGAN);
    atomic_store(&board->result[1], usher_acquire_until(pool, &board->seat[1], &deadline));
    atomic_store(&board->step[1], SCENE_DONE);
    if (atomic_load(&board->result[1]) == 0) {
        EXPECT_EQ(usher_release(pool, &board->seat[1]), 0);
    }
    EXPECT_EQ(dup(0), -1); /* there were none left all the time */
    usher_close(pool);
    EXPECT(dup(0) >= 0);
}

/* How many times a process has gone to sleep so far. */
static long sleeps_of(pid_t process)
{
    char path[64];
    char line[256];
    long sleeps = -1;
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    FILE *file = fopen(path, "re");
    EXPECT(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps);
    }
    (void)fclose(file);
    EXPECT(sleeps >= 0);
    return sleeps;
}

static void a_waiter_without_descriptors_finds_a_zombie_heir(void)
{
    struct usher_pool *pool = scene_open("spare", 1);
    scene_clear();
    pid_t heir = assign_the_seat(idle);
    pid_t waiter = scene_start(wait_without_descriptors, NULL);
    UNTIL(atomic_load(&board->step[1]) == SCENE_BEGAN && scene_info(pool).waiters == 1);
    scene_pause_us(300000);
    EXPECT_EQ(atomic_load(&board->step[1]), SCENE_BEGAN); /* a live heir is not taken for dead */
    kill_to_zombie(heir);
    int64_t began = scene_now_ns();
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    long ms = (long)((scene_now_ns() - began) / 1000000);
    (void)printf("  the next was in after %ld ms\n", ms);
    EXPECT_EQ(atomic_load(&board->result[1]), 0);
    EXPECT_EQ(board->seat[1].flags, USHER_INHERITED);
    EXPECT(ms < FOUND_MS);
    EXPECT_EQ(scene_end(waiter), 0);
    EXPECT_EQ(scene_end(heir), SIGKILL);
    finish(pool, "spare", 1);
}

static void exit_on_command(void *unused)
{
    (void)unused;
    UNTIL(atomic_load(&board->flags[1]) == 1);
}

/* A command that exits has released its seat. */
static void a_waiter_without_descriptors_tells_an_exit_from_a_kill(void)
{
    siginfo_t info;
    struct usher_pool *pool = scene_open("spare", 1);
    scene_clear();
    pid_t heir = assign_the_seat(exit_on_command);
    pid_t waiter = scene_start(wait_without_descriptors, NULL);
    UNTIL(atomic_load(&board->step[1]) == SCENE_BEGAN && scene_info(pool).waiters == 1);
    atomic_store(&board->flags[1], 1);
    EXPECT_EQ(waitid(P_PID, (id_t)heir, &info, WEXITED | WNOWAIT), 0);
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    EXPECT_EQ(board->seat[1].flags, 0);
    EXPECT_EQ(scene_end(waiter), 0);
    EXPECT_EQ(scene_end(heir), 0);
    finish(pool, "spare", 1);
}

/* It scans at once, then every 85 ms: 12 times a second. */
static void a_waiter_that_cannot_watch_scans_every_85_ms(void)
{
    struct usher_pool *pool = scene_open("spare", 1);
    scene_clear();
    pid_t heir = assign_the_seat(idle);
    pid_t waiter = scene_start(wait_without_descriptors, NULL);
    UNTIL(atomic_load(&board->step[1]) == SCENE_BEGAN && scene_info(pool).waiters == 1);
    UNTIL(process_state(waiter) == 'S');
    long before = sleeps_of(waiter);
    int64_t began = scene_now_ns();
    UNTIL(sleeps_of(waiter) >= before + 12);
    double seconds = (double)(scene_now_ns() - began) / 1e9;
    (void)printf("  it slept 12 times in %.2f s\n", seconds);
    EXPECT(seconds > 0.24); /* not all the time: at most 50 times a second */
    scene_kill(waiter);
    scene_kill(heir);
    EXPECT(usher_reap(pool) >= 1);
    finish(pool, "spare", 1);
}

/* The reserved descriptor is closed with the last pool. */
static void no_descriptor_is_left_when_all_pools_are_closed(void)
{
    int before = scene_descriptors();
    struct usher_pool *pools[3];
    for (int round = 0; round < 2; round++) {
        for (int p = 0; p < 3; p++) {
            pools[p] = scene_open("spare", 1);
        }
        EXPECT_EQ(scene_descriptors(), before + 4); /* one in reserve, and three files */
        for (int p = 0; p < 3; p++) {
            usher_close(pools[p]);
        }
        EXPECT_EQ(scene_descriptors(), before);
    }
    EXPECT_EQ(usher_remove("spare"), 0);
}

int main(void)
{
    scene_begin();
    RUN(a_waiter_without_descriptors_finds_a_zombie_heir);
    RUN(a_waiter_without_descriptors_tells_an_exit_from_a_kill);
    RUN(a_waiter_that_cannot_watch_scans_every_85_ms);
    RUN(no_descriptor_is_left_when_all_pools_are_closed);
    return 0;
}
