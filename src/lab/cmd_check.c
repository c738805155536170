/* usher-lab check: explore all interleavings of one algorithm and decide its properties. */
#include "check/explore/trace.h"
#include "lab/lab.h"

#include <errno.h>
#include <string.h>

static json_t *document(const struct step_system *system, const struct check_graph *graph,
                        const struct check_report *report)
{
    json_t *properties = json_object();
    json_t *claims = json_array();
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        const char *name = step_property_name((enum step_property)p);
        if (!lab_shows(system, (enum step_property)p)) {
            continue;
        }
        (void)json_object_set_new(
            properties, name, lab_result_json(system, &report->results[p], (enum step_property)p));
        if (system->claims >> p & 1) {
            (void)json_array_append_new(claims, json_string(name));
        }
    }
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

/* How often others enter while one tries, where that is counted. */
static void show_entries(const struct check_result *result, enum step_property property)
{
    bool counted = result->has_bound && (property == STEP_OVERTAKINGS || property == STEP_PROMPT);
    if (counted && result->entries != CHECK_UNBOUNDED) {
        (void)printf(", entries of others at most %lld", (long long)result->entries);
    } else if (counted && result->bound != CHECK_UNBOUNDED) {
        (void)printf(", entries of others without bound");
    }
}

/* The last column: what there is to say about a verdict. */
static void show_details(const struct step_system *system, const struct check_result *result,
                         enum step_property property)
{
    char text[200];
    if (result->verdict == CHECK_NOT_CHECKED) {
        (void)printf("  %s", result->why);
    } else if (result->verdict == CHECK_HOLDS && result->tested == 0) {
        (void)printf("  vacuous: nothing put it to the test");
    }
    if (result->has_bound && result->bound != CHECK_UNBOUNDED) {
        (void)printf("  at most %lld", (long long)result->bound);
    }
    show_entries(result, property);
    if (property == STEP_C2 && result->verdict != CHECK_NOT_CHECKED) {
        if (result->robust == CHECK_UNBOUNDED) {
            (void)printf("  for every r");
        } else {
            (void)printf("  for r up to %lld", (long long)result->robust);
        }
    }
    if (result->verdict == CHECK_VIOLATED && result->why != NULL) {
        (void)printf("  %s:", result->why);
    }
    if (result->verdict == CHECK_VIOLATED) {
        (void)printf("  %s", lab_schedule_text(system, &result->trace, text, sizeof text));
        if (result->stopped != 0) {
            (void)printf(", stop");
            for (unsigned i = 0; i < CHECK_MAX_PROCESSES; i++) {
                if (result->stopped >> i & 1) {
                    (void)printf(" %u", i + 1);
                }
            }
        }
        if (result->loop.length > 0) {
            (void)printf(", then %s for ever",
                         lab_schedule_text(system, &result->loop, text, sizeof text));
        }
    }
}

static void show(const struct step_system *system, const struct check_graph *graph,
                 const struct check_report *report)
{
    (void)printf("%s, n=%u, k=%u", system->machine->name, system->workers, system->k);
    if (system->robustness != system->k) {
        (void)printf(", r=%u", system->robustness);
    }
    (void)printf(": %s\n", system->machine->title);
    (void)printf("%u states%s", check_states(graph), graph->options.reduced ? ", reduced" : "");
    if (check_states(graph) >= 10000) { /* of fewer the fixed part of the tables says nothing */
        (void)printf(" (%.0f bytes each)", (double)graph->budget.most / check_states(graph));
    }
    (void)printf(", %llu transitions, ", (unsigned long long)graph->transitions);
    if (system->machine->unbounded) {
        (void)printf("unbounded values, ");
    } else {
        (void)printf("%u shared values, ", graph->seen.shared.count);
    }
    (void)printf("%.2f s\n\n", graph->seconds);
    if (!graph->complete) {
        (void)printf(
            "Not complete: the memory limit of %.1f MiB was reached (--memory raises it).\n\n",
            (double)graph->budget.limit / (1 << 20));
    }
    (void)printf("  %-13s %-9s %s\n", "property", "promised", "found");
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        const struct check_result *result = &report->results[p];
        if (!lab_shows(system, (enum step_property)p)) {
            continue;
        }
        (void)printf("  %-13s %-9s %-11s", step_property_name((enum step_property)p),
                     system->claims >> p & 1 ? "yes" : "-",
                     result->verdict == CHECK_VIOLATED ? "VIOLATED"
                                                       : lab_verdict_name(result->verdict));
        show_details(system, result, (enum step_property)p);
        (void)putchar('\n');
    }
}

/* The violation to write down: the one asked for, else the first of a claim, else the first. */
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
        return lab_fail(LAB_OK, "%s is not violated, so no trace is written to %s",
                        options->property == NULL ? "any property" : options->property,
                        options->trace_file);
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

/* 1 as soon as a claim is violated; without that, what is incomplete is not a success. */
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
               : lab_fail(LAB_OS, "%s: not all claims could be checked; raise --memory",
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
             "       [--property NAME] [--only exclusion] [--reduced] [--memory SIZE]\n"
             "       [--threads T] [--json]",
    .help = "Explore every interleaving of N processes with K seats and decide each property:\n"
            "holds, violated (with a shortest schedule that shows it), or not checked.\n"
            "Schedules are process numbers from 1, in the order in which they take steps.\n"
            "\n"
            "  -r R           robustness for C2: fewer than R failures (default K)\n"
            "  --trace FILE   write the first violation as a trace, for replay and draw;\n"
            "                 --property NAME chooses which\n"
            "  --threads T    threads for the analysis (default: one a processor)\n"
            "  --only exclusion   decide nothing else: faster, and less memory for each state\n"
            "  --reduced      leave out reads that make no difference: fewer states; C2, C4',\n"
            "                 C5', C6 and invariant are not decided then\n"
            "  --memory SIZE  stop with a message at this size (default: 3/4 of what is free)\n"
            "\n"
            "For pool, the core that ships, say what may happen to its guests:\n"
            "\n"
            "  --cycles C     each process comes C times (default 1)\n"
            "  --fewer M      all but the first come M times fewer; --fewer-only P: P alone\n"
            "  --crashes F    F crashes, each at any step; a new process takes the row over\n"
            "  --gives-up G   G times a waiting guest gives up\n"
            "  --grows, --shrinks N   N times the pool gets a seat more, or one fewer\n"
            "  --tag-bits B   words so short that they repeat: tags of B bits (default: as\n"
            "                 they ship); without --cycles processes come for ever\n"
            "  --cycle-bits, --ticket-bits B   the same of cycles (default: one more than\n"
            "                 tags) and tickets (default: as few as serve)\n"
            "  --pauses P     at most P operations are interrupted at a time (default: any)\n"
            "  --last Q       only the last Q processes pause and resize (default: all)\n"
            "  --simple S     leave out, as a sum: 1 the numbers of seats, 2 coming again,\n"
            "                 4 the rule on replaced values, so that their harm is found\n"
            "  --buffer D     D stores of a process may be on their way to memory: x86-TSO\n"
            "  --line L       places in the line, a power of two (default: just enough)\n"
            "  --queue Q      first of all Q processes come one by one, and sit or wait\n"
            "  --stale S      begin with the places of a round of tickets ago: served (1),\n"
            "                 skipped (2) or undecided (3)\n"
            "\n"
            "Exit 0 if everything the algorithm promises holds, 1 if something is violated.\n"
            "\n"
            "    usher-lab check colored -n 4 -k 2\n"
            "    usher-lab check bank -n 3 -k 2 --trace bank.trace\n",
    .flags = "nkrtPyRmTjCFGUVBLWQSZDIEHJK",
    .operands = 1,
    .run = run,
};
