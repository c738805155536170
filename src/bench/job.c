/*
 * The cost of a command wrapper: the job `true`, by itself and under usher run, flock, xargs and
 * GNU sem. The time is from the start of the first process to its end.
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

enum { COMMANDS = 7, MOST_WORDS = 10 };

struct command {
    const char *name;
    char *const words[MOST_WORDS];
    unsigned every; /* slow: run it only every n-th round; 0: every round */
    bool forked;    /* by fork and exec instead of posix_spawn */
};

static const char *input; /* one line, for xargs */

static int start(const struct command *command, pid_t *child)
{
    posix_spawn_file_actions_t files;
    if (command->forked) {
        *child = fork();
        if (*child == 0) {
            (void)execvp(command->words[0], command->words);
            _exit(127);
        }
        return *child < 0 ? -1 : 0;
    }
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, 0, input, O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(child, command->words[0], &files, NULL, command->words, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Return the time in us, or -1: it could not run. */
static double run_once(const struct command *command)
{
    pid_t child;
    int status = 1;
    double begin = bench_now_ns();
    if (start(command, &child) != 0 || waitpid(child, &status, 0) != child || status != 0) {
        return -1;
    }
    return (bench_now_ns() - begin) / 1000;
}

static double took[COMMANDS][BENCH_MAX_ROUNDS];
static unsigned known[COMMANDS];

static void measure(const struct command *commands, unsigned rounds)
{
    bool able[COMMANDS];
    for (unsigned w = 0; w < COMMANDS; w++) {
        able[w] = run_once(&commands[w]) >= 0; /* also loads it into the page cache */
        if (!able[w]) {
            bench_absent("job", commands[w].name, "could not be run");
        }
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < COMMANDS; i++) {
            unsigned w = (i + round) % COMMANDS;
            if (able[w] && (commands[w].every == 0 || round % commands[w].every == 0)) {
                took[w][known[w]++] = run_once(&commands[w]);
            }
        }
    }
}

static void compare(char *usher, char *pool, char *file, char *id)
{
    unsigned rounds = bench_pick(400, 60, 3);
    const struct command commands[COMMANDS] = {
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
    measure(commands, rounds);
    bench_table("job", "job", "one job, from start to end", "us", "less");
    for (unsigned w = 0; w < COMMANDS; w++) {
        if (known[w] > 0) {
            bench_row("", 0, commands[w].name, took[w], known[w]);
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
    (void)setenv("PARALLEL_HOME", home, 1); /* where sem keeps its files */
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
