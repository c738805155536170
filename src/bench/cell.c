/*
 * One cell, once: processes that all want a seat, all the time, at one peer.
 *
 * The cell is about guests that come again and again; the cost of the first entry is measured by
 * growth.c. And it is about the steady state. At first the running processes have the seats, and
 * for how long is a matter of luck. When each process has had its turn on a processor, as many as
 * there are seats have been preempted inside, and the rest wait in line: that state lasts. So every
 * worker has been in once, and had time for a turn, before anything is counted.
 *
 * Throughput is measured first, then waits, then, in rounds of its own, order: clocks and shared
 * counters slow all workers. No worker ends before all are done: the end of a process takes many
 * times as long as a turn, and the other workers would wait for it.
 *
 * Overtakings at the grant, of peers that tell their tickets: ticket number r (from 0) may be let
 * in when more than r - k have left, and not before. `left` is counted before each pass, those
 * before the clock starts among them. So a worker that is in with k + left <= r was let in out of
 * turn.
 *
 * Overtakings seen from outside, of all peers: how many more have entered before a worker than had
 * come before it. This has noise, since a worker may be preempted between coming and being in line;
 * but a peer that lets others push in has hundreds of them.
 */
#include "bench/cell.h"

#include "bench/bench.h"
#include "bench/results.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, MOST_BYSTANDERS = 4, SLICE_MS = 4, TRIES = 4 };
#define LITTLE_S 0.015 /* of a run of some 200 ms on each processor */

/* What the workers do. */
enum phase { NOTHING, WARM_UP, COUNT, TIME, STOP, END };

struct worker {
    _Alignas(64) uint64_t turns;
    double worst_ns;
    int64_t overtaken;
    uint64_t out_of_turn;
};

static struct yard {
    _Alignas(64) _Atomic uint32_t here; /* guests that have come; then, guests that are done */
    _Alignas(64) _Atomic uint32_t phase;
    _Alignas(64) _Atomic uint64_t came;
    _Alignas(64) _Atomic uint64_t entered;
    _Alignas(64) _Atomic uint64_t left;
    uint32_t first_ticket;
    struct worker workers[MOST];
    struct {
        _Alignas(64) _Atomic uint64_t loops;
    } bystanders[MOST_BYSTANDERS];
} * yard;
static pid_t workers[MOST];
static pid_t bystanders[MOST_BYSTANDERS];

static enum phase phase(void)
{
    return atomic_load_explicit(&yard->phase, memory_order_relaxed);
}

static void stay(const struct cell *cell)
{
    if (cell->asleep) {
        bench_nap_us(cell->inside_ns / 1000);
    } else if (cell->inside_ns > 0) {
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

/* A process that computes for as long as the cell lasts. */
static void start_bystanders(const struct cell *cell)
{
    for (unsigned b = 0; b < cell->bystanders && b < MOST_BYSTANDERS; b++) {
        bystanders[b] = bench_fork();
        while (bystanders[b] == 0) {
            bench_work_ns(1000);
            (void)atomic_fetch_add_explicit(&yard->bystanders[b].loops, 1, memory_order_relaxed);
        }
    }
}

static void end_bystanders(const struct cell *cell)
{
    for (unsigned b = 0; b < cell->bystanders && b < MOST_BYSTANDERS; b++) {
        (void)kill(bystanders[b], SIGKILL);
        (void)waitpid(bystanders[b], NULL, 0);
    }
}

/* What has been used up so far. */
struct used {
    double at_ns, cpu_ns, loops;
};

static struct used used_so_far(const struct cell *cell)
{
    struct used used = {.at_ns = bench_now_ns()};
    for (unsigned w = 0; w < cell->processes; w++) {
        clockid_t clock;
        struct timespec t = {0, 0};
        if (clock_getcpuclockid(workers[w], &clock) == 0) {
            (void)clock_gettime(clock, &t);
        }
        used.cpu_ns += (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
    }
    for (unsigned b = 0; b < cell->bystanders && b < MOST_BYSTANDERS; b++) {
        used.loops += (double)atomic_load(&yard->bystanders[b].loops);
    }
    return used;
}

static struct used difference(struct used later, struct used earlier)
{
    return (struct used){later.at_ns - earlier.at_ns, later.cpu_ns - earlier.cpu_ns,
                         later.loops - earlier.loops};
}

/* Let the workers work, phase by phase. What was used up while entries were counted. */
static struct used let_them_work(const struct cell *cell, bool watched)
{
    begin(WARM_UP);
    if (watched) {
        bench_nap_us(bench_pick(40, 10, 4) * 1000);
        atomic_store(&yard->phase, STOP);
        return (struct used){.at_ns = 1};
    }
    unsigned turns_ms = 10 + cell->processes * SLICE_MS / (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    bench_nap_us(bench_pick(turns_ms, turns_ms / 2, 1) * 1000);
    struct used before = used_so_far(cell);
    atomic_store(&yard->phase, COUNT);
    bench_nap_us(bench_pick(cell->count_ms != 0 ? cell->count_ms : 40, 10, 10) * 1000);
    atomic_store(&yard->phase, TIME);
    struct used used = difference(used_so_far(cell), before);
    bench_nap_us(bench_pick(20, 5, 2) * 1000);
    atomic_store(&yard->phase, STOP);
    return used;
}

static struct found add_up(const struct cell *cell, struct used used)
{
    struct found found = {0};
    double turns = 0;
    for (unsigned w = 0; w < cell->processes; w++) {
        const struct worker *worker = &yard->workers[w];
        turns += (double)worker->turns;
        found.worst_us = fmax(found.worst_us, worker->worst_ns / 1000);
        found.overtaken = fmax(found.overtaken, (double)worker->overtaken);
        found.out_of_turn += (double)worker->out_of_turn;
    }
    found.turns_a_second = turns * 1e9 / used.at_ns;
    found.cpu_us = turns > 0 ? used.cpu_ns / 1000 / turns : 0;
    found.bystanders = used.loops * 1e9 / used.at_ns;
    return found;
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
        workers[w] = bench_fork();
        if (workers[w] == 0) {
            be_worker(peer, cell, watched, &yard->workers[w]);
        }
    }
    await(cell->processes);
    start_bystanders(cell);
    struct used used = let_them_work(cell, watched);
    await(2 * cell->processes);
    begin(END);
    end_bystanders(cell);
    bool failed = false;
    for (unsigned w = 0; w < cell->processes; w++) {
        int status = 1;
        (void)wait(&status);
        failed = failed || status != 0;
    }
    struct found found = add_up(cell, used);
    if (failed) {
        bench_absent("contended", peer->name, cell->name);
    }
    peer->close();
    bench_unshare(yard, sizeof *yard);
    return failed ? none : found;
}

/* The kernel counts what the host takes away in hundredths of a second. */
struct found cell_run_calmly(const struct bench_peer *peer, const struct cell *cell,
                             struct cell_calm *calm)
{
    struct found best = {0};
    double least = 0;
    for (unsigned tries = 1;; tries++) {
        double began = bench_now_ns();
        double stolen = bench_stolen_s();
        struct found found = cell_run(peer, cell, false);
        stolen = bench_stolen_s() - stolen;
        if (tries == 1 || stolen < least) {
            best = found;
            least = stolen;
        }
        if (stolen < LITTLE_S || tries == TRIES || calm->spare_ns <= 0) {
            calm->counted++;
            calm->calm += least < LITTLE_S;
            return best;
        }
        calm->spare_ns -= bench_now_ns() - began;
        calm->redone++;
    }
}
