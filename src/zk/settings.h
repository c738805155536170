/* Settings of pools on ZooKeeper, from the environment. */
#ifndef USHER_ZK_SETTINGS_H
#define USHER_ZK_SETTINGS_H

#include "zk/client.h"

/*
 * Fill all options except the hosts, and the sequence number from which a roll is renewed:
 *
 *     USHER_ZK_TIMEOUT  session timeout T: 15, 15s or 400ms; 100 ms to 1 hour; default 15 s
 *     USHER_ZK_AUTH     USER:PASSWORD, for digest authentication
 *     USHER_ZK_TLS      CA,CERTIFICATE,KEY[,PASSPHRASE]: files
 *     USHER_ZK_RENEW    for tests; default 2^31 - 2^24
 *
 * 0, or -EINVAL: a variable has another form. The strings in `options` belong to the environment.
 */
int zk_read_settings(struct zk_connect_options *options, uint32_t *renewed_at);

#endif
