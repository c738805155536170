/*
 * Real ZooKeeper servers for tests: on loopback, or on nodes of zk_net.h; each with a directory of
 * its own. They end with whoever started them.
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
    char directory[128]; /* its configuration, and what it has stored */
};

/* Whether a server can be started on this machine; if not, say what is missing. */
bool zk_server_possible(void);
/* Start one in a new directory below that one, and wait until it answers. */
void zk_server_start(struct zk_server *server, const char *below);
/* Start several that are one ensemble, on loopback or on nodes 0, 1, .. of zk_net.h, and wait until
   one of them leads. */
void zk_server_ensemble(struct zk_server *servers, int count, const char *below, bool on_nodes);
bool zk_server_leads(const struct zk_server *server);
/* Which of them leads, or -1. */
int zk_server_leader(const struct zk_server *servers, int count);
/* Start it again, with what it had stored, at the same port. */
void zk_server_restart(struct zk_server *server);
/* The same, and do not wait until it answers. */
void zk_server_launch(struct zk_server *server);
/* Kill it, and wait until it is gone. */
void zk_server_kill(struct zk_server *server);
/* Restart it, and have it think that so many nodes were created below that one: sequence numbers go
   on from there. */
void zk_server_age(struct zk_server *server, const char *path, uint32_t count);
/* One number of what the server says of itself (mntr). */
long long zk_server_number(const struct zk_server *server, const char *name);

#endif
