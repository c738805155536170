/* The list of peers, and the choice among them. */
#include "bench/peers.h"

#include "bench/bench.h"

#include <stddef.h>
#include <string.h>

const struct bench_peer *const bench_peers[] = {
    &bench_limit_cas,  &bench_limit_fifo, &bench_limit_repairable,
    &bench_usher_pool, &bench_usher_gate, &bench_sem_t,
    &bench_semop_undo, &bench_semop,      &bench_mutex,
    &bench_robust,     &bench_condition,  &bench_flock,
    &bench_ofd,        &bench_eventfd,    &bench_pipe,
#ifdef BENCH_CK
    &bench_ck_ticket,
#endif
#ifdef BENCH_NSYNC
    &bench_nsync_mu,   &bench_nsync_cv,
#endif
};

const unsigned bench_peer_count = sizeof bench_peers / sizeof bench_peers[0];

const struct bench_peer *bench_peer(const char *name)
{
    for (unsigned p = 0; p < bench_peer_count; p++) {
        if (strcmp(bench_peers[p]->name, name) == 0) {
            return bench_peers[p];
        }
    }
    return NULL;
}

void bench_peers_absent(const char *workload)
{
#ifndef BENCH_CK
    bench_absent(workload, "libck", "built without it (libck-dev)");
#endif
#ifndef BENCH_NSYNC
    bench_absent(workload, "libnsync", "built without it (libnsync-dev)");
#endif
    (void)workload;
}

unsigned bench_choose(const struct bench_peer **chosen, unsigned with, unsigned without)
{
    unsigned count = 0;
    with |= bench_effort == BENCH_FULL ? 0 : PEER_KEY;
    for (unsigned p = 0; p < bench_peer_count; p++) {
        unsigned flags = bench_peers[p]->flags;
        if ((flags & with) == with && (flags & without) == 0) {
            chosen[count++] = bench_peers[p];
        }
    }
    return count;
}

unsigned bench_index(const struct bench_peer *const *peers, unsigned count, const char *name)
{
    unsigned p = 0;
    while (p < count && strcmp(peers[p]->name, name) != 0) {
        p++;
    }
    return p;
}

int bench_no_attach(void)
{
    return 0;
}

void bench_no_detach(void)
{
}
