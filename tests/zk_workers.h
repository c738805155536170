/*
 * What the tests of pools on ZooKeeper share: processes that come and go, and see that nobody else
 * is in their seat, that no more than k are in, and that fences grow.
 */
#ifndef USHER_ZK_WORKERS_H
#define USHER_ZK_WORKERS_H

#include "scene.h"

enum { ZK_WORKERS = 8, ZK_ROUNDS = 12, ZK_WORK = ZK_WORKERS * ZK_ROUNDS };

/* What they have seen, in memory they share. */
struct zk_seen {
    atomic_int sitting[8];
    atomic_ullong seat_fence[8];
    atomic_ullong fences[ZK_WORK];
    atomic_int count;   /* of rounds; the first have their fences noted */
    atomic_int gave_up; /* before their turn came */
    atomic_int more;    /* go on, however many there have been */
};
extern struct zk_seen *zk_seen;

/* Once, before anything else: a scene, and the session time. If there can be no server the test
   ends here, with a word and 77. */
void zk_begin(long session_ms);
/* The session time of the pools that are opened from now on. */
void zk_set_session(long ms);
/* The fence of a seat, which must be held. */
uint64_t zk_fence_of(struct usher_pool *pool, const struct usher_seat *seat);
/* Eight workers, twelve rounds each, in a pool of three seats, and as many that give up;
   more, until `meanwhile` is over, if that is not NULL. */
void zk_workers_run(const char *name, void (*meanwhile)(void));
/* Nobody holds, nobody waits, and k fit in; then the pool is removed. */
void zk_expect_whole(const char *name, uint32_t seats);

#endif
