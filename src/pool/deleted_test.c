/*
 * Pools whose file was deleted while processes use them: the next processes that open the name get
 * that pool, all of them the same one, and no second pool is created.
 */
#include "pool_file.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LATECOMERS = 8, ROUNDS = 20 };

/* The inode that a handle has open. */
static ino_t inode_of(struct usher_pool *pool)
{
    char link[PATH_MAX];
    struct stat status;
    for (int fd = 3; fd < 256; fd++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, link, sizeof link - 1);
        if (length > 0) {
            link[length] = '\0';
            if (strncmp(link, usher_path(pool), strlen(usher_path(pool))) == 0 &&
                fstat(fd, &status) == 0) {
                return status.st_ino;
            }
        }
    }
    return 0;
}

static void a_deleted_pool_in_use_is_opened_again(void)
{
    struct usher_options existing = {.flags = USHER_EXISTING};
    struct usher_options exclusive = {.seats = 2, .flags = USHER_EXCLUSIVE};
    struct usher_pool *again;
    struct usher_seat seat;
    pid_t pids[4];
    struct usher_pool *pool = scene_open("p", 2);
    EXPECT_EQ(usher_deleted("p", pids, 4), 0);
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    EXPECT_EQ(unlink(scene_path("p")), 0);
    EXPECT_EQ(usher_deleted("p", pids, 4), 1);
    EXPECT_EQ(pids[0], getpid());
    EXPECT_EQ(usher_open(&again, "p", NULL), 0);
    EXPECT_EQ(scene_info(again).holders, 1);
    EXPECT_EQ(inode_of(again), inode_of(pool));
    EXPECT(strcmp(usher_path(again), scene_path("p")) == 0);
    usher_close(again);
    EXPECT_EQ(usher_open(&again, "p", &existing), 0);
    usher_close(again);
    refused_with("p", &exclusive, -EEXIST);
    refused_with("p", &(struct usher_options){.seats = 3}, -EDOM);
    EXPECT_EQ(usher_remove("p"), -EBUSY);
    EXPECT_EQ(scene_files(scene_directory()), 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_open(&again, "p", NULL), 0); /* not held any more, but open: it may be again */
    EXPECT_EQ(inode_of(again), inode_of(pool));
    usher_close(again);
    usher_close(pool);
    EXPECT_EQ(usher_deleted("p", pids, 4), 0);
    refused_with("p", &existing, -ENOENT);
    make_pool("p", &exclusive); /* nobody has it open: a new one */
    EXPECT_EQ(usher_remove("p"), 0);
}

static void a_path_is_found_by_any_spelling(void)
{
    char before[PATH_MAX];
    struct usher_pool *again;
    EXPECT_EQ(mkdir(scene_path("d"), 0700), 0);
    EXPECT_EQ(symlink("d", scene_path("link")), 0);
    struct usher_pool *pool = scene_open(scene_path("d/p"), 2);
    EXPECT_EQ(unlink(scene_path("d/p")), 0);
    static const char *const spellings[] = {"d/p", "./d/p", "link/p", "d/../d/p", "d//p"};
    EXPECT(getcwd(before, sizeof before) != NULL);
    EXPECT_EQ(chdir(scene_directory()), 0);
    for (unsigned s = 0; s < sizeof spellings / sizeof spellings[0]; s++) {
        EXPECT_EQ(usher_open(&again, spellings[s], NULL), 0);
        EXPECT_EQ(scene_info(again).seats, 2);
        usher_close(again);
    }
    EXPECT_EQ(chdir(before), 0);
    EXPECT_EQ(rmdir(scene_path("d")), 0); /* the directory goes, too, as at a logout */
    EXPECT_EQ(usher_open(&again, scene_path("d/p"), NULL), 0);
    EXPECT_EQ(scene_info(again).seats, 2);
    usher_close(again);
    refused(scene_path("d/q"), -ENOENT);
    usher_close(pool);
    refused(scene_path("d/p"), -ENOENT);
    EXPECT_EQ(unlink(scene_path("link")), 0);
}

static void a_pool_that_was_removed_stays_removed(void)
{
    struct usher_pool *again;
    struct usher_pool *pool = scene_open("p", 2);
    EXPECT_EQ(usher_remove("p"), 0);
    EXPECT_EQ(usher_open(&again, "p", NULL), 0);
    EXPECT_EQ(scene_info(again).seats, 1);
    EXPECT(inode_of(again) != 0);
    usher_close(again);
    usher_close(pool);
    EXPECT_EQ(usher_remove("p"), 0);
    pool = scene_open("p", 2); /* and a deleted one can be removed */
    EXPECT_EQ(unlink(scene_path("p")), 0);
    EXPECT_EQ(usher_remove("p"), 0);
    EXPECT_EQ(usher_acquire(pool, &(struct usher_seat){0}), -EIDRM);
    make_pool("p", &(struct usher_options){.seats = 3});
    usher_close(pool);
    EXPECT_EQ(usher_remove("p"), 0);
}

static void files_that_are_no_pools_do_not_count(void)
{
    make_file(scene_path("p"), "text", 4);
    int fd = open(scene_path("p"), O_RDWR | O_CLOEXEC);
    EXPECT(fd >= 0);
    EXPECT_EQ(unlink(scene_path("p")), 0);
    make_pool("p", NULL);
    EXPECT_EQ(close(fd), 0);
    make_pool("p (deleted)", NULL); /* a name that looks like it */
    EXPECT_EQ(usher_remove("p"), 0);
    struct usher_pool *pool = scene_open("p (deleted)", 0);
    refused_with("p", &(struct usher_options){.flags = USHER_EXISTING}, -ENOENT);
    usher_close(pool);
    EXPECT_EQ(usher_remove("p (deleted)"), 0);
}

static void an_inspector_does_not_keep_a_deleted_pool(void)
{
    struct usher_options inspect = {.flags = USHER_EXISTING | USHER_INSPECT};
    struct usher_pool *looks;
    make_pool("p", &(struct usher_options){.seats = 2});
    EXPECT_EQ(usher_open(&looks, "p", &inspect), 0);
    EXPECT_EQ(unlink(scene_path("p")), 0);
    make_pool("p", &(struct usher_options){.seats = 3});
    usher_close(looks);
    EXPECT_EQ(usher_remove("p"), 0);
    struct usher_pool *pool = scene_open("p", 2); /* but it sees a pool in use */
    EXPECT_EQ(unlink(scene_path("p")), 0);
    EXPECT_EQ(usher_open(&looks, "p", &inspect), 0);
    EXPECT_EQ(scene_info(looks).seats, 2);
    usher_close(pool);
    refused_with("p", &(struct usher_options){.flags = USHER_EXISTING}, -ENOENT);
    usher_close(looks);
}

/* A process that closes all of its descriptors, but keeps the mapping. */
static void map_only(void *unused)
{
    (void)unused;
    (void)scene_open("p", 2);
    for (int fd = 3; fd < 256; fd++) {
        (void)close(fd);
    }
    atomic_store(&board->order[0], 1);
    for (;;) {
        (void)pause();
    }
}

static void a_pool_that_is_only_mapped_is_refused(void)
{
    pid_t pids[2] = {0, 0};
    atomic_store(&board->order[0], 0);
    pid_t child = scene_start(map_only, NULL);
    UNTIL(atomic_load(&board->order[0]) == 1);
    EXPECT_EQ(unlink(scene_path("p")), 0);
    refused("p", -ENOLINK);
    refused_with("p", &(struct usher_options){.flags = USHER_EXISTING}, -ENOLINK);
    EXPECT_EQ(usher_deleted("p", pids, 2), 1);
    EXPECT_EQ(pids[0], child);
    EXPECT_EQ(scene_files(scene_directory()), 0);
    scene_kill(child);
    make_pool("p", NULL);
    EXPECT_EQ(usher_remove("p"), 0);
}

/* A latecomer: notes which file it has, and waits until all are there. */
static void come_late(void *context)
{
    int i = *(int *)context;
    struct usher_pool *pool;
    UNTIL(atomic_load(&board->order[LATECOMERS]) == 1);
    EXPECT_EQ(usher_open(&pool, "p", &(struct usher_options){.seats = 2}), 0);
    atomic_store(&board->order[i], 1 + (int)(inode_of(pool) % 1000000));
    UNTIL(atomic_load(&board->order[LATECOMERS]) == 2);
    usher_close(pool);
}

/* All open the name at once: with the deleted pool in use they get that one, otherwise a new one;
   in both cases one for all. */
static void those_who_come_at_once_share_one_pool(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        pid_t children[LATECOMERS];
        int numbers[LATECOMERS];
        struct usher_pool *pool = scene_open("p", 2);
        int old = 1 + (int)(inode_of(pool) % 1000000);
        bool used = round % 2 == 0;
        EXPECT_EQ(unlink(scene_path("p")), 0);
        if (!used) {
            usher_close(pool);
        }
        atomic_store(&board->order[LATECOMERS], 0);
        for (int i = 0; i < LATECOMERS; i++) {
            numbers[i] = i;
            atomic_store(&board->order[i], 0);
            children[i] = scene_start(come_late, &numbers[i]);
        }
        atomic_store(&board->order[LATECOMERS], 1);
        for (int i = 0; i < LATECOMERS; i++) {
            UNTIL(atomic_load(&board->order[i]) != 0);
            EXPECT_EQ(atomic_load(&board->order[i]), atomic_load(&board->order[0]));
        }
        EXPECT(!used || atomic_load(&board->order[0]) == old);
        EXPECT_EQ(access(scene_path("p"), F_OK) == 0, !used);
        atomic_store(&board->order[LATECOMERS], 2);
        for (int i = 0; i < LATECOMERS; i++) {
            EXPECT_EQ(scene_end(children[i]), 0);
        }
        if (used) {
            usher_close(pool);
        } else {
            EXPECT_EQ(usher_remove("p"), 0);
        }
    }
}

int main(void)
{
    scene_begin();
    RUN(a_deleted_pool_in_use_is_opened_again);
    RUN(a_path_is_found_by_any_spelling);
    RUN(a_pool_that_was_removed_stays_removed);
    RUN(files_that_are_no_pools_do_not_count);
    RUN(an_inspector_does_not_keep_a_deleted_pool);
    RUN(a_pool_that_is_only_mapped_is_refused);
    RUN(those_who_come_at_once_share_one_pool);
    return 0;
}
