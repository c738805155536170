/*
 * Pools that lost their name while processes use them. At the last logout of a user systemd-logind
 * deletes the user's files in /dev/shm, also those that a command in the background uses. Such a
 * pool is found in /proc, by the path that the kernel remembers ("PATH (deleted)"), and opened
 * through the descriptor of a process that has it. A second pool of that name would have seats of
 * its own.
 *
 * The kernel cannot link such a file to a name again (linkat fails with ENOENT), so each process
 * that opens the name looks in /proc, until no process uses the pool any more.
 *
 * A process has the pool open from before the deletion, so a search that begins after the deletion
 * sees it, unless the process ends while the search runs and has just handed the pool to another
 * process, by fork or because that process found it here. So a search that finds nothing is
 * repeated once.
 */
#include "pool/pool.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MOST_PLACES = sizeof((struct name *)NULL)->places / sizeof(struct name_place) };

static const char suffix[] = " (deleted)";

/* A path that the pool may have had. */
struct had {
    char *text;     /* as /proc shows it: PATH (deleted) */
    size_t length;  /* of PATH */
    dev_t device;   /* of the file system: another one may have had the same path */
    bool is_chosen; /* the user chose the directory; otherwise only the user may own the pool */
};

/* A file, by its numbers. */
struct other {
    dev_t device;
    unsigned long long inode;
};

struct search {
    struct had had[MOST_PLACES];
    unsigned count;
    int flags; /* of open(2) */
    struct deleted *found;
    struct stat status;        /* of the pool found */
    char link[PATH_MAX + 256]; /* read from /proc */
    struct other *others;      /* files that had the path and are no pools, or removed ones */
    size_t other_room, other_count;
    pid_t inspector; /* the last process seen that only inspects the pool */
};

/* Write the canonical path of a directory, which need not exist, and the device that it is on or
   would be on. `whole` has room for PATH_MAX. -ENOENT: no part of it exists. */
static int canonical(const char *path, char *whole, dev_t *device)
{
    struct stat status;
    char *known = strdup(path); /* the part that exists */
    size_t length = strlen(path);
    int error = known == NULL ? -ENOMEM : 0;
    while (error == 0 && realpath(known, whole) == NULL) {
        error = errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
        while (length > 0 && path[length - 1] != '/') {
            length--;
        }
        while (length > 1 && path[length - 1] == '/') {
            length--;
        }
        if (error == 0 && (length == 0 || (length == 1 && known[1] == '\0'))) {
            error = -ENOENT;
        }
        known[length] = '\0';
    }
    free(known);
    if (error == 0 && stat(whole, &status) != 0) {
        error = -errno;
    }
    if (error != 0) {
        return error;
    }
    *device = status.st_dev;
    const char *rest = path + length + strspn(path + length, "/");
    size_t used = strlen(whole);
    int more = snprintf(whole + used, PATH_MAX - used, "%s%s",
                        *rest != '\0' && strcmp(whole, "/") != 0 ? "/" : "", rest);
    return more < 0 || (size_t)more >= PATH_MAX - used ? -ENAMETOOLONG : 0;
}

/* List the paths that the pool may have had. */
static int list_paths(struct search *search, const struct name *name)
{
    for (unsigned p = 0; p < name->count; p++) {
        const struct name_place *place = &name->places[p];
        struct had *had = &search->had[search->count];
        int error = canonical(place->path, search->link, &had->device);
        if (error == -ENOENT) {
            continue;
        }
        if (error != 0) {
            return error;
        }
        size_t room = strlen(search->link) + strlen(name->last) + sizeof suffix + 1;
        had->text = calloc(1, room);
        if (had->text == NULL) {
            return -ENOMEM;
        }
        (void)snprintf(had->text, room, "%s%s%s%s", search->link,
                       strcmp(search->link, "/") == 0 ? "" : "/", name->last, suffix);
        had->length = strlen(had->text) - strlen(suffix);
        had->is_chosen = place->kind == NAME_PATH || place->kind == NAME_CHOSEN;
        search->count++;
    }
    return 0;
}

static int note_process(struct search *search, pid_t pid)
{
    struct deleted *found = search->found;
    if (found->count == found->room) {
        size_t room = 2 * found->room + 8;
        pid_t *pids = realloc(found->pids, room * sizeof *pids);
        if (pids == NULL) {
            return -ENOMEM;
        }
        found->pids = pids;
        found->room = room;
    }
    if (found->count == 0 || found->pids[found->count - 1] != pid) {
        found->pids[found->count++] = pid;
    }
    return 0;
}

static bool is_other(const struct search *search, dev_t device, unsigned long long inode)
{
    for (size_t o = 0; o < search->other_count; o++) {
        if (search->others[o].device == device && search->others[o].inode == inode) {
            return true;
        }
    }
    return false;
}

/* Note a file that does not count. */
static int note_other(struct search *search, const struct stat *status)
{
    if (is_other(search, status->st_dev, status->st_ino)) {
        return 0;
    }
    if (search->other_count == search->other_room) {
        size_t room = 2 * search->other_room + 8;
        struct other *others = realloc(search->others, room * sizeof *others);
        if (others == NULL) {
            return -ENOMEM;
        }
        search->others = others;
        search->other_room = room;
    }
    search->others[search->other_count++] = (struct other){status->st_dev, status->st_ino};
    return 0;
}

/* Errors that mean "that process has ended, or is not ours to look at". */
static bool is_hidden(int error)
{
    return error == EACCES || error == EPERM || error == ENOENT || error == ESRCH;
}

/* May it be the deleted pool of that path? */
static bool is_pool(const struct had *had, const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_nlink == 0 && status->st_dev == had->device &&
           (had->is_chosen || status->st_uid == geteuid() || status->st_uid == 0);
}

/* Has the file the content of a pool that nobody removed? usher_remove and usher_discard mean that
   the next pool of the name is a new one. */
static bool is_in_force(int fd, const struct stat *status)
{
    struct format_header header;
    memset((void *)&header, 0, sizeof header);
    ssize_t got = pread(fd, (void *)&header, sizeof header, 0);
    return got > 0 && header.shape.magic == FORMAT_MAGIC &&
           (size_t)status->st_size >= (size_t)got && atomic_load(&header.removed) != FORMAT_GONE;
}

/* Does the process have the file open only to inspect it? */
static bool inspects(pid_t pid, const char *fd)
{
    char path[64];
    char text[128];
    unsigned flags = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/fdinfo/%.12s", (long)pid, fd);
    int info = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = info < 0 ? 0 : read(info, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    if (info >= 0) {
        (void)close(info);
    }
    const char *at = strstr(text, "flags:");
    return at != NULL && sscanf(at, "flags: %o", &flags) == 1 && (flags & DELETED_INSPECTOR) != 0;
}

/* Open the file that the link in /proc leads to, if it is the pool. The link may lead elsewhere by
   now. */
static int open_link(struct search *search, const struct had *had, const char *link, pid_t pid)
{
    struct deleted *found = search->found;
    struct stat status;
    char own[64];
    int path_fd = open(link, O_PATH | O_CLOEXEC);
    if (path_fd < 0) {
        return is_hidden(errno) ? 0 : -errno;
    }
    int error = fstat(path_fd, &status) != 0 ? -errno : 0;
    if (error != 0 || !is_pool(had, &status)) {
        (void)close(path_fd);
        return error != 0 ? error : note_other(search, &status);
    }
    (void)snprintf(own, sizeof own, "/proc/self/fd/%d", path_fd);
    int fd = open(own, O_RDWR | O_NOCTTY | O_NONBLOCK | search->flags);
    error = fd < 0 ? -errno : 0;
    (void)close(path_fd);
    if (error != 0) {
        return error;
    }
    if (!is_in_force(fd, &status)) {
        (void)close(fd);
        return note_other(search, &status);
    }
    if (found->fd >= 0) {
        (void)close(fd);
        bool same =
            status.st_ino == search->status.st_ino && status.st_dev == search->status.st_dev;
        error = note_process(search, pid);
        return error != 0 ? error : same ? 0 : -USHER_ETWICE;
    }
    search->status = status;
    found->fd = fd;
    found->path = strdup(had->text);
    if (found->path == NULL) {
        return -ENOMEM;
    }
    found->path[had->length] = '\0';
    return note_process(search, pid);
}

/* The path that ends the text, or NULL. */
static const struct had *match(const struct search *search, const char *text)
{
    for (unsigned h = 0; h < search->count; h++) {
        if (strcmp(text, search->had[h].text) == 0) {
            return &search->had[h];
        }
    }
    return NULL;
}

/* Look at the descriptors of a process. */
static int search_descriptors(struct search *search, pid_t pid)
{
    char path[64];
    char *link = search->link;
    int error = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return is_hidden(errno) ? 0 : -errno;
    }
    for (const struct dirent *entry; error == 0 && (entry = readdir(directory)) != NULL;) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, link, sizeof search->link - 1);
        link[length > 0 ? length : 0] = '\0';
        const struct had *had = match(search, link);
        if (had != NULL && inspects(pid, entry->d_name)) {
            search->inspector = pid;
        } else if (had != NULL) {
            char whole[sizeof path + sizeof entry->d_name];
            (void)snprintf(whole, sizeof whole, "%s/%s", path, entry->d_name);
            error = open_link(search, had, whole, pid);
        }
    }
    (void)closedir(directory);
    return error;
}

/* Find a mapping of a deleted pool in a process: 1 and *mapped, 0 or -errno. */
static int find_mapping(struct search *search, const char *path, struct other *mapped)
{
    char *line = search->link;
    int result = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return is_hidden(errno) ? 0 : -errno;
    }
    while (result == 0 && fgets(line, sizeof search->link, file) != NULL) {
        unsigned major;
        unsigned minor;
        unsigned long long inode;
        const char *text = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        const struct had *had = text == NULL ? NULL : match(search, text);
        if (had != NULL && sscanf(line, "%*s %*s %*s %x:%x %llu", &major, &minor, &inode) == 3 &&
            makedev(major, minor) == had->device && !is_other(search, had->device, inode)) {
            *mapped = (struct other){had->device, inode};
            result = 1;
        }
    }
    (void)fclose(file);
    return result;
}

/*
 * Look at the descriptors of a process again; and at the mappings of one of this user, which may
 * have closed its descriptor. A process that opens or closes the pool meanwhile seems to have no
 * descriptor for a moment. So its descriptors are read after the mapping once more, and then the
 * mapping: if it is still there, the process has no descriptor.
 */
static int search_mappings(struct search *search, pid_t pid)
{
    char path[64];
    struct stat status;
    struct other mapped[2];
    (void)snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    for (unsigned turn = 0; turn < 2; turn++) {
        search->inspector = 0;
        int error = search_descriptors(search, pid);
        if (error != 0 || search->inspector == pid || search->found->fd >= 0 ||
            stat(path, &status) != 0 || status.st_uid != geteuid()) {
            return error;
        }
        int got = find_mapping(search, path, &mapped[turn]);
        if (got <= 0) {
            return got;
        }
    }
    return mapped[0].device == mapped[1].device && mapped[0].inode == mapped[1].inode
               ? note_process(search, pid)
               : 0;
}

/* Look at every process that we may look at. */
static int search_processes(struct search *search, int (*look)(struct search *, pid_t))
{
    int error = 0;
    DIR *directory = opendir("/proc");
    if (directory == NULL) {
        return errno == ENOENT ? 0 : -errno;
    }
    for (const struct dirent *entry; error == 0 && (entry = readdir(directory)) != NULL;) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            error = look(search, (pid_t)strtol(entry->d_name, NULL, 10));
        }
    }
    (void)closedir(directory);
    return error;
}

static int find(struct search *search, const struct name *name)
{
    struct deleted *found = search->found;
    int error = list_paths(search, name);
    error = error != 0 ? error : search_processes(search, search_descriptors);
    if (error == 0 && found->fd < 0) {
        error = search_processes(search, search_mappings);
    }
    return error != 0 || found->fd >= 0 ? error : found->count > 0 ? -USHER_EDELETED : -ENOENT;
}

int usher__deleted_find(const struct name *name, int flags, struct deleted *found)
{
    struct search *search = calloc(1, sizeof *search);
    *found = (struct deleted){.fd = -1};
    if (search == NULL) {
        return -ENOMEM;
    }
    search->flags = flags;
    search->found = found;
    int error = find(search, name);
    for (unsigned h = 0; h < search->count; h++) {
        free(search->had[h].text);
    }
    free(search->others);
    free(search);
    if (error != 0 && found->fd >= 0) {
        (void)close(found->fd);
        found->fd = -1;
    }
    return error;
}

int usher_deleted(const char *text, pid_t *pids, size_t capacity)
{
    struct name name;
    struct deleted found;
    if (text == NULL || usher__remote_is(text)) {
        return -EINVAL;
    }
    int cancel = os_cancel_off();
    int error = usher__name_parse(text, &name);
    if (error == 0) {
        error = usher__deleted_find(&name, O_CLOEXEC, &found);
        if (found.fd >= 0) {
            (void)close(found.fd);
        }
        for (size_t p = 0; p < found.count && p < capacity; p++) {
            pids[p] = found.pids[p];
        }
        bool none = error == -ENOENT;
        if (none || error == 0 || error == -USHER_EDELETED || error == -USHER_ETWICE) {
            error = (int)found.count;
        }
        free(found.pids);
        free(found.path);
    }
    os_cancel_restore(cancel);
    return error;
}
