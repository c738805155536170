/*
 * What the commands of usher-lab(1) share. Each command is one file, cmd_<name>.c.
 */
#ifndef USHER_LAB_H
#define USHER_LAB_H

#include "check/decide/property.h"
#include "model/gate_machine.h"
#include "model/pool_machine.h"
#include "papers/papers.h"

#include <jansson.h>
#include <stdio.h>

/* Exit statuses, as the man page lists them. */
enum lab_exit {
    LAB_OK = 0,        /* everything asked for holds */
    LAB_VIOLATED = 1,  /* a promise violated, systems differ, a trace does not fit, k exceeded */
    LAB_USAGE = 64,    /* the command line is wrong */
    LAB_BAD_DATA = 65, /* a file is not a trace */
    LAB_NO_INPUT = 66, /* a file cannot be read */
    LAB_BUG = 70,      /* a machine breaks the contract of step.h */
    LAB_OS = 71,       /* out of memory or threads */
    LAB_CANNOT_CREATE = 73
};

enum { LAB_MOST_OPERANDS = 24, LAB_MOST_SIZES = 8 };

/* The parsed command line. */
struct lab_options {
    const char *operands[LAB_MOST_OPERANDS]; /* algorithm names or a file */
    unsigned operand_count;
    unsigned n, k, robustness;                       /* 0: not given */
    unsigned ns[LAB_MOST_SIZES], ks[LAB_MOST_SIZES]; /* n and k, then the rest of the lists */
    unsigned n_count, k_count;
    double seconds;
    bool json, processes, all, only_exclusion, reduced, schedules, sweep;
    unsigned threads;
    size_t memory;
    const char *trace_file;
    const char *output;
    const char *property;
    struct step_limits limits;
};

struct lab_command {
    const char *name;
    const char *usage;      /* printed after "usage: usher-lab " */
    const char *help;       /* what it does and prints, with an example */
    const char *flags;      /* the options it takes, a letter each: see options.c */
    unsigned operands;      /* how many it needs */
    unsigned most_operands; /* how many it takes, if that is more */
    bool lists;             /* -n and -k may be lists: 2,4,8 */
    int (*run)(const struct lab_options *options);
};

extern const struct lab_command lab_list, lab_check, lab_table, lab_space, lab_equal, lab_run,
    lab_replay, lab_draw, lab_compare;

/* Parse the command line into `options`. LAB_OK, or complain: LAB_USAGE. */
int lab_parse(const struct lab_command *command, int argc, char **argv,
              struct lab_options *options);

/* Print "usher-lab: ..." to stderr and return `status`. */
__attribute__((format(printf, 2, 3))) int lab_fail(int status, const char *format, ...);

/* Find a machine by name among the papers', pool and gate, mutants included; NULL if none. */
const struct step_machine *lab_find(const char *name);

/* The length of the longest name in a NULL-terminated list. */
int lab_name_width(const struct step_machine *const *machines);

/* Set up the named machine at the size of the options. LAB_OK, or complain: LAB_USAGE. */
int lab_system(const struct lab_options *options, const char *name, struct step_system *system);

/* Explore, with progress on a terminal. LAB_OK, or complain: LAB_OS, LAB_USAGE, LAB_BUG. */
int lab_explore(const struct lab_options *options, const struct step_system *system,
                struct check_graph *graph);

/* Decide all properties, with a progress line on a terminal. 0 or -ENOMEM. */
int lab_decide(struct check_graph *graph, struct check_report *report);

/* Write a schedule: "1 2 1", process numbers from 1, S for a supervisor, "2:crash" for an event.
   Returns `out`. */
char *lab_schedule_text(const struct step_system *system, const struct check_schedule *schedule,
                        char *out, size_t size);
/* The same as an array: [1,2,1], with "S" and "2:crash" as strings. */
json_t *lab_schedule_json(const struct step_system *system, const struct check_schedule *schedule);

/* Does this property apply to this machine? */
bool lab_shows(const struct step_system *system, enum step_property property);

/* The processes of a mask, as an array of numbers from 1. */
json_t *lab_processes_json(unsigned mask);

const char *lab_verdict_name(enum check_verdict verdict);

/* One property of a report as the documented object: verdict, trace, loop, .. */
json_t *lab_result_json(const struct step_system *system, const struct check_result *result,
                        enum step_property property);

/* Print a document and free it. LAB_OK, or complain: LAB_OS. */
int lab_print_json(json_t *document);

/* "s" for a count other than 1. */
const char *lab_plural(uint64_t count);

#endif
