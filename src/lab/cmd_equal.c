/* usher-lab equal: decide whether two systems behave alike under every schedule. */
#include "check/explore/equal.h"

#include "lab/lab.h"

static int compare(const struct lab_options *options, struct check_graph *a, struct check_graph *b)
{
    struct check_equality equality;
    char text[400];
    if (!a->complete || !b->complete) {
        return lab_fail(LAB_OS,
                        "%s and %s: the exploration did not fit the memory limit; raise --memory",
                        options->operands[0], options->operands[1]);
    }
    if (check_equal(a, b, &equality) != 0) {
        check_schedule_free(&equality.trace);
        return lab_fail(LAB_OS, "out of memory while comparing");
    }
    int status = equality.equivalent ? LAB_OK : LAB_VIOLATED;
    if (options->json) {
        int printed = lab_print_json(json_pack(
            "{s:s, s:s, s:i, s:i, s:b, s:I, s:o}", "a", options->operands[0], "b",
            options->operands[1], "n", (int)options->n, "k", (int)options->k, "equivalent",
            equality.equivalent, "states", (json_int_t)equality.pairs, "trace",
            equality.equivalent ? json_null() : lab_schedule_json(a->system, &equality.trace)));
        status = printed != LAB_OK ? printed : status;
    } else if (equality.equivalent) {
        (void)printf(
            "%s and %s are equivalent at n=%u, k=%u: the same regions in %llu pair%s of states\n",
            options->operands[0], options->operands[1], options->n, options->k,
            (unsigned long long)equality.pairs, lab_plural(equality.pairs));
    } else {
        (void)printf("%s and %s differ at n=%u, k=%u after: %s\n", options->operands[0],
                     options->operands[1], options->n, options->k,
                     lab_schedule_text(a->system, &equality.trace, text, sizeof text));
    }
    check_schedule_free(&equality.trace);
    return status;
}

static int run(const struct lab_options *options)
{
    struct step_system a;
    struct step_system b;
    struct check_graph graph_a = {0};
    struct check_graph graph_b = {0};
    int status = lab_system(options, options->operands[0], &a);
    if (status == LAB_OK) {
        status = lab_system(options, options->operands[1], &b);
    }
    if (status != LAB_OK) {
        return status;
    }
    if (a.machine->events != 0 || b.machine->events != 0) {
        return lab_fail(LAB_USAGE,
                        "%s has events: equivalence is defined only for systems without events",
                        a.machine->events != 0 ? options->operands[0] : options->operands[1]);
    }
    status = lab_explore(options, &a, &graph_a);
    if (status == LAB_OK) {
        status = lab_explore(options, &b, &graph_b);
        if (status == LAB_OK) {
            status = compare(options, &graph_a, &graph_b);
        }
        check_graph_free(&graph_b);
    }
    check_graph_free(&graph_a);
    return status;
}

const struct lab_command lab_equal = {
    .name = "equal",
    .usage = "equal ALGORITHM ALGORITHM -n N -k K [-r R] [--memory SIZE]\n"
             "       [--json]",
    .help = "Decide equivalence in the sense of the 1989 paper, 3.2: under every schedule all\n"
            "processes are in the same regions in both. If they are not, print a shortest\n"
            "schedule that leads to different regions.\n"
            "Exit 0 if they are equivalent, 1 if not.\n"
            "\n"
            "    usher-lab equal queue colored -n 4 -k 2\n",
    .flags = "nkrmj",
    .operands = 2,
    .run = run,
};
