/* The command line of usher-lab: one table of options for all commands. */
#include "lab/lab.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

int lab_fail(int status, const char *format, ...)
{
    va_list arguments;
    (void)fputs("usher-lab: ", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    return status;
}

/* The letters are those of lab_command.flags; only n, k, r and o are short options. */
static const struct option long_options[] = {
    {"json", no_argument, NULL, 'j'},
    {"processes", no_argument, NULL, 'p'},
    {"all", no_argument, NULL, 'a'},
    {"trace", required_argument, NULL, 't'},
    {"memory", required_argument, NULL, 'm'},
    {"seconds", required_argument, NULL, 's'},
    {"only", required_argument, NULL, 'y'},
    {"reduced", no_argument, NULL, 'R'},
    {"sweep", no_argument, NULL, 'Y'},
    {"schedules", no_argument, NULL, 'X'},
    {"property", required_argument, NULL, 'P'},
    {"threads", required_argument, NULL, 'T'},
    {"output", required_argument, NULL, 'o'},
    {"cycles", required_argument, NULL, 'C'},
    {"crashes", required_argument, NULL, 'F'},
    {"gives-up", required_argument, NULL, 'G'},
    {"grows", required_argument, NULL, 'U'},
    {"shrinks", required_argument, NULL, 'V'},
    {"tag-bits", required_argument, NULL, 'B'},
    {"line", required_argument, NULL, 'L'},
    {"fewer", required_argument, NULL, 'W'},
    {"queue", required_argument, NULL, 'Q'},
    {"stale", required_argument, NULL, 'S'},
    {"cycle-bits", required_argument, NULL, 'D'},
    {"ticket-bits", required_argument, NULL, 'I'},
    {"pauses", required_argument, NULL, 'Z'},
    {"buffer", required_argument, NULL, 'E'},
    {"simple", required_argument, NULL, 'H'},
    {"last", required_argument, NULL, 'J'},
    {"fewer-only", required_argument, NULL, 'K'},
    {NULL, 0, NULL, 0},
};

static int parse_count(const char *name, const char *text, unsigned *value)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < 1 ||
        number > 1000000000) {
        return lab_fail(LAB_USAGE, "%s must be a whole number of at least 1, not '%s'", name, text);
    }
    *value = (unsigned)number;
    return LAB_OK;
}

/* As parse_count, but 0 is allowed. */
static int parse_limit(const char *name, const char *text, unsigned *value)
{
    if (strcmp(text, "0") == 0) {
        *value = 0;
        return LAB_OK;
    }
    return parse_count(name, text, value);
}

/* Numbers separated by commas if the command takes lists; else one number. */
static int parse_sizes(const char *name, char *text, bool lists, unsigned *values, unsigned *count)
{
    *count = 0;
    for (char *next = text; next != NULL && *count < LAB_MOST_SIZES; text = next) {
        next = lists ? strchr(text, ',') : NULL;
        if (next != NULL) {
            *next++ = '\0';
        }
        int status = parse_count(name, text, &values[(*count)++]);
        if (status != LAB_OK) {
            return status;
        }
        if (next != NULL && *count == LAB_MOST_SIZES) {
            return lab_fail(LAB_USAGE, "-%s takes at most %d numbers", name, LAB_MOST_SIZES);
        }
    }
    return LAB_OK;
}

/* A size in bytes: a number, optionally followed by K, M, G or T. */
static int parse_memory(const char *text, size_t *bytes)
{
    char *end;
    double number = strtod(text, &end);
    const char *units = "KMGT";
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (end == text || !(number > 0) || (*end != '\0' && (unit == NULL || end[1] != '\0'))) {
        return lab_fail(LAB_USAGE, "--memory must be a size such as 512M or 8G, not '%s'", text);
    }
    for (const char *u = units; unit != NULL && u <= unit; u++) {
        number *= 1024;
    }
    *bytes = number >= 1e18 ? (size_t)1 << 60 : (size_t)number;
    return LAB_OK;
}

static int parse_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(*seconds > 0) || *seconds > 1e7) {
        return lab_fail(LAB_USAGE, "--seconds must be a number above 0, not '%s'", text);
    }
    return LAB_OK;
}

static int parse_property(const char *text, const char **property)
{
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        if (strcmp(step_property_name((enum step_property)p), text) == 0) {
            *property = text;
            return LAB_OK;
        }
    }
    (void)fprintf(stderr, "usher-lab: no property '%s'; there are:", text);
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        (void)fprintf(stderr, " %s", step_property_name((enum step_property)p));
    }
    (void)fputc('\n', stderr);
    return LAB_USAGE;
}

/* The limits of pool: see struct step_limits. */
static int parse_guests(int letter, const char *argument, struct step_limits *limits)
{
    switch (letter) {
    case 'C':
        return parse_count("--cycles", argument, &limits->cycles);
    case 'W':
        return parse_limit("--fewer", argument, &limits->fewer);
    case 'F':
        return parse_limit("--crashes", argument, &limits->crashes);
    case 'G':
        return parse_limit("--gives-up", argument, &limits->gives_up);
    case 'U':
        return parse_limit("--grows", argument, &limits->grows);
    case 'V':
        return parse_limit("--shrinks", argument, &limits->shrinks);
    case 'B':
        return parse_count("--tag-bits", argument, &limits->tag_bits);
    case 'Q':
        return parse_limit("--queue", argument, &limits->queue);
    case 'S':
        return parse_limit("--stale", argument, &limits->stale);
    case 'Z':
        return parse_limit("--pauses", argument, &limits->pauses);
    case 'D':
        return parse_count("--cycle-bits", argument, &limits->cycle_bits);
    case 'I':
        return parse_count("--ticket-bits", argument, &limits->ticket_bits);
    case 'E':
        return parse_limit("--buffer", argument, &limits->buffer);
    case 'H':
        return parse_limit("--simple", argument, &limits->simple);
    case 'J':
        return parse_limit("--last", argument, &limits->last);
    case 'K':
        return parse_limit("--fewer-only", argument, &limits->fewer_only);
    default:
        return parse_count("--line", argument, &limits->line);
    }
}

static int parse_one(int letter, char *argument, bool lists, struct lab_options *options)
{
    switch (letter) {
    case 'n':
        return parse_sizes("n", argument, lists, options->ns, &options->n_count);
    case 'k':
        return parse_sizes("k", argument, lists, options->ks, &options->k_count);
    case 'r':
        return parse_count("r", argument, &options->robustness);
    case 'C':
    case 'W':
    case 'F':
    case 'G':
    case 'U':
    case 'V':
    case 'B':
    case 'L':
    case 'Q':
    case 'S':
    case 'D':
    case 'I':
    case 'H':
    case 'J':
    case 'K':
    case 'E':
    case 'Z':
        return parse_guests(letter, argument, &options->limits);
    case 'T':
        return parse_count("--threads", argument, &options->threads);
    case 'm':
        return parse_memory(argument, &options->memory);
    case 's':
        return parse_seconds(argument, &options->seconds);
    case 'P':
        return parse_property(argument, &options->property);
    case 'y':
        options->only_exclusion = true;
        return strcmp(argument, "exclusion") == 0
                   ? LAB_OK
                   : lab_fail(LAB_USAGE, "--only takes one property: exclusion");
    case 'X':
        options->schedules = true;
        return LAB_OK;
    case 'R':
        options->reduced = true;
        return LAB_OK;
    case 'Y':
        options->sweep = true;
        return LAB_OK;
    case 'j':
        options->json = true;
        return LAB_OK;
    case 'p':
        options->processes = true;
        return LAB_OK;
    case 'a':
        options->all = true;
        return LAB_OK;
    case 't':
        options->trace_file = argument;
        return LAB_OK;
    default:
        options->output = argument;
        return LAB_OK;
    }
}

static int complain(const struct lab_command *command, const char *what, const char *which)
{
    return lab_fail(LAB_USAGE, "%s: %s%s; see 'usher-lab help %s'", command->name, what, which,
                    command->name);
}

static int take_operands(const struct lab_command *command, char **operands, unsigned count,
                         struct lab_options *options)
{
    unsigned most =
        command->most_operands > command->operands ? command->most_operands : command->operands;
    if (count < command->operands || count > most) {
        return complain(command,
                        count < command->operands ? "an argument is missing" : "too many arguments",
                        "");
    }
    for (unsigned i = 0; i < count; i++) {
        options->operands[i] = operands[i];
    }
    options->operand_count = count;
    return LAB_OK;
}

int lab_parse(const struct lab_command *command, int argc, char **argv, struct lab_options *options)
{
    memset(options, 0, sizeof *options);
    opterr = 0;
    for (;;) {
        int letter = getopt_long(argc, argv, ":n:k:r:o:", long_options, NULL);
        if (letter == -1) {
            break;
        }
        if (letter == ':') {
            return complain(command, "a value is missing after ", argv[optind - 1]);
        }
        if (letter == '?' || strchr(command->flags, letter) == NULL) {
            return complain(command, "unknown option: ", argv[optind - 1]);
        }
        int status = parse_one(letter, optarg, command->lists, options);
        if (status != LAB_OK) {
            return status;
        }
    }
    int status = take_operands(command, argv + optind, (unsigned)(argc - optind), options);
    if (status != LAB_OK) {
        return status;
    }
    options->n = options->ns[0];
    options->k = options->ks[0];
    if (strchr(command->flags, 'n') != NULL && (options->n == 0 || options->k == 0)) {
        return complain(command, "-n and -k are needed", "");
    }
    return LAB_OK;
}

const struct step_machine *lab_find(const char *name)
{
    static const struct step_machine *const *const lists[] = {model_pool_mutants, model_gates,
                                                              model_gate_mutants};
    for (unsigned list = 0; list < sizeof lists / sizeof lists[0]; list++) {
        for (const struct step_machine *const *m = lists[list]; *m != NULL; m++) {
            if (strcmp((*m)->name, name) == 0) {
                return *m;
            }
        }
    }
    return strcmp(name, model_pool.name) == 0 ? &model_pool : papers_find(name);
}

int lab_system(const struct lab_options *options, const char *name, struct step_system *system)
{
    char why[STEP_WHY_BYTES];
    const struct step_machine *machine = lab_find(name);
    if (machine == NULL) {
        return lab_fail(LAB_USAGE, "no algorithm '%s'; 'usher-lab list' shows them", name);
    }
    if (step_system_init_with(system, machine, options->n, options->k, options->robustness,
                              &options->limits, why) != 0) {
        return lab_fail(LAB_USAGE, "%s: %s", name, why);
    }
    return LAB_OK;
}
