/*
 * Parts of the ZooKeeper workload: a real server, a link with a known delay, and client processes
 * that obey commands.
 */
#ifndef USHER_BENCH_ZK_H
#define USHER_BENCH_ZK_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* zk_server.c */
struct bench_zk {
    pid_t serving;
    int port;
    char directory[64];
};
/* Start a server on loopback. False: *why says why not. */
bool bench_zk_start(struct bench_zk *server, const char **why);
void bench_zk_stop(struct bench_zk *server);
/* The number of notifications the server has sent, and of requests it has received. */
double bench_zk_notifications(const struct bench_zk *server);
double bench_zk_requests(const struct bench_zk *server);

/* delay.c. Start a link to a port of this machine that delays all data, in each direction, by
   `us`. Return its port. A child runs it until it is killed. */
int bench_delay_start(int to_port, unsigned us, pid_t *child);

/* zk_clients.c */
struct bench_zk_pool {
    int port;
    unsigned timeout_ms, seats;
    char path[64];
};
/*
 * An implementation of pools. `be` runs a client that reads commands on stdin and answers on
 * stdout:
 *
 *     acquire, release    the CLOCK_MONOTONIC time in ns when it was done
 *     cycle SECONDS       acquire and release repeatedly: the number of cycles
 *     crowd WAITERS PASS  hold a seat, and start threads that wait for it: the time when all wait
 *     go                  release it, so that PASS threads get it in turn: the time when all had it
 */
struct bench_zk_peer {
    const char *name;
    void (*be)(const struct bench_zk_pool *pool);
};
extern const struct bench_zk_peer bench_zk_usher, bench_zk_kazoo, bench_zk_engine;
/* Return whether kazoo is installed. */
bool bench_zk_has_kazoo(void);

struct bench_client {
    pid_t pid;
    FILE *to, *from;
};
/* Start a client and wait until it is connected. */
void bench_client_start(struct bench_client *client, const struct bench_zk_peer *peer,
                        const struct bench_zk_pool *pool);
void bench_client_tell(struct bench_client *client, const char *what);
/* Return its answer; -1: none within most_ms, or it has ended. */
double bench_client_hear(struct bench_client *client, int most_ms);
double bench_client_ask(struct bench_client *client, const char *what);
/* Kill it; it may be stopped. */
void bench_client_end(struct bench_client *client);

/* zk_engine.c. Run a client that writes a node of its own; a cycle is one write. */
void bench_zk_be_engine(const struct bench_zk_pool *pool);

#endif
