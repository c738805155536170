/* The ZooKeeper server for the measurements, and its statistics: see zk.h. */
#include "bench/bench.h"
#include "bench/zk.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The tests' program zk_serve prints its port when it is ready. */
bool bench_zk_start(struct bench_zk *server, const char **why)
{
    char program[PATH_MAX];
    char line[128] = "";
    int ends[2];
    bench_program(program, sizeof program, "zk_serve");
    bench_path(server->directory, sizeof server->directory, "zk");
    *why = "built without the ZooKeeper client: install libzookeeper-st-dev";
    if (access(program, X_OK) != 0 || pipe(ends) != 0) {
        return false;
    }
    (void)mkdir(server->directory, 0700);
    server->serving = bench_fork();
    if (server->serving == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)execl(program, program, server->directory, (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    bool ready = from != NULL && fgets(line, sizeof line, from) != NULL &&
                 sscanf(line, "%d", &server->port) == 1;
    if (from != NULL) {
        (void)fclose(from);
    }
    if (!ready) {
        *why = strncmp(line, "SKIPPED", 7) == 0
                   ? "no ZooKeeper server: install libzookeeper-java and default-jre-headless"
                   : "the server did not start";
        bench_zk_stop(server);
    }
    return ready;
}

void bench_zk_stop(struct bench_zk *server)
{
    char remove[128];
    (void)kill(server->serving, SIGKILL); /* the server ends with it */
    (void)waitpid(server->serving, NULL, 0);
    (void)snprintf(remove, sizeof remove, "rm -rf '%s'", server->directory);
    (void)!system(remove);
}

/* Read all statistics (mntr). */
static void ask(const struct bench_zk *server, char *text, size_t room)
{
    size_t got = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        write(fd, "mntr", 4) == 4) {
        for (ssize_t more; got + 1 < room && (more = read(fd, text + got, room - 1 - got)) > 0;) {
            got += (size_t)more;
        }
    }
    text[got] = '\0';
    (void)close(fd);
}

/* Sum the values whose names begin and end like this. */
static double sum_of(const struct bench_zk *server, const char *begins, const char *ends)
{
    static char text[1 << 17];
    double sum = 0;
    ask(server, text, sizeof text);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *tab = strchr(line, '\t');
        size_t length = tab == NULL ? 0 : (size_t)(tab - line);
        if (tab != NULL && length >= strlen(ends) && strncmp(line, begins, strlen(begins)) == 0 &&
            strncmp(tab - strlen(ends), ends, strlen(ends)) == 0) {
            sum += strtod(tab + 1, NULL);
        }
    }
    return sum;
}

double bench_zk_notifications(const struct bench_zk *server)
{
    return sum_of(server, "zk_sum_node_", "_watch_count");
}

double bench_zk_requests(const struct bench_zk *server)
{
    return sum_of(server, "zk_packets_received", "");
}
