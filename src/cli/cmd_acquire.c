/*
 * usher acquire, usher release: a seat for a script. It is held by the calling shell, not by these
 * commands, which are over at once.
 */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does a process have a pipe open for reading (S_IRUSR) or writing (S_IWUSR)? With a reader: one
   that this other process reads from. */
static bool has_pipe(pid_t pid, const char *pipe, mode_t mode, pid_t reader)
{
    char path[64];
    char link[64];
    struct stat status;
    bool found = false;
    (void)snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *directory = opendir(path);
    for (struct dirent *entry; !found && directory != NULL && (entry = readdir(directory));) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        found = strncmp(link, pipe, strlen(pipe)) == 0 &&
                fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                (status.st_mode & mode) != 0 && (reader == 0 || has_pipe(reader, link, S_IRUSR, 0));
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return found;
}

/* The shell that a shell is a copy of, or 0. What tells a forked copy from a program that was
   started: a copy has its parent's memory, so its arguments are at the same, random, address. */
static pid_t original_of(pid_t shell)
{
    struct cli_process copy;
    struct cli_process above;
    return cli_process(shell, &copy) && copy.arguments != 0 && copy.parent > 0 &&
                   cli_process(copy.parent, &above) && above.arguments == copy.arguments
               ? copy.parent
               : 0;
}

/* The shell that called us. In seat=$(usher acquire ..) our parent may be a copy that the shell
   made of itself for that, and that is gone as soon as we are: then it is the shell that reads
   what the copy prints. Any other copy, as in ( .. ) &, is a shell of its own. */
static pid_t caller(void)
{
    pid_t shell = getppid();
    for (pid_t above;
         (above = original_of(shell)) != 0 && has_pipe(shell, "pipe:", S_IWUSR, above);) {
        shell = above;
    }
    return shell;
}

/* Give back what a process holds. How much, or -errno; `lost` counts what it had no longer. */
static int release_of(const struct cli_wait *wait, pid_t holder, int *lost)
{
    return wait->pool == NULL ? cli_keepers_release(wait->pool_name, holder, lost)
                              : usher_release_for(wait->pool, holder);
}

/* Give back what the calling shell holds, or else the one that it is a copy of: a part of a script
   may release what the script has. */
static int release_nearest(const struct cli_wait *wait, int *lost)
{
    int released = 0;
    for (pid_t shell = getppid(); released == 0 && shell != 0; shell = original_of(shell)) {
        released = release_of(wait, shell, lost);
    }
    return released;
}

/* Tell the number, then make the seat over: one whose number nobody knows is not held. */
static int hand_over(struct cli_wait *wait, struct usher_seat *seat, pid_t holder)
{
    char text[CLI_SEAT_TEXT];
    cli_seat_text(wait, seat, text);
    (void)fputs(text, stdout);
    int error = cli_printed(CLI_OK);
    if (error == 0) {
        int assigned = usher_assign(wait->pool, seat, holder);
        if (assigned != 0) {
            error = cli_fail(assigned == -ESRCH ? CLI_USAGE : CLI_OS,
                             "pool %s: process %ld cannot hold a seat: %s", wait->pool_name,
                             (long)holder, usher_strerror(assigned));
        }
    }
    if (error != 0) {
        (void)usher_release(wait->pool, seat);
    }
    return error;
}

static int acquire(int argc, char **argv)
{
    struct cli_options options;
    struct cli_wait wait;
    struct usher_seat seat;
    int error = cli_parse(&cli_acquire,
                          CLI_OPTION_SEATS | CLI_OPTION_WAIT | CLI_OPTION_TALK | CLI_OPTION_FOR |
                              CLI_OPTION_CREATE | CLI_OPTION_HAND,
                          true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest < argc) {
        return cli_fail(CLI_USAGE, "acquire: give one pool; usage: usher %s", cli_acquire.usage);
    }
    pid_t holder = options.for_pid != 0 ? options.for_pid : caller();
    if (cli_is_elsewhere(options.pool)) {
        return cli_keeper_start(&options, holder);
    }
    error = cli_open(&wait, &options, 0);
    if (error == 0) {
        if (options.for_pid == 0 && cli_nested_run(wait.pool, &seat)) {
            /* under usher run of the same pool: that seat is ours until the command ends */
            char text[CLI_SEAT_TEXT];
            cli_seat_text(&wait, &seat, text);
            (void)fputs(text, stdout);
            return cli_close(&wait, cli_printed(CLI_OK));
        }
        error = cli_get_seat(&wait, &seat);
        if (wait.had) {
            error = hand_over(&wait, &seat, holder);
        }
        error = cli_close(&wait, error);
    }
    return error;
}

static int release(int argc, char **argv)
{
    struct cli_options options;
    struct cli_wait wait;
    int lost = 0;
    int error = cli_parse(&cli_release, CLI_OPTION_FOR, true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest < argc) {
        return cli_fail(CLI_USAGE, "release: give one pool; usage: usher %s", cli_release.usage);
    }
    wait = (struct cli_wait){.pool_name = options.pool};
    if (!cli_is_elsewhere(options.pool)) {
        error = cli_open(&wait, &options, USHER_EXISTING);
    }
    if (error != 0) {
        return error;
    }
    int released = options.for_pid != 0 ? release_of(&wait, options.for_pid, &lost)
                                        : release_nearest(&wait, &lost);
    if (released < 0) {
        error = cli_fail_pool(options.pool, released, false);
    } else if (released == 0) {
        error = cli_fail(CLI_NOT_HAD, "pool %s: process %ld holds no seat that could be released",
                         options.pool, (long)(options.for_pid != 0 ? options.for_pid : caller()));
    } else if (lost > 0) {
        error = cli_fail(CLI_LOST, "pool %s: the seat had been lost", options.pool);
    }
    if (wait.pool != NULL) {
        usher_close(wait.pool);
    }
    return error;
}

const struct cli_verb cli_acquire = {
    "acquire",
    "acquire POOL [-k SEATS] [-n | -w TIME] [-E CODE] [--for PID]\n"
    "           [--export] [--signal SIGNAL] [-v | -q]",
    "get a seat for the calling shell; print its number",
    "Waits in line like run, and prints the number of the seat. The seat is held by the\n"
    "calling shell until 'usher release', or until that shell ends, however it ends.\n\n"
    "  -k, -n, -w, -E, -v, -q, --guests, --mode   as for run\n"
    "  --for PID          held by that process instead of the calling shell\n"
    "  --export           print lines for eval instead: USHER_SEAT, USHER_FENCE and so on\n"
    "  --signal SIGNAL    if a seat of zk:// is about to be lost, send this to its holder\n\n"
    "Of a pool on ZooKeeper a process of its own, 'usher keep', keeps the seat for the\n"
    "shell. It ends with the shell, or with 'usher release'.\n\n"
    "  seat=$(usher acquire licences -k 2) || exit\n"
    "  ... use licence number $seat ...\n"
    "  usher release licences\n",
    acquire,
};

const struct cli_verb cli_release = {
    "release",
    "release POOL [--for PID]",
    "give back what the calling shell has acquired",
    "Gives back the seats of that pool that the calling shell holds by 'usher acquire'.\n"
    "A pool on ZooKeeper must be named as it was named there.\n\n"
    "  --for PID          what that process holds instead\n",
    release,
};
