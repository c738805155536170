/* Parse and print the data of a pool's node. state.h is the contract. */
#include "zk/state.h"

#include "zk/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool take_holders(const char **at, struct zk_state *state)
{
    state->count = 0;
    while ((*at)[0] == ' ' && (*at)[1] != '/') {
        uint64_t number = ZK_NO_TICKET;
        (*at)++;
        if (state->count == ZK_MOST_SEATS ||
            (!take_character(at, '-') && !take_number(at, INT64_MAX, &number))) {
            return false;
        }
        state->holder[state->count++] = number;
    }
    return state->count >= state->seats;
}

/* Parse "R.NAME". */
static bool take_ticket(const char **at, struct zk_ticket *ticket)
{
    char name[ZK_NAME_ROOM];
    uint64_t roll;
    if (!take_number(at, UINT32_MAX, &roll) || !take_character(at, '.')) {
        return false;
    }
    size_t length = strcspn(*at, " ");
    if (length >= sizeof name) {
        return false;
    }
    memcpy(name, *at, length);
    name[length] = '\0';
    *at += length;
    return zk_parse_ticket((uint32_t)roll, name, ticket);
}

static bool take_next(const char **at, struct zk_state *state)
{
    state->next_count = 0;
    if (**at == '\0') {
        return true;
    }
    *at += 2; /* skip " /" */
    while (take_character(at, ' ')) {
        if (state->next_count == ZK_MOST_NEXT ||
            !take_ticket(at, &state->next[state->next_count])) {
            return false;
        }
        state->next_count++;
    }
    return state->next_count > 0;
}

static bool take_field(const char **at, uint64_t most, uint64_t *number)
{
    return take_character(at, ' ') && take_number(at, most, number);
}

int zk_parse_state(const char *text, size_t length, struct zk_state *state)
{
    char copy[ZK_STATE_ROOM];
    const char *at = copy;
    uint64_t version;
    uint64_t seats;
    uint64_t first;
    uint64_t last;
    if (length >= sizeof copy || length < 6 || memcmp(text, "usher ", 6) != 0) {
        return -EBADMSG;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    at += 6;
    if (!take_number(&at, UINT32_MAX, &version)) {
        return -EBADMSG;
    }
    if (version != 1) {
        return -EPROTONOSUPPORT;
    }
    if (!take_field(&at, ZK_MOST_SEATS, &seats) || !take_field(&at, INT64_MAX, &state->granted) ||
        !take_field(&at, INT64_MAX, &state->reaped) || !take_field(&at, UINT32_MAX - 1, &first) ||
        !take_field(&at, UINT32_MAX - 1, &last) || !take_field(&at, INT64_MAX, &state->past) ||
        first > last || last - first >= ZK_MOST_ROLLS) {
        return -EUCLEAN;
    }
    state->seats = (uint32_t)seats;
    state->first = (uint32_t)first;
    state->last = (uint32_t)last;
    return take_holders(&at, state) && take_next(&at, state) && *at == '\0' ? 0 : -EUCLEAN;
}

size_t zk_print_state(const struct zk_state *state, char *text)
{
    size_t length = (size_t)snprintf(
        text, ZK_STATE_ROOM,
        "usher 1 %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu64,
        state->seats, state->granted, state->reaped, state->first, state->last, state->past);
    for (uint32_t s = 0; s < state->count; s++) {
        length += (size_t)(state->holder[s] == ZK_NO_TICKET
                               ? snprintf(text + length, ZK_STATE_ROOM - length, " -")
                               : snprintf(text + length, ZK_STATE_ROOM - length, " %" PRIu64,
                                          state->holder[s]));
    }
    for (uint32_t n = 0; n < state->next_count; n++) {
        length += (size_t)snprintf(text + length, ZK_STATE_ROOM - length, "%s %" PRIu32 ".%s",
                                   n == 0 ? " /" : "", state->next[n].roll, state->next[n].name);
    }
    return length;
}
