/* Remove a pool and all nodes below it. protocol.h is the contract. */
#include "zk/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 500, MOST_TRIES = 1000, MOST_CHANGES = BATCH + ZK_MOST_ROLLS + 2 };

/* The deletions of one transaction. changes[i].path == paths[i] for i < count <= MOST_CHANGES. */
struct removal {
    struct zk_change changes[MOST_CHANGES];
    char paths[MOST_CHANGES][ZK_PATH_ROOM];
    unsigned count;
};

static char *add_delete(struct removal *removal, int32_t version)
{
    char *path = removal->paths[removal->count];
    removal->changes[removal->count++] =
        (struct zk_change){.what = ZK_DROP, .path = path, .version = version};
    return path;
}

/* Delete up to BATCH tickets and session nodes. If these are all, also delete the rolls and the
   pool itself. */
static int remove_batch(struct remote *remote, const struct zk_view *view,
                        const struct zk_request *who, struct removal *removal)
{
    removal->count = 0;
    size_t t = 0;
    size_t w = 0;
    for (; t < view->line.count && removal->count < BATCH; t++) {
        zk_ticket_path(remote, &view->line.tickets[t], add_delete(removal, -1));
    }
    for (; w < who->name_count && removal->count < BATCH; w++) {
        (void)snprintf(add_delete(removal, -1), ZK_PATH_ROOM, "%s/w/%s", remote->path,
                       who->names[w]);
    }
    if (t == view->line.count && w == who->name_count) {
        (void)snprintf(add_delete(removal, -1), ZK_PATH_ROOM, "%s/w", remote->path);
        for (uint32_t roll = view->state.first; roll <= view->state.last; roll++) {
            zk_roll_path(remote, roll, add_delete(removal, -1));
        }
        (void)snprintf(add_delete(removal, view->version), ZK_PATH_ROOM, "%s", remote->path);
    }
    struct zk_request request = {
        .kind = ZK_MULTI, .changes = removal->changes, .count = removal->count};
    return zk_client_ask(remote->client, &request, 1);
}

int zk_remove(struct remote *remote, bool force)
{
    char path[ZK_PATH_ROOM];
    struct zk_view *view = calloc(1, sizeof *view);
    struct removal *removal = malloc(sizeof *removal);
    int error = view == NULL || removal == NULL ? -ENOMEM : 0;
    (void)snprintf(path, sizeof path, "%s/w", remote->path);
    /* An arrival or a release makes the transaction fail; then read again. */
    for (unsigned tries = 0; error == 0 || error == -ESTALE || error == -ENOENT ||
                             error == -ENOTEMPTY || error == -ECONNRESET;
         tries++) {
        struct zk_request who = {.kind = ZK_LIST, .path = path};
        error = error == -ECONNRESET ? zk_client_wait_connected(remote->client) : 0;
        error = error != 0 ? error : zk_read_pool(remote, view);
        if (error == 0 && (tries == MOST_TRIES || (view->line.count > 0 && !force))) {
            error = -EBUSY; /* in use, or foreign nodes below it */
        }
        error = error != 0 ? error : zk_client_ask(remote->client, &who, 1);
        error = error != 0 ? error : remove_batch(remote, view, &who, removal);
        zk_request_clear(&who, 1);
    }
    if (view != NULL) {
        zk_view_clear(view);
        free(view);
    }
    free(removal);
    return error == -EIDRM ? 0 : error;
}

/* Delete a node and all nodes below it. */
static int remove_below(struct zk_client *client, const char *path)
{
    struct zk_request list = {.kind = ZK_LIST, .path = path};
    struct zk_request delete_node = {.kind = ZK_DELETE, .path = path, .version = -1};
    int error = zk_client_ask(client, &list, 1);
    for (size_t n = 0; n < list.name_count && error == 0; n++) {
        char below[ZK_PATH_ROOM];
        int length = snprintf(below, sizeof below, "%s/%s", path, list.names[n]);
        error = (size_t)length >= sizeof below ? -ENAMETOOLONG : remove_below(client, below);
    }
    zk_request_clear(&list, 1);
    error = error != 0 ? error : zk_client_ask(client, &delete_node, 1);
    return error == -ENOENT ? 0 : error;
}

int zk_remove_damaged(struct zk_client *client, const char *path)
{
    int error = -ENOTEMPTY;
    for (unsigned tries = 0; tries < MOST_TRIES && error == -ENOTEMPTY; tries++) {
        do {
            error = remove_below(client, path);
        } while (error == -ECONNRESET && (error = zk_client_wait_connected(client)) == 0);
    }
    return error == -ENOTEMPTY ? -EBUSY : error;
}
