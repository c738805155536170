/*
 * Many processes that all want in, all the time: how many get in a second; how long the unluckiest
 * waits; who overtakes whom. 4, 16 and 64 processes, k = 1, 2 and 8, each inside for 0, 1 or 20 us.
 *
 * It is about those who come again and again: what the first time costs is for growth.c. And about
 * how it goes on. At first all have a seat who run, and the others are yet to run; it is a matter
 * of luck for how long. But when each has had its turn on a processor, as many as there are seats
 * have been thrown off it inside, and the rest stand in line: that is how it stays. So every worker
 * has been in once, and had time for a turn, before anything is counted.
 *
 * Throughput is measured first, then waits, then, in rounds of its own, order: clocks and shared
 * counters slow everybody.
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
#include "bench/bench.h"
#include "bench/peers.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CELLS = 27, MOST = 64, ROUNDS = 16, SLICE_MS = 4 };

/* What the workers do. */
enum phase { NOTHING, WARM_UP, COUNT, TIME, STOP };

struct cell {
    unsigned processes, seats, inside_ns;
    char name[48];
};

struct worker {
    _Alignas(64) uint64_t turns;
    double worst_ns;
    int64_t overtaken;
    uint64_t out_of_turn;
};

static struct yard {
    _Alignas(64) _Atomic uint32_t here;
    _Alignas(64) _Atomic uint32_t phase;
    _Alignas(64) _Atomic uint64_t came;
    _Alignas(64) _Atomic uint64_t entered;
    _Alignas(64) _Atomic uint64_t left;
    uint32_t first_ticket;
    struct worker workers[MOST];
} * yard;

/* What a round finds out about a peer. */
struct found {
    double turns_a_second, worst_us, overtaken, out_of_turn;
};

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
    while (phase() == NOTHING) {
        bench_futex_wait(&yard->phase, NOTHING);
    }
    if (error == 0 && watched) {
        work_watched(peer, cell, me);
    } else if (error == 0) {
        work(peer, cell, me);
    }
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

/* For how long the workers do what. How long they were counted, in ns. */
static double let_them_work(const struct cell *cell, bool watched)
{
    atomic_store(&yard->phase, WARM_UP);
    bench_futex_wake(&yard->phase, MOST);
    if (watched) {
        bench_nap_us(bench_pick(40, 10, 4) * 1000);
        atomic_store(&yard->phase, STOP);
        return 1;
    }
    unsigned turns_ms = 10 + cell->processes * SLICE_MS / (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    bench_nap_us(bench_pick(turns_ms, turns_ms / 2, 1) * 1000);
    double begin = bench_now_ns();
    atomic_store(&yard->phase, COUNT);
    bench_nap_us(bench_pick(40, 10, 10) * 1000);
    atomic_store(&yard->phase, TIME);
    double counted_ns = bench_now_ns() - begin;
    bench_nap_us(bench_pick(20, 5, 2) * 1000);
    atomic_store(&yard->phase, STOP);
    return counted_ns;
}

static struct found run(const struct bench_peer *peer, const struct cell *cell, bool watched)
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
    while (atomic_load(&yard->here) < cell->processes) {
        bench_nap_us(200);
    }
    double counted_ns = let_them_work(cell, watched);
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

static unsigned make_cells(struct cell *cells)
{
    static const unsigned processes[] = {4, 16, 64};
    static const unsigned seats[] = {1, 2, 8};
    static const unsigned inside[] = {0, 1000, 20000};
    unsigned step = bench_pick(1, 1, 13); /* of 27 cells: three are enough to see that it runs */
    unsigned count = 0;
    for (unsigned c = 0; c < CELLS; c += step) {
        struct cell *cell = &cells[count++];
        cell->processes = processes[c % 3];
        cell->seats = seats[c / 3 % 3];
        cell->inside_ns = inside[c / 9];
        (void)snprintf(cell->name, sizeof cell->name, "k=%u, %u us inside, %u processes",
                       cell->seats, cell->inside_ns / 1000, cell->processes);
    }
    return count;
}

static const struct bench_peer *peers[BENCH_MAX_PEERS];
static unsigned peer_count;
static double speed[CELLS][BENCH_MAX_PEERS][ROUNDS];
static double worst[CELLS][BENCH_MAX_PEERS][ROUNDS], seen[CELLS][BENCH_MAX_PEERS][ROUNDS];
static double out_of_turn[BENCH_MAX_PEERS];
static bool compared[BENCH_MAX_PEERS]; /* a figure is wanted of it, or is told */
static unsigned rounds, few_rounds, watched;

/* Where each entry is a wake-up a cell comes out differently each time: what is compared is
   measured more often than what is only shown. */
static unsigned rounds_of(unsigned peer)
{
    return compared[peer] ? rounds : few_rounds;
}

static bool fits(const struct bench_peer *peer, const struct cell *cell)
{
    return cell->seats == 1 || (peer->flags & PEER_ONE) == 0;
}

static void measure_cell(const struct cell *cell, unsigned c)
{
    for (unsigned round = 0; round < rounds + watched; round++) {
        for (unsigned i = 0; i < peer_count; i++) {
            unsigned p = (i + round) % peer_count;
            if (!fits(peers[p], cell) || (round >= rounds_of(p) && round < rounds)) {
                continue;
            }
            struct found found = run(peers[p], cell, round >= rounds);
            if (round < rounds) {
                speed[c][p][round] = found.turns_a_second;
                worst[c][p][round] = found.worst_us;
            } else {
                seen[c][p][round - rounds] = found.overtaken;
                out_of_turn[p] += found.out_of_turn;
            }
        }
    }
}

static void report(const struct cell *cells, unsigned count)
{
    static const struct {
        const char *name, *title, *unit, *better;
    } tables[] = {
        {"speed", "many processes: entries a second", "1/s", "more"},
        {"wait", "many processes: the longest wait", "us", "less"},
        {"order", "many processes: overtaken, as seen from outside, at most", "times", "less"},
    };
    for (unsigned t = 0; t < 3; t++) {
        bench_table("contended", tables[t].name, tables[t].title, tables[t].unit, tables[t].better);
        for (unsigned c = 0; c < count; c++) {
            for (unsigned p = 0; p < peer_count; p++) {
                const double *samples = t == 0 ? speed[c][p] : t == 1 ? worst[c][p] : seen[c][p];
                if (fits(peers[p], &cells[c])) {
                    bench_row(cells[c].name, cells[c].processes, peers[p]->name, samples,
                              t < 2 ? rounds_of(p) : watched);
                }
            }
        }
        bench_show();
    }
}

/* The least of the cells' median ratios: every cell must do. If it is not wanted, it is told. */
static void want_speed(const struct cell *cells, unsigned count, const char *peer,
                       const char *against, double limit, bool wanted)
{
    unsigned one = bench_index(peers, peer_count, peer);
    unsigned other = bench_index(peers, peer_count, against);
    struct bench_summary least = {0};
    unsigned where = 0;
    unsigned met = 0;
    char what[192];
    for (unsigned c = 0; c < count; c++) {
        struct bench_summary ratio = bench_ratio(speed[c][one], speed[c][other], rounds);
        met += ratio.median >= limit;
        if (c == 0 || ratio.median < least.median) {
            least = ratio;
            where = c;
        }
    }
    (void)snprintf(what, sizeof what,
                   wanted
                       ? "%s / %s, entries a second, least of all cells (%s; %u of %u met)"
                       : "%s / %s, entries a second, least of all cells (%s; %u of %u at least %g)",
                   peer, against, cells[where].name, met, count, limit);
    if (wanted) {
        bench_want(what, least, false, limit);
    } else {
        bench_tell(what, least);
    }
}

/* A worst case is one figure a round: longer is what is longer in three quarters of them. */
static void want_wait(const struct cell *cells, unsigned count, const char *peer,
                      const char *against, bool wanted)
{
    unsigned one = bench_index(peers, peer_count, peer);
    unsigned other = bench_index(peers, peer_count, against);
    struct bench_summary most = {0};
    unsigned where = 0;
    unsigned met = 0;
    char what[192];
    for (unsigned c = 0; c < count; c++) {
        struct bench_summary ratio = bench_ratio(worst[c][one], worst[c][other], rounds);
        met += ratio.q1 <= 1;
        if (c == 0 || ratio.q1 > most.q1) {
            most = ratio;
            where = c;
        }
    }
    (void)snprintf(what, sizeof what,
                   "%s / %s, longest wait, most of all cells (%s; lower quartile at most 1 "
                   "in %u of %u)",
                   peer, against, cells[where].name, met, count);
    if (wanted) {
        bench_want_met(what, most, "lower quartile at most 1", most.q1 <= 1);
    } else {
        bench_tell(what, most);
    }
}

/* Two peers once more, under another name: what becomes of a peer measured against itself is what
   the noise of the machine makes of a cell. */
static void add_again(void)
{
    static const char *const names[] = {"limit_fifo", "semop+SEM_UNDO"};
    static struct bench_peer again[2];
    static char again_names[2][32];
    for (unsigned a = 0; a < 2; a++) {
        again[a] = *bench_peer(names[a]);
        (void)snprintf(again_names[a], sizeof again_names[a], "%s, again", names[a]);
        again[a].name = again_names[a];
        again[a].flags |= PEER_LIMIT;
        peers[peer_count++] = &again[a];
    }
}

void bench_contended(void)
{
    struct cell cells[CELLS];
    unsigned count = make_cells(cells);
    rounds = bench_pick(7, 2, 1);
    few_rounds = bench_pick(2, 1, 1);
    watched = bench_pick(2, 1, 1);
    bench_work_ns(1); /* so that all workers have its measure */
    peer_count = bench_choose(peers, 0, PEER_SPINS | PEER_THREADS);
    peers[peer_count++] = &bench_limit_cas; /* waits for nobody: its longest wait is the kernel's */
    add_again();
    for (unsigned p = 0; p < peer_count; p++) {
        static const char *const names[] = {"limit_fifo",     "limit: could be repaired",
                                            "usher pool",     "usher gate",
                                            "semop+SEM_UNDO", "limit: one compare-and-swap"};
        compared[p] = p + 2 >= peer_count; /* measured again */
        for (unsigned n = 0; n < sizeof names / sizeof names[0]; n++) {
            compared[p] = compared[p] || strcmp(peers[p]->name, names[n]) == 0;
        }
    }
    for (unsigned c = 0; c < count; c++) {
        measure_cell(&cells[c], c);
    }
    report(cells, count);
    want_speed(cells, count, "usher pool", "limit_fifo", 0.9, true);
    want_speed(cells, count, "usher pool", "semop+SEM_UNDO", 1, true);
    want_speed(cells, count, "usher gate", "limit_fifo", 0.9, true);
    want_speed(cells, count, "limit: could be repaired", "limit_fifo", 0.9, false);
    want_speed(cells, count, "limit_fifo, again", "limit_fifo", 0.9, false);
    want_speed(cells, count, "limit_fifo", "semop+SEM_UNDO", 1, false);
    want_speed(cells, count, "semop+SEM_UNDO, again", "semop+SEM_UNDO", 1, false);
    want_speed(cells, count, "usher pool", "limit: could be repaired", 0.9, false);
    want_wait(cells, count, "usher pool", "limit_fifo", true);
    want_wait(cells, count, "usher gate", "limit_fifo", true);
    want_wait(cells, count, "limit_fifo, again", "limit_fifo", false);
    want_wait(cells, count, "usher pool", bench_limit_cas.name, false);
    for (unsigned p = 0; p < peer_count; p++) {
        if (peers[p]->ticket != NULL && (peers[p]->flags & PEER_LIMIT) == 0) {
            char what[96];
            (void)snprintf(what, sizeof what, "%s, overtakings at the grant, all cells together",
                           peers[p]->name);
            bench_want(what, bench_summarise(&out_of_turn[p], 1), true, 0);
        }
    }
}
