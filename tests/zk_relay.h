/*
 * A relay to a ZooKeeper server that fails on command. It can lose a request before the server gets
 * it, or an answer after the server has done the work, each together with the connection. It can
 * also delay a request. It is a process of its own and ends with its parent.
 */
#ifndef USHER_ZK_RELAY_H
#define USHER_ZK_RELAY_H

enum zk_relay_what { ZK_RELAY_REQUEST, ZK_RELAY_ANSWER };

/* Start a relay to a port of this machine and return its port. Call once in a process. */
int zk_relay_start(int to_port);
/* Lose the count-th message of this kind from now on, over all connections; 0: none. */
void zk_relay_lose(enum zk_relay_what what, int count);
/* The number of messages lost so far. */
int zk_relay_lost(void);
/* The number of requests that have been or are being delayed. */
int zk_relay_held(void);
/* Delay the count-th request from now on, and all after it, by `ms`. */
void zk_relay_hold(int count, int ms);

#endif
