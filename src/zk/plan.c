/* Decide which tickets are granted which seats. state.h is the contract. */
#include "zk/state.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    uint64_t first = ((const struct zk_ticket *)a)->number;
    uint64_t second = ((const struct zk_ticket *)b)->number;
    return (first > second) - (first < second);
}

static struct zk_ticket *find(const struct zk_line *line, uint64_t number)
{
    struct zk_ticket key = {.number = number};
    return line->count == 0 || number == ZK_NO_TICKET
               ? NULL
               : bsearch(&key, line->tickets, line->count, sizeof key, by_number);
}

void zk_sort_line(struct zk_line *line, const struct zk_state *state)
{
    if (line->count > 0) {
        qsort(line->tickets, line->count, sizeof line->tickets[0], by_number);
    }
    for (uint32_t s = 0; s < state->count; s++) {
        struct zk_ticket *ticket = find(line, state->holder[s]);
        if (ticket != NULL) {
            ticket->seat = s;
        }
    }
}

uint32_t zk_holders(const struct zk_line *line)
{
    uint32_t holders = 0;
    for (size_t t = 0; t < line->count; t++) {
        holders += line->tickets[t].seat != ZK_NO_SEAT;
    }
    return holders;
}

bool zk_has_free_seat(const struct zk_state *state)
{
    uint32_t named = 0;
    for (uint32_t s = 0; s < state->count; s++) {
        named += state->holder[s] != ZK_NO_TICKET;
    }
    return named < state->seats;
}

bool zk_is_full_and_long(const struct zk_state *state)
{
    return state->next_count > 0 && !zk_has_free_seat(state);
}

/* Empty the seats of the leaving ticket and of tickets that are gone, and fit `count` to k.
   Return how many seats are still held. */
static uint32_t empty_vacated_seats(struct zk_state *state, const struct zk_line *line,
                                    uint64_t leaving)
{
    uint32_t held = 0;
    for (uint32_t s = 0; s < state->count; s++) {
        if (state->holder[s] == ZK_NO_TICKET) {
            continue;
        }
        bool gone = line->whole && find(line, state->holder[s]) == NULL;
        if (gone || state->holder[s] == leaving) {
            state->reaped += gone && state->holder[s] != leaving;
            state->holder[s] = ZK_NO_TICKET;
        } else {
            held++;
        }
    }
    while (state->count > state->seats && state->holder[state->count - 1] == ZK_NO_TICKET) {
        state->count--;
    }
    while (state->count < state->seats) {
        state->holder[state->count++] = ZK_NO_TICKET;
    }
    return held;
}

/* Fill NEXT with the first waiters from tickets[from] on. NEXT stays empty if fewer than
   ZK_LONG_LINE wait. */
static void fill_next(struct zk_plan *plan, const struct zk_line *line, size_t from,
                      uint64_t leaving)
{
    size_t waiting = 0;
    plan->state.next_count = 0;
    for (size_t t = from; t < line->count; t++) {
        const struct zk_ticket *ticket = &line->tickets[t];
        if (ticket->seat == ZK_NO_SEAT && ticket->number != leaving) {
            waiting++;
            if (plan->state.next_count < ZK_MOST_NEXT) {
                plan->state.next[plan->state.next_count++] = *ticket;
            }
        }
    }
    if (line->whole && waiting < ZK_LONG_LINE) {
        plan->state.next_count = 0;
    }
}

void zk_make_plan(struct zk_plan *plan, const struct zk_state *state, const struct zk_line *line,
                  uint64_t leaving, uint64_t base)
{
    plan->state = *state;
    plan->count = 0;
    uint32_t held = empty_vacated_seats(&plan->state, line, leaving);
    uint32_t seat = 0;
    size_t t = 0;
    for (; t < line->count && held < plan->state.seats && plan->count < ZK_MOST_GRANTS; t++) {
        const struct zk_ticket *ticket = &line->tickets[t];
        if (ticket->seat != ZK_NO_SEAT || ticket->number == leaving) {
            continue;
        }
        while (plan->state.holder[seat] != ZK_NO_TICKET) {
            seat++; /* fewer than k seats are held, so one of the first k is empty */
        }
        plan->state.holder[seat] = ticket->number;
        plan->state.granted++;
        plan->grants[plan->count++] = (struct zk_grant){ticket, seat, base + plan->state.granted};
        held++;
    }
    fill_next(plan, line, t, leaving);
}
