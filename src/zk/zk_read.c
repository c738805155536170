/* Read a pool: its data, and the list of its tickets. protocol.h is the contract. */
#include "zk/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_READS = 1000 };

void zk_roll_path(const struct remote *remote, uint32_t roll, char *path)
{
    (void)snprintf(path, ZK_PATH_ROOM, "%s/t%u", remote->path, roll);
}

void zk_ticket_path(const struct remote *remote, const struct zk_ticket *ticket, char *path)
{
    (void)snprintf(path, ZK_PATH_ROOM, "%s/t%u/%s", remote->path, ticket->roll, ticket->name);
}

void zk_view_clear(struct zk_view *view)
{
    free(view->line.tickets);
    view->line = (struct zk_line){0};
}

void zk_prepare_lists(struct remote *remote, uint32_t first, uint32_t last,
                      struct zk_pool_read *reading, struct zk_request *requests)
{
    reading->first = first;
    reading->last = last;
    reading->lists = 0;
    for (uint32_t roll = first; roll <= last && reading->lists < ZK_MOST_ROLLS; roll++) {
        char *path = reading->paths[reading->lists];
        zk_roll_path(remote, roll, path);
        requests[reading->lists++] = (struct zk_request){.kind = ZK_LIST, .path = path};
    }
}

void zk_prepare_read(struct remote *remote, struct zk_pool_read *reading,
                     struct zk_request *requests, bool head_only)
{
    uint32_t first = atomic_load(&remote->first);
    uint32_t last = atomic_load(&remote->last);
    requests[0] = (struct zk_request){.kind = ZK_GET, .path = remote->path};
    zk_prepare_lists(remote, first, last, reading, &requests[1]);
    reading->lists = head_only ? 0 : reading->lists;
}

/* Nodes that are not tickets are ignored. */
int zk_finish_lists(const struct zk_pool_read *reading, const struct zk_request *lists,
                    struct zk_view *view)
{
    size_t most = 1;
    for (unsigned r = 0; r < reading->lists; r++) {
        if (lists[r].error != 0) { /* a roll may have been removed after the data was read */
            return lists[r].error == -ENOENT ? -EAGAIN : lists[r].error;
        }
    }
    if (reading->first != view->state.first || reading->last != view->state.last) {
        return -EAGAIN;
    }
    view->created_count = view->state.past;
    for (unsigned r = 0; r < reading->lists; r++) {
        most += lists[r].name_count;
        view->created_count += lists[r].created_count;
    }
    view->first_created = lists[0].created_count;
    view->first_empty = lists[0].name_count == 0;
    view->line = (struct zk_line){calloc(most, sizeof *view->line.tickets), 0, true};
    if (view->line.tickets == NULL) {
        return -ENOMEM;
    }
    for (unsigned r = 0; r < reading->lists; r++) {
        for (size_t n = 0; n < lists[r].name_count; n++) {
            view->line.count += zk_parse_ticket(reading->first + r, lists[r].names[n],
                                                &view->line.tickets[view->line.count]);
        }
    }
    zk_sort_line(&view->line, &view->state);
    return 0;
}

static int take_next(struct zk_view *view)
{
    size_t size = view->state.next_count * sizeof *view->line.tickets;
    if (size == 0) {
        return -EAGAIN;
    }
    view->line = (struct zk_line){malloc(size), view->state.next_count, false};
    if (view->line.tickets == NULL) {
        return -ENOMEM;
    }
    memcpy(view->line.tickets, view->state.next, size);
    return 0;
}

int zk_finish_read(struct remote *remote, const struct zk_pool_read *reading,
                   const struct zk_request *requests, struct zk_view *view)
{
    const struct zk_request *got = &requests[0];
    zk_view_clear(view);
    if (got->error == -ENOENT || (got->error == 0 && got->created_zxid != remote->created_zxid)) {
        return -EIDRM;
    }
    int error = got->error != 0     ? got->error
                : got->text == NULL ? -ENOMEM
                                    : zk_parse_state(got->text, got->text_length, &view->state);
    if (error != 0) {
        return error;
    }
    view->version = got->node_version;
    atomic_store(&remote->first, view->state.first);
    atomic_store(&remote->last, view->state.last);
    atomic_store(&remote->long_line, view->state.next_count > 0);
    return reading->lists == 0 ? take_next(view) : zk_finish_lists(reading, &requests[1], view);
}

static int look(struct remote *remote, struct zk_view *view, bool head_only)
{
    struct zk_pool_read *reading = malloc(sizeof *reading);
    struct zk_request requests[ZK_READ_REQUESTS];
    int error = reading == NULL ? -ENOMEM : -ECONNRESET;
    while (error == -ECONNRESET) {
        zk_prepare_read(remote, reading, requests, head_only);
        (void)zk_client_ask(remote->client, requests, 1 + reading->lists);
        error = zk_finish_read(remote, reading, requests, view);
        zk_request_clear(requests, 1 + reading->lists);
        if (error == -ECONNRESET) {
            error = zk_client_wait_connected(remote->client);
            error = error == 0 ? -ECONNRESET : error;
        }
    }
    free(reading);
    return error;
}

int zk_read_pool(struct remote *remote, struct zk_view *view)
{
    int error = -EAGAIN;
    for (int looks = 0; looks < MOST_READS && error == -EAGAIN; looks++) {
        error = look(remote, view, false);
    }
    return error == -EAGAIN ? -EUCLEAN : error; /* a roll is missing */
}

int zk_read_head(struct remote *remote, struct zk_view *view)
{
    return look(remote, view, true);
}

int zk_why_ticket_gone(struct remote *remote)
{
    enum { LOOKS = 8 };
    struct zk_view *view = calloc(1, sizeof *view);
    int64_t pause_ns = zk_client_timeout_ns(remote->client) / 3 / LOOKS;
    struct timespec pause = {pause_ns / 1000000000, pause_ns % 1000000000};
    int error = view == NULL ? -ENOMEM : 0;
    for (int looks = 0; looks < LOOKS && error == 0; looks++) {
        error = zk_read_head(remote, view);
        error = error == -EAGAIN ? 0 : error; /* NEXT is empty */
        if (error == 0) {
            (void)nanosleep(&pause, NULL);
        }
    }
    if (view != NULL) {
        zk_view_clear(view);
        free(view);
    }
    return error == 0 ? -EKEYREVOKED : error;
}
