/*
 * Keep fork() away from the resolver. The client library looks up host names. If a thread forks
 * while another one is inside the resolver, the C library's resolver lock stays locked in the child
 * for ever, and the child cannot open a pool. A reader-writer lock prevents that: our threads hold
 * it for reading during look-ups, fork holds it for writing.
 */
#include "zk/session.h"

static pthread_rwlock_t resolver_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    (void)pthread_rwlock_wrlock(&resolver_lock);
}

static void in_parent(void)
{
    (void)pthread_rwlock_unlock(&resolver_lock);
}

/* Initialise instead of unlock: in the child the thread that locked it has another thread id. */
static void in_child(void)
{
    (void)pthread_rwlock_init(&resolver_lock, NULL);
}

static void install_fork_handlers(void)
{
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

void zk__resolver_enter(void)
{
    (void)pthread_once(&once, install_fork_handlers);
    (void)pthread_rwlock_rdlock(&resolver_lock);
}

void zk__resolver_leave(void)
{
    (void)pthread_rwlock_unlock(&resolver_lock);
}
