/*
 * A control for tools/kernels: the load that usher puts on a kernel, without usher. If a machine
 * stands still under this program, too, it is not usher that stops it.
 *
 * Processes on one shared page pass a turn around. A process whose turn it is not reads the clock
 * and yields for a while, then sleeps in a futex with a timeout, as a waiter of a pool does. The
 * parent kills one of them after each so many turns, reaps it, starts another in its place and
 * passes the turn on if the dead one had it. Every second it prints "control TURNS turns KILLS
 * kills". Exits 1 if no turn was passed for 20 seconds.
 *
 * usage: kernel_control [SECONDS [PROCESSES]]
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST = 64,           /* processes */
    AWAKE_NS = 50000,    /* yields for so long before it sleeps, as a waiter may */
    SLEEP_MS = 85,       /* and looks again after this time, as the first waiter does */
    STUCK_SECONDS = 20,  /* without a turn: a second is long even under emulation */
    TURNS_PER_KILL = 50, /* on average a kill every few milliseconds */
};

struct page {
    _Atomic uint32_t turn; /* counts; belongs to process turn % processes */
};

static struct page *page;
static uint32_t processes = 8;

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void pass_on(uint32_t turn)
{
    if (atomic_compare_exchange_strong(&page->turn, &turn, turn + 1)) {
        (void)syscall(SYS_futex, &page->turn, FUTEX_WAKE, MOST, NULL, NULL, 0);
    }
}

static _Noreturn void take_turns(uint32_t self)
{
    const struct timespec pause = {.tv_nsec = SLEEP_MS * 1000000L};
    for (;;) {
        uint32_t turn = atomic_load(&page->turn);
        int64_t until = now_ns() + AWAKE_NS;
        while (turn % processes != self && now_ns() < until) {
            (void)sched_yield();
            turn = atomic_load(&page->turn);
        }
        if (turn % processes == self) {
            pass_on(turn);
        } else {
            (void)syscall(SYS_futex, &page->turn, FUTEX_WAIT, turn, &pause, NULL, 0);
        }
    }
}

static pid_t start(uint32_t self)
{
    pid_t pid = fork();
    if (pid == 0) {
        take_turns(self);
    }
    if (pid < 0) {
        perror("kernel_control: fork");
        exit(1);
    }
    return pid;
}

static void kill_and_replace(pid_t *pids, uint32_t victim)
{
    (void)kill(pids[victim], SIGKILL);
    (void)waitpid(pids[victim], NULL, 0);
    pids[victim] = start(victim);
    uint32_t turn = atomic_load(&page->turn);
    if (turn % processes == victim) {
        pass_on(turn);
    }
}

int main(int argc, char **argv)
{
    static pid_t pids[MOST];
    int64_t seconds = argc > 1 ? strtoll(argv[1], NULL, 10) : 20;
    if (argc > 2) {
        processes = (uint32_t)strtoul(argv[2], NULL, 10);
    }
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || processes < 2 || processes > MOST || seconds < 1) {
        (void)fprintf(stderr, "usage: kernel_control [SECONDS [PROCESSES]] (2 to %d)\n", MOST);
        return 64;
    }
    for (uint32_t p = 0; p < processes; p++) {
        pids[p] = start(p);
    }
    int64_t end = now_ns() + seconds * 1000000000LL;
    int64_t next = now_ns();
    int64_t moved = now_ns();
    uint32_t kills = 0;
    uint32_t seen = 0;
    while (now_ns() < end && now_ns() < moved + STUCK_SECONDS * 1000000000LL) {
        uint32_t turn = atomic_load(&page->turn);
        moved = turn != seen ? now_ns() : moved;
        if (turn - seen >= TURNS_PER_KILL) {
            kill_and_replace(pids, kills++ % processes);
            seen = turn;
        }
        if (now_ns() >= next) {
            (void)printf("control %u turns %u kills\n", turn, kills);
            (void)fflush(stdout);
            next += 1000000000LL;
        }
        (void)usleep(1000);
    }
    for (uint32_t p = 0; p < processes; p++) {
        (void)kill(pids[p], SIGKILL);
        (void)waitpid(pids[p], NULL, 0);
    }
    return now_ns() < moved + STUCK_SECONDS * 1000000000LL ? 0 : 1;
}
