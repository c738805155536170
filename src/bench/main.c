/*
 * usher-bench: what libusher, usher(1) and the checker cost, beside their peers, in one run.
 *
 *     usher-bench [--quick] [--json FILE] [--csv FILE] [--document DIRECTORY] [WORKLOAD ..]
 *     usher-bench --from FILE --document DIRECTORY
 */
#include "bench/bench.h"
#include "bench/results.h"
#include "build.h" /* made by the build */
#include "usher.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    void (*run)(void);
    const char *what;
} workloads[] = {
    {"uncontended", bench_uncontended, "acquire and release, one thread, alone"},
    {"contended", bench_contended, "4, 16, 64 processes; k = 1, 2, 8; 0, 1, 20 us inside"},
    {"cpu", bench_cpu, "processor time for an entry while the holders sleep"},
    {"bystander", bench_bystander, "beside one and two processes that only compute"},
    {"ablation", bench_ablation, "what each trick of waiting wins, and what it costs"},
    {"handover", bench_handover, "one seat between two processes, on one processor and on two"},
    {"parked", bench_parked, "hand-overs with 1,000 and 10,000 asleep in line"},
    {"growth", bench_growth, "cost as the guests (to 16,384) and the seats (to 4,096) grow"},
    {"recovery", bench_recovery, "a holder is killed: until the next is in"},
    {"idle", bench_idle, "processor time of waiters"},
    {"memory", bench_memory, "size of a pool"},
    {"job", bench_job, "usher run beside flock, xargs and GNU sem"},
    {"inspect", bench_inspect, "a snapshot of 10,000 guests, and whether the pool goes on"},
    {"checker", bench_checker, "usher-lab beside Spin"},
    {"zookeeper", bench_zookeeper, "pools on a ZooKeeper server, beside kazoo's Semaphore"},
};

enum { WORKLOADS = sizeof workloads / sizeof workloads[0] };

static void help(FILE *to)
{
    (void)fprintf(
        to, "usage: usher-bench [OPTION ..] [WORKLOAD ..]      all workloads without one\n\n"
            "  --quick           in under a minute: fewer rounds, only the nearest peers\n"
            "  --smoke           in seconds, to see that it runs: the figures mean nothing\n"
            "  --json FILE       write the results, with machine, kernel, compiler and commit\n"
            "  --csv FILE        write them as a table\n"
            "  --document DIR    write DIR/benchmarks.md and DIR/bench-*.svg\n"
            "  --from FILE       measure nothing: take the results of an earlier --json\n"
            "  --help            this\n"
            "  --version         version, commit and format of pools\n\nworkloads:\n");
    for (unsigned w = 0; w < WORKLOADS; w++) {
        (void)fprintf(to, "  %-16s  %s\n", workloads[w].name, workloads[w].what);
    }
    (void)fprintf(to,
                  "\nEach figure is the median of rounds in which all peers take turns, with its\n"
                  "quartiles. A ratio is computed round by round. For a ratio with a goal,\n"
                  "usher-bench prints the goal and whether it is met: yes or NO. A ratio without\n"
                  "a goal shows what the machine allows. Exit status: 0 measured, even if a goal\n"
                  "is missed; 64 usage; 73 a file could not be written or read.\n");
}

struct asked {
    const char *json, *csv, *document, *from, *alone;
    bool wanted[WORKLOADS];
};

/* 0: go on; otherwise the exit status plus one. --alone FD is not in the help: `uncontended` starts
   this program with it, see bench_alone. */
static int read_options(int argc, char **argv, struct asked *asked)
{
    static const struct option options[] = {
        {"quick", no_argument, NULL, 'q'},          {"smoke", no_argument, NULL, 's'},
        {"json", required_argument, NULL, 'j'},     {"csv", required_argument, NULL, 'c'},
        {"document", required_argument, NULL, 'd'}, {"from", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},           {"version", no_argument, NULL, 'v'},
        {"alone", required_argument, NULL, 'a'},    {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'q':
            bench_effort = BENCH_QUICK;
            break;
        case 's':
            bench_effort = BENCH_SMOKE;
            break;
        case 'j':
            asked->json = optarg;
            break;
        case 'c':
            asked->csv = optarg;
            break;
        case 'd':
            asked->document = optarg;
            break;
        case 'f':
            asked->from = optarg;
            break;
        case 'a':
            asked->alone = optarg;
            break;
        case 'h':
            help(stdout);
            return 1;
        case 'v':
            (void)printf("usher-bench %s\n", BUILD_ABOUT);
            return 1;
        default:
            help(stderr);
            return 65;
        }
    }
    for (int a = optind; a < argc; a++) {
        unsigned w = 0;
        while (w < WORKLOADS && strcmp(workloads[w].name, argv[a]) != 0) {
            w++;
        }
        if (w == WORKLOADS) {
            (void)fprintf(stderr, "usher-bench: no workload '%s'\n\n", argv[a]);
            help(stderr);
            return 65;
        }
        asked->wanted[w] = true;
    }
    return 0;
}

static void measure(const struct asked *asked, bool all)
{
    double begin = bench_now_ns();
    double stolen = bench_stolen_s();
    (void)bench_pool(); /* named after us, not after a child */
    for (unsigned w = 0; w < WORKLOADS; w++) {
        if (all || asked->wanted[w]) {
            double before = bench_now_ns();
            workloads[w].run();
            (void)printf("  [%s: %.1f s]\n", workloads[w].name, (bench_now_ns() - before) / 1e9);
            (void)fflush(stdout);
        }
    }
    (void)json_object_set_new(bench_results(), "seconds",
                              json_real((bench_now_ns() - begin) / 1e9));
    (void)json_object_set_new(bench_results(), "stolen", json_real(bench_stolen_s() - stolen));
}

int main(int argc, char **argv)
{
    struct asked asked = {0};
    int status = read_options(argc, argv, &asked);
    if (status != 0) {
        return status - 1;
    }
    if (asked.alone != NULL) {
        return bench_alone(asked.alone);
    }
    if (asked.from == NULL) {
        measure(&asked, optind == argc);
    }
    bool bad = asked.from == NULL && asked.json != NULL && bench_write_json(asked.json) != 0;
    bad = (asked.from == NULL && asked.csv != NULL && bench_write_csv(asked.csv) != 0) || bad;
    bad = (asked.document != NULL && bench_document(asked.from, asked.document) != 0) || bad;
    return bad ? 73 : 0;
}
