/* usher-lab draw: draw a trace as SVG. */
#include "lab/draw.h"
#include "lab/lab.h"
#include "lab/picture.h"
#include "lab/trace_file.h"

static int run(const struct lab_options *options)
{
    struct check_trace trace;
    struct step_system system;
    if (options->output == NULL) {
        return lab_fail(LAB_USAGE, "draw: -o FILE.svg is missing (-o - for standard output)");
    }
    int status = lab_load_trace(options->operands[0], &trace, &system);
    if (status != LAB_OK) {
        return status;
    }
    FILE *file;
    status = lab_svg_open(options->output, &file);
    if (status == LAB_OK) {
        lab_draw_svg(file, &trace);
        status = lab_svg_close(options->output, file);
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
