/*
 * The checker against Spin on the same states, one thread each. spin-compare measures; this file
 * reads its output.
 */
#include "bench/bench.h"

#include "build.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double spin_rate[BENCH_MAX_ROUNDS], lab_rate[BENCH_MAX_ROUNDS];

/* "round  Spin's states  s  states/s  usher-lab's states  s  states/s  ratio" */
static bool read_round(const char *line, unsigned at)
{
    double field[8];
    return sscanf(line, "%lf %lf %lf %lf %lf %lf %lf %lf", &field[0], &field[1], &field[2],
                  &field[3], &field[4], &field[5], &field[6], &field[7]) == 8 &&
           (spin_rate[at] = field[3]) > 0 && (lab_rate[at] = field[6]) > 0;
}

static unsigned compare(unsigned rounds, unsigned n)
{
    char directory[PATH_MAX];
    char command[3 * PATH_MAX];
    char line[256];
    unsigned count = 0;
    bench_program(directory, sizeof directory, "");
    (void)snprintf(command, sizeof command, "'%s' '%s' %u %u 3 2>/dev/null",
                   BUILD_SOURCE "/src/bench/spin-compare", directory, rounds, n);
    FILE *from = popen(command, "r");
    while (from != NULL && fgets(line, sizeof line, from) != NULL) {
        if (count < BENCH_MAX_ROUNDS && read_round(line, count)) {
            count++;
        }
    }
    if (from != NULL) {
        (void)pclose(from);
    }
    return count;
}

void bench_checker(void)
{
    char lab[PATH_MAX];
    unsigned n = bench_pick(5, 4, 3);
    bench_program(lab, sizeof lab, "usher-lab");
    bench_table("checker", "states", "the checker and Spin, Colored Ticket, k=3, one thread",
                "states/s", "more");
    if (system("command -v spin jq cc >/dev/null 2>&1") != 0 || access(lab, X_OK) != 0) {
        bench_absent("checker", "Spin", "needs spin, jq, cc and usher-lab");
        return;
    }
    unsigned rounds = compare(bench_pick(3, 1, 1), n);
    if (rounds == 0) {
        bench_absent("checker", "Spin", "spin-compare failed");
        return;
    }
    bench_row("", n, "Spin", spin_rate, rounds);
    bench_row("", n, "usher-lab", lab_rate, rounds);
    bench_show();
    if (n == 5) {
        bench_want("usher-lab / Spin, states a second", bench_ratio(lab_rate, spin_rate, rounds),
                   false, 2);
    }
}
