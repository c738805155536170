/* Statistics of samples. */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double at(const double *sorted, unsigned count, double q)
{
    double place = q * (count - 1);
    unsigned below = (unsigned)place;
    double above = below + 1 < count ? sorted[below + 1] : sorted[below];
    return sorted[below] + (place - below) * (above - sorted[below]);
}

struct bench_summary bench_summarise(const double *samples, unsigned count)
{
    struct bench_summary summary = {0};
    double *sorted = malloc((count + 1) * sizeof *sorted);
    if (count == 0 || sorted == NULL) {
        free(sorted);
        return summary;
    }
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    summary.median = at(sorted, count, 0.5);
    summary.q1 = at(sorted, count, 0.25);
    summary.q3 = at(sorted, count, 0.75);
    summary.least = sorted[0];
    summary.most = sorted[count - 1];
    summary.count = count;
    free(sorted);
    return summary;
}

double bench_quantile(const double *samples, unsigned count, double q)
{
    double *sorted = malloc((count + 1) * sizeof *sorted);
    if (count == 0 || sorted == NULL) {
        free(sorted);
        return 0;
    }
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    double place = ceil(q * count);
    double found = sorted[place < 1 ? 0 : (unsigned)place - 1];
    free(sorted);
    return found;
}

struct bench_summary bench_ratio(const double *one, const double *other, unsigned count)
{
    double ratios[BENCH_MAX_ROUNDS];
    unsigned known = 0;
    for (unsigned r = 0; r < count && r < BENCH_MAX_ROUNDS; r++) {
        if (other[r] > 0) {
            ratios[known++] = one[r] / other[r];
        }
    }
    return bench_summarise(ratios, known);
}
