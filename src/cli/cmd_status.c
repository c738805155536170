/* usher status: the holders and the waiters of pools, as a table or as JSON. */
#include "cli/cli.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_ROOM = 256, PID_WIDTH = 8, MOST_PID_WIDTH = 26 };

struct state {
    const char *name;
    struct usher_pool *pool;
    struct usher_info info;
    struct usher_guest *guests;
    int count;
};

/* How long it has held or waited. */
static double seconds_since(const struct usher_guest *guest)
{
    int64_t now = cli_now_ns();
    return guest->since_ns == 0 || guest->since_ns > now ? 0
                                                         : (double)(now - guest->since_ns) / 1e9;
}

/* In a remote pool: PID@MACHINE. */
static void add_where(json_t *object, const struct usher_guest *guest)
{
    if (guest->where[0] != '\0') {
        (void)json_object_set_new(object, "where", json_string(guest->where));
    }
}

static json_t *holder_json(const struct usher_guest *guest)
{
    char command[COMMAND_ROOM];
    char label[256];
    const char *named = cli_holder_label(guest, label, sizeof label);
    json_t *object = json_object();
    (void)json_object_set_new(object, "seat",
                              guest->seat == UINT32_MAX ? json_null() : json_integer(guest->seat));
    (void)json_object_set_new(object, "label", named[0] == '\0' ? json_null() : json_string(named));
    (void)json_object_set_new(object, "pid", json_integer(guest->pid));
    (void)json_object_set_new(object, "ticket", json_integer((json_int_t)guest->ticket));
    (void)json_object_set_new(object, "command",
                              json_string(cli_command(guest, command, sizeof command)));
    (void)json_object_set_new(object, "seconds", json_real(seconds_since(guest)));
    (void)json_object_set_new(object, "alive",
                              guest->alive < 0 ? json_null() : json_boolean(guest->alive));
    add_where(object, guest);
    if (guest->fence != 0) {
        (void)json_object_set_new(object, "fence", json_integer((json_int_t)guest->fence));
    }
    return object;
}

static json_t *waiter_json(const struct usher_guest *guest)
{
    char command[COMMAND_ROOM];
    json_t *object = json_object();
    (void)json_object_set_new(object, "position", json_integer(guest->position));
    (void)json_object_set_new(object, "pid", json_integer(guest->pid));
    (void)json_object_set_new(object, "ticket", json_integer((json_int_t)guest->ticket));
    (void)json_object_set_new(object, "command",
                              json_string(cli_command(guest, command, sizeof command)));
    (void)json_object_set_new(object, "seconds", json_real(seconds_since(guest)));
    add_where(object, guest);
    return object;
}

/* A name can hold any bytes; JSON must be UTF-8. */
static json_t *name_json(const char *name)
{
    char text[PATH_MAX];
    json_t *string = json_string(name);
    if (string == NULL) {
        (void)snprintf(text, sizeof text, "%s", name);
        string = json_string(cli_sanitize(text));
    }
    return string;
}

static void print_json(const struct state *state)
{
    json_t *document = json_object();
    json_t *holders = json_array();
    json_t *waiters = json_array();
    for (int g = 0; g < state->count; g++) {
        const struct usher_guest *guest = &state->guests[g];
        if (guest->position == 0) {
            (void)json_array_append_new(holders, holder_json(guest));
        } else {
            (void)json_array_append_new(waiters, waiter_json(guest));
        }
    }
    (void)json_object_set_new(document, "pool", name_json(state->name));
    (void)json_object_set_new(document, "path", name_json(usher_path(state->pool)));
    if (cli_is_deleted(state->pool)) {
        (void)json_object_set_new(document, "deleted", json_true());
    }
    (void)json_object_set_new(document, "seats", json_integer(state->info.seats));
    (void)json_object_set_new(document, "free", json_integer(state->info.free));
    (void)json_object_set_new(document, "holders", holders);
    (void)json_object_set_new(document, "waiters", waiters);
    (void)json_object_set_new(document, "served", json_integer((json_int_t)state->info.served));
    (void)json_object_set_new(document, "gave_up", json_integer((json_int_t)state->info.gave_up));
    (void)json_object_set_new(document, "reaped", json_integer((json_int_t)state->info.reaped));
    (void)json_dumpf(document, stdout, JSON_COMPACT);
    (void)fputc('\n', stdout);
    json_decref(document);
}

/* The command of a guest, as much as fits into `width`. */
static const char *short_command(const struct usher_guest *guest, char *text, size_t width)
{
    (void)cli_command(guest, text, COMMAND_ROOM);
    if (strlen(text) > width) {
        size_t kept = strlen(cli_truncate(text, width - 3));
        (void)snprintf(text + kept, COMMAND_ROOM - kept, "...");
    }
    return text;
}

/* On one line, if that fits 80 columns. */
static void print_counts(const struct state *state)
{
    char name[PATH_MAX];
    char shrinking[32] = "";
    char now[128];
    char since[128];
    (void)snprintf(name, sizeof name, "%s", state->name);
    if (state->info.owed > 0) {
        (void)snprintf(shrinking, sizeof shrinking, ", shrinking by %u", state->info.owed);
    }
    (void)snprintf(now, sizeof now, ": %u seat%s, %u free, %u waiting%s;", state->info.seats,
                   cli_s(state->info.seats), state->info.free, state->info.waiters, shrinking);
    (void)snprintf(since, sizeof since, " %llu served, %llu gave up, %llu reaped",
                   (unsigned long long)state->info.served, (unsigned long long)state->info.gave_up,
                   (unsigned long long)state->info.reaped);
    bool fits = strlen(name) + strlen(now) + strlen(since) <= 80;
    (void)printf("%s%s%s%s\n", cli_sanitize(name), now, fits ? "" : "\n ", since);
}

static const char machine_heading[] = "pid@machine";

/* The width of the column of processes. */
static int pid_width(const struct state *state)
{
    bool remote = state->count > 0 && state->guests[0].where[0] != '\0';
    int widest = remote ? (int)strlen(machine_heading) : PID_WIDTH;
    for (int g = 0; g < state->count; g++) {
        char who[96];
        int width = (int)strlen(cli_pid_text(&state->guests[g], who, sizeof who));
        widest = width > widest ? width : widest;
    }
    return widest < MOST_PID_WIDTH ? widest : MOST_PID_WIDTH;
}

static void print_guest(const struct usher_guest *guest, int width)
{
    char command[COMMAND_ROOM];
    char label[256];
    char time[32];
    char who[96];
    char place[16];
    const char *named = guest->position == 0 ? cli_holder_label(guest, label, sizeof label) : "";
    (void)snprintf(place, sizeof place, guest->position == 0 ? "%u" : "+%u",
                   guest->position == 0 ? guest->seat : guest->position);
    (void)printf("  %-5s %-8s %*s %14s  %s%s\n",
                 guest->position == 0 && guest->seat == UINT32_MAX ? "?" : place,
                 named[0] == '\0' ? "" : cli_truncate(label, 8), width,
                 cli_truncate(cli_pid_text(guest, who, sizeof who), (size_t)width),
                 guest->since_ns == 0
                     ? "-"
                     : cli_duration(cli_now_ns() - guest->since_ns, time, sizeof time),
                 guest->alive == 0 ? "(dead) " : "",
                 short_command(guest, command,
                               (guest->alive == 0 ? 31U : 38U) - (size_t)(width - PID_WIDTH)));
}

static void print_table(const struct state *state)
{
    int width = pid_width(state);
    print_counts(state);
    if (cli_is_deleted(state->pool)) {
        (void)printf("  its file was deleted; it lasts until the last process that uses it ends\n");
    }
    if (state->count > 0) {
        (void)printf("  %-5s %-8s %*s %14s  %s\n", "seat", "label", width,
                     state->guests[0].where[0] == '\0' ? "pid" : machine_heading, "time",
                     "command");
    }
    for (int g = 0; g < state->count; g++) {
        print_guest(&state->guests[g], width);
    }
}

static int show_pool(const char *name, const struct cli_options *options)
{
    struct state state = {.name = name};
    struct usher_options existing = {.flags = USHER_EXISTING | USHER_INSPECT};
    int error = usher_open(&state.pool, name, &existing);
    if (error != 0) {
        return cli_fail_pool(name, error, false);
    }
    int room = 0;
    do { /* guests may arrive between two calls */
        room = state.count + 64;
        state.guests = realloc(state.guests, (size_t)room * sizeof *state.guests);
        if (state.guests == NULL) {
            usher_close(state.pool);
            return cli_fail(CLI_OS, "out of memory");
        }
        state.count = cli_inspect(state.pool, &state.info, state.guests, (size_t)room);
    } while (state.count > room);
    if (state.count < 0) {
        error = cli_fail_pool(name, state.count, false);
    } else if (options->json) {
        print_json(&state);
    } else {
        print_table(&state);
    }
    free(state.guests);
    usher_close(state.pool);
    return error;
}

/* Where the names are looked for. */
static void print_directories(void)
{
    char path[PATH_MAX];
    (void)printf("no pools in");
    for (unsigned d = 0; usher_directory_at(d, path, sizeof path) == 0; d++) {
        (void)printf("%s %s", d == 0 ? "" : ",", cli_sanitize(path));
    }
    (void)printf("\n");
}

static int show_all_pools(const struct cli_options *options)
{
    char path[PATH_MAX] = "";
    struct cli_names names;
    int listed = cli_list_pools(&names, true);
    int error = 0;
    if (listed != 0) {
        (void)usher_directory(path, sizeof path);
        error = cli_fail(CLI_OS, "%s: %s", path, strerror(-listed));
    }
    for (size_t n = 0; n < names.count; n++) {
        int failed = show_pool(names.names[n], options);
        error = error == 0 ? failed : error;
    }
    if (names.count == 0 && listed == 0 && !options->json) {
        print_directories();
    }
    cli_free_names(&names);
    return error;
}

/* Parse options that follow the second or a later pool, and remove them from argv. */
static int parse_later_options(int *argc, char **argv, struct cli_options *options)
{
    int kept = options->rest;
    bool only_names = options->pool != NULL && strcmp(argv[options->rest - 2], "--") == 0;
    for (int a = options->rest; a < *argc; a++) {
        if (only_names || argv[a][0] != '-') {
            argv[kept++] = argv[a];
        } else if (strcmp(argv[a], "--json") == 0) {
            options->json = true;
        } else if (strcmp(argv[a], "--") == 0) {
            only_names = true;
        } else {
            return cli_fail(CLI_USAGE, "status: unknown option '%s'; see 'usher help status'",
                            argv[a]);
        }
    }
    *argc = kept;
    return 0;
}

static int verb_status(int argc, char **argv)
{
    struct cli_options options;
    int error = cli_parse(&cli_status, CLI_OPTION_JSON, true, argc, argv, &options);
    if (error == 0) {
        error = parse_later_options(&argc, argv, &options);
    }
    if (error != 0) {
        return error;
    }
    error = options.pool == NULL ? show_all_pools(&options) : show_pool(options.pool, &options);
    cli_name_old_pools(options.pool);
    for (int a = options.rest; options.pool != NULL && a < argc; a++) {
        int failed = show_pool(argv[a], &options);
        cli_name_old_pools(argv[a]);
        error = error == 0 ? failed : error;
    }
    return error;
}

const struct cli_verb cli_status = {
    "status",
    "status [POOL..] [--json]",
    "show the holders and waiters of pools",
    "Shows the holders by seat number, then the waiters by place in line (+1 is next),\n"
    "each with its process, its command and how long it has held or waited. Without a\n"
    "pool: all pools of this user, in $USHER_DIR if it is set, otherwise in\n"
    "/run/usher/UID, /dev/shm/usher-UID and /run/usher/shared; also pools whose file was\n"
    "deleted while in use, and, with what to do, pools of older versions. Root can give\n"
    "the path of any pool.\n\n"
    "  --json             print one JSON document per pool, each on one line\n",
    verb_status,
};
