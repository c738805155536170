/*
 * A trace: a violation as a small text file that can be read, drawn and replayed.
 *
 *     usher-trace 1
 *     algorithm colored-printed
 *     n 2
 *     k 1
 *     property exclusion
 *     1<TAB>update ISSUE=(0,0) VALID=(1,0) QUANT=0,0 -> ISSUE=(1,0) VALID=(1,0) QUANT=0,0<TAB>CR
 *     2<TAB>...<TAB>CC
 *     end
 *
 * One line a step: the process (from 1, or S for a supervisor), its access, and the regions of all
 * processes but the supervisor after the step. An event has its name in place of an access.
 * Optional lines before the property: "r R", and the limits of machines with events ("crashes F").
 * Optional lines among the steps: "stopped 1 3": from there on these processes take no more steps;
 * "loop": the steps from there to "end" repeat for ever.
 */
#ifndef USHER_CHECK_TRACE_H
#define USHER_CHECK_TRACE_H

#include "check/decide/property.h"

enum {
    CHECK_TRACE_LINE = 1024,
    CHECK_TRACE_NAME = 64,
    CHECK_TRACE_WHY = 256,
    CHECK_TRACE_LIMITS = 17 /* limits that have a line */
};

/* The names of limits in a trace, and the limit of each name. */
extern const char *const check_trace_limit_names[CHECK_TRACE_LIMITS];
unsigned *check_trace_limit(struct step_limits *limits, unsigned which);

/* A step of the file. */
struct check_trace_step {
    unsigned process; /* from 0; n is the supervisor */
    char access[CHECK_TRACE_LINE];
    char regions[STEP_MAX_PROCESSES + 1];
};

struct check_trace {
    char algorithm[CHECK_TRACE_NAME];
    char property[CHECK_TRACE_NAME]; /* "schedule" if it shows no violation */
    unsigned n, k, robustness;
    bool supervised; /* some step is the supervisor's */
    struct step_limits limits;
    uint64_t stopped; /* mask */
    size_t loop_at;   /* index of the first step of the loop; `count` if there is none */
    struct check_trace_step *steps;
    size_t count, capacity;
};

/* Execute the schedules of `result` and write them as a trace of `property`. 0 or -errno. */
int check_trace_write(FILE *file, const struct step_system *system, const char *property,
                      const struct check_result *result);

/* Read a trace. 0, or -EINVAL with the line and what is wrong with it in `why`. */
int check_trace_read(FILE *file, struct check_trace *trace, char why[CHECK_TRACE_WHY]);
void check_trace_free(struct check_trace *trace);

/*
 * Execute a trace with the present code. Every step must make the same access and lead to the same
 * regions; a loop must end in the state in which it begins; a trace of "exclusion" or "C1" must end
 * with more than k processes in C. Other properties are not decided. 0, or -EINVAL with the first
 * difference in `why`.
 */
int check_trace_replay(const struct check_trace *trace, const struct step_system *system,
                       char why[CHECK_TRACE_WHY]);

#endif
