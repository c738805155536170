/*
 * Pools on ZooKeeper: a real server on loopback; for comparison kazoo's Semaphore on the same
 * server, and ZooKeeper alone. Measures cycles per second; round trips, on a link with a known
 * delay; notifications per release in a long line; and how long others wait when a client is killed
 * or when the first waiter is stopped.
 */
#include "bench/bench.h"
#include "bench/zk.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_CLIENTS = 4, MOST_SCENES = 8, LONG_MS = 10000, SHORT_MS = 2000 };

static struct bench_zk server;

/* The implementations compared; the engine is only in the first table. */
static const struct bench_zk_peer *peers[3];
static unsigned peer_count;

/* A new pool. */
static struct bench_zk_pool new_pool(unsigned seats, unsigned timeout_ms)
{
    static unsigned made;
    struct bench_zk_pool pool = {.port = server.port, .timeout_ms = timeout_ms, .seats = seats};
    (void)snprintf(pool.path, sizeof pool.path, "/pools/bench-%u", made++);
    return pool;
}

/* Run clients that acquire and release at the same time. Return their cycles per second
   together. */
static double cycles_of(struct bench_client *clients, unsigned count, double seconds)
{
    char what[32];
    double cycles = 0;
    (void)snprintf(what, sizeof what, "cycle %.3f", seconds);
    for (unsigned c = 0; c < count; c++) {
        bench_client_tell(&clients[c], what);
    }
    for (unsigned c = 0; c < count; c++) {
        double did = bench_client_hear(&clients[c], 60000);
        cycles += did > 0 ? did : 0;
    }
    return cycles / seconds;
}

static const struct {
    unsigned clients, seats;
    const char *name;
} crowds[] = {{1, 1, "1 client, k = 1"}, {4, 4, "4 clients, k = 4"}, {4, 1, "4 clients, k = 1"}};

enum { CROWDS = sizeof crowds / sizeof crowds[0] };

static double speed[CROWDS][3][BENCH_MAX_ROUNDS], requests[CROWDS][3][BENCH_MAX_ROUNDS];

static void measure_crowd(unsigned at, unsigned rounds, double seconds)
{
    struct bench_client clients[3][MOST_CLIENTS] = {0};
    for (unsigned p = 0; p < peer_count; p++) {
        struct bench_zk_pool pool = new_pool(crowds[at].seats, LONG_MS);
        for (unsigned c = 0; c < crowds[at].clients; c++) {
            bench_client_start(&clients[p][c], peers[p], &pool);
        }
        (void)cycles_of(clients[p], crowds[at].clients, seconds / 4); /* warm up */
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < peer_count; i++) {
            unsigned p = (i + round) % peer_count;
            double before = bench_zk_requests(&server);
            double a_second = cycles_of(clients[p], crowds[at].clients, seconds);
            speed[at][p][round] = a_second;
            requests[at][p][round] =
                (bench_zk_requests(&server) - before) / (a_second * seconds + 1e-9);
        }
    }
    for (unsigned p = 0; p < peer_count; p++) {
        for (unsigned c = 0; c < crowds[at].clients; c++) {
            bench_client_end(&clients[p][c]);
        }
    }
}

static void compare_speed(void)
{
    unsigned rounds = bench_pick(5, 2, 2);
    double seconds = bench_pick(800, 200, 100) / 1000.0;
    unsigned engine = peer_count;
    peers[peer_count++] = &bench_zk_engine;
    for (unsigned at = 0; at < CROWDS; at++) {
        measure_crowd(at, rounds, seconds);
    }
    bench_table("zookeeper", "speed",
                "acquire and release (engine: one write), all clients together", "a second",
                "more");
    for (unsigned at = 0; at < CROWDS; at++) {
        for (unsigned p = 0; p < peer_count; p++) {
            bench_row(crowds[at].name, at, peers[p]->name, speed[at][p], rounds);
        }
    }
    bench_show();
    bench_want("usher's cycles / the engine's writes, 1 client (4 round trips: 0.25)",
               bench_ratio(speed[0][0], speed[0][engine], rounds), false, 0.15);
    for (unsigned at = 0; at < CROWDS && engine > 1; at++) {
        char what[96];
        (void)snprintf(what, sizeof what, "usher / kazoo Semaphore, %s", crowds[at].name);
        bench_want(what, bench_ratio(speed[at][0], speed[at][1], rounds), false, 1);
    }
    peer_count--;
    bench_table("zookeeper", "requests", "requests to the server per cycle", "requests", "less");
    for (unsigned at = 0; at < CROWDS; at++) {
        for (unsigned p = 0; p < peer_count; p++) {
            bench_row(crowds[at].name, at, peers[p]->name, requests[at][p], rounds);
        }
    }
    bench_show();
}

/* On a slow link, where nearly all time is round trips. */
static void count_trips(void)
{
    enum { DELAY_US = 10000, LINES = 3 };
    static const char *const lines[LINES] = {"acquire, a seat is free", "release, no waiter",
                                             "release, until the next holder"};
    static const double wanted[LINES] = {2.5, 2.5, 3.5};
    static double trips[LINES][2][BENCH_MAX_ROUNDS];
    const double trip_ns = 2 * DELAY_US * 1000.0;
    unsigned rounds = bench_pick(12, 2, 2);
    pid_t link;
    int port = bench_delay_start(server.port, DELAY_US, &link);
    struct bench_client clients[2][2] = {0};
    for (unsigned p = 0; p < peer_count; p++) {
        struct bench_zk_pool pool = new_pool(1, LONG_MS);
        pool.port = port;
        bench_client_start(&clients[p][0], peers[p], &pool);
        bench_client_start(&clients[p][1], peers[p], &pool);
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < peer_count; i++) {
            unsigned p = (i + round) % peer_count;
            struct bench_client *one = &clients[p][0];
            struct bench_client *next = &clients[p][1];
            double began = bench_now_ns();
            trips[0][p][round] = (bench_client_ask(one, "acquire") - began) / trip_ns;
            bench_client_tell(next, "acquire");
            bench_nap_us(20 * DELAY_US); /* in line by now */
            began = bench_now_ns();
            bench_client_tell(one, "release");
            trips[2][p][round] = (bench_client_hear(next, 60000) - began) / trip_ns;
            (void)bench_client_hear(one, 60000);
            began = bench_now_ns();
            trips[1][p][round] = (bench_client_ask(next, "release") - began) / trip_ns;
        }
    }
    bench_table("zookeeper", "trips", "on a link of 20 ms there and back", "round trips", "less");
    for (unsigned l = 0; l < LINES; l++) {
        for (unsigned p = 0; p < peer_count; p++) {
            bench_row(lines[l], l, peers[p]->name, trips[l][p], rounds);
        }
    }
    bench_show();
    for (unsigned l = 0; l < LINES; l++) {
        char what[96];
        (void)snprintf(what, sizeof what, "usher, %s, round trips", lines[l]);
        bench_want(what, bench_summarise(trips[l][0], rounds), true, wanted[l]);
    }
    for (unsigned p = 0; p < peer_count; p++) {
        bench_client_end(&clients[p][0]);
        bench_client_end(&clients[p][1]);
    }
    (void)kill(link, SIGKILL);
    (void)waitpid(link, NULL, 0);
}

/* A line of `waiters`, and a seat that is handed down part of it. */
static double notifications_of(const struct bench_zk_peer *peer, unsigned waiters, unsigned pass)
{
    char what[64];
    struct bench_client client = {0};
    struct bench_zk_pool pool = new_pool(1, LONG_MS);
    (void)snprintf(what, sizeof what, "crowd %u %u", waiters, pass);
    bench_client_start(&client, peer, &pool);
    double sent = -1;
    if (bench_client_ask(&client, what) >= 0) {
        bench_nap_us(200000); /* let the notifications of the arrivals pass */
        double before = bench_zk_notifications(&server);
        if (bench_client_ask(&client, "go") >= 0) {
            bench_nap_us(100000);
            sent = (bench_zk_notifications(&server) - before) / (pass + 1);
        }
    }
    bench_client_end(&client);
    return sent;
}

static void count_notifications(void)
{
    static const unsigned lines[] = {10, 100, 1000};
    double least = 1e9;
    double most = 0;
    bench_table("zookeeper", "notifications", "notifications from the server per release",
                "notifications", "less");
    for (unsigned l = 0; l < 3 && l < bench_pick(3, 1, 1); l++) {
        char where[32];
        (void)snprintf(where, sizeof where, "%u in line", lines[l]);
        for (unsigned p = 0; p < peer_count; p++) {
            double sent = notifications_of(peers[p], lines[l], lines[l] < 50 ? 8 : 50);
            if (sent < 0) {
                continue;
            }
            bench_row(where, lines[l], peers[p]->name, &sent, 1);
            least = p == 0 && sent < least ? sent : least;
            most = p == 0 && sent > most ? sent : most;
        }
    }
    bench_show();
    double flat = most / least;
    bench_want("usher, notifications of a release, the most", bench_summarise(&most, 1), true, 1.1);
    bench_want("usher, the most / the least of these", bench_summarise(&flat, 1), true, 1.1);
}

/* Holders are killed while others wait. Measure the time until those get the seat, in session
   timeouts. */
static void compare_deaths(void)
{
    static double took[2][MOST_SCENES];
    unsigned scenes = bench_pick(MOST_SCENES, 1, 1);
    struct bench_client holders[2][MOST_SCENES] = {0};
    struct bench_client waiters[2][MOST_SCENES] = {0};
    double killed_ns[2][MOST_SCENES] = {0};
    for (unsigned p = 0; p < peer_count; p++) {
        for (unsigned s = 0; s < scenes; s++) {
            struct bench_zk_pool pool = new_pool(1, SHORT_MS);
            bench_client_start(&holders[p][s], peers[p], &pool);
            bench_client_start(&waiters[p][s], peers[p], &pool);
            (void)bench_client_ask(&holders[p][s], "acquire");
            bench_client_tell(&waiters[p][s], "acquire");
        }
    }
    bench_nap_us(500000);
    for (unsigned s = 0; s < scenes; s++) {
        for (unsigned p = 0; p < peer_count; p++) {
            killed_ns[p][s] = bench_now_ns();
            bench_client_end(&holders[p][s]);
            bench_nap_us((unsigned)rand() % 100000); /* at a random moment */
        }
    }
    for (unsigned p = 0; p < peer_count; p++) {
        for (unsigned s = 0; s < scenes; s++) {
            double in = bench_client_hear(&waiters[p][s], 5 * SHORT_MS);
            took[p][s] = in < 0 ? 5 : (in - killed_ns[p][s]) / (SHORT_MS * 1e6);
            bench_client_end(&waiters[p][s]);
        }
    }
    bench_table("zookeeper", "deaths",
                "a holder is killed: time until the next holder; session timeout 2 s", "timeouts",
                "less");
    for (unsigned p = 0; p < peer_count; p++) {
        bench_row("", 0, peers[p]->name, took[p], scenes);
    }
    bench_show();
    double most = bench_quantile(took[0], scenes, 1);
    bench_want("usher, session timeouts until a killed holder's seat is granted again, maximum",
               bench_summarise(&most, 1), true, 1.5);
}

/* Four clients and two seats: two hold, two wait. The first waiter is stopped; both seats are
   released. How many ms does the second waiter wait? */
struct stopped_scene {
    struct bench_client holders[2], first, next;
};

static void set_stopped_scene(struct stopped_scene *scene, const struct bench_zk_peer *peer)
{
    struct bench_zk_pool pool = new_pool(2, SHORT_MS);
    for (unsigned h = 0; h < 2; h++) {
        bench_client_start(&scene->holders[h], peer, &pool);
        (void)bench_client_ask(&scene->holders[h], "acquire");
    }
    bench_client_start(&scene->first, peer, &pool);
    bench_client_start(&scene->next, peer, &pool);
    bench_client_tell(&scene->first, "acquire");
    bench_nap_us(300000); /* first in line by now */
    bench_client_tell(&scene->next, "acquire");
}

static double play_stopped_scene(struct stopped_scene *scene)
{
    (void)kill(scene->first.pid, SIGSTOP);
    double began = bench_now_ns();
    (void)bench_client_ask(&scene->holders[0], "release");
    (void)bench_client_ask(&scene->holders[1], "release");
    double in = bench_client_hear(&scene->next, 5 * SHORT_MS);
    bench_client_end(&scene->holders[0]);
    bench_client_end(&scene->holders[1]);
    bench_client_end(&scene->first);
    bench_client_end(&scene->next);
    return in < 0 ? 5 * SHORT_MS : (in - began) / 1e6;
}

static void compare_stopped(void)
{
    static double took[2][MOST_SCENES];
    unsigned scenes = bench_pick(4, 1, 1);
    for (unsigned s = 0; s < scenes; s++) {
        struct stopped_scene stage[2] = {0};
        for (unsigned p = 0; p < peer_count; p++) {
            set_stopped_scene(&stage[p], peers[p]);
        }
        bench_nap_us(300000);
        for (unsigned p = 0; p < peer_count; p++) {
            took[p][s] = play_stopped_scene(&stage[p]);
        }
    }
    bench_table("zookeeper", "stopped",
                "k = 2, first waiter stopped, both seats released: time until the next "
                "holder; session timeout 2 s",
                "ms", "less");
    for (unsigned p = 0; p < peer_count; p++) {
        bench_row("", 0, peers[p]->name, took[p], scenes);
    }
    bench_show();
    bench_want("usher, ms until the next holder, the first waiter stopped",
               bench_summarise(took[0], scenes), true, 200);
}

void bench_zookeeper(void)
{
    const char *why;
    if (!bench_zk_start(&server, &why)) {
        bench_absent("zookeeper", "all", why);
        return;
    }
    peer_count = 0;
    peers[peer_count++] = &bench_zk_usher;
    if (bench_zk_has_kazoo()) {
        peers[peer_count++] = &bench_zk_kazoo;
    } else {
        bench_absent("zookeeper", "kazoo Semaphore", "install python3-kazoo");
    }
    compare_speed();
    count_trips();
    count_notifications();
    compare_deaths();
    compare_stopped();
    bench_zk_stop(&server);
}
