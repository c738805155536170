/* Real ZooKeeper servers for tests. zk_server.h is the contract. */
#include "zk_server.h"

#include "scene.h"
#include "zk_net.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char classes[] = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar";

/* Return the class path of USHER_TEST_ZK, or NULL: use the installed ZooKeeper. */
static const char *other_classes(void)
{
    return getenv("USHER_TEST_ZK");
}

bool zk_server_possible(void)
{
    bool there = other_classes() != NULL || access("/usr/share/java/zookeeper.jar", R_OK) == 0;
    if (!there || access("/usr/bin/java", X_OK) != 0) {
        (void)printf("SKIPPED: no ZooKeeper server here; install libzookeeper-java and "
                     "default-jre-headless\n");
        return false;
    }
    return true;
}

/* Return a socket that is connected or bound to a port of a node, or -1. */
static int open_socket(int node, int port, bool connected)
{
    zk_net_enter(node);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    zk_net_enter(ZK_NET_HERE);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct timeval patience = {2, 0};
    EXPECT(fd >= 0);
    EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    int failed = connected ? connect(fd, (struct sockaddr *)&address, sizeof address)
                           : bind(fd, (struct sockaddr *)&address, sizeof address);
    if (failed != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Choose outside the kernel's range of ephemeral ports. Inside it, a client that polls the port
   of a server that is not up yet could connect to itself. */
static int free_port(void)
{
    static unsigned tries; /* continues over calls, so that no port repeats */
    int fd = -1;
    int port = 0;
    for (; fd < 0; tries++) {
        EXPECT(tries < 1000);
        port = 10000 + (int)((unsigned)getpid() * 7 + tries * 13) % 20000;
        fd = open_socket(ZK_NET_HERE, port, false);
    }
    (void)close(fd);
    return port;
}

/* Send a four-letter command. Return the length of the answer. */
static size_t ask(const struct zk_server *server, const char *word, char *text, size_t room)
{
    size_t got = 0;
    int fd = open_socket(server->node, server->port, true);
    if (fd >= 0 && send(fd, word, 4, MSG_NOSIGNAL) == 4) {
        for (ssize_t more; got + 1 < room && (more = read(fd, text + got, room - 1 - got)) > 0;) {
            got += (size_t)more;
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    text[got] = '\0';
    return got;
}

/* Write a server's configuration. `ensemble` holds the lines common to all its servers, or "". */
static void configure(struct zk_server *server, const char *below, const char *ensemble)
{
    char path[160];
    (void)snprintf(server->directory, sizeof server->directory, "%s/zk-XXXXXX", below);
    EXPECT(mkdtemp(server->directory) != NULL);
    (void)snprintf(path, sizeof path, "%s/zoo.cfg", server->directory);
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    (void)fprintf(file,
                  "tickTime=100\ndataDir=%s\nclientPort=%d\nclientPortAddress=%s\n"
                  "maxSessionTimeout=60000\nadmin.enableServer=false\n4lw.commands.whitelist=*\n"
                  "maxClientCnxns=0\n%s",
                  server->directory, server->port,
                  server->node == ZK_NET_HERE ? "127.0.0.1" : "0.0.0.0", ensemble);
    EXPECT_EQ(fclose(file), 0);
}

void zk_server_launch(struct zk_server *server)
{
    char path[160];
    pid_t parent = getpid();
    const char *other = other_classes();
    /* Without it ZooKeeper 3.8.0 loses committed data: docs/distributed.md, section 5. */
    const char *whole = other == NULL ? "-Dzookeeper.forceSnapshotSync=true"
                                      : "-Dzookeeper.forceSnapshotSync=false";
    (void)snprintf(path, sizeof path, "%s/zoo.cfg", server->directory);
    server->pid = fork();
    EXPECT(server->pid >= 0);
    if (server->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        zk_net_enter(server->node);
        int nowhere = open("/dev/null", O_RDWR);
        if (getppid() == parent && dup2(nowhere, 0) >= 0 && dup2(nowhere, 1) >= 0 &&
            dup2(nowhere, 2) >= 0) {
            (void)execl("/usr/bin/java", "java", "-Xmx128m", "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Dzookeeper.forceSync=no",
                        "-Dzookeeper.cnxTimeout=1000", whole, "-cp",
                        other == NULL ? classes : other,
                        "org.apache.zookeeper.server.quorum.QuorumPeerMain", path, (char *)NULL);
        }
        _exit(127);
    }
}

/* Return the server's mode: "standalone", "leader" or "follower"; "" while it has none. */
static const char *mode_of(const struct zk_server *server)
{
    static char text[4096];
    if (server->pid == 0 || ask(server, "srvr", text, sizeof text) == 0) {
        return "";
    }
    char *mode = strstr(text, "Mode: ");
    if (mode == NULL) {
        return "";
    }
    mode += strlen("Mode: ");
    mode[strcspn(mode, "\n")] = '\0';
    return mode;
}

/* Wait until the server answers; false if it has ended. A busy machine may take long. */
static bool comes_up(struct zk_server *server)
{
    int64_t until = scene_now_ns() + 100 * INT64_C(1000000000);
    while (mode_of(server)[0] == '\0') {
        EXPECT(scene_now_ns() < until);
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            return false;
        }
        scene_pause_us(10000);
    }
    return true;
}

void zk_server_restart(struct zk_server *server)
{
    zk_server_launch(server);
    EXPECT(comes_up(server));
}

void zk_server_start(struct zk_server *server, const char *below)
{
    int tries = 0;
    server->node = ZK_NET_HERE;
    do { /* another process may have taken the port */
        EXPECT(tries++ < 5);
        server->port = free_port();
        configure(server, below, "");
        zk_server_launch(server);
    } while (!comes_up(server));
}

bool zk_server_leads(const struct zk_server *server)
{
    return strcmp(mode_of(server), "leader") == 0;
}

int zk_server_leader(const struct zk_server *servers, int count)
{
    for (int s = 0; s < count; s++) {
        if (zk_server_leads(&servers[s])) {
            return s;
        }
    }
    return -1;
}

void zk_server_ensemble(struct zk_server *servers, int count, const char *below, bool on_nodes)
{
    char common[512] = "initLimit=50\nsyncLimit=10\n";
    for (int s = 0; s < count; s++) {
        size_t used = strlen(common);
        servers[s].node = on_nodes ? s : ZK_NET_HERE;
        servers[s].port = on_nodes ? 2181 : free_port();
        (void)snprintf(common + used, sizeof common - used, "server.%d=%s:%d:%d\n", s + 1,
                       zk_net_address(servers[s].node), on_nodes ? 2888 : free_port(),
                       on_nodes ? 3888 : free_port());
    }
    for (int s = 0; s < count; s++) {
        char path[160];
        configure(&servers[s], below, common);
        (void)snprintf(path, sizeof path, "%s/myid", servers[s].directory);
        FILE *file = fopen(path, "w");
        EXPECT(file != NULL);
        (void)fprintf(file, "%d\n", s + 1);
        EXPECT_EQ(fclose(file), 0);
        zk_server_launch(&servers[s]);
    }
    UNTIL(zk_server_leader(servers, count) >= 0);
}

void zk_server_kill(struct zk_server *server)
{
    scene_kill(server->pid);
    server->pid = 0;
}

long long zk_server_number(const struct zk_server *server, const char *name)
{
    static char text[1 << 17];
    size_t length = strlen(name);
    EXPECT(ask(server, "mntr", text, sizeof text) > 0);
    for (char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, length) == 0 && at[length] == '\t') {
            return strtoll(at + length, NULL, 10);
        }
    }
    (void)fprintf(stderr, "the server reports no value for %s\n", name);
    exit(1);
}

const char *zk_server_pool(const struct zk_server *servers, int count, const char *pool)
{
    static char names[16][256];
    static unsigned next;
    char *name = names[next++ % 16];
    int length = 0;
    for (int s = 0; s < count; s++) {
        length +=
            snprintf(name + length, sizeof names[0] - (size_t)length, "%s%s:%d",
                     s == 0 ? "zk://" : ",", zk_net_address(servers[s].node), servers[s].port);
    }
    (void)snprintf(name + length, sizeof names[0] - (size_t)length, "/%s", pool);
    return name;
}
