/* The way in and out for one who asks: see protocol.h. */
#include "zk/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t monotonic_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The ticket as the server has named it. */
static int take_path(struct zk_own *own, const char *path, uint32_t roll)
{
    struct zk_ticket parsed;
    const char *name = strrchr(path, '/');
    (void)snprintf(own->path, sizeof own->path, "%s", path);
    if (name == NULL || !zk_parse_ticket(roll, name + 1, &parsed)) {
        return -EOVERFLOW; /* sequence numbers have come to their end */
    }
    own->number = parsed.number;
    return 0;
}

/* The answer to a create was lost: whether there is a ticket. */
static int find_created(struct remote *remote, struct zk_own *own, struct zk_view *view)
{
    struct zk_request sync = {.kind = ZK_SYNC, .path = remote->path};
    uint64_t session = zk_client_session(remote->client);
    int error;
    do { /* a server that lags would not have it yet */
        error = zk_client_again(remote->client);
        error = error != 0 ? error : zk_client_ask(remote->client, &sync, 1);
        zk_request_clear(&sync, 1);
    } while (error == -ECONNRESET);
    error = error != 0 ? error : zk_look(remote, view);
    if (error == 0) {
        error = -EAGAIN;
        for (size_t t = 0; t < view->line.count && error == -EAGAIN; t++) {
            const struct zk_ticket *found = &view->line.tickets[t];
            if (found->session == session && found->n == own->n) {
                zk_ticket_path(remote, found, own->path);
                own->number = found->number;
                error = 0;
            }
        }
    }
    return error;
}

/* The requests of an arrival: to say who we are, once; to create a ticket; to look. */
struct arrival {
    char who_path[ZK_PATH_ROOM], who[ZK_WHO_ROOM];
    char roll[ZK_PATH_ROOM], prefix[ZK_PATH_ROOM], made[ZK_PATH_ROOM];
    struct zk_looking looking;
    struct zk_change changes[2];
    struct zk_request requests[2 + ZK_LOOK_REQUESTS];
    unsigned create; /* which of them is that */
};

static unsigned put_arrival(struct remote *remote, const struct zk_own *own, struct arrival *all)
{
    char name[ZK_NAME_ROOM];
    uint64_t session = zk_client_session(remote->client);
    all->create = atomic_load(&remote->announced) ? 0 : 1;
    if (all->create == 1) {
        zk_print_session(name, session);
        (void)snprintf(all->who_path, sizeof all->who_path, "%s/w/%s", remote->path, name);
        all->requests[0] = (struct zk_request){.kind = ZK_CREATE,
                                               .path = all->who_path,
                                               .data = all->who,
                                               .length = zk_print_who(&remote->who, all->who)};
    }
    zk_put_look(remote, &all->looking, &all->requests[all->create + 1],
                atomic_load(&remote->long_line));
    zk_roll_path(remote, all->looking.last, all->roll);
    zk_print_ticket(name, session, own->n);
    (void)snprintf(all->prefix, sizeof all->prefix, "%s/t%u/%s", remote->path, all->looking.last,
                   name);
    all->changes[0] = (struct zk_change){.what = ZK_CHECK, .path = all->roll, .version = 0};
    all->changes[1] = (struct zk_change){
        .what = ZK_TICKET, .path = all->prefix, .made = all->made, .room = sizeof all->made};
    all->requests[all->create] =
        (struct zk_request){.kind = ZK_MULTI, .changes = all->changes, .count = 2};
    return all->create + 2 + all->looking.lists;
}

/* Create a ticket, and look. The view has nothing in it if there is reason to look again. */
static int create_ticket(struct remote *remote, struct zk_own *own, struct zk_view *view)
{
    struct arrival *all = malloc(sizeof *all);
    int error = all == NULL ? -ENOMEM : -EAGAIN;
    while (error == -EAGAIN) {
        unsigned count = put_arrival(remote, own, all);
        (void)zk_client_ask(remote->client, all->requests, count);
        error = all->requests[all->create].error;
        int seen = zk_take_look(remote, &all->looking, &all->requests[all->create + 1], view);
        if (error == 0) {
            error = take_path(own, all->made, all->looking.last);
        } else if (error == -ESTALE || error == -ENOENT) { /* another roll, or no pool any more */
            zk_view_clear(view);
            seen = zk_look(remote, view);
            error = seen == 0 ? -EAGAIN : seen;
        } else if (error == -ECONNRESET) {
            error = find_created(remote, own, view);
        }
        bool announced = all->requests[0].error == 0 || all->requests[0].error == -EEXIST;
        if (all->create == 1 && announced) {
            atomic_store(&remote->announced, true);
        }
        if (error == 0 && seen == -EIDRM) {
            error = -EIDRM;
        }
        zk_request_clear(all->requests, count);
    }
    free(all);
    return error;
}

/* What the own ticket says. 0: see own->granted; if it is gone, the errors of zk_why_gone. One
   watch is enough: it lasts until the ticket changes, across connections. */
static int read_ticket(struct remote *remote, struct zk_own *own, bool watch)
{
    int error;
    do {
        /* That the leader confirms the session here makes the seat valid from the beginning. */
        struct zk_request requests[] = {{.kind = ZK_SYNC, .path = "/"},
                                        {.kind = watch ? ZK_GET_WATCH : ZK_GET, .path = own->path}};
        error = zk_client_ask(remote->client, requests, 2);
        if (error == 0 && requests[1].node_version > 0) {
            own->granted =
                requests[1].text != NULL &&
                zk_parse_grant(requests[1].text, requests[1].text_length, &own->seat, &own->fence);
            error = own->granted ? 0 : -EUCLEAN;
        }
        zk_request_clear(requests, 2);
    } while (error == -ECONNRESET && (error = zk_client_again(remote->client)) == 0);
    return error == -ENOENT ? zk_why_gone(remote) : error;
}

/* Leave the line. `why`; or 0: it was granted before that. */
static int give_up(struct remote *remote, struct zk_own *own, int why)
{
    int error;
    do {
        struct zk_request request = {.kind = ZK_DELETE, .path = own->path, .version = 0};
        error = zk_client_ask(remote->client, &request, 1);
        if (error == -ESTALE) {
            error = read_ticket(remote, own, false);
            return error != 0 ? error : own->granted ? 0 : -EUCLEAN;
        }
    } while (error == -ECONNRESET && (error = zk_client_again(remote->client)) == 0);
    return error == 0 || error == -ENOENT ? why : error;
}

/* How many wait before this one; about, and not less, if the line is not whole. */
static int64_t place_of(const struct zk_view *view, uint64_t number)
{
    int64_t place = 0;
    const struct zk_ticket *tickets = view->line.tickets;
    for (size_t t = 0; tickets != NULL && t < view->line.count; t++) {
        place += tickets[t].seat == ZK_NOBODY && tickets[t].number < number;
    }
    bool beyond = tickets != NULL && !view->line.whole && (size_t)place == view->line.count;
    return beyond ? (int64_t)(number - tickets[0].number) : place;
}

/* When to look for seats whose holders are gone: those in front every third of the session time,
   those behind less often. */
static int64_t next_sweep(struct remote *remote, const struct zk_view *view, uint64_t number)
{
    int64_t third = zk_client_timeout_ns(remote->client) / 3;
    int64_t place = place_of(view, number);
    int64_t often = place / 4 < 1 ? 1 : place / 4 > 12 ? 12 : place / 4;
    unsigned jitter = (uint32_t)number * 2654435761U >> 16 & 1023;
    return monotonic_ns() + third * often / 4096 * (3584 + jitter); /* an eighth more or less */
}

/* There is a crowd, and who is next in it is there: then it is for those in front to look for seats
   whose holders are gone, and the line need not be listed. */
static bool is_crowded(struct remote *remote, const struct zk_view *view)
{
    char path[ZK_PATH_ROOM];
    if (view->line.tickets == NULL || view->line.whole || !zk_is_crowded(&view->state)) {
        return false;
    }
    zk_ticket_path(remote, &view->state.next[0], path);
    struct zk_request next = {.kind = ZK_GET, .path = path};
    bool waits = zk_client_ask(remote->client, &next, 1) == 0 && next.node_version == 0;
    zk_request_clear(&next, 1);
    return waits;
}

/* Look for seats whose holders are gone; or leave that to those in front. */
static int sweep(struct remote *remote, struct zk_own *own, struct zk_view *view)
{
    enum { FRONT = 8 };
    zk_view_clear(view);
    int error = atomic_load(&remote->long_line) ? zk_glance(remote, view) : -EAGAIN;
    if (error == 0 && place_of(view, own->number) >= FRONT && is_crowded(remote, view)) {
        return 0;
    }
    if (error == 0 || error == -EAGAIN) {
        zk_view_clear(view);
        error = zk_advance(remote, view, ZK_NOBODY, own);
    }
    return error > 0 ? 0 : error;
}

/* Sleep until the bell is rung: 0; or -EAGAIN, until then; -EINTR after a signal. */
static int doze(struct zk_listener *listener, int64_t until_ns)
{
    struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
    if (sem_clockwait(&listener->bell, CLOCK_MONOTONIC, &until) == 0) {
        while (sem_trywait(&listener->bell) == 0) { /* once is enough */
        }
        return 0;
    }
    return errno == ETIMEDOUT ? -EAGAIN : -EINTR;
}

static int wait_in_line(struct remote *remote, struct zk_own *own, struct zk_view *view,
                        int64_t deadline_ns, struct zk_listener *listener)
{
    const struct usher_options *options = &remote->options;
    int64_t ms = options->waiting == NULL ? 0 : options->waiting_ms;
    int64_t sweeps = next_sweep(remote, view, own->number);
    int error = read_ticket(remote, own, true);
    while (error == 0 && !own->granted) {
        int64_t now = monotonic_ns();
        int64_t until = ms > 0 && now + ms * 1000000 < sweeps ? now + ms * 1000000 : sweeps;
        int rung = doze(listener, until < deadline_ns ? until : deadline_ns);
        now = monotonic_ns();
        if (rung == 0) {
            error = read_ticket(remote, own, false);
        } else if (now >= deadline_ns) {
            return give_up(remote, own, -ETIMEDOUT);
        } else if (options->waiting != NULL && (ms > 0 || rung == -EINTR) &&
                   options->waiting(remote->pool, options->context) != 0) {
            return give_up(remote, own, -ECANCELED);
        } else if (now >= sweeps) {
            error = sweep(remote, own, view);
            sweeps = next_sweep(remote, view, own->number);
        }
    }
    return error;
}

/* There is a seat that is not granted, and nobody waits for it. */
static bool is_free(const struct zk_view *view)
{
    uint32_t holders = zk_holders(&view->line);
    return holders < view->state.seats && view->line.count - holders < view->state.seats - holders;
}

static int arrive(struct remote *remote, struct zk_own *own, struct zk_view *view,
                  int64_t deadline_ns)
{
    struct zk_listener listener = {.path = own->path};
    int error = create_ticket(remote, own, view);
    if (error == 0 && (own->number & INT32_MAX) >= remote->renewed_at) {
        error = zk_renew(remote, (uint32_t)(own->number >> 31));
        zk_view_clear(view);
    }
    if (error == 0 && !is_crowded(remote, view)) {
        error = zk_advance(remote, view, ZK_NOBODY, own);
    }
    if (error < 0 || own->granted) {
        return error < 0 ? error : 0;
    }
    if (deadline_ns == INT64_MIN) {
        return give_up(remote, own, -EAGAIN);
    }
    zk_client_listen(remote->client, &listener);
    error = wait_in_line(remote, own, view, deadline_ns, &listener);
    zk_client_unlisten(remote->client, &listener);
    return error;
}

static void hold(struct remote *remote, struct zk_own *own, struct usher_seat *seat)
{
    (void)pthread_mutex_lock(&remote->mutex);
    own->next = remote->held;
    remote->held = own;
    (void)pthread_mutex_unlock(&remote->mutex);
    zk_client_hold(remote->client, 1);
    *seat = (struct usher_seat){.number = own->seat, .ticket = own->number, .request = own->fence};
}

int zk_acquire(struct remote *remote, struct usher_seat *seat, int64_t deadline_ns)
{
    struct zk_own *own = calloc(1, sizeof *own);
    struct zk_view *view = calloc(1, sizeof *view);
    int error = view == NULL || own == NULL ? -ENOMEM : 0;
    if (error == 0 && deadline_ns == INT64_MIN) { /* do not arrive if that is in vain */
        error = zk_look(remote, view);
        error = error == 0 && !is_free(view) ? -EAGAIN : error;
        zk_view_clear(view);
    }
    if (error == 0) {
        own->n = atomic_fetch_add(&remote->requests, 1);
        own->number = ZK_NO_TICKET;
        error = arrive(remote, own, view, deadline_ns);
        if (error != 0 && error != -ETIMEDOUT && error != -EAGAIN && error != -ECANCELED &&
            own->path[0] != '\0') {
            (void)give_up(remote, own, error);
        }
    }
    if (view != NULL) {
        zk_view_clear(view);
        free(view);
    }
    if (error == 0) {
        hold(remote, own, seat);
    } else {
        free(own);
    }
    return error;
}

/* Where in the list a seat is; *it is NULL if it is not held. The mutex is held. */
static struct zk_own **find_held(struct remote *remote, const struct usher_seat *seat)
{
    struct zk_own **at = &remote->held;
    while (*at != NULL && ((*at)->fence != seat->request || (*at)->seat != seat->number)) {
        at = &(*at)->next;
    }
    return at;
}

int zk_release(struct remote *remote, const struct usher_seat *seat)
{
    (void)pthread_mutex_lock(&remote->mutex);
    struct zk_own **at = find_held(remote, seat);
    struct zk_own *own = *at;
    if (own != NULL) {
        *at = own->next;
    }
    (void)pthread_mutex_unlock(&remote->mutex);
    if (own == NULL) {
        return -EPERM;
    }
    int error = zk_leave(remote, own);
    zk_client_hold(remote->client, -1);
    free(own);
    return error;
}

int zk_lease(struct remote *remote, const struct usher_seat *seat, struct usher_lease *lease)
{
    int64_t left = zk_client_valid_until(remote->client) - zk_now_ns();
    (void)pthread_mutex_lock(&remote->mutex);
    struct zk_own *own = *find_held(remote, seat);
    int error = own == NULL ? -EPERM : 0;
    if (own != NULL) {
        own->lost = own->lost || left <= 0;
        error = own->lost ? -EKEYEXPIRED : 0;
        *lease = (struct usher_lease){.fence = own->fence, .left_ns = own->lost ? 0 : left};
    }
    (void)pthread_mutex_unlock(&remote->mutex);
    return error;
}
