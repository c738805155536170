/*
 * usage: usher top [POOL..]
 *
 * A live view of pools. This file opens the terminal, handles keys and signals, and restores the
 * terminal. top.h lists the files that fill the screen.
 */
#include "cli/top.h"

#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

enum { REFRESH_MS = 500, CTRL_L = 12 };

/* The terminal modes at the start, and the escape sequences that restore the screen. Signal
   handlers use them, because they must not call ncurses. */
static struct termios saved_modes;
static char restore_text[64];

static SCREEN *screen;

static volatile sig_atomic_t caught;

static void restore_terminal(void)
{
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &saved_modes);
    ssize_t ignored = write(STDOUT_FILENO, restore_text, strlen(restore_text));
    (void)ignored;
}

static void die_by_signal(int signal_)
{
    (void)signal(signal_, SIG_DFL);
    sigset_t one;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, signal_);
    (void)raise(signal_);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/* The first signal ends the loop. The second ends the process at once, even if the terminal takes
   no output. */
static void on_ending(int signal_)
{
    if (caught != 0) {
        (void)tcflush(STDOUT_FILENO, TCOFLUSH);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &saved_modes);
        die_by_signal(signal_);
    }
    caught = signal_;
}

static void on_fault(int signal_)
{
    restore_terminal();
    die_by_signal(signal_);
}

static void catch_signals(void)
{
    static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT};
    struct sigaction before;
    struct sigaction ending = {.sa_handler = on_ending};
    struct sigaction fault = {.sa_handler = on_fault};
    for (size_t s = 0; s < sizeof endings / sizeof endings[0]; s++) {
        (void)sigaction(endings[s], NULL, &before);
        if (before.sa_handler != SIG_IGN) { /* keep nohup working */
            (void)sigaction(endings[s], &ending, NULL);
        }
    }
    for (size_t s = 0; s < sizeof faults / sizeof faults[0]; s++) {
        (void)sigaction(faults[s], &fault, NULL);
    }
}

static void add_capability(const char *name)
{
    const char *text = tigetstr(name);
    size_t used = strlen(restore_text);
    if (text != NULL && text != (char *)-1 && used + strlen(text) < sizeof restore_text) {
        memcpy(restore_text + used, text, strlen(text) + 1);
    }
}

/* Returns 0, or an exit code after a message. */
static int open_terminal(void)
{
    int unused;
    const char *type = getenv("TERM");
    (void)setlocale(LC_CTYPE, "");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
        tcgetattr(STDIN_FILENO, &saved_modes) != 0) {
        return cli_fail(CLI_USAGE, "top: not a terminal; use 'usher status', or 'usher status "
                                   "--json' in scripts");
    }
    if (setupterm(NULL, STDOUT_FILENO, &unused) != OK || tigetstr("cup") == NULL) {
        return cli_fail(
            CLI_USAGE,
            "top: terminal type '%s' is unknown or too limited; set TERM, or use 'usher "
            "status'",
            type == NULL ? "" : type);
    }
    add_capability("rmcup");
    add_capability("cnorm");
    add_capability("sgr0");
    (void)del_curterm(cur_term);
    catch_signals();
    screen = newterm(NULL, stdout, stdin);
    if (screen == NULL) {
        return cli_fail(CLI_OS, "top: the terminal cannot be used; use 'usher status'");
    }
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)nodelay(stdscr, true);
    (void)keypad(stdscr, true);
    (void)set_escdelay(25);
    (void)curs_set(0);
    top_colours();
    struct termios ours;
    if (tcgetattr(STDIN_FILENO, &ours) == 0) {
        ours.c_iflag &= ~(tcflag_t)IXON; /* otherwise Ctrl-S would block us in a write */
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &ours);
        (void)def_prog_mode();
    }
    return 0;
}

/* Adopt a size that changed while we were stopped. */
static void follow_size(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 &&
        (size.ws_row != LINES || size.ws_col != COLS)) {
        (void)resizeterm(size.ws_row, size.ws_col);
    }
}

static void scroll_by(struct top *top, bool down)
{
    size_t page = top->page == 0 ? 1 : top->page;
    top->scroll = down ? top->scroll + page : top->scroll > page ? top->scroll - page : 0;
}

/* Returns false to quit. */
static bool handle_key(struct top *top, int key)
{
    if (key == 'q') {
        return false;
    }
    if (top->help && key != KEY_RESIZE) {
        top->help = false;
        return true;
    }
    switch (key) {
    case KEY_UP:
    case 'k':
        top_select(top, -1);
        break;
    case KEY_DOWN:
    case 'j':
        top_select(top, 1);
        break;
    case KEY_HOME:
    case 'g':
        top_select(top, -(long)top->count);
        break;
    case KEY_END:
    case 'G':
        top_select(top, (long)top->count);
        break;
    case 'n':
        top->pool_order = TOP_BY_NAME;
        break;
    case 'w':
        top->pool_order = TOP_BY_WAITING;
        break;
    case 'f':
        top->pool_order = TOP_BY_FREE;
        break;
    case 's':
        top->seat_order = TOP_BY_SEAT;
        break;
    case 't':
        top->seat_order = TOP_BY_TIME;
        break;
    case KEY_NPAGE:
    case ' ':
        scroll_by(top, true);
        break;
    case KEY_PPAGE:
        scroll_by(top, false);
        break;
    case '?':
    case 'h':
        top->help = true;
        break;
    case CTRL_L:
        (void)clearok(curscr, true);
        break;
    default:
        break;
    }
    return true;
}

/* Sleep until a key is pressed or the next refresh is due. Returns false to quit. */
static bool wait_for_key(struct top *top, const sigset_t *mask)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    struct timespec until = {0, (long)REFRESH_MS * 1000000};
    int key;
    bool go_on = true;
    (void)ppoll(&input, 1, &until, mask);
    if (input.revents & (POLLHUP | POLLERR | POLLNVAL)) {
        return false; /* the terminal is gone */
    }
    while (go_on && caught == 0 && (key = getch()) != ERR) {
        go_on = handle_key(top, key);
    }
    return go_on && caught == 0;
}

static int refresh_until_quit(struct top *top)
{
    sigset_t stop;
    sigset_t mask;
    /* The SIGTSTP handler of ncurses writes to the terminal: let it run only while we sleep. */
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTSTP);
    (void)sigprocmask(SIG_BLOCK, &stop, &mask);
    bool enough_memory;
    do {
        follow_size();
        enough_memory = top_refresh(top);
        if (enough_memory) {
            top_draw(top);
        }
    } while (enough_memory && wait_for_key(top, &mask));
    (void)endwin();
    delscreen(screen);
    return enough_memory ? CLI_OK : cli_fail(CLI_OS, "out of memory");
}

/* Add a pool that the user named. It must exist now; later it may be removed and created again. */
static int add_named(struct top *top, const char *name)
{
    struct usher_pool *pool;
    struct usher_options existing = {.flags = USHER_EXISTING | USHER_INSPECT};
    int error = usher_open(&pool, name, &existing);
    if (error != 0) {
        return cli_fail_pool(name, error, false);
    }
    usher_close(pool);
    top->named = true;
    return top_add(top, name) != NULL ? 0 : cli_fail(CLI_OS, "out of memory");
}

static int verb_top(int argc, char **argv)
{
    struct cli_options options;
    struct top view = {0};
    int error = cli_parse(&cli_top, 0, false, argc, argv, &options);
    if (error != 0) {
        return error;
    }
    if (options.pool != NULL) {
        error = add_named(&view, options.pool);
    } else if (usher_directory(view.directory, sizeof view.directory) != 0) {
        error = cli_fail(
            CLI_OS, "the path of the pool directory is too long; set USHER_DIR to a shorter one");
    }
    for (int a = options.rest; error == 0 && a < argc; a++) {
        error = add_named(&view, argv[a]);
    }
    error = error == 0 ? open_terminal() : error;
    error = error == 0 ? refresh_until_quit(&view) : error;
    top_free(&view);
    if (caught != 0) {
        die_by_signal(caught);
    }
    return error;
}

const struct cli_verb cli_top = {
    "top",
    "top [POOL..]",
    "show pools live",
    "Shows pools, and the holders and waiters of the selected pool. Refreshes twice a\n"
    "second. Without a pool: all pools of this user, as for status, including those\n"
    "created later.\n"
    "Needs a terminal; 'usher status' does not.\n\n"
    "  Up, Down, k, j     select a pool; Home, End: the first, the last\n"
    "  n, w, f            sort pools by name, most waiting, most free\n"
    "  s, t               sort seats by number, longest held\n"
    "  PgUp, PgDn         scroll the seats and the line\n"
    "  ?                  help: explain the columns\n"
    "  q                  quit\n",
    verb_top,
};
