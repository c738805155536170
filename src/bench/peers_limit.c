/*
 * The limits: lower bounds for any implementation.
 *
 * limit_cas is one compare-and-swap; it never blocks.
 *
 * limit_fifo is a FIFO semaphore without crash recovery: two counters, and a futex for each
 * position in line, so that a release wakes exactly the next waiter. It does not know who waits or
 * who holds, a waiter cannot give up, and a guest that dies costs its seat or blocks the line.
 *
 * limit_fifo + a row each is the same, and each guest writes its state to a row in shared memory,
 * one cache line, before it acquires and after it releases. Recovery from a guest's death needs at
 * least that.
 */
#include "bench/bench.h"
#include "bench/peers.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t *swapped;

static int limit_cas_open(unsigned seats, unsigned guests)
{
    (void)seats;
    (void)guests;
    swapped = bench_shared(sizeof *swapped);
    return 0;
}

static inline void limit_cas_get(void)
{
    uint64_t seen = atomic_load_explicit(swapped, memory_order_relaxed);
    (void)atomic_compare_exchange_strong(swapped, &seen, seen + 1);
}

static inline void limit_cas_pass(void)
{
}

BENCH_RUN(limit_cas)

static void limit_cas_close(void)
{
    bench_unshare(swapped, sizeof *swapped);
}

const struct bench_peer bench_limit_cas = {
    "limit: one compare-and-swap",
    PEER_SPINS | PEER_LIMIT | PEER_KEY,
    limit_cas_open,
    bench_no_attach,
    limit_cas_get,
    limit_cas_pass,
    limit_cas_run,
    bench_no_detach,
    limit_cas_close,
    NULL,
};

/* A position in line. Its word is 1 + the last ticket that was woken there. */
struct place {
    _Alignas(64) _Atomic uint32_t called;
};

static struct fifo {
    _Alignas(64) _Atomic uint32_t issue; /* next ticket to take */
    _Alignas(64) _Atomic uint32_t valid; /* tickets below it are valid */
    uint32_t mask;                       /* number of positions - 1 */
    struct place places[];
} * fifo;
static size_t fifo_size;
static _Thread_local uint32_t ticket;

static int limit_fifo_open(unsigned seats, unsigned guests)
{
    uint32_t places = 1;
    while (places < guests + 1) {
        places *= 2;
    }
    fifo_size = sizeof *fifo + places * sizeof(struct place);
    fifo = bench_shared(fifo_size);
    fifo->mask = places - 1;
    fifo->valid = seats;
    return 0;
}

static inline void limit_fifo_get(void)
{
    ticket = atomic_fetch_add(&fifo->issue, 1);
    _Atomic uint32_t *called = &fifo->places[ticket & fifo->mask].called;
    uint32_t seen = atomic_load(called);
    while ((int32_t)(atomic_load(&fifo->valid) - ticket) <= 0) {
        bench_futex_wait(called, seen);
        seen = atomic_load(called);
    }
}

static inline void limit_fifo_pass(void)
{
    uint32_t next = atomic_fetch_add(&fifo->valid, 1);
    if ((int32_t)(atomic_load(&fifo->issue) - next) > 0) {
        _Atomic uint32_t *called = &fifo->places[next & fifo->mask].called;
        atomic_store(called, next + 1);
        bench_futex_wake(called, 1);
    }
}

BENCH_RUN(limit_fifo)

static void limit_fifo_close(void)
{
    bench_unshare(fifo, fifo_size);
}

static uint32_t limit_fifo_ticket(void)
{
    return ticket;
}

const struct bench_peer bench_limit_fifo = {
    "limit_fifo",    PEER_IN_ORDER | PEER_KEY, limit_fifo_open, bench_no_attach,  limit_fifo_get,
    limit_fifo_pass, limit_fifo_run,           bench_no_detach, limit_fifo_close, limit_fifo_ticket,
};

struct row {
    _Alignas(64) _Atomic uint32_t coming; /* 0: neither waits nor holds */
};

static struct rows {
    _Alignas(64) _Atomic uint32_t used;
    struct row of[];
} * rows;
static size_t rows_size;
static uint32_t opened; /* counts opens; threads live longer than one opening */
static _Thread_local struct {
    uint32_t opened;
    struct row *row;
} mine;

static int limit_rows_open(unsigned seats, unsigned guests)
{
    rows_size = sizeof *rows + (guests > seats ? guests : seats) * sizeof(struct row);
    rows = bench_shared(rows_size);
    opened++;
    return limit_fifo_open(seats, guests);
}

static inline void limit_rows_get(void)
{
    if (mine.opened != opened) {
        mine.opened = opened;
        mine.row = &rows->of[atomic_fetch_add(&rows->used, 1)];
    }
    atomic_store_explicit(&mine.row->coming, 1, memory_order_release);
    limit_fifo_get();
}

static inline void limit_rows_pass(void)
{
    limit_fifo_pass();
    atomic_store_explicit(&mine.row->coming, 0, memory_order_release);
}

BENCH_RUN(limit_rows)

static void limit_rows_close(void)
{
    limit_fifo_close();
    bench_unshare(rows, rows_size);
}

const struct bench_peer bench_limit_rows = {
    "limit_fifo + a row each", PEER_IN_ORDER,  limit_rows_open, bench_no_attach,  limit_rows_get,
    limit_rows_pass,           limit_rows_run, bench_no_detach, limit_rows_close, limit_fifo_ticket,
};
