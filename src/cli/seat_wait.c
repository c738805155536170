/*
 * Wait for a seat. A signal ends the wait. On a terminal, one line shows the place in line, the
 * estimated time and the longest holder.
 */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

enum { FIRST_LINE_MS = 500, MOST_GUESTS = 64 };

/* The line of a remote pool is redrawn this often, because that asks the servers. */
#define REMOTE_LINE_NS 5000000000

/* 2.8 h: times 65535 waiters it fits an int64_t. */
#define MOST_HOLD_NS 10000000000000

static volatile sig_atomic_t caught, from_terminal;

/* A signal that arrives just before the waiter sleeps would be missed. So a timer repeats SIGALRM
   until the wait ends. */
static void on_signal(int signal_, siginfo_t *info, void *context)
{
    struct itimerval repeat = {{0, 20000}, {0, 20000}};
    (void)context;
    if (signal_ != SIGALRM) {
        caught = signal_;
        from_terminal = info->si_code == SI_KERNEL;
    }
    (void)setitimer(ITIMER_REAL, &repeat, NULL);
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};

enum { ENDING = sizeof ending / sizeof ending[0] };

static void catch_signals(struct sigaction *before)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    for (unsigned s = 0; s < ENDING; s++) {
        (void)sigaction(ending[s], NULL, &before[s]);
        if (before[s].sa_handler != SIG_IGN) { /* keep nohup working */
            (void)sigaction(ending[s], &action, NULL);
        }
    }
}

static void restore_signals(const struct sigaction *before)
{
    struct itimerval never = {{0, 0}, {0, 0}};
    (void)setitimer(ITIMER_REAL, &never, NULL);
    for (unsigned s = 0; s < ENDING; s++) {
        (void)sigaction(ending[s], &before[s], NULL);
    }
}

/* The mean time that the last 32 holders held a seat, at most MOST_HOLD_NS, because every user of
   the pool can write wrong times; 0 if there is no history. */
static int64_t mean_hold_ns(struct usher_pool *pool)
{
    struct usher_past past[32];
    int known = usher_history(pool, past, 32);
    int64_t sum = 0;
    known = known > 32 ? 32 : known;
    for (int p = 0; p < known; p++) {
        sum += (int64_t)past[p].held_ms * 1000000;
    }
    sum = known > 0 ? sum / known : 0;
    return sum < MOST_HOLD_NS ? sum : MOST_HOLD_NS;
}

/* Estimate the time until our turn, if each holder holds its seat for the mean time; -1:
   unknown. */
static int64_t expected_ns(struct usher_pool *pool, const struct usher_guest *guests, int count,
                           uint32_t position, uint32_t seats)
{
    int64_t hold = mean_hold_ns(pool);
    int64_t now = cli_now_ns();
    int64_t soonest = hold;
    for (int g = 0; g < count; g++) {
        if (guests[g].position == 0 && guests[g].since_ns != 0) {
            int64_t left = hold - (guests[g].since_ns < now ? now - guests[g].since_ns : 0);
            soonest = left < soonest ? (left > 0 ? left : 0) : soonest;
        }
    }
    return hold == 0 || seats == 0
               ? -1
               : soonest + hold * (int64_t)((position - 1) / seats) +
                     (seats > 1 ? hold * (int64_t)((position - 1) % seats) / seats : 0);
}

/* The place of this process in line, 0 if unknown; and the longest holder, or NULL. */
static uint32_t find_place(const struct usher_guest *guests, int count,
                           const struct usher_guest **longest)
{
    uint32_t position = 0;
    *longest = NULL;
    for (int g = 0; g < count; g++) {
        if (guests[g].position != 0 && guests[g].pid == getpid()) {
            position = guests[g].position;
        }
        if (guests[g].position == 0 && guests[g].since_ns != 0 &&
            (*longest == NULL || guests[g].since_ns < (*longest)->since_ns)) {
            *longest = &guests[g];
        }
    }
    return position;
}

__attribute__((format(printf, 3, 4))) static void append(char *line, size_t room,
                                                         const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(line);
    va_start(arguments, format);
    (void)vsnprintf(line + used, room - used, format, arguments);
    va_end(arguments);
}

/* 1st, 2nd, 3rd, 4th, 11th, 21st. */
static const char *ordinal_ending(uint32_t number)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    return number % 10 > 3 || number / 10 % 10 == 1 ? "th" : endings[number % 10];
}

/* Append the longest holder: its command, its pid and how long it has held. On a narrow terminal
   the command is truncated or left out. */
static void append_holder(char *line, size_t room, const struct usher_guest *holder)
{
    static const struct {
        const char *text;
        size_t least; /* columns of the command */
    } forms[] = {{" (longest holder: ", 12}, {" (held by ", 4}};
    char command[64];
    char held[32];
    char who[96];
    char tail[160];
    (void)cli_command(holder, command, sizeof command);
    (void)snprintf(tail, sizeof tail, "pid %s, %s)", cli_pid_text(holder, who, sizeof who),
                   cli_short_duration(cli_now_ns() - holder->since_ns, held, sizeof held));
    size_t length = strlen(command);
    for (size_t f = 0; f < 2; f++) {
        size_t taken = strlen(line) + strlen(forms[f].text) + strlen(", ") + strlen(tail) + 1;
        if (taken + (length < forms[f].least ? length : forms[f].least) <= room) {
            append(line, room, "%s%s, %s", forms[f].text, cli_truncate(command, room - taken),
                   tail);
            return;
        }
    }
    if (strlen(line) + strlen(forms[1].text) + strlen(tail) < room) {
        append(line, room, "%s%s", forms[1].text, tail);
    }
}

/* Write the line that the terminal shows, in less than `room` bytes. */
static void format_line(struct cli_wait *wait, char *line, size_t room)
{
    enum { NAME = 20 };
    struct usher_info info;
    struct usher_guest guests[MOST_GUESTS];
    const struct usher_guest *longest;
    char text[32];
    int count = cli_inspect(wait->pool, &info, guests, MOST_GUESTS);
    count = count > MOST_GUESTS ? MOST_GUESTS : count;
    uint32_t position = find_place(guests, count, &longest);
    size_t name = strlen(wait->pool_name);
    (void)snprintf(line, room, "usher: waiting for %s%s", name > NAME ? ".." : "",
                   wait->pool_name + (name > NAME ? name - NAME : 0));
    if (position != 0) {
        append(line, room, ": %u%s of %u", position, ordinal_ending(position), info.waiters);
    }
    int64_t left =
        position == 0 ? -1 : expected_ns(wait->pool, guests, count, position, info.seats);
    if (left >= 1000000000) { /* a shorter estimate is overdue, and says nothing */
        append(line, room, ", about %s", cli_short_duration(left, text, sizeof text));
    }
    if (longest != NULL) {
        append_holder(line, room, longest);
    }
}

static void draw_line(struct cli_wait *wait)
{
    char line[256];
    struct winsize size;
    size_t width = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) {
        width = size.ws_col;
    }
    format_line(wait, line, width < sizeof line ? width : sizeof line);
    (void)fprintf(stderr, "\r\033[K%s", line);
    (void)fflush(stderr);
    wait->shown = true;
    wait->shown_ns = cli_now_ns();
}

/* Called by the library while it waits. Returns 1 to end the wait. */
static int on_waiting(struct usher_pool *pool, void *context)
{
    struct cli_wait *wait = context;
    if (caught != 0) {
        return 1;
    }
    /* a background job does not write over the foreground job */
    if (!wait->options->quiet && tcgetpgrp(STDERR_FILENO) == getpgrp() &&
        cli_now_ns() - wait->began_ns >= (int64_t)FIRST_LINE_MS * 1000000 &&
        (!wait->shown || !cli_is_remote(wait->pool_name) ||
         cli_now_ns() - wait->shown_ns >= REMOTE_LINE_NS)) {
        wait->pool = pool;
        draw_line(wait);
    }
    return 0;
}

/* The pool or its definition has another number of seats than -k or --labels says. */
static int fail_other_seats(const struct cli_options *options)
{
    struct usher_pool *pool;
    struct usher_info info = {0}; /* stays 0 if the pool is removed meanwhile */
    struct usher_options existing = {.flags = USHER_EXISTING};
    char path[PATH_MAX];
    int error = usher_open(&pool, options->pool, &existing);
    int defined = error == -ENOENT ? usher_definition(options->pool, path, sizeof path) : 0;
    if (defined > 0) {
        return cli_fail(CLI_OTHER_SEATS,
                        "pool %s: %s says %d seat%s, not %u; leave -k out, or change that file",
                        options->pool, path, defined, cli_s((unsigned)defined), options->seats);
    }
    if (error != 0) {
        return cli_fail_pool(options->pool, -EDOM, true);
    }
    (void)usher_inspect(pool, &info, NULL, 0);
    usher_close(pool);
    return cli_fail(CLI_OTHER_SEATS,
                    "pool %s: has %u seat%s, not %u; %s, or run 'usher resize %s %u'",
                    options->pool, info.seats, cli_s(info.seats), options->seats,
                    options->labels == NULL ? "leave -k out" : "give a label for each seat",
                    options->pool, options->seats);
}

/* The seats have the names that the pool has for them. */
static int take_labels(const struct cli_wait *wait, struct cli_options *options)
{
    int length = usher_labels(wait->pool, NULL, 0);
    char *labels = length > 0 ? malloc((size_t)length + 1) : NULL;
    if (length <= 0) {
        return 0;
    }
    if (labels == NULL) {
        return cli_fail(CLI_OS, "out of memory");
    }
    (void)usher_labels(wait->pool, labels, (size_t)length + 1);
    if (options->labels != NULL && strcmp(options->labels, labels) != 0) {
        int status = cli_fail(CLI_OTHER_SEATS,
                              "pool %s: its seats are named %.200s, not %.200s; leave --labels out",
                              options->pool, labels, options->labels);
        free(labels);
        return status;
    }
    options->labels = labels; /* until the program ends */
    return 0;
}

/* There is neither a pool nor a definition, and -k was not given. */
static int fail_unknown(const char *pool)
{
    return cli_fail(CLI_NO_POOL,
                    "pool %s: there is no such pool, and nothing defines one; check the name, or "
                    "create it with -k SEATS",
                    pool);
}

int cli_open(struct cli_wait *wait, struct cli_options *options, unsigned flags)
{
    flags |= flags & USHER_EXISTING ? 0 : USHER_DEFINED;
    *wait = (struct cli_wait){.pool_name = options->pool, .options = options};
    struct usher_options how = {.seats = options->seats,
                                .guests = options->guests,
                                .mode = options->mode,
                                .flags = flags | USHER_TIMES,
                                .waiting = on_waiting,
                                .context = wait,
                                .labels = options->labels,
                                .note = options->note,
                                .group = options->group,
                                .waiting_ms =
                                    isatty(STDERR_FILENO) && !options->quiet ? FIRST_LINE_MS : 0};
    int error = usher_open(&wait->pool, options->pool, &how);
    if (error == -EDOM) {
        return fail_other_seats(options);
    }
    if (error == -ENOENT && (flags & USHER_DEFINED) && options->seats == 0) {
        char path[PATH_MAX];
        if (cli_is_remote(options->pool) ||
            usher_definition(options->pool, path, sizeof path) == -ENOENT) {
            return fail_unknown(options->pool);
        }
    }
    if (error != 0) {
        return cli_fail_pool(options->pool, error, !(flags & USHER_EXISTING));
    }
    error = take_labels(wait, options);
    if (error != 0) {
        usher_close(wait->pool);
    }
    return error;
}

static int acquire_seat(struct cli_wait *wait, struct usher_seat *seat)
{
    if (wait->options->wait_ns == 0) {
        return usher_try_acquire(wait->pool, seat);
    }
    if (wait->options->wait_ns == INT64_MAX) {
        return usher_acquire(wait->pool, seat);
    }
    int64_t until = wait->began_ns + wait->options->wait_ns;
    struct timespec deadline = {until / 1000000000, until % 1000000000};
    return usher_acquire_until(wait->pool, seat, &deadline);
}

/* The guest table is full. */
static int fail_full(const struct cli_wait *wait)
{
    struct usher_info info = {0};
    (void)usher_inspect(wait->pool, &info, NULL, 0);
    return cli_fail(CLI_UNUSABLE,
                    "pool %s: full: %u of %u guest rows are in use; try again later, or create the "
                    "pool with more --guests",
                    wait->pool_name, info.guests_used, info.guests);
}

int cli_get_seat(struct cli_wait *wait, struct usher_seat *seat)
{
    struct sigaction before[ENDING];
    char waited[32];
    wait->began_ns = cli_now_ns();
    catch_signals(before);
    int error = acquire_seat(wait, seat);
    restore_signals(before);
    if (wait->shown) {
        (void)fputs("\r\033[K", stderr);
    }
    if (error == 0 && caught != 0) { /* the signal came after the grant */
        (void)usher_release(wait->pool, seat);
        error = -ECANCELED;
    }
    (void)cli_duration(cli_now_ns() - wait->began_ns, waited, sizeof waited);
    if (error == -ECANCELED) {
        wait->interrupted = caught == SIGINT && from_terminal;
        return 128 + caught;
    }
    if (error == -EAGAIN || error == -ETIMEDOUT) {
        if (wait->options->verbose) {
            bool waits = wait->options->wait_ns > 0;
            (void)fprintf(stderr, "usher: pool %s: no seat %s%s\n", wait->pool_name,
                          waits ? "became free in " : "is free", waits ? waited : "");
        }
        return wait->options->no_seat_code;
    }
    if (error == -EUSERS) {
        return fail_full(wait);
    }
    if (error != 0) {
        return cli_fail_pool(wait->pool_name, error, false);
    }
    if (wait->options->verbose) {
        (void)fprintf(stderr, "usher: pool %s: got seat %u with ticket %llu after %s%s\n",
                      wait->pool_name, seat->number, (unsigned long long)seat->ticket, waited,
                      seat->flags & USHER_INHERITED ? "; its last holder died without releasing it"
                                                    : "");
    }
    wait->got_seat = true;
    return 0;
}

int cli_close(struct cli_wait *wait, int status)
{
    usher_close(wait->pool);
    if (wait->interrupted) {
        sigset_t one;
        (void)sigemptyset(&one);
        (void)sigaddset(&one, SIGINT);
        (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
        (void)raise(SIGINT);
    }
    return status;
}

const char *cli_seat_label(const struct cli_options *options, uint32_t seat, char *room,
                           size_t size)
{
    const char *at = options->labels;
    if (at == NULL) {
        return NULL;
    }
    for (; seat > 0 && at != NULL; seat--) {
        at = strchr(at, ',');
        at = at == NULL ? NULL : at + 1;
    }
    if (at == NULL) {
        return NULL;
    }
    (void)snprintf(room, size, "%.*s", (int)strcspn(at, ","), at);
    return room;
}
