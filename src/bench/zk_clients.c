/* Client processes of pools on ZooKeeper that obey commands: see zk.h. */
#include "bench/bench.h"
#include "bench/zk.h"

#include "build.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what, int error)
{
    (void)fprintf(stderr, "usher-bench: %s: %s\n", what, usher_strerror(error));
    _exit(1);
}

static void need(const char *what, int error)
{
    if (error < 0) {
        die(what, error);
    }
}

static void answer(double number)
{
    (void)printf("%.0f\n", number);
    (void)fflush(stdout);
}

/* Threads that wait for a seat. The first `pass` of them release it at once; the next one keeps
   it. */
static struct {
    struct usher_pool *pool;
    unsigned pass;
    _Atomic unsigned entered;
} crowd;

static void *wait_in_crowd(void *unused)
{
    struct usher_seat seat;
    need("acquire", usher_acquire(crowd.pool, &seat));
    if (atomic_fetch_add(&crowd.entered, 1) < crowd.pass) {
        need("release", usher_release(crowd.pool, &seat));
    } else {
        for (;;) {
            (void)pause();
        }
    }
    return unused;
}

static void gather(struct usher_pool *pool, struct usher_seat *seat, unsigned waiters,
                   unsigned pass)
{
    pthread_attr_t small;
    struct usher_info info = {.waiters = 0};
    crowd.pool = pool;
    crowd.pass = pass;
    (void)pthread_attr_init(&small);
    (void)pthread_attr_setstacksize(&small, 1 << 18);
    need("acquire", usher_acquire(pool, seat));
    for (unsigned w = 0; w < waiters; w++) {
        pthread_t thread;
        need("a thread", -pthread_create(&thread, &small, wait_in_crowd, NULL));
    }
    while (info.waiters < waiters) {
        bench_nap_us(20000);
        need("inspect", usher_inspect(pool, &info, NULL, 0));
    }
}

static void be_usher(const struct bench_zk_pool *at)
{
    char text[128];
    char name[128];
    double seconds;
    unsigned waiters;
    unsigned pass;
    struct usher_pool *pool;
    struct usher_seat seat;
    struct usher_options options = {.seats = at->seats};
    (void)snprintf(text, sizeof text, "%ums", at->timeout_ms);
    (void)setenv("USHER_ZK_TIMEOUT", text, 1);
    (void)snprintf(name, sizeof name, "zk://127.0.0.1:%d%s", at->port, at->path);
    need(name, usher_open(&pool, name, &options));
    answer(0);
    while (fgets(text, sizeof text, stdin) != NULL) {
        if (strcmp(text, "acquire\n") == 0) {
            need("acquire", usher_acquire(pool, &seat));
            answer(bench_now_ns());
        } else if (strcmp(text, "release\n") == 0) {
            need("release", usher_release(pool, &seat));
            answer(bench_now_ns());
        } else if (sscanf(text, "cycle %lf", &seconds) == 1) {
            double end = bench_now_ns() + seconds * 1e9;
            double cycles = 0;
            for (; bench_now_ns() < end; cycles++) {
                need("acquire", usher_acquire(pool, &seat));
                need("release", usher_release(pool, &seat));
            }
            answer(cycles);
        } else if (sscanf(text, "crowd %u %u", &waiters, &pass) == 2) {
            gather(pool, &seat, waiters, pass);
            answer(0);
        } else if (strcmp(text, "go\n") == 0) {
            need("release", usher_release(pool, &seat));
            while (atomic_load(&crowd.entered) <= crowd.pass) {
                bench_nap_us(1000);
            }
            answer(0);
        }
    }
}

static void be_kazoo(const struct bench_zk_pool *at)
{
    char port[16];
    char timeout[16];
    char seats[16];
    (void)snprintf(port, sizeof port, "%d", at->port);
    (void)snprintf(timeout, sizeof timeout, "%u", at->timeout_ms);
    (void)snprintf(seats, sizeof seats, "%u", at->seats);
    static const char kazoo[] = BUILD_SOURCE "/src/bench/kazoo-semaphore";
    (void)execl(kazoo, kazoo, port, timeout, at->path, seats, (char *)NULL);
}

const struct bench_zk_peer bench_zk_usher = {"usher", be_usher};
const struct bench_zk_peer bench_zk_kazoo = {"kazoo Semaphore", be_kazoo};
const struct bench_zk_peer bench_zk_engine = {"the engine, a write", bench_zk_be_engine};

bool bench_zk_has_kazoo(void)
{
    return system("/usr/bin/python3 -c 'import kazoo' 2>/dev/null") == 0;
}

void bench_client_start(struct bench_client *client, const struct bench_zk_peer *peer,
                        const struct bench_zk_pool *pool)
{
    int to[2];
    int from[2];
    if (pipe(to) != 0 || pipe(from) != 0) {
        perror("usher-bench: pipe");
        exit(71);
    }
    client->pid = bench_fork();
    if (client->pid == 0) {
        (void)dup2(to[0], STDIN_FILENO);
        (void)dup2(from[1], STDOUT_FILENO);
        for (int fd = 3; fd < 1024; fd++) { /* pipes of other clients, too */
            (void)close(fd);
        }
        peer->be(pool);
        _exit(1);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    client->to = fdopen(to[1], "w");
    client->from = fdopen(from[0], "r");
    if (client->to == NULL || client->from == NULL || bench_client_hear(client, 30000) < 0) {
        (void)fprintf(stderr, "usher-bench: %s: cannot start a client of %s\n", peer->name,
                      pool->path);
        exit(71);
    }
}

void bench_client_tell(struct bench_client *client, const char *what)
{
    (void)fprintf(client->to, "%s\n", what);
    (void)fflush(client->to);
}

double bench_client_hear(struct bench_client *client, int most_ms)
{
    char line[64];
    struct pollfd polled = {.fd = fileno(client->from), .events = POLLIN};
    if (poll(&polled, 1, most_ms) != 1 || fgets(line, sizeof line, client->from) == NULL) {
        return -1;
    }
    return strtod(line, NULL);
}

double bench_client_ask(struct bench_client *client, const char *what)
{
    bench_client_tell(client, what);
    return bench_client_hear(client, 60000);
}

void bench_client_end(struct bench_client *client)
{
    (void)kill(client->pid, SIGKILL);
    (void)waitpid(client->pid, NULL, 0);
    (void)fclose(client->to);
    (void)fclose(client->from);
}
