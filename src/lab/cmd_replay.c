/* usher-lab replay: execute a trace with the present code. */
#include "check/explore/trace.h"
#include "lab/lab.h"
#include "lab/trace_file.h"

#include <errno.h>
#include <string.h>

int lab_load_trace(const char *path, struct check_trace *trace, struct step_system *system)
{
    char why[CHECK_TRACE_WHY];
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (file == NULL) {
        return lab_fail(LAB_NO_INPUT, "cannot read %s: %s", path, strerror(errno));
    }
    int error = check_trace_read(file, trace, why);
    if (file != stdin) {
        (void)fclose(file);
    }
    if (error != 0) {
        check_trace_free(trace);
        return lab_fail(LAB_BAD_DATA, "%s: %s", path, why);
    }
    struct lab_options options = {
        .n = trace->n, .k = trace->k, .robustness = trace->robustness, .limits = trace->limits};
    int status = lab_system(&options, trace->algorithm, system);
    if (status != LAB_OK) {
        check_trace_free(trace);
        return LAB_BAD_DATA;
    }
    return LAB_OK;
}

static int run(const struct lab_options *options)
{
    struct check_trace trace = {0};
    struct step_system system;
    char why[CHECK_TRACE_WHY];
    int status = lab_load_trace(options->operands[0], &trace, &system);
    if (status != LAB_OK) {
        return status;
    }
    if (check_trace_replay(&trace, &system, why) != 0) {
        status = lab_fail(LAB_VIOLATED, "%s: the code no longer behaves as the trace says: %s",
                          options->operands[0], why);
    }
    if (options->json) {
        json_t *document =
            json_pack("{s:s, s:i, s:i, s:s, s:i, s:b}", "algorithm", trace.algorithm, "n",
                      (int)trace.n, "k", (int)trace.k, "property", trace.property, "steps",
                      (int)trace.count, "same", status == LAB_OK);
        int printed = lab_print_json(document);
        status = printed != LAB_OK ? printed : status;
    } else if (status == LAB_OK) {
        (void)printf(
            "%s: all %zu step%s of %s (n=%u, k=%u, a trace of %s) still lead to the same regions\n",
            options->operands[0], trace.count, lab_plural(trace.count), trace.algorithm, trace.n,
            trace.k, trace.property);
    }
    check_trace_free(&trace);
    return status;
}

const struct lab_command lab_replay = {
    .name = "replay",
    .usage = "replay FILE [--json]",
    .help = "Execute a trace, step by step, with the present code. Exit 0 if every step\n"
            "makes the same access and leads to the same regions; else print the first\n"
            "difference and exit 1.\n"
            "\n"
            "    usher-lab check bank -n 3 -k 2 --trace bank.trace\n"
            "    usher-lab replay bank.trace\n",
    .flags = "j",
    .operands = 1,
    .run = run,
};
