/*
 * The peers: all mechanisms that can limit entry to k. At most one instance of each exists at a
 * time. Data for a process is in that process's memory, data for a thread in thread-local memory.
 */
#ifndef USHER_BENCH_PEERS_H
#define USHER_BENCH_PEERS_H

#include <stdint.h>

enum {
    PEER_ONE = 1,       /* k = 1 only */
    PEER_THREADS = 2,   /* threads of one process only */
    PEER_SPINS = 4,     /* waiters spin: not for many waiters */
    PEER_SURVIVES = 8,  /* a killed holder costs nothing */
    PEER_IN_ORDER = 16, /* first come, first served */
    PEER_LIMIT = 32,    /* a lower bound; measured only where named */
    PEER_KEY = 64       /* measured even with --quick */
};

struct bench_peer {
    const char *name;
    unsigned flags;
    /* Create it with `seats` seats for up to `guests` guests. 0, or -1: not possible. */
    int (*open)(unsigned seats, unsigned guests);
    int (*attach)(void); /* called in each process that uses it; 0 or -1 */
    void (*get)(void);
    void (*pass)(void);
    void (*run)(uint64_t times); /* get and pass, `times` times */
    void (*detach)(void);
    void (*close)(void);
    uint32_t (*ticket)(void); /* the ticket of this thread's last get; NULL: the peer has none */
};

/* All peers of this build, the limits first. */
extern const struct bench_peer *const bench_peers[];
extern const unsigned bench_peer_count;
const struct bench_peer *bench_peer(const char *name);
/* Report the peers that this build does not have. */
void bench_peers_absent(const char *workload);

/* Choose the peers with all flags of `with` and none of `without`; with --quick only those with
   PEER_KEY. Return the count. */
unsigned bench_choose(const struct bench_peer **chosen, unsigned with, unsigned without);
unsigned bench_index(const struct bench_peer *const *peers, unsigned count, const char *name);

extern const struct bench_peer bench_limit_cas, bench_limit_fifo, bench_limit_repairable;
extern const struct bench_peer bench_limit_rows; /* for growth only: not in the list */
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

/* For peers without work to do in attach. */
int bench_no_attach(void);
void bench_no_detach(void);

/* Inline the calls in their loop, as in a real program. */
#define BENCH_RUN(peer)                                                                            \
    static void peer##_run(uint64_t times)                                                         \
    {                                                                                              \
        while (times-- > 0) {                                                                      \
            peer##_get();                                                                          \
            peer##_pass();                                                                         \
        }                                                                                          \
    }

#endif
