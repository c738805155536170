/* Shared by client.c (requests) and session.c (the connection and its thread). */
#ifndef USHER_ZK_SESSION_H
#define USHER_ZK_SESSION_H

#include "zk/client.h"

#include <pthread.h>
#include <zookeeper/zookeeper.h>

/* A batch of requests that one caller waits for. */
struct zk_exchange {
    struct zk_client *client;
    unsigned left; /* requests without an answer; `done` is posted when it becomes 0 */
    sem_t done;
};

/*
 * A session.
 *
 * All calls of the client library and all its callbacks run under `mutex`. It protects all fields
 * except `session`, `timeout_ns`, `thread` and `wake`, which zk_client_open writes before it
 * returns. The session's thread and sending callers write the other fields, unless a field names
 * its writer.
 *
 *   unanswered              == number of sent requests without an answer
 *   heartbeat_exchange.left <= 1
 *   certainly alive until      confirmed_ns + 0.6 timeout_ns
 */
struct zk_client {
    zhandle_t *zh; /* NULL once the session has ended */
    uint64_t session;
    pthread_mutex_t mutex;
    int64_t round_trip_ns; /* of the last answer: time between request and answer */
    pthread_cond_t changed;
    pthread_t thread;
    int wake;                    /* eventfd; a caller writes it to wake the thread */
    int fd;                      /* of the connection, or -1; written by the thread */
    ino_t socket;                /* inode of fd, to notice a new socket */
    bool connected, refused;     /* by the library's callback */
    bool expired;                /* the same, and zk_client_wait_connected */
    bool closing;                /* zk_client_close */
    int64_t timeout_ns;          /* T */
    int64_t attempt_ns;          /* when fd was opened */
    int64_t answered_ns;         /* time of the last answer, or of the first request after it */
    int64_t confirmed_ns;        /* when the newest request was sent that the leader answered */
    unsigned unanswered;         /* a send adds 1, an answer subtracts 1 */
    int held;                    /* seats; zk_client_hold */
    struct zk_request heartbeat; /* the thread's own request */
    struct zk_exchange heartbeat_exchange;
    struct zk_listener *listeners; /* zk_client_listen, zk_client_unlisten */
    const struct ACL_vector *acl;  /* for new nodes: open, creator only, or `adopted` */
    struct ACL_vector adopted;
};

/* Send a request. The caller holds the mutex. */
void zk__send(struct zk_client *client, struct zk_request *request);
/* Use this ACL for all nodes created from now on. False: no memory. */
bool zk__adopt(struct zk_client *client, const struct ACL_vector *acl);
/* fork.c. Enclose each call that may look up host names; fork waits until it is over. */
void zk__resolver_enter(void);
void zk__resolver_leave(void);
/* Make the thread run its checks now. */
void zk__wake_thread(struct zk_client *client);
/* The callback for all watches and session events. */
void zk__on_event(zhandle_t *zh, int type, int state, const char *path, void *context);

#endif
