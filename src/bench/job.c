/*
 * What a command in the way of a job costs: one job that does nothing, `true`, by itself and behind
 * usher run, flock, xargs and GNU sem. From starting the first process to the end of it.
 */
#include "bench/bench.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { WAYS = 7, MOST_WORDS = 10 };

struct way {
    const char *name;
    char *const words[MOST_WORDS];
    unsigned seldom; /* it is so slow that every so-manieth round is enough */
    bool forked;     /* by fork and exec, not by posix_spawn */
};

static const char *input; /* one line, for xargs */

static int start(const struct way *way, pid_t *child)
{
    posix_spawn_file_actions_t files;
    if (way->forked) {
        *child = fork();
        if (*child == 0) {
            (void)execvp(way->words[0], way->words);
            _exit(127);
        }
        return *child < 0 ? -1 : 0;
    }
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, 0, input, O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(child, way->words[0], &files, NULL, way->words, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

/* us, or -1: it could not be run. */
static double run_once(const struct way *way)
{
    pid_t child;
    int status = 1;
    double begin = bench_now_ns();
    if (start(way, &child) != 0 || waitpid(child, &status, 0) != child || status != 0) {
        return -1;
    }
    return (bench_now_ns() - begin) / 1000;
}

static double took[WAYS][BENCH_MAX_ROUNDS];
static unsigned known[WAYS];

static void measure(const struct way *ways, unsigned rounds)
{
    bool able[WAYS];
    for (unsigned w = 0; w < WAYS; w++) {
        able[w] = run_once(&ways[w]) >= 0; /* and it is in the page cache now */
        if (!able[w]) {
            bench_absent("job", ways[w].name, "could not be run");
        }
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < WAYS; i++) {
            unsigned w = (i + round) % WAYS;
            if (able[w] && (ways[w].seldom == 0 || round % ways[w].seldom == 0)) {
                took[w][known[w]++] = run_once(&ways[w]);
            }
        }
    }
}

static void compare(char *usher, char *pool, char *file, char *id)
{
    unsigned rounds = bench_pick(400, 60, 3);
    const struct way ways[WAYS] = {
        {"flock FILE true", {"flock", file, "true", NULL}, 0, false},
        {"usher run POOL true", {usher, "run", "-k", "4", pool, "true", NULL}, 0, false},
        {"usher run -k 1 POOL true", {usher, "run", "-k", "1", id, "true", NULL}, 0, false},
        {"xargs -P 4 true", {"xargs", "-P", "4", "-n", "1", "true", NULL}, 0, false},
        {"sem -j 4 true",
         {"sem", "--fg", "-j", "4", "--id", "usher-bench", "true", NULL},
         bench_pick(40, 60, 3),
         false},
        {"true, posix_spawn", {"true", NULL}, 0, false},
        {"true, fork and exec", {"true", NULL}, 0, true},
    };
    measure(ways, rounds);
    bench_table("job", "job", "one job, from start to end", "us", "less");
    for (unsigned w = 0; w < WAYS; w++) {
        if (known[w] > 0) {
            bench_row("", 0, ways[w].name, took[w], known[w]);
        }
    }
    bench_show();
    if (known[0] > 0 && known[1] > 0) {
        bench_want("usher run POOL true / flock FILE true", bench_ratio(took[1], took[0], known[0]),
                   true, 1);
    }
}

void bench_job(void)
{
    char usher[PATH_MAX];
    char pool[80];
    char one[80];
    char file[80];
    char lines[80];
    char home[80];
    char remove[120];
    bench_program(usher, sizeof usher, "usher");
    bench_path(pool, sizeof pool, "job");
    bench_path(one, sizeof one, "job-one");
    bench_path(file, sizeof file, "job-flock");
    bench_path(lines, sizeof lines, "job-lines");
    bench_path(home, sizeof home, "job-parallel");
    (void)setenv("PARALLEL_HOME", home, 1); /* where sem keeps its things */
    FILE *to = fopen(lines, "w");
    if (to == NULL || fputs("one\n", to) < 0 || fclose(to) != 0) {
        bench_absent("job", "all", "/dev/shm cannot be written to");
        return;
    }
    input = lines;
    memset(known, 0, sizeof known);
    compare(usher, pool, file, one);
    (void)snprintf(remove, sizeof remove, "rm -rf '%s'", home);
    (void)!system(remove);
    (void)unlink(file);
    (void)unlink(lines);
    (void)usher_remove(pool);
    (void)usher_remove(one);
}
