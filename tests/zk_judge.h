/*
 * Client processes that acquire and release while servers, networks and clients fail, and the rules
 * that must hold all the time. The clients record what they know in shared memory, which no fault
 * touches.
 *
 * - A seat has at most one holder for which usher_check succeeds.
 * - Tickets are granted in order: of two tickets, the one with the higher number has the higher
 *   fence.
 * - A resource that remembers the highest fence of each seat refuses the fences of earlier holders.
 * - No client loses a seat or a place in line unless a fault allows it (zk_judge_may_lose).
 */
#ifndef USHER_ZK_JUDGE_H
#define USHER_ZK_JUDGE_H

#include "scene.h"

enum { ZK_JUDGE_CLIENTS = 8, ZK_JUDGE_SEATS = 3, ZK_JUDGE_LOG = 1 << 16 };

struct zk_judge {
    struct {
        atomic_ullong owner;   /* the fence of its holder; 0: none */
        atomic_llong until_ns; /* the lease's end, CLOCK_BOOTTIME */
        atomic_ullong highest; /* the highest fence the resource has seen */
    } seats[ZK_JUDGE_SEATS];
    struct {
        atomic_ullong ticket, fence;
    } log[ZK_JUDGE_LOG];
    atomic_int logged;
    atomic_int accepted, refused; /* writes, counted by the resource */
    struct {
        atomic_int turns, lost, may_lose;
    } clients[ZK_JUDGE_CLIENTS];
    atomic_int over;
};
extern struct zk_judge *zk_judge;

/* Call once, before all else. */
void zk_judge_begin(void);
/* Start clients that work in a pool of three seats until zk_judge_end. Client c runs on node
   first_node + c, or here if first_node is ZK_NET_HERE. */
void zk_judge_start(const char *pool, int first_node);
/* Stop the clients, wait for them, check the log and print a summary line. */
void zk_judge_end(void);
/* Wait until each of these clients (a bit mask) has had `turns` more turns. */
void zk_judge_until(unsigned clients, int turns);
/* From now on these clients (a bit mask) may lose seats and places; the others may not. */
void zk_judge_may_lose(unsigned clients);

/* A holder writes to the resource. True: accepted; false: refused because the fence is too old. */
bool zk_judge_write(uint32_t seat, uint64_t fence);
/* Record a grant: check that no other client has the seat, and log its ticket. */
void zk_judge_acquired(struct usher_pool *pool, const struct usher_seat *seat);
/* Return whether the seat is certainly held. If so, check that no other client has it. */
bool zk_judge_holds(struct usher_pool *pool, const struct usher_seat *seat);
/* Record that the seat will be given back now. */
void zk_judge_releasing(const struct usher_seat *seat, uint64_t fence);

#endif
