/*
 * Rolls of tickets. ZooKeeper counts sequence numbers for each parent node, in 31 bits. So before
 * they run out, new tickets are created below another parent node, the next roll. See protocol.h.
 *
 * Renew and retire are one transaction each. Renew changes the version of the old roll, and each
 * creation of a ticket checks that its roll still has version 0. So no ticket is created in a
 * closed roll, and ticket numbers stay in order of creation.
 */
#include "zk/protocol.h"

#include <errno.h>
#include <stdlib.h>

/* Commit these changes together with the new state. */
static int change_rolls(struct remote *remote, struct zk_change *changes, unsigned count,
                        const struct zk_state *state, int32_t version)
{
    char *text = malloc(ZK_STATE_ROOM);
    if (text == NULL) {
        return -ENOMEM;
    }
    changes[count++] = (struct zk_change){.what = ZK_SET,
                                          .path = remote->path,
                                          .data = text,
                                          .length = zk_print_state(state, text),
                                          .version = version};
    struct zk_request request = {.kind = ZK_MULTI, .changes = changes, .count = count};
    int error = zk_client_ask(remote->client, &request, 1);
    free(text);
    return error;
}

static int begin_roll(struct remote *remote, struct zk_view *view)
{
    char closed[ZK_PATH_ROOM];
    char begun[ZK_PATH_ROOM];
    zk_roll_path(remote, view->state.last, closed);
    zk_roll_path(remote, ++view->state.last, begun);
    struct zk_change changes[] = {{.what = ZK_SET, .path = closed, .data = "", .version = 0},
                                  {.what = ZK_MAKE, .path = begun, .data = ""},
                                  {.what = ZK_SET}};
    return change_rolls(remote, changes, 2, &view->state, view->version);
}

int zk_renew(struct remote *remote, uint32_t roll)
{
    struct zk_view *view = calloc(1, sizeof *view);
    int error = view == NULL ? -ENOMEM : 0;
    bool again = error == 0;
    unsigned tries = 0;
    while (again) {
        error = zk_read_pool(remote, view);
        again = error == 0 && view->state.last == roll &&
                view->state.last - view->state.first + 1 < ZK_MOST_ROLLS;
        if (again) {
            error = begin_roll(remote, view);
            again = error != 0 && zk_can_retry(remote, &error, &tries);
        }
    }
    if (view != NULL) {
        zk_view_clear(view);
        free(view);
    }
    return error;
}

bool zk_retire(struct remote *remote, const struct zk_view *view)
{
    char path[ZK_PATH_ROOM];
    if (view->state.first == view->state.last || !view->first_empty) {
        return false;
    }
    struct zk_state *state = malloc(sizeof *state);
    if (state == NULL) {
        return false;
    }
    *state = view->state;
    state->past += view->first_created; /* complete: the roll was closed before it was listed */
    zk_roll_path(remote, state->first++, path);
    struct zk_change changes[] = {{.what = ZK_DROP, .path = path, .version = -1}, {.what = ZK_SET}};
    int error = change_rolls(remote, changes, 1, state, view->version);
    free(state);
    return error == 0 || error == -ESTALE || error == -ENOENT;
}
