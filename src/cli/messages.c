/* Messages, and the texts in them: see cli.h. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The length of the UTF-8 character at `at`; 0 if it is not UTF-8. */
static size_t character_length(const unsigned char *at)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char from, to; /* of the second: no overlong forms, no surrogates, <= U+10FFFF */
        size_t bytes;
    } kinds[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    size_t bytes = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (at[0] >= kinds[k].first && at[0] <= kinds[k].last &&
            (kinds[k].bytes == 1 || (at[1] >= kinds[k].from && at[1] <= kinds[k].to))) {
            bytes = kinds[k].bytes;
        }
    }
    for (size_t b = 2; b < bytes; b++) {
        if ((at[b] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return bytes;
}

char *cli_truncate(char *text, size_t room)
{
    if (strlen(text) > room) {
        while (room > 0 && ((unsigned char)text[room] & 0xc0) == 0x80) {
            room--;
        }
        text[room] = '\0';
    }
    return text;
}

char *cli_sanitize(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0';) {
        size_t bytes = character_length(at);
        if (bytes == 0 || *at < ' ' || *at == 127) {
            *at = '?';
            bytes = 1;
        }
        at += bytes;
    }
    return text;
}

int cli_fail(enum cli_exit code, const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "usher: %s\n", cli_sanitize(text));
    return (int)code;
}

int cli_flush(int status)
{
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == CLI_OK) {
        return cli_fail(CLI_OS, "cannot write to standard output: %s",
                        errno == 0 ? "an earlier write failed" : strerror(errno));
    }
    return status;
}

static enum cli_exit exit_code(int error, bool creating)
{
    switch (-error) {
    case EINVAL:
    case ENAMETOOLONG:
    case ERANGE:
    case EOPNOTSUPP:
        return CLI_USAGE;
    case ENOENT:
        return creating ? CLI_CANNOT_CREATE : CLI_NO_POOL;
    case EEXIST:
    case ENOSPC:
    case EROFS:
    case EDQUOT:
        return CLI_CANNOT_CREATE;
    case EACCES:
    case EPERM:
    case EKEYREJECTED:
        return CLI_PERMISSION;
    case EDOM:
        return CLI_OTHER_SEATS;
    case EBADE:
        return CLI_CANNOT_CREATE;
    case EUSERS:
    case EBUSY:
    case EIDRM:
    case ELOOP:
    case ENODEV:
    case ENODATA:
    case EMSGSIZE:
    case EBADMSG:
    case EPROTONOSUPPORT:
    case EUCLEAN:
    case ENOLCK:
    case ENOTCONN:
    case EHOSTUNREACH:
    case EKEYEXPIRED:
    case EKEYREVOKED:
    case ELIBACC:
    case ELIBBAD:
    case EOVERFLOW:
    case ENOTUNIQ:
    case ENOLINK:
        return CLI_UNUSABLE;
    case ESTALE:
        return CLI_BUG;
    default:
        return CLI_OS;
    }
}

/* Is the error about the pool's file or its directory, so that the message names it? */
static bool is_about_file(int error)
{
    static const int errors[] = {ENOENT,  EEXIST,  EACCES,   EKEYREJECTED, ELOOP,
                                 ENODEV,  ENODATA, EMSGSIZE, EBADMSG,      EPROTONOSUPPORT,
                                 EUCLEAN, ENOLCK,  ENOSPC,   EROFS,        EDQUOT};
    for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
        if (errors[e] == -error) {
            return true;
        }
    }
    return false;
}

/* " (PATH: owner NAME, mode 644)", of the pool's file; of its directory, if there is no file or the
   file is ours and the error is about another user. */
static void describe_file(const char *pool, int error, char *text, size_t room)
{
    char path[2 * PATH_MAX] = "";
    struct stat status;
    text[0] = '\0';
    if (cli_is_remote(pool) || !is_about_file(error)) {
        return;
    }
    bool exists = cli_pool_file(pool, path, sizeof path);
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return;
    }
    if (slash > path && (!exists || lstat(path, &status) != 0 ||
                         (error == -EKEYREJECTED && status.st_uid == geteuid()))) {
        *slash = '\0';
    }
    if (error == -EKEYREJECTED && lstat(path, &status) != 0) {
        slash = strrchr(path, '/'); /* the directory would be made in this one */
        *(slash > path ? slash : path + 1) = '\0';
    }
    if (lstat(path, &status) != 0) {
        (void)snprintf(text, room, " (%s)", path);
        return;
    }
    const struct passwd *owner = getpwuid(status.st_uid);
    char number[32];
    (void)snprintf(number, sizeof number, "%lu", (unsigned long)status.st_uid);
    (void)snprintf(text, room, " (%s: owner %s, mode %o)", path,
                   owner == NULL ? number : owner->pw_name, (unsigned)status.st_mode & 07777);
}

/* The paths of the two pools that have the name. */
static int fail_twice(const char *pool)
{
    char directory[PATH_MAX];
    char paths[3 * PATH_MAX] = "";
    struct stat status;
    for (unsigned d = 0; usher_directory_at(d, directory, sizeof directory) == 0; d++) {
        char path[2 * PATH_MAX];
        size_t used = strlen(paths);
        (void)snprintf(path, sizeof path, "%s/%s", directory, pool);
        if (lstat(path, &status) == 0) {
            (void)snprintf(paths + used, sizeof paths - used, "%s%s", used == 0 ? "" : " and ",
                           path);
        }
    }
    return cli_fail(CLI_UNUSABLE,
                    "pool %s: two pools have this name: %s; use one by its path, and remove the "
                    "other with 'usher remove PATH'",
                    pool, paths[0] == '\0' ? "both were deleted while in use" : paths);
}

/* The pool's file was deleted, and the pool cannot be opened through /proc. */
static int fail_deleted(const char *pool)
{
    enum { MOST = 16 };
    pid_t pids[MOST];
    char text[16 * MOST] = "";
    int count = usher_deleted(pool, pids, MOST);
    for (int p = 0; p < count && p < MOST; p++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, " %ld", (long)pids[p]);
    }
    return cli_fail(CLI_UNUSABLE,
                    "pool %s: its file was deleted while %d process%s use it, with the pids%s%s; "
                    "let them finish, or end them",
                    pool, count < 0 ? 0 : count, count == 1 ? "" : "es", text,
                    count > MOST ? " .." : "");
}

/* The pool is defined, and this user may not create it. */
static int fail_defined(const char *pool, const char *definition)
{
    return cli_fail(CLI_PERMISSION,
                    "pool %s: %s defines it, but it does not exist, and this user may not create "
                    "it; as root, run 'usher create %s'",
                    pool, definition, pool);
}

int cli_fail_pool(const char *pool, int error, bool creating)
{
    char file[3 * PATH_MAX];
    bool is_name = !cli_is_remote(pool) && strchr(pool, '/') == NULL;
    if (error == -ENOTUNIQ && is_name) {
        return fail_twice(pool);
    }
    if (error == -ENOLINK) {
        return fail_deleted(pool);
    }
    if (error == -EBADE && usher_definition(pool, file, sizeof file) == error) {
        return cli_fail(CLI_CANNOT_CREATE, "pool %s: %s", pool, file);
    }
    if ((error == -EACCES || error == -EPERM || error == -ENOENT) && creating && is_name &&
        !cli_pool_file(pool, file, sizeof file) && usher_definition(pool, file, sizeof file) > 0) {
        return fail_defined(pool, file);
    }
    describe_file(pool, error, file, sizeof file);
    return cli_fail(exit_code(error, creating), "pool %s: %s%s", pool[0] == '\0' ? "''" : pool,
                    usher_strerror(error), file);
}

int64_t cli_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

const char *cli_duration(int64_t ns, char *text, size_t room)
{
    long long ms = ns < 0 ? 0 : ns / 1000000;
    long long s = ms / 1000;
    if (ms < 1000) {
        (void)snprintf(text, room, "%lld ms", ms);
    } else if (s < 60) {
        (void)snprintf(text, room, "%lld.%lld s", s, ms % 1000 / 100);
    } else if (s < 3600) {
        (void)snprintf(text, room, "%lld min %lld s", s / 60, s % 60);
    } else if (s < 86400) {
        (void)snprintf(text, room, "%lld h %lld min", s / 3600, s % 3600 / 60);
    } else {
        (void)snprintf(text, room, "%lld d %lld h", s / 86400, s % 86400 / 3600);
    }
    return text;
}

const char *cli_short_duration(int64_t ns, char *text, size_t room)
{
    long long ms = ns < 0 ? 0 : ns / 1000000;
    long long s = ms / 1000;
    if (ms < 1000) {
        (void)snprintf(text, room, "%lld ms", ms);
    } else if (s < 60) {
        (void)snprintf(text, room, "%lld s", s);
    } else if (s < 3600) {
        (void)snprintf(text, room, "%lld min", s / 60);
    } else if (s < 86400) {
        (void)snprintf(text, room, "%lld h", s / 3600);
    } else {
        (void)snprintf(text, room, "%lld d", s / 86400);
    }
    return text;
}

const char *cli_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}
