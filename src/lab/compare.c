/* Compare algorithms: see compare.h. */
#include "lab/compare.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

const struct lab_measure_info lab_measures[LAB_MEASURES] = {
    [LAB_ALONE] = {"accesses_alone", {"accesses", "alone"}, false, false},
    [LAB_CONTENDED] = {"accesses_contended", {"accesses", "contended"}, false, true},
    [LAB_CYCLES] = {"cycles_per_second", {"passages", "a second"}, true, true},
    [LAB_MEDIAN] = {"median", {"wait", "median"}, false, true},
    [LAB_P99] = {"p99", {"wait", "p99"}, false, true},
    [LAB_LONGEST] = {"longest", {"wait", "longest"}, false, true},
    [LAB_OVERTAKEN] = {"overtakings_per_1000", {"overtaken", "per 1000"}, false, true},
    [LAB_MOST_OVERTAKEN] = {"most_overtaken", {"overtaken", "one wait"}, false, true},
    [LAB_BITS] = {"bits", {"shared", "bits"}, false, false},
};

static int run_once(const struct lab_comparison *all, struct lab_compared *row, unsigned round)
{
    uint64_t cycles = row->run.cycles;
    double elapsed = row->run.elapsed;
    row->run.seconds = all->seconds / all->rounds;
    int error = lab_run_for_real(&row->run);
    if (error == 0) {
        row->rates[round] = (double)(row->run.cycles - cycles) / (row->run.elapsed - elapsed);
    }
    return error;
}

int lab_compare_run(struct lab_comparison *all)
{
    for (unsigned round = 0; round < all->rounds; round++) {
        for (unsigned s = 0; s < all->size_count; s++) {
            for (unsigned m = 0; m < all->machine_count; m++) {
                struct lab_compared *row = &all->sizes[s].rows[m];
                int error = row->takes && row->run.stuck == 0 ? run_once(all, row, round) : 0;
                if (error != 0) {
                    return error;
                }
            }
        }
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_rate(const struct lab_compared *row)
{
    double sorted[LAB_MOST_ROUNDS];
    unsigned rounds = row->run.rounds;
    for (unsigned i = 0; i < rounds; i++) {
        sorted[i] = row->rates[i];
    }
    qsort(sorted, rounds, sizeof *sorted, compare);
    return (sorted[(rounds - 1) / 2] + sorted[rounds / 2]) / 2;
}

double lab_value(const struct lab_compared *row, enum lab_measure measure)
{
    const struct lab_run *run = &row->run;
    if (!row->takes || (measure != LAB_ALONE && measure != LAB_BITS && run->cycles == 0)) {
        return NAN;
    }
    switch (measure) {
    case LAB_ALONE:
        return row->alone.comes_in ? (double)(row->alone.enter + row->alone.leave) : NAN;
    case LAB_CONTENDED:
        return (double)run->accesses / (double)run->cycles;
    case LAB_CYCLES:
        return median_rate(row);
    case LAB_MEDIAN:
        return (double)run->median_wait_ns;
    case LAB_P99:
        return (double)run->p99_wait_ns;
    case LAB_LONGEST:
        return (double)run->longest_wait_ns;
    case LAB_OVERTAKEN:
        return 1000 * (double)run->overtakings / (double)run->logged;
    case LAB_MOST_OVERTAKEN:
        return (double)run->most_overtaken;
    case LAB_BITS:
        return row->space.stated && !row->space.unbounded ? (double)row->space.bits : NAN;
    case LAB_MEASURES:
        break;
    }
    return NAN;
}

static bool claims(const struct lab_compared *row, enum step_property property)
{
    return row->system.claims >> property & 1;
}

bool lab_meets(const struct lab_compared *row, enum lab_demand demand)
{
    switch (demand) {
    case LAB_ANY:
        return row->takes && claims(row, STEP_EXCLUSION);
    case LAB_IN_ORDER:
        return row->takes && claims(row, STEP_LOCKOUT) && claims(row, STEP_FIFO);
    case LAB_REGISTERS:
        return row->takes && claims(row, STEP_LOCKOUT) && !row->alone.updates;
    case LAB_DEMANDS:
        break;
    }
    return false;
}

char *lab_promises(const struct lab_compared *row, char out[LAB_SHORT_BYTES])
{
    char order = claims(row, STEP_FIFO) ? 'F' : claims(row, STEP_FIRST_IN) ? 'f' : '-';
    (void)snprintf(out, LAB_SHORT_BYTES, "%c%c%c", claims(row, STEP_STARVATION) ? 'S' : '-',
                   claims(row, STEP_LOCKOUT) ? 'L' : '-', order);
    return out;
}

static bool is_better(enum lab_measure measure, double value, double than)
{
    return lab_measures[measure].more_is_better ? value > than : value < than;
}

bool lab_as_good(enum lab_measure measure, double value, double best)
{
    double slack = lab_measures[measure].measured ? 0.2 * fabs(best) : 0;
    return lab_measures[measure].more_is_better ? value >= best - slack : value <= best + slack;
}

const struct lab_compared *lab_best(const struct lab_comparison *all, const struct lab_size *size,
                                    enum lab_measure measure, enum lab_demand demand)
{
    const struct lab_compared *best = NULL;
    for (unsigned m = 0; m < all->machine_count; m++) {
        const struct lab_compared *row = &size->rows[m];
        double value = lab_value(row, measure);
        if (lab_meets(row, demand) && !isnan(value) &&
            (best == NULL || is_better(measure, value, lab_value(best, measure)))) {
            best = row;
        }
    }
    return best;
}

char *lab_short(double value, char out[LAB_SHORT_BYTES])
{
    static const char units[] = {'\0', 'k', 'M', 'G'};
    unsigned unit = 0;
    while (value >= 999.5 && unit < 3) {
        value /= 1000;
        unit++;
    }
    int digits = unit == 0 && value == floor(value) ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    (void)snprintf(out, LAB_SHORT_BYTES, "%.*f%.1s", digits, value,
                   (const char[]){units[unit], '\0'});
    return out;
}

static char *wait_text(double ns, char out[LAB_SHORT_BYTES])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    unsigned unit = 0;
    while (ns >= 999.5 && unit < 3) {
        ns /= 1000;
        unit++;
    }
    int digits = unit == 0 ? 0 : ns < 9.95 ? 1 : 0;
    (void)snprintf(out, LAB_SHORT_BYTES, "%.*f %s", digits, ns, units[unit]);
    return out;
}

char *lab_value_text(const struct lab_compared *row, enum lab_measure measure,
                     char out[LAB_SHORT_BYTES])
{
    double value = lab_value(row, measure);
    if (measure == LAB_BITS && isnan(value) && row->takes) {
        (void)snprintf(out, LAB_SHORT_BYTES, "%s", row->space.stated ? "no bound" : "-");
        return out;
    }
    if (isnan(value)) {
        (void)snprintf(out, LAB_SHORT_BYTES, "-");
        return out;
    }
    if (measure == LAB_ALONE || measure == LAB_BITS || measure == LAB_MOST_OVERTAKEN) {
        (void)snprintf(out, LAB_SHORT_BYTES, "%.0f", value);
        return out;
    }
    return measure == LAB_MEDIAN || measure == LAB_P99 || measure == LAB_LONGEST
               ? wait_text(value, out)
               : lab_short(value, out);
}

char *lab_compare_how(const struct lab_comparison *all, char out[LAB_HOW_BYTES])
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    (void)snprintf(out, LAB_HOW_BYTES, "%.2g s each in %u round%s, on %s, %ld processor%s",
                   all->seconds, all->rounds, all->rounds == 1 ? "" : "s",
                   all->processes ? "forked processes" : "threads", processors,
                   processors == 1 ? "" : "s");
    return out;
}
