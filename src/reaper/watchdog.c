/*
 * A vigil: a thread that sleeps until one of the processes it is told of ends, and wakes the waiter
 * then. A thread can sleep on a word that others change, or on descriptors that tell of deaths, but
 * not on both at once; so whoever has stood at the front of the line for a while has a second
 * one for the deaths. It lives only while its waiter is inside usher_acquire, handles no signals,
 * and what it says is a hint to look, not a proof. If there cannot be one, the waiter looks by
 * itself now and then, as it does anyway.
 */
#include "pool/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { VIGIL_STACK = 64 * 1024, VIGIL_AGAIN_MS = 1 };

struct vigil {
    pthread_t thread;
    const _Atomic uint64_t *word; /* that the waiter sleeps on */
    _Atomic uint32_t called;
    unsigned count;
    struct pollfd watched[]; /* the first one is an eventfd: to stop; of which the vigil is owner */
};

/* Until a process ends, or it is told to stop. */
static void *keep(void *context)
{
    struct vigil *vigil = context;
    while (poll(vigil->watched, vigil->count, -1) < 0 && errno == EINTR) {
    }
    if (vigil->watched[0].revents != 0) {
        return NULL;
    }
    atomic_store(&vigil->called, 1);
    /* The waiter may not sleep yet, or not any more: until it does, or has seen it. */
    while (os_wake(vigil->word, true) == 0 && poll(vigil->watched, 1, VIGIL_AGAIN_MS) == 0) {
    }
    return NULL;
}

/* With every signal blocked: they are for the threads of whoever uses the library. */
static int start(struct vigil *vigil)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    (void)pthread_attr_setstacksize(&attributes, VIGIL_STACK); /* if it is too little: as usual */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&vigil->thread, &attributes, keep, vigil);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return -error;
}

struct vigil *usher__vigil_begin(const _Atomic uint64_t *word, const struct pollfd *processes,
                                 unsigned count)
{
    struct vigil *vigil = malloc(sizeof *vigil + (count + 1) * sizeof vigil->watched[0]);
    if (vigil == NULL) {
        return NULL;
    }
    vigil->word = word;
    vigil->called = 0;
    vigil->count = count + 1;
    vigil->watched[0] = (struct pollfd){.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
    memcpy(&vigil->watched[1], processes, count * sizeof *processes);
    if (vigil->watched[0].fd >= 0 && start(vigil) == 0) {
        return vigil;
    }
    if (vigil->watched[0].fd >= 0) {
        (void)close(vigil->watched[0].fd);
    }
    free(vigil);
    return NULL;
}

bool usher__vigil_called(const struct vigil *vigil)
{
    return vigil != NULL && atomic_load(&vigil->called) != 0;
}

void usher__vigil_end(struct vigil *vigil)
{
    if (vigil != NULL) {
        (void)eventfd_write(vigil->watched[0].fd, 1);
        (void)pthread_join(vigil->thread, NULL);
        (void)close(vigil->watched[0].fd);
        free(vigil);
    }
}
