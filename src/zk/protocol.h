/*
 * A pool on ZooKeeper: how seats are asked for, granted and given on. state.h has what is kept
 * there; docs/distributed.md has the argument.
 *
 *   arrive    create a ticket: an ephemeral node with a sequence number
 *   look      read the pool's data, then list the tickets, in one go and in that order: who is
 *             named in the data and not listed is gone
 *   advance   grant what seats are empty to the oldest that wait: their tickets and the pool's data
 *             are set in one transaction, at the versions that were seen. Anyone may, and whoever
 *             arrives does
 *   wait      sleep on a watch of the own ticket; now and then look and advance, for seats whose
 *             holders are gone
 *   leave     the same transaction as advance, with the own ticket deleted in it
 *   give up   delete the own ticket at version 0; if it has another, the grant was faster
 */
#ifndef USHER_ZK_PROTOCOL_H
#define USHER_ZK_PROTOCOL_H

#include "lib/remote.h"
#include "zk/client.h"
#include "zk/state.h"

#include <pthread.h>
#include <stdatomic.h>

/* A request of ours: a ticket, and the seat that it was granted. */
struct zk_own {
    struct zk_own *next; /* in the list of what is held */
    uint32_t n;          /* which request of this session */
    uint32_t sequence;   /* ZK_NOBODY: there is no ticket */
    bool granted;
    uint32_t seat; /* if granted, like the next */
    uint64_t fence;
    bool lost; /* the session was once not certain to be alive: then it stays so */
    char path[ZK_PATH_ROOM];
};

struct remote {
    struct usher_pool *pool; /* for options.waiting */
    struct usher_options options;
    struct zk_client *client;
    char *path;
    uint64_t created_zxid; /* of the pool's node: another one is another pool */
    char host[65];
    uint64_t pid_namespace;
    _Atomic uint32_t requests;
    pthread_mutex_t mutex; /* for the list */
    struct zk_own *held;
};

/* The pool as it was seen. */
struct zk_view {
    struct zk_state state;
    int32_t version;
    uint64_t births; /* tickets, since the pool was made */
    struct zk_line line;
};

/* Look. 0, -EIDRM: the pool is gone, or another one; and the errors of a request and of
   zk_parse_state. Asks again after a lost connection. */
int zk_look(struct remote *remote, struct zk_view *view);
void zk_view_clear(struct zk_view *view);
/* Into ZK_PATH_ROOM: where a ticket is. */
void zk_ticket_path(const struct remote *remote, const struct zk_ticket *ticket, char *path);
/* A look from answers to two requests, to get the pool's node and to list it. */
int zk_view_take(struct remote *remote, const struct zk_request *requests, struct zk_view *view);
/* Look, unless the view has something to begin with; change the number of seats if `seats` is not
   ZK_NOBODY; and grant what can be granted, until there is nothing left to do. How many grants, or
   -errno. The view is the last look, and `own` is filled in if it was granted here. */
int zk_advance(struct remote *remote, struct zk_view *view, uint32_t seats, struct zk_own *own);
/* Give a seat back, and on. */
int zk_leave(struct remote *remote, const struct zk_own *own);

/* arrive.c: the calls of remote.h. */
int zk_acquire(struct remote *remote, struct usher_seat *seat, int64_t deadline_ns);
int zk_release(struct remote *remote, const struct usher_seat *seat);
int zk_lease(struct remote *remote, const struct usher_seat *seat, struct usher_lease *lease);

/* verify.c */
int zk_verify(struct remote *remote, void (*say)(void *context, const char *sentence),
              void *context);

#endif
