/*
 * Other users get no access: what they put in the place of a pool, links, names that could be
 * guessed, odd umasks, a library that runs with another user's rights. docs/SECURITY.md names these
 * tests. Several users need root; the other tests always run.
 */
#include "pool_file.h"

#include "pool/pool.h"

#include <dlfcn.h>
#include <grp.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static uid_t bob, eve; /* uids without an account, others in each run */

static bool several_users(void)
{
    if (!root()) {
        (void)printf("  SKIPPED: needs root\n");
    }
    return root();
}

static void become(uid_t user)
{
    EXPECT_EQ(setgroups(0, NULL), 0);
    EXPECT_EQ(setgid(user), 0);
    EXPECT_EQ(setuid(user), 0);
}

static void own_directory(char *path, size_t room)
{
    (void)snprintf(path, room, "/dev/shm/usher-%u", (unsigned)bob);
}

/* Bob opens a pool by its name, and must not get what eve has put there. */
static void ask_as_bob(void *context)
{
    int error = *(int *)context;
    become(bob);
    EXPECT_EQ(unsetenv("USHER_DIR"), 0);
    refused_with("builds", NULL, error);
    refused_with("builds", &(struct usher_options){.flags = USHER_EXISTING}, error);
    refused_with("builds", &(struct usher_options){.flags = USHER_EXCLUSIVE}, error);
    EXPECT_EQ(usher_remove("builds"), error);
    EXPECT_EQ(usher_discard("builds"), error);
}

static void make_trap(void *context)
{
    const char *path = context;
    become(eve);
    EXPECT_EQ(setenv("USHER_DIR", path, 1), 0);
    make_pool("builds", &(struct usher_options){.mode = 0666});
}

/* Every user can write to /dev/shm. Eve was there first, in several ways. */
static void a_directory_made_by_another_is_refused(void)
{
    static const mode_t modes[] = {0700, 0755, 0777, 01777, 02777, 0};
    char path[64];
    if (!several_users()) {
        return;
    }
    own_directory(path, sizeof path);
    for (unsigned m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        EXPECT_EQ(mkdir(path, 0700), 0);
        EXPECT_EQ(chown(path, eve, eve), 0);
        scene_in_child(make_trap, path);
        EXPECT_EQ(chmod(path, modes[m]), 0);
        int error = modes[m] & 5 ? -EKEYREJECTED : -EACCES; /* he cannot even search it */
        scene_in_child(ask_as_bob, &error);
        EXPECT_EQ(setenv("USHER_DIR", path, 1), 0);
        scene_expect_whole("builds", 1); /* he has not touched it */
        EXPECT_EQ(usher_remove("builds"), 0);
        EXPECT_EQ(scene_files(path), 0);
        EXPECT_EQ(rmdir(path), 0);
        EXPECT_EQ(setenv("USHER_DIR", scene_directory(), 1), 0);
    }
    /* A link to a directory of his own is refused, too: she could redirect it later. */
    EXPECT_EQ(mkdir(scene_path("his"), 0700), 0);
    EXPECT_EQ(chown(scene_path("his"), bob, bob), 0);
    EXPECT_EQ(chmod(scene_directory(), 0755), 0);
    EXPECT_EQ(symlink(scene_path("his"), path), 0);
    EXPECT_EQ(lchown(path, eve, eve), 0);
    int error = -EKEYREJECTED;
    scene_in_child(ask_as_bob, &error);
    EXPECT_EQ(scene_files(scene_path("his")), 0);
    EXPECT_EQ(unlink(path), 0);
    EXPECT_EQ(rmdir(scene_path("his")), 0);
    EXPECT_EQ(chmod(scene_directory(), 0700), 0);
}

static void links_are_not_followed(void)
{
    struct stat status;
    /* A link to nothing: the target must not be created. */
    EXPECT_EQ(symlink("target", scene_path("link")), 0);
    refused("link", -ELOOP);
    refused_with("link", &(struct usher_options){.flags = USHER_EXCLUSIVE}, -EEXIST);
    EXPECT(lstat(scene_path("target"), &status) != 0);
    /* A link to a pool: it is neither used nor removed through the link, nor is the link removed.
       */
    make_pool("target", NULL);
    refused("link", -ELOOP);
    EXPECT_EQ(usher_remove("link"), -ELOOP);
    EXPECT_EQ(usher_discard("link"), -ELOOP);
    EXPECT_EQ(lstat(scene_path("link"), &status), 0);
    scene_expect_whole("target", 1);
    EXPECT_EQ(unlink(scene_path("link")), 0);
    /* A hard link to one's own pool is that pool. */
    EXPECT_EQ(link(scene_path("target"), scene_path("link")), 0);
    scene_expect_whole("link", 1);
    EXPECT_EQ(usher_remove("link"), 0);
    EXPECT_EQ(unlink(scene_path("target")), 0);
}

/* A hard link to a file that is no pool, or of another user: it does not change. */
static void hard_links_harm_nothing(void)
{
    static const char letter[] = "Dear Bob, ...";
    char found[sizeof letter];
    struct stat status;
    make_file(scene_path("letter"), letter, sizeof letter);
    EXPECT_EQ(link(scene_path("letter"), scene_path("pool")), 0);
    refused("pool", -EBADMSG);
    EXPECT_EQ(usher_remove("pool"), -EBADMSG);
    EXPECT_EQ(usher_discard("pool"), -EBADMSG);
    int fd = open(scene_path("letter"), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(read(fd, found, sizeof found), sizeof letter);
    EXPECT(memcmp(found, letter, sizeof letter) == 0);
    EXPECT_EQ(fstat(fd, &status), 0);
    EXPECT_EQ(status.st_nlink, 2);
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(unlink(scene_path("pool")), 0);
    EXPECT_EQ(unlink(scene_path("letter")), 0);
    if (!several_users()) {
        return;
    }
    make_pool("eves", NULL);
    EXPECT_EQ(chown(scene_path("eves"), eve, eve), 0);
    EXPECT_EQ(link(scene_path("eves"), scene_path("pool")), 0);
    refused("pool", -EKEYREJECTED);
    EXPECT_EQ(usher_discard("pool"), -EKEYREJECTED);
    EXPECT_EQ(unlink(scene_path("pool")), 0);
    EXPECT_EQ(unlink(scene_path("eves")), 0);
}

static void remove_as_eve(void *unused)
{
    (void)unused;
    become(eve);
    EXPECT_EQ(usher_remove(scene_path("open/pool")), -EPERM);
    EXPECT_EQ(usher_discard(scene_path("open/pool")), -EPERM);
}

static void in_a_sticky_directory_only_the_owner_removes_a_pool(void)
{
    if (!several_users()) {
        return;
    }
    EXPECT_EQ(mkdir(scene_path("open"), 0777), 0);
    EXPECT_EQ(chmod(scene_path("open"), 01777), 0);
    EXPECT_EQ(chmod(scene_directory(), 0755), 0);
    make_pool(scene_path("open/pool"), &(struct usher_options){.mode = 0666});
    scene_in_child(remove_as_eve, NULL);
    scene_expect_whole(scene_path("open/pool"), 1); /* the pool is as it was */
    EXPECT_EQ(usher_remove(scene_path("open/pool")), 0);
    EXPECT_EQ(rmdir(scene_path("open")), 0);
    EXPECT_EQ(chmod(scene_directory(), 0700), 0);
}

/* The temporary name of a new pool on a file system without O_TMPFILE. */
static void note_name(int watch, char *name, size_t room)
{
    union {
        struct inotify_event event;
        char bytes[4096];
    } read_;
    EXPECT(read(watch, &read_, sizeof read_) > 0);
    (void)snprintf(name, room, "%s", read_.event.name);
}

static void guess_names(void *unused)
{
    const uint32_t nameless = O_TMPFILE & ~O_DIRECTORY;
    char names[8][64];
    (void)unused;
    if (!scene_refuse(SYS_openat, 2, nameless, nameless, EOPNOTSUPP)) {
        (void)printf("  SKIPPED: no seccomp\n");
        return;
    }
    for (int n = 0; n < 8; n++) {
        int watch = inotify_init1(IN_CLOEXEC);
        EXPECT(inotify_add_watch(watch, scene_directory(), IN_CREATE) >= 0);
        make_pool("named", NULL);
        note_name(watch, names[n], sizeof names[n]);
        EXPECT_EQ(close(watch), 0);
        EXPECT_EQ(usher_remove("named"), 0);
        EXPECT_EQ(strspn(names[n] + 7, "0123456789abcdef"), 16); /* .usher-, then 64 bits */
        EXPECT_EQ(strlen(names[n]), 23);
        for (int other = 0; other < n; other++) {
            unsigned same = 0; /* random: about one digit in 16 is the same */
            for (int c = 7; c < 23; c++) {
                same += names[n][c] == names[other][c];
            }
            EXPECT(same < 12);
        }
    }
}

static void temporary_names_cannot_be_guessed(void)
{
    scene_in_child(guess_names, NULL);
}

static void with_an_odd_umask(void *context)
{
    struct stat status;
    if (root()) {
        become(bob);
    }
    EXPECT_EQ(unsetenv("USHER_DIR"), 0);
    (void)umask(*(mode_t *)context);
    if (root()) { /* nobody's real pools are touched */
        char own[64];
        own_directory(own, sizeof own);
        make_pool("p", NULL);
        make_pool("p", NULL);
        EXPECT_EQ(stat(own, &status), 0);
        EXPECT_EQ(status.st_mode & 07777, 0700);
        EXPECT_EQ(chdir(own), 0);
        EXPECT_EQ(stat("p", &status), 0);
        EXPECT_EQ(status.st_mode & 07777, 0600);
        EXPECT_EQ(chdir("/"), 0);
        EXPECT_EQ(usher_remove("p"), 0);
        EXPECT_EQ(rmdir(own), 0);
    }
    EXPECT_EQ(setenv("USHER_DIR", scene_path("run/named"), 1), 0); /* and one that was named */
    make_pool("p", NULL);
    EXPECT_EQ(stat(scene_path("run/named"), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700);
    EXPECT_EQ(usher_remove("p"), 0);
    EXPECT_EQ(rmdir(scene_path("run/named")), 0);
}

static void the_directory_is_private_whatever_the_umask(void)
{
    static mode_t masks[] = {0, 022, 077, 0777, 0477, 0200, 0300};
    EXPECT_EQ(mkdir(scene_path("run"), 0700), 0);
    EXPECT_EQ(chown(scene_path("run"), root() ? bob : geteuid(), (gid_t)-1), 0);
    EXPECT_EQ(chmod(scene_directory(), 0755), 0);
    for (unsigned m = 0; m < sizeof masks / sizeof masks[0]; m++) {
        scene_in_child(with_an_odd_umask, &masks[m]);
    }
    EXPECT_EQ(chmod(scene_directory(), 0700), 0);
    EXPECT_EQ(rmdir(scene_path("run")), 0);
}

/* A user who may only read the file does not get in and cannot change a byte. But a reader can lock
   the file against writers: SECURITY.md names this denial of service. */
static void lock_as_reader(void *unused)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = POOL_LOCK_ROW};
    (void)unused;
    become(eve);
    refused_with("read", NULL, -EACCES);
    EXPECT_EQ(usher_remove("read"), -EACCES);
    EXPECT(open(scene_path("read"), O_RDWR | O_CLOEXEC) < 0);
    EXPECT(truncate(scene_path("read"), 0) != 0);
    int fd = open(scene_path("read"), O_RDONLY | O_CLOEXEC);
    EXPECT(fd >= 0);
    EXPECT_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0); /* to the end: every row */
    atomic_store(&board->step[0], SCENE_DONE);
    UNTIL(atomic_load(&board->order[0]) == SCENE_LEAVE);
}

static void a_reader_can_lock_others_out_but_not_enter(void)
{
    struct usher_seat seat;
    if (!several_users()) {
        return;
    }
    scene_clear();
    make_pool("read", &(struct usher_options){.mode = 0644});
    EXPECT_EQ(chmod(scene_directory(), 0755), 0);
    pid_t reader = scene_start(lock_as_reader, NULL);
    UNTIL(atomic_load(&board->step[0]) == SCENE_DONE);
    struct usher_pool *pool = scene_open("read", 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EUSERS);
    atomic_store(&board->order[0], SCENE_LEAVE);
    EXPECT_EQ(scene_end(reader), 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0); /* only as long as the lock is held */
    usher_close(pool);
    EXPECT_EQ(usher_remove("read"), 0);
    EXPECT_EQ(chmod(scene_directory(), 0700), 0);
}

/* Bytes that the format says are zero stay zero, however the pool is used. */
static void only_the_bytes_of_the_format_are_written(void)
{
    static const size_t zeros[][2] = {{80, 128},    {152, 192},   {3712, 3904},
                                      {3912, 3968}, {3976, 4032}, {4040, 4096}};
    static char bytes[1 << 17];
    struct usher_seat seats[3];
    struct usher_options times = {.seats = 2, .flags = USHER_TIMES};
    struct usher_pool *pool;
    EXPECT_EQ(usher_open(&pool, "bytes", &times), 0);
    for (int round = 0; round < 300; round++) {
        struct timespec soon = scene_in_ms(0);
        EXPECT_EQ(usher_acquire(pool, &seats[0]), 0);
        EXPECT_EQ(usher_acquire(pool, &seats[1]), 0);
        EXPECT_EQ(usher_acquire_until(pool, &seats[2], &soon), -ETIMEDOUT);
        EXPECT_EQ(usher_resize(pool, 1 + (uint32_t)round % 2), 0);
        EXPECT_EQ(usher_release(pool, &seats[0]), 0);
        EXPECT_EQ(usher_release(pool, &seats[1]), 0);
        EXPECT_EQ(usher_resize(pool, 2), 0);
    }
    uint32_t rows = usher__rows_used(pool);
    size_t end = pool->shape.line_at;
    int fd = open(scene_path("bytes"), O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, bytes, sizeof bytes);
    EXPECT_EQ(close(fd), 0);
    EXPECT(size > 0 && (size_t)size == pool->size);
    for (unsigned z = 0; z < sizeof zeros / sizeof zeros[0]; z++) {
        for (size_t at = zeros[z][0]; at < zeros[z][1]; at++) {
            EXPECT_EQ(bytes[at], 0);
        }
    }
    EXPECT_EQ(rows, 3);
    for (size_t at = FORMAT_PAGE + 64 * rows; at < end; at++) { /* rows that were never owned */
        bool of_seat = (at - FORMAT_PAGE) % 64 >= 14 && (at - FORMAT_PAGE) % 64 < 16;
        bool of_guest = at < FORMAT_PAGE + 64 * (size_t)pool->core.rows;
        EXPECT_EQ((unsigned char)bytes[at], of_seat && of_guest ? 0xff : 0);
    }
    usher_close(pool);
    EXPECT_EQ(usher_remove("bytes"), 0);
}

/* Eve runs this program, setuid bob, with her environment. In which directory does it look for
   pools? */
static void run_with_rights_of_bob(void *unused)
{
    const char *program = scene_path("setuid");
    (void)unused;
    become(eve);
    EXPECT_EQ(setenv("USHER_DIR", "/tmp/eves", 1), 0);
    EXPECT_EQ(setenv("USHER_MODULES", scene_path("eves"), 1), 0);
    struct usher_pool *pool; /* without bob's rights her module is loaded and refused */
    EXPECT_EQ(usher_open(&pool, "zk://localhost/p", NULL), -ELIBBAD);
    (void)execl(program, program, "where", (char *)NULL);
    _exit(70);
}

static void copy_program(const char *to)
{
    char bytes[65536];
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int fd = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
    EXPECT(from >= 0 && fd >= 0);
    for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;) {
        EXPECT_EQ(write(fd, bytes, (size_t)got), got);
    }
    EXPECT_EQ(fchown(fd, bob, bob), 0);
    EXPECT_EQ(fchmod(fd, 04755), 0);
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(close(from), 0);
}

static void a_setuid_program_ignores_the_environment(void)
{
    if (!several_users()) {
        return;
    }
    Dl_info system; /* eve's module for pools on other machines: a library that is none */
    if (dladdr(dlsym(RTLD_DEFAULT, "getauxval"), &system) == 0) {
        (void)printf("  SKIPPED: a static program loads no modules\n");
        return;
    }
    copy_program(scene_path("setuid"));
    EXPECT_EQ(mkdir(scene_path("eves"), 0755), 0);
    EXPECT_EQ(symlink(system.dli_fname, scene_path("eves/usher-zk.so")), 0);
    EXPECT_EQ(chmod(scene_directory(), 0755), 0);
    int status = scene_end(scene_start(run_with_rights_of_bob, NULL));
    EXPECT_EQ(chmod(scene_directory(), 0700), 0);
    EXPECT_EQ(unlink(scene_path("setuid")), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        (void)printf("  SKIPPED: set-user-ID has no effect in %s\n", scene_directory());
        return;
    }
    EXPECT_EQ(status, 0);
}

/* In the setuid program: 0 if it looks in bob's directory and loads no module that the environment
   names. */
static int where(void)
{
    char path[256];
    char right[64];
    (void)snprintf(right, sizeof right, "/dev/shm/usher-%u", (unsigned)geteuid());
    if (geteuid() == getuid()) {
        return 77;
    }
    struct usher_pool *pool;
    return usher_open(&pool, "zk://localhost/p", NULL) == -ELIBACC &&
                   usher_directory(path, sizeof path) == 0 && strcmp(path, right) == 0
               ? 0
               : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "where") == 0) {
        _exit(where()); /* a leak sanitizer cannot trace a setuid program */
    }
    scene_begin();
    bob = 40000 + 2 * ((uid_t)getpid() % 10000);
    eve = bob + 1;
    RUN(a_directory_made_by_another_is_refused);
    RUN(links_are_not_followed);
    RUN(hard_links_harm_nothing);
    RUN(in_a_sticky_directory_only_the_owner_removes_a_pool);
    RUN(temporary_names_cannot_be_guessed);
    RUN(the_directory_is_private_whatever_the_umask);
    RUN(a_reader_can_lock_others_out_but_not_enter);
    RUN(only_the_bytes_of_the_format_are_written);
    RUN(a_setuid_program_ignores_the_environment);
    return 0;
}
