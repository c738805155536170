/*
 * usher run POOL COMMAND: wait for a seat, run the command, release the seat.
 *
 * The command holds the seat itself (usher_spawn): a killed wrapper does not cost a running command
 * its seat. A seat of a pool on ZooKeeper stays with the wrapper, since its session holds it.
 *
 * The wrapper stays the parent, in the same process group. Signals of the terminal reach the
 * command directly; the wrapper passes on what is sent to itself alone. When the command is stopped
 * from the terminal, the wrapper stops, too.
 */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP};

enum { FORWARDED = sizeof forwarded / sizeof forwarded[0] };

/* The words of the command, or NULL if none was given. */
static char **command_words(const struct cli_options *options, int argc, char **argv)
{
    static char *shell[4];
    if (options->line != NULL) {
        shell[0] = getenv("SHELL");
        shell[0] = shell[0] == NULL || shell[0][0] == '\0' ? "/bin/sh" : shell[0];
        shell[1] = "-c";
        shell[2] = (char *)(uintptr_t)options->line;
        return shell;
    }
    return options->rest < argc ? argv + options->rest : NULL;
}

/* Set the note that status shows in a remote pool: the command, as much as fits. */
static void set_note(struct cli_options *options, char **command, char *note, size_t room)
{
    size_t used = 0;
    note[0] = '\0';
    for (unsigned w = options->line != NULL ? 2 : 0; command[w] != NULL && used + 1 < room; w++) {
        (void)snprintf(note + used, room - used, "%s%s", used == 0 ? "" : " ", command[w]);
        used += strlen(note + used);
    }
    options->note = note;
}

static int fail_exec(const char *command, int error)
{
    if (error == ENOENT) {
        return cli_fail(CLI_NOT_FOUND, "%s: command not found", command);
    }
    return cli_fail(CLI_NOT_EXECUTABLE, "%s: cannot be executed: %s", command, strerror(error));
}

/* A start of the command: what the child needs, and how far it got. The child writes into the
   memory of the wrapper, which sleeps until the child calls exec or ends. */
struct start {
    bool warn_only;        /* of a pool on ZooKeeper: do not end with the wrapper */
    pid_t wrapper;         /* of a pool on ZooKeeper: the holder; otherwise 0 */
    void (*on_child)(int); /* what SIGCHLD was, and .. */
    sigset_t mask;         /* .. which signals were blocked when usher started */
    volatile bool prepared;
    volatile int error;
};

/* In the child, before exec. */
static int prepare(void *context)
{
    struct start *start = context;
    cli_environment_holder(start->wrapper != 0 ? start->wrapper : getpid());
    (void)signal(SIGCHLD, start->on_child);
    (void)sigprocmask(SIG_SETMASK, &start->mask, NULL);
    start->prepared = true;
    return 0;
}

/* The command must not outlive the wrapper, which holds the seat. */
static int end_with_wrapper(const struct start *start)
{
    if (!start->warn_only && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        return -errno;
    }
    return getppid() == start->wrapper ? 0 : -ESRCH;
}

/* Start the command without the seat: the child calls no function of the library. */
static int start_remote(struct start *start, char **command, pid_t *child)
{
    /* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): the child
       writes only what the wrapper then reads */
    pid_t started = vfork();
    if (started == 0) {
        start->error = end_with_wrapper(start);
        if (start->error == 0) {
            (void)prepare(start);
            (void)execvp(command[0], command);
            start->error = -errno;
        }
        _exit(CLI_NOT_FOUND);
    }
    /* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
    int error = started < 0 ? -errno : start->error;
    if (started > 0 && error != 0) {
        (void)waitpid(started, NULL, 0);
    }
    *child = started;
    return error;
}

static int start_command(struct cli_wait *wait, struct usher_seat *seat, struct start *start,
                         char **command, pid_t *child)
{
    if (cli_is_remote(wait->pool_name)) {
        start->wrapper = getpid();
        return start_remote(start, command, child);
    }
    struct usher_command how = {.argv = command, .prepare = prepare, .context = start};
    return usher_spawn(wait->pool, seat, &how, child);
}

/* The command was stopped from the terminal. Stop by the same signal, so that the shell sees it;
   when we continue, continue the command. */
static void stop_with_command(pid_t child, int signal_)
{
    sigset_t one;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, signal_);
    (void)raise(signal_);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL); /* stops here */
    (void)sigprocmask(SIG_BLOCK, &one, NULL);
    (void)kill(child, SIGCONT);
}

static int exit_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool is_pending(int signal_)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, signal_) == 1;
}

/* Wait for a signal. If the seat is a lease, enforce the lease meanwhile. */
static int next_signal(pid_t child, const sigset_t *signals, siginfo_t *info,
                       struct cli_lease *lease)
{
    if (lease == NULL) {
        return sigwaitinfo(signals, info);
    }
    int64_t ns = cli_lease_enforce(lease, child);
    ns = ns < 1000000 ? 1000000 : ns;
    struct timespec time = {ns / 1000000000, ns % 1000000000};
    return sigtimedwait(signals, info, &time);
}

/* Wait until the command ends, and forward signals. All of `signals` are blocked. */
static int wait_for_command(pid_t child, const sigset_t *signals, bool *interrupted,
                            struct cli_lease *lease)
{
    for (;;) {
        siginfo_t info;
        int status;
        pid_t changed = waitpid(child, &status, WNOHANG | WUNTRACED);
        if (changed == child && !WIFSTOPPED(status)) {
            *interrupted = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT &&
                           (*interrupted || is_pending(SIGINT));
            return exit_status(status);
        }
        if (changed == child && (WSTOPSIG(status) == SIGTSTP || WSTOPSIG(status) == SIGTTIN ||
                                 WSTOPSIG(status) == SIGTTOU)) {
            stop_with_command(child, WSTOPSIG(status));
            continue;
        }
        if (changed < 0 && errno == ECHILD) {
            return cli_fail(CLI_BUG, "the command ended, but its exit status is unknown");
        }
        int signal_ = next_signal(child, signals, &info, lease);
        /* signals of the terminal have reached the command already */
        if (signal_ > 0 && signal_ != SIGCHLD && info.si_code != SI_KERNEL) {
            (void)kill(child, signal_);
        }
        *interrupted = *interrupted || (signal_ == SIGINT && info.si_code == SI_KERNEL);
    }
}

/* Release the seat of the command, which has ended. This is a normal release: the pool counts it as
   served. If the guest table is full (-EUSERS), retry for a second; after that, the next scan of
   another process releases the seat. */
static void release_for_command(struct usher_pool *pool, pid_t child)
{
    enum { TRIES = 100 };
    const struct timespec pause = {0, 10 * 1000 * 1000};
    for (unsigned tries = 1; usher_release_for(pool, child) == -EUSERS && tries < TRIES; tries++) {
        (void)nanosleep(&pause, NULL);
    }
}

static int run_in_seat(struct cli_wait *wait, struct usher_seat *seat, char **command)
{
    sigset_t signals;
    struct start start = {.warn_only = wait->options->warn_only};
    pid_t child;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGCHLD);
    for (unsigned s = 0; s < FORWARDED; s++) {
        (void)sigaddset(&signals, forwarded[s]);
    }
    start.on_child = signal(SIGCHLD, SIG_DFL); /* an ignored one leaves no status to wait for */
    (void)sigprocmask(SIG_BLOCK, &signals, &start.mask);
    int64_t began = cli_now_ns();
    bool remote = cli_is_remote(wait->pool_name);
    struct cli_lease lease = {.lost = false};
    if (remote) {
        cli_lease_begin(&lease, wait, seat);
    }
    int error = start_command(wait, seat, &start, command, &child);
    if (error != 0) {
        (void)usher_release(wait->pool, seat);
        return start.prepared
                   ? fail_exec(command[0], -error)
                   : cli_fail(CLI_OS, "cannot start the command: %s", usher_strerror(error));
    }
    int status = wait_for_command(child, &signals, &wait->interrupted, remote ? &lease : NULL);
    if (!remote) {
        release_for_command(wait->pool, child);
    } else if (!lease.lost) {
        (void)usher_release(wait->pool, seat);
    }
    if (wait->options->verbose) {
        char held[32];
        (void)fprintf(stderr, "usher: pool %s: released seat %u after %s\n", wait->pool_name,
                      seat->number, cli_duration(cli_now_ns() - began, held, sizeof held));
    }
    return lease.lost && !wait->options->warn_only ? CLI_LOST : status;
}

static int verb_run(int argc, char **argv)
{
    struct cli_options options;
    struct cli_wait wait;
    struct usher_seat seat;
    char note[128];
    int error = cli_parse(&cli_run,
                          CLI_OPTION_SEATS | CLI_OPTION_WAIT | CLI_OPTION_RUN | CLI_OPTION_LABELS |
                              CLI_OPTION_VERBOSITY | CLI_OPTION_CREATE,
                          true, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    char **command = command_words(&options, argc, argv);
    if (options.pool == NULL || command == NULL) {
        return cli_fail(CLI_USAGE, "run: give a pool and a command; see 'usher help run'");
    }
    if (options.line != NULL && options.rest < argc) {
        return cli_fail(CLI_USAGE, "run: '%s' follows -c LINE; give a command or -c, not both",
                        argv[options.rest]);
    }
    set_note(&options, command, note, sizeof note);
    error = cli_open(&wait, &options, USHER_KEEP);
    if (error != 0) {
        return error;
    }
    bool nested = cli_nested(wait.pool, &seat);
    if (!nested) {
        error = cli_get_seat(&wait, &seat);
    }
    if (!nested && !wait.got_seat) {
        return cli_close(&wait, error);
    }
    if (cli_environment(&wait, &seat, nested) != 0) {
        error = cli_fail(CLI_OS, "out of memory");
    }
    if (error == 0 && nested) { /* nothing to release at the end: replace this process */
        usher_close(wait.pool);
        (void)execvp(command[0], command);
        return fail_exec(command[0], errno);
    }
    if (error == 0) {
        error = run_in_seat(&wait, &seat, command);
    }
    return cli_close(&wait, error);
}

const struct cli_verb cli_run = {
    "run",
    "run [-k SEATS] [-n | -w TIME] [-E CODE] [--labels A,B,..] [--env VAR]\n"
    "           [--warn-only] [-v | -q] POOL [--] COMMAND [ARGUMENT..]\n"
    "           or   POOL -c LINE",
    "wait for a seat, run a command, release the seat",
    "Waits in line for a seat of the pool, runs the command, releases the seat. With -k\n"
    "or --labels, or by a definition ('usher help create'), the first use creates it.\n\n"
    "  -k, --seats SEATS  how many commands may run at once; only a new pool needs it\n"
    "  -n, --nonblock     do not wait: exit with 75 if no seat is free\n"
    "  -w, --wait TIME    wait at most this long: 1.5, 30s, 5m, 1h\n"
    "  -E CODE            exit with CODE instead of 75\n"
    "  -c LINE            run a line of shell\n"
    "  --labels A,B,..    names for seats 0, 1, ..; there are as many seats as names;\n"
    "                     only a new pool needs them\n"
    "  --env VAR          set VAR to the label of the seat, or to its number\n"
    "  -v, --verbose      print the seat, the time waited and the time held\n"
    "  -q, --quiet        print nothing while waiting\n"
    "  --guests N         new pool: the maximum number of holders and waiters (1024)\n"
    "  --mode M           new pool: permissions, as for chmod (600)\n"
    "  --warn-only        zk:// only: if the seat is lost, warn and let the command run\n\n"
    "The command gets USHER_POOL, USHER_SEAT (from 0), USHER_SEATS, USHER_TICKET,\n"
    "USHER_FENCE and USHER_LABEL. The command itself holds the seat until it ends, even\n"
    "if usher is killed (zk:// pools differ, see the manual). The exit status is that of\n"
    "the command. Inside a seat, 'usher run' of the same pool runs at once in that seat.\n\n"
    "  usher run builds -k 3 -- make -j8\n"
    "  usher run gpu --labels 0,1 --env CUDA_VISIBLE_DEVICES -- ./train\n"
    "  usher run zk://h1:2181,h2:2181/pools/gpu -k 4 -- ./train\n",
    verb_run,
};
