/* Check the rules of zk_judge.h while servers and clients fail. */
#include "zk_judge.h"

#include "zk_net.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct zk_judge *zk_judge;
static pid_t workers[ZK_JUDGE_CLIENTS];

/* The arguments of a client. */
struct client {
    const char *pool;
    int c, node;
};

static int64_t boot_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void zk_judge_begin(void)
{
    zk_judge =
        mmap(NULL, sizeof *zk_judge, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(zk_judge != MAP_FAILED);
}

bool zk_judge_write(uint32_t seat, uint64_t fence)
{
    unsigned long long highest = atomic_load(&zk_judge->seats[seat].highest);
    while (fence > highest &&
           !atomic_compare_exchange_weak(&zk_judge->seats[seat].highest, &highest, fence)) {
    }
    bool taken = fence >= highest;
    (void)atomic_fetch_add(taken ? &zk_judge->accepted : &zk_judge->refused, 1);
    return taken;
}

bool zk_judge_holds(struct usher_pool *pool, const struct usher_seat *seat)
{
    struct usher_lease lease;
    int64_t now = boot_ns();
    if (usher_check(pool, seat, &lease) != 0) {
        return false;
    }
    if (atomic_load(&zk_judge->seats[seat->number].owner) != lease.fence) {
        /* This process may have been descheduled for long. Then the seat must be lost by now. */
        EXPECT_EQ(usher_check(pool, seat, &lease), -EKEYEXPIRED);
        return false;
    }
    atomic_store(&zk_judge->seats[seat->number].until_ns, now + lease.left_ns);
    return true;
}

void zk_judge_acquired(struct usher_pool *pool, const struct usher_seat *seat)
{
    struct usher_lease lease;
    EXPECT(seat->number < ZK_JUDGE_SEATS);
    unsigned long long owner = atomic_load(&zk_judge->seats[seat->number].owner);
    int64_t until = atomic_load(&zk_judge->seats[seat->number].until_ns);
    int64_t now = boot_ns();
    int error = usher_check(pool, seat, &lease);
    EXPECT(error == 0 || error == -EKEYEXPIRED);
    if (error == 0) { /* the previous holder gave it back, or knows that it lost it */
        EXPECT(owner == 0 || until < now);
        EXPECT(lease.fence > owner);
        atomic_store(&zk_judge->seats[seat->number].until_ns, now + lease.left_ns);
        atomic_store(&zk_judge->seats[seat->number].owner, lease.fence);
    }
    int at = atomic_fetch_add(&zk_judge->logged, 1);
    EXPECT(at < ZK_JUDGE_LOG);
    atomic_store(&zk_judge->log[at].ticket, seat->ticket);
    atomic_store(&zk_judge->log[at].fence, lease.fence);
}

void zk_judge_releasing(const struct usher_seat *seat, uint64_t fence)
{
    unsigned long long expected = fence;
    (void)atomic_compare_exchange_strong(&zk_judge->seats[seat->number].owner, &expected, 0);
}

static struct usher_pool *open_again(const struct client *self)
{
    struct usher_pool *pool = NULL;
    struct usher_options options = {.seats = ZK_JUDGE_SEATS};
    int error;
    while ((error = usher_open(&pool, self->pool, &options)) != 0) {
        EXPECT(error == -ENOTCONN || error == -EKEYEXPIRED);
        EXPECT(atomic_load(&zk_judge->clients[self->c].may_lose));
        scene_pause_us(100000);
    }
    return pool;
}

/* Hold a seat for a while. True: it was ours all the time and was given back. */
static bool sit(struct usher_pool *pool, struct usher_seat *seat)
{
    struct usher_lease lease;
    zk_judge_acquired(pool, seat);
    bool held = usher_check(pool, seat, &lease) == 0;
    for (uint64_t pauses = scene_random() % 8; pauses > 0 && held; pauses--) {
        held = zk_judge_holds(pool, seat);
        if (held && !zk_judge_write(seat->number, lease.fence)) {
            /* a later client has the seat: we know that, or are about to know it */
            EXPECT_EQ(usher_check(pool, seat, &lease), -EKEYEXPIRED);
        }
        scene_pause_us((long)(scene_random() % 3000));
    }
    zk_judge_releasing(seat, lease.fence);
    int error = usher_release(pool, seat);
    EXPECT(error == 0 || error == -EKEYEXPIRED || error == -ENOTCONN);
    return held && error == 0;
}

static void work(void *context)
{
    struct client self = *(struct client *)context;
    zk_net_enter(self.node);
    scene_seed = (uint64_t)self.c * 7919 + (uint64_t)getpid();
    struct usher_pool *pool = open_again(&self);
    while (!atomic_load(&zk_judge->over)) {
        struct usher_seat seat;
        struct timespec soon = scene_in_ms((long)(scene_random() % 40));
        int error = usher_acquire_until(pool, &seat, scene_random() % 3 == 0 ? &soon : NULL);
        if (error == -ETIMEDOUT) {
            continue;
        }
        bool well = error == 0 && sit(pool, &seat);
        if (error != -EKEYEXPIRED && error != -ENOTCONN) {
            EXPECT_EQ(error, 0);
        }
        if (!well) {
            if (!atomic_load(&zk_judge->clients[self.c].may_lose)) {
                (void)fprintf(stderr,
                              "client %d lost %s without a fault that explains it (error %d)\n",
                              self.c, error == 0 ? "its seat" : "its place in line", error);
                exit(1);
            }
            (void)atomic_fetch_add(&zk_judge->clients[self.c].lost, 1);
            usher_close(pool);
            pool = open_again(&self);
        }
        (void)atomic_fetch_add(&zk_judge->clients[self.c].turns, well);
    }
    usher_close(pool);
}

void zk_judge_start(const char *pool, int first_node)
{
    static struct client clients[ZK_JUDGE_CLIENTS];
    (void)alarm(SCENE_HANG_SECONDS);
    memset((void *)zk_judge, 0, sizeof *zk_judge);
    usher_close(scene_open(pool, ZK_JUDGE_SEATS));
    for (int c = 0; c < ZK_JUDGE_CLIENTS; c++) {
        clients[c] =
            (struct client){pool, c, first_node == ZK_NET_HERE ? ZK_NET_HERE : first_node + c};
        workers[c] = scene_start(work, &clients[c]);
    }
}

void zk_judge_may_lose(unsigned clients)
{
    for (int c = 0; c < ZK_JUDGE_CLIENTS; c++) {
        atomic_store(&zk_judge->clients[c].may_lose, clients >> c & 1);
    }
}

void zk_judge_until(unsigned clients, int turns)
{
    int wanted[ZK_JUDGE_CLIENTS];
    for (int c = 0; c < ZK_JUDGE_CLIENTS; c++) {
        wanted[c] = clients >> c & 1 ? atomic_load(&zk_judge->clients[c].turns) + turns : INT32_MIN;
    }
    for (int c = 0; c < ZK_JUDGE_CLIENTS; c++) {
        UNTIL(atomic_load(&zk_judge->clients[c].turns) >= wanted[c]);
    }
}

struct entry {
    uint64_t ticket, fence;
};

static int by_ticket(const void *a, const void *b)
{
    uint64_t first = ((const struct entry *)a)->ticket;
    uint64_t second = ((const struct entry *)b)->ticket;
    return (first > second) - (first < second);
}

void zk_judge_end(void)
{
    static struct entry entries[ZK_JUDGE_LOG];
    int turns = 0;
    int lost = 0;
    atomic_store(&zk_judge->over, 1);
    for (int c = 0; c < ZK_JUDGE_CLIENTS; c++) {
        EXPECT_EQ(scene_end(workers[c]), 0);
        turns += atomic_load(&zk_judge->clients[c].turns);
        lost += atomic_load(&zk_judge->clients[c].lost);
    }
    int count = atomic_load(&zk_judge->logged);
    for (int e = 0; e < count; e++) {
        entries[e] = (struct entry){atomic_load(&zk_judge->log[e].ticket),
                                    atomic_load(&zk_judge->log[e].fence)};
    }
    qsort(entries, (size_t)count, sizeof entries[0], by_ticket);
    for (int e = 1; e < count; e++) {
        EXPECT(entries[e].ticket > entries[e - 1].ticket);
        EXPECT(entries[e].fence > entries[e - 1].fence);
    }
    (void)printf("  %d turns in order, %d lost seats or places; %d writes, %d refused\n", turns,
                 lost, atomic_load(&zk_judge->accepted), atomic_load(&zk_judge->refused));
    (void)fflush(stdout);
}
