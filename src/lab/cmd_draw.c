/* usher-lab draw: a trace as a picture. */
#include "lab/draw.h"
#include "lab/lab.h"
#include "lab/trace_file.h"

#include <errno.h>
#include <string.h>

static int run(const struct lab_options *options)
{
    struct check_trace trace;
    struct step_system system;
    if (options->output == NULL) {
        return lab_fail(LAB_USAGE, "draw: say where to: -o FILE.svg (or -o - for standard output)");
    }
    int status = lab_load_trace(options->operands[0], &trace, &system);
    if (status != LAB_OK) {
        return status;
    }
    bool to_stdout = strcmp(options->output, "-") == 0;
    FILE *file = to_stdout ? stdout : fopen(options->output, "w");
    if (file == NULL) {
        status =
            lab_fail(LAB_CANNOT_CREATE, "cannot write %s: %s", options->output, strerror(errno));
    } else {
        lab_draw_svg(file, &trace);
        if (ferror(file) || (!to_stdout && fclose(file) != 0)) {
            status = lab_fail(LAB_CANNOT_CREATE, "cannot write %s", options->output);
        }
    }
    check_trace_free(&trace);
    return status;
}

const struct lab_command lab_draw = {
    .name = "draw",
    .usage = "draw FILE -o OUT.svg",
    .help = "Draw a trace: a lane for each process, regions as colours and letters, time to\n"
            "the right, a dot where a process takes a step, the violation marked.\n"
            "\n"
            "    usher-lab draw bank.trace -o bank.svg\n",
    .flags = "o",
    .operands = 1,
    .run = run,
};
