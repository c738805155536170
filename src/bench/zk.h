/*
 * What the workload of pools on ZooKeeper is made of: a real server, a link with a known delay, and
 * clients, each a process of its own that does what it is told.
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
/* Start a server on loopback. Whether there is one; if not, *why says it. */
bool bench_zk_start(struct bench_zk *server, const char **why);
void bench_zk_stop(struct bench_zk *server);
/* How many times the server has told a client of a change; how many requests it has got. */
double bench_zk_notifications(const struct bench_zk *server);
double bench_zk_requests(const struct bench_zk *server);

/* delay.c: a link to a port of this machine that delays all that goes through it, each way. Its
   own port; it is kept by a child, until that is killed. */
int bench_delay_start(int to_port, unsigned us, pid_t *child);

/* zk_clients.c */
struct bench_zk_pool {
    int port;
    unsigned timeout_ms, seats;
    char path[64];
};
/* Who offers seats there. `be`: be a client of that pool that obeys stdin, and answers on stdout:
 *
 *     acquire, release    the time of CLOCK_MONOTONIC, in ns, when it is done
 *     cycle SECONDS       acquire and release again and again: how often
 *     crowd WAITERS PASS  hold a seat, and have threads wait for it: when they all do;
 *     go                  give it up, so that so many have it in turn: when they all have had it
 */
struct bench_zk_peer {
    const char *name;
    void (*be)(const struct bench_zk_pool *pool);
};
extern const struct bench_zk_peer bench_zk_usher, bench_zk_kazoo, bench_zk_engine;
/* Whether it is installed. */
bool bench_zk_has_kazoo(void);

struct bench_client {
    pid_t pid;
    FILE *to, *from;
};
/* Start a client, and wait until it is connected. */
void bench_client_start(struct bench_client *client, const struct bench_zk_peer *peer,
                        const struct bench_zk_pool *pool);
void bench_client_tell(struct bench_client *client, const char *what);
/* Its answer; -1: none within so many ms, or it has ended. */
double bench_client_hear(struct bench_client *client, int most_ms);
double bench_client_ask(struct bench_client *client, const char *what);
/* Kill it, as it may be stopped. */
void bench_client_end(struct bench_client *client);

/* zk_engine.c: be a client that writes a node of its own, for each `cycle` once. */
void bench_zk_be_engine(const struct bench_zk_pool *pool);

#endif
