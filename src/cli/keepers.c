/*
 * Start, find and end keepers (keeper.c): usher acquire starts one, usher release ends those of a
 * shell. Seats of remote pools have keepers, and in a container those of other pools. Keepers are
 * found in /proc by their name and their command line, `usher keep .. POOL PID FD`.
 */
#include "cli/cli.h"

#include "os/compat.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORDS = 24, WORD_ROOM = 32, CMDLINE_ROOM = 2 * PATH_MAX };

/* The command line of a keeper. */
struct words {
    char texts[MOST_WORDS][WORD_ROOM];
    char *argv[MOST_WORDS + 1];
    unsigned count;
};

static void add_word(struct words *words, const char *word)
{
    words->argv[words->count++] = (char *)(uintptr_t)word;
}

static void add_number(struct words *words, const char *before, long long number)
{
    char *text = words->texts[words->count];
    (void)snprintf(text, WORD_ROOM, "%s%lld", before, number);
    add_word(words, text);
}

/* The options of usher acquire, as the command line of the keeper. */
static void make_command_line(struct words *words, const struct cli_options *options, pid_t holder,
                              int fd)
{
    add_word(words, "usher");
    add_word(words, "keep");
    if (options->seats != 0) {
        add_number(words, "-k", options->seats);
    }
    if (options->wait_ns != INT64_MAX) {
        char *text = words->texts[words->count];
        (void)snprintf(text, WORD_ROOM, "-w%lld.%09lld", (long long)(options->wait_ns / 1000000000),
                       (long long)(options->wait_ns % 1000000000));
        add_word(words, text);
    }
    if (options->no_seat_code != CLI_NO_SEAT) {
        add_number(words, "-E", options->no_seat_code);
    }
    if (options->guests != 0) {
        add_number(words, "--guests=", options->guests);
    }
    if (options->mode != 0) {
        char *text = words->texts[words->count];
        (void)snprintf(text, WORD_ROOM, "--mode=%o", (unsigned)options->mode);
        add_word(words, text);
    }
    if (options->signal != 0) {
        add_number(words, "--signal=", options->signal);
    }
    if (options->verbose) {
        add_word(words, "-v");
    }
    if (options->quiet) {
        add_word(words, "-q");
    }
    if (options->export_) {
        add_word(words, "--export");
    }
    add_word(words, "--");
    add_word(words, options->pool);
    add_number(words, "", holder);
    add_number(words, "", fd);
    add_word(words, NULL);
}

/* Have every descriptor from `first` on closed by exec. */
static int close_on_exec(int first)
{
    if (compat_close_range((unsigned)first, ~0U, CLOSE_RANGE_CLOEXEC) == 0) {
        return 0;
    }
    DIR *directory = opendir("/proc/self/fd"); /* before Linux 5.11 */
    if (directory == NULL) {
        return -1;
    }
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (isdigit((unsigned char)entry->d_name[0]) && fd >= first) {
            (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        }
    }
    return closedir(directory);
}

/* In the child: exec the keeper. Until it has handed the seat over, SIGTERM ends it when we die. */
static void exec_keeper(const struct cli_options *options, pid_t holder, int fd,
                        const sigset_t *mask, pid_t parent)
{
    struct words words = {.count = 0};
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    make_command_line(&words, options, holder, fd);
    if (options->for_pid != 0) {
        (void)unsetenv("USHER_HELD"); /* it describes us, not the process of --for */
    }
    /* do not inherit locks or pipes of the shell */
    if (nowhere >= 0 && dup2(nowhere, STDIN_FILENO) >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 &&
        close_on_exec(STDERR_FILENO + 1) == 0 && fcntl(fd, F_SETFD, 0) == 0 &&
        prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent) {
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        (void)execv("/proc/self/exe", words.argv);
    }
    _exit(cli_fail(CLI_OS, "cannot start a keeper: %s", strerror(errno)));
}

/* The keeper ended without a seat: end in the same way. */
static int end_like_keeper(pid_t keeper)
{
    int status;
    while (waitpid(keeper, &status, 0) < 0) {
        if (errno != EINTR) {
            return CLI_BUG;
        }
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) {
        sigset_t one;
        (void)sigemptyset(&one);
        (void)sigaddset(&one, SIGINT);
        (void)raise(SIGINT);
        (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        (void)cli_fail(CLI_OS, "the keeper was killed while it waited for a seat; try again");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Wait until the keeper sends its text or ends, and forward signals. Signals of the terminal have
   reached the keeper already. */
static ssize_t wait_for_keeper(pid_t child, int fd, int signals, char *text, size_t room)
{
    struct pollfd polled[] = {{fd, POLLIN, 0}, {signals, POLLIN, 0}};
    for (;;) {
        struct signalfd_siginfo info;
        (void)poll(polled, 2, -1);
        if (polled[0].revents != 0) {
            return recv(fd, text, room, 0);
        }
        if (polled[1].revents != 0 && read(signals, &info, sizeof info) == sizeof info &&
            info.ssi_code != SI_KERNEL) {
            (void)kill(child, (int)info.ssi_signo);
        }
    }
}

/* Print the seat that the keeper sends, and confirm it. */
static int print_seat(pid_t keeper, int fd, int signals)
{
    char text[CLI_SEAT_TEXT];
    char byte = 1;
    ssize_t length = wait_for_keeper(keeper, fd, signals, text, sizeof text - 1);
    if (length <= 0) {
        return end_like_keeper(keeper);
    }
    text[length] = '\0';
    (void)fputs(text, stdout);
    int status = cli_flush(CLI_OK);
    if (status != CLI_OK) { /* not printed: the keeper releases the seat */
        (void)close(fd);
        (void)end_like_keeper(keeper);
        return status;
    }
    if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || recv(fd, &byte, 1, 0) != 1) {
        return cli_fail(CLI_OS, "the keeper of the seat was killed; try again");
    }
    return CLI_OK;
}

int cli_keeper_start(const struct cli_options *options, pid_t holder)
{
    static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    int ends[2];
    sigset_t signals;
    sigset_t before;
    (void)sigemptyset(&signals);
    for (size_t s = 0; s < sizeof forwarded / sizeof forwarded[0]; s++) {
        struct sigaction now;
        if (sigaction(forwarded[s], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            (void)sigaddset(&signals, forwarded[s]);
        }
    }
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    (void)signal(SIGCHLD, SIG_DFL); /* if ignored, waitpid would not see the keeper end */
    int signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (signal_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return cli_fail(CLI_OS, "cannot start a keeper: %s", strerror(errno));
    }
    pid_t parent = getpid();
    pid_t keeper = fork();
    if (keeper == 0) {
        exec_keeper(options, holder, ends[1], &before, parent);
    }
    (void)close(ends[1]);
    return keeper < 0 ? cli_fail(CLI_OS, "cannot start a keeper: %s", strerror(errno))
                      : print_seat(keeper, ends[0], signal_fd);
}

/* A keeper that has handed its seat over, as /proc shows it. */
struct kept {
    char text[CMDLINE_ROOM];
    const char *pool;
    pid_t holder;
    bool lost;
};

/* Is the process such a keeper? If so, fill in *kept. */
static bool read_keeper(pid_t pid, struct kept *kept)
{
    char name[32];
    const char *words[MOST_WORDS + 2];
    size_t count = 0;
    (void)cli_read_process(pid, "comm", name, sizeof name);
    name[strcspn(name, "\n")] = '\0';
    kept->lost = strcmp(name, CLI_KEEPER_LOST) == 0;
    if (!kept->lost && strcmp(name, CLI_KEEPER_HOLDS) != 0) {
        return false;
    }
    size_t length = cli_read_process(pid, "cmdline", kept->text, sizeof kept->text);
    for (const char *at = kept->text; at < kept->text + length && count < MOST_WORDS + 2;
         at += strlen(at) + 1) {
        words[count++] = at;
    }
    if (count < 5 || strcmp(words[1], "keep") != 0) {
        return false;
    }
    kept->pool = words[count - 3];
    kept->holder = (pid_t)strtol(words[count - 2], NULL, 10);
    return true;
}

pid_t cli_keeper_shell(pid_t keeper)
{
    static struct kept kept;
    return keeper > 0 && read_keeper(keeper, &kept) && !kept.lost ? kept.holder : 0;
}

/* Is it a keeper of that pool for that holder (0: any holder)? */
static bool is_keeper_of(pid_t pid, const char *pool, pid_t holder, struct kept *kept)
{
    return read_keeper(pid, kept) && strcmp(kept->pool, pool) == 0 &&
           (holder == 0 || kept->holder == holder);
}

/* Before Linux 5.3 no signal can be sent to a process that is pinned, and there are only keepers of
   pools on this machine: they check often by themselves, and end then. */
static int await_keeper(pid_t pid, const char *pool, pid_t holder)
{
    enum { TRIES = 500 };
    static struct kept kept;
    const struct timespec pause = {0, 10 * 1000 * 1000};
    int tries = 0;
    while (tries < TRIES && is_keeper_of(pid, pool, holder, &kept)) {
        (void)nanosleep(&pause, NULL);
        tries++;
    }
    return tries > 0;
}

/* If the process is a keeper of that pool for that holder, end it and wait until it has ended; of a
   pool on this machine, at most 5 s: it stays if the holder has got another seat meanwhile. Returns
   1, or 0 if it is no such keeper. */
static int end_keeper(pid_t pid, const char *pool, pid_t holder, int *lost)
{
    static struct kept kept;
    int fd = pidfd_open(pid, 0); /* pins the process: its pid cannot be reused below */
    int released = 0;
    if (fd < 0 && errno == ENOSYS) {
        return await_keeper(pid, pool, holder);
    }
    if (fd >= 0 && is_keeper_of(pid, pool, holder, &kept) &&
        pidfd_send_signal(fd, SIGTERM, NULL, 0) == 0) {
        struct pollfd ended = {fd, POLLIN, 0};
        while (poll(&ended, 1, cli_is_remote(pool) ? -1 : 5000) < 0 && errno == EINTR) {
        }
        *lost += kept.lost;
        released = 1;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return released;
}

/* The next process of this user; 0 at the end. */
static pid_t next_process(DIR *directory)
{
    struct stat status;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (isdigit((unsigned char)entry->d_name[0]) &&
            fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
            status.st_uid == geteuid()) {
            return (pid_t)strtol(entry->d_name, NULL, 10);
        }
    }
    return 0;
}

int cli_keepers_release(const char *pool, pid_t holder, int *lost)
{
    DIR *directory = opendir("/proc");
    int released = 0;
    if (directory == NULL) {
        return -errno;
    }
    for (pid_t pid; (pid = next_process(directory)) != 0;) {
        released += end_keeper(pid, pool, holder, lost);
    }
    (void)closedir(directory);
    return released;
}

bool cli_needs_keeper(void)
{
    const ino_t machine = 0xeffffffc; /* of the first pid namespace: a constant of Linux */
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino != machine;
}

bool cli_has_keeper(const char *pool)
{
    static struct kept kept;
    DIR *directory = opendir("/proc");
    bool found = false;
    for (pid_t pid; !found && directory != NULL && (pid = next_process(directory)) != 0;) {
        found = is_keeper_of(pid, pool, 0, &kept);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return found;
}
