/* The label of a seat that somebody holds, as its command was told. */
#include "cli/cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The environment of a process; "" if it may not be read. How much there is. */
static size_t environment_of(pid_t pid, char *text, size_t room)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, room - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

const char *cli_label_of(const struct usher_guest *holder, char *label, size_t room)
{
    static char text[1 << 17];
    const char *named = NULL;
    bool this_seat = false;
    bool this_ticket = false;
    label[0] = '\0';
    if (holder->pid <= 0 || holder->alive <= 0) {
        return label;
    }
    size_t length = environment_of(holder->pid, text, sizeof text);
    for (char *at = text; at < text + length; at += strlen(at) + 1) {
        if (strncmp(at, "USHER_LABEL=", 12) == 0) {
            named = cli_cut(at + 12, room - 1);
        } else if (strncmp(at, "USHER_SEAT=", 11) == 0) {
            this_seat = strtoull(at + 11, NULL, 10) == holder->seat;
        } else if (strncmp(at, "USHER_TICKET=", 13) == 0) {
            /* of one that has been inside for long only these bits are certain */
            this_ticket = ((strtoull(at + 13, NULL, 10) ^ holder->ticket) & 0xfffff) == 0;
        }
    }
    /* It may run under a seat of another pool, too: then the label is of that one. */
    if (named != NULL && this_seat && this_ticket) {
        (void)snprintf(label, room, "%s", named);
    }
    return cli_presentable(label);
}
