/*
 * libusher without one of its tricks (wait.h), for ablation.c: the same sources compiled without
 * it, in a library of its own that is loaded at run time.
 */
#include "bench/bench.h"
#include "bench/peers.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

struct calls {
    int (*open)(struct usher_pool **, const char *, const struct usher_options *);
    int (*acquire)(struct usher_pool *, struct usher_seat *);
    int (*release)(struct usher_pool *, struct usher_seat *);
    void (*close)(struct usher_pool *);
    struct usher_pool *maker, *pool;
};

static int load(struct calls *calls, const char *library)
{
    char path[PATH_MAX];
    bench_program(path, sizeof path, library);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        (void)fprintf(stderr, "usher-bench: %s\n", dlerror());
        return -1;
    }
    *(void **)&calls->open = dlsym(handle, "usher_open");
    *(void **)&calls->acquire = dlsym(handle, "usher_acquire");
    *(void **)&calls->release = dlsym(handle, "usher_release");
    *(void **)&calls->close = dlsym(handle, "usher_close");
    return calls->open != NULL && calls->acquire != NULL && calls->release != NULL &&
                   calls->close != NULL
               ? 0
               : -1;
}

#define WITHOUT(trick, library, title)                                                             \
    static struct calls trick##_calls;                                                             \
    static _Thread_local struct usher_seat trick##_seat;                                           \
    static int trick##_open(unsigned seats, unsigned guests)                                       \
    {                                                                                              \
        struct usher_options options = {.seats = seats};                                           \
        options.guests = (guests > seats ? guests : seats) + 2;                                    \
        if (trick##_calls.open == NULL && load(&trick##_calls, library) != 0) {                    \
            return -1;                                                                             \
        }                                                                                          \
        return trick##_calls.open(&trick##_calls.maker, bench_pool(), &options) == 0 ? 0 : -1;     \
    }                                                                                              \
    static int trick##_attach(void)                                                                \
    {                                                                                              \
        struct usher_options options = {.flags = USHER_EXISTING};                                  \
        return trick##_calls.open(&trick##_calls.pool, bench_pool(), &options) == 0 ? 0 : -1;      \
    }                                                                                              \
    static void trick##_get(void)                                                                  \
    {                                                                                              \
        (void)trick##_calls.acquire(trick##_calls.pool, &trick##_seat);                            \
    }                                                                                              \
    static void trick##_pass(void)                                                                 \
    {                                                                                              \
        (void)trick##_calls.release(trick##_calls.pool, &trick##_seat);                            \
    }                                                                                              \
    BENCH_RUN(trick)                                                                               \
    static void trick##_detach(void)                                                               \
    {                                                                                              \
        trick##_calls.close(trick##_calls.pool);                                                   \
    }                                                                                              \
    static void trick##_close(void)                                                                \
    {                                                                                              \
        trick##_calls.close(trick##_calls.maker);                                                  \
        (void)usher_discard(bench_pool());                                                         \
    }                                                                                              \
    const struct bench_peer bench_##trick = {                                                      \
        title,         PEER_SURVIVES | PEER_IN_ORDER,                                              \
        trick##_open,  trick##_attach,                                                             \
        trick##_get,   trick##_pass,                                                               \
        trick##_run,   trick##_detach,                                                             \
        trick##_close, NULL,                                                                       \
    }

WITHOUT(without_yield, "libusher-without-yield.so", "without yielding");
WITHOUT(without_backoff, "libusher-without-backoff.so", "without backing off");
WITHOUT(without_both, "libusher-without-both.so", "without both");
