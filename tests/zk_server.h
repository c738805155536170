/*
 * A real ZooKeeper server for tests: one node on loopback, with a directory of its own, that ends
 * with whoever started it.
 */
#ifndef USHER_ZK_SERVER_H
#define USHER_ZK_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct zk_server {
    pid_t pid;
    int port;
    char directory[128]; /* its configuration, and what it has stored */
};

/* Whether a server can be started on this machine; if not, say what is missing. */
bool zk_server_possible(void);
/* Start one in a new directory below that one, and wait until it answers. */
void zk_server_start(struct zk_server *server, const char *below);
/* Start it again, with what it had stored, at the same port. */
void zk_server_restart(struct zk_server *server);
/* Kill it, and wait until it is gone. */
void zk_server_kill(struct zk_server *server);
/* One number of what the server says of itself (mntr). */
long long zk_server_number(const struct zk_server *server, const char *name);

#endif
