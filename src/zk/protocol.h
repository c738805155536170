/*
 * A pool on ZooKeeper: how seats are asked for, granted and given on. state.h has what is kept
 * there; docs/distributed.md has the argument.
 *
 *   arrive    create a ticket, an ephemeral node with a sequence number, if its roll is the last
 *   look      read the pool's data, then list the tickets, in one go and in that order: who is
 *             named in the data and not listed is gone
 *   glance    read the pool's data alone: if the line is long it has the names of who is next
 *   advance   grant what seats are empty to the oldest that wait: their tickets and the pool's data
 *             are set in one transaction, at the versions that were seen. Anyone may, and whoever
 *             arrives does
 *   wait      sleep on a watch of the own ticket; now and then look and advance, for seats whose
 *             holders are gone
 *   leave     the same transaction as advance, with the own ticket deleted in it. If a seat is free
 *             then, list the tickets behind it: who has come since the look has read that none was
 *   give up   delete the own ticket at version 0; if it has another, the grant was faster
 *   renew     close the last roll and begin another, before its sequence numbers come to their end
 *   retire    remove the first roll, when it has no tickets any more and is not the last
 */
#ifndef USHER_ZK_PROTOCOL_H
#define USHER_ZK_PROTOCOL_H

#include "pool/remote.h"
#include "zk/client.h"
#include "zk/state.h"

#include <pthread.h>
#include <stdatomic.h>

/* A request of ours: a ticket, and the seat that it was granted. */
struct zk_own {
    struct zk_own *next; /* in the list of what is held */
    uint32_t n;          /* which request of this session */
    uint64_t number;     /* ZK_NO_TICKET: there is none */
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
    struct zk_who who;
    char *labels, *note; /* that `who` points to */
    uint32_t renewed_at; /* the sequence number from which on a roll is renewed */
    _Atomic uint32_t requests;
    _Atomic bool announced;       /* there is a node that says who we are */
    _Atomic uint32_t first, last; /* rolls, as they were seen last */
    _Atomic bool long_line;       /* there was a NEXT */
    pthread_mutex_t mutex;        /* for the list */
    struct zk_own *held;
};

/* The pool as it was seen. */
struct zk_view {
    struct zk_state state;
    int32_t version;
    uint64_t births;       /* tickets, since the pool was made; if the line is whole */
    uint32_t first_births; /* those of the first roll */
    bool first_empty;      /* it has no nodes any more */
    struct zk_line line;   /* tickets NULL: nothing was seen */
};

/* A look: the lists that are asked for, and what they are about. */
struct zk_looking {
    uint32_t first, last; /* rolls */
    unsigned lists;
    char paths[ZK_MOST_ROLLS][ZK_PATH_ROOM];
};
enum { ZK_LOOK_REQUESTS = 1 + ZK_MOST_ROLLS };

/* look.c. Look. 0, -EIDRM: the pool is gone, or another one; and the errors of a request and of
   zk_parse_state. Asks again after a lost connection. */
int zk_look(struct remote *remote, struct zk_view *view);
/* Read the pool's data; the line is that of NEXT. -EAGAIN: there is none, look. */
int zk_glance(struct remote *remote, struct zk_view *view);
void zk_view_clear(struct zk_view *view);
/* An own ticket is not there, and the session lives. -EIDRM: nor is the pool; by force its tickets
   are removed first, so this waits for that a while. -EKEYREVOKED: the pool is there, somebody has
   deleted the ticket. Or an error of looking. */
int zk_why_gone(struct remote *remote);
/* The parts of these, to be sent with other requests: one and `lists`; and what was seen, or
   -EAGAIN: the rolls are others by now. */
void zk_put_look(struct remote *remote, struct zk_looking *looking, struct zk_request *requests,
                 bool glance);
int zk_take_look(struct remote *remote, const struct zk_looking *looking,
                 const struct zk_request *requests, struct zk_view *view);
/* The same for the lists alone, of a view whose state is known. */
void zk_put_lists(struct remote *remote, uint32_t first, uint32_t last, struct zk_looking *looking,
                  struct zk_request *requests);
int zk_take_lists(const struct zk_looking *looking, const struct zk_request *lists,
                  struct zk_view *view);
/* Into ZK_PATH_ROOM: where a roll and a ticket are. */
void zk_roll_path(const struct remote *remote, uint32_t roll, char *path);
void zk_ticket_path(const struct remote *remote, const struct zk_ticket *ticket, char *path);

/* protocol.c. Look, unless the view has something to begin with; change the number of seats if
   `seats` is not ZK_NOBODY; and grant what can be granted, until there is nothing left to do. How
   many grants, or -errno. The view is the last look, and `own` is filled in if it was granted
   here. */
int zk_advance(struct remote *remote, struct zk_view *view, uint32_t seats, struct zk_own *own);
/* Give a seat back, and on. */
int zk_leave(struct remote *remote, const struct zk_own *own);
/* Somebody was faster, a ticket is gone, or it is not known whether it was done: look again, after
   a while. `tries` counts how often somebody was faster, from 0. */
bool zk_try_again(struct remote *remote, int *error, unsigned *tries);

/* rolls.c. Begin another roll if this one is still the last. */
int zk_renew(struct remote *remote, uint32_t roll);
/* Remove the first roll, if the view says that it may be. Whether the view is old now. */
bool zk_retire(struct remote *remote, const struct zk_view *view);

/* arrive.c: the calls of remote.h. */
int zk_acquire(struct remote *remote, struct usher_seat *seat, int64_t deadline_ns);
int zk_release(struct remote *remote, const struct usher_seat *seat);
int zk_lease(struct remote *remote, const struct usher_seat *seat, struct usher_lease *lease);
/* inspect.c */
int zk_inspect(struct remote *remote, struct usher_info *info, struct usher_guest *guests,
               size_t capacity);
/* remove.c: a pool that was opened for that. */
int zk_remove(struct remote *remote, bool force);
/* What is left of a pool that is damaged, or that is of another version. */
int zk_remove_rubble(struct zk_client *client, const char *path);
/* verify.c */
int zk_verify(struct remote *remote, void (*say)(void *context, const char *sentence),
              void *context);

#endif
