/*
 * Looking at a pool with 10,000 guests, 100 threads in each of 100 processes: how long a snapshot
 * takes, of waiters and of holders; and whether the pool goes on meanwhile. That is measured by one
 * who comes and goes while another process looks all the time, against the same while that other
 * process looks all the time at another pool, of as many holders. Who looks reads megabytes, and
 * where two processors share a core or a cache that slows its neighbour, whatever is read: the
 * control does the same, but to what the neighbour does not use. How fast it is beside one that
 * only counts is shown, too.
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
/* What the neighbour of one who comes and goes does. */
enum neighbour { BUSY, LOOKS_ELSEWHERE, LOOKS, NEIGHBOURS };
static const char *const neighbours[NEIGHBOURS] = {
    "it only keeps busy",
    "it looks at another pool all the time",
    "it looks at the pool all the time",
};

static struct shared {
    _Atomic uint32_t stop, ready;
    double turns, longest_us;
} * shared;
static pid_t crowd[MOST_PROCESSES];
static unsigned processes, threads;
static char elsewhere[64];       /* the other pool */
static struct usher_pool *other; /* of a guest that is in both */

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
           (!both || usher_open(&other, elsewhere, &options) == 0);
}

static bool is_full(struct usher_pool *pool)
{
    struct usher_info info = {0};
    (void)usher_inspect(pool, &info, NULL, 0);
    return info.holders + info.waiters >= processes * threads;
}

/* So many guests, of a second pool, too, if there is one; wait until they are all known there. */
static bool gather(struct usher_pool *pool, struct usher_pool *second)
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
    for (unsigned look = 0; look < 600; look++) {
        if (is_full(pool) && (second == NULL || is_full(second))) {
            bench_nap_us(bench_pick(1000000, 500000, 10000)); /* all have looked about once */
            return true;
        }
        bench_nap_us(50000);
    }
    return false;
}

static void disperse(void)
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

/* ms of snapshots, and of usher status. */
static void look(struct usher_pool *pool, const char *where, double x)
{
    double ms[64];
    double status[8];
    unsigned looks = bench_pick(40, 15, 2);
    unsigned runs = bench_pick(5, 2, 1);
    size_t room = (size_t)processes * threads + 16;
    struct usher_guest *guests = calloc(room, sizeof *guests);
    for (unsigned l = 0; l < looks && guests != NULL; l++) {
        struct usher_info info;
        double begin = bench_now_ns();
        (void)usher_inspect(pool, &info, guests, room);
        ms[l] = (bench_now_ns() - begin) / 1e6;
    }
    for (unsigned r = 0; r < runs; r++) {
        status[r] = status_ms();
    }
    free(guests);
    bench_row(where, x, "usher_inspect", ms, looks);
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
        usher_open(&pool, what == LOOKS_ELSEWHERE ? elsewhere : bench_pool(), &options) != 0) {
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

/* Turns a second of one who comes and goes; 0 if it could not have that neighbour. */
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
    bench_table("inspect", "turns", "coming and going, beside another process", "1/s", "more");
    for (unsigned n = 0; n < NEIGHBOURS; n++) {
        bench_row("", 0, neighbours[n], speed[n], rounds);
    }
    bench_show();
    bench_want("turns a second while another looks / while it looks at another pool",
               bench_ratio(speed[LOOKS], speed[LOOKS_ELSEWHERE], rounds), false, 0.9);
    bench_tell("turns a second while another looks at another pool / while it is only busy",
               bench_ratio(speed[LOOKS_ELSEWHERE], speed[BUSY], rounds));
    bench_table("inspect", "longest", "coming and going, the longest turn", "us", "less");
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

/* A pool of so many guests, all in (and in another one, too) or all in line; whether it could be
   had. */
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
    if (in && usher_open(&second, elsewhere, &options) != 0) {
        close_and_discard(pool, bench_pool());
        return false;
    }
    (void)snprintf(where, sizeof where, "%u %s", guests, in ? "holders" : "waiters");
    if (!in) {
        (void)usher_acquire(pool, &seat);
    }
    bool all = gather(pool, second);
    if (all) {
        look(pool, where, guests);
    }
    if (all && in) {
        measure_turns(rounds);
    }
    disperse();
    close_and_discard(pool, bench_pool());
    if (second != NULL) {
        close_and_discard(second, elsewhere);
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
    bench_path(elsewhere, sizeof elsewhere, "elsewhere");
    bench_work_ns(1);
    bench_table("inspect", "snapshot", "looking at a pool with many guests", "ms", "less");
    bool waiters = with_pool(guests, false, rounds);
    bool holders = waiters && with_pool(guests, true, rounds);
    if (holders) {
        bench_show();
        bench_want_rows("usher_inspect", 10);
        report_turns(rounds);
    } else {
        bench_absent("inspect", "all", "so many guests could not be gathered");
    }
    bench_unshare(shared, sizeof *shared);
}
