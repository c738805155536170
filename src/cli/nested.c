/*
 * Nested use: the seats that this process runs under. They are the seats of its ancestors, such as
 * a shell that acquired one, and those that USHER_HELD names.
 *
 * USHER_HELD has one line per seat, the innermost first: pid of the command that holds it, ticket,
 * seat, path of the pool. A line counts only while the pool confirms that this process holds that
 * seat. So a daemon that outlives its seat has to wait in line.
 */
#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_GUESTS = 1024, PID_DIGITS = 10 };

/* The new USHER_HELD. It begins with blanks in place of the pid, which only the child knows:
   cli_environment_holder. */
static char *held;

/* The fence of the seat that was found, if the pool is remote. */
static uint64_t ancestor_fence;

/* Read the holders of a pool; waiters may follow them. Returns how many; the caller frees
   *guests. */
static int holders_of(struct usher_pool *pool, struct usher_guest **guests)
{
    struct usher_info info = {.holders = MOST_GUESTS};
    if (cli_is_remote(usher_path(pool))) { /* one request per guest: leave the waiters out */
        (void)usher_inspect(pool, &info, NULL, 0);
    }
    *guests = calloc(info.holders + 1, sizeof **guests);
    int count = *guests == NULL ? 0 : cli_inspect(pool, NULL, *guests, info.holders);
    return count < (int)info.holders ? count : (int)info.holders;
}

bool cli_still_held(struct usher_pool *pool, pid_t pid, const struct usher_seat *seat)
{
    struct usher_guest *guests;
    bool found = false;
    int count = holders_of(pool, &guests);
    for (int g = 0; g < count && guests[g].position == 0 && !found; g++) {
        found = guests[g].pid == pid && ((guests[g].ticket ^ seat->ticket) & 0xfffff) == 0 &&
                guests[g].seat == seat->number && guests[g].alive != 0;
        ancestor_fence = guests[g].fence;
    }
    free(guests);
    return found;
}

static void real_path(struct usher_pool *pool, char *path)
{
    if (realpath(usher_path(pool), path) == NULL) {
        (void)snprintf(path, PATH_MAX, "%s", usher_path(pool));
    }
}

/* Does an ancestor hold a seat, or this process, from before its exec? */
static bool held_by_ancestor(struct usher_pool *pool, struct usher_seat *seat)
{
    struct usher_guest *guests;
    bool found = false;
    struct cli_process process;
    if (cli_is_remote(usher_path(pool)) && !cli_has_keeper(usher_path(pool))) {
        return false; /* no keeper, so no shell holds one: do not ask the servers */
    }
    int count = holders_of(pool, &guests);
    pid_t above = count > 0 ? getpid() : 0;
    for (unsigned steps = 0; above > 1 && steps < 100 && !found; steps++) {
        for (int g = 0; g < count && !found; g++) {
            found = guests[g].position == 0 && guests[g].pid == above &&
                    guests[g].seat != UINT32_MAX && guests[g].alive == 1;
            if (found) {
                *seat = (struct usher_seat){.number = guests[g].seat, .ticket = guests[g].ticket};
                ancestor_fence = guests[g].fence;
            }
        }
        above = cli_process(above, &process) ? process.parent : 0;
    }
    free(guests);
    return found;
}

bool cli_nested_run(struct usher_pool *pool, struct usher_seat *seat)
{
    char path[PATH_MAX];
    const char *line = getenv("USHER_HELD");
    real_path(pool, path);
    while (line != NULL && *line != '\0') {
        long pid;
        unsigned long long ticket;
        unsigned number;
        int used = 0;
        size_t length = strcspn(line, "\n");
        if (sscanf(line, "%ld %llu %u %n", &pid, &ticket, &number, &used) == 3 && used > 0 &&
            (size_t)used < length && strlen(path) == length - (size_t)used &&
            strncmp(line + used, path, length - (size_t)used) == 0) {
            *seat = (struct usher_seat){.number = number, .ticket = ticket};
            if (cli_still_held(pool, (pid_t)pid, seat)) {
                return true;
            }
        }
        line += length;
        line += *line == '\n';
    }
    return false;
}

bool cli_nested(struct usher_pool *pool, struct usher_seat *seat)
{
    return cli_nested_run(pool, seat) || held_by_ancestor(pool, seat);
}

static int set_number(const char *name, unsigned long long number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%llu", number);
    return setenv(name, text, 1);
}

static int set_held(const struct cli_wait *wait, const struct usher_seat *seat)
{
    char path[PATH_MAX];
    const char *above = getenv("USHER_HELD");
    real_path(wait->pool, path);
    size_t room = strlen("USHER_HELD=") + PID_DIGITS + 64 + strlen(path) +
                  (above == NULL ? 0 : strlen(above));
    held = malloc(room);
    if (held == NULL) {
        return -1;
    }
    (void)snprintf(held, room, "USHER_HELD=%*s %llu %u %s%s%s", PID_DIGITS, "",
                   (unsigned long long)seat->ticket, seat->number, path, above == NULL ? "" : "\n",
                   above == NULL ? "" : above);
    return putenv(held);
}

/* The fence of a seat of this process; of a seat of an ancestor, as the pool says. */
static unsigned long long fence_of(const struct cli_wait *wait, const struct usher_seat *seat)
{
    struct usher_lease lease;
    if (usher_check(wait->pool, seat, &lease) == 0) {
        return lease.fence;
    }
    return cli_is_remote(wait->pool_name) ? ancestor_fence : seat->ticket;
}

int cli_environment(const struct cli_wait *wait, const struct usher_seat *seat, bool nested)
{
    struct usher_info info;
    char label[256];
    const char *named = cli_seat_label(wait->options, seat->number, label, sizeof label);
    int count = usher_inspect(wait->pool, &info, NULL, 0);
    int failed = setenv("USHER_POOL", wait->pool_name, 1);
    failed |= set_number("USHER_SEAT", seat->number);
    failed |= set_number("USHER_SEATS", count < 0 ? 0 : info.seats);
    failed |= set_number("USHER_TICKET", seat->ticket);
    if (named != NULL) {
        failed |= setenv("USHER_LABEL", named, 1);
    } else if (!nested) {
        failed |= unsetenv("USHER_LABEL");
    }
    if (wait->options->variable != NULL) {
        failed |= named != NULL ? setenv(wait->options->variable, named, 1)
                                : set_number(wait->options->variable, seat->number);
    }
    failed |= set_number("USHER_FENCE", fence_of(wait, seat));
    if (!nested) {
        failed |= set_held(wait, seat);
    }
    return failed;
}

/* Append a word to the text, quoted for a shell: 'word', with each ' in it written as '\'' */
static void append_quoted(char *text, const char *word)
{
    size_t used = strlen(text);
    text[used++] = '\'';
    for (; *word != '\0' && used + 8 < CLI_SEAT_TEXT; word++) {
        for (const char *at = *word == '\'' ? "'\\'" : ""; *at != '\0'; at++) {
            text[used++] = *at;
        }
        text[used++] = *word;
    }
    text[used++] = '\'';
    text[used] = '\0';
}

void cli_seat_text(const struct cli_wait *wait, const struct usher_seat *seat, char *text)
{
    struct usher_info info = {0};
    char label[256];
    const char *named = cli_seat_label(wait->options, seat->number, label, sizeof label);
    if (!wait->options->export_) {
        (void)snprintf(text, CLI_SEAT_TEXT, "%u\n", seat->number);
        return;
    }
    (void)usher_inspect(wait->pool, &info, NULL, 0);
    (void)snprintf(text, CLI_SEAT_TEXT, "export USHER_POOL=");
    append_quoted(text, wait->pool_name);
    size_t used = strlen(text);
    (void)snprintf(text + used, CLI_SEAT_TEXT - used,
                   " USHER_SEAT=%u USHER_SEATS=%u USHER_TICKET=%llu USHER_FENCE=%llu%s",
                   seat->number, info.seats, (unsigned long long)seat->ticket, fence_of(wait, seat),
                   named == NULL ? "; unset USHER_LABEL\n" : " USHER_LABEL=");
    if (named != NULL) {
        append_quoted(text, named);
        used = strlen(text);
        (void)snprintf(text + used, CLI_SEAT_TEXT - used, "\n");
    }
}

void cli_environment_holder(pid_t pid)
{
    char *digit = held + strlen("USHER_HELD=") + PID_DIGITS;
    for (long rest = pid; rest > 0; rest /= 10) {
        *--digit = (char)('0' + rest % 10);
    }
}
