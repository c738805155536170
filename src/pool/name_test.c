/*
 * Where pool files are and who may use them: names, directories, owners, modes, and the errors of
 * usher_open about them. As root, more is tested: other owners.
 */
#include "pool_file.h"

#include <grp.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uid_t stranger; /* a uid without an account, another in each run */

static void become_stranger(void)
{
    if (root()) {
        EXPECT_EQ(setgroups(0, NULL), 0);
        EXPECT_EQ(setgid(stranger), 0);
        EXPECT_EQ(setuid(stranger), 0);
    }
}

static void a_name_that_is_not_valid_is_refused(void)
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

static void unusual_names_are_valid(void)
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
    /* The directory leaves no room for the name. */
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

static void the_file_of_another_user_is_refused(void)
{
    if (!root()) {
        (void)printf("  SKIPPED: needs root\n");
        return;
    }
    make_pool("theirs", NULL);
    EXPECT_EQ(chown(scene_path("theirs"), stranger, stranger), 0);
    refused("theirs", -EKEYREJECTED);
    EXPECT_EQ(usher_remove("theirs"), -EKEYREJECTED);
    EXPECT_EQ(chmod(scene_path("theirs"), 0644), 0);
    refused("theirs", -EKEYREJECTED);
    EXPECT_EQ(chmod(scene_path("theirs"), 0660), 0); /* its mode shares it */
    make_pool("theirs", NULL);
    EXPECT_EQ(usher_remove("theirs"), 0);
}

static void permissions_as_stranger(void *unused)
{
    (void)unused;
    become_stranger();
    refused_with("secret", NULL, -EACCES);
    refused_with("readable", NULL, -EACCES);
    refused_with("new", NULL, -EACCES);
    refused_with("new", &(struct usher_options){.flags = USHER_EXCLUSIVE}, -EACCES);
    refused_with("new", &(struct usher_options){.flags = USHER_EXISTING}, -ENOENT);
    refused_with(scene_path("closed/x"), NULL, -EACCES);
    EXPECT_EQ(setenv("USHER_DIR", scene_path("closed"), 1), 0);
    refused_with("x", NULL, -EACCES);
}

static void a_file_without_permission_is_refused(void)
{
    make_pool("secret", NULL);
    make_pool("readable", NULL);
    EXPECT_EQ(chmod(scene_path("readable"), root() ? 0644 : 0400), 0);
    EXPECT_EQ(chmod(scene_path("secret"), root() ? 0600 : 0), 0);
    EXPECT_EQ(mkdir(scene_path("closed"), 0700), 0);
    EXPECT_EQ(chmod(scene_path("closed"), root() ? 0700 : 0), 0);
    EXPECT_EQ(chmod(scene_directory(), root() ? 0755 : 0500), 0);
    scene_in_child(permissions_as_stranger, NULL);
    EXPECT_EQ(chmod(scene_directory(), 0700), 0);
    EXPECT_EQ(rmdir(scene_path("closed")), 0);
    EXPECT_EQ(chmod(scene_path("readable"), 0600), 0);
    EXPECT_EQ(chmod(scene_path("secret"), 0600), 0);
    EXPECT_EQ(usher_remove("secret"), 0);
    EXPECT_EQ(usher_remove("readable"), 0);
}

static void share_as_stranger(void *unused)
{
    struct usher_seat seat;
    (void)unused;
    become_stranger();
    struct usher_pool *pool = scene_open("shared", 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EAGAIN);
    usher_close(pool);
    EXPECT_EQ(usher_remove("shared"), -EACCES); /* the directory belongs to another user */
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
    scene_in_child(share_as_stranger, NULL);
    EXPECT_EQ(chmod(scene_directory(), 0700), 0);
    scene_expect_whole("shared", 1);
    EXPECT_EQ(usher_remove("shared"), 0);
}

static void the_mode_does_not_depend_on_the_umask(void)
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

static void in_the_default_directory(void *unused)
{
    char directory[64];
    char path[128];
    char name[64];
    struct stat status;
    (void)unused;
    become_stranger(); /* so that the test touches no real pools */
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
    EXPECT_EQ(setenv("USHER_DIR", "", 1), 0); /* empty counts as not set */
    expect_path(name, path);
    (void)rmdir(directory);
    if (geteuid() == stranger) { /* the directory belongs to another user */
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
    EXPECT_EQ(setenv("USHER_DIR", scene_path("made"), 1), 0); /* its parent exists */
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

    /* A name with a slash is a path. */
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
        EXPECT_EQ(chown(scene_path("usher"), stranger, stranger), 0);
        refused_with("x", NULL, -EKEYREJECTED);
    }
    EXPECT_EQ(scene_files(scene_path("usher")), 0);
    EXPECT_EQ(rmdir(scene_path("usher")), 0);
    /* A symbolic link to a trusted directory. */
    EXPECT_EQ(mkdir(scene_path("good"), 0700), 0);
    EXPECT_EQ(symlink("good", scene_path("usher")), 0);
    refused_with("x", NULL, -EKEYREJECTED);
    EXPECT_EQ(unlink(scene_path("usher")), 0);
    EXPECT_EQ(rmdir(scene_path("good")), 0);
    EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
    EXPECT_EQ(unsetenv("XDG_RUNTIME_DIR"), 0);
}

int main(void)
{
    scene_begin();
    stranger = 40000 + (uid_t)getpid() % 20000;
    RUN(a_name_that_is_not_valid_is_refused);
    RUN(unusual_names_are_valid);
    RUN(a_name_that_is_too_long_is_refused);
    RUN(without_a_directory_there_is_no_pool);
    RUN(the_file_of_another_user_is_refused);
    RUN(a_file_without_permission_is_refused);
    RUN(a_pool_can_be_shared_with_other_users);
    RUN(the_mode_does_not_depend_on_the_umask);
    RUN(a_name_is_in_the_directory_that_the_header_says);
    RUN(a_directory_that_others_may_write_is_refused);
    return 0;
}
