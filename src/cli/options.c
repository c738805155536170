/* Parse the options of all verbs: see cli.h. */
#include "cli/cli.h"

#include "os/compat.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

bool cli_parse_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *number = value;
    return errno == 0 && *end == '\0' && value <= most;
}

bool cli_parse_time(const char *text, int64_t *ns)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    if (!isdigit((unsigned char)text[0]) && text[0] != '.') {
        return false;
    }
    double value = strtod(text, &end);
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        if (strcmp(end, units[u].unit) == 0 && value >= 0 && value * units[u].seconds < 1e9) {
            *ns = (int64_t)(value * units[u].seconds * 1e9);
            return true;
        }
    }
    return false;
}

enum { NAME_ROOM = 32 };
enum {
    LABELS = 256,
    ENV,
    FOR,
    JSON,
    GUESTS,
    MODE,
    FORCE,
    WARN_ONLY,
    EXPORT,
    SIGNAL,
    GROUP,
    DEFINE,
    ALL
};

static const struct option long_options[] = {
    {"seats", required_argument, NULL, 'k'},
    {"nonblock", no_argument, NULL, 'n'},
    {"wait", required_argument, NULL, 'w'},
    {"conflict-exit-code", required_argument, NULL, 'E'},
    {"command", required_argument, NULL, 'c'},
    {"labels", required_argument, NULL, LABELS},
    {"env", required_argument, NULL, ENV},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"for", required_argument, NULL, FOR},
    {"json", no_argument, NULL, JSON},
    {"guests", required_argument, NULL, GUESTS},
    {"mode", required_argument, NULL, MODE},
    {"force", no_argument, NULL, FORCE},
    {"warn-only", no_argument, NULL, WARN_ONLY},
    {"export", no_argument, NULL, EXPORT},
    {"signal", required_argument, NULL, SIGNAL},
    {"group", required_argument, NULL, GROUP},
    {"define", no_argument, NULL, DEFINE},
    {"all", no_argument, NULL, ALL},
    {NULL, 0, NULL, 0},
};

/* The group of an option: an enum cli_option. */
static unsigned group_of(int option)
{
    switch (option) {
    case 'k':
        return CLI_OPTION_SEATS;
    case 'n':
    case 'w':
    case 'E':
        return CLI_OPTION_WAIT;
    case 'c':
    case ENV:
    case WARN_ONLY:
        return CLI_OPTION_RUN;
    case LABELS:
        return CLI_OPTION_LABELS;
    case GROUP:
    case DEFINE:
    case ALL:
        return CLI_OPTION_DEFINE;
    case 'v':
    case 'q':
        return CLI_OPTION_VERBOSITY;
    case FOR:
        return CLI_OPTION_FOR;
    case JSON:
        return CLI_OPTION_JSON;
    case GUESTS:
    case MODE:
        return CLI_OPTION_CREATE;
    case FORCE:
        return CLI_OPTION_FORCE;
    case EXPORT:
    case SIGNAL:
        return CLI_OPTION_ACQUIRE;
    default:
        return 0;
    }
}

static int reject(const struct cli_verb *verb, const char *what, const char *given,
                  const char *wanted)
{
    return cli_fail(CLI_USAGE, "%s: %s '%s' %s; see 'usher help %s'", verb->name, what, given,
                    wanted, verb->name);
}

static int take_number(const struct cli_verb *verb, int option, struct cli_options *options)
{
    uint64_t number = 0;
    char *end;
    switch (option) {
    case 'k':
        if (!cli_parse_number(optarg, 65535, &number) || number == 0) {
            return reject(verb, "-k", optarg, "is not a number of seats from 1 to 65535");
        }
        options->seats = (uint32_t)number;
        return 0;
    case 'E':
        if (!cli_parse_number(optarg, 255, &number)) {
            return reject(verb, "-E", optarg, "is not an exit code from 0 to 255");
        }
        options->no_seat_code = (int)number;
        return 0;
    case FOR:
        if (!cli_parse_number(optarg, 1U << 22, &number) || number == 0) {
            return reject(verb, "--for", optarg, "is not a process id");
        }
        options->for_pid = (pid_t)number;
        return 0;
    case GUESTS:
        if (!cli_parse_number(optarg, 65535, &number) || number == 0) {
            return reject(verb, "--guests", optarg, "is not a number from 1 to 65535");
        }
        options->guests = (uint32_t)number;
        return 0;
    default:
        number = strtoul(optarg, &end, 8);
        if (*optarg == '\0' || *end != '\0' || number > 0777 || (number & 0600) != 0600) {
            return reject(verb, "--mode", optarg, "is not a mode such as 600 or 660");
        }
        options->mode = (mode_t)number;
        return 0;
    }
}

/* TERM, SIGTERM or 15; 0 if it is no signal. */
static int parse_signal(const char *text)
{
    uint64_t number;
    if (cli_parse_number(text, (uint64_t)SIGRTMAX, &number)) {
        return (int)number;
    }
    text += strncmp(text, "SIG", 3) == 0 ? 3 : 0;
    for (int s = 1; s < NSIG; s++) {
        const char *name = compat_signal_name(s);
        if (name != NULL && strcmp(name, text) == 0) {
            return s;
        }
    }
    return 0;
}

/* A group, by its name or number; 0 if there is none, or it is root's. */
static gid_t parse_group(const char *text)
{
    uint64_t number;
    const struct group *group = getgrnam(text);
    if (group != NULL) {
        return group->gr_gid;
    }
    return cli_parse_number(text, UINT32_MAX - 1, &number) ? (gid_t)number : 0;
}

static int take_text(const struct cli_verb *verb, int option, struct cli_options *options)
{
    switch (option) {
    case 'w':
        if (!cli_parse_time(optarg, &options->wait_ns)) {
            return reject(verb, "-w", optarg, "is not a time such as 1.5, 30s, 5m or 1h");
        }
        return 0;
    case LABELS:
        if (optarg[0] == '\0' || strstr(optarg, ",,") != NULL || optarg[0] == ',' ||
            optarg[strlen(optarg) - 1] == ',') {
            return reject(verb, "--labels", optarg, "has an empty label");
        }
        for (const char *at = optarg; *at != '\0'; at++) {
            if ((unsigned char)*at < ' ' || *at == 127) {
                return reject(verb, "--labels", optarg, "has an unprintable label");
            }
        }
        options->labels = optarg;
        return 0;
    case ENV:
        if (optarg[0] == '\0' || strchr(optarg, '=') != NULL) {
            return reject(verb, "--env", optarg, "is not the name of a variable");
        }
        options->variable = optarg;
        return 0;
    case GROUP:
        options->group_name = optarg;
        options->group = parse_group(optarg);
        return options->group != 0
                   ? 0
                   : reject(verb, "--group", optarg, "is not a group other than root's");
    case SIGNAL:
        options->signal = parse_signal(optarg);
        return options->signal != 0 ? 0 : reject(verb, "--signal", optarg, "is not a signal");
    default:
        options->line = optarg;
        return 0;
    }
}

static int take_option(const struct cli_verb *verb, int option, struct cli_options *options)
{
    switch (option) {
    case 'n':
        options->wait_ns = 0;
        return 0;
    case 'v':
        options->verbose = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case JSON:
        options->json = true;
        return 0;
    case FORCE:
        options->force = true;
        return 0;
    case WARN_ONLY:
        options->warn_only = true;
        return 0;
    case EXPORT:
        options->export_ = true;
        return 0;
    case DEFINE:
        options->define = true;
        return 0;
    case ALL:
        options->all = true;
        return 0;
    case 'w':
    case 'c':
    case LABELS:
    case ENV:
    case SIGNAL:
    case GROUP:
        return take_text(verb, option, options);
    default:
        return take_number(verb, option, options);
    }
}

/* The option that getopt returned or rejected, as the user typed it. */
static const char *option_name(int option, char **argv, char *room)
{
    const char *word = argv[optind - 1];
    bool complaint = option == '?' || option == ':';
    int code = complaint ? optopt : option;
    if (code > 0 && code < LABELS && !(complaint && strncmp(word, "--", 2) == 0)) {
        (void)snprintf(room, NAME_ROOM, "-%c", code);
        return room;
    }
    for (const struct option *known = long_options; !complaint && known->name != NULL; known++) {
        if (known->val == code) {
            (void)snprintf(room, NAME_ROOM, "--%s", known->name);
            return room;
        }
    }
    return word;
}

/* Parse options up to the first operand. */
static int parse_to_operand(const struct cli_verb *verb, unsigned allowed, int argc, char **argv,
                            struct cli_options *options)
{
    int option;
    char name[NAME_ROOM];
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:k:nw:E:c:vq", long_options, NULL)) != -1) {
        if (option == ':') {
            return cli_fail(CLI_USAGE, "%s: %s needs a value; see 'usher help %s'", verb->name,
                            option_name(option, argv, name), verb->name);
        }
        if (option == '?' || !(allowed & group_of(option))) {
            return cli_fail(CLI_USAGE, "%s: unknown option '%s'; see 'usher help %s'", verb->name,
                            option_name(option, argv, name), verb->name);
        }
        int error = take_option(verb, option, options);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

int cli_parse(const struct cli_verb *verb, unsigned allowed, bool after_pool, int argc, char **argv,
              struct cli_options *options)
{
    *options = (struct cli_options){.wait_ns = INT64_MAX, .no_seat_code = CLI_NO_SEAT};
    optind = 1;
    int error = parse_to_operand(verb, allowed, argc, argv, options);
    if (error == 0 && optind < argc) {
        options->pool = argv[optind++];
        if (after_pool && optind < argc && strcmp(argv[optind - 2], "--") != 0) {
            /* start getopt again after the pool, as if the pool were argv[0] */
            int skipped = optind - 1;
            optind = 1;
            error = parse_to_operand(verb, allowed, argc - skipped, argv + skipped, options);
            optind += skipped;
        }
    }
    options->rest = optind;
    if (error == 0 && options->labels != NULL) {
        uint32_t count = 1;
        for (const char *at = options->labels; *at != '\0'; at++) {
            count += *at == ',';
        }
        if (options->seats != 0 && options->seats != count) {
            return cli_fail(CLI_USAGE, "%s: -k %u, but --labels names %u seat%s; leave -k out",
                            verb->name, options->seats, count, cli_s(count));
        }
        options->seats = count;
    }
    return error;
}
