/* Print and parse the names and small texts of a pool on ZooKeeper. state.h is the contract. */
#include "zk/state.h"

#include "zk/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SEQUENCE_DIGITS = 10, SESSION_DIGITS = 11 };

/* Base 64 keeps ticket names short. They make up the list of a long line. */
static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";

static char *put_digits(char *at, uint64_t number, int least)
{
    for (int d = SESSION_DIGITS - 1; d >= 0; d--) {
        if (d < least || number >> 6 * d != 0) {
            *at++ = digits[number >> 6 * d & 63];
        }
    }
    *at = '\0';
    return at;
}

/* Parse exactly `count` digits. */
static bool take_digits(const char **at, size_t count, uint64_t *number)
{
    *number = 0;
    for (size_t d = 0; d < count; d++) {
        const char *digit = memchr(digits, *(*at)++, sizeof digits - 1);
        if (digit == NULL) {
            return false;
        }
        *number = *number << 6 | (uint64_t)(digit - digits);
    }
    return true;
}

void zk_print_session(char *name, uint64_t session)
{
    (void)put_digits(name, session, SESSION_DIGITS);
}

void zk_print_ticket(char *name, uint64_t session, uint32_t n)
{
    (void)put_digits(put_digits(name, session, SESSION_DIGITS), n, 1);
}

bool zk_parse_ticket(uint32_t roll, const char *name, struct zk_ticket *ticket)
{
    size_t length = strlen(name);
    uint64_t n;
    uint64_t sequence = 0;
    if (length >= sizeof ticket->name || length <= SESSION_DIGITS + SEQUENCE_DIGITS) {
        return false;
    }
    const char *at = name;
    /* ZooKeeper's counter wraps to a negative number after 2^31 - 1; such a name is refused. */
    if (!take_digits(&at, SESSION_DIGITS, &ticket->session) ||
        !take_digits(&at, length - SESSION_DIGITS - SEQUENCE_DIGITS, &n) || n > UINT32_MAX ||
        strspn(at, "0123456789") != SEQUENCE_DIGITS || !take_number(&at, INT32_MAX, &sequence)) {
        return false;
    }
    memcpy(ticket->name, name, length + 1);
    ticket->n = (uint32_t)n;
    ticket->roll = roll;
    ticket->number = (uint64_t)roll << 31 | sequence;
    ticket->seat = ZK_NO_SEAT;
    return true;
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
    bool whole = take_number(&at, ZK_MOST_SEATS - 1, &number) && take_character(&at, ' ') &&
                 take_number(&at, UINT64_MAX, fence) && *at == '\0';
    *seat = (uint32_t)number;
    return whole;
}

size_t zk_print_grant(const struct zk_grant *grant, char *text, size_t room)
{
    return (size_t)snprintf(text, room, "%" PRIu32 " %" PRIu64, grant->seat, grant->fence);
}

/* Replace control characters by spaces, so that the text stays on one line and cannot garble a
   terminal. */
static void replace_control_characters(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 127) {
            *text = ' ';
        }
    }
}

size_t zk_print_who(const struct zk_who *who, char *text)
{
    char labels[ZK_WHO_ROOM / 2];
    char note[ZK_WHO_ROOM / 4];
    char host[sizeof who->host];
    (void)snprintf(labels, sizeof labels, "%s", who->labels == NULL ? "" : who->labels);
    (void)snprintf(note, sizeof note, "%s", who->note == NULL ? "" : who->note);
    (void)snprintf(host, sizeof host, "%s", who->host);
    replace_control_characters(labels);
    replace_control_characters(note);
    replace_control_characters(host);
    return (size_t)snprintf(text, ZK_WHO_ROOM, "%" PRIi32 " %" PRIu64 " %s\n%s\n%s", who->pid,
                            who->pid_namespace, host, labels, note);
}

bool zk_parse_who(char *text, struct zk_who *who)
{
    const char *at = text;
    uint64_t pid;
    char *labels = strchr(text, '\n');
    char *note = labels == NULL ? NULL : strchr(labels + 1, '\n');
    if (note == NULL) {
        return false;
    }
    *labels++ = '\0';
    *note++ = '\0';
    replace_control_characters(text);
    replace_control_characters(labels);
    replace_control_characters(note);
    if (!take_number(&at, INT32_MAX, &pid) || !take_character(&at, ' ') ||
        !take_number(&at, UINT64_MAX, &who->pid_namespace) || !take_character(&at, ' ')) {
        return false;
    }
    who->pid = (int32_t)pid;
    (void)snprintf(who->host, sizeof who->host, "%s", at);
    who->labels = labels;
    who->note = note;
    return true;
}

void zk_label(const char *labels, uint32_t seat, char *label, size_t room)
{
    for (; seat > 0 && labels != NULL; seat--) {
        labels = strchr(labels, ',');
        labels = labels == NULL ? NULL : labels + 1;
    }
    (void)snprintf(label, room, "%.*s", labels == NULL ? 0 : (int)strcspn(labels, ","),
                   labels == NULL ? "" : labels);
}

/* Return true for a node path that we accept: at most 512 bytes of printable ASCII, no empty
   component, no "." or "..", not below /zookeeper. */
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
