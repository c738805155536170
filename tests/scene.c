/* Helpers of the libusher tests. scene.h is the contract. */
#include "scene.h"

#include "pool/pool.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct scene_board *board;
uint64_t scene_seed = 1;

static char directory[64];
static pid_t owner;

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static void clean_up(void)
{
    if (getpid() == owner) {
        (void)nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
}

void scene_begin(void)
{
    (void)snprintf(directory, sizeof directory, "/dev/shm/test-usher-XXXXXX");
    if (mkdtemp(directory) == NULL) { /* fall back to a slower file system */
        (void)snprintf(directory, sizeof directory, "/tmp/test-usher-XXXXXX");
        EXPECT(mkdtemp(directory) != NULL);
    }
    owner = getpid();
    EXPECT_EQ(atexit(clean_up), 0);
    EXPECT_EQ(setenv("USHER_DIR", directory, 1), 0);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(board != MAP_FAILED);
    (void)alarm(SCENE_HANG_SECONDS);
}

const char *scene_directory(void)
{
    return directory;
}

const char *scene_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return path;
}

int scene_files(const char *path)
{
    int count = 0;
    DIR *opened = opendir(path);
    EXPECT(opened != NULL);
    for (struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    (void)closedir(opened);
    return count;
}

int scene_descriptors(void)
{
    return scene_files("/proc/self/fd") - 1;
}

void scene_clear(void)
{
    memset((void *)board, 0, sizeof *board);
}

pid_t scene_start(void (*body)(void *), void *context)
{
    pid_t parent = getpid();
    (void)fflush(stdout);
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent && getppid() != 0) { /* 0: parent in another pid namespace */
            _exit(1);
        }
        (void)alarm(SCENE_HANG_SECONDS);
        body(context);
        (void)fflush(stdout);
        _exit(0);
    }
    return child;
}

int scene_end(pid_t child)
{
    int status;
    pid_t ended;
    do {
        ended = waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
    EXPECT_EQ(ended, child);
    return status;
}

void scene_kill(pid_t child)
{
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(scene_end(child), SIGKILL);
}

void scene_in_child(void (*body)(void *), void *context)
{
    EXPECT_EQ(scene_end(scene_start(body, context)), 0);
}

struct guest_body {
    int i;
    const char *pool;
};

static void be_guest(void *context)
{
    struct guest_body self = *(struct guest_body *)context;
    struct usher_pool *pool;
    struct usher_options any = {.flags = USHER_EXISTING};
    atomic_store(&board->step[self.i], SCENE_BEGAN);
    EXPECT_EQ(usher_open(&pool, self.pool, &any), 0);
    atomic_store(&board->step[self.i], SCENE_OPENED);
    int error = usher_acquire(pool, &board->seat[self.i]);
    atomic_store(&board->result[self.i], error);
    atomic_store(&board->turn[self.i], atomic_fetch_add(&board->turns, 1) + 1);
    atomic_store(&board->step[self.i], SCENE_DONE);
    while (atomic_load(&board->order[self.i]) == SCENE_STAY) {
        scene_pause_us(1000);
    }
    if (error == 0) {
        EXPECT_EQ(usher_release(pool, &board->seat[self.i]), 0);
    }
    usher_close(pool);
}

pid_t scene_guest(int i, const char *pool)
{
    struct guest_body body = {i, pool};
    atomic_store(&board->step[i], 0);
    atomic_store(&board->order[i], SCENE_STAY);
    return scene_start(be_guest, &body);
}

pid_t scene_holder(int i, const char *pool)
{
    pid_t child = scene_guest(i, pool);
    UNTIL(atomic_load(&board->step[i]) == SCENE_DONE);
    EXPECT_EQ(atomic_load(&board->result[i]), 0);
    return child;
}

pid_t scene_waiter(int i, const char *pool, uint32_t position)
{
    struct usher_pool *observer = scene_open(pool, 0);
    EXPECT_EQ(scene_info(observer).waiters, position - 1);
    pid_t child = scene_guest(i, pool);
    UNTIL(scene_info(observer).waiters == position);
    usher_close(observer);
    return child;
}

void scene_leave(int i, pid_t child)
{
    atomic_store(&board->order[i], SCENE_LEAVE);
    EXPECT_EQ(scene_end(child), 0);
}

struct usher_pool *scene_open(const char *name, uint32_t seats)
{
    struct usher_pool *pool = NULL;
    struct usher_options options = {.seats = seats};
    EXPECT_EQ(usher_open(&pool, name, &options), 0);
    EXPECT(pool != NULL);
    return pool;
}

struct usher_seat scene_acquire(struct usher_pool *pool)
{
    struct usher_seat seat;
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    return seat;
}

struct usher_info scene_info(struct usher_pool *pool)
{
    struct usher_info info;
    EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
    return info;
}

void scene_fence(struct usher_pool *pool)
{
    enum { FENCE = 4 << 20 }; /* more than 65536 rows */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t span = (pool->size + page - 1) / page * page;
    char *area = mmap(NULL, 2UL * FENCE + span, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT(area != MAP_FAILED);
    char *moved = mremap(pool->header, span, span, MREMAP_MAYMOVE | MREMAP_FIXED, area + FENCE);
    EXPECT(moved == area + FENCE);
    pool->header = (void *)moved;
    pool->rows = (void *)(moved + pool->shape.rows_at);
    pool->core.words = (void *)(moved + FORMAT_WORDS);
    pool->core.rows_used = &pool->header->rows_used;
}

static void say(void *context, const char *sentence)
{
    (void)context;
    (void)fprintf(stderr, "%s\n", sentence);
}

void scene_expect_whole(const char *name, uint32_t seats)
{
    struct usher_pool *pool = scene_open(name, seats);
    struct usher_seat held[SCENE_GUESTS];
    struct usher_seat extra;
    EXPECT(seats <= SCENE_GUESTS);
    EXPECT(usher_reap(pool) >= 0);
    EXPECT_EQ(usher_verify(pool, say, NULL), 0);
    struct usher_info info = scene_info(pool);
    EXPECT_EQ(info.seats, seats);
    EXPECT_EQ(info.free, seats);
    EXPECT_EQ(info.owed, 0);
    EXPECT_EQ(info.holders, 0);
    EXPECT_EQ(info.waiters, 0);
    for (uint32_t s = 0; s < seats; s++) {
        EXPECT_EQ(usher_try_acquire(pool, &held[s]), 0);
        EXPECT(held[s].number < seats);
        for (uint32_t other = 0; other < s; other++) {
            EXPECT(held[other].number != held[s].number);
        }
    }
    EXPECT_EQ(usher_try_acquire(pool, &extra), seats == info.guests ? -EUSERS : -EAGAIN);
    for (uint32_t s = 0; s < seats; s++) {
        EXPECT_EQ(usher_release(pool, &held[s]), 0);
    }
    usher_close(pool);
}

struct timespec scene_in_ms(long ms)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

int64_t scene_now_ns(void)
{
    struct timespec now = scene_in_ms(0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void scene_pause_us(long us)
{
    struct timespec moment = {us / 1000000, us % 1000000 * 1000};
    (void)nanosleep(&moment, NULL);
}

bool scene_refuse(long call, int argument, uint32_t mask, uint32_t value, int error)
{
    /* the low half of the argument; flags and commands fit in it */
    const unsigned low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;
    uint32_t at = (uint32_t)(offsetof(struct seccomp_data, args) + low +
                             8 * (unsigned)(argument < 0 ? 0 : argument));
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, argument < 0 ? 0 : mask),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument < 0 ? 0 : value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        (void)printf("  SKIPPED: this kernel has no seccomp\n");
        return false;
    }
    return true;
}

uint64_t scene_random(void)
{
    scene_seed += 0x9e3779b97f4a7c15ULL;
    uint64_t x = scene_seed;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}
