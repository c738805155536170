/*
 * Peers of other libraries, if present at build time. Both are for threads of one process. libck's
 * lock spins in order and has one holder; nsync's sleep.
 */
#include "bench/bench.h"
#include "bench/peers.h"

#include <stddef.h>

#ifdef BENCH_CK
#include <ck_spinlock.h>

static ck_spinlock_ticket_t spinlock;

static int ck_ticket_open(unsigned seats, unsigned guests)
{
    (void)guests;
    ck_spinlock_ticket_init(&spinlock);
    return seats == 1 ? 0 : -1;
}

static inline void ck_ticket_get(void)
{
    ck_spinlock_ticket_lock(&spinlock);
}

static inline void ck_ticket_pass(void)
{
    ck_spinlock_ticket_unlock(&spinlock);
}

BENCH_RUN(ck_ticket)

const struct bench_peer bench_ck_ticket = {
    "libck ticket lock", PEER_ONE | PEER_THREADS | PEER_SPINS | PEER_IN_ORDER,
    ck_ticket_open,      bench_no_attach,
    ck_ticket_get,       ck_ticket_pass,
    ck_ticket_run,       bench_no_detach,
    bench_no_detach,     NULL,
};
#endif

#ifdef BENCH_NSYNC
#include <nsync.h>

static nsync_mu one, guard;
static nsync_cv freed;
static unsigned free_permits;

static int nsync_mu_open(unsigned seats, unsigned guests)
{
    (void)guests;
    nsync_mu_init(&one);
    return seats == 1 ? 0 : -1;
}

static inline void nsync_mu_get(void)
{
    nsync_mu_lock(&one);
}

static inline void nsync_mu_pass(void)
{
    nsync_mu_unlock(&one);
}

BENCH_RUN(nsync_mu)

const struct bench_peer bench_nsync_mu = {
    "nsync_mu",      PEER_ONE | PEER_THREADS,
    nsync_mu_open,   bench_no_attach,
    nsync_mu_get,    nsync_mu_pass,
    nsync_mu_run,    bench_no_detach,
    bench_no_detach, NULL,
};

static int nsync_cv_open(unsigned seats, unsigned guests)
{
    (void)guests;
    nsync_mu_init(&guard);
    nsync_cv_init(&freed);
    free_permits = seats;
    return 0;
}

static inline void nsync_cv_get(void)
{
    nsync_mu_lock(&guard);
    while (free_permits == 0) {
        nsync_cv_wait(&freed, &guard);
    }
    free_permits--;
    nsync_mu_unlock(&guard);
}

static inline void nsync_cv_pass(void)
{
    nsync_mu_lock(&guard);
    free_permits++;
    nsync_cv_signal(&freed);
    nsync_mu_unlock(&guard);
}

BENCH_RUN(nsync_cv)

const struct bench_peer bench_nsync_cv = {
    "nsync_mu + nsync_cv", PEER_THREADS, nsync_cv_open,   bench_no_attach, nsync_cv_get,
    nsync_cv_pass,         nsync_cv_run, bench_no_detach, bench_no_detach, NULL,
};
#endif
