/*
 * A session with the ZooKeeper servers: requests and answers, watches, and the time until which the
 * session is certainly alive. This layer does not know pools.
 *
 * T is the session timeout. Each session has one thread that talks to the server; callers wait for
 * it. The thread blocks all signals.
 *
 * - While a seat is held (zk_client_hold), the thread makes the leader confirm the session every
 *   T/10.
 * - While a caller waits in line (zk_client_listen), the thread asks its server something every
 *   T/6.
 * - If a server leaves a request unanswered for T/4, the thread connects to another server. The
 *   client library alone would wait 2T/3.
 */
#ifndef USHER_ZK_CLIENT_H
#define USHER_ZK_CLIENT_H

#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zk_client;

/* The time of CLOCK_BOOTTIME. Like the servers' clocks, it runs while this machine sleeps. */
int64_t zk_now_ns(void);

/* How to connect. */
struct zk_connect_options {
    const char *hosts;
    int timeout_ms;
    const char *auth; /* "USER:PASSWORD" or NULL; nodes that we create are then usable with these
                         credentials only */
    const char *tls;  /* files in the format of zookeeper_init_ssl, or NULL */
};

/* Connect to one of the servers and start a session. 0; -ENOTCONN: no server answered within
   timeout_ms; -EACCES: the servers refused the credentials; -EHOSTUNREACH: no host name could be
   resolved; -ENOMEM; -ENOPKG: the client library was built without TLS. A crash afterwards
   leaves a session that the servers end after T. */
int zk_client_open(struct zk_client **client, const struct zk_connect_options *options);
/* End the session and free the client. `ours` is false in a forked child: then only close the
   copies of the descriptors, because the session belongs to the parent. */
void zk_client_close(struct zk_client *client, bool ours);
uint64_t zk_client_session(struct zk_client *client);
/* The session timeout T that the servers granted. */
int64_t zk_client_timeout_ns(struct zk_client *client);
/* Add `change` (1 or -1) to the number of held seats. While it is above 0 the leader confirms
   the session every T/10. */
void zk_client_hold(struct zk_client *client, int change);
/* The time, on the clock of zk_now_ns, until which the session is certainly alive; 0 once it has
   ended. */
int64_t zk_client_valid_until(struct zk_client *client);

/* The kinds of requests. */
enum zk_kind {
    ZK_CREATE,    /* create an ephemeral node with data */
    ZK_GET,       /* read a node's data */
    ZK_GET_WATCH, /* read it, and wake its listener (zk_client_listen) at the next change */
    ZK_LIST,      /* list the names of a node's children */
    ZK_SYNC,      /* wait until the server has applied all that was committed before */
    ZK_DELETE,    /* delete a node if it has the given version */
    ZK_ADOPT,     /* read a node's ACL and use it for all nodes created from now on */
    ZK_MULTI      /* apply all changes or none */
};

/* One change of a ZK_MULTI request. */
enum zk_what {
    ZK_MAKE,   /* create a persistent node with data */
    ZK_TICKET, /* create an empty ephemeral node with a sequence number */
    ZK_SET,    /* set a node's data if it has the given version */
    ZK_DROP,   /* delete a node if it has the given version */
    ZK_CHECK   /* fail unless the node has the given version */
};
struct zk_change {
    enum zk_what what;
    const char *path, *data;
    size_t length;
    int32_t version; /* -1: any version */
    char *made;      /* ZK_TICKET: receives the path that the server chose; `room` bytes */
    size_t room;
};

struct zk_request {
    enum zk_kind kind;
    const char *path, *data;
    size_t length;
    int32_t version; /* for ZK_DELETE */
    const struct zk_change *changes;
    unsigned count;

    /* The answer. The session's thread writes it; zk_request_clear frees text and names. */
    int error; /* 0; -ENOENT, -EEXIST, -ENOTEMPTY, -EACCES; -ESTALE: the node has another
                  version; -ECONNRESET: the answer is lost, the request may be done or not;
                  -EKEYEXPIRED: the session has ended */
    char *text;
    size_t text_length;
    char **names;
    size_t name_count;
    int32_t node_version;
    uint64_t created_zxid;
    int64_t created_ms, changed_ms; /* ZK_GET: milliseconds since 1970 on the servers' clocks */
    uint32_t created_count;         /* ZK_LIST: number of children ever created below the node,
                                       modulo 2^31 */

    struct zk_exchange *exchange; /* private to client.c and session.c, with the next two */
    int64_t sent_ns;
    void *results;
};

/* Send all requests at once and in this order, then wait until each is answered. Return the
   first error, or 0. */
int zk_client_ask(struct zk_client *client, struct zk_request *requests, unsigned count);
void zk_request_clear(struct zk_request *requests, unsigned count);
/* Wait a random time after another client changed the pool first. `tries` counts consecutive
   such failures from 0. The bound is 2 round trips, doubled at each failure up to 64 round
   trips, and never more than 0.54 s. */
void zk_client_back_off(struct zk_client *client, unsigned tries);
/* Wait for a connection after -ECONNRESET. 0; -EKEYEXPIRED: the session has ended; -EACCES: the
   servers refused the credentials; -ENOTCONN: no connection for T. After -ENOTCONN the session
   counts as ended for good. */
int zk_client_wait_connected(struct zk_client *client);

/* A caller that waits for a node to change. The session's thread posts `wakeup` when the node
   changes, when the connection changes and when the session ends. */
struct zk_listener {
    struct zk_listener *next;
    const char *path;
    sem_t wakeup;
};
void zk_client_listen(struct zk_client *client, struct zk_listener *listener);
void zk_client_unlisten(struct zk_client *client, struct zk_listener *listener);

#endif
