/* usher-lab space: how many values of shared memory an algorithm uses. */
#include "check/space.h"

#include "lab/lab.h"

/* A count as JSON: an integer where it is exact, else a real number. */
static json_t *count_json(double count)
{
    return count < 9e15 ? json_integer((json_int_t)count) : json_real(count);
}

static bool solves_the_problem(const struct step_system *system)
{
    unsigned needed =
        STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_DEADLOCK) | STEP_CLAIM(STEP_FIFO);
    return (system->claims & needed) == needed;
}

static int show(const struct lab_options *options, const struct step_system *system,
                const struct check_graph *graph, const struct check_schedules *schedules)
{
    const struct step_machine *machine = system->machine;
    uint64_t lower = solves_the_problem(system) ? check_lower_bound(system->n, system->k) : 0;
    double bound = machine->bound != NULL ? machine->bound(system) : 0;
    uint32_t values = graph->seen.shared.count;
    bool apply = lower != 0 && schedules->executable;
    bool distinct = schedules->distinct == schedules->tried;
    if (options->json) {
        return lab_print_json(json_pack(
            "{s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:i}", "algorithm", machine->name, "n",
            (int)system->n, "k", (int)system->k, "values",
            machine->unbounded ? json_null() : json_integer(values), "bound",
            bound > 0 ? count_json(bound) : json_null(), "lower_bound",
            lower != 0 ? json_integer((json_int_t)lower) : json_null(), "schedules_distinct",
            apply ? json_boolean(distinct) : json_null(), "schedules", (int)schedules->tried));
    }
    (void)printf("%s, n=%u, k=%u\n", machine->name, system->n, system->k);
    if (machine->unbounded) {
        (void)printf("  values reached      unbounded\n");
    } else {
        (void)printf("  values reached      %u\n", values);
    }
    if (bound > 0) {
        (void)printf("  bound by theorem    %.0f\n", bound);
    }
    if (lower != 0) {
        (void)printf("  lower bound         %llu  (1989, Theorem 5.8)\n",
                     (unsigned long long)lower);
    } else {
        (void)printf(
            "  lower bound         does not apply (it needs n >= k+2, FIFO enabling and no "
            "k-deadlock)\n");
    }
    if (apply) {
        (void)printf("  schedules h(i,j)    %u of %u lead to different values\n",
                     schedules->distinct, schedules->tried);
    }
    return LAB_OK;
}

static int run(const struct lab_options *options)
{
    struct step_system system;
    struct check_graph graph;
    struct check_schedules schedules;
    struct lab_options how = *options;
    int status = lab_system(options, options->operands[0], &system);
    if (status != LAB_OK) {
        return status;
    }
    how.only_exclusion = true; /* no edges are needed to count values */
    status = lab_explore(&how, &system, &graph);
    if (status != LAB_OK) {
        return status;
    }
    if (!graph.complete) {
        status = lab_fail(LAB_OS, "the exploration did not fit the memory limit; raise --memory");
    } else if (check_schedules_run(&system, &schedules) != 0) {
        status = lab_fail(LAB_OS, "out of memory");
    } else {
        status = show(options, &system, &graph, &schedules);
        if (status == LAB_OK && solves_the_problem(&system) && system.n >= system.k + 2 &&
            (!schedules.executable || schedules.distinct != schedules.tried)) {
            status = LAB_VIOLATED;
        }
    }
    check_graph_free(&graph);
    return status;
}

const struct lab_command lab_space = {
    .name = "space",
    .usage = "space ALGORITHM -n N -k K [-r R] [--memory SIZE] [--json]",
    .help = "The distinct values of shared memory that are reached, beside the bound of the\n"
            "paper's theorem and the lower bound for every algorithm that keeps the same\n"
            "promises; and the schedules h(i,j) of the lower bound's proof, executed: they\n"
            "must lead to different values. Exit 1 if they do not.\n"
            "\n"
            "    usher-lab space colored -n 5 -k 2\n",
    .flags = "nkrmj",
    .operands = 1,
    .run = run,
};
