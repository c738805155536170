/*
 * What /proc says of processes: see os_proc.h.
 *
 * A pid in /proc means something only if /proc is a procfs of our own pid namespace. A container
 * that was given a pid namespace and no /proc of its own sees the numbers of another. So each
 * question begins with our own entry: the line NSpid of /proc/self/status has our pid in the
 * namespace of that procfs first and our pid in our own namespace last. If there is one number, the
 * two namespaces are one. Nothing is remembered: what is mounted at /proc may change.
 *
 * An open /proc/PID/stat belongs to one process for ever: once that process is gone, reading fails,
 * whichever process has the number then. One read returns all fields.
 */
#include "os/os_proc.h"

#include "os/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    HASH_BITS = 20,
    LINE_ROOM = 64,
    STAT_ROOM = 1024 /* more than 52 numbers and a name take */
};

/* The inode number of the first time namespace, in which nothing is shifted: a constant of Linux.
   */
#define TIME_NAMESPACE 0xeffffffaU

/* "/proc/PID/WHAT"; without snprintf, for a child between vfork and exec. */
static void path_of(pid_t pid, const char *what, char path[LINE_ROOM])
{
    char digits[24];
    char *at = digits + sizeof digits - 1;
    *at = '\0';
    for (uint64_t rest = (uint64_t)pid; rest > 0 || *at == '\0'; rest /= 10) {
        *--at = (char)('0' + rest % 10);
    }
    (void)stpcpy(stpcpy(stpcpy(path, "/proc/"), at), what);
}

/* Open a file of a procfs. *device tells which. */
static int open_proc(const char *path, dev_t *device)
{
    struct statfs kind;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == EMFILE || errno == ENFILE ? -errno : -ENODATA;
    }
    if (fstatfs(fd, &kind) != 0 || kind.f_type != PROC_SUPER_MAGIC || fstat(fd, &status) != 0) {
        (void)close(fd);
        return -ENODATA;
    }
    *device = status.st_dev;
    return fd;
}

/* Find the line of /proc/PID/status that begins with `key`, and copy the rest of it. */
static int status_line(const char *path, const char *key, char text[LINE_ROOM], dev_t *device)
{
    char bytes[1024];
    char line[LINE_ROOM];
    size_t used = 0;
    size_t length = strlen(key);
    int result = -ENODATA;
    int fd = open_proc(path, device);
    if (fd < 0) {
        return fd;
    }
    for (ssize_t got; result != 0 && (got = read(fd, bytes, sizeof bytes)) > 0;) {
        for (ssize_t b = 0; b < got && result != 0; b++) {
            if (bytes[b] != '\n') {
                line[used] = bytes[b];
                used += used < sizeof line - 1; /* the rest of a long line is dropped */
                continue;
            }
            line[used] = '\0';
            if (strncmp(line, key, length) == 0) {
                memcpy(text, line + length, used - length + 1); /* with its end */
                result = 0;
            }
            used = 0;
        }
    }
    (void)close(fd);
    return result;
}

/* Is /proc a procfs of our pid namespace? 0 and its device, or an error of os_proc_stat. */
static int own_proc(dev_t *device)
{
    char text[LINE_ROOM];
    char *end;
    int error = status_line("/proc/self/status", "NSpid:", text, device);
    if (error != 0) {
        return error;
    }
    long pid = strtol(text, &end, 10);
    return *end == '\0' && pid == (long)getpid() ? 0 : -ENODATA;
}

/* The number after so many blanks. */
static long long field(const char *text, int blanks)
{
    for (; blanks > 0 && text != NULL; blanks--) {
        text = strchr(text + 1, ' ');
    }
    return text == NULL ? -1 : strtoll(text, NULL, 10);
}

/* The text behind the name, which may hold anything: " S 1 .." */
static int parse(char *text, struct os_stat *stat)
{
    enum { STATE = 3, THREADS = 20, START = 22, STATUS = 52 }; /* proc_pid_stat(5) */
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] != ' ' || field(at, STATUS - STATE + 1) < 0) {
        return -ENODATA;
    }
    stat->start = (uint64_t)field(at, START - STATE + 1);
    /* The first thread of a process may end before the others: then it is a zombie, too. */
    stat->ended = at[2] == 'Z' && field(at, THREADS - STATE + 1) == 1;
    stat->status = (int)field(at, STATUS - STATE + 1);
    return 0;
}

int os_proc_stat(pid_t pid, struct os_stat *stat)
{
    char path[LINE_ROOM];
    char text[STAT_ROOM];
    dev_t own;
    dev_t device = 0;
    if (getpgid(pid) < 0 && errno == ESRCH) {
        return -ESRCH; /* of any user, and whatever /proc shows or hides */
    }
    int error = own_proc(&own);
    if (error != 0) {
        return error;
    }
    path_of(pid, "/stat", path);
    int fd = open_proc(path, &device);
    if (fd < 0) {
        return fd;
    }
    ssize_t got = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (got <= 0 || device != own) {
        return -ENODATA;
    }
    text[got] = '\0';
    return parse(text, stat);
}

int os_proc_is_process(pid_t pid, bool *is)
{
    char path[LINE_ROOM];
    char text[LINE_ROOM];
    dev_t own;
    dev_t device = 0;
    int error = own_proc(&own);
    if (error == 0) {
        path_of(pid, "/status", path);
        error = status_line(path, "Tgid:", text, &device);
    }
    if (error == 0 && device != own) {
        error = -ENODATA;
    }
    *is = error == 0 && strtol(text, NULL, 10) == (long)pid;
    return error;
}

static uint32_t hash_bits(uint64_t hash)
{
    hash = (hash ^ hash >> HASH_BITS ^ hash >> 2 * HASH_BITS) & ((1U << HASH_BITS) - 1);
    return hash == 0 ? 1 : (uint32_t)hash;
}

/* The line "boottime SECONDS NANOSECONDS" of /proc/self/timens_offsets. */
static int read_shift(uint32_t *shift)
{
    char text[LINE_ROOM];
    char *end;
    dev_t device;
    int error = status_line("/proc/self/timens_offsets", "boottime", text, &device);
    if (error != 0) {
        return error;
    }
    uint64_t seconds = (uint64_t)strtoll(text, &end, 10);
    uint64_t nanoseconds = (uint64_t)strtoll(end, NULL, 10);
    uint64_t offset = seconds * 1000000000 + nanoseconds;
    *shift = offset == 0 ? 0 : hash_bits(offset * 0x9e3779b97f4a7c15ULL);
    return 0;
}

/* The offsets are those of our children. If they have a time namespace of their own, ours cannot be
   read. */
int os_proc_shift(uint32_t *shift)
{
    struct stat ours;
    struct stat of_children;
    *shift = 0;
    if (stat("/proc/self/ns/time", &ours) != 0) {
        return errno == ENOENT ? 0 : -ENODATA; /* before Linux 5.6 there is one for all */
    }
    if (ours.st_ino == TIME_NAMESPACE) {
        return 0;
    }
    if (stat("/proc/self/ns/time_for_children", &of_children) != 0 ||
        of_children.st_ino != ours.st_ino) {
        return -ENODATA;
    }
    return read_shift(shift);
}

/* Some containers put a file of their own in the place of boot_id, and others in the same pid
   namespace do not see that. */
uint32_t os_proc_boot(void)
{
    char id[LINE_ROOM] = "";
    uint64_t hash = 0xcbf29ce484222325ULL;
    dev_t device;
    int fd = open_proc("/proc/sys/kernel/random/boot_id", &device);
    if (fd >= 0) {
        ssize_t got = read(fd, id, sizeof id - 1);
        id[got > 0 ? got : 0] = '\0';
        (void)close(fd);
    }
    for (const char *at = id; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3ULL;
    }
    return id[0] == '\0' ? 0 : hash_bits(hash);
}
