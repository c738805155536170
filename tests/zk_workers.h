/*
 * Helpers of the ZooKeeper tests: processes that acquire and release, and check that each is alone
 * in its seat, that at most k hold one, and that fences grow.
 */
#ifndef USHER_ZK_WORKERS_H
#define USHER_ZK_WORKERS_H

#include "scene.h"

enum { ZK_WORKERS = 8, ZK_ROUNDS = 12, ZK_WORK = ZK_WORKERS * ZK_ROUNDS };

/* What they have seen, in shared memory. */
struct zk_seen {
    atomic_int sitting[8];
    atomic_ullong seat_fence[8];
    atomic_ullong fences[ZK_WORK];
    atomic_int count;   /* rounds; the fences of the first ones are recorded */
    atomic_int gave_up; /* tickets that gave up before their turn */
    atomic_int more;    /* set: continue beyond the planned rounds */
};
extern struct zk_seen *zk_seen;

/* Call once, before all else: start a scene and set the session timeout. If no server can run
   here, print why and exit 77. */
void zk_begin(long session_ms);
/* Set the session timeout of pools that are opened from now on. */
void zk_set_session(long ms);
/* Return the fence of a seat that is held. */
uint64_t zk_fence_of(struct usher_pool *pool, const struct usher_seat *seat);
/* Run eight workers with twelve rounds each in a pool of three seats, and as many that give up.
   If `meanwhile` is not NULL, run it and continue until it returns. */
void zk_workers_run(const char *name, void (*meanwhile)(void));
/* Check that the pool is empty and that k guests fit in; then remove it. */
void zk_expect_whole(const char *name, uint32_t seats);

#endif
