/* What the environment says of pools on ZooKeeper. */
#ifndef USHER_ZK_SETTINGS_H
#define USHER_ZK_SETTINGS_H

#include "zk/client.h"

/*
 * All of a way but its hosts, and from which sequence number on a roll of tickets is renewed:
 *
 *     USHER_ZK_TIMEOUT  the session time: 15, 15s or 400ms; 100 ms to an hour
 *     USHER_ZK_AUTH     USER:PASSWORD, for digest authentication
 *     USHER_ZK_TLS      CA,CERTIFICATE,KEY[,PASSPHRASE]: files
 *     USHER_ZK_RENEW    for tests; otherwise 2^31 - 2^24
 *
 * 0, or -EINVAL: one of them is none of these. What `way` points to belongs to the environment.
 */
int zk_settings(struct zk_way *way, uint32_t *renewed_at);

#endif
