/*
 * The seam between libusher and a pool that is elsewhere. Such a pool is kept by a module, a shared
 * object beside the library that is loaded when the first pool of its kind is opened, so that
 * whoever has none of them does not depend on what it needs. usher-zk.so (src/zk) is one.
 *
 * The calls are those of usher.h, with its errors. The library has seen to it that a handle is not
 * used after fork, and that options are such as there are.
 */
#ifndef USHER_REMOTE_H
#define USHER_REMOTE_H

#include "usher.h"

#include <stdbool.h>

/* Changes with struct remote_module: library and module are installed together. */
#define REMOTE_VERSION 3U

struct remote; /* a pool as the module has opened it */

struct remote_module {
    uint32_t version;
    /* `pool` is for options->waiting alone. */
    int (*open)(struct remote **remote, const char *name, const struct usher_options *options,
                struct usher_pool *pool);
    /* Give back what is held. `ours` false: in a child that has the handle from before fork; then
       only what this process itself has of it goes. */
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
