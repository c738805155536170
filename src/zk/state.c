/* What a pool on ZooKeeper is made of: see state.h. */
#include "zk/state.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCE_DIGITS = 10 };

/* A number of at most `most`, at *at, which is moved behind it. */
static bool take_number(const char **at, unsigned base, uint64_t most, uint64_t *number)
{
    char *end;
    if (!isxdigit((unsigned char)**at)) { /* no sign, no space */
        return false;
    }
    errno = 0;
    *number = strtoull(*at, &end, (int)base);
    bool fits = errno == 0 && end != *at && *number <= most;
    *at = end;
    return fits;
}

static bool take_character(const char **at, char expected)
{
    bool found = **at == expected;
    *at += found;
    return found;
}

static bool take_holders(const char *at, struct zk_state *state)
{
    uint64_t number;
    state->count = 0;
    while (take_character(&at, ' ')) {
        number = ZK_NOBODY;
        if (state->count == ZK_MOST_SEATS ||
            (!take_character(&at, '-') && !take_number(&at, 10, INT32_MAX, &number))) {
            return false;
        }
        state->holder[state->count++] = (uint32_t)number;
    }
    return *at == '\0' && state->count >= state->seats;
}

int zk_parse_state(const char *text, size_t length, struct zk_state *state)
{
    char copy[ZK_STATE_ROOM];
    const char *at = copy;
    uint64_t version;
    uint64_t seats;
    if (length >= sizeof copy || length < 6 || memcmp(text, "usher ", 6) != 0) {
        return -EBADMSG;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    at += 6;
    if (!take_number(&at, 10, UINT32_MAX, &version)) {
        return -EBADMSG;
    }
    if (version != 1) {
        return -EPROTONOSUPPORT;
    }
    bool whole = take_character(&at, ' ') && take_number(&at, 10, ZK_MOST_SEATS, &seats) &&
                 take_character(&at, ' ') && take_number(&at, 10, INT64_MAX, &state->granted) &&
                 take_character(&at, ' ') && take_number(&at, 10, INT64_MAX, &state->reaped);
    state->seats = whole ? (uint32_t)seats : 0;
    return whole && take_holders(at, state) ? 0 : -EUCLEAN;
}

size_t zk_print_state(const struct zk_state *state, char *text)
{
    int used = snprintf(text, ZK_STATE_ROOM, "usher 1 %" PRIu32 " %" PRIu64 " %" PRIu64,
                        state->seats, state->granted, state->reaped);
    size_t length = (size_t)used;
    for (uint32_t s = 0; s < state->count; s++) {
        used = state->holder[s] == ZK_NOBODY
                   ? snprintf(text + length, ZK_STATE_ROOM - length, " -")
                   : snprintf(text + length, ZK_STATE_ROOM - length, " %" PRIu32, state->holder[s]);
        length += (size_t)used;
    }
    return length;
}

bool zk_parse_ticket(const char *name, struct zk_ticket *ticket)
{
    size_t length = strlen(name);
    uint64_t n;
    uint64_t pid;
    uint64_t sequence = 0;
    if (length >= sizeof ticket->name || length < SEQUENCE_DIGITS + 1) {
        return false;
    }
    memcpy(ticket->name, name, length + 1);
    const char *at = ticket->name;
    const char *last = ticket->name + length - SEQUENCE_DIGITS;
    if (!take_number(&at, 16, UINT64_MAX, &ticket->session) || !take_character(&at, '-') ||
        !take_number(&at, 10, UINT32_MAX - 1, &n) || !take_character(&at, '-') ||
        !take_number(&at, 10, INT32_MAX, &pid) || !take_character(&at, '.') ||
        !take_number(&at, 10, UINT64_MAX, &ticket->pid_namespace) || !take_character(&at, '@') ||
        at + 1 >= last || last[-1] != '-') {
        return false;
    }
    ticket->n = (uint32_t)n;
    ticket->pid = (int32_t)pid;
    ticket->host = at;
    ticket->host_length = (size_t)(last - 1 - at);
    ticket->seat = ZK_NOBODY;
    at = last;
    bool whole = take_number(&at, 10, INT32_MAX, &sequence) && *at == '\0';
    ticket->sequence = (uint32_t)sequence;
    return whole;
}

void zk_print_ticket(char *name, uint64_t session, uint32_t n, int32_t pid, uint64_t pid_namespace,
                     const char *host)
{
    int used = snprintf(name, ZK_NAME_ROOM, "%016" PRIx64 "-%" PRIu32 "-%" PRIi32 ".%" PRIu64 "@",
                        session, n, pid, pid_namespace);
    char *at = name + used;
    for (const char *from = host; *from != '\0' && from < host + 64; from++) {
        *at++ = (char)(isalnum((unsigned char)*from) || *from == '.' || *from == '-' ? *from : '_');
    }
    (void)snprintf(at, 2, "-");
}

bool zk_parse_grant(const char *text, size_t length, uint32_t *seat, uint64_t *fence)
{
    char copy[64];
    const char *at = copy;
    uint64_t number = 0;
    if (length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    bool whole = take_number(&at, 10, ZK_MOST_SEATS - 1, &number) && take_character(&at, ' ') &&
                 take_number(&at, 10, UINT64_MAX, fence) && *at == '\0';
    *seat = (uint32_t)number;
    return whole;
}

size_t zk_print_grant(const struct zk_grant *grant, char *text, size_t room)
{
    return (size_t)snprintf(text, room, "%" PRIu32 " %" PRIu64, grant->seat, grant->fence);
}

/* A path of a node: no component is empty or made of dots, nothing would garble what prints it. */
static bool is_path(const char *path)
{
    if (path[0] != '/' || path[1] == '\0' || strlen(path) > 512 ||
        strncmp(path, "/zookeeper", 10) == 0) {
        return false;
    }
    for (const char *at = path; *at != '\0'; at++) {
        size_t length = strcspn(at + 1, "/");
        if (*at == '/' && (length == 0 || (length <= 2 && strspn(at + 1, ".") >= length))) {
            return false;
        }
        if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 127) {
            return false;
        }
    }
    return true;
}

int zk_parse_name(const char *name, char **hosts, char **path)
{
    const char *from = name + strlen("zk://");
    const char *slash = strchr(from, '/');
    size_t used = 0;
    *hosts = NULL;
    *path = NULL;
    if (slash == NULL || slash == from || !is_path(slash)) {
        return -EINVAL;
    }
    *hosts = calloc((size_t)(slash - from) * 6 + 8, 1); /* ",h" becomes ",h:2181" */
    *path = strdup(slash);
    if (*hosts == NULL || *path == NULL) {
        return -ENOMEM;
    }
    while (from < slash) {
        size_t length = strcspn(from, ",/");
        if (length == 0) {
            return -EINVAL;
        }
        bool has_port = memrchr(from, ':', length) != NULL && from[length - 1] != ']';
        used += (size_t)sprintf(*hosts + used, "%s%.*s%s", used == 0 ? "" : ",", (int)length, from,
                                has_port ? "" : ":2181");
        from += length;
        from += *from == ',' && from + 1 < slash;
        if (*from == ',') {
            return -EINVAL;
        }
    }
    return 0;
}

static int by_sequence(const void *a, const void *b)
{
    uint32_t first = ((const struct zk_ticket *)a)->sequence;
    uint32_t second = ((const struct zk_ticket *)b)->sequence;
    return (first > second) - (first < second);
}

static struct zk_ticket *find(const struct zk_line *line, uint32_t sequence)
{
    struct zk_ticket key = {.sequence = sequence};
    return line->count == 0 || sequence == ZK_NOBODY
               ? NULL
               : bsearch(&key, line->tickets, line->count, sizeof key, by_sequence);
}

void zk_settle(struct zk_line *line, const struct zk_state *state)
{
    if (line->count > 0) {
        qsort(line->tickets, line->count, sizeof line->tickets[0], by_sequence);
    }
    for (size_t t = 0; t < line->count; t++) { /* host points into the name, which has moved */
        struct zk_ticket *ticket = &line->tickets[t];
        ticket->host = strchr(ticket->name, '@') + 1;
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
        holders += line->tickets[t].seat != ZK_NOBODY;
    }
    return holders;
}

/* Who has left, or is gone, is not in a seat. How many are. */
static uint32_t clear_seats(struct zk_state *state, const struct zk_line *line, uint32_t leaving)
{
    uint32_t held = 0;
    for (uint32_t s = 0; s < state->count; s++) {
        if (state->holder[s] == ZK_NOBODY) {
            continue;
        }
        bool gone = find(line, state->holder[s]) == NULL;
        if (gone || state->holder[s] == leaving) {
            state->reaped += gone && state->holder[s] != leaving;
            state->holder[s] = ZK_NOBODY;
        } else {
            held++;
        }
    }
    while (state->count > state->seats && state->holder[state->count - 1] == ZK_NOBODY) {
        state->count--;
    }
    while (state->count < state->seats) {
        state->holder[state->count++] = ZK_NOBODY;
    }
    return held;
}

void zk_make_plan(struct zk_plan *plan, const struct zk_state *state, const struct zk_line *line,
                  uint32_t leaving, uint64_t base)
{
    plan->state = *state;
    plan->count = 0;
    uint32_t held = clear_seats(&plan->state, line, leaving);
    uint32_t seat = 0;
    for (size_t t = 0; t < line->count && held < plan->state.seats; t++) {
        const struct zk_ticket *ticket = &line->tickets[t];
        if (ticket->seat != ZK_NOBODY || ticket->sequence == leaving) {
            continue;
        }
        while (seat < plan->state.seats && plan->state.holder[seat] != ZK_NOBODY) {
            seat++;
        }
        if (seat == plan->state.seats || plan->count == ZK_MOST_GRANTS) {
            return;
        }
        plan->state.holder[seat] = ticket->sequence;
        plan->state.granted++;
        plan->grants[plan->count++] = (struct zk_grant){ticket, seat, base + plan->state.granted};
        held++;
    }
}
