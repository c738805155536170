/* usher-bench: usage: usher-bench [uncontended|handover|death|idle|memory|job ..]. All without
   one. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *name;
    void (*run)(void);
} workloads[] = {
    {"uncontended", bench_uncontended},
    {"handover", bench_handover},
    {"death", bench_death},
    {"idle", bench_idle},
    {"memory", bench_memory},
    {"job", bench_job},
};

enum { WORKLOADS = sizeof workloads / sizeof workloads[0] };

double bench_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, by_value);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

const char *bench_pool(void)
{
    static char path[64]; /* children have their parent's */
    if (path[0] != '\0') {
        return path;
    }
    (void)snprintf(path, sizeof path, "/dev/shm/usher-bench-%ld", (long)getpid());
    return path;
}

void bench_table(const char *title, const struct bench_peer *peers, unsigned count, uint64_t times,
                 const struct bench_budget *budgets, unsigned budget_count)
{
    static double took[BENCH_MAX_PEERS][BENCH_ROUNDS];
    int usable[BENCH_MAX_PEERS];
    double ratios[BENCH_ROUNDS];
    double row[BENCH_ROUNDS];
    (void)printf("\n%s, %d rounds of %llu\n\n  %-34s %10s %12s\n", title, BENCH_ROUNDS,
                 (unsigned long long)times, "", "ns", "ratio");
    for (unsigned p = 0; p < count; p++) {
        usable[p] = peers[p].open() == 0;
        if (usable[p]) {
            peers[p].run(times / 4 + 1); /* to warm up */
        }
    }
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        for (unsigned p = 0; p < count; p++) {
            double begin = bench_now_ns();
            if (usable[p]) {
                peers[p].run(times);
            }
            took[p][round] = (bench_now_ns() - begin) / (double)times;
        }
    }
    for (unsigned p = 0; p < count; p++) {
        if (!usable[p]) {
            (void)printf("  %-34s %10s\n", peers[p].name, "not here");
            continue;
        }
        for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
            ratios[round] = took[p][round] / took[0][round];
            row[round] = took[p][round];
        }
        (void)printf("  %-34s %10.1f %11.2fx\n", peers[p].name, bench_median(row, BENCH_ROUNDS),
                     bench_median(ratios, BENCH_ROUNDS));
        peers[p].close();
    }
    for (unsigned b = 0; b < budget_count; b++) {
        unsigned one = 0;
        unsigned other = 0;
        for (unsigned p = 0; p < count; p++) {
            one = strcmp(peers[p].name, budgets[b].peer) == 0 ? p : one;
            other = strcmp(peers[p].name, budgets[b].against) == 0 ? p : other;
        }
        for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
            ratios[round] = took[one][round] / took[other][round];
        }
        double ratio = bench_median(ratios, BENCH_ROUNDS);
        (void)printf("  %s / %s: %.3f, wanted at most %.3f: %s\n", budgets[b].peer,
                     budgets[b].against, ratio, budgets[b].at_most,
                     ratio <= budgets[b].at_most ? "yes" : "NO");
    }
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    (void)bench_pool();
    for (int a = 1; a < argc; a++) {
        unsigned w = 0;
        while (w < WORKLOADS && strcmp(workloads[w].name, argv[a]) != 0) {
            w++;
        }
        if (w == WORKLOADS) {
            (void)fprintf(stderr,
                          "usage: usher-bench [uncontended|handover|death|idle|memory|job ..]\n");
            return 64;
        }
    }
    for (unsigned w = 0; w < WORKLOADS; w++) {
        int wanted = argc == 1;
        for (int a = 1; a < argc; a++) {
            wanted |= strcmp(workloads[w].name, argv[a]) == 0;
        }
        if (wanted) {
            workloads[w].run();
        }
    }
    return 0;
}
