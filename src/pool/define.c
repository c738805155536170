/*
 * Definitions of pools: files that say how a pool is created when it is missing, such as after a
 * reboot. Root's are in /etc/usher/pools.d, those of a user in ~/.config/usher/pools.d; a name that
 * root defines is root's. Lines are `key = value`, empty, or comments that begin with #.
 *
 *     seats = 4                 labels = 0,1,2,3 (as many as seats; seats may then be left out)
 *     guests = 1024             mode = 660
 *     group = gpu               a name or a number
 */
#include "pool/pool.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 2 * FORMAT_MAX_LABELS, GROUP_ROOM = 16384 };

/* A definition that is being read. */
struct reading {
    struct definition *definition;
    char path[PATH_MAX];
    char *problem; /* where the sentence on a mistake goes */
    size_t problem_room;
    unsigned line;
    unsigned seen; /* keys, one bit each */
};

/* Write what is wrong, with the file and the line. */
__attribute__((format(printf, 2, 3))) static int complain(struct reading *reading,
                                                          const char *format, ...)
{
    va_list arguments;
    int used = reading->line == 0
                   ? snprintf(reading->problem, reading->problem_room, "%s: ", reading->path)
                   : snprintf(reading->problem, reading->problem_room, "%s:%u: ", reading->path,
                              reading->line);
    if (used > 0 && (size_t)used < reading->problem_room) {
        va_start(arguments, format);
        (void)vsnprintf(reading->problem + used, reading->problem_room - (size_t)used, format,
                        arguments);
        va_end(arguments);
    }
    return -USHER_EDEFINITION;
}

/* Parse a number from 1 to `most`, in that base. */
static bool parse_number(const char *text, int base, unsigned long most, unsigned long *number)
{
    char *end;
    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    errno = 0;
    *number = strtoul(text, &end, base);
    return errno == 0 && *end == '\0' && *number > 0 && *number <= most;
}

static int set_seats(struct reading *reading, const char *value)
{
    unsigned long number;
    if (!parse_number(value, 10, FORMAT_MAX_GUESTS, &number)) {
        return complain(reading, "'%s' is not a number of seats from 1 to %d", value,
                        FORMAT_MAX_GUESTS);
    }
    reading->definition->seats = (uint32_t)number;
    return 0;
}

static int set_guests(struct reading *reading, const char *value)
{
    unsigned long number;
    if (!parse_number(value, 10, FORMAT_MAX_GUESTS, &number)) {
        return complain(reading, "'%s' is not a number of guests from 1 to %d", value,
                        FORMAT_MAX_GUESTS);
    }
    reading->definition->guests = (uint32_t)number;
    return 0;
}

static int set_mode(struct reading *reading, const char *value)
{
    unsigned long number;
    if (!parse_number(value, 8, 0777, &number) || (number & 0600) != 0600) {
        return complain(reading, "'%s' is not a mode such as 600 or 660", value);
    }
    reading->definition->mode = (mode_t)number;
    return 0;
}

static int set_labels(struct reading *reading, const char *value)
{
    reading->definition->labels = strdup(value);
    return reading->definition->labels == NULL ? -ENOMEM : 0;
}

static int set_group(struct reading *reading, const char *value)
{
    unsigned long number;
    struct group entry;
    struct group *found = NULL;
    if (parse_number(value, 10, UINT32_MAX - 1, &number)) {
        reading->definition->group = (gid_t)number;
        return 0;
    }
    char *room = calloc(1, GROUP_ROOM);
    if (room == NULL) {
        return -ENOMEM;
    }
    (void)getgrnam_r(value, &entry, room, GROUP_ROOM, &found);
    gid_t group = found == NULL ? 0 : entry.gr_gid;
    free(room);
    if (group == 0) {
        return complain(reading, "'%s' is not a group other than root's", value);
    }
    reading->definition->group = group;
    return 0;
}

static const struct {
    const char *key;
    int (*set)(struct reading *reading, const char *value);
} keys[] = {{"seats", set_seats},
            {"labels", set_labels},
            {"guests", set_guests},
            {"mode", set_mode},
            {"group", set_group}};

/* Cut blanks off both ends. */
static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL) {
        text[--length] = '\0';
    }
    return text;
}

static int parse_line(struct reading *reading, char *line)
{
    char *key = trim(line);
    if (key[0] == '\0' || key[0] == '#') {
        return 0;
    }
    char *value = strchr(key, '=');
    if (value == NULL) {
        return complain(reading, "'%s' is not of the form key = value", key);
    }
    *value++ = '\0';
    key = trim(key);
    value = trim(value);
    for (unsigned k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        if (strcmp(key, keys[k].key) != 0) {
            continue;
        }
        if (reading->seen & 1U << k) {
            return complain(reading, "a second '%s'; keep one", key);
        }
        reading->seen |= 1U << k;
        return keys[k].set(reading, value);
    }
    return complain(reading, "unknown key '%s'; known are seats, labels, guests, mode and group",
                    key);
}

static uint32_t count_labels(const char *labels)
{
    uint32_t count = 1;
    for (const char *at = labels; *at != '\0'; at++) {
        count += *at == ',';
    }
    return count;
}

/* Check the definition as a whole. */
static int check(struct reading *reading)
{
    struct definition *definition = reading->definition;
    reading->line = 0;
    if (definition->labels != NULL) {
        uint32_t count = count_labels(definition->labels);
        if (definition->seats != 0 && definition->seats != count) {
            return complain(reading, "%u seats, but %u labels", definition->seats, count);
        }
        if (!usher__are_labels(definition->labels, count)) {
            return complain(reading, "an empty or unprintable label, or too many of them");
        }
        definition->seats = count;
    }
    if (definition->seats == 0) {
        return complain(reading, "no line 'seats = NUMBER'");
    }
    if (definition->guests != 0 && definition->guests < definition->seats) {
        return complain(reading, "%u guests are fewer than %u seats", definition->guests,
                        definition->seats);
    }
    return 0;
}

static int parse(struct reading *reading, char *text)
{
    int error = 0;
    for (char *line = text; error == 0 && line != NULL;) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        reading->line++;
        error = parse_line(reading, line);
        line = end;
    }
    return error == 0 ? check(reading) : error;
}

/* Read the file. Others must not be able to change it. -ENOENT: there is none. */
static int read_file(struct reading *reading)
{
    struct stat status;
    int fd = open(reading->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return errno == ENOENT || errno == ENOTDIR ? -ENOENT
               : errno == EMFILE || errno == ENFILE
                   ? -errno
                   : complain(reading, "%s", strerrordesc_np(errno));
    }
    int error = fstat(fd, &status) != 0 ? -errno : 0;
    if (error == 0 && !S_ISREG(status.st_mode)) {
        error = complain(reading, "not a regular file");
    } else if (error == 0 && ((status.st_uid != 0 && status.st_uid != geteuid()) ||
                              (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        error = complain(reading,
                         "other users can change it (owner %u, mode %o); give it to this user or "
                         "root, and mode 644",
                         (unsigned)status.st_uid, (unsigned)status.st_mode & 07777);
    } else if (error == 0 && status.st_size > MOST_BYTES) {
        error = complain(reading, "longer than %d bytes", MOST_BYTES);
    }
    char *text = error == 0 ? calloc(1, (size_t)status.st_size + 1) : NULL;
    if (text != NULL) {
        ssize_t got = pread(fd, text, (size_t)status.st_size, 0);
        text[got > 0 ? got : 0] = '\0';
        error = got < 0 ? -errno : parse(reading, text);
    } else if (error == 0) {
        error = -ENOMEM;
    }
    free(text);
    (void)close(fd);
    return error;
}

/* Find and read the definition of a name; reading->path is where it is, or where it would be. */
static int read_definition(struct reading *reading, const char *name)
{
    const char *home = secure_getenv("HOME");
    (void)snprintf(reading->path, sizeof reading->path, "/etc/usher/pools.d/%s", name);
    int error = read_file(reading);
    if (error == -ENOENT && geteuid() != 0 && home != NULL && home[0] == '/') {
        int length = snprintf(reading->path, sizeof reading->path, "%s/.config/usher/pools.d/%s",
                              home, name);
        bool hidden = length < 0 || (size_t)length >= sizeof reading->path ||
                      (access(reading->path, R_OK) != 0 && errno == EACCES);
        error = hidden ? -ENOENT : read_file(reading); /* hidden: a home that is not this user's */
    }
    return error;
}

int usher__definition(const char *name, struct definition *definition)
{
    char problem[8];
    struct reading reading = {
        .definition = definition, .problem = problem, .problem_room = sizeof problem};
    int error = read_definition(&reading, name);
    if (error != 0) {
        free(definition->labels);
        *definition = (struct definition){.seats = 0};
    }
    return error;
}

int usher_definition(const char *name, char *text, size_t room)
{
    struct definition definition = {.seats = 0};
    char nowhere[8];
    struct reading reading = {.definition = &definition,
                              .problem = room > 0 ? text : nowhere,
                              .problem_room = room > 0 ? room : sizeof nowhere};
    if (name == NULL || strchr(name, '/') != NULL || name[0] == '.' || name[0] == '\0') {
        return -ENOENT;
    }
    int error = read_definition(&reading, name);
    if (room > 0 && error != -USHER_EDEFINITION) {
        (void)snprintf(text, room, "%s", reading.path);
    }
    free(definition.labels);
    return error == 0 ? (int)definition.seats : error;
}
