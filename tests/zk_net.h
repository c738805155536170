/*
 * A private network for tests. Nodes are network namespaces; a veth pair connects each to one of
 * two bridges, left and right, which are not connected to each other. A node that is moved or cut
 * off gets no error: its packets are dropped. The network ends with the process that created it.
 */
#ifndef USHER_ZK_NET_H
#define USHER_ZK_NET_H

#include <stdbool.h>

enum { ZK_NET_HERE = -1, ZK_NET_MOST = 16 };
enum zk_net_side { ZK_NET_LEFT, ZK_NET_RIGHT, ZK_NET_CUT };

/* Create the network. The calling process must have one thread; it enters a namespace of its
   own, on the left. False, with a message: not possible on this machine. */
bool zk_net_begin(int nodes);
/* Move this thread to a node: its new sockets and child processes belong to it. */
void zk_net_enter(int node);
/* The address of a node: "10.77.0.1" for node 0, 127.0.0.1 for ZK_NET_HERE. Valid for the next
   seven calls. */
const char *zk_net_address(int node);
void zk_net_move(int node, enum zk_net_side side);
/* Move all nodes to the left. */
void zk_net_heal(void);
/* Drop `percent` of the packets on each link, both ways; 0: none. A path between two nodes has
   two links. False, with a message: not possible on this machine. */
bool zk_net_lose(int percent);
/* The number of segments that TCP has retransmitted on all nodes. */
long zk_net_sent_again(void);

#endif
