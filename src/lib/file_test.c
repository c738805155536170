/*
 * Pool files: where they are, who may have them, every error that usher_open can end with, and that
 * a pool is made whole or not at all, whoever else makes it and whenever its maker is killed. What
 * is in the file is damage_test's matter. usage: file_test [SEED]
 *
 * As root, more is tested: other owners, full and read-only file systems, a root without /proc.
 */
#include "scene.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static uid_t somebody; /* a user that is nobody here, and another in each run */

static bool root(void)
{
    return geteuid() == 0;
}

/* The pool cannot be opened, for this reason, and the attempt leaves nothing behind. */
static void refused_with(const char *name, const struct usher_options *options, int error)
{
    struct usher_pool *pool = (struct usher_pool *)board; /* anything but NULL */
    int descriptors = scene_descriptors();
    int got = usher_open(&pool, name, options);
    if (got != error) {
        (void)fprintf(stderr, "usher_open(\"%.60s\"): %d (%s), not %d (%s)\n", name, got,
                      usher_strerror(got), error, usher_strerror(error));
        exit(1);
    }
    EXPECT(pool == NULL);
    EXPECT_EQ(scene_descriptors(), descriptors);
}

static void refused(const char *name, int error)
{
    int files = scene_files(scene_directory());
    refused_with(name, NULL, error);
    EXPECT_EQ(scene_files(scene_directory()), files);
}

static void make_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    EXPECT(fd >= 0);
    EXPECT_EQ(write(fd, bytes, size), (ssize_t)size);
    EXPECT_EQ(close(fd), 0);
}

static off_t size_of(const char *path)
{
    struct stat status;
    EXPECT_EQ(stat(path, &status), 0);
    return status.st_size;
}

/* A sum over a file's bytes. */
static uint64_t sum_of(const char *path)
{
    unsigned char bytes[8192];
    uint64_t sum = 1;
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT(fd >= 0);
    while ((got = read(fd, bytes, sizeof bytes)) > 0) {
        for (ssize_t b = 0; b < got; b++) {
            sum = sum * 31 + bytes[b];
        }
    }
    EXPECT_EQ(close(fd), 0);
    return sum;
}

static void make_pool(const char *name, const struct usher_options *options)
{
    struct usher_pool *pool;
    EXPECT_EQ(usher_open(&pool, name, options), 0);
    usher_close(pool);
}

static void become_somebody(void)
{
    if (root()) {
        EXPECT_EQ(setgroups(0, NULL), 0);
        EXPECT_EQ(setgid(somebody), 0);
        EXPECT_EQ(setuid(somebody), 0);
    }
}

static void every_error_has_a_sentence_of_its_own(void)
{
    static const int errors[] = {
        0,        -EINVAL, -ENAMETOOLONG, -ERANGE,          -EDOM,         -ENOENT,    -EEXIST,
        -EACCES,  -ELOOP,  -ENODEV,       -ENODATA,         -EKEYREJECTED, -EMSGSIZE,  -EBADMSG,
        -EUCLEAN, -ENOLCK, -ENOSPC,       -EPROTONOSUPPORT, -ENOMEM,       -EMFILE,    -ENFILE,
        -EROFS,   -EUSERS, -EIDRM,        -ESTALE,          -EAGAIN,       -ETIMEDOUT, -EPERM,
        -ESRCH,   -EBUSY,  -ENOSYS,       -ENOTDIR,         -EIO,          -EDQUOT,    -EOVERFLOW};
    enum { ERRORS = sizeof errors / sizeof errors[0] };
    for (unsigned a = 0; a < ERRORS; a++) {
        const char *sentence = usher_strerror(errors[a]);
        EXPECT(sentence != NULL && strlen(sentence) > 4);
        EXPECT(strcmp(sentence, usher_strerror(123456)) != 0);
        EXPECT(strcmp(sentence, usher_strerror(-errors[a])) == 0);
        for (unsigned b = 0; b < a; b++) {
            EXPECT(strcmp(sentence, usher_strerror(errors[b])) != 0);
        }
    }
    EXPECT(usher_strerror(INT_MAX) != NULL);
    EXPECT(usher_strerror(INT_MIN) != NULL);
    EXPECT(usher_strerror(-1000000) != NULL);
}

static void a_name_that_is_none_is_refused(void)
{
    static const char *const none[] = {"",      ".",       "..",      ".x",      "...",   "a\nb",
                                       "\x01",  "\x7f",    "tab\t",   "esc\033", "/",     "./",
                                       "./.",   "./..",    "//",      "/tmp/",   "x/..",  "\r",
                                       "/tmp/", "/tmp/\n", "/\x1f/x", "/tmp/.",  "bell\a"};
    struct usher_options existing = {.flags = USHER_EXISTING};
    for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct usher_pool *pool = (struct usher_pool *)board;
        int error = usher_open(&pool, none[i], NULL);
        EXPECT(error == -EINVAL || (strcmp(none[i], "x/..") == 0 && error == -ENOENT));
        EXPECT(pool == NULL);
        EXPECT(usher_open(&pool, none[i], &existing) < 0);
        EXPECT(usher_remove(none[i]) < 0);
        EXPECT(usher_discard(none[i]) < 0);
    }
    EXPECT_EQ(usher_remove(NULL), -EINVAL);
    EXPECT_EQ(usher_discard(NULL), -EINVAL);
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void unusual_names_are_names(void)
{
    static const char *const names[] = {"a", "x.y", "two words", "p\xc3\xb6l", "-n",
                                        "*", "#~;", "a..b",      "\\",         "%s%n"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct usher_pool *pool = scene_open(names[i], 2);
        EXPECT(strcmp(usher_path(pool), scene_path(names[i])) == 0);
        usher_close(pool);
        EXPECT_EQ(access(scene_path(names[i]), R_OK | W_OK), 0);
        EXPECT_EQ(usher_remove(names[i]), 0);
        EXPECT(access(scene_path(names[i]), F_OK) != 0);
    }
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void a_name_that_is_too_long_is_refused(void)
{
    char name[3 * PATH_MAX];
    memset(name, 'n', sizeof name);
    name[200] = '\0';
    make_pool(name, NULL);
    EXPECT_EQ(usher_remove(name), 0);
    name[200] = 'n';
    for (size_t length = 256; length < sizeof name; length += length) {
        name[length] = '\0';
        refused(name, -ENAMETOOLONG);
        EXPECT_EQ(usher_remove(name), -ENAMETOOLONG);
        name[length] = 'n';
    }
    /* The same as paths: one long component, and many short ones. */
    name[0] = '/';
    name[300] = '\0';
    refused(name, -ENAMETOOLONG);
    for (size_t i = 0; i < sizeof name; i++) {
        name[i] = i % 2 == 0 ? '/' : '.';
    }
    name[sizeof name - 1] = '\0';
    refused(name, -ENAMETOOLONG);
    /* A directory that leaves no room for the name. */
    name[PATH_MAX - 2] = '\0';
    EXPECT_EQ(setenv("USHER_DIR", name, 1), 0);
    refused("pool", -ENAMETOOLONG);
    name[PATH_MAX - 2] = '/';
    EXPECT_EQ(setenv("USHER_DIR", name, 1), 0);
    refused("pool", -ENAMETOOLONG);
    EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
}

static void options_that_mean_nothing_are_refused(void)
{
    struct usher_pool *pool;
    struct usher_options options = {.flags = 1U << 31};
    EXPECT_EQ(usher_open(NULL, "x", NULL), -EINVAL);
    refused_with("x", &options, -EINVAL);
    for (unsigned flag = 4; flag < 32; flag++) {
        options.flags = 1U << flag;
        refused_with("x", &options, -EINVAL);
        EXPECT_EQ(usher_open(&pool, NULL, &options), -EINVAL);
    }
    options.flags = USHER_EXISTING | USHER_EXCLUSIVE;
    refused_with("x", &options, -EINVAL);
    options.flags = 0;
    for (unsigned i = 0; i < sizeof options.reserved / sizeof options.reserved[0]; i++) {
        options.reserved[i] = 1U << 7 * i;
        refused_with("x", &options, -EINVAL);
        options.reserved[i] = 0;
    }
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void more_than_a_pool_can_have_is_refused(void)
{
    static const uint32_t many[][2] = {{65535, 0},
                                       {UINT32_MAX, 0},
                                       {1, 65535},
                                       {1, UINT32_MAX},
                                       {2, 1},
                                       {65534, 65533},
                                       {65535, 65534},
                                       {65536, UINT32_MAX},
                                       {1U << 31, 1U << 31},
                                       {0, 1U << 16},
                                       {UINT32_MAX / 2 + 2, 0}};
    struct usher_pool *pool;
    for (unsigned i = 0; i < sizeof many / sizeof many[0]; i++) {
        struct usher_options options = {.seats = many[i][0], .guests = many[i][1]};
        refused_with("many", &options, -ERANGE);
        EXPECT_EQ(usher_open(&pool, NULL, &options), -ERANGE);
        EXPECT(pool == NULL);
    }
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void another_number_of_seats_is_refused_and_changes_nothing(void)
{
    make_pool("three", &(struct usher_options){.seats = 3});
    uint64_t before = sum_of(scene_path("three"));
    for (uint32_t seats = 1; seats < 100; seats++) {
        if (seats != 3) {
            refused_with("three", &(struct usher_options){.seats = seats}, -EDOM);
        }
    }
    refused_with("three", &(struct usher_options){.seats = 65534}, -EDOM);
    EXPECT_EQ(sum_of(scene_path("three")), before);
    make_pool("three", &(struct usher_options){.seats = 3, .guests = 7}); /* of a new pool only */
    make_pool("three", NULL);
    EXPECT_EQ(usher_remove("three"), 0);
}

static void the_number_of_seats_is_the_one_it_has_now(void)
{
    struct usher_pool *pool = scene_open("resized", 3);
    EXPECT_EQ(usher_resize(pool, 5), 0);
    refused_with("resized", &(struct usher_options){.seats = 3}, -EDOM);
    make_pool("resized", &(struct usher_options){.seats = 5});
    EXPECT_EQ(usher_resize(pool, 0), 0);
    make_pool("resized", &(struct usher_options){.seats = 7}); /* drained: one may still wait */
    make_pool("resized", NULL);
    usher_close(pool);
    EXPECT_EQ(usher_remove("resized"), 0);
}

static void existing_and_exclusive_mean_what_they_say(void)
{
    struct usher_options existing = {.flags = USHER_EXISTING};
    struct usher_options exclusive = {.flags = USHER_EXCLUSIVE};
    refused_with("e", &existing, -ENOENT);
    EXPECT_EQ(scene_files(scene_directory()), 0);
    EXPECT_EQ(usher_remove("e"), -ENOENT);
    EXPECT_EQ(usher_discard("e"), -ENOENT);
    make_pool("e", &exclusive);
    uint64_t before = sum_of(scene_path("e"));
    refused_with("e", &exclusive, -EEXIST);
    make_pool("e", &existing);
    EXPECT_EQ(sum_of(scene_path("e")), before);
    EXPECT_EQ(usher_remove("e"), 0);
    /* Exclusive means: whatever it is that has the name. */
    make_file(scene_path("e"), "x", 1);
    refused_with("e", &exclusive, -EEXIST);
    EXPECT_EQ(unlink(scene_path("e")), 0);
    EXPECT_EQ(symlink("nowhere", scene_path("e")), 0);
    refused_with("e", &exclusive, -EEXIST);
    EXPECT_EQ(unlink(scene_path("e")), 0);
}

static void without_a_directory_there_is_no_pool(void)
{
    char deep[PATH_MAX];
    (void)snprintf(deep, sizeof deep, "%s/no/such", scene_directory());
    EXPECT_EQ(setenv("USHER_DIR", deep, 1), 0);
    refused("x", -ENOENT);
    EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
    refused("no/such/x", -ENOENT);
    refused(scene_path("no/x"), -ENOENT);
    make_file(scene_path("file"), "x", 1);
    refused(scene_path("file/x"), -ENOTDIR);
    EXPECT_EQ(setenv("USHER_DIR", scene_path("file"), 1), 0);
    refused("x", -ENOTDIR);
    EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
    EXPECT_EQ(unlink(scene_path("file")), 0);
}

static void what_is_not_a_regular_file_is_refused(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    EXPECT_EQ(symlink("target", scene_path("link")), 0);
    refused("link", -ELOOP);
    EXPECT(access(scene_path("target"), F_OK) != 0);
    make_pool("target", NULL);
    refused("link", -ELOOP);
    EXPECT_EQ(usher_remove("link"), -ELOOP);
    EXPECT_EQ(usher_discard("link"), -ELOOP);
    EXPECT_EQ(unlink(scene_path("link")), 0);
    EXPECT_EQ(link(scene_path("target"), scene_path("link")), 0);
    make_pool("link", NULL); /* a hard link is as good a name */
    EXPECT_EQ(unlink(scene_path("link")), 0);
    EXPECT_EQ(usher_remove("target"), 0);
    EXPECT_EQ(symlink("loop", scene_path("loop")), 0);
    refused("loop", -ELOOP);
    EXPECT_EQ(unlink(scene_path("loop")), 0);

    EXPECT_EQ(mkdir(scene_path("directory"), 0700), 0);
    refused("directory", -ENODEV);
    EXPECT_EQ(rmdir(scene_path("directory")), 0);
    EXPECT_EQ(mkfifo(scene_path("fifo"), 0600), 0);
    refused("fifo", -ENODEV);
    EXPECT_EQ(unlink(scene_path("fifo")), 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", scene_path("socket"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    refused("socket", -ENODEV);
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(unlink(scene_path("socket")), 0);
    refused("/dev/null", -ENODEV);
    refused("/dev/tty0/x", -ENOTDIR);
}

static void the_file_of_somebody_else_is_refused(void)
{
    if (!root()) {
        (void)printf("  SKIPPED: needs root\n");
        return;
    }
    make_pool("theirs", NULL);
    EXPECT_EQ(chown(scene_path("theirs"), somebody, somebody), 0);
    refused("theirs", -EKEYREJECTED);
    EXPECT_EQ(usher_remove("theirs"), -EKEYREJECTED);
    EXPECT_EQ(chmod(scene_path("theirs"), 0644), 0);
    refused("theirs", -EKEYREJECTED);
    EXPECT_EQ(chmod(scene_path("theirs"), 0660), 0); /* meant to be shared */
    make_pool("theirs", NULL);
    EXPECT_EQ(usher_remove("theirs"), 0);
}

static void permissions_as_somebody(void *unused)
{
    (void)unused;
    become_somebody();
    refused_with("secret", NULL, -EACCES);
    refused_with("readable", NULL, -EACCES);
    refused_with("new", NULL, -EACCES);
    refused_with("new", &(struct usher_options){.flags = USHER_EXCLUSIVE}, -EACCES);
    refused_with("new", &(struct usher_options){.flags = USHER_EXISTING}, -ENOENT);
    refused_with(scene_path("closed/x"), NULL, -EACCES);
    EXPECT_EQ(setenv("USHER_DIR", scene_path("closed"), 1), 0);
    refused_with("x", NULL, -EACCES);
}

static void what_one_may_not_use_is_refused(void)
{
    make_pool("secret", NULL);
    make_pool("readable", NULL);
    EXPECT_EQ(chmod(scene_path("readable"), root() ? 0644 : 0400), 0);
    EXPECT_EQ(chmod(scene_path("secret"), root() ? 0600 : 0), 0);
    EXPECT_EQ(mkdir(scene_path("closed"), 0700), 0);
    EXPECT_EQ(chmod(scene_path("closed"), root() ? 0700 : 0), 0);
    EXPECT_EQ(chmod(scene_directory(), root() ? 0755 : 0500), 0);
    scene_in_child(permissions_as_somebody, NULL);
    EXPECT_EQ(chmod(scene_directory(), 0700), 0);
    EXPECT_EQ(rmdir(scene_path("closed")), 0);
    EXPECT_EQ(chmod(scene_path("readable"), 0600), 0);
    EXPECT_EQ(chmod(scene_path("secret"), 0600), 0);
    EXPECT_EQ(usher_remove("secret"), 0);
    EXPECT_EQ(usher_remove("readable"), 0);
}

static void share_as_somebody(void *unused)
{
    struct usher_seat seat;
    (void)unused;
    become_somebody();
    struct usher_pool *pool = scene_open("shared", 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EAGAIN);
    usher_close(pool);
    EXPECT_EQ(usher_remove("shared"), -EACCES); /* the directory is not theirs */
    pool = scene_open("shared", 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    usher_close(pool);
}

static void a_pool_can_be_shared_with_other_users(void)
{
    if (!root()) {
        (void)printf("  SKIPPED: needs root\n");
        return;
    }
    make_pool("shared", &(struct usher_options){.mode = 0666});
    EXPECT_EQ(chmod(scene_directory(), 0755), 0);
    scene_in_child(share_as_somebody, NULL);
    EXPECT_EQ(chmod(scene_directory(), 0700), 0);
    scene_expect_whole("shared", 1);
    EXPECT_EQ(usher_remove("shared"), 0);
}

static void the_mode_is_as_asked_whatever_the_umask(void)
{
    static const mode_t modes[] = {0, 0600, 0640, 0660, 0666, 0622, 0604};
    static const mode_t masks[] = {0, 022, 077, 0777, 0477};
    struct stat status;
    for (unsigned m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        for (unsigned u = 0; u < sizeof masks / sizeof masks[0]; u++) {
            mode_t before = umask(masks[u]);
            struct usher_options options = {.mode = modes[m]};
            make_pool("mode", &options);
            (void)umask(before);
            EXPECT_EQ(stat(scene_path("mode"), &status), 0);
            EXPECT_EQ(status.st_mode, S_IFREG | (modes[m] == 0 ? 0600 : modes[m]));
            EXPECT_EQ(usher_remove("mode"), 0);
        }
    }
}

/* Each in a child of its own: what the kernel refuses, it refuses for good. */
static void without_locks(void *unused)
{
    (void)unused;
    if (scene_refuse(SYS_fcntl, 1, UINT32_MAX, F_OFD_GETLK, ENOLCK)) {
        refused_with("limits", NULL, -ENOLCK);
    }
}

static void without_ofd_locks(void *unused)
{
    (void)unused;
    if (scene_refuse(SYS_fcntl, 1, UINT32_MAX, F_OFD_GETLK, EINVAL)) {
        refused_with("limits", NULL, -ENOLCK);
    }
}

static void without_memory(void *unused)
{
    (void)unused;
    if (scene_refuse(SYS_mmap, 3, MAP_SHARED | MAP_PRIVATE, MAP_SHARED, ENOMEM)) {
        refused_with("limits", NULL, -ENOMEM);
        refused_with("new", NULL, -ENOMEM);
        EXPECT(access(scene_path("new"), F_OK) != 0);
    }
}

static void without_descriptors(void *unused)
{
    struct usher_pool *pool;
    int error;
    (void)unused;
    struct rlimit few = {3, 64};
    for (int fd = 3; fd < 64; fd++) {
        (void)close(fd);
    }
    do {
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        pool = (struct usher_pool *)board;
        error = usher_open(&pool, "new", NULL);
        EXPECT(error == 0 || (error == -EMFILE && pool == NULL));
        EXPECT(error == 0 || access(scene_path("new"), F_OK) != 0);
        few.rlim_cur++;
    } while (error != 0);
    EXPECT(few.rlim_cur > 5); /* it was refused for want of one, and of two */
    usher_close(pool);
    EXPECT_EQ(usher_remove("new"), 0);
}

static void what_the_kernel_refuses_is_said(void)
{
    make_pool("limits", NULL);
    uint64_t before = sum_of(scene_path("limits"));
    scene_in_child(without_locks, NULL);
    scene_in_child(without_ofd_locks, NULL);
    scene_in_child(without_memory, NULL);
    scene_in_child(without_descriptors, NULL);
    EXPECT_EQ(sum_of(scene_path("limits")), before);
    EXPECT_EQ(usher_remove("limits"), 0);
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void on_a_small_disk(void *unused)
{
    const char *disk = scene_path("disk");
    char path[PATH_MAX];
    (void)unused;
    if (!root() || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("usher-test", disk, "tmpfs", 0, "size=16k") != 0) {
        (void)printf("  SKIPPED: mounting needs root\n");
        return;
    }
    EXPECT_EQ(setenv("USHER_DIR", disk, 1), 0);
    struct usher_options large = {.guests = 4000};
    struct usher_options small = {.guests = 10};
    refused_with("large", &large, -ENOSPC);
    large.flags = USHER_EXCLUSIVE;
    refused_with("large", &large, -ENOSPC);
    EXPECT_EQ(scene_files(disk), 0);
    make_pool("small", &small); /* nothing was kept of the large one */
    refused_with("large", &large, -ENOSPC);
    EXPECT_EQ(scene_files(disk), 1);
    EXPECT_EQ(mount("usher-test", disk, NULL, MS_REMOUNT | MS_RDONLY, "size=16k"), 0);
    refused_with("small", NULL, -EROFS);
    refused_with("other", NULL, -EROFS);
    EXPECT_EQ(scene_files(disk), 1);
    EXPECT_EQ(mount("usher-test", disk, NULL, MS_REMOUNT, "size=16k"), 0);
    /* Without names to give: inodes are few, too. */
    EXPECT_EQ(mount("usher-test", disk, NULL, MS_REMOUNT, "size=16k,nr_inodes=2"), 0);
    (void)snprintf(path, sizeof path, "%s/other", disk);
    refused_with(path, &small, -ENOSPC);
    EXPECT_EQ(scene_files(disk), 1);
    EXPECT_EQ(usher_remove("small"), 0);
}

static void a_full_or_read_only_disk_leaves_nothing_behind(void)
{
    EXPECT_EQ(mkdir(scene_path("disk"), 0700), 0);
    scene_in_child(on_a_small_disk, NULL);
    EXPECT_EQ(rmdir(scene_path("disk")), 0);
}

static void in_a_bare_root(void *unused)
{
    (void)unused;
    if (!root() || chroot(scene_directory()) != 0 || chdir("/") != 0) {
        (void)printf("  SKIPPED: needs root\n");
        return;
    }
    EXPECT(access("/proc/self", F_OK) != 0);
    for (unsigned flags = 0; flags <= USHER_EXCLUSIVE; flags += USHER_EXCLUSIVE) {
        struct usher_options options = {.seats = 2, .flags = flags};
        struct usher_pool *pool;
        struct usher_seat seat;
        EXPECT_EQ(usher_open(&pool, "/bare", &options), 0);
        EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        usher_close(pool);
        EXPECT_EQ(scene_files("/"), 1);
        EXPECT_EQ(usher_remove("/bare"), 0);
    }
    EXPECT_EQ(scene_files("/"), 0);
}

static void no_proc_is_needed(void)
{
    scene_in_child(in_a_bare_root, NULL);
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void without_nameless_files(void *unused)
{
    char stale[64];
    const uint32_t nameless = O_TMPFILE & ~O_DIRECTORY;
    (void)unused;
    if (!scene_refuse(SYS_openat, 2, nameless, nameless, EOPNOTSUPP)) {
        return;
    }
    EXPECT(open(scene_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) < 0);
    make_pool("named", &(struct usher_options){.seats = 4});
    EXPECT_EQ(scene_files(scene_directory()), 1);
    scene_expect_whole("named", 4);
    refused_with("named", &(struct usher_options){.flags = USHER_EXCLUSIVE}, -EEXIST);
    EXPECT_EQ(scene_files(scene_directory()), 1);
    EXPECT_EQ(usher_remove("named"), 0);
    /* What a killed process with our pid has left behind is in nobody's way. */
    for (int i = 0; i < 8; i++) {
        (void)snprintf(stale, sizeof stale, ".usher-%ld-%d", (long)getpid(), i);
        make_file(scene_path(stale), "x", 1);
    }
    make_pool("named", &(struct usher_options){.flags = USHER_EXCLUSIVE});
    EXPECT_EQ(usher_remove("named"), 0);
    make_pool("named", NULL);
    EXPECT_EQ(usher_remove("named"), 0);
    for (int i = 0; i < 8; i++) {
        (void)snprintf(stale, sizeof stale, ".usher-%ld-%d", (long)getpid(), i);
        EXPECT_EQ(size_of(scene_path(stale)), 1);
        EXPECT_EQ(unlink(scene_path(stale)), 0);
    }
}

static void a_file_system_without_nameless_files_will_do(void)
{
    scene_in_child(without_nameless_files, NULL);
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

enum { RACES = 300 };

static void make_at_once(void *context)
{
    int self = *(int *)context;
    char name[32];
    for (int race = 1; race <= RACES; race++) {
        struct usher_options options = {.seats = 1, .flags = race % 2 ? 0 : USHER_EXCLUSIVE};
        struct usher_pool *pool;
        struct usher_seat seat;
        (void)snprintf(name, sizeof name, "race-%d", race);
        atomic_store(&board->step[self], race);
        while (atomic_load(&board->step[!self]) < race) {
            (void)sched_yield();
        }
        int error = usher_open(&pool, name, &options);
        if (race % 2 == 0 && error != 0) {
            EXPECT_EQ(error, -EEXIST);
            atomic_fetch_add(&board->flags[0], 1);
            options.flags = USHER_EXISTING;
            error = usher_open(&pool, name, &options);
        }
        EXPECT_EQ(error, 0);
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        usher_close(pool);
    }
}

static void of_two_who_make_a_pool_at_once_both_use_one(void)
{
    int selves[2] = {0, 1};
    scene_clear();
    pid_t first = scene_start(make_at_once, &selves[0]);
    pid_t second = scene_start(make_at_once, &selves[1]);
    EXPECT_EQ(scene_end(first), 0);
    EXPECT_EQ(scene_end(second), 0);
    EXPECT_EQ(scene_files(scene_directory()), RACES);
    EXPECT_EQ(atomic_load(&board->flags[0]), RACES / 2); /* one of two, each time */
    for (int race = 1; race <= RACES; race++) {
        char name[32];
        (void)snprintf(name, sizeof name, "race-%d", race);
        struct usher_pool *pool = scene_open(name, 1);
        EXPECT_EQ(scene_info(pool).served, 2);
        usher_close(pool);
        EXPECT_EQ(usher_remove(name), 0);
    }
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static const char *killed_name(int attempt)
{
    static char name[32];
    (void)snprintf(name, sizeof name, "killed-%d", attempt);
    return name;
}

/* What a killed maker has left: nothing, or a whole pool, which is taken away. Whether it was. */
static bool left_whole(int attempt)
{
    struct usher_pool *pool;
    const char *name = killed_name(attempt);
    int error = usher_open(&pool, name, &(struct usher_options){.flags = USHER_EXISTING});
    if (error == 0) {
        usher_close(pool);
        scene_expect_whole(name, 3);
        EXPECT_EQ(usher_remove(name), 0);
    } else {
        EXPECT_EQ(error, -ENOENT);
    }
    EXPECT_EQ(scene_files(scene_directory()), 0);
    return error == 0;
}

static void make_and_be_killed(void *context)
{
    const int *attempt = context;
    struct usher_options options = {.seats = 3, .guests = 3000};
    struct usher_pool *pool;
    const char *name = killed_name(*attempt);
    atomic_store(&board->flags[0], *attempt + 1);
    EXPECT_EQ(usher_open(&pool, name, &options), 0);
    for (;;) {
        (void)pause();
    }
}

static void a_maker_killed_at_any_moment_leaves_a_whole_pool_or_none(void)
{
    enum { ATTEMPTS = 150 };
    int made = 0;
    scene_clear();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        pid_t child = scene_start(make_and_be_killed, &attempt);
        while (atomic_load(&board->flags[0]) != attempt + 1) {
            (void)sched_yield();
        }
        scene_pause_us((long)(scene_random() % 100));
        scene_kill(child);
        made += left_whole(attempt);
    }
    (void)printf("  %d killed, %d had made it\n", ATTEMPTS, made);
}

static void be_traced(void *context)
{
    int attempt = *(int *)context;
    struct usher_options options = {.seats = 3, .guests = 100};
    struct usher_pool *pool;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(77);
    }
    (void)raise(SIGSTOP);
    EXPECT_EQ(usher_open(&pool, killed_name(attempt), &options), 0);
    _exit(0);
}

/* Killed before and after its first system call, its second, .. until one is not killed in time. */
static void a_maker_killed_at_any_system_call_leaves_a_whole_pool_or_none(void)
{
    int made = 0;
    for (int calls = 0;; calls++) {
        pid_t child = scene_start(be_traced, &calls);
        int status = 0;
        for (int stop = 0; stop <= calls; stop++) {
            EXPECT_EQ(waitpid(child, &status, 0), child);
            if (!WIFSTOPPED(status)) {
                break;
            }
            EXPECT(stop == calls || ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0);
        }
        if (WIFEXITED(status)) {
            if (WEXITSTATUS(status) == 77) {
                (void)printf("  SKIPPED: may not trace\n");
                return;
            }
            EXPECT_EQ(status, 0);
            EXPECT(left_whole(calls));
            (void)printf("  killed at %d system calls, %d times it had made it\n", calls, made);
            EXPECT(made > 0 && made < calls && calls > 10);
            return;
        }
        scene_kill(child);
        made += left_whole(calls);
    }
}

static void expect_path(const char *name, const char *path)
{
    struct usher_pool *pool = scene_open(name, 0);
    if (strcmp(usher_path(pool), path) != 0) {
        (void)fprintf(stderr, "the path is %s, not %s\n", usher_path(pool), path);
        exit(1);
    }
    EXPECT_EQ(access(path, F_OK), 0);
    usher_close(pool);
    EXPECT_EQ(usher_remove(name), 0);
    EXPECT(access(path, F_OK) != 0);
}

static void in_the_default_directory(void *unused)
{
    char directory[64];
    char path[128];
    char name[64];
    struct stat status;
    (void)unused;
    become_somebody(); /* so that nobody's real pools are touched */
    EXPECT_EQ(unsetenv("USHER_DIR"), 0);
    EXPECT_EQ(unsetenv("XDG_RUNTIME_DIR"), 0);
    (void)umask(0);
    (void)snprintf(directory, sizeof directory, "/dev/shm/usher-%u", (unsigned)geteuid());
    (void)snprintf(name, sizeof name, "file-test-%ld", (long)getpid());
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    expect_path(name, path);
    EXPECT_EQ(stat(directory, &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700);
    EXPECT_EQ(status.st_uid, geteuid());
    EXPECT_EQ(setenv("XDG_RUNTIME_DIR", "not/absolute", 1), 0);
    expect_path(name, path);
    EXPECT_EQ(setenv("USHER_DIR", "", 1), 0); /* empty is as good as not there */
    expect_path(name, path);
    (void)rmdir(directory);
    if (geteuid() == somebody) { /* the directory that is somebody else's doing */
        EXPECT_EQ(symlink("/tmp", directory), 0);
        refused_with(name, NULL, -EKEYREJECTED);
        EXPECT_EQ(unlink(directory), 0);
        make_file(directory, "", 0);
        refused_with(name, NULL, -EKEYREJECTED);
        EXPECT_EQ(unlink(directory), 0);
    }
}

static void a_name_is_in_the_directory_that_the_header_says(void)
{
    char path[PATH_MAX];
    struct stat status;
    scene_in_child(in_the_default_directory, NULL);

    expect_path("x", scene_path("x"));
    EXPECT_EQ(setenv("USHER_DIR", scene_path("made"), 1), 0); /* its parent is there */
    expect_path("x", scene_path("made/x"));
    EXPECT_EQ(rmdir(scene_path("made")), 0);
    EXPECT_EQ(setenv("XDG_RUNTIME_DIR", "/nowhere", 1), 0); /* $USHER_DIR comes first */
    EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
    expect_path("x", scene_path("x"));
    EXPECT_EQ(unsetenv("USHER_DIR"), 0);
    refused_with("x", NULL, -ENOENT);
    EXPECT_EQ(setenv("XDG_RUNTIME_DIR", scene_directory(), 1), 0);
    mode_t before = umask(0);
    expect_path("x", scene_path("usher/x"));
    (void)umask(before);
    EXPECT_EQ(stat(scene_path("usher"), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700);

    /* A name with a slash is a path, wherever the names are. */
    expect_path(scene_path("by-path"), scene_path("by-path"));
    EXPECT(getcwd(path, sizeof path) != NULL);
    EXPECT_EQ(chdir(scene_directory()), 0);
    expect_path("./here", "./here");
    expect_path("usher/here", "usher/here");
    EXPECT_EQ(chdir(path), 0);
    EXPECT_EQ(rmdir(scene_path("usher")), 0);
    EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
    EXPECT_EQ(unsetenv("XDG_RUNTIME_DIR"), 0);
}

static void a_directory_that_others_may_write_is_refused(void)
{
    static const mode_t bad[] = {0770, 0707, 0777, 01777, 0720, 0702};
    EXPECT_EQ(unsetenv("USHER_DIR"), 0);
    EXPECT_EQ(setenv("XDG_RUNTIME_DIR", scene_directory(), 1), 0);
    EXPECT_EQ(mkdir(scene_path("usher"), 0700), 0);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT_EQ(chmod(scene_path("usher"), bad[i]), 0);
        refused_with("x", NULL, -EKEYREJECTED);
        refused_with("x", &(struct usher_options){.flags = USHER_EXISTING}, -EKEYREJECTED);
        EXPECT_EQ(usher_remove("x"), -EKEYREJECTED);
    }
    EXPECT_EQ(chmod(scene_path("usher"), 0755), 0);
    make_pool("x", NULL);
    EXPECT_EQ(usher_remove("x"), 0);
    if (root()) {
        EXPECT_EQ(chmod(scene_path("usher"), 0700), 0);
        EXPECT_EQ(chown(scene_path("usher"), somebody, somebody), 0);
        refused_with("x", NULL, -EKEYREJECTED);
    }
    EXPECT_EQ(scene_files(scene_path("usher")), 0);
    EXPECT_EQ(rmdir(scene_path("usher")), 0);
    /* A symbolic link to a directory that would be good. */
    EXPECT_EQ(mkdir(scene_path("good"), 0700), 0);
    EXPECT_EQ(symlink("good", scene_path("usher")), 0);
    refused_with("x", NULL, -EKEYREJECTED);
    EXPECT_EQ(unlink(scene_path("usher")), 0);
    EXPECT_EQ(rmdir(scene_path("good")), 0);
    EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
    EXPECT_EQ(unsetenv("XDG_RUNTIME_DIR"), 0);
}

static void a_pool_has_64_bytes_for_each_guest_and_seat_and_a_page(void)
{
    static const uint32_t guests[] = {1,    2,    3,    4,    5,     7,     8,     9,
                                      15,   17,   31,   33,   63,    64,    65,    100,
                                      127,  129,  255,  257,  1000,  1023,  1024,  1025,
                                      2047, 2049, 4097, 8193, 16385, 32769, 65533, 65534};
    for (unsigned g = 0; g < sizeof guests / sizeof guests[0]; g++) {
        const uint32_t seats[] = {1, 2, 3, guests[g] / 3, guests[g] / 2, guests[g] - 1, guests[g]};
        for (unsigned s = 0; s < sizeof seats / sizeof seats[0]; s++) {
            if (seats[s] == 0 || seats[s] > guests[g]) {
                continue;
            }
            struct usher_pool *pool;
            struct usher_options options = {.guests = guests[g], .seats = seats[s]};
            EXPECT_EQ(usher_open(&pool, "size", &options), 0);
            EXPECT(size_of(usher_path(pool)) <= 64 * ((off_t)guests[g] + seats[s]) + 4096);
            struct usher_info info = scene_info(pool);
            EXPECT_EQ(info.guests, guests[g]);
            EXPECT_EQ(info.seats, seats[s]);
            EXPECT(info.most_seats >= seats[s] && info.most_seats <= guests[g]);
            usher_close(pool);
            EXPECT_EQ(usher_remove("size"), 0);
        }
    }
    for (uint32_t seats = 1; seats <= 65534;
         seats = seats < 65534 / 2 ? seats * 2 + 1 : seats + 16384) {
        make_pool("size", &(struct usher_options){.seats = seats}); /* the guests follow */
        EXPECT_EQ(usher_remove("size"), 0);
    }
}

static void opening_and_closing_leaves_no_descriptor_behind(void)
{
    int before = scene_descriptors();
    for (int i = 0; i < 300; i++) {
        make_pool("leak", NULL);
        EXPECT_EQ(usher_remove("leak"), 0);
        EXPECT_EQ(usher_remove("leak"), -ENOENT);
    }
    EXPECT_EQ(scene_descriptors(), before);
    usher_close(NULL);
}

static int open_across_exec(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++) {
        int flags = fcntl(fd, F_GETFD);
        count += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return count;
}

static void descriptors_are_closed_on_exec_unless_kept(void)
{
    int before = open_across_exec();
    for (unsigned keep = 0; keep <= USHER_KEEP; keep += USHER_KEEP) {
        struct usher_pool *pool;
        EXPECT_EQ(usher_open(&pool, "exec", &(struct usher_options){.flags = keep}), 0);
        EXPECT_EQ(open_across_exec() - before, keep ? 1 : 0);
        usher_close(pool);
    }
    EXPECT_EQ(usher_remove("exec"), 0);
}

int main(int argc, char **argv)
{
    scene_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)scene_now_ns();
    (void)printf("seed %llu\n", (unsigned long long)scene_seed);
    scene_begin();
    somebody = 40000 + (uid_t)getpid() % 20000;
    RUN(every_error_has_a_sentence_of_its_own);
    RUN(a_name_that_is_none_is_refused);
    RUN(unusual_names_are_names);
    RUN(a_name_that_is_too_long_is_refused);
    RUN(options_that_mean_nothing_are_refused);
    RUN(more_than_a_pool_can_have_is_refused);
    RUN(another_number_of_seats_is_refused_and_changes_nothing);
    RUN(the_number_of_seats_is_the_one_it_has_now);
    RUN(existing_and_exclusive_mean_what_they_say);
    RUN(without_a_directory_there_is_no_pool);
    RUN(what_is_not_a_regular_file_is_refused);
    RUN(the_file_of_somebody_else_is_refused);
    RUN(what_one_may_not_use_is_refused);
    RUN(a_pool_can_be_shared_with_other_users);
    RUN(the_mode_is_as_asked_whatever_the_umask);
    RUN(what_the_kernel_refuses_is_said);
    RUN(a_full_or_read_only_disk_leaves_nothing_behind);
    RUN(no_proc_is_needed);
    RUN(a_file_system_without_nameless_files_will_do);
    RUN(of_two_who_make_a_pool_at_once_both_use_one);
    RUN(a_maker_killed_at_any_moment_leaves_a_whole_pool_or_none);
    RUN(a_maker_killed_at_any_system_call_leaves_a_whole_pool_or_none);
    RUN(a_name_is_in_the_directory_that_the_header_says);
    RUN(a_directory_that_others_may_write_is_refused);
    RUN(a_pool_has_64_bytes_for_each_guest_and_seat_and_a_page);
    RUN(opening_and_closing_leaves_no_descriptor_behind);
    RUN(descriptors_are_closed_on_exec_unless_kept);
    return 0;
}
