/*
 * usher_verify: check each invariant of state.h. The nodes are read one after the other, so a pool
 * that is in use may seem inconsistent for a moment.
 */
#include "zk/protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 128, MOST_WAITERS = 1024 };

struct report {
    void (*say)(void *context, const char *sentence);
    void *context;
    int faults;
};

static __attribute__((format(printf, 2, 3))) void fault(struct report *report, const char *format,
                                                        ...)
{
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is just above */
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    report->faults++;
    if (report->say != NULL) {
        report->say(report->context, sentence);
    }
}

static void verify_counts(const struct zk_view *view, struct report *report)
{
    const struct zk_state *state = &view->state;
    uint32_t holders = zk_holders(&view->line);
    uint32_t named = 0;
    for (uint32_t s = 0; s < state->count; s++) {
        named += state->holder[s] != ZK_NO_TICKET;
        for (uint32_t other = 0; other < s && state->holder[s] != ZK_NO_TICKET; other++) {
            if (state->holder[other] == state->holder[s]) {
                fault(report, "Ticket %" PRIu64 " has two seats, %" PRIu32 " and %" PRIu32 ".",
                      state->holder[s], other, s);
            }
        }
    }
    if (state->granted < state->reaped + named) {
        fault(report,
              "The grant count is %" PRIu64 ", less than %" PRIu64 " reaped + %" PRIu32 " held.",
              state->granted, state->reaped, named);
    }
    if (holders < state->seats && holders < view->line.count) {
        fault(report, "%zu tickets wait, but only %" PRIu32 " of %" PRIu32 " seats are held.",
              view->line.count - holders, holders, state->seats);
    }
}

/* Tickets are granted in order, and NEXT names the first waiters. */
static void verify_order(const struct zk_view *view, struct report *report)
{
    const struct zk_ticket *waits = NULL;
    for (size_t t = 0; t < view->line.count; t++) {
        const struct zk_ticket *ticket = &view->line.tickets[t];
        if (ticket->seat == ZK_NO_SEAT) {
            waits = waits == NULL ? ticket : waits;
        } else if (waits != NULL) {
            fault(report,
                  "Ticket %" PRIu64 " holds a seat, but the older ticket %" PRIu64 " waits.",
                  ticket->number, waits->number);
        }
    }
    const struct zk_state *state = &view->state;
    uint64_t last = state->next_count == 0 ? 0 : state->next[state->next_count - 1].number;
    uint32_t n = 0;
    for (size_t t = 0; t < view->line.count && view->line.tickets[t].number < last; t++) {
        const struct zk_ticket *ticket = &view->line.tickets[t];
        while (n < state->next_count && state->next[n].number < ticket->number) {
            n++; /* that ticket gave up */
        }
        if (ticket->seat == ZK_NO_SEAT && state->next[n].number != ticket->number) {
            fault(report, "Ticket %" PRIu64 " waits, but the list of next waiters leaves it out.",
                  ticket->number);
        }
    }
}

/* A ticket agrees with the pool's data. */
static void verify_ticket(const struct zk_ticket *ticket, const struct zk_request *got,
                          struct report *report)
{
    uint32_t seat = ZK_NO_SEAT;
    uint64_t fence;
    if (got->error != 0 || got->text == NULL) {
        return; /* deleted since the list was read */
    }
    if (got->node_version > 0 && !zk_parse_grant(got->text, got->text_length, &seat, &fence)) {
        fault(report, "Ticket %" PRIu64 " has unreadable data.", ticket->number);
    } else if (seat != ticket->seat && ticket->seat == ZK_NO_SEAT) {
        fault(report, "Ticket %" PRIu64 " says seat %" PRIu32 ", but the pool says it waits.",
              ticket->number, seat);
    } else if (seat != ticket->seat) {
        fault(report,
              "The pool says ticket %" PRIu64 " has seat %" PRIu32 ", but the ticket differs.",
              ticket->number, ticket->seat);
    }
}

/* Read all these tickets. A missing one is no error. */
static int get_tickets(struct remote *remote, char (*paths)[ZK_PATH_ROOM],
                       struct zk_request *requests, size_t count)
{
    int error;
    do {
        for (size_t t = 0; t < count; t++) {
            requests[t] = (struct zk_request){.kind = ZK_GET, .path = paths[t]};
        }
        (void)zk_client_ask(remote->client, requests, (unsigned)count);
        error = 0;
        for (size_t t = 0; t < count; t++) {
            bool answered = requests[t].error == 0 || requests[t].error == -ENOENT;
            error = answered ? error : requests[t].error;
        }
        if (error != 0) {
            zk_request_clear(requests, (unsigned)count);
        }
    } while (error == -ECONNRESET && (error = zk_client_wait_connected(remote->client)) == 0);
    return error;
}

static int verify_batch(struct remote *remote, const struct zk_ticket *tickets, size_t count,
                        struct report *report)
{
    struct zk_request requests[BATCH];
    char(*paths)[ZK_PATH_ROOM] = calloc(BATCH, sizeof *paths);
    if (paths == NULL) {
        return -ENOMEM;
    }
    for (size_t t = 0; t < count; t++) {
        zk_ticket_path(remote, &tickets[t], paths[t]);
    }
    int error = get_tickets(remote, paths, requests, count);
    if (error == 0) {
        for (size_t t = 0; t < count; t++) {
            verify_ticket(&tickets[t], &requests[t], report);
        }
        zk_request_clear(requests, (unsigned)count);
    }
    free(paths);
    return error;
}

int zk_verify(struct remote *remote, void (*say)(void *context, const char *sentence),
              void *context)
{
    struct report report = {say, context, 0};
    struct zk_view *view = calloc(1, sizeof *view);
    int error = view == NULL ? -ENOMEM : zk_read_pool(remote, view);
    if (error == 0) {
        verify_counts(view, &report);
        verify_order(view, &report);
        size_t most = zk_holders(&view->line) + (size_t)MOST_WAITERS;
        most = most < view->line.count ? most : view->line.count;
        for (size_t t = 0; t < most && error == 0; t += BATCH) {
            size_t count = most - t < BATCH ? most - t : BATCH;
            error = verify_batch(remote, &view->line.tickets[t], count, &report);
        }
    }
    if (view != NULL) {
        zk_view_clear(view);
        free(view);
    }
    if (error == -EUCLEAN) {
        fault(&report, "The data of node %s is damaged.", remote->path);
        error = 0;
    }
    return error != 0 ? error : report.faults;
}
