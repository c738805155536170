/*
 * One seat, two processes: a waiter that sleeps in line, and a holder that releases the seat and
 * acquires it again at once. The waiter takes long to wake, and the holder takes no time, but the
 * waiter gets the seat first in each of 1,000 trials.
 *
 * usage: cli_overtake [TRIALS]
 */
#include "process_state.h"
#include "test.h"
#include "usher.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    _Atomic long trial;   /* the number of the trial: the waiter acquires the seat once per trial */
    _Atomic long entered; /* how often either process has got the seat */
    _Atomic long turn;    /* the value of `entered` when the waiter got the seat in this trial */
} * shared;

static struct usher_pool *open_pool(const char *path)
{
    struct usher_pool *pool;
    EXPECT_EQ(usher_open(&pool, path, &(struct usher_options){.seats = 1}), 0);
    return pool;
}

static void run_waiter(const char *path, long trials)
{
    struct usher_pool *pool = open_pool(path);
    struct usher_seat seat;
    for (long trial = 1; trial <= trials; trial++) {
        while (atomic_load(&shared->trial) < trial) {
            (void)usleep(50);
        }
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
        atomic_store(&shared->turn, atomic_fetch_add(&shared->entered, 1));
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    usher_close(pool);
}

/* Is the waiter in line and asleep? */
static bool sleeps_in_line(struct usher_pool *pool, pid_t waiter)
{
    struct usher_info info;
    EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
    EXPECT(process_state(waiter) != 'Z');
    return info.waiters == 1 && process_state(waiter) == 'S';
}

int main(int argc, char **argv)
{
    long trials = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    long overtaken = 0;
    struct usher_seat seat;
    char directory[] = "/tmp/usher-overtake-XXXXXX";
    char path[64];
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(shared != MAP_FAILED);
    EXPECT(mkdtemp(directory) != NULL);
    (void)snprintf(path, sizeof path, "%s/pool", directory);
    pid_t waiter = fork();
    if (waiter == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_waiter(path, trials);
        exit(0);
    }
    (void)alarm(200);
    struct usher_pool *pool = open_pool(path);
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    for (long trial = 1; trial <= trials; trial++) {
        atomic_store(&shared->trial, trial);
        while (!sleeps_in_line(pool, waiter)) {
            (void)usleep(50);
        }
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
        overtaken += atomic_fetch_add(&shared->entered, 1) < 2 * trial - 1;
        EXPECT_EQ(atomic_load(&shared->turn), 2 * trial - 2);
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    int status;
    EXPECT_EQ(waitpid(waiter, &status, 0), waiter);
    EXPECT_EQ(status, 0);
    usher_close(pool);
    EXPECT_EQ(usher_remove(path), 0);
    EXPECT_EQ(rmdir(directory), 0);
    (void)printf("overtaken in %ld of %ld trials\n", overtaken, trials);
    return overtaken == 0 ? 0 : 1;
}
