/*
 * A session with the servers: requests and their answers, watches, and until when it is certain
 * that the session is alive. Knows nothing of pools.
 *
 * A thread of the session's own does the talking; callers wait for it. It keeps all signals
 * blocked. While the session is in use (zk_client_hold) it has the leader confirm it every tenth of
 * the session time; while somebody waits (zk_client_listen) it asks its server something every
 * sixth of it. A server that leaves a question unanswered for a quarter of it is left for another
 * one: the client library by itself would wait for two thirds.
 */
#ifndef USHER_ZK_CLIENT_H
#define USHER_ZK_CLIENT_H

#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zk_client;

/* CLOCK_BOOTTIME: it goes on while the machine sleeps, as the servers' clocks do. */
int64_t zk_now_ns(void);

/* How to connect. */
struct zk_way {
    const char *hosts;
    int timeout_ms;
    const char *auth; /* "USER:PASSWORD", for what is made to be usable by these alone; or NULL */
    const char *tls;  /* files, as zookeeper_init_ssl wants them; or NULL */
};

/* Connect to servers. 0, -ENOTCONN: none answers within timeout_ms, -EACCES, -EHOSTUNREACH,
   -ENOMEM; -ENOPKG: the client library has no TLS. */
int zk_client_open(struct zk_client **client, const struct zk_way *way);
/* End the session. `ours` false: in a forked child, which only lets go of it. */
void zk_client_close(struct zk_client *client, bool ours);
uint64_t zk_client_session(struct zk_client *client);
/* The session time, as the servers have granted it. */
int64_t zk_client_timeout_ns(struct zk_client *client);
/* One more (or less) seat is held: then the session is kept confirmed. */
void zk_client_hold(struct zk_client *client, int change);
/* Until when the session is certainly alive; of zk_now_ns. */
int64_t zk_client_valid_until(struct zk_client *client);

/* What is asked. */
enum zk_kind {
    ZK_CREATE,    /* a node with data, that goes with the session */
    ZK_GET,       /* its data */
    ZK_GET_WATCH, /* and whoever waits for it is told when it changes (zk_client_listen) */
    ZK_LIST,      /* names of the nodes below it */
    ZK_SYNC,      /* what is asked next is as new as this */
    ZK_DELETE,    /* at a version */
    ZK_ADOPT,     /* its permissions: nodes that are made from now on have them, too */
    ZK_MULTI      /* changes, all or none of them */
};

/* A change within ZK_MULTI. */
enum zk_what {
    ZK_MAKE,   /* a node with data */
    ZK_TICKET, /* an empty one with a sequence number, that goes with the session */
    ZK_SET,    /* its data, at a version */
    ZK_DROP,   /* delete it, at a version */
    ZK_CHECK   /* it has that version */
};
struct zk_change {
    enum zk_what what;
    const char *path, *data;
    size_t length;
    int32_t version; /* -1: any */
    char *made;      /* ZK_TICKET: its path, as the server has named it, of `room` bytes */
    size_t room;
};

struct zk_request {
    enum zk_kind kind;
    const char *path, *data;
    size_t length;
    int32_t version; /* ZK_DELETE */
    const struct zk_change *changes;
    unsigned count;

    /* The answer. text and names are freed by zk_request_clear. */
    int error; /* 0; -ENOENT, -EEXIST, -ENOTEMPTY; -ESTALE: another version; -EACCES;
                  -ECONNRESET: it may have been done or not; -EKEYEXPIRED: the session has ended */
    char *text;
    size_t text_length;
    char **names;
    size_t name_count;
    int32_t node_version;
    uint64_t created_zxid;
    int64_t created_ms, changed_ms; /* ZK_GET: by the clocks of the servers, since 1970 */
    uint32_t births;                /* ZK_LIST: how many nodes were ever created below it */

    struct zk_exchange *exchange; /* within, from here on */
    int64_t sent_ns;
    void *results;
};

/* Send requests, all at once, in this order, and wait until each is answered. The error of the
   first that has one. */
int zk_client_ask(struct zk_client *client, struct zk_request *requests, unsigned count);
void zk_request_clear(struct zk_request *requests, unsigned count);
/* Somebody else was faster, for the `tries`th time in a row, from 0: wait for a random time, of two
   round trips at most, and twice as much each time, so that it is not so again. */
void zk_client_back_off(struct zk_client *client, unsigned tries);
/* After -ECONNRESET: wait until there is a connection again. 0; -EKEYEXPIRED: the session has
   ended; -ENOTCONN: for longer than a session lasts there was none. */
int zk_client_again(struct zk_client *client);

/* Whoever waits for a node to change: its bell is rung then, and when a connection is had again or
   the session has ended. */
struct zk_listener {
    struct zk_listener *next;
    const char *path;
    sem_t bell;
};
void zk_client_listen(struct zk_client *client, struct zk_listener *listener);
void zk_client_unlisten(struct zk_client *client, struct zk_listener *listener);

#endif
