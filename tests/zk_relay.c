/* A relay to a ZooKeeper server that fails on command. zk_relay.h is the contract. In both
   directions a message is a four-byte big-endian length and that many bytes. */
#include "zk_relay.h"

#include "scene.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_LINKS = 16, ROOM = 1 << 16 };

/* One connection, and the incomplete messages received from client and server. */
struct link {
    int fds[2]; /* senders, by enum zk_relay_what; -1: closed */
    size_t used[2];
    unsigned char bytes[2][ROOM];
};
static struct link links[MOST_LINKS];

/* Commands and counters, in shared memory. */
static struct orders {
    atomic_int left[2];
    atomic_int late_ms; /* 0: the message is lost */
    atomic_int lost, held;
} * orders;

static int open_socket(int port, bool listens)
{
    int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct sockaddr *at = (const struct sockaddr *)&address;
    EXPECT(fd >= 0);
    EXPECT_EQ(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes), 0);
    EXPECT_EQ(listens ? bind(fd, at, sizeof address) : connect(fd, at, sizeof address), 0);
    EXPECT(!listens || listen(fd, MOST_LINKS) == 0);
    return fd;
}

static void end_link(struct link *link)
{
    (void)close(link->fds[0]);
    (void)close(link->fds[1]);
    link->fds[0] = link->fds[1] = -1;
}

/* Decide whether to lose this message; or delay it now. */
static bool is_lost(int what)
{
    int late_ms = atomic_load(&orders->late_ms);
    int left = atomic_load(&orders->left[what]);
    while (left > 0 && !atomic_compare_exchange_weak(&orders->left[what], &left, left - 1)) {
    }
    if (left == 1 && late_ms > 0) {
        (void)atomic_fetch_add(&orders->held, 1);
        scene_pause_us(late_ms * 1000L);
    }
    return left == 1 && late_ms == 0;
}

/* Forward all complete messages. Return whether the link stays open. After a failed send the
   client library may start a connection with the rest of an older request. A server takes that
   for a much too long message and closes the connection; so do we. */
static bool pass_on(struct link *link, int what)
{
    unsigned char *at = link->bytes[what];
    size_t left = link->used[what];
    for (;;) {
        uint32_t length = 0;
        if (left >= sizeof length) {
            memcpy(&length, at, sizeof length);
            length = ntohl(length);
        }
        if (length > ROOM - 4) {
            return false;
        }
        if (left < 4 || left < length + 4) {
            break;
        }
        if (is_lost(what)) {
            (void)atomic_fetch_add(&orders->lost, 1);
            return false;
        }
        if (send(link->fds[!what], at, length + 4, MSG_NOSIGNAL) != (ssize_t)length + 4) {
            return false;
        }
        at += length + 4;
        left -= length + 4;
    }
    memmove(link->bytes[what], at, left);
    link->used[what] = left;
    return true;
}

static bool take(struct link *link, int what)
{
    size_t used = link->used[what];
    ssize_t got = read(link->fds[what], link->bytes[what] + used, ROOM - used);
    link->used[what] += got > 0 ? (size_t)got : 0;
    return got > 0 && pass_on(link, what);
}

static void begin_link(int listener, int to_port)
{
    int yes = 1;
    int l = 0;
    while (links[l].fds[0] >= 0) {
        EXPECT(++l < MOST_LINKS);
    }
    links[l].used[0] = links[l].used[1] = 0;
    links[l].fds[ZK_RELAY_REQUEST] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    links[l].fds[ZK_RELAY_ANSWER] = open_socket(to_port, false);
    (void)setsockopt(links[l].fds[0], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

struct ends {
    int listener, to_port;
};

static void keep(void *context)
{
    const struct ends *ends = context;
    for (int l = 0; l < MOST_LINKS; l++) {
        links[l].fds[0] = links[l].fds[1] = -1;
    }
    for (;;) {
        struct pollfd polled[2 * MOST_LINKS + 1];
        for (int p = 0; p < 2 * MOST_LINKS; p++) {
            polled[p] = (struct pollfd){.fd = links[p / 2].fds[p % 2], .events = POLLIN};
        }
        polled[2 * MOST_LINKS] = (struct pollfd){.fd = ends->listener, .events = POLLIN};
        (void)poll(polled, 2 * MOST_LINKS + 1, -1);
        for (int p = 0; p < 2 * MOST_LINKS; p++) {
            struct link *link = &links[p / 2];
            if (polled[p].revents != 0 && link->fds[p % 2] >= 0 && !take(link, p % 2)) {
                end_link(link);
            }
        }
        if (polled[2 * MOST_LINKS].revents != 0) {
            begin_link(ends->listener, ends->to_port);
        }
    }
}

int zk_relay_start(int to_port)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    struct ends ends = {open_socket(0, true), to_port};
    orders = mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(orders != MAP_FAILED);
    EXPECT_EQ(getsockname(ends.listener, (struct sockaddr *)&address, &size), 0);
    (void)scene_start(keep, &ends);
    (void)close(ends.listener);
    return ntohs(address.sin_port);
}

void zk_relay_lose(enum zk_relay_what what, int count)
{
    atomic_store(&orders->left[!what], 0);
    atomic_store(&orders->late_ms, 0);
    atomic_store(&orders->left[what], count);
}

void zk_relay_hold(int count, int ms)
{
    zk_relay_lose(ZK_RELAY_REQUEST, 0);
    atomic_store(&orders->late_ms, ms);
    atomic_store(&orders->left[ZK_RELAY_REQUEST], count);
}

int zk_relay_held(void)
{
    return atomic_load(&orders->held);
}

int zk_relay_lost(void)
{
    return atomic_load(&orders->lost);
}
