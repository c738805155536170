/*
 * Real ZooKeeper servers for tests, on loopback or on nodes of zk_net.h, each with its own
 * directory. They end with the process that started them.
 */
#ifndef USHER_ZK_SERVER_H
#define USHER_ZK_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct zk_server {
    pid_t pid;
    int node; /* of zk_net.h, or ZK_NET_HERE */
    int port;
    char directory[128]; /* configuration and data */
};

/* Return whether this machine can run a server; if not, print what is missing. */
bool zk_server_possible(void);
/* Start a server in a new directory below `below` and wait until it answers. */
void zk_server_start(struct zk_server *server, const char *below);
/* Start an ensemble, on loopback or on nodes 0, 1, .. of zk_net.h, and wait until it has a
   leader. */
void zk_server_ensemble(struct zk_server *servers, int count, const char *below, bool on_nodes);
bool zk_server_leads(const struct zk_server *server);
/* Return the index of the leader, or -1. */
int zk_server_leader(const struct zk_server *servers, int count);
/* Start a server again with its data, at the same port, and wait until it answers. */
void zk_server_restart(struct zk_server *server);
/* The same without waiting. */
void zk_server_launch(struct zk_server *server);
/* Kill a server and wait for its end. */
void zk_server_kill(struct zk_server *server);
/* Restart a server with a changed count of nodes ever created below `path`. Sequence numbers
   continue from there. */
void zk_server_age(struct zk_server *server, const char *path, uint32_t count);
/* Return the name of a pool on these servers; valid for the next 15 calls. */
const char *zk_server_pool(const struct zk_server *servers, int count, const char *pool);
/* Return one number of the server's statistics (mntr). */
long long zk_server_number(const struct zk_server *server, const char *name);

#endif
