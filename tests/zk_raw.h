/*
 * ZooKeeper without usher: what a foreign client can do to a pool, and thousands of tickets from
 * one session. Each handle has its own connection and session.
 */
#ifndef USHER_ZK_RAW_H
#define USHER_ZK_RAW_H

#include <stddef.h>

struct zk_raw;

/* Connect to 127.0.0.1:port. `auth` is "USER:PASSWORD" or NULL. */
struct zk_raw *zk_raw_open(int port, const char *auth);
/* End the session. */
void zk_raw_close(struct zk_raw *raw);
/* 0, or the server's error (ZNOAUTH ..). */
int zk_raw_get(struct zk_raw *raw, const char *path, char *text, size_t room);
int zk_raw_set(struct zk_raw *raw, const char *path, const char *text);
int zk_raw_delete(struct zk_raw *raw, const char *path);
/* Delete the child with the highest sequence number. */
int zk_raw_delete_youngest(struct zk_raw *raw, const char *path);
/* Give the creator, who has this connection's password, all permissions except ADMIN. */
int zk_raw_restrict(struct zk_raw *raw, const char *path);
/* Create ephemeral nodes "PREFIX%010d", all at once. */
int zk_raw_tickets(struct zk_raw *raw, const char *prefix, int count);
/* Return the number of children and the total length of their names, or the server's error. */
int zk_raw_list(struct zk_raw *raw, const char *path, size_t *length);

#endif
