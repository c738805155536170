/*
 * Helpers for tests of pools in real processes: a directory for the pools, children that die with
 * the test, waiting with a limit, and checks of a pool at rest.
 */
#ifndef USHER_POOL_SUPPORT_H
#define USHER_POOL_SUPPORT_H

#include "process_state.h"
#include "test.h"
#include "usher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SUPPORT_PATIENCE_S
#define SUPPORT_PATIENCE_S 60
#endif

enum { PATIENCE_S = SUPPORT_PATIENCE_S, SUPPORT_SEATS = 64, SUPPORT_GUESTS = 256 };

static uint64_t seed = 1;
static char directory[64];
static pid_t tester;
static char doing[160]; /* what the test does now: printed if it fails */

/* A random number below the limit, from the caller's state. */
static inline uint32_t roll(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(*state >> 33) % limit;
}

static inline uint32_t below(uint32_t limit)
{
    return roll(&seed, limit);
}

static inline __attribute__((format(printf, 1, 2))) void now_doing(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(doing, sizeof doing, format, arguments);
    va_end(arguments);
}

/* At exit: print what the test was doing, if it failed, and delete its files. Children delete none.
   */
static inline void support__end(int status, void *unused)
{
    (void)unused;
    if (status != 0 && doing[0] != '\0') {
        (void)fprintf(stderr, "  while: %s\n", doing);
    }
    if (getpid() != tester) {
        return;
    }
    DIR *files = opendir(directory);
    for (struct dirent *file; files != NULL && (file = readdir(files)) != NULL;) {
        (void)unlinkat(dirfd(files), file->d_name, 0);
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    (void)rmdir(directory);
}

#ifndef __GLIBC__
static inline void support__end_without_status(void)
{
    support__end(0, NULL);
}
#endif

/* Call once, before the first pool. Makes a directory for the pools, and sets the seed: the last
   argument that is a number, or the time. */
static inline void support_begin(int argc, char **argv)
{
    seed = (uint64_t)time(NULL);
    for (int a = 1; a < argc; a++) {
        char *end;
        uint64_t number = strtoull(argv[a], &end, 10);
        seed = *argv[a] != '\0' && *end == '\0' ? number : seed;
    }
    (void)printf("seed %llu\n", (unsigned long long)seed);
    (void)snprintf(directory, sizeof directory, "/dev/shm/usher-test-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        (void)snprintf(directory, sizeof directory, "/tmp/usher-test-XXXXXX");
        EXPECT(mkdtemp(directory) != NULL);
    }
    tester = getpid();
#ifdef __GLIBC__
    EXPECT_EQ(on_exit(support__end, NULL), 0);
#else
    EXPECT_EQ(atexit(support__end_without_status), 0);
#endif
    EXPECT_EQ(setenv("USHER_DIR", directory, 1), 0);
    (void)prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0); /* so that short pauses are short */
}

static inline bool support_slow(int argc, char **argv)
{
    bool slow = false;
    for (int a = 1; a < argc; a++) {
        slow = slow || strcmp(argv[a], "slow") == 0;
    }
    return slow;
}

/* Memory that is shared with children, all zero. */
static inline void *share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(memory != MAP_FAILED);
    return memory;
}

static inline int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline struct timespec after_us(int64_t us)
{
    int64_t then = now_ns() + us * 1000;
    return (struct timespec){then / 1000000000, then % 1000000000};
}

static inline void pause_us(long us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    (void)nanosleep(&t, NULL);
}

/* Wait until the condition holds. The limit only guards against waiting for ever. */
#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        int64_t limit_ = now_ns() + PATIENCE_S * 1000000000LL;                                     \
        for (unsigned looks_ = 0; !(condition); looks_++) {                                        \
            if (now_ns() > limit_) {                                                               \
                (void)fprintf(stderr, "%s:%d: not in %d s: %s\n", __FILE__, __LINE__, PATIENCE_S,  \
                              #condition);                                                         \
                exit(1);                                                                           \
            }                                                                                      \
            pause_us(looks_ < 100 ? 10 : 200);                                                     \
        }                                                                                          \
    } while (0)

/* A child process. */
struct child {
    pid_t pid;
    int status;
    bool gone; /* it has ended with `status` */
};

/* Fork. Returns true in the child, which dies with its parent. */
static inline bool begin_child(struct child *child)
{
    pid_t parent = getpid();
    (void)fflush(NULL);
    *child = (struct child){.pid = fork()};
    EXPECT(child->pid >= 0);
    if (child->pid != 0) {
        return false;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) {
        _exit(1);
    }
    return true;
}

/* Has the child ended? If a check failed in it, this test fails. */
static inline bool gone(struct child *child)
{
    if (!child->gone && waitpid(child->pid, &child->status, WNOHANG) == child->pid) {
        child->gone = true;
        EXPECT(!WIFEXITED(child->status) || WEXITSTATUS(child->status) == 0);
        EXPECT(!WIFSIGNALED(child->status) || WTERMSIG(child->status) == SIGKILL);
    }
    return child->gone;
}

static inline bool was_killed(const struct child *child)
{
    return child->gone && WIFSIGNALED(child->status);
}

/* Send SIGKILL, and wait until the kernel reports the death. */
static inline void kill_child(struct child *child)
{
    if (!child->gone) {
        EXPECT_EQ(kill(child->pid, SIGKILL), 0);
        AWAIT(gone(child));
    }
}

static inline struct usher_pool *open_pool(const char *name, uint32_t seats, uint32_t guests)
{
    struct usher_pool *pool;
    struct usher_options options = {.seats = seats, .guests = guests};
    EXPECT_EQ(usher_open(&pool, name, &options), 0);
    return pool;
}

/* The position of a process in the line, from 1; 0 if it does not wait. */
static inline uint32_t position_of(struct usher_pool *pool, pid_t pid)
{
    struct usher_guest guests[SUPPORT_GUESTS];
    int count = usher_inspect(pool, NULL, guests, SUPPORT_GUESTS);
    EXPECT(count >= 0 && count <= SUPPORT_GUESTS);
    for (int g = 0; g < count; g++) {
        if (guests[g].pid == pid && guests[g].position > 0) {
            return guests[g].position;
        }
    }
    return 0;
}

static inline void expect_info(struct usher_pool *pool, uint32_t seats, uint32_t holders)
{
    struct usher_info info;
    struct usher_guest guests[SUPPORT_GUESTS];
    EXPECT_EQ(usher_inspect(pool, &info, guests, SUPPORT_GUESTS), holders);
    EXPECT_EQ(info.seats, seats);
    EXPECT_EQ(info.holders, holders);
    EXPECT_EQ(info.free, seats - holders);
    EXPECT_EQ(info.waiters, 0);
    EXPECT_EQ(info.owed, 0);
    for (uint32_t g = 0; g < holders; g++) {
        EXPECT_EQ(guests[g].seat, g);
        EXPECT_EQ(guests[g].pid, getpid());
        EXPECT_EQ(guests[g].alive, 1);
    }
}

/* Expect exactly that many seats in a pool where all holders and waiters are dead, if there are
   any. Returns how many seats are inherited from the dead. */
static inline unsigned expect_exactly(struct usher_pool *pool, uint32_t seats)
{
    struct usher_seat had[SUPPORT_SEATS];
    struct usher_seat extra;
    bool seen[SUPPORT_SEATS] = {false};
    unsigned inherited = 0;
    for (uint32_t s = 0; s < seats; s++) {
        EXPECT_EQ(usher_try_acquire(pool, &had[s]), 0);
        EXPECT(had[s].number < seats && !seen[had[s].number]);
        EXPECT(s == 0 || (int32_t)(had[s].ticket - had[s - 1].ticket) > 0);
        seen[had[s].number] = true;
        inherited += (had[s].flags & USHER_INHERITED) != 0;
    }
    EXPECT_EQ(usher_try_acquire(pool, &extra), -EAGAIN);
    expect_info(pool, seats, seats);
    for (uint32_t s = 0; s < seats; s++) {
        EXPECT_EQ(usher_release(pool, &had[s]), 0);
        EXPECT_EQ(usher_release(pool, &had[s]), -EPERM);
    }
    expect_info(pool, seats, 0);
    return inherited;
}

#endif
