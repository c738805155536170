/*
 * Processes that come and go while servers, networks and they themselves fail, and what must be so
 * all the while. What they know of each other is in memory that they share, which no fault touches:
 *
 *   - a seat has one holder at a time for which usher_check says that it is held
 *   - tickets are granted in order: of two, the one with the higher number has the higher fence
 *   - what a seat protects refuses the fences of those that had it before (a resource that
 *     remembers the highest it has seen for each seat)
 *   - nobody loses a seat or a place in line who has no reason to
 */
#ifndef USHER_ZK_JUDGE_H
#define USHER_ZK_JUDGE_H

#include "scene.h"

enum { ZK_JUDGE_CLIENTS = 8, ZK_JUDGE_SEATS = 3, ZK_JUDGE_LOG = 1 << 16 };

struct zk_judge {
    struct {
        atomic_ullong owner;   /* the fence of its holder; 0: nobody */
        atomic_llong until_ns; /* how long that is certain, of CLOCK_BOOTTIME */
        atomic_ullong highest; /* of the resource: the fence it has seen */
    } seats[ZK_JUDGE_SEATS];
    struct {
        atomic_ullong ticket, fence;
    } log[ZK_JUDGE_LOG];
    atomic_int logged;
    atomic_int accepted, refused; /* by the resource */
    struct {
        atomic_int turns, lost, may_lose;
    } clients[ZK_JUDGE_CLIENTS];
    atomic_int over;
};
extern struct zk_judge *zk_judge;

/* Once, before anything else. */
void zk_judge_begin(void);
/* Clients that work in a pool of three seats until they are told that it is over, client c on node
   first + c, or here if first is ZK_NET_HERE. */
void zk_judge_start(const char *pool, int first_node);
/* Tell them, wait for them, and judge the log. What there was, in a line. */
void zk_judge_end(void);
/* Until each of these clients, a bit each, has had so many more turns. */
void zk_judge_until(unsigned clients, int turns);
/* From now on these may lose what they have, and no others. */
void zk_judge_may_lose(unsigned clients);

/* A holder writes to what its seat protects: whether that is taken, or refused as too old. */
bool zk_judge_write(uint32_t seat, uint64_t fence);
/* A seat was had: nobody else has it, and its ticket is noted. */
void zk_judge_had(struct usher_pool *pool, const struct usher_seat *seat);
/* Whether it is certain yet that it is held; if so nobody else may have it. */
bool zk_judge_holds(struct usher_pool *pool, const struct usher_seat *seat);
/* It will be given back now. */
void zk_judge_gives_back(const struct usher_seat *seat, uint64_t fence);

#endif
