/*
 * ZooKeeper without usher: what a stranger to a pool can do, and tickets by the thousand from one
 * session. Its own connection, in a session of its own.
 */
#ifndef USHER_ZK_RAW_H
#define USHER_ZK_RAW_H

#include <stddef.h>

struct zk_raw;

/* Connect to 127.0.0.1 at that port. `auth` is "USER:PASSWORD", or NULL. */
struct zk_raw *zk_raw_open(int port, const char *auth);
/* The end of its session. */
void zk_raw_close(struct zk_raw *raw);
/* 0, or what the server says (ZNOAUTH ..). */
int zk_raw_get(struct zk_raw *raw, const char *path, char *text, size_t room);
int zk_raw_set(struct zk_raw *raw, const char *path, const char *text);
int zk_raw_delete(struct zk_raw *raw, const char *path);
/* Delete the youngest of the tickets below a node. */
int zk_raw_delete_youngest(struct zk_raw *raw, const char *path);
/* Give the creator, which has this connection's password, all permissions but to change them. */
int zk_raw_restrict(struct zk_raw *raw, const char *path);
/* Create nodes "PREFIX%010d" that go with the session, all at once. */
int zk_raw_tickets(struct zk_raw *raw, const char *prefix, int count);
/* How many there are below a node, and the length of their names together; or what it says. */
int zk_raw_list(struct zk_raw *raw, const char *path, size_t *length);

#endif
