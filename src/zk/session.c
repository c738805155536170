/*
 * The connection and the thread that keeps it. We use the client library without threads of its
 * own. So this loop decides when a server has been silent for too long and when the session must be
 * confirmed, and it sees each socket and can keep started commands from inheriting it.
 *
 * How long is a session alive? The leader ends it when it has not heard of it for T.
 *
 * 1. The leader learns of us from our server, which it asks every half tick. T is at least two
 *    ticks, so it asks at least every T/4.
 * 2. Say we sent a request at time s, and the leader answered it. Then the leader had last asked
 *    our server at s - T/4 or later.
 * 3. At that moment our server had heard from us within the last T/10, because we confirm that
 *    often.
 * 4. So the leader keeps the session until s + T - T/4 - T/10 = s + 0.65 T, on its own clock.
 *
 * We use s + 0.6 T. The difference allows for clocks of different speed and for message delays.
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

/* NULL if the client library was built without TLS, as Debian's is. */
extern zhandle_t *zookeeper_init_ssl(const char *host, const char *cert, watcher_fn fn,
                                     int recv_timeout, const clientid_t *clientid, void *context,
                                     int flags) __attribute__((weak));

enum {
    CONFIRMS_PER_TIMEOUT = 10, /* leader confirmations per T while a seat is held */
    PROBES_PER_TIMEOUT = 6,    /* requests per T while a caller waits in line */
    SILENCE_DIVISOR = 4,       /* leave a server that is silent for T / 4, */
    ATTEMPT_DIVISOR = 6,       /* or for T / 6 while we connect to it */
    MARGIN_PERCENT = 40        /* a seat counts as lost this much of T early */
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
    int64_t until = client->expired
                        ? 0
                        : client->confirmed_ns + client->timeout_ns / 100 * (100 - MARGIN_PERCENT);
    (void)pthread_mutex_unlock(&client->mutex);
    return until;
}

void zk_client_hold(struct zk_client *client, int change)
{
    (void)pthread_mutex_lock(&client->mutex);
    client->held += change;
    (void)pthread_mutex_unlock(&client->mutex);
    zk__wake_thread(client);
}

uint64_t zk_client_session(struct zk_client *client)
{
    return client->session;
}

int64_t zk_client_timeout_ns(struct zk_client *client)
{
    return client->timeout_ns;
}

/* Note the connection's descriptor. If the socket is new, close it on exec. The new socket may
   have the descriptor number of the old one, so compare inodes. */
static void note_descriptor(struct zk_client *client, int fd)
{
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_ino != client->socket) {
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        client->socket = status.st_ino;
        client->attempt_ns = zk_now_ns();
    }
    client->fd = fd;
}

/* Shut down the connection to a silent server; the library then tries another one. Return when
   to check again. */
static int64_t check_silence(struct zk_client *client, int64_t now)
{
    int64_t most = client->timeout_ns / (client->connected ? SILENCE_DIVISOR : ATTEMPT_DIVISOR);
    int64_t since = client->connected ? client->answered_ns : client->attempt_ns;
    if (client->fd < 0 || (client->connected && client->unanswered == 0)) {
        return INT64_MAX;
    }
    if (now >= since + most) {
        (void)shutdown(client->fd, SHUT_RDWR);
        client->answered_ns = now;
        client->attempt_ns = now;
        return now + most;
    }
    return since + most;
}

/* Send a request if one is due. For a holder it is a sync, which the leader answers. For a
   waiter a read is enough: it shows whether our server still answers, so that a grant is not
   missed. Return when to check again. */
static int64_t check_session(struct zk_client *client, int64_t now)
{
    bool waits = client->held == 0 && client->listeners != NULL;
    int64_t every = client->timeout_ns / (waits ? PROBES_PER_TIMEOUT : CONFIRMS_PER_TIMEOUT);
    int64_t next = (waits ? client->answered_ns : client->confirmed_ns) + every;
    if ((client->held == 0 && !waits) || !client->connected || client->zh == NULL ||
        client->heartbeat_exchange.left > 0) {
        return INT64_MAX;
    }
    if (now >= next) {
        zk_request_clear(&client->heartbeat, 1);
        client->heartbeat_exchange.left = 1;
        client->heartbeat = (struct zk_request){
            .kind = waits ? ZK_GET : ZK_SYNC, .path = "/", .exchange = &client->heartbeat_exchange};
        zk__send(client, &client->heartbeat);
        return now + every;
    }
    return next;
}

/* Wait for the connection, for a wake-up or for wait_ns. Return the events of the connection. */
static int wait_for_events(struct zk_client *client, int interest, int64_t wait_ns)
{
    struct pollfd polled[] = {{.fd = client->fd, .events = 0}, {client->wake, POLLIN, 0}};
    polled[0].events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                               (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
    struct timespec time = {wait_ns / 1000000000, wait_ns % 1000000000};
    uint64_t woken;
    (void)pthread_mutex_unlock(&client->mutex);
    (void)ppoll(polled, 2, &time, NULL);
    (void)!read(client->wake, &woken, sizeof woken);
    (void)pthread_mutex_lock(&client->mutex);
    int got = polled[0].revents;
    return (got & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0) |
           (got & (POLLOUT | POLLERR) ? ZOOKEEPER_WRITE : 0);
}

static void *run_session(void *context)
{
    struct zk_client *client = context;
    (void)pthread_mutex_lock(&client->mutex);
    while (!client->closing) {
        struct timeval tv = {0, 0};
        int fd = -1;
        int interest = 0;
        bool over = client->expired || client->refused;
        if (over && client->zh != NULL) {
            (void)zookeeper_close(client->zh); /* completes all unanswered requests with an error */
            client->zh = NULL;
        }
        zk__resolver_enter();
        int rc = over ? ZOK : zookeeper_interest(client->zh, &fd, &interest, &tv);
        zk__resolver_leave();
        note_descriptor(client, fd);
        int64_t now = zk_now_ns();
        int64_t next = now + (over ? 3600000000000 : tv.tv_sec * 1000000000 + tv.tv_usec * 1000);
        int64_t silence = check_silence(client, now);
        int64_t session = check_session(client, now);
        next = silence < next ? silence : next;
        next = session < next ? session : next;
        /* Wait at least 20 ms after a connection was refused. */
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

static void ignore_log(const char *message)
{
    (void)message;
}

/* Wait for a connection until until_ns. The caller holds the mutex. */
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

int zk_client_wait_connected(struct zk_client *client)
{
    (void)pthread_mutex_lock(&client->mutex);
    int error = wait_connected(client, monotonic_in(client->timeout_ns));
    if (error == -ENOTCONN) {
        client->expired =
            true; /* The servers have ended it or will; our tickets must not come back. */
    }
    (void)pthread_mutex_unlock(&client->mutex);
    zk__wake_thread(client);
    return error;
}

static int start(struct zk_client *client)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = -pthread_create(&client->thread, NULL, run_session, client);
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
    zk_request_clear(&client->heartbeat, 1);
    deallocate_ACL_vector(&client->adopted);
    (void)sem_destroy(&client->heartbeat_exchange.done);
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
    struct ACL_vector *unused = whole ? &client->adopted : &copy;
    deallocate_ACL_vector(unused);
    if (whole) {
        client->adopted = copy;
        client->acl = &client->adopted;
    }
    return whole;
}

/* Create the library's handle. It connects once the thread runs. */
static int connect_(struct zk_client *client, const struct zk_connect_options *options)
{
    if (options->tls != NULL && zookeeper_init_ssl == NULL) {
        return -ENOPKG;
    }
    zoo_set_debug_level((ZooLogLevel)0);
    client->zh = options->tls != NULL
                     ? zookeeper_init_ssl(options->hosts, options->tls, zk__on_event,
                                          options->timeout_ms, NULL, client, 0)
                     : zookeeper_init2(options->hosts, zk__on_event, options->timeout_ms, NULL,
                                       client, 0, ignore_log);
    if (client->zh == NULL) {
        return errno == ENOMEM ? -ENOMEM : -EHOSTUNREACH;
    }
    /* The library sends this first on each connection. */
    if (options->auth != NULL && zoo_add_auth(client->zh, "digest", options->auth,
                                              (int)strlen(options->auth), NULL, NULL) != ZOK) {
        return -ENOMEM;
    }
    client->acl = options->auth != NULL ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
    return 0;
}

int zk_client_open(struct zk_client **opened, const struct zk_connect_options *options)
{
    struct zk_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return -ENOMEM;
    }
    (void)pthread_mutex_init(&client->mutex, NULL);
    (void)pthread_cond_init(&client->changed, NULL);
    (void)sem_init(&client->heartbeat_exchange.done, 0, 0);
    client->heartbeat_exchange.client = client;
    client->fd = -1;
    client->timeout_ns = (int64_t)options->timeout_ms * 1000000;
    client->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    zk__resolver_enter();
    int error = client->wake < 0 ? -errno : connect_(client, options);
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
    /* A forked child has no such thread, and a close request would end the parent's session. */
    if (!ours) {
        (void)close(client->wake);
        if (client->fd >= 0) {
            (void)close(client->fd);
        }
        return;
    }
    (void)pthread_mutex_lock(&client->mutex);
    client->closing = true;
    (void)pthread_mutex_unlock(&client->mutex);
    zk__wake_thread(client);
    (void)pthread_join(client->thread, NULL);
    discard(client);
}

void zk_client_listen(struct zk_client *client, struct zk_listener *listener)
{
    (void)sem_init(&listener->wakeup, 0, 0);
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
    (void)sem_destroy(&listener->wakeup);
}
