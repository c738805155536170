/* Look, advance, leave: see protocol.h. */
#include "zk/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void zk_view_clear(struct zk_view *view)
{
    free(view->line.tickets);
    view->line = (struct zk_line){0};
}

void zk_ticket_path(const struct remote *remote, const struct zk_ticket *ticket, char *path)
{
    (void)snprintf(path, ZK_PATH_ROOM, "%s/%s", remote->path, ticket->name);
}

/* The tickets among what is there; nodes that somebody else has put there are none of ours. */
static int take_line(const struct zk_request *list, struct zk_line *line)
{
    line->tickets = calloc(list->name_count + 1, sizeof *line->tickets);
    if (line->tickets == NULL) {
        return -ENOMEM;
    }
    for (size_t n = 0; n < list->name_count; n++) {
        line->count += zk_parse_ticket(list->names[n], &line->tickets[line->count]);
    }
    return 0;
}

int zk_view_take(struct remote *remote, const struct zk_request *requests, struct zk_view *view)
{
    int error = requests[0].error != 0 ? requests[0].error : requests[1].error;
    if (error == -ENOENT || (error == 0 && requests[0].created_zxid != remote->created_zxid)) {
        return -EIDRM;
    }
    if (error != 0 || requests[0].text == NULL) {
        return error != 0 ? error : -ENOMEM;
    }
    error = zk_parse_state(requests[0].text, requests[0].text_length, &view->state);
    if (error == 0) {
        view->version = requests[0].node_version;
        view->births = requests[1].births;
        error = take_line(&requests[1], &view->line);
    }
    if (error == 0) {
        zk_settle(&view->line, &view->state);
    }
    return error;
}

int zk_look(struct remote *remote, struct zk_view *view)
{
    int error;
    do {
        struct zk_request requests[] = {{.kind = ZK_GET, .path = remote->path},
                                        {.kind = ZK_LIST, .path = remote->path}};
        zk_view_clear(view);
        (void)zk_client_ask(remote->client, requests, 2);
        error = zk_view_take(remote, requests, view);
        zk_request_clear(requests, 2);
    } while (error == -ECONNRESET && (error = zk_client_again(remote->client)) == 0);
    return error;
}

/* The transaction of a plan, with a ticket that is deleted in it if `leaving` is not NULL. */
static int carry_out(struct remote *remote, const struct zk_plan *plan, int32_t version,
                     const char *leaving)
{
    struct zk_change changes[ZK_MOST_GRANTS + 2];
    char grants[ZK_MOST_GRANTS][48];
    char *paths = malloc((size_t)ZK_PATH_ROOM * ZK_MOST_GRANTS);
    char *state = malloc(ZK_STATE_ROOM);
    unsigned count = 0;
    int error = -ENOMEM;
    if (paths != NULL && state != NULL) {
        if (leaving != NULL) {
            changes[count++] = (struct zk_change){.path = leaving, .version = -1};
        }
        for (unsigned g = 0; g < plan->count; g++) {
            char *path = paths + (size_t)ZK_PATH_ROOM * g;
            zk_ticket_path(remote, plan->grants[g].ticket, path);
            size_t length = zk_print_grant(&plan->grants[g], grants[g], sizeof grants[g]);
            changes[count++] = (struct zk_change){path, grants[g], length, 0};
        }
        size_t length = zk_print_state(&plan->state, state);
        changes[count++] = (struct zk_change){remote->path, state, length, version};
        struct zk_request request = {.kind = ZK_MULTI, .changes = changes, .count = count};
        error = zk_client_ask(remote->client, &request, 1);
    }
    free(state);
    free(paths);
    return error;
}

/* Somebody was faster, a ticket is gone, or it is not known whether it was done: look again. */
static bool is_to_be_tried_again(struct remote *remote, int *error)
{
    if (*error == -ECONNRESET) {
        *error = zk_client_again(remote->client);
        return *error == 0;
    }
    if (*error == -ESTALE || *error == -ENOENT) {
        *error = 0;
        return true;
    }
    return false;
}

static void note_own(const struct zk_plan *plan, struct zk_own *own)
{
    for (unsigned g = 0; g < plan->count && own != NULL; g++) {
        if (plan->grants[g].ticket->sequence == own->sequence) {
            own->granted = true;
            own->seat = plan->grants[g].seat;
            own->fence = plan->grants[g].fence;
        }
    }
}

int zk_advance(struct remote *remote, struct zk_view *view, uint32_t seats, struct zk_own *own)
{
    struct zk_plan *plan = malloc(sizeof *plan);
    int error = plan == NULL ? -ENOMEM : 0;
    int made = 0;
    bool seen = view->line.tickets != NULL;
    while (error == 0) {
        error = seen ? 0 : zk_look(remote, view);
        seen = false;
        if (error != 0) {
            break;
        }
        bool resize = seats != ZK_NOBODY && view->state.seats != seats;
        if (resize) {
            view->state.seats = seats;
        }
        zk_make_plan(plan, &view->state, &view->line, ZK_NOBODY, remote->created_zxid);
        if (plan->count == 0 && !resize) {
            break;
        }
        error = carry_out(remote, plan, view->version, NULL);
        if (error == 0) {
            note_own(plan, own);
            made += (int)plan->count;
            if (plan->count < ZK_MOST_GRANTS) {
                break; /* whoever has come since looks for himself */
            }
        } else if (!is_to_be_tried_again(remote, &error)) {
            break;
        }
    }
    free(plan);
    return error != 0 ? error : made;
}

static bool is_listed(const struct zk_line *line, uint32_t sequence)
{
    for (size_t t = 0; t < line->count; t++) {
        if (line->tickets[t].sequence == sequence) {
            return true;
        }
    }
    return false;
}

int zk_leave(struct remote *remote, const struct zk_own *own)
{
    struct zk_view view = {.version = 0};
    struct zk_plan *plan = malloc(sizeof *plan);
    int error = plan == NULL ? -ENOMEM : 0;
    while (error == 0) {
        error = zk_look(remote, &view);
        if (error != 0 || !is_listed(&view.line, own->sequence)) {
            break; /* it is done: the answer to it was lost */
        }
        zk_make_plan(plan, &view.state, &view.line, own->sequence, remote->created_zxid);
        error = carry_out(remote, plan, view.version, own->path);
        if (error == 0 || !is_to_be_tried_again(remote, &error)) {
            break;
        }
    }
    zk_view_clear(&view);
    free(plan);
    return error == -EIDRM ? 0 : error; /* a pool that is gone has it back, too */
}
