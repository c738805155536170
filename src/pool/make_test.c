/*
 * A pool is created completely or not at all: when several processes create it at once, when its
 * creator is killed at any moment, and on file systems that lack features. It has the documented
 * size. usage: make_test [SEED]
 *
 * As root, more is tested: full and read-only file systems, a root directory without /proc.
 */
#include "pool_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static off_t size_of(const char *path)
{
    struct stat status;
    EXPECT_EQ(stat(path, &status), 0);
    return status.st_size;
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
    make_pool("small", &small); /* no space of the large one is still in use */
    refused_with("large", &large, -ENOSPC);
    EXPECT_EQ(scene_files(disk), 1);
    EXPECT_EQ(mount("usher-test", disk, NULL, MS_REMOUNT | MS_RDONLY, "size=16k"), 0);
    refused_with("small", NULL, -EROFS);
    refused_with("other", NULL, -EROFS);
    EXPECT_EQ(scene_files(disk), 1);
    EXPECT_EQ(mount("usher-test", disk, NULL, MS_REMOUNT, "size=16k"), 0);
    /* There are too few inodes for another name. */
    EXPECT_EQ(mount("usher-test", disk, NULL, MS_REMOUNT, "size=16k,nr_inodes=2"), 0);
    (void)snprintf(path, sizeof path, "%s/other", disk);
    refused_with(path, &small, -ENOSPC);
    EXPECT_EQ(scene_files(disk), 1);
    EXPECT_EQ(usher_remove("small"), 0);
}

static void a_failed_creation_leaves_no_file_behind(void)
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

static void a_pool_can_be_created_without_proc(void)
{
    scene_in_child(in_a_bare_root, NULL);
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void without_tmpfile(void *unused)
{
    char stale[64];
    const uint32_t nameless = O_TMPFILE & ~O_DIRECTORY;
    (void)unused;
    if (!scene_refuse(SYS_openat, 2, nameless, nameless, EOPNOTSUPP)) {
        return;
    }
#ifdef SYS_open /* with which musl opens files */
    EXPECT(scene_refuse(SYS_open, 1, nameless, nameless, EOPNOTSUPP));
#endif
    EXPECT(open(scene_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) < 0);
    make_pool("named", &(struct usher_options){.seats = 4});
    EXPECT_EQ(scene_files(scene_directory()), 1);
    scene_expect_whole("named", 4);
    refused_with("named", &(struct usher_options){.flags = USHER_EXCLUSIVE}, -EEXIST);
    EXPECT_EQ(scene_files(scene_directory()), 1);
    EXPECT_EQ(usher_remove("named"), 0);
    /* Files left behind by a killed process that had our pid do not matter. */
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

static void a_file_system_without_tmpfile_is_enough(void)
{
    scene_in_child(without_tmpfile, NULL);
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

static void two_processes_that_create_a_pool_at_once_share_it(void)
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

/* Check that a killed creator has left no pool or a complete one, and remove it. Return whether
   there was one. */
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
    int64_t began = scene_now_ns();
    make_pool("timed", NULL); /* it is longer the more processes there are */
    long most_us = (long)((scene_now_ns() - began) / 1000 * 3 / 2) + 1;
    EXPECT_EQ(usher_remove("timed"), 0);
    scene_clear();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        pid_t child = scene_start(make_and_be_killed, &attempt);
        while (atomic_load(&board->flags[0]) != attempt + 1) {
            (void)sched_yield();
        }
        scene_pause_us((long)(scene_random() % (uint64_t)most_us));
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
static void kill_at_system_calls(void *context)
{
    int stride = *(int *)context;
    int made = 0;
    for (int calls = 0;; calls += stride) {
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
            (void)printf("  killed at %d system calls, %d times it had made it\n", calls / stride,
                         made);
            EXPECT(made > 0 && made < calls && calls > 10);
            return;
        }
        scene_kill(child);
        made += left_whole(calls);
    }
}

static void kill_among_few_processes(void *every)
{
    EXPECT_EQ(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    EXPECT_EQ(mount("proc", "/proc", "proc", 0, NULL), 0);
    kill_at_system_calls(every);
}

/* The maker looks at all processes that /proc shows, so with many of them it makes thousands of
   calls. With a /proc of its own it is killed at every call, otherwise at every 11th. */
static void kill_in_a_namespace(void *unused)
{
    int every = 1;
    int some = 11;
    (void)unused;
    if (root() && unshare(CLONE_NEWPID | CLONE_NEWNS) == 0) {
        scene_in_child(kill_among_few_processes, &every);
    } else {
        kill_at_system_calls(&some);
    }
}

static void a_maker_killed_at_any_system_call_leaves_a_whole_pool_or_none(void)
{
    scene_in_child(kill_in_a_namespace, NULL);
}

static void a_pool_has_a_page_80_bytes_a_guest_and_64_a_seat(void)
{
    static const uint32_t guests[] = {1,    2,    3,    4,    5,     7,     8,     9,
                                      15,   17,   31,   33,   63,    64,    65,    100,
                                      127,  129,  255,  257,  1000,  1023,  1024,  1025,
                                      2047, 2049, 4097, 8193, 16385, 32769, 65534, 65535};
    for (unsigned g = 0; g < sizeof guests / sizeof guests[0]; g++) {
        const uint32_t seats[] = {1, 2, 3, guests[g] / 3, guests[g] / 2, guests[g] - 1, guests[g]};
        for (unsigned s = 0; s < sizeof seats / sizeof seats[0]; s++) {
            if (seats[s] == 0 || seats[s] > guests[g]) {
                continue;
            }
            struct usher_pool *pool;
            struct usher_options options = {.guests = guests[g], .seats = seats[s]};
            EXPECT_EQ(usher_open(&pool, "size", &options), 0);
            EXPECT(size_of(usher_path(pool)) <=
                   80 * (off_t)guests[g] + 64 * (off_t)seats[s] + 4096 + 512);
            struct usher_info info = scene_info(pool);
            EXPECT_EQ(info.guests, guests[g]);
            EXPECT_EQ(info.seats, seats[s]);
            EXPECT(info.most_seats >= seats[s] && info.most_seats <= guests[g]);
            usher_close(pool);
            EXPECT_EQ(usher_remove("size"), 0);
        }
    }
    for (uint32_t seats = 1; seats <= 65535;
         seats = seats < 65535 / 2 ? seats * 2 + 1 : seats + 16384) {
        /* usher_open chooses the number of guests */
        make_pool("size", &(struct usher_options){.seats = seats});
        EXPECT_EQ(usher_remove("size"), 0);
    }
}

int main(int argc, char **argv)
{
    scene_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)scene_now_ns();
    (void)printf("seed %llu\n", (unsigned long long)scene_seed);
    scene_begin();
    RUN(a_failed_creation_leaves_no_file_behind);
    RUN(a_pool_can_be_created_without_proc);
    RUN(a_file_system_without_tmpfile_is_enough);
    RUN(two_processes_that_create_a_pool_at_once_share_it);
    RUN(a_maker_killed_at_any_moment_leaves_a_whole_pool_or_none);
    RUN(a_maker_killed_at_any_system_call_leaves_a_whole_pool_or_none);
    RUN(a_pool_has_a_page_80_bytes_a_guest_and_64_a_seat);
    return 0;
}
