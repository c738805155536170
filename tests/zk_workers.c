/* Processes that acquire and release. zk_workers.h is the contract. */
#include "zk_workers.h"

#include "zk_server.h"

#include <string.h>
#include <sys/mman.h>

struct zk_seen *zk_seen;
static long session_ms;

void zk_set_session(long ms)
{
    char text[32];
    session_ms = ms;
    (void)snprintf(text, sizeof text, "%ldms", ms);
    EXPECT_EQ(setenv("USHER_ZK_TIMEOUT", text, 1), 0);
}

void zk_begin(long ms)
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    (void)printf("SKIPPED: a process with threads cannot fork under the thread sanitizer\n");
    exit(77);
#endif
#endif
    if (!zk_server_possible()) {
        exit(77);
    }
    scene_begin();
    EXPECT_EQ(unsetenv("USHER_MODULES"), 0);
    zk_seen =
        mmap(NULL, sizeof *zk_seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(zk_seen != MAP_FAILED);
    zk_set_session(ms);
}

uint64_t zk_fence_of(struct usher_pool *pool, const struct usher_seat *seat)
{
    struct usher_lease lease;
    EXPECT_EQ(usher_check(pool, seat, &lease), 0);
    EXPECT(lease.left_ns > 0 && lease.left_ns < session_ms * 1000000LL);
    return lease.fence;
}

/* Try to get a seat with a short deadline: giving up races with the grant. Return whether we got
   it. */
static bool take(struct usher_pool *pool, struct usher_seat *seat)
{
    struct timespec soon = scene_in_ms((long)(scene_random() % 12));
    int error = usher_acquire_until(pool, seat, scene_random() % 2 == 0 ? NULL : &soon);
    EXPECT(error == 0 || error == -ETIMEDOUT);
    (void)atomic_fetch_add(&zk_seen->gave_up, error != 0);
    return error == 0;
}

static void work(void *name)
{
    struct usher_pool *pool = scene_open(name, 3);
    for (int round = 0; round < ZK_ROUNDS || atomic_load(&zk_seen->more); round++) {
        struct usher_seat seat;
        while (!take(pool, &seat)) {
        }
        EXPECT(seat.number < 3);
        EXPECT_EQ(atomic_fetch_add(&zk_seen->sitting[seat.number], 1), 0);
        EXPECT(atomic_fetch_add(&board->inside, 1) < 3);
        uint64_t fence = zk_fence_of(pool, &seat);
        EXPECT(atomic_exchange(&zk_seen->seat_fence[seat.number], fence) < fence);
        int at = atomic_fetch_add(&zk_seen->count, 1);
        if (at < ZK_WORK) {
            atomic_store(&zk_seen->fences[at], fence);
        }
        scene_pause_us((long)(scene_random() % 3000));
        (void)atomic_fetch_sub(&board->inside, 1);
        (void)atomic_fetch_sub(&zk_seen->sitting[seat.number], 1);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(usher_release(pool, &seat), -EPERM);
    }
    usher_close(pool);
}

void zk_workers_run(const char *name, void (*meanwhile)(void))
{
    pid_t workers[ZK_WORKERS];
    memset((void *)zk_seen, 0, sizeof *zk_seen);
    atomic_store(&zk_seen->more, meanwhile != NULL);
    for (int w = 0; w < ZK_WORKERS; w++) {
        scene_seed = (uint64_t)w + 1;
        workers[w] = scene_start(work, (void *)(uintptr_t)name);
    }
    if (meanwhile != NULL) {
        meanwhile();
        atomic_store(&zk_seen->more, 0);
    }
    for (int w = 0; w < ZK_WORKERS; w++) {
        EXPECT_EQ(scene_end(workers[w]), 0);
    }
    EXPECT(atomic_load(&zk_seen->count) >= ZK_WORK);
    for (int a = 0; a < ZK_WORK; a++) {
        for (int b = 0; b < a; b++) {
            EXPECT(atomic_load(&zk_seen->fences[a]) != atomic_load(&zk_seen->fences[b]));
        }
    }
}

static void say_fault(void *context, const char *sentence)
{
    (void)context;
    (void)fprintf(stderr, "%s\n", sentence);
}

void zk_expect_whole(const char *name, uint32_t seats)
{
    struct usher_seat held[8];
    struct usher_pool *pool = scene_open(name, seats);
    UNTIL(scene_info(pool).holders == 0 && scene_info(pool).waiters == 0);
    for (uint32_t s = 0; s < seats; s++) {
        EXPECT_EQ(usher_try_acquire(pool, &held[s]), 0);
    }
    EXPECT_EQ(scene_info(pool).free, 0);
    EXPECT_EQ(usher_try_acquire(pool, &held[7]), -EAGAIN);
    EXPECT_EQ(usher_verify(pool, say_fault, NULL), 0);
    for (uint32_t s = 0; s < seats; s++) {
        EXPECT_EQ(usher_release(pool, &held[s]), 0);
    }
    usher_close(pool);
    EXPECT_EQ(usher_remove(name), 0);
}
