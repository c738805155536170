/*
 * The protocol of a pool on ZooKeeper. state.h describes what is stored; docs/distributed.md proves
 * that the protocol is right.
 *
 *   arrive     create a ticket (an ephemeral node with a sequence number), if its roll is still the
 *              last one
 *   read       get the pool's data, then list the tickets: sent together, in this order. A ticket
 *              that is in the data and not in the list is gone
 *   read head  get the pool's data only. If the line is long, it names the first waiters (NEXT)
 *   advance    grant the empty seats to the oldest waiters: one transaction sets their tickets and
 *              the pool's data, at the versions that were read. Every client may do it; every
 *              arriving client does
 *   wait       sleep on a watch of our own ticket; at intervals scan (read and advance), for seats
 *              whose holders are gone
 *   leave      the transaction of advance, which also deletes our own ticket. If it leaves a seat
 *              free, list the tickets behind it: a client that arrived after our read saw no free
 *              seat
 *   give up    delete our own ticket at version 0; if it has another version, it was granted first
 *   renew      close the last roll and begin the next one, before its sequence numbers run out
 *   retire     remove the first roll if it is empty and not the last
 */
#ifndef USHER_ZK_PROTOCOL_H
#define USHER_ZK_PROTOCOL_H

#include "pool/remote.h"
#include "zk/client.h"
#include "zk/state.h"

#include <pthread.h>
#include <stdatomic.h>

/* One ticket of this process, and its seat once granted. `seat` and `fence` are valid if
   granted. The thread in zk_acquire writes it; after that only `lost` (under remote.mutex) and
   `next` change. */
struct zk_own {
    struct zk_own *next; /* in remote.held, under remote.mutex */
    uint32_t n;          /* number of the request in this session */
    uint64_t number;     /* ZK_NO_TICKET until the ticket is created */
    bool granted;
    uint32_t seat;
    uint64_t fence;
    bool lost; /* set by zk_lease once the session was not certainly alive; never cleared */
    char path[ZK_PATH_ROOM];
};

/* An open pool. open_ (zk_pool.c) writes it; after that only the atomic fields and, under `mutex`,
   `held` change. Any thread of the process may do that. */
struct remote {
    struct usher_pool *pool; /* passed to options.waiting */
    struct usher_options options;
    struct zk_client *client;
    char *path;
    uint64_t created_zxid; /* identifies the pool: a new pool at the same path has another one */
    struct zk_who who;
    char *labels, *note;          /* owned copies; `who` points to them */
    uint32_t renewed_at;          /* a roll is renewed from this sequence number on */
    _Atomic uint32_t requests;    /* acquires so far: the next zk_own.n */
    _Atomic bool announced;       /* the node P/w/SESSION exists */
    _Atomic uint32_t first, last; /* rolls at the last read; checked at each read */
    _Atomic bool long_line;       /* NEXT was not empty at the last read; may be out of date */
    pthread_mutex_t mutex;        /* protects `held` and what it links */
    struct zk_own *held;
};

/* What one read saw of the pool. Each call of zk_read_pool or zk_read_head fills it anew. */
struct zk_view {
    struct zk_state state;
    int32_t version;
    uint64_t created_count; /* tickets ever created; valid if line.whole */
    uint32_t first_created; /* those of the first roll */
    bool first_empty;       /* the first roll has no nodes left */
    struct zk_line line;    /* line.tickets == NULL: the view is empty */
};

/* The requests of one read: one get and `lists` lists. lists == last - first + 1, or 0 for a
   read of the head. */
struct zk_pool_read {
    uint32_t first, last; /* rolls that are listed */
    unsigned lists;
    char paths[ZK_MOST_ROLLS][ZK_PATH_ROOM];
};
enum { ZK_READ_REQUESTS = 1 + ZK_MOST_ROLLS };

/* zk_read.c. Read the pool's data and list its tickets. 0; -EIDRM: the pool was removed, or
   removed and created again; or an error of a request or of zk_parse_state. Repeats the requests
   after a lost connection. */
int zk_read_pool(struct remote *remote, struct zk_view *view);
/* Read the pool's data; the view's line is NEXT. -EAGAIN: NEXT is empty, use zk_read_pool. */
int zk_read_head(struct remote *remote, struct zk_view *view);
void zk_view_clear(struct zk_view *view);
/* Explain why our own ticket is gone although the session lives. -EIDRM: the pool was removed; a
   forced removal deletes tickets first, so wait up to T/3 for it. -EKEYREVOKED: the pool
   exists, another client deleted the ticket. Or an error of reading. */
int zk_why_ticket_gone(struct remote *remote);
/* The two halves of a read, to be sent with other requests. Prepare fills 1 + reading->lists
   requests. Finish takes the answers; -EAGAIN: the rolls have changed, read again. */
void zk_prepare_read(struct remote *remote, struct zk_pool_read *reading,
                     struct zk_request *requests, bool head_only);
int zk_finish_read(struct remote *remote, const struct zk_pool_read *reading,
                   const struct zk_request *requests, struct zk_view *view);
/* The same for the lists alone; the view's state is known. */
void zk_prepare_lists(struct remote *remote, uint32_t first, uint32_t last,
                      struct zk_pool_read *reading, struct zk_request *requests);
int zk_finish_lists(const struct zk_pool_read *reading, const struct zk_request *lists,
                    struct zk_view *view);
/* Print the path of a roll or of a ticket; `path` has ZK_PATH_ROOM bytes. */
void zk_roll_path(const struct remote *remote, uint32_t roll, char *path);
void zk_ticket_path(const struct remote *remote, const struct zk_ticket *ticket, char *path);

/* protocol.c. Grant free seats until nothing is left to grant. Start with a read, unless the
   view already holds a whole line. If `seats` is not ZK_NO_SEAT, set k to it. Return the number
   of grants, or -errno. The view is the last read. If our own ticket is granted here, its grant
   is stored in `own`. A crash leaves nothing behind: each transaction is committed or not. */
int zk_advance(struct remote *remote, struct zk_view *view, uint32_t seats, struct zk_own *own);
/* Give a seat back and grant it to the next waiter. 0, also if the pool was removed;
   -EKEYREVOKED: another client deleted our ticket; -EKEYEXPIRED: the session has ended. */
int zk_leave(struct remote *remote, const struct zk_own *own);
/* Decide whether to repeat after *error, and wait before that. True, with *error = 0, after
   -ESTALE (another client changed the pool first), -ENOENT (a ticket is gone) and -ECONNRESET
   (the answer is lost). `tries` counts the -ESTALE from 0. */
bool zk_can_retry(struct remote *remote, int *error, unsigned *tries);

/* rolls.c. Begin the next roll if this one is still the last. */
int zk_renew(struct remote *remote, uint32_t roll);
/* Remove the first roll if it is empty and not the last. True: the view is out of date, read
   again. */
bool zk_retire(struct remote *remote, const struct zk_view *view);

/* arrive.c: three calls of remote.h. */
int zk_acquire(struct remote *remote, struct usher_seat *seat, int64_t deadline_ns);
int zk_release(struct remote *remote, const struct usher_seat *seat);
int zk_lease(struct remote *remote, const struct usher_seat *seat, struct usher_lease *lease);
/* zk_inspect.c */
int zk_inspect(struct remote *remote, struct usher_info *info, struct usher_guest *guests,
               size_t capacity);
/* zk_remove.c. Remove an open pool. -EBUSY: tickets exist and `force` is false. */
int zk_remove(struct remote *remote, bool force);
/* Remove all nodes at and below `path`: for a pool that is damaged or has another format
   version. */
int zk_remove_damaged(struct zk_client *client, const char *path);
/* zk_verify.c */
int zk_verify(struct remote *remote, void (*say)(void *context, const char *sentence),
              void *context);

#endif
