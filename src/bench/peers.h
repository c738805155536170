/*
 * The peers: everybody who can let k in at a time. One instance of each at a time; what it keeps
 * for a process is in that process's memory, and for a thread in the thread's.
 */
#ifndef USHER_BENCH_PEERS_H
#define USHER_BENCH_PEERS_H

#include <stdint.h>

enum {
    PEER_ONE = 1,       /* k = 1 only */
    PEER_THREADS = 2,   /* for the threads of one process only */
    PEER_SPINS = 4,     /* who waits keeps its processor: not for crowds */
    PEER_SURVIVES = 8,  /* a holder that is killed costs nothing */
    PEER_IN_ORDER = 16, /* first come, first served */
    PEER_LIMIT = 32,    /* shows what can be had: only where it is asked for */
    PEER_KEY = 64       /* measured even if there is little time */
};

struct bench_peer {
    const char *name;
    unsigned flags;
    /* Make it, with so many seats, for so many guests at a time. 0, or -1: not with these. */
    int (*open)(unsigned seats, unsigned guests);
    int (*attach)(void); /* in each process that uses it. 0, or -1 */
    void (*get)(void);
    void (*pass)(void);
    void (*run)(uint64_t times); /* get and pass, that many times */
    void (*detach)(void);
    void (*close)(void);
    uint32_t (*ticket)(void); /* NULL, or: the place in line of what this thread has got */
};

/* All that this build has, the limits first. */
extern const struct bench_peer *const bench_peers[];
extern const unsigned bench_peer_count;
const struct bench_peer *bench_peer(const char *name);
/* Those this build does not have. */
void bench_peers_absent(const char *workload);

/* Those with all flags of `with` and none of `without`; with little time, only PEER_KEY. */
unsigned bench_choose(const struct bench_peer **chosen, unsigned with, unsigned without);
unsigned bench_index(const struct bench_peer *const *peers, unsigned count, const char *name);

extern const struct bench_peer bench_limit_cas, bench_limit_fifo, bench_limit_repairable;
extern const struct bench_peer bench_limit_rows; /* for growth alone: not in the list */
extern const struct bench_peer bench_usher_pool, bench_usher_gate;
/* For ablation alone: not in the list. */
extern const struct bench_peer bench_without_yield, bench_without_backoff, bench_without_both;
extern const struct bench_peer bench_sem_t, bench_mutex, bench_robust, bench_condition;
extern const struct bench_peer bench_semop, bench_semop_undo, bench_flock, bench_ofd;
extern const struct bench_peer bench_eventfd, bench_pipe;
#ifdef BENCH_CK
extern const struct bench_peer bench_ck_ticket;
#endif
#ifdef BENCH_NSYNC
extern const struct bench_peer bench_nsync_mu, bench_nsync_cv;
#endif

/* For peers with nothing to do there. */
int bench_no_attach(void);
void bench_no_detach(void);

/* The calls inlined in their loop, as a program would have them. */
#define BENCH_RUN(peer)                                                                            \
    static void peer##_run(uint64_t times)                                                         \
    {                                                                                              \
        while (times-- > 0) {                                                                      \
            peer##_get();                                                                          \
            peer##_pass();                                                                         \
        }                                                                                          \
    }

#endif
