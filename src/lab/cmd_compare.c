/* usher-lab compare: all algorithms on the same work, side by side. */
#include "lab/compare.h"
#include "lab/lab.h"
#include "lab/picture.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MACHINES = 64, MOST_PAIRS = LAB_MOST_SIZES * LAB_MOST_SIZES };

static const int widths[LAB_MEASURES] = {9, 10, 9, 8, 8, 8, 10, 10, 10};

/* Choose the named algorithms, or all but those whose paper has a misprint. */
static int choose(const struct lab_options *options, const struct step_machine **machines,
                  unsigned *count)
{
    *count = 0;
    for (unsigned i = 0; i < options->operand_count; i++) {
        const struct step_machine *machine = lab_find(options->operands[i]);
        if (machine == NULL) {
            return lab_fail(LAB_USAGE, "no algorithm '%s'; 'usher-lab list' shows them",
                            options->operands[i]);
        }
        if (machine->events != 0) {
            return lab_fail(LAB_USAGE,
                            "%s is a model with events such as crashes: it can be checked, not run",
                            machine->name);
        }
        machines[(*count)++] = machine;
    }
    for (unsigned i = 0; options->operand_count == 0 && papers_all[i] != NULL; i++) {
        if (!papers_all[i]->printed && *count < MOST_MACHINES) {
            machines[(*count)++] = papers_all[i];
        }
    }
    return LAB_OK;
}

/* Set up a size. Return the number of algorithms that take it. */
static unsigned fill(const struct lab_options *options, const struct lab_comparison *all,
                     struct lab_size *size, char why[STEP_WHY_BYTES])
{
    unsigned taken = 0;
    for (unsigned m = 0; m < all->machine_count; m++) {
        struct lab_compared *row = &size->rows[m];
        row->takes = step_system_init(&row->system, all->machines[m], size->n, size->k,
                                      options->robustness, why) == 0;
        row->system.machine = all->machines[m];
        if (row->takes) {
            row->alone = lab_alone_of(&row->system);
            row->space = lab_space_of(&row->system);
            row->run = (struct lab_run){.system = &row->system, .processes = all->processes};
            taken++;
        }
    }
    return taken;
}

/* Set up all pairs of the two lists; if there are several, only those with k < n, since no process
   waits at the others. */
static int set_up(const struct lab_options *options, struct lab_comparison *all, unsigned *pairs)
{
    char why[STEP_WHY_BYTES] = "";
    bool several = options->n_count * options->k_count > 1;
    *pairs = 0;
    for (unsigned i = 0; i < options->n_count; i++) {
        for (unsigned j = 0; j < options->k_count; j++) {
            struct lab_size *size = &all->sizes[all->size_count];
            *size = (struct lab_size){.n = options->ns[i], .k = options->ks[j]};
            if (several && size->k >= size->n) {
                continue;
            }
            size->rows = calloc(all->machine_count, sizeof *size->rows);
            if (size->rows == NULL) {
                return lab_fail(LAB_OS, "out of memory");
            }
            all->size_count++;
            *pairs += fill(options, all, size, why);
        }
    }
    if (*pairs == 0) {
        return lab_fail(LAB_USAGE, "no algorithm takes this size%s%s", why[0] == '\0' ? "" : ": ",
                        why);
    }
    return LAB_OK;
}

/* About 15 seconds in all, unless --seconds is given; rounds of at least 40 ms. */
static void plan(const struct lab_options *options, struct lab_comparison *all, unsigned pairs)
{
    all->seconds = options->seconds > 0 ? options->seconds : fmin(1, fmax(0.08, 15.0 / pairs));
    all->rounds = (unsigned)fmin(LAB_MOST_ROUNDS, fmax(1, all->seconds / 0.04));
}

static json_t *real_or_null(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *count_or_null(double value)
{
    return isnan(value) ? json_null() : json_integer((json_int_t)value);
}

static json_t *rates_json(const struct lab_compared *row)
{
    double least = INFINITY;
    double most = 0;
    if (row->run.cycles == 0) { /* too short for one passage */
        return json_null();
    }
    for (unsigned i = 0; i < row->run.rounds; i++) {
        least = fmin(least, row->rates[i]);
        most = fmax(most, row->rates[i]);
    }
    return json_pack("{s:f, s:f, s:f}", "median", lab_value(row, LAB_CYCLES), "least", least,
                     "most", most);
}

static json_t *row_json(const struct lab_compared *row)
{
    const struct lab_run *run = &row->run;
    json_t *promises = json_array();
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        if (row->system.claims >> p & 1) {
            (void)json_array_append_new(promises,
                                        json_string(step_property_name((enum step_property)p)));
        }
    }
    json_t *object = json_pack(
        "{s:s, s:o, s:b, s:o, s:o, s:I, s:o, s:{s:I, s:I, s:I}, s:I, s:I, s:I, s:i, s:i, s:o, s:b}",
        "algorithm", row->system.machine->name, "promises", promises, "updates", row->alone.updates,
        "accesses_alone", count_or_null(lab_value(row, LAB_ALONE)), "accesses_contended",
        real_or_null(lab_value(row, LAB_CONTENDED)), "cycles", (json_int_t)run->cycles,
        "cycles_per_second", rates_json(row), "wait_ns", "median", (json_int_t)run->median_wait_ns,
        "p99", (json_int_t)run->p99_wait_ns, "longest", (json_int_t)run->longest_wait_ns,
        "overtakings", (json_int_t)run->overtakings, "most_overtaken",
        (json_int_t)run->most_overtaken, "entries_logged", (json_int_t)run->logged, "most_inside",
        (int)run->most_inside, "stuck", (int)run->stuck, "bits",
        row->space.stated ? json_integer(row->space.bits) : json_null(), "unbounded",
        row->system.machine->unbounded);
    if (row->alone.comes_in) {
        (void)json_object_set_new(object, "alone",
                                  json_pack("{s:i, s:i}", "enter", (int)row->alone.enter, "leave",
                                            (int)row->alone.leave));
    }
    return object;
}

static json_t *document(const struct lab_comparison *all)
{
    json_t *sizes = json_array();
    for (unsigned s = 0; s < all->size_count; s++) {
        json_t *rows = json_array();
        for (unsigned m = 0; m < all->machine_count; m++) {
            if (all->sizes[s].rows[m].takes) {
                (void)json_array_append_new(rows, row_json(&all->sizes[s].rows[m]));
            }
        }
        (void)json_array_append_new(sizes,
                                    json_pack("{s:i, s:i, s:o}", "n", (int)all->sizes[s].n, "k",
                                              (int)all->sizes[s].k, "algorithms", rows));
    }
    return json_pack("{s:f, s:i, s:b, s:i, s:o}", "seconds", all->seconds, "rounds",
                     (int)all->rounds, "processes", all->processes, "processors",
                     (int)sysconf(_SC_NPROCESSORS_ONLN), "sizes", sizes);
}

static void show_row(const struct lab_comparison *all, const struct lab_size *size,
                     const struct lab_compared *row)
{
    char text[LAB_SHORT_BYTES];
    (void)printf("%-*s  %-3s %s", lab_name_width(all->machines), row->system.machine->name,
                 row->alone.updates ? "u" : "rw", lab_promises(row, text));
    for (unsigned m = 0; m < LAB_MEASURES; m++) {
        enum lab_measure measure = (enum lab_measure)m;
        const struct lab_compared *best = lab_best(all, size, measure, LAB_ANY);
        bool is_best =
            best != NULL && lab_as_good(measure, lab_value(row, measure), lab_value(best, measure));
        (void)printf("%*s%c", widths[m] - 1, lab_value_text(row, measure, text),
                     is_best ? '*' : ' ');
    }
    (void)printf("\n");
}

static void show_size(const struct lab_comparison *all, const struct lab_size *size)
{
    const char *comma = "not at this size: ";
    (void)printf("n=%u, k=%u\n", size->n, size->k);
    for (unsigned line = 0; line < 2; line++) {
        (void)printf("%-*s  %-8s", lab_name_width(all->machines), "", line == 0 ? "" : "on keeps");
        for (unsigned m = 0; m < LAB_MEASURES; m++) {
            (void)printf("%*s ", widths[m] - 1, lab_measures[m].head[line]);
        }
        (void)printf("\n");
    }
    for (unsigned m = 0; m < all->machine_count; m++) {
        if (size->rows[m].takes) {
            show_row(all, size, &size->rows[m]);
        }
    }
    for (unsigned m = 0; m < all->machine_count; m++) {
        if (!size->rows[m].takes) {
            (void)printf("%s%s", comma, all->machines[m]->name);
            comma = ", ";
        }
    }
    (void)printf("%s\n", comma[0] == ',' ? "\n" : "");
}

static void show(const struct lab_comparison *all)
{
    char how[LAB_HOW_BYTES];
    (void)printf("%s; * best of its column, or as good\n\n", lab_compare_how(all, how));
    for (unsigned s = 0; s < all->size_count; s++) {
        show_size(all, &all->sizes[s]);
    }
    (void)printf(
        "  on         u: words that are updated in one step; rw: registers, read or written\n"
        "  keeps      S: no process waits for ever if none stops; L: nor if k-1 stop anywhere;\n"
        "             F: FIFO enabling; f: first-in, first-enabled\n"
        "  accesses   of one passage: entering and leaving. Alone: the most of any process;\n"
        "             contended: the average, waiting included, while all n repeat their cycle\n"
        "  overtaken  certain overtakings in a thousand entries; one wait: the most in one wait\n");
}

static int draw(const struct lab_options *options, const struct lab_comparison *all)
{
    FILE *file;
    int status = lab_svg_open(options->output, &file);
    if (status != LAB_OK) {
        return status;
    }
    if (all->size_count == 1) {
        lab_compare_draw_table(file, all);
    } else {
        lab_compare_draw_maps(file, all);
    }
    return lab_svg_close(options->output, file);
}

/* Print a line for each run that went wrong. */
static int judge(const struct lab_comparison *all)
{
    int status = LAB_OK;
    for (unsigned s = 0; s < all->size_count; s++) {
        for (unsigned m = 0; m < all->machine_count; m++) {
            const struct lab_compared *row = &all->sizes[s].rows[m];
            int found = row->takes ? lab_run_status(&row->run) : LAB_OK;
            status = found != LAB_OK ? found : status;
        }
    }
    return status;
}

static int carry_out(const struct lab_options *options, struct lab_comparison *all)
{
    unsigned pairs;
    int status = set_up(options, all, &pairs);
    if (status != LAB_OK) {
        return status;
    }
    plan(options, all, pairs);
    bool terminal = isatty(STDERR_FILENO);
    if (terminal) {
        (void)fprintf(stderr, "%u run%s, about %.0f s ..", pairs, lab_plural(pairs),
                      pairs * all->seconds);
    }
    int error = lab_compare_run(all);
    if (terminal) {
        (void)fprintf(stderr, "\r\033[K");
    }
    if (error != 0) {
        return lab_fail(LAB_OS, "cannot run: %s", strerror(-error));
    }
    bool drawn_to_stdout = options->output != NULL && strcmp(options->output, "-") == 0;
    if (options->json) {
        status = lab_print_json(document(all));
    } else if (!drawn_to_stdout) {
        show(all);
    }
    if (status == LAB_OK && options->output != NULL) {
        status = draw(options, all);
    }
    return status == LAB_OK ? judge(all) : status;
}

static int run(const struct lab_options *options)
{
    const struct step_machine *machines[MOST_MACHINES + 1] = {NULL};
    struct lab_size sizes[MOST_PAIRS] = {{0}};
    struct lab_comparison all = {
        .machines = machines, .sizes = sizes, .processes = options->processes};
    int status = choose(options, machines, &all.machine_count);
    if (status == LAB_OK) {
        status = carry_out(options, &all);
    }
    for (unsigned s = 0; s < MOST_PAIRS; s++) {
        free(sizes[s].rows);
    }
    return status;
}

const struct lab_command lab_compare = {
    .name = "compare",
    .usage = "compare [ALGORITHM..] -n N[,N..] -k K[,K..] [-r R]\n"
             "       [--seconds S] [--processes] [--json] [-o FILE.svg]",
    .help = "Run all algorithms that take N processes and K seats on the same work, in\n"
            "interleaved rounds, S seconds each (default: about 15 seconds for all). Print\n"
            "for each: accesses to shared memory in one passage, alone (exact) and contended\n"
            "(average); passages a second; waiting times; certain overtakings; and the bits\n"
            "of shared memory. Algorithms whose paper has a misprint are left out unless\n"
            "they are named. -o draws the comparison: one size as a table, several sizes as\n"
            "maps that show which algorithm is best where.\n"
            "Exit 1 if more than K were inside, or a process never entered.\n"
            "\n"
            "    usher-lab compare -n 8 -k 2 -o compare.svg\n"
            "    usher-lab compare -n 2,4,8,16,32 -k 1,2,4 -o maps.svg\n"
            "    usher-lab compare excl gtex -n 32 -k 2 --processes\n",
    .flags = "nkrspjo",
    .most_operands = LAB_MOST_OPERANDS,
    .lists = true,
    .run = run,
};
