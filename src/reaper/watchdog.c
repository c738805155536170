/*
 * The watchdog: a thread that sleeps until one of some processes ends, and wakes its waiter then. A
 * thread can sleep on a word that others change or on descriptors that tell of deaths, but not on
 * both: so a scanner has a second thread for the deaths. It lives only while its waiter is inside
 * usher_acquire, and handles no signals. It only asks the waiter to scan; it proves no death. If no
 * thread can be started, the waiter scans by itself, as it does anyway.
 */
#include "reaper/reaper.h"

#include "pool/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    WATCHDOG_STACK = 64 * 1024, /* it calls poll and futex only */
    WATCHDOG_AGAIN_MS = 1       /* until its waiter sleeps, or has seen that it barked */
};

struct watchdog {
    pthread_t thread;
    const _Atomic uint64_t *word; /* that the waiter sleeps on */
    _Atomic uint32_t barked;
    unsigned count;
    struct pollfd watched[]; /* the first is an eventfd of its own: to stop it */
};

/* Until a process ends, or the waiter stops it. */
static void *keep(void *context)
{
    struct watchdog *watchdog = context;
    while (poll(watchdog->watched, watchdog->count, -1) < 0 && errno == EINTR) {
    }
    if (watchdog->watched[0].revents != 0) {
        return NULL;
    }
    atomic_store(&watchdog->barked, 1);
    /* The waiter may not sleep yet, or not any more. */
    while (os_wake(watchdog->word, true) == 0 &&
           poll(watchdog->watched, 1, WATCHDOG_AGAIN_MS) == 0) {
    }
    return NULL;
}

/* With every signal blocked: signals are for the program's threads. */
static int start(struct watchdog *watchdog)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    (void)pthread_attr_setstacksize(&attributes,
                                    WATCHDOG_STACK); /* if that is refused: the default */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&watchdog->thread, &attributes, keep, watchdog);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return -error;
}

struct watchdog *usher__watchdog_begin(const _Atomic uint64_t *word, const struct pollfd *processes,
                                       unsigned count)
{
    struct watchdog *watchdog =
        malloc(sizeof *watchdog + (count + 1) * sizeof watchdog->watched[0]);
    if (watchdog == NULL) {
        return NULL;
    }
    watchdog->word = word;
    watchdog->barked = 0;
    watchdog->count = count + 1;
    watchdog->watched[0] = (struct pollfd){.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
    memcpy(&watchdog->watched[1], processes, count * sizeof *processes);
    if (watchdog->watched[0].fd >= 0 && start(watchdog) == 0) {
        return watchdog;
    }
    if (watchdog->watched[0].fd >= 0) {
        (void)close(watchdog->watched[0].fd);
    }
    free(watchdog);
    return NULL;
}

bool usher__watchdog_barked(const struct watchdog *watchdog)
{
    return watchdog != NULL && atomic_load(&watchdog->barked) != 0;
}

void usher__watchdog_end(struct watchdog *watchdog)
{
    if (watchdog != NULL) {
        (void)eventfd_write(watchdog->watched[0].fd, 1);
        (void)pthread_join(watchdog->thread, NULL);
        (void)close(watchdog->watched[0].fd);
        free(watchdog);
    }
}
