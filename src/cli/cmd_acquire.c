/*
 * usher acquire, usher release: a seat for a script. The calling shell holds the seat, because
 * these commands end at once.
 */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does a process have this pipe open for reading (S_IRUSR) or writing (S_IWUSR)? `pipe` is the
   beginning of its name. If `reader` is not 0, only pipes that process `reader` reads from
   count. */
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

/* The shell that forked this subshell; 0 if `shell` was started by exec. A fork shares its parent's
   memory layout, so its arguments are at the same random address. */
static pid_t subshell_of(pid_t shell)
{
    struct cli_process copy;
    struct cli_process above;
    return cli_process(shell, &copy) && copy.arguments != 0 && copy.parent > 0 &&
                   cli_process(copy.parent, &above) && above.arguments == copy.arguments
               ? copy.parent
               : 0;
}

/* The shell that called us. In seat=$(usher acquire ..) our parent can be a subshell that ends when
   we end; then the caller is the shell that reads the output of the subshell. Any other subshell,
   as in ( .. ) &, is a caller itself. */
static pid_t calling_shell(void)
{
    pid_t shell = getppid();
    for (pid_t above;
         (above = subshell_of(shell)) != 0 && has_pipe(shell, "pipe:", S_IWUSR, above);) {
        shell = above;
    }
    return shell;
}

/* Release the seats of a process. Returns their number, or -errno; adds to *lost the number of
   seats that were lost before. */
static int release_seats_of(const struct cli_wait *wait, pid_t holder, int *lost)
{
    if (wait->pool == NULL) {
        return cli_keepers_release(wait->pool_name, holder, lost);
    }
    int released = usher_release_for(wait->pool, holder);
    if (released > 0 && cli_needs_keeper()) { /* their rows are free when the keepers have ended */
        (void)cli_keepers_release(wait->pool_name, holder, lost);
    }
    return released;
}

/* Release the seats of the calling shell. If it has none and is a subshell, release those of the
   shell around it. */
static int release_seats_of_caller(const struct cli_wait *wait, int *lost)
{
    int released = 0;
    for (pid_t shell = getppid(); released == 0 && shell != 0; shell = subshell_of(shell)) {
        released = release_seats_of(wait, shell, lost);
    }
    return released;
}

/* Assign the seat to the holder, then print it: what is printed is held. If either fails, release
   the seat: no process would know that it is held. */
static int assign_and_print(struct cli_wait *wait, struct usher_seat *seat, pid_t holder)
{
    char text[CLI_SEAT_TEXT];
    cli_seat_text(wait, seat, text);
    int assigned = usher_assign(wait->pool, seat, holder);
    if (assigned != 0) {
        (void)usher_release(wait->pool, seat);
        return cli_fail_holder(wait->pool_name, holder, assigned);
    }
    (void)fputs(text, stdout);
    int error = cli_flush(CLI_OK);
    if (error != 0) {
        (void)usher_release_assigned(wait->pool, seat);
    }
    return error;
}

static int verb_acquire(int argc, char **argv)
{
    struct cli_options options;
    struct cli_wait wait;
    struct usher_seat seat;
    int error = cli_parse(&cli_acquire,
                          CLI_OPTION_SEATS | CLI_OPTION_WAIT | CLI_OPTION_VERBOSITY |
                              CLI_OPTION_FOR | CLI_OPTION_CREATE | CLI_OPTION_ACQUIRE,
                          true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest < argc) {
        return cli_fail(CLI_USAGE, "acquire: give one pool; see 'usher help acquire'");
    }
    pid_t holder = options.for_pid != 0 ? options.for_pid : calling_shell();
    if (cli_is_remote(options.pool) || cli_needs_keeper()) {
        return cli_keeper_start(&options, holder);
    }
    error = cli_open(&wait, &options, 0);
    if (error == 0) {
        if (options.for_pid == 0 && cli_nested_run(wait.pool, &seat)) {
            /* under usher run of the same pool: print the seat that is already held */
            char text[CLI_SEAT_TEXT];
            cli_seat_text(&wait, &seat, text);
            (void)fputs(text, stdout);
            return cli_close(&wait, cli_flush(CLI_OK));
        }
        error = cli_get_seat(&wait, &seat);
        if (wait.got_seat) {
            error = assign_and_print(&wait, &seat, holder);
        }
        error = cli_close(&wait, error);
    }
    return error;
}

static int verb_release(int argc, char **argv)
{
    struct cli_options options;
    struct cli_wait wait;
    int lost = 0;
    int error = cli_parse(&cli_release, CLI_OPTION_FOR, true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest < argc) {
        return cli_fail(CLI_USAGE, "release: give one pool; see 'usher help release'");
    }
    wait = (struct cli_wait){.pool_name = options.pool};
    if (!cli_is_remote(options.pool)) {
        error = cli_open(&wait, &options, USHER_EXISTING);
    }
    if (error != 0) {
        return error;
    }
    int released = options.for_pid != 0 ? release_seats_of(&wait, options.for_pid, &lost)
                                        : release_seats_of_caller(&wait, &lost);
    if (released < 0) {
        error = cli_fail_pool(options.pool, released, false);
    } else if (released == 0) {
        error = cli_fail(
            CLI_NO_SEAT,
            "pool %s: process %ld holds no seat from 'usher acquire'; nothing was released",
            options.pool, (long)(options.for_pid != 0 ? options.for_pid : calling_shell()));
    } else if (lost > 0) {
        error = cli_fail(CLI_LOST, "pool %s: the seat was lost before the release", options.pool);
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
    "get a seat for the calling shell and print its number",
    "Waits in line like run, then prints the number of the seat. The calling shell holds\n"
    "the seat until 'usher release' or until the shell ends, for whatever reason.\n\n"
    "  -k, -n, -w, -E, -v, -q, --guests, --mode   as for run\n"
    "  --for PID          process PID holds the seat instead of the calling shell\n"
    "  --export           print a line for eval instead: USHER_SEAT, USHER_FENCE ..\n"
    "  --signal SIGNAL    zk:// only: send this to the holder before the seat is lost\n\n"
    "The seat of a zk:// pool is held by a background process, 'usher keep'. It ends when\n"
    "the shell ends or calls 'usher release'. In a container every seat has one: it shows\n"
    "to the processes outside that the container lives.\n\n"
    "  seat=$(usher acquire licences -k 2) || exit\n"
    "  ... use licence number $seat ...\n"
    "  usher release licences\n",
    verb_acquire,
};

const struct cli_verb cli_release = {
    "release",
    "release POOL [--for PID]",
    "release the seats that the calling shell acquired",
    "Releases all seats of the pool that the calling shell holds by 'usher acquire'. A\n"
    "zk:// pool must be spelled exactly as it was for acquire.\n\n"
    "  --for PID          release the seats of process PID instead\n",
    verb_release,
};
