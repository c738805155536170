/* Find pools: the names in the directories, pools whose file was deleted, pools of older
   versions. See cli.h. */
#include "cli/cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char shared_directory[] = "/run/usher/shared";
static const char deleted[] = " (deleted)";

bool cli_shared_directory(void)
{
    struct stat status;
    return lstat(shared_directory, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == 0 &&
           (status.st_mode & S_IWOTH) == 0;
}

bool cli_pool_file(const char *pool, char *path, size_t room)
{
    struct stat status;
    char directory[PATH_MAX];
    if (strchr(pool, '/') != NULL) {
        (void)snprintf(path, room, "%s", pool);
        return lstat(path, &status) == 0;
    }
    for (unsigned d = 0; usher_directory_at(d, directory, sizeof directory) == 0; d++) {
        (void)snprintf(path, room, "%s/%s", directory, pool);
        if (lstat(path, &status) == 0) {
            return true;
        }
    }
    if (usher_directory(directory, sizeof directory) == 0) {
        (void)snprintf(path, room, "%s/%s", directory, pool);
    }
    return false;
}

static bool add_name(struct cli_names *names, const char *name)
{
    for (size_t n = 0; n < names->count; n++) {
        if (strcmp(names->names[n], name) == 0) {
            return true;
        }
    }
    char **more = realloc(names->names, (names->count + 1) * sizeof *more);
    char *copy = strdup(name);
    names->names = more == NULL ? names->names : more;
    if (more == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    names->names[names->count++] = copy;
    return true;
}

/* Add the names in a directory. Of the shared directory only those that we may use. */
static int add_directory(struct cli_names *names, const char *path)
{
    bool is_shared = strcmp(path, shared_directory) == 0;
    if (is_shared && !cli_shared_directory()) {
        return 0;
    }
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return errno == ENOENT ? 0 : -errno;
    }
    bool enough_memory = true;
    for (const struct dirent *entry; enough_memory && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] != '.' &&
            (!is_shared || faccessat(dirfd(directory), entry->d_name, R_OK | W_OK, 0) == 0)) {
            enough_memory = add_name(names, entry->d_name);
        }
    }
    (void)closedir(directory);
    return enough_memory ? 0 : -ENOMEM;
}

/* Add the name if the link is that of a deleted file in one of the directories. */
static bool add_link(struct cli_names *names, char *link)
{
    char directory[PATH_MAX];
    size_t length = strlen(link);
    size_t ending = sizeof deleted - 1;
    if (length <= ending || strcmp(link + length - ending, deleted) != 0) {
        return true;
    }
    link[length - ending] = '\0';
    char *name = strrchr(link, '/');
    if (name == NULL || name[1] == '.' || name[1] == '#' || name[1] == '\0') {
        return true;
    }
    *name++ = '\0';
    for (unsigned d = 0; usher_directory_at(d, directory, sizeof directory) == 0; d++) {
        char *whole = realpath(directory, NULL);
        bool here = strcmp(whole == NULL ? directory : whole, link) == 0;
        free(whole);
        if (here && usher_deleted(name, NULL, 0) > 0) {
            return add_name(names, name);
        }
    }
    return true;
}

static bool add_deleted_of(struct cli_names *names, const char *pid)
{
    char path[PATH_MAX];
    char link[PATH_MAX];
    bool enough_memory = true;
    (void)snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *directory = opendir(path);
    for (const struct dirent *entry;
         enough_memory && directory != NULL && (entry = readdir(directory)) != NULL;) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        enough_memory = add_link(names, link);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return enough_memory;
}

static int add_deleted(struct cli_names *names)
{
    bool enough_memory = true;
    DIR *processes = opendir("/proc");
    for (const struct dirent *entry;
         enough_memory && processes != NULL && (entry = readdir(processes)) != NULL;) {
        enough_memory =
            !isdigit((unsigned char)entry->d_name[0]) || add_deleted_of(names, entry->d_name);
    }
    if (processes != NULL) {
        (void)closedir(processes);
    }
    return enough_memory ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int cli_list_pools(struct cli_names *names, bool with_deleted)
{
    char directory[PATH_MAX];
    int error = 0;
    *names = (struct cli_names){.count = 0};
    for (unsigned d = 0; error == 0 && usher_directory_at(d, directory, sizeof directory) == 0;
         d++) {
        error = add_directory(names, directory);
    }
    if (error == 0 && with_deleted) {
        error = add_deleted(names);
    }
    if (names->count > 0) {
        qsort(names->names, names->count, sizeof *names->names, by_name);
    }
    return error;
}

void cli_free_names(struct cli_names *names)
{
    for (size_t n = 0; n < names->count; n++) {
        free(names->names[n]);
    }
    free(names->names);
}

bool cli_is_deleted(struct usher_pool *pool)
{
    struct stat status;
    const char *path = usher_path(pool);
    return path[0] != '\0' && !cli_is_remote(path) && lstat(path, &status) != 0 && errno == ENOENT;
}

/* Name the pools of older versions in a directory; if `only` is not NULL, the one of that name. */
static void name_old(const char *directory, const char *only)
{
    char path[2 * PATH_MAX];
    struct stat status;
    DIR *old = opendir(directory);
    for (const struct dirent *entry; old != NULL && (entry = readdir(old)) != NULL;) {
        (void)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.' && (only == NULL || strcmp(only, entry->d_name) == 0) &&
            lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()) {
            (void)cli_fail(CLI_OK,
                           "pool %s: an older version of usher made %s, which this version does "
                           "not use; when 'usher status %s' shows no holders, run 'usher remove "
                           "%s'",
                           entry->d_name, path, path, path);
        }
    }
    if (old != NULL) {
        (void)closedir(old);
    }
}

void cli_name_old_pools(const char *only)
{
    const char *chosen = getenv("USHER_DIR");
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char usual[64];
    char said[PATH_MAX] = "";
    if ((chosen != NULL && chosen[0] != '\0') || (only != NULL && strchr(only, '/') != NULL)) {
        return; /* older versions used $USHER_DIR, too */
    }
    (void)snprintf(usual, sizeof usual, "/run/user/%lu/usher", (unsigned long)geteuid());
    name_old(usual, only);
    if (runtime != NULL && runtime[0] == '/') {
        (void)snprintf(said, sizeof said, "%s/usher", runtime);
    }
    if (said[0] != '\0' && strcmp(said, usual) != 0) {
        name_old(said, only);
    }
}
