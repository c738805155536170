/*
 * Pools on an ensemble of three ZooKeeper servers, while servers are killed, stopped, restarted and
 * cut off, and while packets are lost. Each server and each of eight clients runs on its own node
 * of a private test network. zk_judge.h lists what must hold all the time. Without such a network
 * the test uses the loopback and cuts nothing off.
 */
#include "scene.h"
#include "zk_judge.h"
#include "zk_net.h"
#include "zk_server.h"
#include "zk_workers.h"

#include <signal.h>
#include <unistd.h>

enum { SERVERS = 3, LONG_MS = 20000, SHORT_MS = 15000, EVERYBODY = 255, FEW = 15, MANY = 240 };

static struct zk_server servers[SERVERS];
static bool network;

static const char *named(const char *pool)
{
    return zk_server_pool(servers, SERVERS, pool);
}

/* Wait for a leader and return its index. */
static int leader(void)
{
    int found;
    UNTIL((found = zk_server_leader(servers, SERVERS)) >= 0);
    return found;
}

static void begin(const char *pool, long session_ms)
{
    zk_set_session(session_ms);
    zk_judge_start(named(pool), network ? SERVERS : ZK_NET_HERE);
    zk_judge_until(EVERYBODY, 3);
}

/* Finish: all clients continue and lose nothing from now on. */
static void end(const char *pool)
{
    zk_judge_may_lose(0);
    zk_judge_until(EVERYBODY, 3);
    zk_judge_end();
    zk_set_session(LONG_MS);
    zk_expect_whole(named(pool), ZK_JUDGE_SEATS);
}

static void work_goes_on_when_leaders_are_killed(void)
{
    begin("killed", LONG_MS);
    for (int times = 0; times < 2; times++) {
        int killed = leader();
        zk_server_kill(&servers[killed]);
        zk_judge_until(EVERYBODY, 3);
        zk_server_restart(&servers[killed]);
        zk_judge_until(EVERYBODY, 3);
    }
    end("killed");
}

static void work_goes_on_when_a_leader_is_stopped_for_eight_seconds(void)
{
    begin("stopped", LONG_MS);
    int stopped = leader();
    int64_t began = scene_now_ns();
    EXPECT_EQ(kill(servers[stopped].pid, SIGSTOP), 0);
    zk_judge_until(EVERYBODY, 3);
    (void)printf("  each client had a seat again %lld ms after the stop\n",
                 (long long)(scene_now_ns() - began) / 1000000);
    UNTIL(scene_now_ns() - began > 8000000000);
    EXPECT_EQ(kill(servers[stopped].pid, SIGCONT), 0);
    zk_judge_until(EVERYBODY, 3);
    end("stopped");
}

static void work_goes_on_when_servers_are_restarted_one_after_the_other(void)
{
    begin("restarted", LONG_MS);
    for (int s = 0; s < SERVERS; s++) {
        zk_server_kill(&servers[s]);
        zk_server_restart(&servers[s]);
        zk_judge_until(EVERYBODY, 3);
    }
    end("restarted");
}

/* Two servers are killed and restarted. While only one runs, nothing is granted. */
static void work_goes_on_when_there_is_a_majority_again(void)
{
    begin("two", LONG_MS);
    int first = leader();
    int second = (first + 1) % SERVERS;
    zk_server_kill(&servers[first]);
    zk_server_kill(&servers[second]);
    scene_pause_us(500000);
    int before = atomic_load(&zk_judge->logged);
    scene_pause_us(1000000);
    EXPECT_EQ(atomic_load(&zk_judge->logged), before);
    zk_server_launch(&servers[first]);
    zk_server_launch(&servers[second]);
    zk_judge_until(EVERYBODY, 3);
    end("two");
}

/* Cut off the leader, then a follower. No peer is informed; all packets are dropped. */
static void work_goes_on_when_a_minority_is_cut_off(void)
{
    begin("minority", LONG_MS);
    for (int times = 0; times < 2; times++) {
        int cut = times == 0 ? leader() : (leader() + 1) % SERVERS;
        int64_t began = scene_now_ns();
        zk_net_move(cut, ZK_NET_CUT);
        zk_judge_until(EVERYBODY, 5);
        (void)printf("  each client had a seat again %lld ms after %s was cut off\n",
                     (long long)(scene_now_ns() - began) / 1000000,
                     times == 0 ? "the leader" : "another one");
        UNTIL(scene_now_ns() - began > 3000000000);
        zk_net_heal();
        zk_judge_until(EVERYBODY, 3);
    }
    end("minority");
}

/* TCP sends lost packets again after at least 0.2 s. So this also tests late packets. */
static void work_goes_on_where_packets_are_lost(void)
{
    enum { PERCENT = 4, SECONDS = 20 };
    begin("lossy", LONG_MS);
    long before = zk_net_sent_again();
    int64_t began = scene_now_ns();
    if (zk_net_lose(PERCENT)) {
        while (scene_now_ns() - began < SECONDS * 1000000000LL) {
            zk_judge_until(EVERYBODY, 1);
        }
        (void)printf("  %d %% of packets between nodes lost, %ld segments retransmitted\n",
                     2 * PERCENT, zk_net_sent_again() - before);
        EXPECT(zk_net_sent_again() - before > 50);
        EXPECT(zk_net_lose(0));
    }
    end("lossy");
}

/* Move two servers and four clients to the right side; one server and four clients stay on the
   left. Return the index of the server on the left. */
static int split(bool with_leader)
{
    int led = leader();
    int alone = with_leader ? led : (led + 1) % SERVERS;
    for (int s = 0; s < SERVERS; s++) {
        if (s != alone) {
            zk_net_move(s, ZK_NET_RIGHT);
        }
    }
    for (int c = 0; c < ZK_JUDGE_CLIENTS / 2; c++) {
        zk_net_move(SERVERS + c, ZK_NET_RIGHT);
    }
    return alone;
}

/* Return for how long the servers on the right have had no leader. */
static int64_t leaderless_ms(int alone)
{
    int64_t began = scene_now_ns();
    UNTIL(zk_server_leads(&servers[(alone + 1) % SERVERS]) ||
          zk_server_leads(&servers[(alone + 2) % SERVERS]));
    return (scene_now_ns() - began) / 1000000;
}

static void a_short_split_costs_no_client_anything(void)
{
    begin("split", LONG_MS);
    for (int times = 0; times < 2; times++) {
        split(times == 0);
        int64_t began = scene_now_ns();
        scene_pause_us(3000000);
        zk_net_heal();
        zk_judge_until(EVERYBODY, 3);
        (void)printf("  each client had a seat again %lld ms after the split\n",
                     (long long)(scene_now_ns() - began) / 1000000);
    }
    end("split");
}

/* The clients on the majority side continue, with all three seats. The others know in time that
   theirs are lost. Majority clients may lose seats only if the election takes too long. */
static void after_a_long_split_seats_are_with_the_majority(void)
{
    for (int times = 0; times < 2; times++) {
        begin("long", SHORT_MS);
        zk_judge_may_lose(EVERYBODY);
        int64_t leaderless = leaderless_ms(split(times == 0));
        scene_pause_us((SHORT_MS + SHORT_MS / 2) * 1000);
        zk_judge_until(FEW, 5);
        (void)printf("  no leader on the right for %lld ms\n", (long long)leaderless);
        for (int c = 0; c < ZK_JUDGE_CLIENTS / 2; c++) {
            EXPECT(atomic_load(&zk_judge->clients[c].lost) == 0 || leaderless > SHORT_MS / 4);
        }
        for (int c = ZK_JUDGE_CLIENTS / 2; c < ZK_JUDGE_CLIENTS; c++) {
            UNTIL(atomic_load(&zk_judge->clients[c].lost) > 0);
        }
        zk_net_heal();
        zk_judge_until(EVERYBODY, 3);
        end("long");
    }
}

static void without_a_majority_nothing_is_granted_and_holders_know_it(void)
{
    begin("none", SHORT_MS);
    zk_judge_may_lose(EVERYBODY);
    int cut = leader();
    zk_net_move(cut, ZK_NET_CUT);
    zk_net_move((cut + 1) % SERVERS, ZK_NET_CUT);
    scene_pause_us(1000000);
    int before = atomic_load(&zk_judge->logged);
    scene_pause_us((SHORT_MS + SHORT_MS / 2) * 1000);
    EXPECT_EQ(atomic_load(&zk_judge->logged), before);
    for (int s = 0; s < ZK_JUDGE_SEATS; s++) { /* its holder could not report more */
        EXPECT(atomic_load(&zk_judge->seats[s].owner) == 0 ||
               atomic_load(&zk_judge->seats[s].until_ns) < scene_now_ns());
    }
    zk_net_heal();
    zk_judge_until(EVERYBODY, 3);
    end("none");
}

int main(void)
{
    zk_begin(LONG_MS);
    EXPECT_EQ(setenv("USHER_ZK_RENEW", "60", 1), 0); /* renew rolls often during all this */
    zk_judge_begin();
    network = zk_net_begin(SERVERS + ZK_JUDGE_CLIENTS);
    zk_server_ensemble(servers, SERVERS, scene_directory(), network);
    RUN(work_goes_on_when_leaders_are_killed);
    RUN(work_goes_on_when_a_leader_is_stopped_for_eight_seconds);
    RUN(work_goes_on_when_servers_are_restarted_one_after_the_other);
    RUN(work_goes_on_when_there_is_a_majority_again);
    if (network) {
        RUN(work_goes_on_where_packets_are_lost);
        RUN(work_goes_on_when_a_minority_is_cut_off);
        RUN(a_short_split_costs_no_client_anything);
        RUN(after_a_long_split_seats_are_with_the_majority);
        RUN(without_a_majority_nothing_is_granted_and_holders_know_it);
    }
    for (int s = 0; s < SERVERS; s++) {
        zk_server_kill(&servers[s]);
    }
    return 0;
}
