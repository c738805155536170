/* usher resize, remove, doctor: verbs that manage a pool that exists. */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static int verb_resize(int argc, char **argv)
{
    struct cli_options options;
    struct cli_wait wait;
    uint64_t seats;
    int error = cli_parse(&cli_resize, 0, true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest + 1 != argc ||
        !cli_parse_number(argv[options.rest], 65535, &seats)) {
        return cli_fail(CLI_USAGE, "resize: give a pool and a number of seats from 0 to 65535; see "
                                   "'usher help resize'");
    }
    error = cli_open(&wait, &options, USHER_EXISTING);
    if (error != 0) {
        return error;
    }
    int failed = usher_resize(wait.pool, (uint32_t)seats);
    if (failed == -ERANGE) {
        struct usher_info info = {0};
        (void)usher_inspect(wait.pool, &info, NULL, 0);
        error = cli_fail(CLI_USAGE, "pool %s: cannot have %llu seats, at most %u; %s", options.pool,
                         (unsigned long long)seats, info.most_seats,
                         cli_is_remote(options.pool)
                             ? "this is the limit of pools on ZooKeeper"
                             : "remove the pool and create it with more --guests");
    } else if (failed != 0) {
        error = cli_fail_pool(options.pool, failed, false);
    }
    usher_close(wait.pool);
    return error;
}

/* The pool is in use: say by how many. */
static int fail_in_use(const char *name)
{
    struct usher_pool *pool;
    struct usher_info info = {0};
    struct usher_options existing = {.flags = USHER_EXISTING};
    if (usher_open(&pool, name, &existing) == 0) {
        (void)usher_inspect(pool, &info, NULL, 0);
        usher_close(pool);
    }
    return cli_fail(CLI_UNUSABLE,
                    "pool %s: in use by %u holder%s and %u waiter%s ('usher status' lists them); "
                    "wait, or use --force",
                    name, info.holders, cli_s(info.holders), info.waiters, cli_s(info.waiters));
}

static int verb_remove(int argc, char **argv)
{
    struct cli_options options;
    int error = cli_parse(&cli_remove, CLI_OPTION_FORCE, true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest < argc) {
        return cli_fail(CLI_USAGE, "remove: give one pool; see 'usher help remove'");
    }
    int failed = options.force ? usher_discard(options.pool) : usher_remove(options.pool);
    if (failed == -EBUSY) {
        return fail_in_use(options.pool);
    }
    return failed == 0 ? 0 : cli_fail_pool(options.pool, failed, false);
}

static void print_fault(void *context, const char *sentence)
{
    (void)context;
    (void)printf("  %s\n", sentence);
}

/* Count the faults of a pool. In a pool that is in use, a check can fail for a moment; a fault
   counts only if all five checks within about a second fail. */
static int lasting_faults(struct usher_pool *pool)
{
    int faults = 0;
    for (int check = 0; check < 5; check++) {
        struct timespec pause = {0, 250000000};
        faults = usher_verify(pool, NULL, NULL);
        if (faults <= 0) {
            return faults;
        }
        (void)nanosleep(&pause, NULL);
    }
    return faults;
}

static void print_reaped(struct usher_pool *pool, int reaped, bool remote)
{
    if (remote) {
        int64_t before = cli_now_ns();
        (void)usher_inspect(pool, NULL, NULL, 0);
        (void)printf("  The servers answered in %.1f ms.\n", (double)(cli_now_ns() - before) / 1e6);
    }
    if (reaped > 0 && remote) {
        (void)printf("  Granted free seats to %d waiter%s.\n", reaped, cli_s((unsigned)reaped));
    } else if (reaped > 0) {
        (void)printf("  Cleaned up after %d dead guest%s: holders, waiters or calls in progress.\n",
                     reaped, cli_s((unsigned)reaped));
    } else {
        (void)printf("  No dead processes to clean up.\n");
    }
}

static void print_faults(struct usher_pool *pool, const char *name, int faults)
{
    if (faults == 0) {
        (void)printf("  The consistency check passed.\n");
        return;
    }
    (void)printf("  The consistency check found %d fault%s:\n", faults, cli_s((unsigned)faults));
    (void)usher_verify(pool, print_fault, NULL);
    (void)printf("  Stop the processes that use the pool, then run 'usher remove --force %s'.\n"
                 "  The next use creates a new pool.\n",
                 name);
}

/* A process that we can see in that pid namespace; 0: none. */
static pid_t seen_in_namespace(uint32_t pid_namespace)
{
    DIR *directory = opendir("/proc");
    char path[64];
    struct stat status;
    pid_t seen = 0;
    for (const struct dirent *entry;
         seen == 0 && directory != NULL && (entry = readdir(directory)) != NULL;) {
        long pid = strtol(entry->d_name, NULL, 10);
        (void)snprintf(path, sizeof path, "/proc/%ld/ns/pid", pid);
        if (pid > 0 && stat(path, &status) == 0 && status.st_ino == pid_namespace) {
            seen = (pid_t)pid;
        }
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return seen;
}

static void print_doubtful(const struct usher_guest *holder, const char *name)
{
    (void)printf("  Seat %u: its holder is process %ld", holder->seat, (long)holder->pid_there);
    if (holder->pid != 0) {
        (void)printf(". Its death cannot be proved from here.\n"
                     "    Run 'usher doctor %s' as root or as the user of that process.\n",
                     name);
        return;
    }
    (void)printf(" of pid namespace %u. Its death cannot be proved from here.\n",
                 holder->pid_namespace);
    pid_t seen = seen_in_namespace(holder->pid_namespace);
    if (seen != 0) {
        (void)printf("    Run 'usher doctor %s' in that namespace, for example by\n"
                     "    'nsenter -t %ld -p -m usher doctor %s'.\n",
                     name, (long)seen, name);
        return;
    }
    (void)printf("    Run 'usher doctor %s' in that namespace. No process seen here is in it. If\n"
                 "    it is gone, nothing frees the seat: run 'usher resize %s 0', wait until the\n"
                 "    other holders have ended, then run 'usher remove --force %s'.\n",
                 name, name, name);
}

/* Name the holders of which no process here can know whether they live. */
static void print_doubtful_holders(struct usher_pool *pool, const char *name)
{
    struct usher_info info = {0};
    (void)usher_inspect(pool, &info, NULL, 0);
    struct usher_guest *guests = calloc(info.holders + 1, sizeof *guests);
    int count = guests == NULL ? 0 : usher_inspect(pool, NULL, guests, info.holders);
    for (int g = 0; g < count && g < (int)info.holders; g++) {
        if (guests[g].position == 0 && guests[g].alive < 0 && guests[g].pid_there != 0) {
            print_doubtful(&guests[g], name);
        }
    }
    free(guests);
}

static void print_counts(struct usher_pool *pool, const char *name)
{
    struct usher_info info = {0}; /* stays 0 if the pool was removed meanwhile */
    (void)usher_inspect(pool, &info, NULL, 0);
    (void)printf("  %u seat%s, %u free, %u waiting", info.seats, cli_s(info.seats), info.free,
                 info.waiters);
    if (!cli_is_remote(name)) {
        (void)printf("; %u of %u guest rows in use", info.guests_used, info.guests);
    }
    (void)printf(".\n");
    if (info.seats == 0) {
        (void)printf("  The pool is drained: no waiter gets a seat until 'usher resize %s N'.\n",
                     name);
    }
    if (info.owed > 0) {
        (void)printf("  The pool is shrinking: %u seat%s will go when released.\n", info.owed,
                     cli_s(info.owed));
    }
}

/* What a pool is beside its content: a definition, a file that was deleted. */
static void print_place(struct usher_pool *pool, const char *name)
{
    char text[2 * PATH_MAX];
    int seats = cli_is_remote(name) ? -ENOENT : usher_definition(name, text, sizeof text);
    if (seats > 0) {
        (void)printf("  Defined in %s, with %d seat%s.\n", text, seats, cli_s((unsigned)seats));
    } else if (seats == -USHER_EDEFINITION) {
        (void)printf("  Its definition is wrong: %s.\n", cli_sanitize(text));
    }
    if (cli_is_deleted(pool)) {
        (void)printf("  Its file was deleted (a logout does that in /dev/shm). The pool works on\n"
                     "  until the last process that has it open ends.\n");
    }
}

static int examine(const char *name)
{
    struct cli_options options = {.pool = name};
    struct cli_wait wait;
    int error = cli_open(&wait, &options, USHER_EXISTING | USHER_INSPECT);
    if (error != 0) {
        return error;
    }
    bool remote = cli_is_remote(name);
    (void)printf("%s: %s\n", name, remote ? "on ZooKeeper" : usher_path(wait.pool));
    print_place(wait.pool, name);
    int reaped = usher_reap(wait.pool);
    if (reaped >= 0) {
        print_reaped(wait.pool, reaped, remote);
    }
    int faults = reaped < 0 ? reaped : lasting_faults(wait.pool);
    if (faults < 0) {
        error = cli_fail_pool(name, faults, false);
        usher_close(wait.pool);
        return error;
    }
    print_faults(wait.pool, name, faults);
    print_doubtful_holders(wait.pool, name);
    print_counts(wait.pool, name);
    usher_close(wait.pool);
    return faults > 0 ? CLI_FAULTS : CLI_OK;
}

static int examine_all(void)
{
    struct cli_names names;
    int error = cli_list_pools(&names, true);
    int status =
        error == 0 ? CLI_OK : cli_fail(CLI_OS, "cannot list the pools: %s", usher_strerror(error));
    for (size_t n = 0; n < names.count; n++) {
        int found = examine(names.names[n]);
        status = status == CLI_OK ? found : status;
    }
    cli_free_names(&names);
    return status;
}

static int verb_doctor(int argc, char **argv)
{
    struct cli_options options;
    int error = cli_parse(&cli_doctor, 0, true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.rest < argc) {
        return cli_fail(CLI_USAGE, "doctor: give one pool; see 'usher help doctor'");
    }
    error = options.pool == NULL ? examine_all() : examine(options.pool);
    cli_name_old_pools(options.pool);
    return error;
}

const struct cli_verb cli_resize = {
    "resize",
    "resize POOL SEATS",
    "change the number of seats; 0 drains the pool",
    "More seats: the next waiters get them at once. Fewer seats: a seat goes when its\n"
    "holder releases it; no command is interrupted. 0 seats: running commands finish, and\n"
    "no new one starts until the pool has seats again.\n",
    verb_resize,
};

const struct cli_verb cli_remove = {
    "remove",
    "remove POOL [--force]",
    "remove a pool",
    "Removes a pool that has no holders and no waiters.\n\n"
    "  --force            remove it in any case: waiters fail; holders keep running, but\n"
    "                     do not count in the next pool of this name\n",
    verb_remove,
};

const struct cli_verb cli_doctor = {
    "doctor",
    "doctor [POOL]",
    "check a pool and clean up after dead processes",
    "Cleans up after dead processes, checks the pool for consistency, and prints what it\n"
    "found and did. Names holders whose death could not be proved from here, and what to\n"
    "do about them. Exits with 1 if a fault is still there after a second. A pool does\n"
    "not need this to recover from a crash: its users do that. Without a pool: all pools\n"
    "of this user, also those of older versions. Root can give the path of any pool.\n",
    verb_doctor,
};
