/*
 * Fork, and the resolver. The client library looks names up, and in a child that was forked while a
 * thread of ours was doing that the C library's lock for it would be held for ever: the child could
 * not open a pool. So no fork happens while one of our threads may be there.
 */
#include "zk/session.h"

static pthread_rwlock_t resolving = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before(void)
{
    (void)pthread_rwlock_wrlock(&resolving);
}

static void in_parent(void)
{
    (void)pthread_rwlock_unlock(&resolving);
}

/* The thread that has it is another one, to the C library: we have another number. */
static void in_child(void)
{
    (void)pthread_rwlock_init(&resolving, NULL);
}

static void watch_forks(void)
{
    (void)pthread_atfork(before, in_parent, in_child);
}

void zk__resolver_enter(void)
{
    (void)pthread_once(&once, watch_forks);
    (void)pthread_rwlock_rdlock(&resolving);
}

void zk__resolver_leave(void)
{
    (void)pthread_rwlock_unlock(&resolving);
}
