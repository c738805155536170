/*
 * Waiting for a seat as the commands do it: a signal ends the wait, and on a terminal a line says
 * how it stands.
 */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

enum { FIRST_LINE_MS = 500, MOST_GUESTS = 64 };

#define AGAIN_NS 5000000000 /* so often the servers of a pool that is elsewhere are asked */

#define MOST_USUAL_NS 10000000000000 /* a quarter of a year: times all who can wait it fits */

static volatile sig_atomic_t caught, from_terminal;

/* A signal just before the wait goes to sleep would be missed: it is repeated until it is heard. */
static void on_signal(int signal_, siginfo_t *info, void *context)
{
    struct itimerval often = {{0, 20000}, {0, 20000}};
    (void)context;
    if (signal_ != SIGALRM) {
        caught = signal_;
        from_terminal = info->si_code == SI_KERNEL;
    }
    (void)setitimer(ITIMER_REAL, &often, NULL);
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};

enum { ENDING = sizeof ending / sizeof ending[0] };

static void listen(struct sigaction *before)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    for (unsigned s = 0; s < ENDING; s++) {
        (void)sigaction(ending[s], NULL, &before[s]);
        if (before[s].sa_handler != SIG_IGN) { /* nohup stays nohup */
            (void)sigaction(ending[s], &action, NULL);
        }
    }
}

static void stop_listening(const struct sigaction *before)
{
    struct itimerval never = {{0, 0}, {0, 0}};
    (void)setitimer(ITIMER_REAL, &never, NULL);
    for (unsigned s = 0; s < ENDING; s++) {
        (void)sigaction(ending[s], &before[s], NULL);
    }
}

/* The mean time that a seat was held lately, or MOST_USUAL_NS; 0: nothing is known. Whoever may
   write the pool may have made it up. */
static int64_t usual_ns(struct usher_pool *pool)
{
    struct usher_past past[32];
    int known = usher_history(pool, past, 32);
    int64_t sum = 0;
    known = known > 32 ? 32 : known;
    for (int p = 0; p < known; p++) {
        sum += (int64_t)past[p].held_ms * 1000000;
    }
    sum = known > 0 ? sum / known : 0;
    return sum < MOST_USUAL_NS ? sum : MOST_USUAL_NS;
}

/* How long it may yet take: seats come free one after the other, each after the usual time. */
static int64_t expected_ns(struct usher_pool *pool, const struct usher_guest *guests, int count,
                           uint32_t position, uint32_t seats)
{
    int64_t usual = usual_ns(pool);
    int64_t now = cli_now_ns();
    int64_t soonest = usual;
    for (int g = 0; g < count; g++) {
        if (guests[g].position == 0 && guests[g].since_ns != 0) {
            int64_t left = usual - (guests[g].since_ns < now ? now - guests[g].since_ns : 0);
            soonest = left < soonest ? (left > 0 ? left : 0) : soonest;
        }
    }
    return usual == 0 || seats == 0
               ? -1
               : soonest + usual * (int64_t)((position - 1) / seats) +
                     (seats > 1 ? usual * (int64_t)((position - 1) % seats) / seats : 0);
}

/* The place in line of this process, 0 if it is not known, and who has held a seat longest. */
static uint32_t place_of(const struct usher_guest *guests, int count,
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

/* One line of less than `room`. What is long is the holder's command, and it makes do with what the
   rest leaves. */
static void describe(struct cli_wait *wait, char *line, size_t room)
{
    enum { NAME = 32, LEAST_COMMAND = 8 };
    struct usher_info info;
    struct usher_guest guests[MOST_GUESTS];
    const struct usher_guest *longest;
    char text[32];
    char who[96];
    char tail[96] = "";
    int count = cli_inspect(wait->pool, &info, guests, MOST_GUESTS);
    count = count > MOST_GUESTS ? MOST_GUESTS : count;
    uint32_t position = place_of(guests, count, &longest);
    size_t name = strlen(wait->pool_name);
    (void)snprintf(line, room, "usher: %s%s: ", name > NAME ? ".." : "",
                   wait->pool_name + (name > NAME ? name - NAME : 0));
    if (position != 0) {
        append(line, room, "number %u of %u ", position, info.waiters);
    }
    append(line, room, "in line");
    if (longest != NULL) {
        append(line, room, "; %s", cli_who(longest, who, sizeof who));
        append(tail, sizeof tail, " for %s",
               cli_duration(cli_now_ns() - longest->since_ns, text, sizeof text));
    }
    int64_t left =
        position == 0 ? -1 : expected_ns(wait->pool, guests, count, position, info.seats);
    if (left >= 1000000000) { /* less is overdue: nothing is known of it */
        append(tail, sizeof tail, "; about %s", cli_duration(left, text, sizeof text));
    }
    size_t taken = strlen(line) + strlen(tail) + 1;
    if (longest != NULL && taken + LEAST_COMMAND < room) {
        char command[64];
        size_t fits = room - taken < sizeof command ? room - taken : sizeof command;
        append(line, room, " %s", cli_command(longest, command, fits));
    }
    append(line, room, "%s", tail);
}

static void show(struct cli_wait *wait)
{
    char line[256];
    struct winsize size;
    size_t width = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) {
        width = size.ws_col;
    }
    describe(wait, line, width < sizeof line ? width : sizeof line);
    (void)fprintf(stderr, "\r\033[K%s", line);
    (void)fflush(stderr);
    wait->shown = true;
    wait->shown_ns = cli_now_ns();
}

static int waiting(struct usher_pool *pool, void *context)
{
    struct cli_wait *wait = context;
    if (caught != 0) {
        return 1;
    }
    /* a job in the background does not write over the one in front */
    if (!wait->options->quiet && tcgetpgrp(STDERR_FILENO) == getpgrp() &&
        cli_now_ns() - wait->began_ns >= (int64_t)FIRST_LINE_MS * 1000000 &&
        (!wait->shown || !cli_is_elsewhere(wait->pool_name) ||
         cli_now_ns() - wait->shown_ns >= AGAIN_NS)) {
        wait->pool = pool;
        show(wait);
    }
    return 0;
}

int cli_open(struct cli_wait *wait, struct cli_options *options, unsigned flags)
{
    *wait = (struct cli_wait){.pool_name = options->pool, .options = options};
    struct usher_options how = {.seats = options->seats,
                                .guests = options->guests,
                                .mode = options->mode,
                                .flags = flags | USHER_TIMES,
                                .waiting = waiting,
                                .context = wait,
                                .labels = options->labels,
                                .note = options->note,
                                .waiting_ms =
                                    isatty(STDERR_FILENO) && !options->quiet ? FIRST_LINE_MS : 0};
    int error = usher_open(&wait->pool, options->pool, &how);
    if (error == -EDOM) {
        struct usher_pool *there;
        struct usher_info info = {0}; /* should it be removed meanwhile */
        struct usher_options any = {.flags = USHER_EXISTING};
        if (usher_open(&there, options->pool, &any) == 0) {
            (void)usher_inspect(there, &info, NULL, 0);
            usher_close(there);
            return cli_fail(CLI_OTHER_SEATS,
                            "pool %s: it has %u seats, not %u; leave -k out, or change it with "
                            "'usher resize %s %u'",
                            options->pool, info.seats, options->seats, options->pool,
                            options->seats);
        }
    }
    return error == 0 ? 0 : cli_fail_pool(options->pool, error, !(flags & USHER_EXISTING));
}

static int acquire(struct cli_wait *wait, struct usher_seat *seat)
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

int cli_get_seat(struct cli_wait *wait, struct usher_seat *seat)
{
    struct sigaction before[ENDING];
    char waited[32];
    wait->began_ns = cli_now_ns();
    listen(before);
    int error = acquire(wait, seat);
    stop_listening(before);
    if (wait->shown) {
        (void)fputs("\r\033[K", stderr);
    }
    if (error == 0 && caught != 0) { /* it came when all was had already */
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
            (void)fprintf(stderr, "usher: pool %s: no seat was had in %s\n", wait->pool_name,
                          waited);
        }
        return wait->options->not_had;
    }
    if (error != 0) {
        return cli_fail_pool(wait->pool_name, error, false);
    }
    if (wait->options->verbose) {
        (void)fprintf(stderr, "usher: pool %s: seat %u with ticket %llu after %s%s\n",
                      wait->pool_name, seat->number, (unsigned long long)seat->ticket, waited,
                      seat->flags & USHER_INHERITED ? "; its last holder died in it" : "");
    }
    wait->had = true;
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

const char *cli_label(const struct cli_options *options, uint32_t seat, char *room, size_t size)
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
