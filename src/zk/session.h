/* What client.c (requests) and session.c (the connection, and the thread that keeps it) share. */
#ifndef USHER_ZK_SESSION_H
#define USHER_ZK_SESSION_H

#include "zk/client.h"

#include <pthread.h>
#include <zookeeper/zookeeper.h>

/* Requests that are waited for together. */
struct zk_exchange {
    struct zk_client *client;
    unsigned left; /* that are not answered yet */
    sem_t done;
};

/* Every call of the client library is under the mutex; what it calls back is, too. */
struct zk_client {
    zhandle_t *zh; /* NULL once the session is over */
    uint64_t session;
    pthread_mutex_t mutex; /* for all but the session's number */
    int64_t trip_ns;       /* from sending to the answer, of the last that was */
    pthread_cond_t changed;
    pthread_t thread;
    int wake;     /* an eventfd: something is to be done */
    int fd;       /* of the connection, or -1 */
    ino_t socket; /* which one it is */
    bool connected, expired, refused, closing;
    int64_t timeout_ns;
    int64_t tried_ns;    /* when fd was opened */
    int64_t answered_ns; /* when something was answered last, or asked after that */
    int64_t sent_ns;     /* when that was asked which the leader has answered */
    unsigned unanswered;
    int held;
    struct zk_request beat; /* the last request to confirm the session */
    struct zk_exchange beat_exchange;
    struct zk_listener *listeners;
    const struct ACL_vector *acl; /* of what is made: one that is open, the creator's, or adopted */
    struct ACL_vector adopted;
};

/* Send a request; the mutex is held. */
void zk__send(struct zk_client *client, struct zk_request *request);
/* Make what is made from now on have these permissions. Whether there is memory for that. */
bool zk__adopt(struct zk_client *client, const struct ACL_vector *acl);
/* fork.c: around what may look up names. */
void zk__resolver_enter(void);
void zk__resolver_leave(void);
/* Have the thread look what is to be done. */
void zk__ring(struct zk_client *client);
/* The watch of everything. */
void zk__on_event(zhandle_t *zh, int type, int state, const char *path, void *context);

#endif
