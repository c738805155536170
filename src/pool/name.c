/*
 * Where a pool's file is: from a name to the directories in which it is looked for, in this order.
 *
 *     a name with a slash   its directory, alone
 *     $USHER_DIR is set     that directory, alone
 *     otherwise             /run/usher/UID, if /run/usher is root's and has mode 1777
 *                           /dev/shm/usher-UID
 *                           /run/usher/shared, if it is root's and not writable by all users
 *
 * A new pool is created in the first of them; one for a group in the last. The rest of the
 * environment has no influence: a login shell, cron and a service find the same file.
 */
#include "pool/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_NAME = 200 };

static const char run_directory[] = "/run/usher";
static const char shared_directory[] = "/run/usher/shared";

/* Give a directory that we have just created mode 0700, whatever the umask is. By a descriptor: the
   name may belong to another directory by now. */
static void set_mode(const char *path)
{
    struct stat status;
    char made[64];
    int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    (void)snprintf(made, sizeof made, "/proc/self/fd/%d", fd);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
        (status.st_mode & 0700) != 0700) {
        (void)chmod(made, 0700);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* Open a directory of this user, and create it if asked. It must belong to the user and be writable
   by the user alone: otherwise others could plant files in it. */
static int open_own(const char *path, bool create)
{
    struct stat status;
    bool made = create && mkdir(path, 0700) == 0;
    if (create && !made && errno != EEXIST) {
        return -errno;
    }
    if (made) {
        set_mode(path);
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOTDIR || errno == ELOOP ? -USHER_EUNTRUSTED : -errno;
    }
    if (fstat(fd, &status) != 0 || status.st_uid != geteuid() ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        (void)close(fd);
        return -USHER_EUNTRUSTED;
    }
    return fd;
}

/* Would root leave a file of its own in another user's private directory? Root often has the
   environment of another user. */
static bool intrudes(const struct stat *status)
{
    return geteuid() == 0 && status->st_uid != 0 && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Open the directory that $USHER_DIR names. If asked, create it if its parent exists. */
static int open_chosen(const char *path, bool create)
{
    struct stat status;
    if (create && stat(path, &status) != 0 && errno == ENOENT) {
        char parent[PATH_MAX];
        size_t length = strlen(path);
        while (length > 1 && path[length - 1] == '/') {
            length--;
        }
        while (length > 0 && path[length - 1] != '/') {
            length--;
        }
        (void)snprintf(parent, sizeof parent, "%.*s", length == 0 ? 1 : (int)length,
                       length == 0 ? "." : path);
        if (stat(parent, &status) == 0 && intrudes(&status)) {
            return -USHER_EUNTRUSTED;
        }
        if (mkdir(path, 0700) == 0) {
            set_mode(path);
        } else if (errno != EEXIST) {
            return -errno;
        }
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    if (create && fstat(fd, &status) == 0 && intrudes(&status)) {
        (void)close(fd);
        return -USHER_EUNTRUSTED;
    }
    return fd;
}

/* Open the directory of pools for groups. It counts if root made it and only those may write there
   whom root has allowed to: otherwise a stranger could create a pool under a name that others use.
   -ENOENT: it does not count. */
static int open_shared(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : -ENOENT;
    }
    if (fstat(fd, &status) != 0 || status.st_uid != 0 || (status.st_mode & S_IWOTH) != 0) {
        (void)close(fd);
        return -ENOENT;
    }
    return fd;
}

int usher__place_open(const struct name_place *place, bool create)
{
    int fd;
    switch (place->kind) {
    case NAME_OWN:
        return open_own(place->path, create);
    case NAME_CHOSEN:
        return open_chosen(place->path, create);
    case NAME_SHARED:
        return open_shared(place->path);
    case NAME_PATH:
    default:
        fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
    }
}

/* Does /run/usher count? It is root's; and users can make their directories in it, or this user's
   is there. */
static bool has_run_directory(const char *own)
{
    struct stat status;
    return lstat(run_directory, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == 0 &&
           ((status.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) ||
            ((status.st_mode & S_IWOTH) == 0 && lstat(own, &status) == 0));
}

static void add_place(struct name *name, enum name_kind kind, const char *path)
{
    name->places[name->count++] = (struct name_place){kind, path};
}

/* The directories of names without a slash. */
static int default_places(struct name *name)
{
    const char *chosen = secure_getenv("USHER_DIR");
    if (chosen != NULL && chosen[0] != '\0') {
        int length = snprintf(name->path, sizeof name->path, "%s", chosen);
        add_place(name, NAME_CHOSEN, name->path);
        return length < 0 || (size_t)length >= sizeof name->path ? -ENAMETOOLONG : 0;
    }
    (void)snprintf(name->run, sizeof name->run, "%s/%u", run_directory, (unsigned)geteuid());
    (void)snprintf(name->shm, sizeof name->shm, "/dev/shm/usher-%u", (unsigned)geteuid());
    if (has_run_directory(name->run)) {
        add_place(name, NAME_OWN, name->run);
    }
    add_place(name, NAME_OWN, name->shm);
    add_place(name, NAME_SHARED, shared_directory);
    return 0;
}

int usher_directory_at(unsigned index, char *path, size_t room)
{
    struct name name = {.count = 0};
    int error = default_places(&name);
    if (error != 0 || index >= name.count) {
        return error != 0 ? error : -ENOENT;
    }
    int length = snprintf(path, room, "%s", name.places[index].path);
    return length < 0 || (size_t)length >= room ? -ENAMETOOLONG : 0;
}

int usher_directory(char *path, size_t room)
{
    return usher_directory_at(0, path, room);
}

/* The directory part of a path. */
static int parent_place(struct name *name, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = (size_t)(slash - path);
    name->last = slash + 1;
    if (length >= sizeof name->path) {
        return -ENAMETOOLONG;
    }
    (void)snprintf(name->path, sizeof name->path, "%.*s", (int)(length == 0 ? 1 : length), path);
    add_place(name, NAME_PATH, name->path);
    return 0;
}

int usher__name_parse(const char *text, struct name *name)
{
    bool is_path = strchr(text, '/') != NULL;
    name->count = 0;
    name->last = text;
    if (!is_path && (text[0] == '\0' || text[0] == '.')) {
        return -EINVAL;
    }
    if (!is_path && strlen(text) > LONGEST_NAME) {
        return -ENAMETOOLONG;
    }
    for (const char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 127) {
            return -EINVAL; /* it would garble a terminal */
        }
    }
    int error = is_path ? parent_place(name, text) : default_places(name);
    if (error != 0) {
        return error;
    }
    if (name->last[0] == '\0' || strcmp(name->last, ".") == 0 || strcmp(name->last, "..") == 0) {
        return -EINVAL;
    }
    return strlen(name->last) > LONGEST_NAME ||
                   strlen(name->places[0].path) + 1 + strlen(name->last) >= PATH_MAX
               ? -ENAMETOOLONG
               : 0;
}

char *usher__name_path(const struct name *name, const struct name_place *place)
{
    size_t length = strlen(place->path);
    size_t room = length + strlen(name->last) + 2;
    char *path = calloc(1, room);
    if (path != NULL) {
        (void)snprintf(path, room, "%s%s%s", place->path,
                       length > 0 && place->path[length - 1] == '/' ? "" : "/", name->last);
    }
    return path;
}

int usher__name_find(const struct name *name, int *directory, const struct name_place **place)
{
    struct stat first = {.st_ino = 0};
    *directory = -1;
    for (unsigned p = 0; p < name->count; p++) {
        struct stat status;
        int fd = usher__place_open(&name->places[p], false);
        bool found = fd >= 0 && fstatat(fd, name->last, &status, AT_SYMLINK_NOFOLLOW) == 0;
        int error = fd < 0 ? fd : found ? 0 : -errno;
        if (found && *directory < 0) {
            *directory = fd;
            *place = &name->places[p];
            first = status;
            continue;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
        if (found && (status.st_ino != first.st_ino || status.st_dev != first.st_dev)) {
            error = -USHER_ETWICE;
        }
        if (error != 0 && error != -ENOENT) {
            if (*directory >= 0) {
                (void)close(*directory);
            }
            *directory = -1;
            return error;
        }
    }
    return *directory < 0 ? -ENOENT : 0;
}
