/*
 * A limit: limit_fifo (peers_limit.c), with the least that any FIFO semaphore must do if others are
 * to be able to tell, after any instruction at which a guest may have died, what it had done.
 *
 *     word  63          32 31       0
 *          +--------------+----------+   ISSUE, the next ticket to take, or VALID: tickets below
 *          |    ticket    |  row + 1 |   are valid; and who changed it last (0: nobody)
 *          +--------------+----------+
 *
 * A guest has a row in shared memory, a cache line, and says there that it comes before it takes a
 * ticket, that it leaves before it makes the next one valid, and that it is out when all is done.
 * ISSUE and VALID name whoever changed them last, so a change is a compare-and-swap. A name that is
 * overwritten is lost: so who overwrites another's looks first in that one's row whether it is
 * done with, for otherwise that would have to be finished. And nobody sleeps for ever: whoever was
 * to wake it may be dead, so it must look by itself in the end.
 *
 * It finishes nothing, it only counts what it may have had to: a guest that dies costs its seat or
 * the line, as in limit_fifo. It has no numbers for seats either, and nobody can give up.
 */
#include "bench/bench.h"
#include "bench/peers.h"

#include <stdatomic.h>
#include <stddef.h>

enum { LOOK_MS = 60 };
enum doing { OUT, COMES, LEAVES };

struct line {
    _Alignas(64) _Atomic uint32_t word; /* a row: enum doing; a place: as in limit_fifo */
};

static struct repairable {
    _Alignas(64) _Atomic uint64_t issue;
    _Alignas(64) _Atomic uint64_t valid;
    _Alignas(64) _Atomic uint32_t used; /* rows */
    uint32_t mask;                      /* places - 1 */
    struct line places[];
} * all;
static size_t size;
static struct line *rows; /* behind the places */
static uint32_t attached; /* so often: the row of a thread is of one time */
static _Thread_local struct {
    uint32_t attached, row, ticket;
    struct line *line;
} mine;
static _Thread_local volatile uint32_t unfinished; /* volatile: or nobody need look at all */

static int repairable_open(unsigned seats, unsigned guests)
{
    uint32_t places = 1;
    uint32_t most = guests + 2; /* whoever opens it is a guest, too */
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

/* What our parent has is not ours. */
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

/* One more, by us. What it was before. */
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
    /* released: whoever finds us named by ISSUE finds what we said before, and so with VALID */
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
