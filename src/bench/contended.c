/*
 * Many processes that all want in, all the time: how many get in a second; how long the unluckiest
 * waits; who overtakes whom. 4, 16 and 64 processes, k = 1, 2 and 8, each inside for 0, 1 or 20 us.
 * cell.c is how one of these is measured.
 */
#include "bench/bench.h"
#include "bench/cell.h"
#include "bench/results.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 27, ROUNDS = 16, MORE = 6 };
#define FLOOR 0.8

static unsigned make_cells(struct cell *cells)
{
    static const unsigned processes[] = {4, 16, 64};
    static const unsigned seats[] = {1, 2, 8};
    static const unsigned inside[] = {0, 1000, 20000};
    unsigned step = bench_pick(1, 4, 13); /* seven of all kinds for a look, three for a smoke */
    unsigned count = 0;
    for (unsigned c = 0; c < CELLS; c += step) {
        struct cell *cell = &cells[count++];
        *cell = (struct cell){.processes = processes[c % 3]};
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
static double together[CELLS];         /* before the first round of each */
static bool compared[BENCH_MAX_PEERS]; /* a figure of it is wanted, or printed */
static unsigned rounds, few_rounds, watched;
static struct cell_calm calm;

/* Where each entry is a wake-up a cell comes out differently each time: what is compared is
   measured more often than what is only shown; and the most where it takes the least time. */
static unsigned rounds_of(unsigned peer, const struct cell *cell)
{
    unsigned more = cell->processes < 10 ? MORE : cell->processes < 50 ? MORE / 2 : 0;
    return compared[peer] ? rounds + bench_pick(more, 0, 0) : few_rounds;
}

static unsigned watched_of(unsigned peer)
{
    return compared[peer] ? watched : 1;
}

static bool fits(const struct bench_peer *peer, const struct cell *cell)
{
    return cell->seats == 1 || (peer->flags & PEER_ONE) == 0;
}

/* A round of a cell. All cells have their first round before any has its second: what happens on
   this machine for a minute or two disturbs a round of many, and not all rounds of one. */
static void measure_cell(const struct cell *cell, unsigned c, unsigned round)
{
    for (unsigned i = 0; i < peer_count; i++) {
        unsigned p = (i + round) % peer_count;
        if (fits(peers[p], cell) && round < rounds_of(p, cell)) {
            struct found found = cell_run_calmly(peers[p], cell, &calm);
            speed[c][p][round] = found.turns_a_second;
            worst[c][p][round] = found.worst_us;
        }
    }
}

/* A round of its own: who overtakes whom. */
static void watch_cell(const struct cell *cell, unsigned c, unsigned round)
{
    for (unsigned i = 0; i < peer_count; i++) {
        unsigned p = (i + round) % peer_count;
        if (fits(peers[p], cell) && round < watched_of(p)) {
            struct found found = cell_run(peers[p], cell, true);
            seen[c][p][round] = found.overtaken;
            out_of_turn[p] += found.out_of_turn;
        }
    }
}

static void measure(const struct cell *cells, unsigned count)
{
    const double spare_s = bench_pick(40, 3, 0);
    const unsigned most = rounds + bench_pick(MORE, 0, 0);
    for (unsigned round = 0; round < most; round++) {
        calm.spare_ns += spare_s * 1e9 / most;
        for (unsigned c = 0; c < count; c++) {
            together[c] = round == 0 ? bench_together() : together[c];
            measure_cell(&cells[c], c, round);
        }
    }
    for (unsigned round = 0; round < watched; round++) {
        for (unsigned c = 0; c < count; c++) {
            watch_cell(&cells[c], c, round);
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
                              t < 2 ? rounds_of(p, &cells[c]) : watched_of(p));
                }
            }
        }
        bench_show();
    }
}

/* The median ratios of all cells. Wanted: at least `limit` in eight of nine cells, and FLOOR in
   each, since in some cells a peer differs as much from itself. Without `wanted` the ratio is only
   shown. */
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
        struct bench_summary ratio =
            bench_ratio(speed[c][one], speed[c][other], rounds_of(one, &cells[c]));
        met += ratio.median >= limit;
        if (c == 0 || ratio.median < least.median) {
            least = ratio;
            where = c;
        }
    }
    (void)snprintf(what, sizeof what,
                   "%s / %s, entries a second, least of all cells (%s; %u of %u at least %g)", peer,
                   against, cells[where].name, met, count, limit);
    if (wanted) {
        char rule[64];
        (void)snprintf(rule, sizeof rule, "at least %g in 8 of 9 cells, %g in each", limit, FLOOR);
        bench_want_met(what, least, rule, met * 9 >= count * 8 && least.median >= FLOOR);
    } else {
        bench_tell(what, least);
    }
}

/* A worst case is one figure a round: longer is what is longer in three quarters of them. Against
   the longer one of two, if `or_else` is not NULL. */
static void want_wait(const struct cell *cells, unsigned count, const char *peer,
                      const char *against, const char *or_else)
{
    unsigned one = bench_index(peers, peer_count, peer);
    unsigned other = bench_index(peers, peer_count, against);
    unsigned third = or_else != NULL ? bench_index(peers, peer_count, or_else) : other;
    bool wanted = or_else == NULL && (peers[one]->flags & PEER_LIMIT) == 0;
    struct bench_summary most = {0};
    unsigned where = 0;
    unsigned met = 0;
    char what[192];
    for (unsigned c = 0; c < count; c++) {
        double longer[ROUNDS];
        for (unsigned r = 0; r < ROUNDS; r++) {
            longer[r] = fmax(worst[c][other][r], worst[c][third][r]);
        }
        struct bench_summary ratio = bench_ratio(worst[c][one], longer, rounds_of(one, &cells[c]));
        met += ratio.q1 <= 1;
        if (c == 0 || ratio.q1 > most.q1) {
            most = ratio;
            where = c;
        }
    }
    (void)snprintf(what, sizeof what,
                   "%s / %s%s%s, longest wait, most of all cells (%s; lower quartile at most 1 "
                   "in %u of %u)",
                   peer, against, or_else != NULL ? " or " : "", or_else != NULL ? or_else : "",
                   cells[where].name, met, count);
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
    rounds = bench_pick(6, 2, 1);
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
    measure(cells, count);
    report(cells, count);
    want_speed(cells, count, "usher pool", "limit_fifo", 0.9, true);
    want_speed(cells, count, "usher pool", "semop+SEM_UNDO", 0.95, true);
    want_speed(cells, count, "usher gate", "limit_fifo", 0.9, true);
    want_speed(cells, count, "limit: could be repaired", "limit_fifo", 0.9, false);
    want_speed(cells, count, "limit_fifo, again", "limit_fifo", 0.9, false);
    want_speed(cells, count, "limit_fifo", "semop+SEM_UNDO", 1, false);
    want_speed(cells, count, "semop+SEM_UNDO, again", "semop+SEM_UNDO", 1, false);
    want_speed(cells, count, "usher pool", "limit: could be repaired", 0.9, false);
    want_wait(cells, count, "usher pool", "limit_fifo", NULL);
    want_wait(cells, count, "usher gate", "limit_fifo", NULL);
    want_wait(cells, count, "limit_fifo, again", "limit_fifo", NULL);
    want_wait(cells, count, "usher pool", "limit_fifo", bench_limit_cas.name);
    want_wait(cells, count, "usher gate", "limit_fifo", bench_limit_cas.name);
    bench_tell(
        "a cache line between two processors, mean / median of its ways: 1 if both always ran",
        bench_summarise(together, count));
    const double made = (calm.counted + calm.redone) / calm.counted;
    const double disturbed = calm.counted / (calm.calm > 0 ? calm.calm : 1);
    bench_tell("rounds made / rounds that count: 1 if the host never took processors away",
               bench_summarise(&made, 1));
    bench_tell("rounds that count / those of them in which it hardly did",
               bench_summarise(&disturbed, 1));
    for (unsigned p = 0; p < peer_count; p++) {
        if (peers[p]->ticket != NULL && (peers[p]->flags & PEER_LIMIT) == 0) {
            char what[96];
            (void)snprintf(what, sizeof what, "%s, overtakings at the grant, all cells together",
                           peers[p]->name);
            bench_want(what, bench_summarise(&out_of_turn[p], 1), true, 0);
        }
    }
}
