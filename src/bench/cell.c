/*
 * One cell of contended.c, once: processes that all want in, all the time, at one peer.
 *
 * It is about those who come again and again: what the first time costs is for growth.c. And about
 * how it goes on. At first all have a seat who run, and the others are yet to run; it is a matter
 * of luck for how long. But when each has had its turn on a processor, as many as there are seats
 * have been thrown off it inside, and the rest stand in line: that is how it stays. So every worker
 * has been in once, and had time for a turn, before anything is counted.
 *
 * Throughput is measured first, then waits, then, in rounds of its own, order: clocks and shared
 * counters slow everybody. Nobody ends before all are done: the end of a process takes many times
 * as long as a turn, and whoever still waits would wait for that.
 *
 * Overtakings at the grant, of peers that tell their tickets: ticket number r (from 0) may be let
 * in when more than r - k have left, and not before. `left` is counted before each pass, those
 * before the clock starts among them, so whoever is in with k + left <= r has been let in out of
 * its turn.
 *
 * Seen from outside, of all peers: how many more have entered before one than had come before it.
 * That has noise, for one may be stopped between coming and being in line; but who lets others
 * push in has hundreds of them.
 */
#include "bench/cell.h"

#include "bench/bench.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64, SLICE_MS = 4 };

/* What the workers do. */
enum phase { NOTHING, WARM_UP, COUNT, TIME, STOP, END };

struct worker {
    _Alignas(64) uint64_t turns;
    double worst_ns;
    int64_t overtaken;
    uint64_t out_of_turn;
};

static struct yard {
    _Alignas(64) _Atomic uint32_t here; /* so many have come; then, so many are done */
    _Alignas(64) _Atomic uint32_t phase;
    _Alignas(64) _Atomic uint64_t came;
    _Alignas(64) _Atomic uint64_t entered;
    _Alignas(64) _Atomic uint64_t left;
    uint32_t first_ticket;
    struct worker workers[MOST];
} * yard;

static enum phase phase(void)
{
    return atomic_load_explicit(&yard->phase, memory_order_relaxed);
}

static void stay(const struct cell *cell)
{
    if (cell->inside_ns > 0) {
        bench_work_ns(cell->inside_ns);
    }
}

static void work(const struct bench_peer *peer, const struct cell *cell, struct worker *me)
{
    uint64_t turns = 0;
    while (phase() < TIME) {
        peer->get();
        stay(cell);
        peer->pass();
        turns += phase() == COUNT;
    }
    me->turns = turns;
    do { /* once at least, however short the time */
        double begin = bench_now_ns();
        peer->get();
        double waited = bench_now_ns() - begin;
        me->worst_ns = waited > me->worst_ns ? waited : me->worst_ns;
        stay(cell);
        peer->pass();
    } while (phase() < STOP);
}

static void work_watched(const struct bench_peer *peer, const struct cell *cell, struct worker *me)
{
    while (phase() < STOP) {
        int64_t came = (int64_t)atomic_fetch_add(&yard->came, 1);
        peer->get();
        uint64_t left = atomic_load(&yard->left);
        int64_t overtaken = (int64_t)atomic_fetch_add(&yard->entered, 1) - came;
        if (peer->ticket != NULL && peer->ticket() - yard->first_ticket >= cell->seats + left) {
            me->out_of_turn++;
        }
        me->overtaken = overtaken > me->overtaken ? overtaken : me->overtaken;
        stay(cell);
        (void)atomic_fetch_add(&yard->left, 1);
        peer->pass();
    }
}

/* Sleep until that phase is over. */
static void sit_out(enum phase over)
{
    while (phase() == over) {
        bench_futex_wait(&yard->phase, over);
    }
}

static void be_worker(const struct bench_peer *peer, const struct cell *cell, bool watched,
                      struct worker *me)
{
    int error = peer->attach();
    if (error == 0) {
        peer->get(); /* all of them at once, and nobody waits for another but in line */
        (void)atomic_fetch_add(&yard->left, 1);
        peer->pass();
    }
    (void)atomic_fetch_add(&yard->here, 1);
    sit_out(NOTHING);
    if (error == 0 && watched) {
        work_watched(peer, cell, me);
    } else if (error == 0) {
        work(peer, cell, me);
    }
    (void)atomic_fetch_add(&yard->here, 1);
    sit_out(STOP);
    _exit(error == 0 ? 0 : 1);
}

/* Where the tickets of this instance begin: take the first one ourselves. */
static void note_first_ticket(const struct bench_peer *peer)
{
    if (peer->ticket != NULL && peer->attach() == 0) {
        peer->get();
        yard->first_ticket = peer->ticket();
        yard->left = 1;
        peer->pass();
        peer->detach();
    }
}

static struct found add_up(const struct cell *cell, double elapsed_ns)
{
    struct found found = {0};
    for (unsigned w = 0; w < cell->processes; w++) {
        const struct worker *worker = &yard->workers[w];
        found.turns_a_second += (double)worker->turns * 1e9 / elapsed_ns;
        found.worst_us =
            worker->worst_ns / 1000 > found.worst_us ? worker->worst_ns / 1000 : found.worst_us;
        found.overtaken = (double)worker->overtaken > found.overtaken ? (double)worker->overtaken
                                                                      : found.overtaken;
        found.out_of_turn += (double)worker->out_of_turn;
    }
    return found;
}

/* One that died is not waited for any longer: it is counted as failed. */
static void await(unsigned here)
{
    for (double until = bench_now_ns() + 30e9;
         atomic_load(&yard->here) < here && bench_now_ns() < until;) {
        bench_nap_us(200);
    }
}

static void begin(enum phase next)
{
    atomic_store(&yard->phase, next);
    bench_futex_wake(&yard->phase, MOST);
}

/* For how long the workers do what. How long they were counted, in ns. */
static double let_them_work(const struct cell *cell, bool watched)
{
    begin(WARM_UP);
    if (watched) {
        bench_nap_us(bench_pick(40, 10, 4) * 1000);
        atomic_store(&yard->phase, STOP);
        return 1;
    }
    unsigned turns_ms = 10 + cell->processes * SLICE_MS / (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    bench_nap_us(bench_pick(turns_ms, turns_ms / 2, 1) * 1000);
    double began = bench_now_ns();
    atomic_store(&yard->phase, COUNT);
    bench_nap_us(bench_pick(40, 10, 10) * 1000);
    atomic_store(&yard->phase, TIME);
    double counted_ns = bench_now_ns() - began;
    bench_nap_us(bench_pick(20, 5, 2) * 1000);
    atomic_store(&yard->phase, STOP);
    return counted_ns;
}

struct found cell_run(const struct bench_peer *peer, const struct cell *cell, bool watched)
{
    struct found none = {0};
    yard = bench_shared(sizeof *yard);
    if (peer->open(cell->seats, cell->processes) != 0) {
        bench_absent("contended", peer->name, cell->name);
        bench_unshare(yard, sizeof *yard);
        return none;
    }
    note_first_ticket(peer);
    for (unsigned w = 0; w < cell->processes; w++) {
        if (bench_fork() == 0) {
            be_worker(peer, cell, watched, &yard->workers[w]);
        }
    }
    await(cell->processes);
    double counted_ns = let_them_work(cell, watched);
    await(2 * cell->processes);
    begin(END);
    bool failed = false;
    for (unsigned w = 0; w < cell->processes; w++) {
        int status = 1;
        (void)wait(&status);
        failed = failed || status != 0;
    }
    struct found found = add_up(cell, counted_ns);
    if (failed) {
        bench_absent("contended", peer->name, cell->name);
    }
    peer->close();
    bench_unshare(yard, sizeof *yard);
    return failed ? none : found;
}
