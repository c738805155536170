/* usher_inspect: list holders and waiters, with times and descriptions. */
#include "zk/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_DETAILED = 1024, /* guests with time and description; the others have only a ticket */
    BATCH = 64
};

/* One guest of the result. Holders come first, by seat; then waiters, in order. */
struct entry {
    const struct zk_ticket *ticket;
};

/* Convert a time of the servers' clocks to CLOCK_MONOTONIC. A server's clock may be a little
   ahead of ours; the result is never in the future. */
static int64_t since(int64_t ms)
{
    struct timespec wall;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    int64_t ago_ns = (wall.tv_sec * INT64_C(1000) + wall.tv_nsec / 1000000 - ms) * 1000000;
    return ago_ns <= 0 ? now_ns : ago_ns >= now_ns ? 1 : now_ns - ago_ns;
}

static void fill_identity(const struct remote *remote, char *text, struct usher_guest *guest)
{
    struct zk_who who;
    if (!zk_parse_who(text, &who)) {
        return;
    }
    bool here =
        who.pid_namespace == remote->who.pid_namespace && strcmp(who.host, remote->who.host) == 0;
    guest->pid = here ? who.pid : 0;
    (void)snprintf(guest->where, sizeof guest->where, "%d@%s", (int)who.pid, who.host);
    (void)snprintf(guest->note, sizeof guest->note, "%s", who.note);
    if (guest->position == 0) {
        zk_label(who.labels, guest->seat, guest->label, sizeof guest->label);
    }
}

/* Read the nodes of these guests and fill in time, fence and description. */
static int fill_details(struct remote *remote, const struct entry *entries,
                        struct usher_guest *guests, size_t count)
{
    struct zk_request requests[2 * BATCH] = {0};
    char(*paths)[ZK_PATH_ROOM] = calloc(2 * BATCH, sizeof *paths);
    if (paths == NULL) {
        return -ENOMEM;
    }
    for (size_t g = 0; g < count; g++) {
        char name[ZK_NAME_ROOM];
        zk_print_session(name, entries[g].ticket->session);
        zk_ticket_path(remote, entries[g].ticket, paths[2 * g]);
        (void)snprintf(paths[2 * g + 1], sizeof paths[0], "%s/w/%s", remote->path, name);
        requests[2 * g] = (struct zk_request){.kind = ZK_GET, .path = paths[2 * g]};
        requests[2 * g + 1] = (struct zk_request){.kind = ZK_GET, .path = paths[2 * g + 1]};
    }
    (void)zk_client_ask(remote->client, requests, (unsigned)(2 * count));
    int error = 0;
    for (size_t g = 0; g < count; g++) {
        const struct zk_request *ticket = &requests[2 * g];
        if (ticket->error == 0) {
            guests[g].since_ns =
                since(guests[g].position == 0 ? ticket->changed_ms : ticket->created_ms);
        }
        uint32_t seat;
        if (ticket->error == 0 && ticket->text != NULL && guests[g].position == 0) {
            (void)zk_parse_grant(ticket->text, ticket->text_length, &seat, &guests[g].fence);
        }
        if (ticket[1].error == 0 && ticket[1].text != NULL) {
            fill_identity(remote, ticket[1].text, &guests[g]);
        }
        bool lost = ticket->error == -ECONNRESET || ticket[1].error == -ECONNRESET;
        error = lost ? -ECONNRESET : error;
    }
    zk_request_clear(requests, (unsigned)(2 * count));
    free(paths);
    return error;
}

static int by_seat_then_number(const void *a, const void *b)
{
    const struct zk_ticket *first = ((const struct entry *)a)->ticket;
    const struct zk_ticket *second = ((const struct entry *)b)->ticket;
    return first->seat != second->seat
               ? (first->seat > second->seat) - (first->seat < second->seat)
               : (first->number > second->number) - (first->number < second->number);
}

static int fill_guests(struct remote *remote, const struct zk_line *line, uint32_t holders,
                       struct usher_guest *guests, size_t capacity)
{
    struct entry *entries = calloc(line->count + 1, sizeof *entries);
    size_t count = capacity < line->count ? capacity : line->count;
    size_t detailed = count < MOST_DETAILED ? count : MOST_DETAILED;
    if (entries == NULL) {
        return -ENOMEM;
    }
    for (size_t t = 0; t < line->count; t++) {
        entries[t].ticket = &line->tickets[t];
    }
    qsort(entries, line->count, sizeof *entries, by_seat_then_number);
    for (size_t g = 0; g < count; g++) {
        guests[g] = (struct usher_guest){.seat = entries[g].ticket->seat,
                                         .position = g < holders ? 0 : (uint32_t)(g - holders + 1),
                                         .alive = 1,
                                         .ticket = entries[g].ticket->number};
    }
    int error = 0;
    for (size_t g = 0; g < detailed && error == 0; g += BATCH) {
        error = fill_details(remote, &entries[g], &guests[g],
                             detailed - g < BATCH ? detailed - g : BATCH);
    }
    free(entries);
    return error;
}

static void fill_info(const struct zk_view *view, uint32_t holders, struct usher_info *info)
{
    uint32_t waiters = (uint32_t)view->line.count - holders;
    uint32_t seats = view->state.seats;
    uint64_t known = view->state.granted + waiters;
    *info = (struct usher_info){.seats = seats,
                                .free = holders < seats ? seats - holders : 0,
                                .owed = holders > seats ? holders - seats : 0,
                                .holders = holders,
                                .waiters = waiters,
                                .most_seats = ZK_MOST_SEATS,
                                .served = view->state.granted - holders - view->state.reaped,
                                .gave_up =
                                    view->created_count > known ? view->created_count - known : 0,
                                .reaped = view->state.reaped};
}

int zk_inspect(struct remote *remote, struct usher_info *info, struct usher_guest *guests,
               size_t capacity)
{
    struct zk_view *view = calloc(1, sizeof *view);
    int found = view == NULL ? -ENOMEM : 0;
    bool again = view != NULL;
    while (again) {
        found = zk_read_pool(remote, view);
        uint32_t holders = zk_holders(&view->line);
        if (found == 0 && info != NULL) {
            fill_info(view, holders, info);
        }
        if (found == 0 && guests != NULL) {
            found = fill_guests(remote, &view->line, holders, guests, capacity);
        }
        found = found == 0 ? (int)view->line.count : found;
        again = found == -ECONNRESET && (found = zk_client_wait_connected(remote->client)) == 0;
    }
    if (view != NULL) {
        zk_view_clear(view);
        free(view);
    }
    return found;
}
