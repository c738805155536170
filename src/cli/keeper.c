/*
 * The keeper: a background process, started by usher acquire, that holds a seat for a shell.
 * (keepers.c starts, finds and ends keepers.) There are two kinds.
 *
 * The keeper of a seat of a remote pool: the servers must hear from the holder all the time, and
 * usher acquire itself ends at once.
 *
 *     The keeper releases the seat and ends when the shell ends, or on SIGTERM (from usher
 *     release).
 *     If the seat is lost, the keeper writes a message to the shell's standard error, changes its
 *     name to usher-lost, and stays, so that usher release can report the loss.
 *
 * While the keeper waits in line, it is a child of usher acquire, in the foreground of the shell.
 * When it has a seat:
 *
 *     keeper sends the text to print;  acquire prints it and sends a byte;
 *     keeper leaves the terminal and sends a byte;  acquire ends.
 *
 * If acquire ends before it sends its byte, the seat was not printed, and the keeper releases it.
 *
 * The keeper of a seat of another pool, in a container: the shell holds the seat, by its pid, for
 * all processes inside. Outside that pid means nothing. The keeper has the lock of the seat's row
 * (USHER_KEEPER), and dies with the container: that proves to the processes outside that the shell
 * is dead. The keeper ends when the shell holds the seat no more; SIGTERM makes it check that.
 */
#include "cli/cli.h"

#include "os/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct keeper {
    struct cli_wait wait;
    struct usher_seat seat;
    pid_t holder;
    int holder_fd;  /* pidfd of the holder */
    int acquire_fd; /* socket to usher acquire */
    int signal_fd;
    int64_t grace_ns; /* the holder gets --signal this long before the lease ends */
    bool signalled;
};

static bool has_ended(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    return poll(&ended, 1, 0) == 1;
}

int cli_fail_holder(const char *pool, pid_t holder, int error)
{
    return cli_fail(error == -ESRCH ? CLI_USAGE : CLI_OS,
                    "pool %s: process %ld cannot hold a seat: %s", pool, (long)holder,
                    usher_strerror(error));
}

static int fail_hold(const struct keeper *keeper, int error)
{
    return cli_fail_holder(keeper->wait.pool_name, keeper->holder, -error);
}

/* Open the shell's standard error; -1 if that fails. The keeper keeps no descriptor of the shell
   open, because the reader of a pipe would wait for the keeper to end. If the shell belongs to
   another user (sudo), duplicate its descriptor instead. */
static int open_shell_stderr(const struct keeper *keeper)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)keeper->holder);
    int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 ? fd : pidfd_getfd(keeper->holder_fd, STDERR_FILENO, 0);
}

/* Write a message to the shell's standard error, unless that would block. */
static void warn_shell(const struct keeper *keeper, const char *what)
{
    struct pollfd messages = {.fd = open_shell_stderr(keeper), .events = POLLOUT};
    if (messages.fd >= 0 && poll(&messages, 1, 0) == 1) {
        (void)dprintf(messages.fd, "usher: pool %s: seat %u %s\n", keeper->wait.pool_name,
                      keeper->seat.number, what);
    }
    if (messages.fd >= 0) {
        (void)close(messages.fd);
    }
}

/* Leave the shell's terminal, directory and pipes. */
static void leave_terminal(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)signal(SIGPIPE, SIG_IGN); /* the reader of the shell's output may be gone */
    (void)prctl(PR_SET_PDEATHSIG, 0);
    (void)prctl(PR_SET_NAME, CLI_KEEPER_HOLDS);
    (void)setsid();
    (void)!chdir("/");
    (void)dup2(nowhere, STDERR_FILENO);
    if (nowhere > STDERR_FILENO) {
        (void)close(nowhere);
    }
}

/* Send the seat to usher acquire. Returns whether acquire has printed it. */
static bool send_seat(struct keeper *keeper)
{
    char text[CLI_SEAT_TEXT];
    char printed;
    cli_seat_text(&keeper->wait, &keeper->seat, text);
    return send(keeper->acquire_fd, text, strlen(text), MSG_NOSIGNAL) >= 0 &&
           recv(keeper->acquire_fd, &printed, 1, 0) == 1;
}

/* Let usher acquire end. */
static void end_acquire(const struct keeper *keeper)
{
    (void)send(keeper->acquire_fd, "", 1, MSG_NOSIGNAL);
    (void)close(keeper->acquire_fd);
}

/* Is the seat lost? Send --signal to the holder in time before that. *next_ns: when to call again,
   from now. */
static bool is_lost(struct keeper *keeper, int64_t *next_ns)
{
    struct usher_lease now = {.left_ns = 0};
    if (usher_check(keeper->wait.pool, &keeper->seat, &now) != 0 || now.left_ns <= 0) {
        return true;
    }
    int64_t grace_ns =
        keeper->signalled || keeper->wait.options->signal == 0 ? 0 : keeper->grace_ns;
    if (now.left_ns <= grace_ns) {
        char what[128];
        int signal_ = keeper->wait.options->signal;
        const char *name = compat_signal_name(signal_);
        keeper->signalled = true;
        (void)snprintf(what, sizeof what,
                       "will be lost: the servers do not answer; sending signal %d (%s) to "
                       "process %ld",
                       signal_, name == NULL ? "?" : name, (long)keeper->holder);
        warn_shell(keeper, what);
        (void)pidfd_send_signal(keeper->holder_fd, signal_, NULL, 0);
        grace_ns = 0;
    }
    *next_ns = now.left_ns - grace_ns;
    return false;
}

/* Hold the seat until the holder ends, a signal comes or the seat is lost. */
static void hold_seat(struct keeper *keeper)
{
    struct pollfd ends[] = {{keeper->holder_fd, POLLIN, 0}, {keeper->signal_fd, POLLIN, 0}};
    int64_t next_ns = 0;
    while (!is_lost(keeper, &next_ns)) {
        struct timespec time = {next_ns / 1000000000, next_ns % 1000000000};
        if (ppoll(ends, 2, &time, NULL) > 0) {
            (void)usher_release(keeper->wait.pool, &keeper->seat);
            usher_close(keeper->wait.pool);
            return;
        }
    }
    (void)prctl(PR_SET_NAME, CLI_KEEPER_LOST);
    warn_shell(keeper, "is lost: the servers did not answer in time and may grant it to another "
                       "process");
    usher_close(keeper->wait.pool);
    (void)ppoll(ends, 2, NULL, NULL);
}

/* Block the signals that end the keeper, and return a signalfd for them. */
static int listen_for_signals(void)
{
    static const int endings[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    sigset_t signals;
    (void)sigemptyset(&signals);
    for (size_t s = 0; s < sizeof endings / sizeof endings[0]; s++) {
        (void)sigaddset(&signals, endings[s]);
    }
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

/* Stay until the shell holds the seat no more: it has ended, or its seat was released. */
static void keep_lock(struct keeper *keeper)
{
    /* seconds between two checks: for a seat that was released without a signal to this process;
       without a pidfd (before Linux 5.3) also for the end of the shell */
    const struct timespec pause =
        keeper->holder_fd >= 0 ? (struct timespec){5, 0} : (struct timespec){0, 200000000};
    struct pollfd ends[] = {{keeper->holder_fd, POLLIN, 0}, {keeper->signal_fd, POLLIN, 0}};
    while (ends[0].revents == 0 &&
           cli_still_held(keeper->wait.pool, keeper->holder, &keeper->seat)) {
        struct signalfd_siginfo info;
        if (ppoll(ends, 2, &pause, NULL) > 0 && ends[1].revents != 0) {
            (void)!read(keeper->signal_fd, &info, sizeof info);
        }
    }
    (void)usher_reap(keeper->wait.pool); /* if the guest table is full, others free the seat */
    usher_close(keeper->wait.pool);
}

static int get_and_assign(struct keeper *keeper)
{
    struct cli_wait *wait = &keeper->wait;
    int status = cli_get_seat(wait, &keeper->seat);
    if (!wait->got_seat) {
        return cli_close(wait, status);
    }
    keeper->signal_fd = listen_for_signals();
    int error =
        keeper->signal_fd < 0 ? -errno : usher_assign(wait->pool, &keeper->seat, keeper->holder);
    if (error != 0) {
        (void)usher_release(wait->pool, &keeper->seat);
        return cli_close(wait, fail_hold(keeper, -error));
    }
    if (!send_seat(keeper)) {
        (void)usher_release_assigned(wait->pool, &keeper->seat);
        return cli_close(wait, status);
    }
    leave_terminal();
    end_acquire(keeper);
    keep_lock(keeper);
    return CLI_OK;
}

static int get_and_keep(struct keeper *keeper)
{
    struct cli_wait *wait = &keeper->wait;
    struct usher_lease lease;
    int status = cli_get_seat(wait, &keeper->seat);
    if (!wait->got_seat) {
        return cli_close(wait, status);
    }
    keeper->signal_fd = listen_for_signals();
    if (usher_check(wait->pool, &keeper->seat, &lease) == 0) {
        keeper->grace_ns = lease.left_ns / 3; /* as for a command: lease.c */
    }
    if (has_ended(keeper->holder_fd)) {
        status = fail_hold(keeper, ESRCH);
    } else if (keeper->signal_fd < 0) {
        status = fail_hold(keeper, errno);
    } else if (send_seat(keeper)) {
        leave_terminal();
        end_acquire(keeper);
        hold_seat(keeper);
        return CLI_OK;
    }
    (void)usher_release(wait->pool, &keeper->seat);
    return cli_close(wait, status);
}

/* usher keep [OPTION..] POOL PID FD */
static int verb_keep(int argc, char **argv)
{
    struct cli_options options;
    struct keeper keeper = {.holder_fd = -1};
    char note[128];
    uint64_t pid = 0;
    uint64_t fd = 0;
    int error = cli_parse(&cli_keep,
                          CLI_OPTION_SEATS | CLI_OPTION_WAIT | CLI_OPTION_VERBOSITY |
                              CLI_OPTION_CREATE | CLI_OPTION_ACQUIRE,
                          false, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest + 2 != argc ||
        !cli_parse_number(argv[options.rest], 1U << 22, &pid) ||
        !cli_parse_number(argv[options.rest + 1], 1U << 20, &fd) ||
        fcntl((int)fd, F_SETFD, FD_CLOEXEC) != 0) {
        return cli_fail(CLI_USAGE, "keep: this verb is internal; use 'usher acquire'");
    }
    (void)prctl(PR_SET_NAME, "usher");
    keeper.holder = (pid_t)pid;
    keeper.acquire_fd = (int)fd;
    keeper.wait.pool_name = options.pool;
    keeper.holder_fd = pidfd_open(keeper.holder, 0);
    bool remote = cli_is_remote(options.pool);
    if (keeper.holder_fd < 0 && (remote || (errno != ENOSYS && errno != EPERM))) {
        return fail_hold(&keeper, errno);
    }
    options.note = cli_command_of(keeper.holder, note, sizeof note);
    error = cli_open(&keeper.wait, &options, remote ? 0 : USHER_KEEPER);
    if (error != 0) {
        return error;
    }
    if (cli_nested_run(keeper.wait.pool, &keeper.seat)) {
        /* under usher run of the same pool: print the seat that is already held */
        if (send_seat(&keeper)) {
            end_acquire(&keeper);
        }
        return cli_close(&keeper.wait, CLI_OK);
    }
    return remote ? get_and_keep(&keeper) : get_and_assign(&keeper);
}

const struct cli_verb cli_keep = {
    .name = "keep", .usage = "keep [OPTION..] POOL PID FD", .run = verb_keep};
