/* Two steps of the protocol: advance (grant free seats) and leave (give a seat back). See
   protocol.h. */
#include "zk/protocol.h"

#include <errno.h>
#include <stdlib.h>

/* Commit a transaction whose result is `state`. If `after` is not NULL, list the tickets in the
   same batch, behind the transaction, and store the result in `after`; it stays empty if the
   list is unknown. */
static int commit_state(struct remote *remote, const struct zk_change *changes, unsigned count,
                        const struct zk_state *state, int32_t version, struct zk_view *after)
{
    struct zk_pool_read reading = {.lists = 0};
    struct zk_request requests[ZK_READ_REQUESTS] = {
        {.kind = ZK_MULTI, .changes = changes, .count = count}};
    if (after != NULL) {
        zk_prepare_lists(remote, state->first, state->last, &reading, &requests[1]);
    }
    (void)zk_client_ask(remote->client, requests, 1 + reading.lists);
    int error = requests[0].error;
    if (error == 0) {
        atomic_store(&remote->long_line, state->next_count > 0);
    }
    if (after != NULL) {
        zk_view_clear(after);
        after->state = *state;
        after->version = version + 1;
        if (error == 0 && zk_finish_lists(&reading, &requests[1], after) != 0) {
            zk_view_clear(after);
        }
    }
    zk_request_clear(requests, 1 + reading.lists);
    return error;
}

/* Commit a plan as one transaction. If `leaving` is not NULL, the transaction also deletes that
   ticket. */
static int commit_plan(struct remote *remote, const struct zk_plan *plan, int32_t version,
                       const char *leaving, struct zk_view *after)
{
    struct zk_change changes[ZK_MOST_GRANTS + 2] = {0};
    char grants[ZK_MOST_GRANTS][48];
    char *paths = malloc((size_t)ZK_PATH_ROOM * ZK_MOST_GRANTS);
    char *state = malloc(ZK_STATE_ROOM);
    unsigned count = 0;
    int error = -ENOMEM;
    if (paths != NULL && state != NULL) {
        if (leaving != NULL) {
            changes[count++] = (struct zk_change){.what = ZK_DROP, .path = leaving, .version = -1};
        }
        for (unsigned g = 0; g < plan->count; g++) {
            char *path = paths + (size_t)ZK_PATH_ROOM * g;
            zk_ticket_path(remote, plan->grants[g].ticket, path);
            size_t length = zk_print_grant(&plan->grants[g], grants[g], sizeof grants[g]);
            changes[count++] = (struct zk_change){
                .what = ZK_SET, .path = path, .data = grants[g], .length = length};
        }
        changes[count++] = (struct zk_change){.what = ZK_SET,
                                              .path = remote->path,
                                              .data = state,
                                              .length = zk_print_state(&plan->state, state),
                                              .version = version};
        error = commit_state(remote, changes, count, &plan->state, version, after);
    }
    free(state);
    free(paths);
    return error;
}

bool zk_can_retry(struct remote *remote, int *error, unsigned *tries)
{
    if (*error == -ECONNRESET) {
        *error = zk_client_wait_connected(remote->client);
        return *error == 0;
    }
    if (*error == -ESTALE || *error == -ENOENT) {
        if (*error == -ESTALE) {
            zk_client_back_off(remote->client, (*tries)++);
        }
        *error = 0;
        return true;
    }
    return false;
}

static void copy_own_grant(const struct zk_plan *plan, struct zk_own *own)
{
    for (unsigned g = 0; g < plan->count && own != NULL; g++) {
        if (plan->grants[g].ticket->number == own->number) {
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
    unsigned tries = 0;
    bool seen = view->line.tickets != NULL && view->line.whole;
    while (error == 0) {
        error = seen ? 0 : zk_read_pool(remote, view);
        seen = false;
        if (error != 0) {
            break;
        }
        if (zk_retire(remote, view)) {
            continue;
        }
        bool resize = seats != ZK_NO_SEAT && view->state.seats != seats;
        if (resize) {
            view->state.seats = seats;
        }
        zk_make_plan(plan, &view->state, &view->line, ZK_NO_TICKET, remote->created_zxid);
        if (plan->count == 0 && !resize) {
            break;
        }
        error = commit_plan(remote, plan, view->version, NULL, NULL);
        if (error == 0) {
            copy_own_grant(plan, own);
            made += (int)plan->count;
            if (plan->count < ZK_MOST_GRANTS && !resize) {
                break; /* clients that arrived later read the pool themselves */
            }
        } else if (!zk_can_retry(remote, &error, &tries)) {
            break;
        }
    }
    free(plan);
    return error != 0 ? error : made;
}

static bool is_listed(const struct zk_line *line, uint64_t number)
{
    for (size_t t = 0; t < line->count; t++) {
        if (line->tickets[t].number == number) {
            return true;
        }
    }
    return false;
}

/* Give our seat back and grant it to the next waiter in one transaction. If the new state has a
   free seat, the view then holds a line that was listed after the transaction, or an empty line. */
static int give_back(struct remote *remote, const struct zk_own *own, struct zk_view *view,
                     struct zk_plan *plan)
{
    bool head_only = atomic_load(&remote->long_line);
    bool maybe_done = false; /* an attempt lost its answer: the transaction may be committed */
    unsigned tries = 0;
    int error;
    do {
        error = head_only ? zk_read_head(remote, view) : -EAGAIN;
        error = error == -EAGAIN ? zk_read_pool(remote, view) : error;
        if (error != 0) {
            return error;
        }
        if (view->line.whole && !is_listed(&view->line, own->number)) {
            return maybe_done ? 0 : zk_why_ticket_gone(remote);
        }
        zk_make_plan(plan, &view->state, &view->line, own->number, remote->created_zxid);
        error = commit_plan(remote, plan, view->version, own->path,
                            zk_has_free_seat(&plan->state) ? view : NULL);
        head_only = error == -ESTALE && atomic_load(&remote->long_line);
        maybe_done = maybe_done || error == -ECONNRESET;
    } while (error != 0 && zk_can_retry(remote, &error, &tries));
    view->state = plan->state;
    return error;
}

int zk_leave(struct remote *remote, const struct zk_own *own)
{
    struct zk_view *view = calloc(1, sizeof *view);
    struct zk_plan *plan = malloc(sizeof *plan);
    int error = plan == NULL || view == NULL ? -ENOMEM : give_back(remote, own, view, plan);
    if (error == 0 && zk_has_free_seat(&view->state)) {
        (void)zk_advance(remote, view, ZK_NO_SEAT, NULL); /* grants nothing if no ticket was
                                                             created in the meantime */
    }
    if (view != NULL) {
        zk_view_clear(view);
        free(view);
    }
    free(plan);
    return error == -EIDRM ? 0 : error; /* the pool was removed, and the seat with it */
}
