/*
 * usage: zk_serve DIRECTORY
 *
 * Run a ZooKeeper server for the tests of usher(1). Prints its port and its pid; the server ends
 * with this process. Exits 77 if no server can be started.
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
