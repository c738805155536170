/* ZooKeeper alone: writes in sequence, with the client library that pools use. See zk.h. */
#include "bench/bench.h"
#include "bench/zk.h"

#ifdef BENCH_ZOOKEEPER

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

static zhandle_t *zh;
static bool done;
static int result;

static void on_event(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    (void)handle, (void)type, (void)state, (void)path, (void)context;
}

static void on_set(int rc, const struct Stat *stat, const void *context)
{
    (void)stat, (void)context;
    result = rc;
    done = true;
}

static void on_create(int rc, const char *text, const void *context)
{
    (void)text, (void)context;
    result = rc;
    done = true;
}

static void turn(void)
{
    int fd = -1;
    int interest = 0;
    struct timeval tv = {0, 0};
    (void)zookeeper_interest(zh, &fd, &interest, &tv);
    struct pollfd polled = {.fd = fd,
                            .events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                                              (interest & ZOOKEEPER_WRITE ? POLLOUT : 0))};
    (void)poll(&polled, 1, (int)(tv.tv_sec * 1000 + tv.tv_usec / 1000));
    (void)zookeeper_process(zh, (polled.revents & POLLIN ? ZOOKEEPER_READ : 0) |
                                    (polled.revents & POLLOUT ? ZOOKEEPER_WRITE : 0));
}

static void finish(void)
{
    while (!done) {
        turn();
    }
    done = false;
    if (result != ZOK) {
        (void)fprintf(stderr, "usher-bench: the engine: %s\n", zerror(result));
        _exit(1);
    }
}

static void say_nothing(const char *message)
{
    (void)message;
}

void bench_zk_be_engine(const struct bench_zk_pool *pool)
{
    static const char data[] = "data about as long as that of a pool of a few seats";
    char text[128];
    char path[96];
    double seconds;
    (void)snprintf(text, sizeof text, "127.0.0.1:%d", pool->port);
    (void)snprintf(path, sizeof path, "%s-%ld", pool->path, (long)getpid());
    zh = zookeeper_init2(text, on_event, (int)pool->timeout_ms, NULL, NULL, 0, say_nothing);
    while (zh != NULL && zoo_state(zh) != ZOO_CONNECTED_STATE) {
        turn();
    }
    if (zh == NULL || zoo_acreate(zh, path, data, sizeof data - 1, &ZOO_OPEN_ACL_UNSAFE,
                                  ZOO_EPHEMERAL, on_create, NULL) != ZOK) {
        return;
    }
    finish();
    (void)printf("0\n");
    (void)fflush(stdout);
    while (fgets(text, sizeof text, stdin) != NULL) {
        if (sscanf(text, "cycle %lf", &seconds) == 1) {
            double end = bench_now_ns() + seconds * 1e9;
            unsigned long cycles = 0;
            for (; bench_now_ns() < end; cycles++) {
                (void)zoo_aset(zh, path, data, sizeof data - 1, -1, on_set, NULL);
                finish();
            }
            (void)printf("%lu\n", cycles);
            (void)fflush(stdout);
        }
    }
}

#else

void bench_zk_be_engine(const struct bench_zk_pool *pool)
{
    (void)pool;
}

#endif
