/*
 * Where pool files are and who may have them: names, directories, owners, modes, and the errors of
 * usher_open that come of them. As root, more is tested: other owners.
 */
#include "pool_file.h"

#include <grp.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uid_t somebody; /* a user that is nobody here, and another in each run */

static void become_somebody(void)
{
    if (root()) {
        EXPECT_EQ(setgroups(0, NULL), 0);
        EXPECT_EQ(setgid(somebody), 0);
        EXPECT_EQ(setuid(somebody), 0);
    }
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

/* Other users could have made the directory, or can write to it. */
static void refuse_bad_directories(const char *name, const char *directory)
{
    static const mode_t bad[] = {0770, 0707, 0777, 01777, 0720, 0702};
    EXPECT_EQ(mkdir(directory, 0700), 0);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT_EQ(chmod(directory, bad[i]), 0);
        refused_with(name, NULL, -EKEYREJECTED);
        refused_with(name, &(struct usher_options){.flags = USHER_EXISTING}, -EKEYREJECTED);
        EXPECT_EQ(usher_remove(name), -EKEYREJECTED);
    }
    EXPECT_EQ(chmod(directory, 0755), 0);
    make_pool(name, NULL);
    EXPECT_EQ(usher_remove(name), 0);
    EXPECT_EQ(scene_files(directory), 0);
    EXPECT_EQ(rmdir(directory), 0);
    EXPECT_EQ(symlink("/tmp", directory), 0);
    refused_with(name, NULL, -EKEYREJECTED);
    EXPECT_EQ(unlink(directory), 0);
    make_file(directory, "", 0);
    refused_with(name, NULL, -EKEYREJECTED);
    EXPECT_EQ(unlink(directory), 0);
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
    EXPECT_EQ(setenv("XDG_RUNTIME_DIR", scene_directory(), 1), 0); /* of no influence */
    (void)umask(0);
    (void)snprintf(directory, sizeof directory, "/dev/shm/usher-%u", (unsigned)geteuid());
    (void)snprintf(name, sizeof name, "file-test-%ld", (long)getpid());
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    expect_path(name, path);
    EXPECT_EQ(stat(directory, &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700);
    EXPECT_EQ(status.st_uid, geteuid());
    EXPECT_EQ(unsetenv("XDG_RUNTIME_DIR"), 0);
    expect_path(name, path);
    EXPECT_EQ(setenv("USHER_DIR", "", 1), 0); /* empty is as good as not there */
    expect_path(name, path);
    (void)rmdir(directory);
    if (geteuid() == somebody) {
        refuse_bad_directories(name, directory);
    }
}

static void a_name_is_in_the_directory_that_the_header_says(void)
{
    char path[PATH_MAX];
    scene_in_child(in_the_default_directory, NULL);

    expect_path("x", scene_path("x"));
    EXPECT_EQ(setenv("USHER_DIR", scene_path("made"), 1), 0); /* its parent is there */
    expect_path("x", scene_path("made/x"));
    EXPECT_EQ(rmdir(scene_path("made")), 0);
    EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
    expect_path("x", scene_path("x"));
    EXPECT_EQ(usher_directory(path, sizeof path), 0);
    EXPECT(strcmp(path, scene_directory()) == 0);
    EXPECT_EQ(usher_directory_at(0, path, sizeof path), 0);
    EXPECT_EQ(usher_directory_at(1, path, sizeof path), -ENOENT); /* this one alone */
    EXPECT_EQ(usher_directory(path, 3), -ENAMETOOLONG);
    EXPECT_EQ(mkdir(scene_path("usher"), 0700), 0);

    /* A name with a slash is a path, wherever the names are. */
    expect_path(scene_path("by-path"), scene_path("by-path"));
    EXPECT(getcwd(path, sizeof path) != NULL);
    EXPECT_EQ(chdir(scene_directory()), 0);
    expect_path("./here", "./here");
    expect_path("usher/here", "usher/here");
    EXPECT_EQ(chdir(path), 0);
    EXPECT_EQ(rmdir(scene_path("usher")), 0);
}

/* Root with the environment of another user. */
static void root_makes_nothing_in_the_directory_of_another_user(void)
{
    if (!root()) {
        (void)printf("  SKIPPED: needs root\n");
        return;
    }
    EXPECT_EQ(mkdir(scene_path("theirs"), 0700), 0);
    EXPECT_EQ(chown(scene_path("theirs"), somebody, somebody), 0);
    EXPECT_EQ(setenv("USHER_DIR", scene_path("theirs"), 1), 0);
    refused_with("x", NULL, -EKEYREJECTED);
    EXPECT_EQ(setenv("USHER_DIR", scene_path("theirs/pools"), 1), 0);
    refused_with("x", NULL, -EKEYREJECTED);
    EXPECT_EQ(setenv("USHER_DIR", scene_path("theirs//pools//"), 1), 0);
    refused_with("x", NULL, -EKEYREJECTED);
    EXPECT_EQ(scene_files(scene_path("theirs")), 0);
    EXPECT_EQ(chmod(scene_path("theirs"), 01777), 0); /* meant for several users */
    EXPECT_EQ(setenv("USHER_DIR", scene_path("theirs"), 1), 0);
    make_pool("x", NULL);
    EXPECT_EQ(usher_remove("x"), 0);
    EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
    EXPECT_EQ(rmdir(scene_path("theirs")), 0);
}

static void root_may_inspect_the_pool_of_another_user(void)
{
    struct usher_options inspect = {.flags = USHER_EXISTING | USHER_INSPECT};
    struct usher_pool *pool;
    if (!root()) {
        (void)printf("  SKIPPED: needs root\n");
        return;
    }
    make_pool("theirs", NULL);
    EXPECT_EQ(chown(scene_path("theirs"), somebody, somebody), 0);
    refused("theirs", -EKEYREJECTED);
    EXPECT_EQ(usher_open(&pool, "theirs", &inspect), 0);
    EXPECT_EQ(scene_info(pool).free, 1);
    EXPECT_EQ(usher_reap(pool), 0);
    usher_close(pool);
    EXPECT_EQ(unlink(scene_path("theirs")), 0);
}

static void a_group_owns_its_pool(void)
{
    struct usher_options options = {.group = somebody};
    struct stat status;
    if (!root()) {
        options.group = getegid();
    }
    make_pool("group", &options);
    EXPECT_EQ(stat(scene_path("group"), &status), 0);
    EXPECT_EQ(status.st_gid, options.group);
    EXPECT_EQ(status.st_mode & 07777, 0660);
    EXPECT_EQ(usher_remove("group"), 0);
    options.mode = 0600;
    make_pool("group", &options);
    EXPECT_EQ(stat(scene_path("group"), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600);
    EXPECT_EQ(usher_remove("group"), 0);
}

int main(void)
{
    scene_begin();
    somebody = 40000 + (uid_t)getpid() % 20000;
    RUN(a_name_that_is_none_is_refused);
    RUN(unusual_names_are_names);
    RUN(a_name_that_is_too_long_is_refused);
    RUN(without_a_directory_there_is_no_pool);
    RUN(the_file_of_somebody_else_is_refused);
    RUN(what_one_may_not_use_is_refused);
    RUN(a_pool_can_be_shared_with_other_users);
    RUN(the_mode_is_as_asked_whatever_the_umask);
    RUN(a_name_is_in_the_directory_that_the_header_says);
    RUN(root_makes_nothing_in_the_directory_of_another_user);
    RUN(root_may_inspect_the_pool_of_another_user);
    RUN(a_group_owns_its_pool);
    return 0;
}
