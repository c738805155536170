/* Where a pool's file is: from a name to an open directory and a name in it. */
#include "pool/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_NAME = 200 };

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

/* Open the default directory of this user, and create it if asked. It must belong to the user and
   be writable by the user alone: otherwise others could plant files in it. */
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

/* Open a directory that the user named, and create it if asked and if its parent exists. */
static int open_named(const char *path, bool create)
{
    if (create && mkdir(path, 0700) == 0) {
        set_mode(path);
    } else if (create && errno != EEXIST) {
        return -errno;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* The directory of names without a slash. *named: the user chose it (USHER_DIR). */
static int directory_path(char *path, size_t room, bool *named)
{
    const char *said = secure_getenv("USHER_DIR");
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    int length;
    *named = said != NULL && said[0] != '\0';
    if (*named) {
        length = snprintf(path, room, "%s", said);
    } else if (runtime != NULL && runtime[0] == '/') {
        length = snprintf(path, room, "%s/usher", runtime);
    } else {
        length = snprintf(path, room, "/dev/shm/usher-%u", (unsigned)geteuid());
    }
    return length < 0 || (size_t)length >= room ? -ENAMETOOLONG : 0;
}

int usher_directory(char *path, size_t room)
{
    bool named;
    return directory_path(path, room, &named);
}

static int open_directory(char *path, bool create)
{
    bool named;
    int error = directory_path(path, PATH_MAX, &named);
    if (error != 0) {
        return error;
    }
    return named ? open_named(path, create) : open_own(path, create);
}

/* The directory part of a path. */
static int open_parent(char *path, const char *name, const char **last)
{
    const char *slash = strrchr(name, '/');
    size_t length = (size_t)(slash - name);
    *last = slash + 1;
    if (length >= PATH_MAX) {
        return -ENAMETOOLONG;
    }
    (void)snprintf(path, PATH_MAX, "%.*s", (int)(length == 0 ? 1 : length), name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int usher__name_resolve(const char *name, bool create, char *path, int *directory,
                        const char **last)
{
    bool is_path = strchr(name, '/') != NULL;
    *last = name;
    *directory = -1;
    if (!is_path && (name[0] == '\0' || name[0] == '.')) {
        return -EINVAL;
    }
    if (!is_path && strlen(name) > LONGEST_NAME) {
        return -ENAMETOOLONG;
    }
    for (const char *at = name; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 127) {
            return -EINVAL; /* it would garble a terminal */
        }
    }
    int fd = is_path ? open_parent(path, name, last) : open_directory(path, create);
    if (fd < 0) {
        return fd;
    }
    size_t length = strlen(path);
    if ((*last)[0] == '\0' || strcmp(*last, ".") == 0 || strcmp(*last, "..") == 0) {
        (void)close(fd);
        return -EINVAL;
    }
    if (length + 1 + strlen(*last) >= PATH_MAX || strlen(*last) > LONGEST_NAME) {
        (void)close(fd);
        return -ENAMETOOLONG;
    }
    (void)snprintf(path + length, PATH_MAX - length, "%s%s",
                   length > 0 && path[length - 1] == '/' ? "" : "/", *last);
    *directory = fd;
    return 0;
}
