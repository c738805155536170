/*
 * The seam between libusher and pools on servers. A module implements them: a shared object beside
 * the library, loaded when the first such pool is opened, so that other programs do not depend on
 * the libraries it needs. usher-zk.so (src/zk) is one.
 *
 * The calls are those of usher.h, with its errors. The library has checked that the handle was not
 * opened before fork, and that the options are valid.
 */
#ifndef USHER_REMOTE_H
#define USHER_REMOTE_H

#include "usher.h"

#include <stdbool.h>

/* Changes with struct remote_module and the structs of usher.h: library and module are installed
   together. */
#define REMOTE_VERSION 3U

struct remote; /* a pool as the module has opened it */

struct remote_module {
    uint32_t version;
    /* `pool` is the argument of options->waiting, and used for nothing else. */
    int (*open)(struct remote **remote, const char *name, const struct usher_options *options,
                struct usher_pool *pool);
    /* Release what is held. `ours` false: this is a child, and the handle was opened before fork;
       free the memory and descriptors of this process only. */
    void (*close)(struct remote *remote, bool ours);
    /* deadline_ns of CLOCK_MONOTONIC; INT64_MAX: none, INT64_MIN: do not wait. */
    int (*acquire)(struct remote *remote, struct usher_seat *seat, int64_t deadline_ns);
    int (*release)(struct remote *remote, const struct usher_seat *seat);
    int (*lease)(struct remote *remote, const struct usher_seat *seat, struct usher_lease *lease);
    int (*reap)(struct remote *remote);
    int (*resize)(struct remote *remote, uint32_t seats);
    int (*inspect)(struct remote *remote, struct usher_info *info, struct usher_guest *guests,
                   size_t capacity);
    int (*verify)(struct remote *remote, void (*say)(void *context, const char *sentence),
                  void *context);
    int (*remove)(const char *name, bool force);
};

/* What a module exports. */
#define REMOTE_SYMBOL "usher_remote_module"

#endif
