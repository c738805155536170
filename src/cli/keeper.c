/*
 * The keeper: a process that holds a seat of a pool on ZooKeeper for a shell. There somebody must
 * be heard from all the time, and the commands of a script are over at once; so usher acquire
 * leaves this one behind, and it is there only as long as the seat is:
 *
 *     it ends when the shell does, or on SIGTERM (usher release sends it), and gives the seat back;
 *     if the seat is lost it says so on the shell's standard error, and stays, under another name,
 *     so that usher release can say so, too.
 *
 * While it waits in line it is in the shell's foreground, and usher acquire is its parent:
 * keepers.c. When it has a seat:
 *
 *     it sends what is to be printed;  acquire prints that, and sends a byte;
 *     it leaves the terminal, and sends a byte;  acquire ends.
 *
 * If acquire ends before its byte, nobody knows the seat, and it is given back.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct keeper {
    struct cli_wait wait;
    struct usher_seat seat;
    pid_t holder;
    int holder_fd, front_fd, signal_fd;
    int64_t grace_ns; /* so long before the end the holder is told */
    bool told;
};

static bool has_ended(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    return poll(&ended, 1, 0) == 1;
}

static int cannot_hold(const struct keeper *keeper, int error)
{
    return cli_fail(error == ESRCH ? CLI_USAGE : CLI_OS,
                    "pool %s: process %ld cannot hold a seat: %s", keeper->wait.pool_name,
                    (long)keeper->holder, usher_strerror(-error));
}

/* The shell's standard error. We have none of its descriptors open, since whoever reads the other
   end of a pipe would wait for us. If it is somebody else's (sudo), a copy may do. -1: none. */
static int open_messages(const struct keeper *keeper)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)keeper->holder);
    int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 ? fd : pidfd_getfd(keeper->holder_fd, STDERR_FILENO, 0);
}

/* Tell the shell, unless nobody reads what it says. */
static void warn(const struct keeper *keeper, const char *what)
{
    struct pollfd messages = {.fd = open_messages(keeper), .events = POLLOUT};
    if (messages.fd >= 0 && poll(&messages, 1, 0) == 1) {
        (void)dprintf(messages.fd, "usher: pool %s: seat %u %s\n", keeper->wait.pool_name,
                      keeper->seat.number, what);
    }
    if (messages.fd >= 0) {
        (void)close(messages.fd);
    }
}

/* Be no part of the shell's job any more: not of its terminal, its directory, its pipes. */
static void leave_terminal(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)signal(SIGPIPE, SIG_IGN); /* somebody may have stopped to read what the shell says */
    (void)prctl(PR_SET_PDEATHSIG, 0);
    (void)prctl(PR_SET_NAME, CLI_KEEPER_HOLDS);
    (void)setsid();
    (void)!chdir("/");
    (void)dup2(nowhere, STDERR_FILENO);
    if (nowhere > STDERR_FILENO) {
        (void)close(nowhere);
    }
}

/* Tell the seat. Whether anybody knows it now. */
static bool tell(struct keeper *keeper)
{
    char text[CLI_SEAT_TEXT];
    char known;
    cli_seat_text(&keeper->wait, &keeper->seat, text);
    return send(keeper->front_fd, text, strlen(text), MSG_NOSIGNAL) >= 0 &&
           recv(keeper->front_fd, &known, 1, 0) == 1;
}

/* Let acquire end. */
static void dismiss(const struct keeper *keeper)
{
    (void)send(keeper->front_fd, "", 1, MSG_NOSIGNAL);
    (void)close(keeper->front_fd);
}

/* Has the seat been lost? Sees to it that the holder knows before. When to look again, from now. */
static bool is_lost(struct keeper *keeper, int64_t *next_ns)
{
    struct usher_lease now = {.left_ns = 0};
    if (usher_check(keeper->wait.pool, &keeper->seat, &now) != 0 || now.left_ns <= 0) {
        return true;
    }
    int64_t grace_ns = keeper->told || keeper->wait.options->signal == 0 ? 0 : keeper->grace_ns;
    if (now.left_ns <= grace_ns) {
        char what[128];
        int signal_ = keeper->wait.options->signal;
        const char *name = sigabbrev_np(signal_);
        keeper->told = true;
        (void)snprintf(what, sizeof what,
                       "will be lost: its servers do not answer; sending signal %d (%s) to %ld",
                       signal_, name == NULL ? "?" : name, (long)keeper->holder);
        warn(keeper, what);
        (void)pidfd_send_signal(keeper->holder_fd, signal_, NULL, 0);
        grace_ns = 0;
    }
    *next_ns = now.left_ns - grace_ns;
    return false;
}

/* Stay until the holder ends or a signal says so; or until the seat is lost. */
static void keep(struct keeper *keeper)
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
    warn(keeper, "is lost: its servers were not heard from in time, and may give it to another");
    usher_close(keeper->wait.pool);
    (void)ppoll(ends, 2, NULL, NULL);
}

/* Signals that are to end us are waited for, beside the end of the holder. */
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

static int get_and_keep(struct keeper *keeper)
{
    struct cli_wait *wait = &keeper->wait;
    struct usher_lease lease;
    int status = cli_get_seat(wait, &keeper->seat);
    if (!wait->had) {
        return cli_close(wait, status);
    }
    keeper->signal_fd = listen_for_signals();
    if (usher_check(wait->pool, &keeper->seat, &lease) == 0) {
        keeper->grace_ns = lease.left_ns / 3; /* as for a command: lease.c */
    }
    if (has_ended(keeper->holder_fd)) {
        status = cannot_hold(keeper, ESRCH);
    } else if (keeper->signal_fd < 0) {
        status = cannot_hold(keeper, errno);
    } else if (tell(keeper)) {
        leave_terminal();
        dismiss(keeper);
        keep(keeper);
        return CLI_OK;
    }
    (void)usher_release(wait->pool, &keeper->seat);
    return cli_close(wait, status);
}

/* usher keep [OPTION..] POOL PID FD */
static int run_keeper(int argc, char **argv)
{
    struct cli_options options;
    struct keeper keeper = {.holder_fd = -1};
    char note[128];
    uint64_t pid = 0;
    uint64_t fd = 0;
    int error = cli_parse(&cli_keep,
                          CLI_OPTION_SEATS | CLI_OPTION_WAIT | CLI_OPTION_TALK | CLI_OPTION_CREATE |
                              CLI_OPTION_HAND,
                          false, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool == NULL || options.rest + 2 != argc ||
        !cli_parse_number(argv[options.rest], 1U << 22, &pid) ||
        !cli_parse_number(argv[options.rest + 1], 1U << 20, &fd) ||
        fcntl((int)fd, F_SETFD, FD_CLOEXEC) != 0) {
        return cli_fail(CLI_USAGE, "keep: this is for usher acquire alone; use that");
    }
    (void)prctl(PR_SET_NAME, "usher");
    keeper.holder = (pid_t)pid;
    keeper.front_fd = (int)fd;
    keeper.wait.pool_name = options.pool;
    keeper.holder_fd = pidfd_open(keeper.holder, 0);
    if (keeper.holder_fd < 0) {
        return cannot_hold(&keeper, errno);
    }
    options.note = cli_command_of(keeper.holder, note, sizeof note);
    error = cli_open(&keeper.wait, &options, 0);
    if (error != 0) {
        return error;
    }
    if (cli_nested_run(keeper.wait.pool, &keeper.seat)) {
        /* under usher run of the same pool: that seat is the shell's until the command ends */
        if (tell(&keeper)) {
            dismiss(&keeper);
        }
        return cli_close(&keeper.wait, CLI_OK);
    }
    return get_and_keep(&keeper);
}

const struct cli_verb cli_keep = {
    .name = "keep", .usage = "keep [OPTION..] POOL PID FD", .run = run_keeper};
