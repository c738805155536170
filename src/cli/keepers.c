/*
 * Keepers from outside (keeper.c is one from inside): usher acquire starts one, usher release finds
 * those of a shell and has them end. There is no list of them but that of the processes: a keeper
 * says by its command line, `usher keep .. POOL PID FD`, and its name what it holds for whom.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 24, WORD_ROOM = 32, CMDLINE_ROOM = 2 * PATH_MAX };

/* The command line of a keeper. */
struct words {
    char texts[MOST_WORDS][WORD_ROOM];
    char *argv[MOST_WORDS + 1];
    unsigned count;
};

static void add(struct words *words, const char *word)
{
    words->argv[words->count++] = (char *)(uintptr_t)word;
}

static void add_number(struct words *words, const char *before, long long number)
{
    char *text = words->texts[words->count];
    (void)snprintf(text, WORD_ROOM, "%s%lld", before, number);
    add(words, text);
}

/* What acquire was asked for, asked of the keeper. */
static void command_line(struct words *words, const struct cli_options *options, pid_t holder,
                         int fd)
{
    add(words, "usher");
    add(words, "keep");
    if (options->seats != 0) {
        add_number(words, "-k", options->seats);
    }
    if (options->wait_ns != INT64_MAX) {
        char *text = words->texts[words->count];
        (void)snprintf(text, WORD_ROOM, "-w%lld.%09lld", (long long)(options->wait_ns / 1000000000),
                       (long long)(options->wait_ns % 1000000000));
        add(words, text);
    }
    if (options->not_had != CLI_NOT_HAD) {
        add_number(words, "-E", options->not_had);
    }
    if (options->guests != 0) {
        add_number(words, "--guests=", options->guests);
    }
    if (options->mode != 0) {
        char *text = words->texts[words->count];
        (void)snprintf(text, WORD_ROOM, "--mode=%o", (unsigned)options->mode);
        add(words, text);
    }
    if (options->signal != 0) {
        add_number(words, "--signal=", options->signal);
    }
    if (options->verbose) {
        add(words, "-v");
    }
    if (options->quiet) {
        add(words, "-q");
    }
    if (options->export_) {
        add(words, "--export");
    }
    add(words, "--");
    add(words, options->pool);
    add_number(words, "", holder);
    add_number(words, "", fd);
    add(words, NULL);
}

/* The keeper, from fork to exec. Until the seat is handed over it does not outlive us. */
static void become(const struct cli_options *options, pid_t holder, int fd, const sigset_t *mask,
                   pid_t parent)
{
    struct words words = {.count = 0};
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    command_line(&words, options, holder, fd);
    if (options->for_pid != 0) {
        (void)unsetenv("USHER_HELD"); /* that is about us, not about the one that was named */
    }
    /* What else the shell has open, a lock or a pipe, it has not opened for us. */
    if (nowhere >= 0 && dup2(nowhere, STDIN_FILENO) >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 &&
        close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0 &&
        fcntl(fd, F_SETFD, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 &&
        getppid() == parent) {
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        (void)execv("/proc/self/exe", words.argv);
    }
    _exit(cli_fail(CLI_OS, "cannot start a keeper: %s", strerror(errno)));
}

/* The keeper has ended without a seat: be as it was. */
static int end_like(pid_t keeper)
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
        (void)cli_fail(CLI_OS, "the keeper, which waited for a seat, has been killed");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Wait until the keeper says something, or ends. What the terminal sends, it has got already. */
static ssize_t listen_to(pid_t child, int fd, int signals, char *text, size_t room)
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

static int hand_on(pid_t keeper, int fd, int signals)
{
    char text[CLI_SEAT_TEXT];
    char known = 1;
    ssize_t length = listen_to(keeper, fd, signals, text, sizeof text - 1);
    if (length <= 0) {
        return end_like(keeper);
    }
    text[length] = '\0';
    (void)fputs(text, stdout);
    int status = cli_printed(CLI_OK);
    if (status != CLI_OK) { /* nobody knows the seat: it is given back */
        (void)close(fd);
        (void)end_like(keeper);
        return status;
    }
    if (send(fd, &known, 1, MSG_NOSIGNAL) != 1 || recv(fd, &known, 1, 0) != 1) {
        return cli_fail(CLI_OS, "the keeper of the seat has been killed");
    }
    return CLI_OK;
}

int cli_keeper_start(const struct cli_options *options, pid_t holder)
{
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    int ends[2];
    sigset_t signals;
    sigset_t before;
    (void)sigemptyset(&signals);
    for (size_t s = 0; s < sizeof passed_on / sizeof passed_on[0]; s++) {
        struct sigaction now;
        if (sigaction(passed_on[s], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            (void)sigaddset(&signals, passed_on[s]);
        }
    }
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    (void)signal(SIGCHLD, SIG_DFL); /* or its end would not be told */
    int signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (signal_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return cli_fail(CLI_OS, "cannot start a keeper: %s", strerror(errno));
    }
    pid_t parent = getpid();
    pid_t keeper = fork();
    if (keeper == 0) {
        become(options, holder, ends[1], &before, parent);
    }
    (void)close(ends[1]);
    return keeper < 0 ? cli_fail(CLI_OS, "cannot start a keeper: %s", strerror(errno))
                      : hand_on(keeper, ends[0], signal_fd);
}

/* A keeper that has handed its seat over, by what /proc says. */
struct kept {
    char text[CMDLINE_ROOM];
    const char *pool;
    pid_t holder;
    bool lost;
};

static bool look_at(pid_t pid, struct kept *kept)
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

pid_t cli_kept_for(pid_t keeper)
{
    static struct kept kept;
    return keeper > 0 && look_at(keeper, &kept) && !kept.lost ? kept.holder : 0;
}

static bool keeps(pid_t pid, const char *pool, pid_t holder, struct kept *kept)
{
    return look_at(pid, kept) && strcmp(kept->pool, pool) == 0 &&
           (holder == 0 || kept->holder == holder);
}

/* Have a process end, if it is a keeper of that pool for that holder. 1, or 0: it is not. */
static int release_one(pid_t pid, const char *pool, pid_t holder, int *lost)
{
    static struct kept kept;
    int fd = pidfd_open(pid, 0); /* from here on it is that process, or it is gone */
    int released = 0;
    if (fd >= 0 && keeps(pid, pool, holder, &kept) &&
        pidfd_send_signal(fd, SIGTERM, NULL, 0) == 0) {
        struct pollfd ended = {fd, POLLIN, 0};
        while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
        }
        *lost += kept.lost;
        released = 1;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return released;
}

/* The next process of our user; 0: there are no more. */
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
        released += release_one(pid, pool, holder, lost);
    }
    (void)closedir(directory);
    return released;
}

bool cli_is_kept(const char *pool)
{
    static struct kept kept;
    DIR *directory = opendir("/proc");
    bool found = false;
    for (pid_t pid; !found && directory != NULL && (pid = next_process(directory)) != 0;) {
        found = keeps(pid, pool, 0, &kept);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return found;
}
