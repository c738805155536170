/*
 * Input of usher-lab: a trace, which is executed and drawn; or, if it starts with a zero byte, a
 * command line whose arguments each end with a zero byte.
 */
#include "check/explore/trace.h"
#include "lab/draw.h"
#include "lab/lab.h"
#include "target.h"

#include <getopt.h>
#include <string.h>

enum { MOST_ARGUMENTS = 40, MOST_TEXT = 4096 };

/* All options that a command can have. */
static const struct lab_command any = {.name = "any",
                                       .flags = "nkrjpatmsyRXPTCFGUVBLWQSZo",
                                       .operands = 1,
                                       .most_operands = LAB_MOST_OPERANDS,
                                       .lists = true};

static void parse(char *text, size_t size)
{
    static char program[] = "any";
    char *argv[MOST_ARGUMENTS + 1] = {program};
    struct lab_options options;
    struct step_system system;
    int argc = 1;
    for (char *at = text; at < text + size && argc < MOST_ARGUMENTS; at += strlen(at) + 1) {
        argv[argc++] = at;
    }
    optind = 0;
    if (lab_parse(&any, argc, argv, &options) == LAB_OK) {
        (void)lab_system(&options, options.operands[0], &system);
    }
}

static void replay(char *text, size_t size, FILE *nowhere)
{
    struct check_trace trace;
    struct step_system system;
    char why[CHECK_TRACE_WHY];
    FILE *file = fmemopen(text, size, "r");
    if (file == NULL || check_trace_read(file, &trace, why) != 0) {
        (void)(file == NULL ? 0 : fclose(file));
        check_trace_free(&trace);
        return;
    }
    (void)fclose(file);
    lab_draw_svg(nowhere, &trace);
    struct lab_options options = {
        .n = trace.n, .k = trace.k, .robustness = trace.robustness, .limits = trace.limits};
    if (lab_system(&options, trace.algorithm, &system) == LAB_OK) {
        (void)check_trace_replay(&trace, &system, why);
    }
    check_trace_free(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[MOST_TEXT + 2];
    static FILE *nowhere;
    if (nowhere == NULL) {
        nowhere = fopen("/dev/null", "w");
        stderr = nowhere; /* hides normal output; sanitizers write to the descriptor */
    }
    if (size == 0 || size > MOST_TEXT) {
        return 0;
    }
    memcpy(text, data, size);
    memset(text + size, 0, 2);
    if (text[0] == '\0') {
        parse(text + 1, size - 1);
    } else {
        replay(text, size, nowhere);
    }
    return 0;
}
