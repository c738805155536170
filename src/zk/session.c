/*
 * The connection, and the thread that keeps it. The client library is the one without threads of
 * its own: so the loop here decides when a server has been silent for too long and when to have the
 * session confirmed, and it has the socket, which no command that is started may inherit.
 *
 * Until when is a session alive? The leader ends it when it has not heard of it for the session
 * time T. It hears of it from the server that we are connected to, when it asks that server, every
 * half a tick; and T is at least two ticks. Say that a request that the leader had to see was sent
 * at s, and answered. Then the leader had last asked our server at s - T/4 or later, and that
 * server had heard of us a tenth of T before that or later, as that is how often we confirm. So the
 * session lives until s + T - T/4 - T/10, by the leader's clock. Another twentieth of T is for
 * clocks that run at different speeds and for the time that such messages take.
 */
#include "zk/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Debian's client library has been built without it; then it is NULL here. */
extern zhandle_t *zookeeper_init_ssl(const char *host, const char *cert, watcher_fn fn,
                                     int recv_timeout, const clientid_t *clientid, void *context,
                                     int flags) __attribute__((weak));

enum {
    BEATS = 10,  /* confirmations in a session time, while a seat is held */
    PROBES = 6,  /* questions, while one is waited for */
    SILENCE = 4, /* a server may be silent for this part of it, */
    ATTEMPT = 6, /* and for this one if it is to become ours */
    LOST = 40    /* percent of it by which a seat is given up earlier */
};

int64_t zk_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t zk_client_valid_until(struct zk_client *client)
{
    (void)pthread_mutex_lock(&client->mutex);
    int64_t until = client->expired ? 0 : client->sent_ns + client->timeout_ns / 100 * (100 - LOST);
    (void)pthread_mutex_unlock(&client->mutex);
    return until;
}

void zk_client_hold(struct zk_client *client, int change)
{
    (void)pthread_mutex_lock(&client->mutex);
    client->held += change;
    (void)pthread_mutex_unlock(&client->mutex);
    zk__ring(client);
}

uint64_t zk_client_session(struct zk_client *client)
{
    return client->session;
}

int64_t zk_client_timeout_ns(struct zk_client *client)
{
    return client->timeout_ns;
}

/* A new connection: not for commands that are started. Its descriptor may be that of the last. */
static void mind_descriptor(struct zk_client *client, int fd)
{
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_ino != client->socket) {
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        client->socket = status.st_ino;
        client->tried_ns = zk_now_ns();
    }
    client->fd = fd;
}

/* Leave a server that is silent: the library sees the end of the connection, and tries another.
   When to look again. */
static int64_t mind_silence(struct zk_client *client, int64_t now)
{
    int64_t most = client->timeout_ns / (client->connected ? SILENCE : ATTEMPT);
    int64_t since = client->connected ? client->answered_ns : client->tried_ns;
    if (client->fd < 0 || (client->connected && client->unanswered == 0)) {
        return INT64_MAX;
    }
    if (now >= since + most) {
        (void)shutdown(client->fd, SHUT_RDWR);
        client->answered_ns = now;
        client->tried_ns = now;
        return now + most;
    }
    return since + most;
}

/* Have the session confirmed, if it is time; or, by who only waits, see whether there is an answer:
   it may be granted its seat by a server that it does not hear from. When it will be time. */
static int64_t mind_session(struct zk_client *client, int64_t now)
{
    bool waits = client->held == 0 && client->listeners != NULL;
    int64_t every = client->timeout_ns / (waits ? PROBES : BEATS);
    int64_t next = (waits ? client->answered_ns : client->sent_ns) + every;
    if ((client->held == 0 && !waits) || !client->connected || client->zh == NULL ||
        client->beat_exchange.left > 0) {
        return INT64_MAX;
    }
    if (now >= next) {
        zk_request_clear(&client->beat, 1);
        client->beat_exchange.left = 1;
        client->beat = (struct zk_request){
            .kind = waits ? ZK_GET : ZK_SYNC, .path = "/", .exchange = &client->beat_exchange};
        zk__send(client, &client->beat);
        return now + every;
    }
    return next;
}

/* Wait for what comes first. Which events of the connection there are. */
static int wait_for_events(struct zk_client *client, int interest, int64_t wait_ns)
{
    struct pollfd polled[] = {{.fd = client->fd, .events = 0}, {client->wake, POLLIN, 0}};
    polled[0].events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                               (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
    struct timespec time = {wait_ns / 1000000000, wait_ns % 1000000000};
    uint64_t rung;
    (void)pthread_mutex_unlock(&client->mutex);
    (void)ppoll(polled, 2, &time, NULL);
    (void)!read(client->wake, &rung, sizeof rung);
    (void)pthread_mutex_lock(&client->mutex);
    int got = polled[0].revents;
    return (got & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0) |
           (got & (POLLOUT | POLLERR) ? ZOOKEEPER_WRITE : 0);
}

static void *keep(void *context)
{
    struct zk_client *client = context;
    (void)pthread_mutex_lock(&client->mutex);
    while (!client->closing) {
        struct timeval tv = {0, 0};
        int fd = -1;
        int interest = 0;
        bool over = client->expired || client->refused;
        if (over && client->zh != NULL) {
            (void)zookeeper_close(client->zh); /* who still waits for an answer gets none */
            client->zh = NULL;
        }
        zk__resolver_enter();
        int rc = over ? ZOK : zookeeper_interest(client->zh, &fd, &interest, &tv);
        zk__resolver_leave();
        mind_descriptor(client, fd);
        int64_t now = zk_now_ns();
        int64_t next = now + (over ? 3600000000000 : tv.tv_sec * 1000000000 + tv.tv_usec * 1000);
        int64_t silence = mind_silence(client, now);
        int64_t session = mind_session(client, now);
        next = silence < next ? silence : next;
        next = session < next ? session : next;
        /* A server that refuses at once is not asked again at once. */
        next = rc != ZOK && next < now + 20000000 ? now + 20000000 : next;
        int events = wait_for_events(client, interest, next > now ? next - now : 0);
        if (fd >= 0 && !client->closing && client->zh != NULL) {
            zk__resolver_enter();
            (void)zookeeper_process(client->zh, events);
            zk__resolver_leave();
        }
    }
    (void)pthread_mutex_unlock(&client->mutex);
    return NULL;
}

static void say_nothing(const char *message)
{
    (void)message;
}

/* Wait for a connection until then. The mutex is held. */
static int wait_connected(struct zk_client *client, int64_t until_ns)
{
    struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
    int error = 0;
    while (error == 0 && !client->connected && !client->expired && !client->refused) {
        error = pthread_cond_clockwait(&client->changed, &client->mutex, CLOCK_MONOTONIC, &until);
    }
    return client->connected ? 0
           : client->expired ? -EKEYEXPIRED
           : client->refused ? -EACCES
                             : -ENOTCONN;
}

static int64_t monotonic_in(int64_t ns)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + ns;
}

int zk_client_again(struct zk_client *client)
{
    (void)pthread_mutex_lock(&client->mutex);
    int error = wait_connected(client, monotonic_in(client->timeout_ns));
    if (error == -ENOTCONN) {
        client->expired =
            true; /* it is by now, or will be: what it had in line must not come back */
    }
    (void)pthread_mutex_unlock(&client->mutex);
    zk__ring(client);
    return error;
}

static int start(struct zk_client *client)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = -pthread_create(&client->thread, NULL, keep, client);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void discard(struct zk_client *client)
{
    if (client->zh != NULL) {
        (void)zookeeper_close(client->zh);
    }
    if (client->wake >= 0) {
        (void)close(client->wake);
    }
    zk_request_clear(&client->beat, 1);
    deallocate_ACL_vector(&client->adopted);
    (void)sem_destroy(&client->beat_exchange.done);
    (void)pthread_cond_destroy(&client->changed);
    (void)pthread_mutex_destroy(&client->mutex);
    free(client);
}

bool zk__adopt(struct zk_client *client, const struct ACL_vector *acl)
{
    struct ACL_vector copy;
    if (allocate_ACL_vector(&copy, acl->count) != 0) {
        return false;
    }
    bool whole = true;
    for (int32_t a = 0; a < acl->count; a++) {
        copy.data[a].perms = acl->data[a].perms;
        copy.data[a].id.scheme = strdup(acl->data[a].id.scheme);
        copy.data[a].id.id = strdup(acl->data[a].id.id);
        whole = whole && copy.data[a].id.scheme != NULL && copy.data[a].id.id != NULL;
    }
    struct ACL_vector *goes = whole ? &client->adopted : &copy;
    deallocate_ACL_vector(goes);
    if (whole) {
        client->adopted = copy;
        client->acl = &client->adopted;
    }
    return whole;
}

/* A handle of the client library, which connects as soon as there is the thread. */
static int connect_(struct zk_client *client, const struct zk_way *way)
{
    if (way->tls != NULL && zookeeper_init_ssl == NULL) {
        return -ENOPKG;
    }
    zoo_set_debug_level((ZooLogLevel)0);
    client->zh = way->tls != NULL ? zookeeper_init_ssl(way->hosts, way->tls, zk__on_event,
                                                       way->timeout_ms, NULL, client, 0)
                                  : zookeeper_init2(way->hosts, zk__on_event, way->timeout_ms, NULL,
                                                    client, 0, say_nothing);
    if (client->zh == NULL) {
        return errno == ENOMEM ? -ENOMEM : -EHOSTUNREACH;
    }
    /* It is sent with each connection, before anything else. */
    if (way->auth != NULL &&
        zoo_add_auth(client->zh, "digest", way->auth, (int)strlen(way->auth), NULL, NULL) != ZOK) {
        return -ENOMEM;
    }
    client->acl = way->auth != NULL ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
    return 0;
}

int zk_client_open(struct zk_client **opened, const struct zk_way *way)
{
    struct zk_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return -ENOMEM;
    }
    (void)pthread_mutex_init(&client->mutex, NULL);
    (void)pthread_cond_init(&client->changed, NULL);
    (void)sem_init(&client->beat_exchange.done, 0, 0);
    client->beat_exchange.client = client;
    client->fd = -1;
    client->timeout_ns = (int64_t)way->timeout_ms * 1000000;
    client->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    zk__resolver_enter();
    int error = client->wake < 0 ? -errno : connect_(client, way);
    zk__resolver_leave();
    error = error == 0 ? start(client) : error;
    if (error != 0) {
        discard(client);
        return error;
    }
    (void)pthread_mutex_lock(&client->mutex);
    error = wait_connected(client, monotonic_in(client->timeout_ns));
    if (error == 0) {
        client->timeout_ns = zoo_recv_timeout(client->zh) * (int64_t)1000000;
        client->session = (uint64_t)zoo_client_id(client->zh)->client_id;
    }
    (void)pthread_mutex_unlock(&client->mutex);
    if (error != 0) {
        zk_client_close(client, true);
        return error;
    }
    *opened = client;
    return 0;
}

void zk_client_close(struct zk_client *client, bool ours)
{
    if (!ours) { /* there is no thread here, and to say goodbye would end our parent's session */
        (void)close(client->wake);
        if (client->fd >= 0) {
            (void)close(client->fd);
        }
        return;
    }
    (void)pthread_mutex_lock(&client->mutex);
    client->closing = true;
    (void)pthread_mutex_unlock(&client->mutex);
    zk__ring(client);
    (void)pthread_join(client->thread, NULL);
    discard(client);
}

void zk_client_listen(struct zk_client *client, struct zk_listener *listener)
{
    (void)sem_init(&listener->bell, 0, 0);
    (void)pthread_mutex_lock(&client->mutex);
    listener->next = client->listeners;
    client->listeners = listener;
    (void)pthread_mutex_unlock(&client->mutex);
}

void zk_client_unlisten(struct zk_client *client, struct zk_listener *listener)
{
    (void)pthread_mutex_lock(&client->mutex);
    for (struct zk_listener **at = &client->listeners; *at != NULL; at = &(*at)->next) {
        if (*at == listener) {
            *at = listener->next;
            break;
        }
    }
    (void)pthread_mutex_unlock(&client->mutex);
    (void)sem_destroy(&listener->bell);
}
