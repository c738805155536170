/* Acquire, wait, release and lease for one caller of a pool on ZooKeeper. protocol.h names the
   steps. */
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

/* Store the path that the server gave to our ticket. -EOVERFLOW: the roll has no sequence
   numbers left. */
static int parse_created_path(struct zk_own *own, const char *path, uint32_t roll)
{
    struct zk_ticket parsed;
    const char *name = strrchr(path, '/');
    (void)snprintf(own->path, sizeof own->path, "%s", path);
    if (name == NULL || !zk_parse_ticket(roll, name + 1, &parsed)) {
        return -EOVERFLOW; /* the sequence number is negative or missing */
    }
    own->number = parsed.number;
    return 0;
}

/* The answer to our create was lost. Find out whether the ticket exists: 0 and its path, or
   -EAGAIN: it does not. */
static int find_created_ticket(struct remote *remote, struct zk_own *own, struct zk_view *view)
{
    struct zk_request sync = {.kind = ZK_SYNC, .path = remote->path};
    uint64_t session = zk_client_session(remote->client);
    int error;
    do { /* sync first: a server that lags may not have applied the create yet */
        error = zk_client_wait_connected(remote->client);
        error = error != 0 ? error : zk_client_ask(remote->client, &sync, 1);
        zk_request_clear(&sync, 1);
    } while (error == -ECONNRESET);
    error = error != 0 ? error : zk_read_pool(remote, view);
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

/* The requests of one arrival, sent together: describe this session (first arrival only), create
   a ticket, read the pool. */
struct arrival {
    char who_path[ZK_PATH_ROOM], who[ZK_WHO_ROOM];
    char roll[ZK_PATH_ROOM], prefix[ZK_PATH_ROOM], made[ZK_PATH_ROOM];
    struct zk_pool_read reading;
    struct zk_change changes[2];
    struct zk_request requests[2 + ZK_READ_REQUESTS];
    unsigned create; /* index of the create request in `requests` */
};

static unsigned prepare_arrival(struct remote *remote, const struct zk_own *own,
                                struct arrival *all)
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
    zk_prepare_read(remote, &all->reading, &all->requests[all->create + 1],
                    atomic_load(&remote->long_line));
    zk_roll_path(remote, all->reading.last, all->roll);
    zk_print_ticket(name, session, own->n);
    (void)snprintf(all->prefix, sizeof all->prefix, "%s/t%u/%s", remote->path, all->reading.last,
                   name);
    all->changes[0] = (struct zk_change){.what = ZK_CHECK, .path = all->roll, .version = 0};
    all->changes[1] = (struct zk_change){
        .what = ZK_TICKET, .path = all->prefix, .made = all->made, .room = sizeof all->made};
    all->requests[all->create] =
        (struct zk_request){.kind = ZK_MULTI, .changes = all->changes, .count = 2};
    return all->create + 2 + all->reading.lists;
}

/* Create a ticket and read the pool. The view is empty if the read must be repeated. */
static int create_ticket(struct remote *remote, struct zk_own *own, struct zk_view *view)
{
    struct arrival *all = malloc(sizeof *all);
    int error = all == NULL ? -ENOMEM : -EAGAIN;
    while (error == -EAGAIN) {
        unsigned count = prepare_arrival(remote, own, all);
        (void)zk_client_ask(remote->client, all->requests, count);
        error = all->requests[all->create].error;
        int seen = zk_finish_read(remote, &all->reading, &all->requests[all->create + 1], view);
        if (error == 0) {
            error = parse_created_path(own, all->made, all->reading.last);
        } else if (error == -ESTALE || error == -ENOENT) { /* roll closed, or pool removed */
            zk_view_clear(view);
            seen = zk_read_pool(remote, view);
            error = seen == 0 ? -EAGAIN : seen;
        } else if (error == -ECONNRESET) {
            error = find_created_ticket(remote, own, view);
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

/* Read our ticket. 0: own->granted says whether it holds a seat. If the ticket is gone, return
   the errors of zk_why_ticket_gone. One watch is enough: it stays until the ticket changes, also
   across connections. */
static int read_ticket(struct remote *remote, struct zk_own *own, bool watch)
{
    int error;
    do {
        /* The sync makes the leader confirm the session, so the seat is valid from its first
           moment. */
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
    } while (error == -ECONNRESET && (error = zk_client_wait_connected(remote->client)) == 0);
    return error == -ENOENT ? zk_why_ticket_gone(remote) : error;
}

/* Leave the line. Return `why`, or 0 if the ticket was granted before it could be deleted. */
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
    } while (error == -ECONNRESET && (error = zk_client_wait_connected(remote->client)) == 0);
    return error == 0 || error == -ENOENT ? why : error;
}

/* Count the waiters before this ticket. If only the head of the line is known and the ticket is
   behind it, return an upper bound: the distance between the two ticket numbers. */
static int64_t waiters_ahead(const struct zk_view *view, uint64_t number)
{
    int64_t ahead = 0;
    const struct zk_ticket *tickets = view->line.tickets;
    for (size_t t = 0; tickets != NULL && t < view->line.count; t++) {
        ahead += tickets[t].seat == ZK_NO_SEAT && tickets[t].number < number;
    }
    bool beyond = tickets != NULL && !view->line.whole && (size_t)ahead == view->line.count;
    return beyond ? (int64_t)(number - tickets[0].number) : ahead;
}

/* Return when to scan next for seats whose holders are gone: every T/3 for the first eight
   waiters, less often behind them, at least every 4 T. */
static int64_t next_scan_ns(struct remote *remote, const struct zk_view *view, uint64_t number)
{
    int64_t third = zk_client_timeout_ns(remote->client) / 3;
    int64_t ahead = waiters_ahead(view, number);
    int64_t multiple = ahead / 4 < 1 ? 1 : ahead / 4 > 12 ? 12 : ahead / 4;
    unsigned jitter = (uint32_t)number * 2654435761U >> 16 & 1023;
    return monotonic_ns() + third * multiple / 4096 * (3584 + jitter); /* plus or minus 1/8 */
}

/* Return true if all seats are taken, the line is long and the first waiter in NEXT still waits.
   Then the waiters in front scan for dead holders, and this client need not list the line. */
static bool head_still_waits(struct remote *remote, const struct zk_view *view)
{
    char path[ZK_PATH_ROOM];
    if (view->line.tickets == NULL || view->line.whole || !zk_is_full_and_long(&view->state)) {
        return false;
    }
    zk_ticket_path(remote, &view->state.next[0], path);
    struct zk_request next = {.kind = ZK_GET, .path = path};
    bool waits = zk_client_ask(remote->client, &next, 1) == 0 && next.node_version == 0;
    zk_request_clear(&next, 1);
    return waits;
}

/* Scan for seats whose holders are gone and grant them, unless the waiters in front will do it. */
static int scan(struct remote *remote, struct zk_own *own, struct zk_view *view)
{
    enum { FRONT = 8 };
    zk_view_clear(view);
    int error = atomic_load(&remote->long_line) ? zk_read_head(remote, view) : -EAGAIN;
    if (error == 0 && waiters_ahead(view, own->number) >= FRONT && head_still_waits(remote, view)) {
        return 0;
    }
    if (error == 0 || error == -EAGAIN) {
        zk_view_clear(view);
        error = zk_advance(remote, view, ZK_NO_SEAT, own);
    }
    return error > 0 ? 0 : error;
}

/* Sleep until the listener is woken (0), until_ns has passed (-EAGAIN) or a signal arrives
   (-EINTR). */
static int sleep_until_event(struct zk_listener *listener, int64_t until_ns)
{
    struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
    if (sem_clockwait(&listener->wakeup, CLOCK_MONOTONIC, &until) == 0) {
        while (sem_trywait(&listener->wakeup) == 0) { /* several wake-ups count as one */
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
    int64_t scan_at_ns = next_scan_ns(remote, view, own->number);
    int error = read_ticket(remote, own, true);
    while (error == 0 && !own->granted) {
        int64_t now = monotonic_ns();
        int64_t until = ms > 0 && now + ms * 1000000 < scan_at_ns ? now + ms * 1000000 : scan_at_ns;
        int woken = sleep_until_event(listener, until < deadline_ns ? until : deadline_ns);
        now = monotonic_ns();
        if (woken == 0) {
            error = read_ticket(remote, own, false);
        } else if (now >= deadline_ns) {
            return give_up(remote, own, -ETIMEDOUT);
        } else if (options->waiting != NULL && (ms > 0 || woken == -EINTR) &&
                   options->waiting(remote->pool, options->context) != 0) {
            return give_up(remote, own, -ECANCELED);
        } else if (now >= scan_at_ns) {
            error = scan(remote, own, view);
            scan_at_ns = next_scan_ns(remote, view, own->number);
        }
    }
    return error;
}

/* Return true if more seats are free than tickets wait, so a new ticket would be granted at
   once. */
static bool has_unclaimed_seat(const struct zk_view *view)
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
    if (error == 0 && !head_still_waits(remote, view)) {
        error = zk_advance(remote, view, ZK_NO_SEAT, own);
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

static void add_held(struct remote *remote, struct zk_own *own, struct usher_seat *seat)
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
    if (error == 0 && deadline_ns == INT64_MIN) { /* try: create no ticket if no seat is free */
        error = zk_read_pool(remote, view);
        error = error == 0 && !has_unclaimed_seat(view) ? -EAGAIN : error;
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
        add_held(remote, own, seat);
    } else {
        free(own);
    }
    return error;
}

/* Return the link in the list of held seats that points to this seat, or the final NULL link.
   The caller holds the mutex. */
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
