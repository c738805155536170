/*
 * A link with a delay: bytes leave it a fixed time after they enter, in both directions and in
 * order. Elapsed time divided by the delay counts round trips: see zk.h.
 */
#include "bench/bench.h"
#include "bench/zk.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_LINKS = 64, PIECE = 1 << 16 };

struct piece {
    struct piece *next;
    double due_ns;
    size_t length;
    char bytes[];
};

/* One direction of a connection. */
struct direction {
    int from, to;
    struct piece *first, **last;
};

static struct direction directions[2 * MOST_LINKS];
static unsigned count;
static double delay_ns;

static int open_socket(int port, bool listens)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct sockaddr *to = (const struct sockaddr *)&address;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (listens ? bind(fd, to, sizeof address) != 0 || listen(fd, MOST_LINKS) != 0
                : connect(fd, to, sizeof address) != 0) {
        perror("usher-bench: delayed link");
        exit(71);
    }
    return fd;
}

static void add_direction(int from, int to)
{
    directions[count] = (struct direction){.from = from, .to = to};
    directions[count].last = &directions[count].first;
    count++;
}

/* Read what has arrived. At end of file, close the other side for writing. */
static void take(struct direction *direction)
{
    struct piece *piece = malloc(sizeof *piece + PIECE);
    ssize_t got = piece == NULL ? -1 : read(direction->from, piece->bytes, PIECE);
    if (got <= 0) {
        (void)shutdown(direction->to, SHUT_WR);
        direction->from = -1;
        free(piece);
        return;
    }
    *piece = (struct piece){.due_ns = bench_now_ns() + delay_ns, .length = (size_t)got};
    *direction->last = piece;
    direction->last = &piece->next;
}

/* Forward all data that is due. Return the time until the next is due, or -1: none. */
static double pass_on(struct direction *direction)
{
    while (direction->first != NULL && direction->first->due_ns <= bench_now_ns()) {
        struct piece *piece = direction->first;
        for (size_t sent = 0; sent < piece->length;) {
            ssize_t more =
                send(direction->to, piece->bytes + sent, piece->length - sent, MSG_NOSIGNAL);
            sent = more > 0 ? sent + (size_t)more : piece->length;
        }
        direction->first = piece->next;
        direction->last = direction->first == NULL ? &direction->first : direction->last;
        free(piece);
    }
    return direction->first == NULL ? -1 : direction->first->due_ns - bench_now_ns();
}

static void keep_linking(int listener, int to_port)
{
    int yes = 1;
    for (;;) {
        struct pollfd polled[2 * MOST_LINKS + 1];
        double wait_ns = 1e9;
        for (unsigned w = 0; w < count; w++) {
            double next = pass_on(&directions[w]);
            wait_ns = next >= 0 && next < wait_ns ? next : wait_ns;
            polled[w] = (struct pollfd){.fd = directions[w].from, .events = POLLIN};
        }
        polled[count] =
            (struct pollfd){.fd = count < 2 * MOST_LINKS ? listener : -1, .events = POLLIN};
        struct timespec time = {(time_t)(wait_ns / 1e9), (long)wait_ns % 1000000000};
        (void)ppoll(polled, count + 1, &time, NULL);
        unsigned before = count;
        for (unsigned w = 0; w < before; w++) {
            if (polled[w].revents != 0) {
                take(&directions[w]);
            }
        }
        if (polled[before].revents != 0) {
            int near = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            int far = open_socket(to_port, false);
            (void)setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            add_direction(near, far);
            add_direction(far, near);
        }
    }
}

int bench_delay_start(int to_port, unsigned us, pid_t *child)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    int listener = open_socket(0, true);
    (void)getsockname(listener, (struct sockaddr *)&address, &size);
    *child = bench_fork();
    if (*child == 0) {
        delay_ns = us * 1000.0;
        keep_linking(listener, to_port);
    }
    (void)close(listener);
    return ntohs(address.sin_port);
}
