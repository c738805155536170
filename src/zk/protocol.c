/* Advance and leave: see protocol.h. */
#include "zk/protocol.h"

#include <errno.h>
#include <stdlib.h>

/* Ask for a transaction that makes it this state; and list the line behind it, in one go, if
   `after` is not NULL: that is filled in then, with nothing if it is not known. */
static int ask_for(struct remote *remote, const struct zk_change *changes, unsigned count,
                   const struct zk_state *state, int32_t version, struct zk_view *after)
{
    struct zk_looking looking = {.lists = 0};
    struct zk_request requests[ZK_LOOK_REQUESTS] = {
        {.kind = ZK_MULTI, .changes = changes, .count = count}};
    if (after != NULL) {
        zk_put_lists(remote, state->first, state->last, &looking, &requests[1]);
    }
    (void)zk_client_ask(remote->client, requests, 1 + looking.lists);
    int error = requests[0].error;
    if (error == 0) {
        atomic_store(&remote->long_line, state->next_count > 0);
    }
    if (after != NULL) {
        zk_view_clear(after);
        after->state = *state;
        after->version = version + 1;
        if (error == 0 && zk_take_lists(&looking, &requests[1], after) != 0) {
            zk_view_clear(after);
        }
    }
    zk_request_clear(requests, 1 + looking.lists);
    return error;
}

/* The transaction of a plan, with a ticket that is deleted in it if `leaving` is not NULL. */
static int carry_out(struct remote *remote, const struct zk_plan *plan, int32_t version,
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
        error = ask_for(remote, changes, count, &plan->state, version, after);
    }
    free(state);
    free(paths);
    return error;
}

bool zk_try_again(struct remote *remote, int *error, unsigned *tries)
{
    if (*error == -ECONNRESET) {
        *error = zk_client_again(remote->client);
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

static void note_own(const struct zk_plan *plan, struct zk_own *own)
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
        error = seen ? 0 : zk_look(remote, view);
        seen = false;
        if (error != 0) {
            break;
        }
        if (zk_retire(remote, view)) {
            continue;
        }
        bool resize = seats != ZK_NOBODY && view->state.seats != seats;
        if (resize) {
            view->state.seats = seats;
        }
        zk_make_plan(plan, &view->state, &view->line, ZK_NO_TICKET, remote->created_zxid);
        if (plan->count == 0 && !resize) {
            break;
        }
        error = carry_out(remote, plan, view->version, NULL, NULL);
        if (error == 0) {
            note_own(plan, own);
            made += (int)plan->count;
            if (plan->count < ZK_MOST_GRANTS && !resize) {
                break; /* whoever has come since looks for himself */
            }
        } else if (!zk_try_again(remote, &error, &tries)) {
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

/* Give a seat back, and on. If there is room then, as the view's state says, its line was listed
   after that, or there is none. */
static int give_back(struct remote *remote, const struct zk_own *own, struct zk_view *view,
                     struct zk_plan *plan)
{
    bool glance = atomic_load(&remote->long_line);
    bool unsure = false; /* whether it is done */
    unsigned tries = 0;
    int error;
    do {
        error = glance ? zk_glance(remote, view) : -EAGAIN;
        error = error == -EAGAIN ? zk_look(remote, view) : error;
        if (error != 0) {
            return error;
        }
        if (view->line.whole && !is_listed(&view->line, own->number)) {
            return unsure ? 0 : zk_why_gone(remote);
        }
        zk_make_plan(plan, &view->state, &view->line, own->number, remote->created_zxid);
        error = carry_out(remote, plan, view->version, own->path,
                          zk_has_room(&plan->state) ? view : NULL);
        glance = error == -ESTALE && atomic_load(&remote->long_line);
        unsure = unsure || error == -ECONNRESET;
    } while (error != 0 && zk_try_again(remote, &error, &tries));
    view->state = plan->state;
    return error;
}

int zk_leave(struct remote *remote, const struct zk_own *own)
{
    struct zk_view *view = calloc(1, sizeof *view);
    struct zk_plan *plan = malloc(sizeof *plan);
    int error = plan == NULL || view == NULL ? -ENOMEM : give_back(remote, own, view, plan);
    if (error == 0 && zk_has_room(&view->state)) {
        (void)zk_advance(remote, view, ZK_NOBODY, NULL); /* nothing, if nobody has come since */
    }
    if (view != NULL) {
        zk_view_clear(view);
        free(view);
    }
    free(plan);
    return error == -EIDRM ? 0 : error; /* a pool that is gone has it back, too */
}
