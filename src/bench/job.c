/* What a command in the way of a job costs: `usher run POOL true` against `flock FILE true`. */
#include "bench/bench.h"

#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS = 400 };

extern char **environ;

static double run_once(char *const *command)
{
    pid_t child;
    int status = 1;
    double begin = bench_now_ns();
    if (posix_spawnp(&child, command[0], NULL, NULL, command, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        return -1;
    }
    return bench_now_ns() - begin;
}

/* The usher that was built with us. */
static const char *usher_path_beside(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    if (length <= 0) {
        return "usher";
    }
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    (void)snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "usher");
    return path;
}

void bench_job(void)
{
    static double took[3][JOBS];
    char file[80];
    char pool[80];
    char usher[PATH_MAX];
    (void)snprintf(file, sizeof file, "%s-flock", bench_pool());
    (void)snprintf(pool, sizeof pool, "%s", bench_pool());
    (void)snprintf(usher, sizeof usher, "%s", usher_path_beside());
    char *const peers[3][8] = {
        {"flock", file, "true", NULL},
        {usher, "run", "-k", "4", pool, "true", NULL},
        {"true", NULL},
    };
    static const char *const names[] = {"flock FILE true", "usher run -k 4 POOL true", "true"};
    double ratios[JOBS];
    double row[JOBS];
    for (unsigned job = 0; job < JOBS; job++) {
        for (unsigned p = 0; p < 3; p++) {
            took[p][job] = run_once(peers[p]);
            if (took[p][job] < 0) {
                (void)printf("\n%s could not be run\n", names[p]);
                return;
            }
        }
    }
    (void)printf("\na job, %d times each in turn\n\n  %-34s %10s %12s\n", JOBS, "", "us", "ratio");
    for (unsigned p = 0; p < 3; p++) {
        for (unsigned job = 0; job < JOBS; job++) {
            ratios[job] = took[p][job] / took[0][job];
            row[job] = took[p][job] / 1000;
        }
        (void)printf("  %-34s %10.0f %11.2fx\n", names[p], bench_median(row, JOBS),
                     bench_median(ratios, JOBS));
    }
    (void)fflush(stdout);
    (void)unlink(file);
    (void)usher_remove(bench_pool());
}
