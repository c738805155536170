/*
 * usage: usher top [POOL..]
 *
 * A live view of pools: the terminal, the keys, and leaving the terminal as it was. What is shown
 * is in top.h and its files.
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

/* The terminal as we found it, and what to write to leave it: for who cannot wait for ncurses. */
static struct termios found;
static char leaving[64];

static SCREEN *screen;

static volatile sig_atomic_t caught;

static void restore_now(void)
{
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &found);
    ssize_t ignored = write(STDOUT_FILENO, leaving, strlen(leaving));
    (void)ignored;
}

static void die_of(int signal_)
{
    (void)signal(signal_, SIG_DFL);
    sigset_t one;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, signal_);
    (void)raise(signal_);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/* The first ends the loop; the second does not wait for a terminal that takes no output. */
static void on_ending(int signal_)
{
    if (caught != 0) {
        (void)tcflush(STDOUT_FILENO, TCOFLUSH);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &found);
        die_of(signal_);
    }
    caught = signal_;
}

static void on_fault(int signal_)
{
    restore_now();
    die_of(signal_);
}

static void listen(void)
{
    static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT};
    struct sigaction before;
    struct sigaction ending = {.sa_handler = on_ending};
    struct sigaction fault = {.sa_handler = on_fault};
    for (size_t s = 0; s < sizeof endings / sizeof endings[0]; s++) {
        (void)sigaction(endings[s], NULL, &before);
        if (before.sa_handler != SIG_IGN) { /* nohup stays nohup */
            (void)sigaction(endings[s], &ending, NULL);
        }
    }
    for (size_t s = 0; s < sizeof faults / sizeof faults[0]; s++) {
        (void)sigaction(faults[s], &fault, NULL);
    }
}

static void note_capability(const char *name)
{
    const char *text = tigetstr(name);
    size_t used = strlen(leaving);
    if (text != NULL && text != (char *)-1 && used + strlen(text) < sizeof leaving) {
        memcpy(leaving + used, text, strlen(text) + 1);
    }
}

/* 0, or an exit code after a message. */
static int begin(void)
{
    int unused;
    const char *type = getenv("TERM");
    (void)setlocale(LC_CTYPE, "");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &found) != 0) {
        return cli_fail(CLI_USAGE, "top: this is not a terminal; 'usher status' prints the same "
                                   "once, 'usher status --json' for scripts");
    }
    if (setupterm(NULL, STDOUT_FILENO, &unused) != OK || tigetstr("cup") == NULL) {
        return cli_fail(CLI_USAGE,
                        "top: a terminal of the type '%s' is not known, or cannot do it; set TERM, "
                        "or use 'usher status'",
                        type == NULL ? "" : type);
    }
    note_capability("rmcup");
    note_capability("cnorm");
    note_capability("sgr0");
    (void)del_curterm(cur_term);
    listen();
    screen = newterm(NULL, stdout, stdin);
    if (screen == NULL) {
        return cli_fail(CLI_OS, "top: the terminal cannot be used");
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
        ours.c_iflag &= ~(tcflag_t)IXON; /* or Ctrl-S would hold us in a write */
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &ours);
        (void)def_prog_mode();
    }
    return 0;
}

/* Stopped from the terminal, we may have missed a change of size. */
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

/* Whether to go on. */
static bool press(struct top *top, int key)
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
        top_pick(top, -1);
        break;
    case KEY_DOWN:
    case 'j':
        top_pick(top, 1);
        break;
    case KEY_HOME:
    case 'g':
        top_pick(top, -(long)top->count);
        break;
    case KEY_END:
    case 'G':
        top_pick(top, (long)top->count);
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

/* Sleep until a key is pressed or it is time to look again. Whether to go on. */
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
        go_on = press(top, key);
    }
    return go_on && caught == 0;
}

static int watch(struct top *top)
{
    sigset_t stop;
    sigset_t mask;
    /* ncurses leaves the terminal, and comes back, in its handler of the stop key: only while we
       sleep, and not while it is writing. */
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTSTP);
    (void)sigprocmask(SIG_BLOCK, &stop, &mask);
    bool enough;
    do {
        follow_size();
        enough = top_look(top);
        if (enough) {
            top_draw(top);
        }
    } while (enough && wait_for_key(top, &mask));
    (void)endwin();
    delscreen(screen);
    return enough ? CLI_OK : cli_fail(CLI_OS, "out of memory");
}

/* The pools that the user named must be there now; later they may come and go. */
static int add_named(struct top *top, const char *name)
{
    struct usher_pool *pool;
    struct usher_options existing = {.flags = USHER_EXISTING};
    int error = usher_open(&pool, name, &existing);
    if (error != 0) {
        return cli_fail_pool(name, error, false);
    }
    usher_close(pool);
    top->named = true;
    return top_add(top, name) != NULL ? 0 : cli_fail(CLI_OS, "out of memory");
}

static int top(int argc, char **argv)
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
        error = cli_fail(CLI_OS, "the path of the directory of pools is too long");
    }
    for (int a = options.rest; error == 0 && a < argc; a++) {
        error = add_named(&view, argv[a]);
    }
    error = error == 0 ? begin() : error;
    error = error == 0 ? watch(&view) : error;
    top_free(&view);
    if (caught != 0) {
        die_of(caught);
    }
    return error;
}

const struct cli_verb cli_top = {
    "top",
    "top [POOL..]",
    "a live view of pools",
    "Shows pools, and for the picked one who holds which seat, who waits, and for how\n"
    "long; kept up to date twice a second. Without a pool: all pools of the directory\n"
    "($USHER_DIR, else $XDG_RUNTIME_DIR/usher, else /dev/shm/usher-UID), those that are\n"
    "made later, too. It needs a terminal; 'usher status' does not.\n\n"
    "  Up, Down, k, j     pick a pool; Home, End: the first, the last\n"
    "  n, w, f            order of pools: name, most waiting, most free\n"
    "  s, t               order of seats: number, longest held\n"
    "  PgUp, PgDn         scroll the seats and the line\n"
    "  ?                  help: what the columns are\n"
    "  q                  quit\n",
    top,
};
