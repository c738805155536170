/* usher-lab check: explore all interleavings of one algorithm and decide its properties. */
#include "check/explore/trace.h"
#include "lab/check_report.h"

#include <errno.h>
#include <string.h>

static json_t *document(const struct step_system *system, const struct check_graph *graph,
                        const struct check_report *report)
{
    json_t *claims = json_array();
    json_t *properties = lab_properties_json(system, report, claims);
    return json_pack(
        "{s:s, s:i, s:i, s:i, s:b, s:I, s:I, s:o, s:b, s:f, s:o, s:o}", "algorithm",
        system->machine->name, "n", (int)system->workers, "k", (int)system->k, "r",
        (int)system->robustness, "reduced", graph->options.reduced, "states",
        (json_int_t)check_states(graph), "transitions", (json_int_t)graph->transitions, "values",
        system->machine->unbounded ? json_null()
                                   : json_integer((json_int_t)graph->seen.shared.count),
        "complete", graph->complete, "seconds", graph->seconds, "claims", claims, "properties",
        properties);
}

static void show(const struct step_system *system, const struct check_graph *graph,
                 const struct check_report *report)
{
    uint32_t states = check_states(graph);
    lab_show_title(system);
    (void)printf("%u state%s%s", states, lab_plural(states),
                 graph->options.reduced ? ", reduced" : "");
    if (states >= 10000) { /* with fewer, most of the memory is the fixed part of the tables */
        (void)printf(" (%.0f bytes each)", (double)graph->budget.most / states);
    }
    (void)printf(", %llu transition%s, ", (unsigned long long)graph->transitions,
                 lab_plural(graph->transitions));
    if (system->machine->unbounded) {
        (void)printf("unbounded values, ");
    } else {
        (void)printf("%u shared value%s, ", graph->seen.shared.count,
                     lab_plural(graph->seen.shared.count));
    }
    (void)printf("%.2f s\n\n", graph->seconds);
    if (!graph->complete) {
        (void)printf(
            "Not complete: the memory limit of %.1f MiB was reached (--memory raises it).\n\n",
            (double)graph->budget.limit / (1 << 20));
    }
    lab_show_results(system, report);
}

/* The violation to write as a trace: of --property, else the first of a promise, else the first. */
static int pick(const struct lab_options *options, const struct step_system *system,
                const struct check_report *report)
{
    int picked = -1;
    for (int p = STEP_PROPERTIES - 1; p >= 0; p--) {
        bool violated = report->results[p].verdict == CHECK_VIOLATED;
        bool asked = options->property == NULL ||
                     strcmp(options->property, step_property_name((enum step_property)p)) == 0;
        bool better = picked < 0 || (system->claims >> p & 1) || !(system->claims >> picked & 1);
        if (violated && asked && better) {
            picked = p;
        }
    }
    return picked;
}

static int write_trace(const struct lab_options *options, const struct step_system *system,
                       const struct check_report *report)
{
    int p = pick(options, system, report);
    if (p < 0) {
        return options->property == NULL
                   ? lab_fail(LAB_OK, "%s: no property is violated: %s is not written",
                              system->machine->name, options->trace_file)
                   : lab_fail(LAB_OK, "%s: %s is not violated: %s is not written",
                              system->machine->name, options->property, options->trace_file);
    }
    FILE *file = fopen(options->trace_file, "w");
    if (file == NULL) {
        return lab_fail(LAB_CANNOT_CREATE, "cannot write %s: %s", options->trace_file,
                        strerror(errno));
    }
    int error = check_trace_write(file, system, step_property_name((enum step_property)p),
                                  &report->results[p]);
    if (fclose(file) != 0 || error != 0) {
        return lab_fail(LAB_CANNOT_CREATE, "cannot write %s", options->trace_file);
    }
    return LAB_OK;
}

/* LAB_VIOLATED if a promise is violated; else LAB_OS if a promise could not be decided. */
static int verdict(const struct step_system *system, const struct check_graph *graph,
                   const struct check_report *report, bool only_exclusion)
{
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        if ((system->claims >> p & 1) && report->results[p].verdict == CHECK_VIOLATED) {
            return LAB_VIOLATED;
        }
    }
    if (!graph->complete) {
        return lab_fail(LAB_OS,
                        "%s: the exploration did not fit %.1f MiB (%u states); raise --memory "
                        "or take a smaller n or k",
                        system->machine->name, (double)graph->budget.limit / (1 << 20),
                        check_states(graph));
    }
    return only_exclusion || check_claims_hold(system, report)
               ? LAB_OK
               : lab_fail(LAB_OS, "%s: not all promises could be decided; raise --memory",
                          system->machine->name);
}

static int run(const struct lab_options *options)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    int status = lab_system(options, options->operands[0], &system);
    if (status != LAB_OK) {
        return status;
    }
    if (options->sweep) {
        return lab_check_swept(options, &system);
    }
    status = lab_explore(options, &system, &graph);
    if (status != LAB_OK) {
        return status;
    }
    if (lab_decide(&graph, &report) != 0) {
        status = lab_fail(LAB_OS, "out of memory while deciding");
    } else {
        if (options->json) {
            status = lab_print_json(document(&system, &graph, &report));
        } else {
            show(&system, &graph, &report);
        }
        if (status == LAB_OK && options->trace_file != NULL) {
            status = write_trace(options, &system, &report);
        }
        if (status == LAB_OK) {
            status = verdict(&system, &graph, &report, options->only_exclusion);
        }
    }
    check_report_free(&report);
    check_graph_free(&graph);
    return status;
}

const struct lab_command lab_check = {
    .name = "check",
    .usage = "check ALGORITHM -n N -k K [-r R] [--trace FILE]\n"
             "       [--property NAME] [--only exclusion] [--reduced] [--sweep]\n"
             "       [--memory SIZE] [--threads T] [--json]",
    .help = "Explore every interleaving of N processes with K seats and decide each property:\n"
            "holds, violated (with a shortest schedule that shows it), or not checked.\n"
            "Schedules are process numbers from 1, in the order in which they take steps.\n"
            "\n"
            "  -r R           robustness for C2: fewer than R failures (default K)\n"
            "  --trace FILE   write the first violation as a trace, for replay and draw;\n"
            "                 --property NAME chooses which\n"
            "  --threads T    threads for the analysis (default: one a processor)\n"
            "  --only exclusion   decide only exclusion: faster, less memory for each state\n"
            "  --reduced      leave out reads that make no difference: fewer states; C2, C4',\n"
            "                 C5', C6 and invariant are then not decided\n"
            "  --memory SIZE  limit for states (default: 3/4 of the free memory)\n"
            "  --sweep        for pool and its mutants, N up to 5: explore in groups that are\n"
            "                 freed when done, with a file in $TMPDIR (or /var/tmp) for what\n"
            "                 exceeds --memory. Decides exclusion, lockout, progress,\n"
            "                 starvation, invariant and solo; writes no trace. With\n"
            "                 --reduced it leaves out steps that change nothing.\n"
            "\n"
            "For pool, the core that ships, limits on what happens to its guests:\n"
            "\n"
            "  --cycles C     each process takes C seats, one after the other (default 1)\n"
            "  --fewer M      all but the first take M fewer; --fewer-only P: P alone does\n"
            "  --crashes F    F crashes, each at any step; a new process takes over the row\n"
            "  --gives-up G   a waiting guest gives up, G times in all\n"
            "  --grows N, --shrinks N   the pool gets one seat more, or one fewer, N times\n"
            "  --tag-bits B   short words that repeat: tags of B bits (default: as shipped);\n"
            "                 without --cycles processes take seats for ever\n"
            "  --cycle-bits B, --ticket-bits B   the same for cycles (default: one bit more\n"
            "                 than tags) and tickets (default: as few as the size needs)\n"
            "  --pauses P     at most P operations are interrupted at a time (default: any)\n"
            "  --last Q       only the last Q processes pause and resize (default: all)\n"
            "  --simple S     leave out, as a sum: 1 the numbers of seats, 2 the repeat path,\n"
            "                 4 the rule on replaced values (to find the harm they do)\n"
            "  --buffer D     each process may have D stores in a store buffer (x86-TSO)\n"
            "  --line L       L places in the line, a power of two (default: just enough)\n"
            "  --queue Q      first, Q processes arrive one by one, and each sits or waits\n"
            "  --stale S      start with entries of a round of tickets ago in the line:\n"
            "                 served (1), skipped (2) or undecided (3)\n"
            "\n"
            "Exit 0 if everything the algorithm promises holds, 1 if a promise is violated.\n"
            "\n"
            "    usher-lab check colored -n 4 -k 2\n"
            "    usher-lab check bank -n 3 -k 2 --trace bank.trace\n"
            "    usher-lab check pool -n 3 -k 2 --cycles 1 --crashes 1 --sweep --memory 4G\n",
    .flags = "nkrtPyRYmTjCFGUVBLWQSZDIEHJK",
    .operands = 1,
    .run = run,
};
