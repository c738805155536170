/* usher-lab table: what the papers promise of every algorithm, and what is found. */
#include "lab/lab.h"

#include <assert.h>
#include <string.h>

/* The standard sizes: small enough for seconds, large enough for every known violation. */
static const struct {
    unsigned n, k;
} sizes[] = {{2, 1}, {3, 1}, {3, 2}, {4, 1}, {4, 2}, {4, 3}};

enum {
    SIZES = sizeof sizes / sizeof sizes[0],
    MUTANT_N = 3,    /* mutants have millions of states at n = 4 */
    REGISTERS_N = 2, /* algorithms on many words, too: larger n only up to a number of states */
    REGISTERS_STATES = 100000,
    REGISTERS_MEMORY = 32 << 20 /* enough for REGISTERS_STATES */
};

/* C1 is the same as exclusion and has no column. First-in and first-enabled, for the few algorithms
   with a doorway, have a line below the table instead. */
static const struct {
    enum step_property property;
    const char *head;
} columns[] = {
    {STEP_EXCLUSION, "excl"},  {STEP_DEADLOCK, "dead"},    {STEP_FIFO, "fifo"},
    {STEP_C2, "C2"},           {STEP_C4, "C4'"},           {STEP_C5, "C5'"},
    {STEP_C6, "C6"},           {STEP_PROGRESS, "prog"},    {STEP_LOCKOUT, "lock"},
    {STEP_STARVATION, "strv"}, {STEP_OVERTAKINGS, "over"}, {STEP_PROMPT, "prmt"},
    {STEP_FIRST_IN, NULL},     {STEP_FIRST_ENABLED, NULL},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* The results for one algorithm over all sizes. */
struct row {
    const struct step_machine *machine;
    unsigned promised;                         /* at some size */
    unsigned explored;                         /* number of sizes explored */
    uint32_t states;                           /* the most */
    enum check_verdict found[STEP_PROPERTIES]; /* violated if violated at any size */
    bool promise_broken[STEP_PROPERTIES];      /* violated at a size at which it is promised */
    unsigned n[STEP_PROPERTIES], k[STEP_PROPERTIES]; /* where it was first violated */
    struct step_system system[STEP_PROPERTIES];
    struct check_result shown[STEP_PROPERTIES]; /* and its trace */
};

static void note(struct row *row, const struct step_system *system, struct check_report *report)
{
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        struct check_result *result = &report->results[p];
        bool promised = system->claims >> p & 1;
        bool first = row->found[p] != CHECK_VIOLATED || (promised && !row->promise_broken[p]);
        if (result->verdict == CHECK_VIOLATED && first) {
            row->found[p] = CHECK_VIOLATED;
            row->promise_broken[p] = promised;
            row->system[p] = *system;
            row->n[p] = system->workers;
            row->k[p] = system->k;
            check_schedule_free(&row->shown[p].trace);
            check_schedule_free(&row->shown[p].loop);
            row->shown[p] = *result;
            memset(result, 0, sizeof *result);
        } else if (result->verdict == CHECK_HOLDS && row->found[p] == CHECK_NOT_CHECKED) {
            row->found[p] = CHECK_HOLDS;
        }
    }
    row->promised |= system->claims;
}

/* Explore one size; *fits is false if it has too many states for the table. */
static int explore(const struct lab_options *options, const struct step_system *system,
                   struct check_graph *graph, bool *fits)
{
    struct lab_options small = *options;
    bool registers = system->shared_words >= system->n && system->n > REGISTERS_N;
    if (registers && (options->memory == 0 || options->memory > REGISTERS_MEMORY)) {
        small.memory = REGISTERS_MEMORY;
    }
    int status = lab_explore(&small, system, graph);
    *fits = status != LAB_OK || !registers ||
            (graph->complete && check_states(graph) <= REGISTERS_STATES);
    return status;
}

static int fill(const struct lab_options *options, const struct step_machine *machine, bool mutant,
                struct row *row)
{
    memset(row, 0, sizeof *row);
    row->machine = machine;
    for (unsigned s = 0; s < SIZES; s++) {
        struct step_system system;
        struct check_graph graph;
        struct check_report report;
        char why[STEP_WHY_BYTES];
        if (mutant && sizes[s].n > MUTANT_N) {
            continue;
        }
        if (step_system_init(&system, machine, sizes[s].n, sizes[s].k, 0, why) != 0) {
            continue;
        }
        bool fits;
        int status = explore(options, &system, &graph, &fits);
        if (status != LAB_OK) {
            return status;
        }
        if (!fits) {
            check_graph_free(&graph);
            continue;
        }
        if (!graph.complete || lab_decide(&graph, &report) != 0) {
            check_graph_free(&graph);
            return lab_fail(
                LAB_OS,
                "%s, n=%u, k=%u: the exploration did not fit the memory limit; raise --memory",
                machine->name, system.n, system.k);
        }
        row->explored++;
        row->states = check_states(&graph) > row->states ? check_states(&graph) : row->states;
        note(row, &system, &report);
        check_report_free(&report);
        check_graph_free(&graph);
    }
    return LAB_OK;
}

/* Does this property apply to this machine? */
static bool has(const struct step_machine *machine, enum step_property property)
{
    struct step_system system = {.machine = machine};
    return lab_shows(&system, property);
}

static const char *cell(const struct row *row, enum step_property p)
{
    bool promised = row->promised >> p & 1;
    if (row->found[p] == CHECK_NOT_CHECKED) {
        return "?";
    }
    if (row->found[p] == CHECK_HOLDS) {
        return promised ? "yes" : "also";
    }
    return promised && row->promise_broken[p] ? "NO" : "no";
}

static void show_head(int width)
{
    (void)printf(
        "All interleavings of n = 2, 3, 4 processes (variants, at the end: 2, 3) with\n"
        "k < n seats; of algorithms on many words, at n = 3, 4, with at most %d states.\n\n%-*s",
        REGISTERS_STATES, width, "");
    for (unsigned c = 0; c < COLUMNS && columns[c].head != NULL; c++) {
        (void)printf(" %-4s", columns[c].head);
    }
    (void)printf("\n");
}

static void show_row(const struct row *row, int width)
{
    (void)printf("%-*s", width, row->machine->name);
    for (unsigned c = 0; c < COLUMNS && columns[c].head != NULL; c++) {
        (void)printf(" %-4s", cell(row, columns[c].property));
    }
    (void)printf("\n");
}

/* Print the properties without a column, for machines that have them. */
static void show_rest(const struct row *row, int width)
{
    bool any = false;
    for (unsigned c = 0; c < COLUMNS; c++) {
        enum step_property p = columns[c].property;
        if (columns[c].head == NULL && has(row->machine, p)) {
            (void)printf("%-*s %s %s", any ? 0 : width, any ? "," : row->machine->name,
                         step_property_name(p), cell(row, p));
            any = true;
        }
    }
    if (any) {
        (void)putchar('\n');
    }
}

static void show_violations(const struct row *rows, unsigned count, bool promised, int width)
{
    char text[120];
    for (unsigned r = 0; r < count; r++) {
        for (unsigned c = 0; c < COLUMNS; c++) {
            enum step_property p = columns[c].property;
            if (rows[r].found[p] != CHECK_VIOLATED || rows[r].promise_broken[p] != promised) {
                continue;
            }
            (void)printf(
                "  %-*s %-13s n=%u k=%u  %s", width, rows[r].machine->name, step_property_name(p),
                rows[r].n[p], rows[r].k[p],
                lab_schedule_text(&rows[r].system[p], &rows[r].shown[p].trace, text, sizeof text));
            for (unsigned i = 0; i < CHECK_MAX_PROCESSES; i++) {
                if (rows[r].shown[p].stopped >> i & 1) {
                    (void)printf(", stop %u", i + 1);
                }
            }
            if (rows[r].shown[p].loop.length > 0) {
                (void)printf(", then %s for ever",
                             lab_schedule_text(&rows[r].system[p], &rows[r].shown[p].loop, text,
                                               sizeof text));
            }
            (void)printf("\n");
        }
    }
}

static void show_foot(const struct row *rows, unsigned count, int width)
{
    (void)printf("\n  yes   promised, and holds at every size  also  not promised, but holds\n"
                 "  NO    promised, and violated             no    not promised, and violated\n"
                 "  fifo, C4', C5', over and prmt are tested from n = k+2 on.\n\n");
    for (unsigned r = 0; r < count; r++) {
        show_rest(&rows[r], width);
    }
    (void)printf("\nPromised and violated, with a shortest schedule (process numbers):\n");
    show_violations(rows, count, true, width);
    (void)printf("\nNot promised, and violated:\n");
    show_violations(rows, count, false, width);
}

static json_t *row_json(const struct row *row)
{
    json_t *claimed = json_array();
    json_t *found = json_object();
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        const char *name = step_property_name((enum step_property)p);
        if (p == STEP_INVARIANT || !has(row->machine, (enum step_property)p)) {
            continue;
        }
        json_t *object = json_pack("{s:s}", "verdict", lab_verdict_name(row->found[p]));
        if (row->promised >> p & 1) {
            (void)json_array_append_new(claimed, json_string(name));
        }
        if (row->found[p] == CHECK_VIOLATED) {
            (void)json_object_set_new(object, "n", json_integer(row->n[p]));
            (void)json_object_set_new(object, "k", json_integer(row->k[p]));
            (void)json_object_set_new(object, "trace",
                                      lab_schedule_json(&row->system[p], &row->shown[p].trace));
            if (row->shown[p].loop.length > 0) {
                (void)json_object_set_new(object, "loop",
                                          lab_schedule_json(&row->system[p], &row->shown[p].loop));
            }
            if (row->shown[p].stopped != 0) {
                (void)json_object_set_new(object, "stopped",
                                          lab_processes_json(row->shown[p].stopped));
            }
            (void)json_object_set_new(object, "promise_broken",
                                      json_boolean(row->promise_broken[p]));
        }
        (void)json_object_set_new(found, name, object);
    }
    return json_pack("{s:s, s:s, s:i, s:I, s:o, s:o}", "algorithm", row->machine->name, "title",
                     row->machine->title, "sizes", (int)row->explored, "states",
                     (json_int_t)row->states, "claims", claimed, "found", found);
}

/* Choose the rows: every published algorithm, and of the variants those as printed, or all with
   `all`. Return the number of rows; if `rows` is NULL only count them. */
static unsigned choose(bool all, struct row *rows, unsigned *papers)
{
    unsigned count = 0;
    for (const struct step_machine *const *m = papers_all; *m != NULL; m++, count++) {
        if (rows != NULL) {
            rows[count].machine = *m;
        }
    }
    *papers = count;
    for (const struct step_machine *const *m = papers_mutants; *m != NULL; m++) {
        if (all || (*m)->printed) {
            if (rows != NULL) {
                rows[count].machine = *m;
            }
            count++;
        }
    }
    return count;
}

static int name_width(const struct lab_options *options)
{
    int width = lab_name_width(papers_all);
    int all = lab_name_width(papers_mutants);
    return options->all && all > width ? all : width;
}

static int print_all(const struct lab_options *options, struct row *rows, unsigned count)
{
    if (options->json) {
        json_t *array = json_array();
        for (unsigned r = 0; r < count; r++) {
            (void)json_array_append_new(array, row_json(&rows[r]));
        }
        return lab_print_json(array);
    }
    show_foot(rows, count, name_width(options));
    return LAB_OK;
}

static int run(const struct lab_options *options)
{
    unsigned papers;
    unsigned total = choose(options->all, NULL, &papers);
    int width = name_width(options);
    assert(total > 0);
    struct row *rows = calloc(total, sizeof *rows);
    int status = LAB_OK;
    if (rows == NULL) {
        return lab_fail(LAB_OS, "out of memory");
    }
    (void)choose(options->all, rows, &papers);
    if (!options->json) {
        show_head(width);
    }
    for (unsigned r = 0; r < total && status == LAB_OK; r++) {
        status = fill(options, rows[r].machine, r >= papers, &rows[r]);
        if (status == LAB_OK && !options->json) {
            show_row(&rows[r], width);
            (void)fflush(stdout);
        }
    }
    if (status == LAB_OK) {
        status = print_all(options, rows, total);
    }
    for (unsigned r = 0; r < total; r++) {
        for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
            check_schedule_free(&rows[r].shown[p].trace);
            check_schedule_free(&rows[r].shown[p].loop);
        }
    }
    free(rows);
    return status;
}

const struct lab_command lab_table = {
    .name = "table",
    .usage = "table [--all] [--memory SIZE] [--threads T] [--json]",
    .help = "Explore every algorithm at its standard sizes and print one row for each: what\n"
            "its paper promises, and what is found; then a shortest schedule for every\n"
            "violation. The last rows are algorithms whose paper has a misprint, as printed.\n"
            "--all adds the mutants.\n",
    .flags = "amjT",
    .run = run,
};
