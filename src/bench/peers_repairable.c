/*
 * A limit: limit_fifo (peers_limit.c) with the least work that lets others find out what a dead
 * guest had done, after a death at any instruction.
 *
 *     word  63          32 31       0
 *          +--------------+----------+   ISSUE: the next ticket to take; or VALID: tickets below
 *          |    ticket    |  row + 1 |   it are valid. The low half names the row of the guest that
 *          +--------------+----------+   changed the word last (0: none)
 *
 * A guest has a row in shared memory, one cache line. It writes there that it arrives, before it
 * takes a ticket; that it leaves, before it makes the next ticket valid; and that it is out, when
 * all is done. ISSUE and VALID name the guest that changed them last, so each change is a
 * compare-and-swap. An overwritten name is lost. So before a guest overwrites a name, it reads in
 * that guest's row whether the operation is finished; if not, a real implementation would have to
 * finish it. No guest sleeps for ever: the guest that should wake it may be dead, so it must check
 * by itself at intervals.
 *
 * This peer finishes nothing; it only counts the operations that it might have to finish. A guest
 * that dies costs its seat or blocks the line, as in limit_fifo. Seats have no numbers, and a
 * waiter cannot give up.
 */
#include "bench/bench.h"
#include "bench/peers.h"

#include <stdatomic.h>
#include <stddef.h>

enum { LOOK_MS = 60 };
enum doing { OUT, COMES, LEAVES };

struct line {
    _Alignas(64) _Atomic uint32_t word; /* a row: enum doing; a position: as in limit_fifo */
};

static struct repairable {
    _Alignas(64) _Atomic uint64_t issue;
    _Alignas(64) _Atomic uint64_t valid;
    _Alignas(64) _Atomic uint32_t used; /* number of rows in use */
    uint32_t mask;                      /* number of positions - 1 */
    struct line places[];
} * all;
static size_t size;
static struct line *rows; /* behind the positions */
static uint32_t attached; /* counts attaches; a thread's row belongs to one of them */
static _Thread_local struct {
    uint32_t attached, row, ticket;
    struct line *line;
} mine;
static _Thread_local volatile uint32_t unfinished; /* volatile keeps the compiler from removing
                                                      the check */

static int repairable_open(unsigned seats, unsigned guests)
{
    uint32_t places = 1;
    uint32_t most = guests + 2; /* the opener is a guest, too */
    while (places < most) {
        places *= 2;
    }
    size = sizeof *all + (places + most) * sizeof(struct line);
    all = bench_shared(size);
    all->mask = places - 1;
    rows = all->places + places;
    all->valid = (uint64_t)seats << 32;
    return 0;
}

/* A child must not use its parent's row. */
static int repairable_attach(void)
{
    attached++;
    return 0;
}

static void claim(void)
{
    mine.attached = attached;
    mine.row = atomic_fetch_add(&all->used, 1);
    mine.line = &rows[mine.row];
}

/* Increment the word and name us. Return the old ticket. */
static inline uint32_t change(_Atomic uint64_t *word, enum doing what)
{
    uint64_t seen = atomic_load(word);
    uint64_t next;
    do {
        uint32_t by = (uint32_t)seen;
        if (by != 0 && by != mine.row + 1 && atomic_load(&rows[by - 1].word) == what) {
            unfinished = unfinished + 1;
        }
        next = ((seen >> 32) + 1) << 32 | (mine.row + 1);
    } while (!atomic_compare_exchange_weak(word, &seen, next));
    return (uint32_t)(seen >> 32);
}

static inline void repairable_get(void)
{
    if (mine.attached != attached) {
        claim();
    }
    /* release: a guest that reads our name in ISSUE or VALID also reads what our row said before */
    atomic_store_explicit(&mine.line->word, COMES, memory_order_release);
    mine.ticket = change(&all->issue, COMES);
    _Atomic uint32_t *called = &all->places[mine.ticket & all->mask].word;
    uint32_t seen = atomic_load(called);
    while ((int32_t)((uint32_t)(atomic_load(&all->valid) >> 32) - mine.ticket) <= 0) {
        bench_futex_wait_for(called, seen, LOOK_MS);
        seen = atomic_load(called);
    }
}

static inline void repairable_pass(void)
{
    atomic_store_explicit(&mine.line->word, LEAVES, memory_order_release);
    uint32_t next = change(&all->valid, LEAVES);
    if ((int32_t)((uint32_t)(atomic_load(&all->issue) >> 32) - next) > 0) {
        _Atomic uint32_t *called = &all->places[next & all->mask].word;
        atomic_store(called, next + 1);
        bench_futex_wake(called, 1);
    }
    atomic_store_explicit(&mine.line->word, OUT, memory_order_release);
}

BENCH_RUN(repairable)

static void repairable_close(void)
{
    bench_unshare(all, size);
}

static uint32_t repairable_ticket(void)
{
    return mine.ticket;
}

const struct bench_peer bench_limit_repairable = {
    "limit: could be repaired",
    PEER_IN_ORDER | PEER_LIMIT | PEER_KEY,
    repairable_open,
    repairable_attach,
    repairable_get,
    repairable_pass,
    repairable_run,
    bench_no_detach,
    repairable_close,
    repairable_ticket,
};
