/*
 * usher_inspect of a pool with 10,000 guests, 100 threads in each of 100 processes. How long does a
 * snapshot of waiters or of holders take? Does it slow the pool?
 *
 * For the second question one guest acquires and releases while another process inspects all the
 * time. The control is the same guest while the other process inspects another pool with as many
 * holders. Inspecting reads megabytes. Where two CPUs share a core or a cache, that slows the
 * neighbour, whatever memory is read. The control reads as much, but memory that the guest does not
 * use. A third case, with a neighbour that only counts, is shown as well.
 */
#include "bench/bench.h"
#include "bench/herd.h"
#include "bench/peers.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_PROCESSES = 100, ROUNDS = 16 };
/* What the other process does while the guest acquires and releases. */
enum neighbour { BUSY, INSPECTS_OTHER, INSPECTS, NEIGHBOURS };
static const char *const neighbours[NEIGHBOURS] = {
    "other process only busy",
    "other process inspects another pool",
    "other process inspects the pool",
};

static struct shared {
    _Atomic uint32_t stop, ready;
    double turns, longest_us;
} * shared;
static pid_t crowd[MOST_PROCESSES];
static unsigned processes, threads;
static char other_name[64];      /* name of the other pool */
static struct usher_pool *other; /* the other pool, for guests of both */

static void stay(unsigned member)
{
    struct usher_seat seat;
    (void)member;
    bench_usher_pool.get();
    if (other != NULL) {
        (void)usher_acquire(other, &seat);
    }
}

static bool attach(bool both)
{
    struct usher_options options = {.flags = USHER_EXISTING};
    return bench_usher_pool.attach() == 0 &&
           (!both || usher_open(&other, other_name, &options) == 0);
}

static bool is_full(struct usher_pool *pool)
{
    struct usher_info info = {0};
    (void)usher_inspect(pool, &info, NULL, 0);
    return info.holders + info.waiters >= processes * threads;
}

/* Start all guests, in a second pool as well if there is one, and wait until each holds or
   waits. */
static bool start_guests(struct usher_pool *pool, struct usher_pool *second)
{
    for (unsigned p = 0; p < processes; p++) {
        crowd[p] = bench_fork();
        if (crowd[p] == 0) {
            struct herd *herd = attach(second != NULL) ? herd_new(threads) : NULL;
            for (unsigned t = 0; herd != NULL && t < threads; t++) {
                herd_tell(herd, t, stay);
            }
            for (;;) {
                (void)pause();
            }
        }
    }
    for (unsigned polls = 0; polls < 600; polls++) {
        if (is_full(pool) && (second == NULL || is_full(second))) {
            bench_nap_us(bench_pick(1000000, 500000, 10000)); /* every waiter has scanned once */
            return true;
        }
        bench_nap_us(50000);
    }
    return false;
}

static void kill_guests(void)
{
    for (unsigned p = 0; p < processes; p++) {
        (void)kill(crowd[p], SIGKILL);
        (void)waitpid(crowd[p], NULL, 0);
    }
}

static double status_ms(void)
{
    char usher[PATH_MAX];
    char pool[80];
    pid_t child;
    posix_spawn_file_actions_t files;
    int status = 1;
    bench_program(usher, sizeof usher, "usher");
    (void)snprintf(pool, sizeof pool, "%s", bench_pool());
    char *const words[] = {usher, "status", pool, NULL};
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    double begin = bench_now_ns();
    if (posix_spawn(&child, usher, &files, NULL, words, environ) == 0) {
        (void)waitpid(child, &status, 0);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return (bench_now_ns() - begin) / 1e6;
}

/* Measure the ms of a snapshot, and of usher status. */
static void measure_inspect(struct usher_pool *pool, const char *where, double x)
{
    double ms[64];
    double status[8];
    unsigned snapshots = bench_pick(40, 15, 2);
    unsigned runs = bench_pick(5, 2, 1);
    size_t room = (size_t)processes * threads + 16;
    struct usher_guest *guests = calloc(room, sizeof *guests);
    for (unsigned l = 0; l < snapshots && guests != NULL; l++) {
        struct usher_info info;
        double begin = bench_now_ns();
        (void)usher_inspect(pool, &info, guests, room);
        ms[l] = (bench_now_ns() - begin) / 1e6;
    }
    for (unsigned r = 0; r < runs; r++) {
        status[r] = status_ms();
    }
    free(guests);
    bench_row(where, x, "usher_inspect", ms, snapshots);
    bench_row(where, x, "usher status, whole command", status, runs);
}

static void come_and_go(void)
{
    const struct bench_peer *peer = &bench_usher_pool;
    double turns = 0;
    double longest = 0;
    if (peer->attach() != 0) {
        _exit(1);
    }
    peer->run(100);
    atomic_store(&shared->ready, 1);
    double before = bench_now_ns();
    for (; atomic_load(&shared->stop) == 0; turns++) {
        peer->run(1);
        double now = bench_now_ns();
        longest = now - before > longest ? now - before : longest;
        before = now;
    }
    shared->turns = turns;
    shared->longest_us = longest / 1000;
    _exit(0);
}

static void be_neighbour(enum neighbour what)
{
    struct usher_info info;
    struct usher_pool *pool = NULL;
    size_t room = (size_t)processes * threads + 16;
    struct usher_guest *guests = calloc(room, sizeof *guests);
    struct usher_options options = {.flags = USHER_EXISTING};
    if (guests == NULL ||
        usher_open(&pool, what == INSPECTS_OTHER ? other_name : bench_pool(), &options) != 0) {
        _exit(1);
    }
    while (atomic_load(&shared->stop) == 0) {
        if (what == BUSY) {
            bench_work_ns(100000);
        } else {
            (void)usher_inspect(pool, &info, guests, room);
        }
    }
    _exit(0);
}

/* Return the turns per second of the guest; 0: the other process could not start. */
static double turns(enum neighbour what, double *longest_us)
{
    int status = 1;
    shared->stop = shared->ready = 0;
    pid_t neighbour = bench_fork();
    if (neighbour == 0) {
        be_neighbour(what);
    }
    pid_t guest = bench_fork();
    if (guest == 0) {
        come_and_go();
    }
    while (atomic_load(&shared->ready) == 0) {
        bench_nap_us(1000);
    }
    double begin = bench_now_ns();
    bench_nap_us(bench_pick(300, 150, 20) * 1000);
    atomic_store(&shared->stop, 1);
    double elapsed = bench_now_ns() - begin;
    (void)waitpid(guest, NULL, 0);
    (void)waitpid(neighbour, &status, 0);
    *longest_us = shared->longest_us;
    return status == 0 ? shared->turns * 1e9 / elapsed : 0;
}

static double speed[NEIGHBOURS][ROUNDS], longest_us[NEIGHBOURS][ROUNDS];

static void measure_turns(unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < NEIGHBOURS; i++) {
            unsigned n = (i + round) % NEIGHBOURS;
            speed[n][round] = turns((enum neighbour)n, &longest_us[n][round]);
        }
    }
}

static void report_turns(unsigned rounds)
{
    bench_table("inspect", "turns", "acquire and release, beside another process", "1/s", "more");
    for (unsigned n = 0; n < NEIGHBOURS; n++) {
        bench_row("", 0, neighbours[n], speed[n], rounds);
    }
    bench_show();
    bench_want("turns a second while another process inspects / while it inspects another pool",
               bench_ratio(speed[INSPECTS], speed[INSPECTS_OTHER], rounds), false, 0.9);
    bench_tell("turns a second while another process inspects another pool / while it is only busy",
               bench_ratio(speed[INSPECTS_OTHER], speed[BUSY], rounds));
    bench_table("inspect", "longest", "acquire and release, the longest turn", "us", "less");
    for (unsigned n = 0; n < NEIGHBOURS; n++) {
        bench_row("", 0, neighbours[n], longest_us[n], rounds);
    }
    bench_show();
}

static void close_and_discard(struct usher_pool *pool, const char *name)
{
    usher_close(pool);
    (void)usher_discard(name);
}

/* Measure a pool of `guests` guests, all holders (of another pool as well) or all waiters.
   Return whether they could be started. */
static bool with_pool(unsigned guests, bool in, unsigned rounds)
{
    struct usher_options options = {.seats = in ? guests + 1 : 1, .guests = guests + 16};
    struct usher_pool *pool;
    struct usher_pool *second = NULL;
    struct usher_seat seat;
    char where[48];
    if (usher_open(&pool, bench_pool(), &options) != 0) {
        return false;
    }
    if (in && usher_open(&second, other_name, &options) != 0) {
        close_and_discard(pool, bench_pool());
        return false;
    }
    (void)snprintf(where, sizeof where, "%u %s", guests, in ? "holders" : "waiters");
    if (!in) {
        (void)usher_acquire(pool, &seat);
    }
    bool all = start_guests(pool, second);
    if (all) {
        measure_inspect(pool, where, guests);
    }
    if (all && in) {
        measure_turns(rounds);
    }
    kill_guests();
    close_and_discard(pool, bench_pool());
    if (second != NULL) {
        close_and_discard(second, other_name);
    }
    return all;
}

void bench_inspect(void)
{
    unsigned rounds = bench_pick(9, 3, 1);
    processes = bench_pick(100, 20, 4);
    threads = bench_pick(100, 100, 5);
    unsigned guests = processes * threads;
    shared = bench_shared(sizeof *shared);
    bench_path(other_name, sizeof other_name, "elsewhere");
    bench_work_ns(1);
    bench_table("inspect", "snapshot", "inspecting a pool with many guests", "ms", "less");
    bool waiters = with_pool(guests, false, rounds);
    bool holders = waiters && with_pool(guests, true, rounds);
    if (holders) {
        bench_show();
        bench_want_rows("usher_inspect", 10);
        report_turns(rounds);
    } else {
        bench_absent("inspect", "all", "cannot start so many guests");
    }
    bench_unshare(shared, sizeof *shared);
}
