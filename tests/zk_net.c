/* A private network for tests. zk_net.h is the contract. */
#include "zk_net.h"

#include "scene.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static int spaces[ZK_NET_MOST]; /* descriptors of the namespaces */
static int here = -1;
static int count;

/* Run ip(8) or tc(8) in a node. Return whether it succeeded. */
static __attribute__((format(printf, 2, 3))) bool run(int node, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is just above */
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        zk_net_enter(node);
        (void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    return scene_end(child) == 0;
}

static void stay(void *ready)
{
    EXPECT_EQ(unshare(CLONE_NEWNET), 0);
    EXPECT_EQ(write(*(int *)ready, "", 1), 1);
    for (;;) {
        (void)pause();
    }
}

static int open_space(pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT(fd >= 0);
    return fd;
}

/* Create a namespace with one end of a veth pair. It exists as long as our descriptor of it. */
static bool make_node(int node)
{
    int ready[2];
    char byte;
    EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
    pid_t child = scene_start(stay, &ready[1]);
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    spaces[node] = open_space(child);
    bool made =
        run(ZK_NET_HERE, "ip link add v%d type veth peer name eth0 netns %d", node, (int)child);
    scene_kill(child);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return made && run(node, "ip link set lo up") &&
           run(node, "ip address add %s/24 dev eth0", zk_net_address(node)) &&
           run(node, "ip link set eth0 up") &&
           run(ZK_NET_HERE, "ip link set v%d up master left", node);
}

bool zk_net_begin(int nodes)
{
    EXPECT(nodes <= ZK_NET_MOST);
    int outside = open_space(getpid());
    if (unshare(CLONE_NEWNET) != 0) {
        (void)printf("cannot create network namespaces (%s): no node is cut off\n",
                     strerror(errno));
        return false;
    }
    here = open_space(getpid());
    bool made = run(ZK_NET_HERE, "ip link set lo up");
    static const char *const sides[] = {"left", "right"};
    for (int s = 0; s < 2 && made; s++) {
        made = run(ZK_NET_HERE, "ip link add %s type bridge", sides[s]) &&
               run(ZK_NET_HERE, "ip link set %s up", sides[s]);
    }
    made = made && run(ZK_NET_HERE, "ip address add 10.77.0.254/24 dev left");
    for (int n = 0; n < nodes && made; n++) {
        made = make_node(n);
    }
    if (!made) {
        (void)printf("ip(8) cannot create a network here: no node is cut off\n");
        (void)close(here);
        here = -1;
        EXPECT_EQ(setns(outside, CLONE_NEWNET), 0);
    }
    (void)close(outside);
    count = nodes;
    return made;
}

void zk_net_enter(int node)
{
    int fd = node == ZK_NET_HERE ? here : spaces[node];
    if (fd >= 0) {
        EXPECT_EQ(setns(fd, CLONE_NEWNET), 0);
    }
}

const char *zk_net_address(int node)
{
    static char addresses[8][16];
    static unsigned next;
    char *address = addresses[next++ % 8];
    if (node == ZK_NET_HERE) {
        (void)snprintf(address, 16, "127.0.0.1");
    } else {
        (void)snprintf(address, 16, "10.77.0.%u", (unsigned)node % 200 + 1);
    }
    return address;
}

void zk_net_move(int node, enum zk_net_side side)
{
    static const char *const masters[] = {"master left", "master right", "nomaster"};
    EXPECT(run(ZK_NET_HERE, "ip link set v%d %s", node, masters[side]));
}

void zk_net_heal(void)
{
    for (int n = 0; n < count; n++) {
        zk_net_move(n, ZK_NET_LEFT);
    }
}

/* A BPF filter at both ends of a link drops packets at random, in both directions. netem
   would do the same, but not every kernel has it. */
bool zk_net_lose(int percent)
{
    static const char *const ways[] = {"ingress", "egress"};
    uint32_t limit = UINT32_MAX / 100 * (uint32_t)percent;
    bool done = true;
    for (int n = 0; n < count && done; n++) {
        if (percent == 0) {
            done = run(ZK_NET_HERE, "tc qdisc del dev v%d clsact", n);
            continue;
        }
        done = run(ZK_NET_HERE, "tc qdisc add dev v%d clsact", n);
        for (int w = 0; w < 2 && done; w++) {
            /* A is random: above the limit return 0 (pass), else 2 (drop) */
            done = run(ZK_NET_HERE,
                       "tc filter add dev v%d %s bpf da bytecode "
                       "'4,32 0 0 4294963256,37 0 1 %u,6 0 0 0,6 0 0 2'",
                       n, ways[w], limit);
        }
    }
    if (!done) {
        (void)printf("tc(8) cannot drop packets here\n");
    }
    return done;
}

long zk_net_sent_again(void)
{
    long sum = 0;
    for (int n = 0; n < count; n++) {
        char line[1024];
        zk_net_enter(n);
        FILE *file = fopen("/proc/thread-self/net/snmp", "r");
        EXPECT(file != NULL);
        /* two lines start with "Tcp:": names, then numbers; we need the twelfth number */
        for (int lines = 0; fgets(line, sizeof line, file) != NULL;) {
            if (strncmp(line, "Tcp:", 4) == 0 && ++lines == 2) {
                char *at = line;
                for (int field = 0; field < 12 && at != NULL; field++) {
                    at = strchr(at + 1, ' ');
                }
                EXPECT(at != NULL);
                sum += strtol(at, NULL, 10);
            }
        }
        (void)fclose(file);
    }
    zk_net_enter(ZK_NET_HERE);
    return sum;
}
