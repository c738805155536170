/*
 * usage: zk_serve DIRECTORY
 *
 * A ZooKeeper server for the tests of usher(1): prints its port and its pid, and keeps it until it
 * is killed itself. Exits 77 if there can be none.
 */
#include "zk_server.h"

#include "scene.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    struct zk_server server;
    EXPECT_EQ(argc, 2);
    if (!zk_server_possible()) {
        return 77;
    }
    zk_server_start(&server, argv[1]);
    (void)printf("%d %d\n", server.port, (int)server.pid);
    (void)fflush(stdout);
    for (;;) {
        (void)pause();
    }
}
