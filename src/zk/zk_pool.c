/* Open, close, resize and remove a pool on ZooKeeper, and the table that libusher loads:
   remote.h. */
#include "zk/protocol.h"
#include "zk/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Create the missing nodes above the pool. */
static int create_above(struct remote *remote)
{
    char *path = strdup(remote->path);
    int error = path == NULL ? -ENOMEM : 0;
    for (char *at = path; error == 0 && (at = strchr(at + 1, '/')) != NULL;) {
        *at = '\0';
        struct zk_change make = {.what = ZK_MAKE, .path = path, .data = ""};
        struct zk_request request = {.kind = ZK_MULTI, .changes = &make, .count = 1};
        error = zk_client_ask(remote->client, &request, 1);
        error = error == -EEXIST ? 0 : error;
        *at = '/';
    }
    free(path);
    return error;
}

/* Create a pool: its node, its first roll, and the parent of the session nodes. */
static int create_pool(struct remote *remote)
{
    char roll[ZK_PATH_ROOM];
    char who[ZK_PATH_ROOM];
    char *text = malloc(ZK_STATE_ROOM);
    struct zk_state *state = calloc(1, sizeof *state);
    int error = text == NULL || state == NULL ? -ENOMEM : create_above(remote);
    if (error == 0) {
        state->seats = remote->options.seats == 0 ? 1 : remote->options.seats;
        while (state->count < state->seats) {
            state->holder[state->count++] = ZK_NO_TICKET;
        }
        zk_roll_path(remote, 0, roll);
        (void)snprintf(who, sizeof who, "%s/w", remote->path);
        struct zk_change changes[] = {{.what = ZK_MAKE,
                                       .path = remote->path,
                                       .data = text,
                                       .length = zk_print_state(state, text)},
                                      {.what = ZK_MAKE, .path = roll, .data = ""},
                                      {.what = ZK_MAKE, .path = who, .data = ""}};
        struct zk_request request = {.kind = ZK_MULTI, .changes = changes, .count = 3};
        error = zk_client_ask(remote->client, &request, 1);
    }
    free(state);
    free(text);
    return error;
}

/* Read the pool's node and adopt its ACL. -ENOENT: there is none. */
static int read_node(struct remote *remote, struct zk_state *state)
{
    /* sync first: a server that lags may not have a new pool yet */
    struct zk_request requests[] = {{.kind = ZK_SYNC, .path = "/"},
                                    {.kind = ZK_GET, .path = remote->path},
                                    {.kind = ZK_ADOPT, .path = remote->path}};
    int error = zk_client_ask(remote->client, requests, 3);
    if (error == 0) {
        error = requests[1].text == NULL
                    ? -ENOMEM
                    : zk_parse_state(requests[1].text, requests[1].text_length, state);
        remote->created_zxid = requests[1].created_zxid;
    }
    if (error == 0) {
        atomic_store(&remote->first, state->first);
        atomic_store(&remote->last, state->last);
        atomic_store(&remote->long_line, state->next_count > 0);
    }
    zk_request_clear(requests, 3);
    return error;
}

static int find_or_create(struct remote *remote)
{
    unsigned flags = remote->options.flags;
    struct zk_state state;
    bool made = false;
    for (;;) {
        int error = read_node(remote, &state);
        if (error == -ENOENT && !(flags & USHER_EXISTING)) {
            error = create_pool(remote);
            made = made || error == 0;
            error = error == -EEXIST ? 0 : error;
        } else if (error != -ECONNRESET) {
            uint32_t wanted = remote->options.seats;
            bool there = (flags & USHER_EXCLUSIVE) && !made && error != -ENOENT;
            bool other = error == 0 && wanted != 0 && state.seats != wanted && state.seats != 0;
            return there && error != -EKEYEXPIRED ? -EEXIST : other ? -EDOM : error;
        }
        if (error == -ECONNRESET) {
            error = zk_client_wait_connected(remote->client);
        }
        if (error != 0) {
            return error;
        }
    }
}

static void discard(struct remote *remote)
{
    (void)pthread_mutex_destroy(&remote->mutex);
    free(remote->labels);
    free(remote->note);
    free(remote->path);
    free(remote);
}

static int describe_self(struct remote *remote)
{
    struct stat status;
    struct zk_who *who = &remote->who;
    if (gethostname(who->host, sizeof who->host - 1) != 0 || who->host[0] == '\0') {
        who->host[0] = '_';
    }
    who->pid = getpid();
    who->pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
    const struct usher_options *options = &remote->options;
    remote->labels = options->labels == NULL ? NULL : strdup(options->labels);
    remote->note = options->note == NULL ? NULL : strdup(options->note);
    who->labels = remote->labels;
    who->note = remote->note;
    return (options->labels != NULL && who->labels == NULL) ||
                   (options->note != NULL && who->note == NULL)
               ? -ENOMEM
               : 0;
}

static int connect_(struct remote *remote, const char *name)
{
    char *hosts = NULL;
    struct zk_connect_options connect_options = {.hosts = NULL};
    int error = zk_read_settings(&connect_options, &remote->renewed_at);
    error = error != 0 ? error : zk_parse_name(name, &hosts, &remote->path);
    if (error == 0) {
        connect_options.hosts = hosts;
        error = zk_client_open(&remote->client, &connect_options);
    }
    free(hosts);
    return error;
}

static int open_(struct remote **opened, const char *name, const struct usher_options *options,
                 struct usher_pool *pool)
{
    if (options->seats > ZK_MOST_SEATS) {
        return -ERANGE;
    }
    if (options->guests != 0 || options->mode != 0) {
        return -EOPNOTSUPP;
    }
    struct remote *remote = calloc(1, sizeof *remote);
    if (remote == NULL) {
        return -ENOMEM;
    }
    (void)pthread_mutex_init(&remote->mutex, NULL);
    remote->pool = pool;
    remote->options = *options;
    int error = describe_self(remote);
    error = error != 0 ? error : connect_(remote, name);
    if (error == 0) {
        error = find_or_create(remote);
        if (error != 0) {
            zk_client_close(remote->client, true);
        }
    }
    if (error != 0) {
        discard(remote);
        return error;
    }
    *opened = remote;
    return 0;
}

static void close_(struct remote *remote, bool ours)
{
    while (remote->held != NULL) {
        struct zk_own *own = remote->held;
        remote->held = own->next;
        /* If the lease has run out, the end of the session gives the seat back. */
        if (ours && zk_client_valid_until(remote->client) > zk_now_ns()) {
            (void)zk_leave(remote, own);
        }
        free(own);
    }
    zk_client_close(remote->client, ours);
    discard(remote);
}

static int resize(struct remote *remote, uint32_t seats)
{
    struct zk_view view = {.version = 0};
    if (seats > ZK_MOST_SEATS) {
        return -ERANGE;
    }
    int error = zk_advance(remote, &view, seats, NULL);
    zk_view_clear(&view);
    return error < 0 ? error : 0;
}

static int reap(struct remote *remote)
{
    struct zk_view view = {.version = 0};
    int made = zk_advance(remote, &view, ZK_NO_SEAT, NULL);
    zk_view_clear(&view);
    return made;
}

/* Remove a pool that cannot be opened. */
static int remove_damaged(const char *name)
{
    struct remote *remote = calloc(1, sizeof *remote);
    if (remote == NULL) {
        return -ENOMEM;
    }
    (void)pthread_mutex_init(&remote->mutex, NULL);
    int error = connect_(remote, name);
    if (error == 0) {
        error = zk_remove_damaged(remote->client, remote->path);
        zk_client_close(remote->client, true);
    }
    discard(remote);
    return error;
}

static int remove_(const char *name, bool force)
{
    struct remote *remote;
    struct usher_options existing = {.flags = USHER_EXISTING};
    int error = open_(&remote, name, &existing, NULL);
    if (error == 0) {
        error = zk_remove(remote, force);
        close_(remote, true);
    } else if (force && (error == -EUCLEAN || error == -EPROTONOSUPPORT)) {
        error = remove_damaged(name);
    }
    return error;
}

extern const struct remote_module usher_remote_module;
__attribute__((visibility("default"))) const struct remote_module usher_remote_module = {
    .version = REMOTE_VERSION,
    .open = open_,
    .close = close_,
    .acquire = zk_acquire,
    .release = zk_release,
    .lease = zk_lease,
    .reap = reap,
    .resize = resize,
    .inspect = zk_inspect,
    .verify = zk_verify,
    .remove = remove_,
};
