/* A pool on ZooKeeper as a whole, and the table that libusher finds in the module: remote.h. */
#include "zk/protocol.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_MS = 15000, LEAST_TIMEOUT_MS = 100, MOST_TIMEOUT_MS = 3600000 };
enum { MOST_TRIES = 1000 };

/* $USHER_ZK_TIMEOUT: 15, 15s or 400ms. Whether it is one. */
static bool session_time(int *ms)
{
    const char *said = secure_getenv("USHER_ZK_TIMEOUT");
    char *unit;
    *ms = DEFAULT_TIMEOUT_MS;
    if (said == NULL || said[0] == '\0') {
        return true;
    }
    unsigned long number = strtoul(said, &unit, 10);
    bool known = strcmp(unit, "ms") == 0 || strcmp(unit, "s") == 0 || *unit == '\0';
    unsigned long factor = strcmp(unit, "ms") == 0 ? 1 : 1000;
    if (!isdigit((unsigned char)said[0]) || !known || number > MOST_TIMEOUT_MS / factor ||
        number * factor < LEAST_TIMEOUT_MS) {
        return false;
    }
    *ms = (int)(number * factor);
    return true;
}

/* The node of a new pool, and those above it that are missing. */
static int create_node(struct remote *remote)
{
    char *path = strdup(remote->path);
    char text[ZK_STATE_ROOM];
    struct zk_state state = {.seats = remote->options.seats == 0 ? 1 : remote->options.seats};
    int error = path == NULL ? -ENOMEM : 0;
    for (uint32_t s = 0; s < state.seats; s++) {
        state.holder[state.count++] = ZK_NOBODY;
    }
    size_t length = zk_print_state(&state, text);
    for (char *at = path; error == 0 && at != NULL;) {
        at = strchr(at + 1, '/');
        bool last = at == NULL;
        if (!last) {
            *at = '\0';
        }
        struct zk_request create = {
            .kind = ZK_CREATE, .path = path, .data = last ? text : "", .length = last ? length : 0};
        error = zk_client_ask(remote->client, &create, 1);
        zk_request_clear(&create, 1);
        error = error == -EEXIST && !last ? 0 : error;
        if (!last) {
            *at = '/';
        }
    }
    free(path);
    return error;
}

/* The pool's node as it is; -ENOENT: there is none. */
static int read_node(struct remote *remote, struct zk_state *state)
{
    /* a server that lags would not know of a pool that was made just now */
    struct zk_request requests[] = {{.kind = ZK_SYNC, .path = "/"},
                                    {.kind = ZK_GET, .path = remote->path}};
    int error = zk_client_ask(remote->client, requests, 2);
    if (error == 0) {
        error = requests[1].text == NULL
                    ? -ENOMEM
                    : zk_parse_state(requests[1].text, requests[1].text_length, state);
        remote->created_zxid = requests[1].created_zxid;
    }
    zk_request_clear(requests, 2);
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
            error = create_node(remote);
            made = made || error == 0;
            error = error == -EEXIST ? 0 : error;
        } else if (error != -ECONNRESET) {
            uint32_t wanted = remote->options.seats;
            bool there = (flags & USHER_EXCLUSIVE) && !made && error != -ENOENT;
            bool other = error == 0 && wanted != 0 && state.seats != wanted && state.seats != 0;
            return there && error != -EKEYEXPIRED ? -EEXIST : other ? -EDOM : error;
        }
        if (error == -ECONNRESET) {
            error = zk_client_again(remote->client);
        }
        if (error != 0) {
            return error;
        }
    }
}

static void discard(struct remote *remote)
{
    (void)pthread_mutex_destroy(&remote->mutex);
    free(remote->path);
    free(remote);
}

static void describe_self(struct remote *remote)
{
    struct stat status;
    if (gethostname(remote->host, sizeof remote->host - 1) != 0 || remote->host[0] == '\0') {
        remote->host[0] = '_';
    }
    remote->pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

static int open_(struct remote **opened, const char *name, const struct usher_options *options,
                 struct usher_pool *pool)
{
    int timeout_ms;
    char *hosts = NULL;
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
    describe_self(remote);
    int error = session_time(&timeout_ms) ? zk_parse_name(name, &hosts, &remote->path) : -EINVAL;
    if (error == 0) {
        error = zk_client_open(&remote->client, hosts, timeout_ms);
    }
    free(hosts);
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
        /* What is lost the end of the session gives back. */
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
    int made = zk_advance(remote, &view, ZK_NOBODY, NULL);
    zk_view_clear(&view);
    return made;
}

static void add_guest(const struct remote *remote, const struct zk_ticket *ticket,
                      uint32_t position, struct usher_guest *guest)
{
    bool here = ticket->pid_namespace == remote->pid_namespace &&
                ticket->host_length == strlen(remote->host) &&
                strncmp(ticket->host, remote->host, ticket->host_length) == 0;
    *guest = (struct usher_guest){.seat = ticket->seat,
                                  .position = position,
                                  .pid = here ? ticket->pid : 0,
                                  .alive = 1,
                                  .ticket = ticket->sequence};
    (void)snprintf(guest->where, sizeof guest->where, "%d@%.*s", (int)ticket->pid,
                   (int)ticket->host_length, ticket->host);
}

static int inspect(struct remote *remote, struct usher_info *info, struct usher_guest *guests,
                   size_t capacity)
{
    struct zk_view view = {.version = 0};
    size_t count = 0;
    int error = zk_look(remote, &view);
    if (error != 0) {
        zk_view_clear(&view);
        return error;
    }
    for (uint32_t s = 0; s < view.state.count; s++) { /* by seat; then those who wait, in order */
        for (size_t t = 0; t < view.line.count; t++) {
            if (view.line.tickets[t].seat == s && count++ < capacity && guests != NULL) {
                add_guest(remote, &view.line.tickets[t], 0, &guests[count - 1]);
            }
        }
    }
    uint32_t holders = (uint32_t)count;
    for (size_t t = 0; t < view.line.count; t++) {
        if (view.line.tickets[t].seat == ZK_NOBODY && count++ < capacity && guests != NULL) {
            add_guest(remote, &view.line.tickets[t], (uint32_t)count - holders, &guests[count - 1]);
        }
    }
    uint32_t waiters = (uint32_t)count - holders;
    if (info != NULL) {
        uint64_t known = view.state.granted + waiters;
        *info =
            (struct usher_info){.seats = view.state.seats,
                                .free = holders < view.state.seats ? view.state.seats - holders : 0,
                                .owed = holders > view.state.seats ? holders - view.state.seats : 0,
                                .holders = holders,
                                .waiters = waiters,
                                .most_seats = ZK_MOST_SEATS,
                                .served = view.state.granted - holders - view.state.reaped,
                                .gave_up = view.births > known ? view.births - known : 0,
                                .reaped = view.state.reaped};
    }
    zk_view_clear(&view);
    return (int)count;
}

/* Delete some of the tickets, or the node itself if there are none. */
static int remove_some(struct remote *remote, const struct zk_view *view)
{
    enum { AT_ONCE = 100 };
    struct zk_change changes[AT_ONCE + 1];
    char(*paths)[ZK_PATH_ROOM] = calloc(AT_ONCE, sizeof *paths);
    unsigned count = 0;
    if (paths == NULL) {
        return -ENOMEM;
    }
    for (; count < AT_ONCE && count < view->line.count; count++) {
        zk_ticket_path(remote, &view->line.tickets[count], paths[count]);
        changes[count] = (struct zk_change){.path = paths[count], .version = -1};
    }
    if (count == view->line.count) {
        changes[count++] = (struct zk_change){.path = remote->path, .version = view->version};
    }
    struct zk_request request = {.kind = ZK_MULTI, .changes = changes, .count = count};
    int error = zk_client_ask(remote->client, &request, 1);
    free(paths);
    return error;
}

static int remove_(const char *name, bool force)
{
    struct remote *remote;
    struct zk_view view = {.version = 0};
    struct usher_options existing = {.flags = USHER_EXISTING};
    int error = open_(&remote, name, &existing, NULL);
    if (error != 0) {
        return error;
    }
    for (unsigned tries = 0;; tries++) {
        error = zk_look(remote, &view);
        if (error == 0 && (tries == MOST_TRIES || (view.line.count > 0 && !force))) {
            error = -EBUSY; /* in use; or somebody has put other nodes below it */
        }
        error = error != 0 ? error : remove_some(remote, &view);
        if (error == -ECONNRESET) {
            error = zk_client_again(remote->client);
        }
        /* Whoever comes or goes meanwhile makes it fail; then look again. */
        if (error != 0 && error != -ESTALE && error != -ENOENT && error != -ENOTEMPTY) {
            break;
        }
    }
    zk_view_clear(&view);
    close_(remote, true);
    return error == -EIDRM ? 0 : error;
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
    .inspect = inspect,
    .verify = zk_verify,
    .remove = remove_,
};
