/* Read about processes in /proc: parent, state, command, label of the seat. See cli.h. */
#include "cli/cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t cli_read_process(pid_t pid, const char *what, char *text, size_t room)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, what);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, room - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

bool cli_process(pid_t pid, struct cli_process *process)
{
    char text[1024];
    *process = (struct cli_process){.state = '?'};
    (void)cli_read_process(pid, "stat", text, sizeof text);
    char *at = strrchr(text, ')'); /* the name before it can hold any character */
    for (int field = 3; at != NULL && field <= 48; field++) {
        at = strchr(at, ' ');
        at = at == NULL ? NULL : at + 1;
        if (at != NULL && field == 3) {
            process->state = *at;
        } else if (at != NULL && field == 4) {
            process->parent = (pid_t)strtol(at, NULL, 10);
        } else if (at != NULL && field == 48) {
            process->arguments = strtoul(at, NULL, 10);
        }
    }
    return at != NULL;
}

const char *cli_command_of(pid_t pid, char *text, size_t room)
{
    size_t got = cli_read_process(pid, "cmdline", text, room);
    if (got == 0) {
        (void)snprintf(text, room, "-");
        return text;
    }
    for (size_t c = 0; c < got; c++) {
        if (text[c] == '\0') {
            text[c] = ' ';
        }
    }
    while (got > 0 && text[got - 1] == ' ') {
        text[--got] = '\0';
    }
    return cli_sanitize(text);
}

const char *cli_holder_label(const struct usher_guest *holder, char *label, size_t room)
{
    static char text[1 << 17];
    const char *named = NULL;
    bool this_seat = false;
    bool this_ticket = false;
    (void)snprintf(label, room, "%s", holder->label);
    size_t known = strlen(holder->label);
    if (holder->where[0] != '\0' || (known > 0 && known + 1 < sizeof holder->label)) {
        return cli_sanitize(label); /* the pool's, and not cut */
    }
    if (holder->pid <= 0 || holder->alive <= 0) {
        return label;
    }
    size_t length = cli_read_process(holder->pid, "environ", text, sizeof text);
    for (char *at = text; at < text + length; at += strlen(at) + 1) {
        if (strncmp(at, "USHER_LABEL=", 12) == 0) {
            named = cli_truncate(at + 12, room - 1);
        } else if (strncmp(at, "USHER_SEAT=", 11) == 0) {
            this_seat = strtoull(at + 11, NULL, 10) == holder->seat;
        } else if (strncmp(at, "USHER_TICKET=", 13) == 0) {
            /* usher_guest: only these bits of an old ticket are certain */
            this_ticket = ((strtoull(at + 13, NULL, 10) ^ holder->ticket) & 0xfffff) == 0;
        }
    }
    /* if it holds seats of two pools, the label can belong to the other one */
    if (named != NULL && this_seat && this_ticket) {
        (void)snprintf(label, room, "%s", named);
    }
    return cli_sanitize(label);
}

const char *cli_command(const struct usher_guest *guest, char *text, size_t room)
{
    if (guest->note[0] == '\0') {
        return cli_command_of(guest->pid, text, room);
    }
    (void)snprintf(text, room, "%s", guest->note);
    return cli_sanitize(text);
}

char *cli_pid_text(const struct usher_guest *guest, char *text, size_t room)
{
    const char *machine = strchr(guest->where, '@');
    if (guest->pid == 0 && machine != NULL) {
        (void)snprintf(text, room, "%s", guest->where);
    } else {
        (void)snprintf(text, room, "%ld%s", (long)guest->pid, machine == NULL ? "" : machine);
    }
    return cli_sanitize(text);
}

void cli_name_shells(struct usher_guest *guests, size_t count)
{
    for (size_t g = 0; g < count; g++) {
        pid_t shell = guests[g].where[0] == '\0' ? 0 : cli_keeper_shell(guests[g].pid);
        guests[g].pid = shell != 0 ? shell : guests[g].pid;
    }
}

int cli_inspect(struct usher_pool *pool, struct usher_info *info, struct usher_guest *guests,
                size_t capacity)
{
    int count = usher_inspect(pool, info, guests, capacity);
    if (count > 0 && guests != NULL) {
        cli_name_shells(guests, (size_t)count < capacity ? (size_t)count : capacity);
    }
    return count;
}
