/* The screen of usher top: see top.h. */
#include "cli/top.h"

#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void top_colours(void)
{
    const char *unwanted = getenv("NO_COLOR");
    bool plain = unwanted != NULL && unwanted[0] != '\0';
    if (has_colors() && start_color() == OK && use_default_colors() == OK && !plain) {
        (void)init_pair(TOP_GOOD, COLOR_GREEN, -1);
        (void)init_pair(TOP_BUSY, COLOR_YELLOW, -1);
        (void)init_pair(TOP_BAD, COLOR_RED, -1);
    }
}

/* The columns of the list of pools after the name, the most important first. */
static const struct {
    const char *title;
    int width;
} columns[] = {{"SEATS", 7},   {"FREE", 7},         {"WAITING", 9},
               {"PER MIN", 9}, {"MEDIAN WAIT", 13}, {"SERVED", 9}};

enum { COLUMNS = sizeof columns / sizeof columns[0], NAME_AT = 2, LEAST_NAME = 8, MOST_NAME = 40 };

/* The number of columns that fit, and the width that is left for the name. */
static int columns_shown(int *name_width)
{
    int shown = COLUMNS;
    *name_width = COLS - NAME_AT;
    for (int c = 0; c < COLUMNS; c++) {
        *name_width -= columns[c].width;
    }
    while (shown > 0 && *name_width < LEAST_NAME) {
        *name_width += columns[--shown].width;
    }
    *name_width = *name_width > MOST_NAME ? MOST_NAME : *name_width;
    return shown;
}

static void put_pool_heading(int y)
{
    int x;
    int shown = columns_shown(&x);
    (void)top_put(y, 0, COLS, TOP_BOLD, TOP_PLAIN, "  POOL");
    x += NAME_AT;
    for (int c = 0; c < shown; c++) {
        (void)top_put(y, x, columns[c].width, TOP_BOLD | TOP_RIGHT, TOP_PLAIN, "%s",
                      columns[c].title);
        x += columns[c].width;
    }
}

static void put_pool(const struct top *top, const struct top_pool *pool, int y)
{
    const struct usher_info *info = &pool->info;
    unsigned style = pool == top->selected ? TOP_REVERSE : TOP_NORMAL;
    char texts[COLUMNS][32];
    int x;
    int shown = columns_shown(&x);
    (void)top_put(y, 0, COLS, style, TOP_PLAIN, "%s", pool == top->selected ? ">" : "");
    (void)top_put(y, NAME_AT, x, style, TOP_PLAIN, "%s", pool->name);
    x += NAME_AT;
    if (!pool->open) {
        (void)top_put(y, x + 2, COLS, style, TOP_BAD, "%s", usher_strerror(pool->error));
        return;
    }
    (void)top_count(info->seats, texts[0], sizeof texts[0]);
    (void)top_count(info->free, texts[1], sizeof texts[1]);
    (void)top_count(info->waiters, texts[2], sizeof texts[2]);
    (void)top_count(pool->minute.served, texts[3], sizeof texts[3]);
    (void)snprintf(texts[4], sizeof texts[4], "-");
    if (pool->minute.timed) {
        (void)cli_duration((int64_t)pool->minute.waited_ms * 1000000, texts[4], sizeof texts[4]);
    }
    (void)top_count(info->served, texts[5], sizeof texts[5]);
    for (int c = 0; c < shown; c++) {
        enum top_colour colour = c == 1 && info->free > 0      ? TOP_GOOD
                                 : c == 2 && info->waiters > 0 ? TOP_BUSY
                                                               : TOP_PLAIN;
        (void)top_put(y, x, columns[c].width, style | TOP_RIGHT, colour, "%s", texts[c]);
        x += columns[c].width;
    }
}

static void put_title(const struct top *top, size_t shown)
{
    char what[64];
    char clock[16];
    time_t now = time(NULL);
    struct tm local;
    (void)strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&now, &local));
    if (shown < top->count && shown > 0) {
        (void)snprintf(what, sizeof what, "pools %zu to %zu of %zu", top->first + 1,
                       top->first + shown, top->count);
    } else {
        (void)snprintf(what, sizeof what, "%zu pool%s", top->count, top->count == 1 ? "" : "s");
    }
    int room = COLS >= 40 ? COLS - 10 : COLS;
    (void)top_put(0, 0, room, TOP_BOLD, TOP_PLAIN, "usher top: %s%s%s", what,
                  top->named ? "" : " in ", top->named ? "" : top->directory);
    if (COLS >= 40) {
        (void)top_put(0, COLS - 8, 8, TOP_NORMAL, TOP_PLAIN, "%s", clock);
    }
}

/* Draw the pools in the lines y to bottom - 1; the selected one is among them. */
static void put_pools(struct top *top, int y, int bottom)
{
    size_t room = (size_t)(bottom - y - 1);
    size_t selected = 0;
    while (top->pools[selected] != top->selected) {
        selected++;
    }
    size_t last = top->count > room ? top->count - room : 0; /* the last possible first line */
    top->first = top->first > last ? last : top->first;
    top->first = selected < top->first ? selected : top->first;
    top->first = selected >= top->first + room ? selected - room + 1 : top->first;
    put_pool_heading(y);
    for (size_t p = 0; p < room && top->first + p < top->count; p++) {
        put_pool(top, top->pools[top->first + p], y + 1 + (int)p);
    }
}

/* Draw a key and what it does, marked if it is active. */
static int put_key(int x, const char *key, const char *what, bool active)
{
    x += top_put(LINES - 1, x, COLS, TOP_BOLD, TOP_PLAIN, "%s", key) + 1;
    x += top_put(LINES - 1, x, COLS, active ? TOP_REVERSE : TOP_NORMAL, TOP_PLAIN, "%s", what);
    (void)top_put(LINES - 1, x, COLS, TOP_NORMAL, TOP_PLAIN, "%s",
                  ""); /* the rest of the line is not marked */
    return x + 1;
}

static void put_keys(const struct top *top)
{
    int x = 0;
    if (COLS >= 76) {
        x = put_key(x, "jk", "select", false);
        x = put_key(x, " pools: n", "name", top->pool_order == TOP_BY_NAME);
        x = put_key(x, "w", "waiting", top->pool_order == TOP_BY_WAITING);
        x = put_key(x, "f", "free", top->pool_order == TOP_BY_FREE);
        x = put_key(x, " seats: s", "seat", top->seat_order == TOP_BY_SEAT);
        x = put_key(x, "t", "time", top->seat_order == TOP_BY_TIME);
    }
    x = put_key(x, x == 0 ? "?" : " ?", "help", false);
    (void)put_key(x, "q", "quit", false);
}

static void put_help(void)
{
    static const char *const lines[] = {
        "usher top shows pools, and the holders and waiters of the selected pool.",
        "",
        "  Up Down  k j   select a pool; Home End: the first, the last",
        "  n w f          sort pools by name, most waiting, most free",
        "  s t            sort seats by number, longest held",
        "  PgUp PgDn      scroll the seats and the line",
        "  q              quit           any other key: close this help",
        "",
        "SEATS        how many commands may run at once",
        "FREE         seats without a holder",
        "WAITING      waiters in line",
        "PER MIN      seats released in the last minute",
        "MEDIAN WAIT  how long their holders had waited",
        "SERVED       seats released since the pool was created",
        "IN LINE      place 1 gets the next free seat",
        "LABEL        from 'usher run --labels', if it can be read",
        "(stopped)    keeps its seat or place; delays no other process",
        "(dead)       its seat goes to the next process that asks",
        "died         holders and waiters that died; their seats were not lost",
        "",
        "Print once: usher status. For scripts: usher status --json",
    };
    int count = (int)(sizeof lines / sizeof lines[0]);
    for (int l = 0; l < count && l < LINES; l++) {
        (void)top_put(l, 0, COLS, l == 0 ? TOP_BOLD : TOP_NORMAL, TOP_PLAIN, "%s", lines[l]);
    }
}

static void put_nothing(const struct top *top, int y)
{
    if (top->directory_error != 0) {
        (void)top_put(y, 0, COLS, TOP_NORMAL, TOP_BAD, "%s: %s", top->directory,
                      strerror(top->directory_error));
        return;
    }
    (void)top_put(y, 0, COLS, TOP_NORMAL, TOP_PLAIN,
                  "There are no pools yet. Create one, for example with");
    (void)top_put(y + 1, 0, COLS, TOP_BOLD, TOP_PLAIN, "    usher run builds -k 3 -- make");
    (void)top_put(y + 2, 0, COLS, TOP_NORMAL, TOP_PLAIN, "and it appears here.");
}

/* The pools get a third of the screen, or more if the rest is not needed. */
static int pool_lines(const struct top *top, int body)
{
    int most = body < 6 ? body : body / 3 < 3 ? 3 : body / 3;
    size_t wanted = 1 + top->count;
    size_t inside = top_detail_wants(top);
    if (inside < (size_t)body && body - (int)inside > most) {
        most = body - (int)inside;
    }
    return wanted < (size_t)most ? (int)wanted : most;
}

void top_draw(struct top *top)
{
    int y = LINES >= 4 ? 1 : 0;
    int bottom = LINES >= 6 ? LINES - 1 : LINES;
    (void)erase();
    if (top->help) {
        put_help();
    } else if (top->count == 0) {
        put_title(top, 0);
        put_nothing(top, LINES >= 6 ? 2 : 1);
    } else {
        int lines = pool_lines(top, bottom - y);
        put_pools(top, y, y + lines);
        if (y > 0) {
            put_title(top, (size_t)lines - 1);
        }
        if (bottom - y - lines >= 2) {
            top_draw_detail(top, y + lines, bottom);
        }
    }
    if (bottom < LINES && !top->help) {
        put_keys(top);
    }
    (void)refresh();
}
