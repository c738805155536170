/*
 * A network of a test's own: nodes that are network namespaces, each with a veth pair to one of two
 * bridges, which are not connected. A node that is moved to the other side, or cut off, does not
 * notice: what it sends is lost. All of it is gone with the process that made it.
 */
#ifndef USHER_ZK_NET_H
#define USHER_ZK_NET_H

#include <stdbool.h>

enum { ZK_NET_HERE = -1, ZK_NET_MOST = 16 };
enum zk_net_side { ZK_NET_LEFT, ZK_NET_RIGHT, ZK_NET_CUT };

/* Make it; the calling process, which must have one thread, is in a namespace of its own then, on
   the left. False, and it says why: that cannot be done here. */
bool zk_net_begin(int nodes);
/* What sockets this thread makes from now on, and processes it starts, are of that node's. */
void zk_net_enter(int node);
/* "10.77.0.1", of node 0; 127.0.0.1 of ZK_NET_HERE. Good until the eighth call from now. */
const char *zk_net_address(int node);
void zk_net_move(int node, enum zk_net_side side);
/* All are on the left again. */
void zk_net_heal(void);
/* From now on each link loses so many of a hundred packets, both ways; 0: none, as before. What
   goes from node to node takes two links. False, and it says so: that cannot be done here. */
bool zk_net_lose(int percent);
/* How many segments TCP has sent again, all nodes together. */
long zk_net_sent_again(void);

#endif
