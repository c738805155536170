/* Looking at a pool: see protocol.h. */
#include "zk/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_LOOKS = 1000 };

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

void zk_put_lists(struct remote *remote, uint32_t first, uint32_t last, struct zk_looking *looking,
                  struct zk_request *requests)
{
    looking->first = first;
    looking->last = last;
    looking->lists = 0;
    for (uint32_t roll = first; roll <= last && looking->lists < ZK_MOST_ROLLS; roll++) {
        char *path = looking->paths[looking->lists];
        zk_roll_path(remote, roll, path);
        requests[looking->lists++] = (struct zk_request){.kind = ZK_LIST, .path = path};
    }
}

void zk_put_look(struct remote *remote, struct zk_looking *looking, struct zk_request *requests,
                 bool glance)
{
    uint32_t first = atomic_load(&remote->first);
    uint32_t last = atomic_load(&remote->last);
    requests[0] = (struct zk_request){.kind = ZK_GET, .path = remote->path};
    zk_put_lists(remote, first, last, looking, &requests[1]);
    looking->lists = glance ? 0 : looking->lists;
}

/* Nodes that somebody else has put there are none of ours. */
int zk_take_lists(const struct zk_looking *looking, const struct zk_request *lists,
                  struct zk_view *view)
{
    size_t most = 1;
    for (unsigned r = 0; r < looking->lists; r++) {
        if (lists[r].error != 0) { /* a roll may have been removed after the data was read */
            return lists[r].error == -ENOENT ? -EAGAIN : lists[r].error;
        }
    }
    if (looking->first != view->state.first || looking->last != view->state.last) {
        return -EAGAIN;
    }
    view->births = view->state.past;
    for (unsigned r = 0; r < looking->lists; r++) {
        most += lists[r].name_count;
        view->births += lists[r].births;
    }
    view->first_births = lists[0].births;
    view->first_empty = lists[0].name_count == 0;
    view->line = (struct zk_line){calloc(most, sizeof *view->line.tickets), 0, true};
    if (view->line.tickets == NULL) {
        return -ENOMEM;
    }
    for (unsigned r = 0; r < looking->lists; r++) {
        for (size_t n = 0; n < lists[r].name_count; n++) {
            view->line.count += zk_parse_ticket(looking->first + r, lists[r].names[n],
                                                &view->line.tickets[view->line.count]);
        }
    }
    zk_settle(&view->line, &view->state);
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

int zk_take_look(struct remote *remote, const struct zk_looking *looking,
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
    return looking->lists == 0 ? take_next(view) : zk_take_lists(looking, &requests[1], view);
}

static int look(struct remote *remote, struct zk_view *view, bool glance)
{
    struct zk_looking *looking = malloc(sizeof *looking);
    struct zk_request requests[ZK_LOOK_REQUESTS];
    int error = looking == NULL ? -ENOMEM : -ECONNRESET;
    while (error == -ECONNRESET) {
        zk_put_look(remote, looking, requests, glance);
        (void)zk_client_ask(remote->client, requests, 1 + looking->lists);
        error = zk_take_look(remote, looking, requests, view);
        zk_request_clear(requests, 1 + looking->lists);
        if (error == -ECONNRESET) {
            error = zk_client_again(remote->client);
            error = error == 0 ? -ECONNRESET : error;
        }
    }
    free(looking);
    return error;
}

int zk_look(struct remote *remote, struct zk_view *view)
{
    int error = -EAGAIN;
    for (int looks = 0; looks < MOST_LOOKS && error == -EAGAIN; looks++) {
        error = look(remote, view, false);
    }
    return error == -EAGAIN ? -EUCLEAN : error; /* a roll is missing */
}

int zk_glance(struct remote *remote, struct zk_view *view)
{
    return look(remote, view, true);
}

int zk_why_gone(struct remote *remote)
{
    enum { LOOKS = 8 };
    struct zk_view *view = calloc(1, sizeof *view);
    int64_t pause_ns = zk_client_timeout_ns(remote->client) / 3 / LOOKS;
    struct timespec pause = {pause_ns / 1000000000, pause_ns % 1000000000};
    int error = view == NULL ? -ENOMEM : 0;
    for (int looks = 0; looks < LOOKS && error == 0; looks++) {
        error = zk_glance(remote, view);
        error = error == -EAGAIN ? 0 : error; /* it names nobody who is next */
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
