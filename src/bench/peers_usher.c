/* libusher's own: the pool, a file that processes open, and the gate, a word in shared memory. */
#include "bench/bench.h"
#include "bench/peers.h"

#include <stddef.h>

static struct usher_pool *maker, *pool;
static _Thread_local struct usher_seat seat;

static int usher_pool_open(unsigned seats, unsigned guests)
{
    struct usher_options options = {.seats = seats};
    options.guests = (guests > seats ? guests : seats) + 2;
    return usher_open(&maker, bench_pool(), &options) == 0 ? 0 : -1;
}

static int usher_pool_attach(void)
{
    struct usher_options options = {.flags = USHER_EXISTING};
    return usher_open(&pool, bench_pool(), &options) == 0 ? 0 : -1;
}

static inline void usher_pool_get(void)
{
    (void)usher_acquire(pool, &seat);
}

static inline void usher_pool_pass(void)
{
    (void)usher_release(pool, &seat);
}

/* As a program would: with what it needs in variables of its own. The peers have nothing a caller
   would keep but where they are. */
static void usher_pool_run(uint64_t times)
{
    struct usher_pool *own = pool;
    struct usher_seat had;
    while (times-- > 0) {
        (void)usher_acquire(own, &had);
        (void)usher_release(own, &had);
    }
}

static void usher_pool_detach(void)
{
    usher_close(pool);
}

static void usher_pool_close(void)
{
    usher_close(maker);
    (void)usher_discard(bench_pool());
}

static uint32_t usher_pool_ticket(void)
{
    return (uint32_t)seat.ticket;
}

const struct bench_peer bench_usher_pool = {
    "usher pool",     PEER_SURVIVES | PEER_IN_ORDER | PEER_KEY,
    usher_pool_open,  usher_pool_attach,
    usher_pool_get,   usher_pool_pass,
    usher_pool_run,   usher_pool_detach,
    usher_pool_close, usher_pool_ticket,
};

static struct usher_gate *gate;
static _Thread_local struct usher_pass pass;

static int usher_gate_open(unsigned seats, unsigned guests)
{
    gate = bench_shared(sizeof *gate);
    if (usher_gate_init(gate, guests > seats ? guests : seats, seats) == 0) {
        return 0;
    }
    bench_unshare(gate, sizeof *gate);
    return -1;
}

static inline void usher_gate_get(void)
{
    (void)usher_gate_enter(gate, &pass);
}

static inline void usher_gate_pass(void)
{
    (void)usher_gate_leave(gate, &pass);
}

static void usher_gate_run(uint64_t times)
{
    struct usher_gate *own = gate;
    struct usher_pass had;
    while (times-- > 0) {
        (void)usher_gate_enter(own, &had);
        (void)usher_gate_leave(own, &had);
    }
}

static void usher_gate_close(void)
{
    bench_unshare(gate, sizeof *gate);
}

const struct bench_peer bench_usher_gate = {
    "usher gate",    PEER_IN_ORDER | PEER_KEY, usher_gate_open, bench_no_attach,  usher_gate_get,
    usher_gate_pass, usher_gate_run,           bench_no_detach, usher_gate_close, NULL,
};
