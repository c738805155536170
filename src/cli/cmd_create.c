/*
 * usher create: create a pool before its first use, or those that definitions describe; write a
 * definition. Definitions of root are in /etc/usher/pools.d, those of a user in
 * ~/.config/usher/pools.d.
 */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory of this user's definitions. Returns false if there is none. */
static bool definitions(char *path, size_t room)
{
    const char *home = getenv("HOME");
    int length = -1;
    if (geteuid() == 0) {
        length = snprintf(path, room, "/etc/usher/pools.d");
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(path, room, "%s/.config/usher/pools.d", home);
    }
    return length > 0 && (size_t)length < room;
}

/* Create the directories of a path that are missing. */
static int make_directories(char *path)
{
    for (char *at = path + 1;; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        char end = *at;
        *at = '\0';
        int made = mkdir(path, 0755);
        int error = made == 0 || errno == EEXIST ? 0 : errno;
        *at = end;
        if (error != 0 || end == '\0') {
            return error;
        }
    }
}

static void print_definition(FILE *file, const struct cli_options *options)
{
    (void)fprintf(file, "# How 'usher run %s' creates this pool if it is missing; see usher(7).\n",
                  options->pool);
    (void)fprintf(file, "seats = %u\n", options->seats);
    if (options->labels != NULL) {
        (void)fprintf(file, "labels = %s\n", options->labels);
    }
    if (options->guests != 0) {
        (void)fprintf(file, "guests = %u\n", options->guests);
    }
    if (options->mode != 0) {
        (void)fprintf(file, "mode = %o\n", (unsigned)options->mode);
    }
    if (options->group_name != NULL) {
        (void)fprintf(file, "group = %s\n", options->group_name);
    }
}

/* Write the definition, whole or not at all. */
static int define(const struct cli_options *options)
{
    char path[PATH_MAX];
    char whole[2 * PATH_MAX];
    char temporary[3 * PATH_MAX];
    if (!definitions(path, sizeof path)) {
        return cli_fail(CLI_CANNOT_CREATE,
                        "pool %s: created, but not defined: there is no home directory; set HOME",
                        options->pool);
    }
    (void)snprintf(whole, sizeof whole, "%s/%s", path, options->pool);
    (void)snprintf(temporary, sizeof temporary, "%s/.%s.%ld", path, options->pool, (long)getpid());
    int error = make_directories(path);
    FILE *file = error == 0 ? fopen(temporary, "wxe") : NULL;
    if (error == 0 && file == NULL) {
        error = errno;
    }
    if (file != NULL) {
        print_definition(file, options);
        bool written = fflush(file) == 0 && fchmod(fileno(file), 0644) == 0;
        error = written ? 0 : errno;
        if (fclose(file) != 0 && error == 0) {
            error = errno;
        }
        if (error == 0 && rename(temporary, whole) != 0) {
            error = errno;
        }
        if (error != 0) {
            (void)unlink(temporary);
        }
    }
    return error == 0 ? 0
                      : cli_fail(CLI_CANNOT_CREATE,
                                 "pool %s: created, but its definition %s cannot be written: %s",
                                 options->pool, whole, strerror(error));
}

/* A pool of that name and number of seats exists, and shall only be defined. */
static bool is_there(const struct cli_options *options)
{
    struct usher_pool *pool;
    struct usher_options existing = {.seats = options->seats, .flags = USHER_EXISTING};
    int error = usher_open(&pool, options->pool, &existing);
    if (error == 0) {
        usher_close(pool);
    }
    return error == 0;
}

static int create_pool(struct cli_options *options)
{
    struct cli_wait wait;
    char root[2 * PATH_MAX];
    bool is_name = strchr(options->pool, '/') == NULL;
    if (options->define && !is_name) {
        return cli_fail(CLI_USAGE, "create: --define needs a name, and %s is a path",
                        options->pool);
    }
    if (options->define && geteuid() != 0 &&
        usher_definition(options->pool, root, sizeof root) != -ENOENT &&
        strncmp(root, "/etc/", 5) == 0) {
        return cli_fail(CLI_PERMISSION, "pool %s: root has defined it in %s; choose another name",
                        options->pool, root);
    }
    const char *chosen = getenv("USHER_DIR");
    if (options->group != 0 && is_name && (chosen == NULL || chosen[0] == '\0') &&
        !cli_shared_directory()) {
        return cli_fail(CLI_CANNOT_CREATE,
                        "pool %s: there is no directory for pools of groups, /run/usher/shared, "
                        "that root owns and only root can write to; as root, run 'install -d -m "
                        "755 /run/usher/shared', or give a path",
                        options->pool);
    }
    if (options->define && options->seats != 0 && is_there(options)) {
        return define(options);
    }
    const char *labels = options->labels;
    int error = cli_open(&wait, options, USHER_EXCLUSIVE);
    options->labels = labels;
    if (error == 0) {
        usher_close(wait.pool);
    }
    return error == 0 && options->define ? define(options) : error;
}

/* Create the defined pools of a directory that are missing. */
static int create_defined(const char *path)
{
    int status = CLI_OK;
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return errno == ENOENT ? CLI_OK : cli_fail(CLI_OS, "%s: %s", path, strerror(errno));
    }
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct cli_options options = {.pool = entry->d_name};
        struct cli_wait wait;
        if (entry->d_name[0] == '.') {
            continue;
        }
        int error = cli_open(&wait, &options, 0);
        if (error == 0) {
            usher_close(wait.pool);
        }
        status = status == CLI_OK ? error : status;
    }
    (void)closedir(directory);
    return status;
}

static int verb_create(int argc, char **argv)
{
    struct cli_options options;
    char path[PATH_MAX];
    int error = cli_parse(
        &cli_create, CLI_OPTION_SEATS | CLI_OPTION_CREATE | CLI_OPTION_LABELS | CLI_OPTION_DEFINE,
        true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.all && options.pool == NULL) {
        return definitions(path, sizeof path) ? create_defined(path) : CLI_OK;
    }
    if (options.pool == NULL || options.rest < argc || options.all) {
        return cli_fail(CLI_USAGE, "create: give one pool and -k SEATS; see 'usher help create'");
    }
    if (options.seats == 0 &&
        (options.define || usher_definition(options.pool, path, 1) == -ENOENT)) {
        return cli_fail(CLI_USAGE, "create: give -k SEATS; nothing defines the pool %s",
                        options.pool);
    }
    return create_pool(&options);
}

const struct cli_verb cli_create = {
    "create",
    "create POOL -k SEATS [--labels A,B,..] [--guests N] [--mode M]\n"
    "           [--group GROUP] [--define]\n"
    "           or   POOL      or   --all",
    "create a pool before its first use",
    "Creates a pool. Fails if the pool exists. Without -k: as its definition says.\n\n"
    "  -k, --seats SEATS  the number of seats\n"
    "  --labels A,B,..    names for seats 0, 1, ..; there are as many seats as names\n"
    "  --guests N         the maximum number of holders and waiters (default 1024)\n"
    "  --mode M           permissions, as for chmod (default 600; 660 with --group)\n"
    "  --group GROUP      for the members of a group; a name is created in\n"
    "                     /run/usher/shared, where only root can create pools\n"
    "  --define           also write a definition, by which the pool is created again\n"
    "                     when it is missing, such as after a reboot: in\n"
    "                     /etc/usher/pools.d (root) or ~/.config/usher/pools.d\n"
    "  --all              create all pools that have a definition and are missing\n\n"
    "  usher create builds -k 3 --define\n"
    "  sudo usher create cards -k 4 --group gpu --define\n",
    verb_create,
};
