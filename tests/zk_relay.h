/*
 * A link to a ZooKeeper server that fails when it is told to: a request is lost before the server
 * has it, or an answer after the server has done what it is about, and the connection with it; or a
 * request comes late. It is kept by a process of its own, which ends with whoever started it.
 */
#ifndef USHER_ZK_RELAY_H
#define USHER_ZK_RELAY_H

enum zk_relay_what { ZK_RELAY_REQUEST, ZK_RELAY_ANSWER };

/* Start one to a port of this machine; its own port. Once in a process. */
int zk_relay_start(int to_port);
/* Lose the count-th of these from now on, of all connections together; 0: none. */
void zk_relay_lose(enum zk_relay_what what, int count);
/* How many have been lost. */
int zk_relay_lost(void);
/* Pass the count-th request from now on so much later, and what comes after it. */
void zk_relay_hold(int count, int ms);

#endif
