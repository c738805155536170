/* usher create, resize, remove, doctor: what is done to a pool itself. */
#include "cli/cli.h"

#include <errno.h>
#include <time.h>

static int create(int argc, char **argv)
{
    struct cli_options options;
    struct cli_wait wait;
    int error =
        cli_parse(&cli_create, CLI_OPTION_SEATS | CLI_OPTION_CREATE, true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest < argc || options.seats == 0) {
        return cli_fail(CLI_USAGE, "create: give a pool and -k; usage: usher %s", cli_create.usage);
    }
    error = cli_open(&wait, &options, USHER_EXCLUSIVE);
    if (error == 0) {
        usher_close(wait.pool);
    }
    return error;
}

static int resize(int argc, char **argv)
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
        return cli_fail(
            CLI_USAGE, "resize: give a pool and a number of seats from 0 to 65535; usage: usher %s",
            cli_resize.usage);
    }
    error = cli_open(&wait, &options, USHER_EXISTING);
    if (error != 0) {
        return error;
    }
    int failed = usher_resize(wait.pool, (uint32_t)seats);
    if (failed == -ERANGE) {
        struct usher_info info = {0};
        (void)usher_inspect(wait.pool, &info, NULL, 0);
        error = cli_fail(CLI_USAGE, "pool %s: it has room for at most %u seats%s", options.pool,
                         info.most_seats,
                         cli_is_elsewhere(options.pool) ? ", like every pool on ZooKeeper"
                                                        : "; remove it and create a larger one");
    } else if (failed != 0) {
        error = cli_fail_pool(options.pool, failed, false);
    }
    usher_close(wait.pool);
    return error;
}

static int remove_(int argc, char **argv)
{
    struct cli_options options;
    int error = cli_parse(&cli_remove, CLI_OPTION_FORCE, true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest < argc) {
        return cli_fail(CLI_USAGE, "remove: give one pool; usage: usher %s", cli_remove.usage);
    }
    int failed = options.force ? usher_discard(options.pool) : usher_remove(options.pool);
    if (failed == -EBUSY) {
        return cli_fail(CLI_UNUSABLE,
                        "pool %s: it is in use ('usher status %s' shows by whom); wait, or remove "
                        "it with --force",
                        options.pool, options.pool);
    }
    return failed == 0 ? 0 : cli_fail_pool(options.pool, failed, false);
}

static void say(void *context, const char *sentence)
{
    (void)context;
    (void)printf("  %s\n", sentence);
}

/* Faults seen in a pool that is in use may be of the moment: what is still so after a second is. */
static int lasting_faults(struct usher_pool *pool)
{
    int faults = 0;
    for (int look = 0; look < 5; look++) {
        struct timespec moment = {0, 250000000};
        faults = usher_verify(pool, NULL, NULL);
        if (faults <= 0) {
            return faults;
        }
        (void)nanosleep(&moment, NULL);
    }
    return faults;
}

static void say_reaped(struct usher_pool *pool, int reaped, bool elsewhere)
{
    if (elsewhere) {
        int64_t before = cli_now_ns();
        (void)usher_inspect(pool, NULL, NULL, 0);
        (void)printf("  Its servers answer, in %.1f ms.\n", (double)(cli_now_ns() - before) / 1e6);
    }
    if (reaped > 0 && elsewhere) {
        (void)printf("  %d of those who waited had a seat to get, and have it now.\n", reaped);
    } else if (reaped > 0) {
        (void)printf("  %d had died, holding a seat, waiting or half way through a call; what they "
                     "left is finished.\n",
                     reaped);
    } else {
        (void)printf("  Nobody had died and left anything.\n");
    }
}

static int doctor(int argc, char **argv)
{
    struct cli_options options;
    struct cli_wait wait;
    struct usher_info info = {0}; /* should the pool be removed meanwhile */
    int error = cli_parse(&cli_doctor, 0, true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest < argc) {
        return cli_fail(CLI_USAGE, "doctor: give one pool; usage: usher %s", cli_doctor.usage);
    }
    error = cli_open(&wait, &options, USHER_EXISTING);
    if (error != 0) {
        return error;
    }
    bool elsewhere = cli_is_elsewhere(options.pool);
    (void)printf("%s: %s\n", options.pool, elsewhere ? "on ZooKeeper" : usher_path(wait.pool));
    int reaped = usher_reap(wait.pool);
    if (reaped >= 0) {
        say_reaped(wait.pool, reaped, elsewhere);
    }
    int faults = reaped < 0 ? reaped : lasting_faults(wait.pool);
    if (faults < 0) {
        error = cli_fail_pool(options.pool, faults, false);
        usher_close(wait.pool);
        return error;
    }
    if (faults > 0) {
        (void)printf("  %d of the relations that always hold do not:\n", faults);
        (void)usher_verify(wait.pool, say, NULL);
        (void)printf("  Stop its users, then 'usher remove --force %s': the next use makes a new "
                     "one.\n",
                     options.pool);
    } else {
        (void)printf("  Every relation that should hold between its words does.\n");
    }
    (void)usher_inspect(wait.pool, &info, NULL, 0);
    (void)printf("  %u seats, %u free, %u waiting", info.seats, info.free, info.waiters);
    if (!elsewhere) {
        (void)printf("; %u of %u guest rows in use", info.guests_used, info.guests);
    }
    (void)printf(".\n");
    if (info.seats == 0) {
        (void)printf("  It is drained: nobody enters until 'usher resize %s N'.\n", options.pool);
    }
    if (info.owed > 0) {
        (void)printf("  It has shrunk: %u more will go as their holders leave.\n", info.owed);
    }
    usher_close(wait.pool);
    return faults > 0 ? CLI_FAULTS : CLI_OK;
}

const struct cli_verb cli_create = {
    "create",
    "create POOL -k SEATS [--guests N] [--mode M]",
    "make a pool before its first use",
    "Makes a pool; fails if there is one.\n\n"
    "  -k, --seats SEATS  how many may be in at a time\n"
    "  --guests N         how many may hold or wait at a time (1024)\n"
    "  --mode M           who may use it, as for chmod (600; 660: the group, too)\n",
    create,
};

const struct cli_verb cli_resize = {
    "resize",
    "resize POOL SEATS",
    "change the number of seats; 0 lets nobody in",
    "More seats: the next in line enter at once. Fewer: seats go as they come free, and\n"
    "nobody is thrown out. 0 drains the pool: those inside finish, nobody enters.\n",
    resize,
};

const struct cli_verb cli_remove = {
    "remove",
    "remove POOL [--force]",
    "remove a pool",
    "Removes a pool that nobody uses.\n\n"
    "  --force            even if somebody does: those who wait fail, those inside go on,\n"
    "                     and do not count in the pool that is made next\n",
    remove_,
};

const struct cli_verb cli_doctor = {
    "doctor",
    "doctor POOL",
    "verify a pool, and finish what the dead have left",
    "Finishes what dead guests have left, verifies every relation that always holds\n"
    "between the words of a pool, and says what it found and did. Exit 1 if there are\n"
    "faults that stay.\n",
    doctor,
};
