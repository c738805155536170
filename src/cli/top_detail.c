/* The part of the screen about the selected pool: see top.h. */
#include "cli/top.h"

#include <ncurses.h>

enum {
    PLACE_WIDTH = 7,
    LABEL_WIDTH = 12,
    PID_WIDTH = 8,
    WHO_WIDTH = 18, /* with the machine */
    TIME_WIDTH = 11,
    ROOM_FOR_LABELS = 60
};

#define SILENT_NS 1500000000 /* an answer that is overdue by this much is reported */

/* Where the columns begin. There is a column of labels if a seat has one and the screen is wide. */
static struct columns {
    int place, label, label_width, pid, pid_width, time, command;
} at;

static void place_columns(bool labels, bool machines)
{
    at.place = 2;
    at.label = at.place + PLACE_WIDTH + 1;
    at.label_width = labels ? LABEL_WIDTH : 0;
    at.pid = at.label + (labels ? LABEL_WIDTH + 1 : 0);
    at.pid_width = machines ? WHO_WIDTH : PID_WIDTH;
    at.time = at.pid + at.pid_width + 1;
    at.command = at.time + TIME_WIDTH + 2;
}

static bool any_label(const struct top *top)
{
    char label[2] = "";
    for (size_t s = 0;
         COLS >= ROOM_FOR_LABELS && label[0] == '\0' && s < top->seat_count && s < (size_t)LINES;
         s++) {
        if (top->seats[s].holder != NULL) {
            cli_holder_label(top->seats[s].holder, label, sizeof label);
        }
    }
    return label[0] != '\0';
}

static void put_heading(int y, const char *place, const char *label, const char *time)
{
    (void)top_put(y, at.place, PLACE_WIDTH, TOP_BOLD, TOP_PLAIN, "%s", place);
    (void)top_put(y, at.label, at.label_width, TOP_BOLD, TOP_PLAIN, "%s", label);
    (void)top_put(y, at.pid, at.pid_width, TOP_BOLD | TOP_RIGHT, TOP_PLAIN,
                  at.pid_width == PID_WIDTH ? "PID" : "PID@MACHINE");
    (void)top_put(y, at.time, TIME_WIDTH, TOP_BOLD | TOP_RIGHT, TOP_PLAIN, "%s", time);
    (void)top_put(y, at.command, COLS, TOP_BOLD, TOP_PLAIN, "COMMAND");
}

/* The columns that holders and waiters share. */
static void put_guest(const struct top *top, int y, const struct usher_guest *guest)
{
    char time[32] = "-";
    char command[600];
    if (guest->since_ns != 0) {
        (void)cli_duration(cli_now_ns() - guest->since_ns, time, sizeof time);
    }
    top_command(guest, top->selected->name, command, sizeof command);
    if (guest->pid > 0 || guest->where[0] != '\0') {
        char who[96];
        (void)top_put(y, at.pid, at.pid_width, TOP_RIGHT, TOP_PLAIN, "%s",
                      cli_pid_text(guest, who, sizeof who));
    }
    (void)top_put(y, at.time, TIME_WIDTH, TOP_RIGHT, TOP_PLAIN, "%s", time);
    (void)top_put(y, at.command, COLS, TOP_NORMAL,
                  guest->alive == 0   ? TOP_BAD
                  : command[0] == '(' ? TOP_BUSY
                                      : TOP_PLAIN,
                  "%s", command);
}

static void put_seat(const struct top *top, size_t index, int y)
{
    const struct top_seat *seat = &top->seats[index];
    char label[256];
    if (seat->holder != NULL) {
        if (seat->first == UINT32_MAX) {
            (void)top_put(y, at.place, PLACE_WIDTH, TOP_NORMAL, TOP_PLAIN, "?");
        } else {
            (void)top_put(y, at.place, PLACE_WIDTH, TOP_NORMAL, TOP_PLAIN, "%u", seat->first);
        }
        if (at.label_width > 0) {
            cli_holder_label(seat->holder, label, sizeof label);
            (void)top_put(y, at.label, at.label_width, TOP_NORMAL, TOP_PLAIN, "%s", label);
        }
        put_guest(top, y, seat->holder);
    } else if (seat->first == UINT32_MAX) {
        (void)top_put(y, at.place, COLS, TOP_NORMAL, TOP_GOOD, "%u free", top->selected->info.free);
    } else {
        (void)snprintf(label, sizeof label, seat->first == seat->last ? "%u" : "%u-%u", seat->first,
                       seat->last);
        (void)top_put(y, at.place, COLS, TOP_NORMAL, TOP_GOOD, "%-7s free", label);
    }
}

static void put_waiter(const struct top *top, size_t index, int y)
{
    const struct usher_guest *guest = &top->guests[top->holders + index];
    (void)top_put(y, at.place, PLACE_WIDTH, TOP_NORMAL, TOP_PLAIN, "%u%s", guest->position,
                  guest->position == 1 ? " next" : "");
    put_guest(top, y, guest);
}

/* Draw a list under its heading in the lines y + 1 to bottom - 1, scrolled. If it does not fit, the
   heading says which part is shown. Returns how far it can be scrolled. */
static size_t put_list(const struct top *top, size_t count, int y, int bottom,
                       void (*put)(const struct top *, size_t, int))
{
    size_t room = bottom > y + 1 ? (size_t)(bottom - y - 1) : 0;
    size_t furthest = count > room ? count - room : 0;
    size_t first = top->scroll < furthest ? top->scroll : furthest;
    for (size_t i = 0; i < room && first + i < count; i++) {
        put(top, first + i, y + 1 + (int)i);
    }
    if (count > room && room > 0) {
        char shown[64];
        int columns = snprintf(shown, sizeof shown, " %zu to %zu of %zu, %s", first + 1,
                               first + room, count, first < furthest ? "PgDn" : "PgUp");
        (void)top_put(y, COLS - columns, columns, TOP_NORMAL, TOP_BUSY, "%s", shown);
    }
    return furthest;
}

static int put_summary(const struct top *top, int y, int bottom)
{
    const struct top_pool *pool = top->selected;
    const struct usher_info *info = &pool->info;
    char first[32];
    char second[32];
    char note[96] = "";
    if (cli_now_ns() - pool->due_ns > SILENT_NS) {
        (void)snprintf(note, sizeof note, "; the servers have not answered for %s",
                       cli_duration(cli_now_ns() - pool->seen_ns, first, sizeof first));
    } else if (info->owed > 0) {
        (void)snprintf(note, sizeof note, "; shrinking by %u", info->owed);
    } else if (info->seats == 0) {
        (void)snprintf(note, sizeof note, "; drained: no command starts until it is resized");
    }
    (void)top_put(y++, 0, COLS, TOP_BOLD, TOP_PLAIN, "%s: %u seat%s, %u free, %u waiting%s",
                  pool->name, info->seats, cli_s(info->seats), info->free, info->waiters, note);
    if (bottom - y < 6) {
        return y;
    }
    if (pool->minute.timed) {
        (void)top_put(y++, 2, COLS, 0, TOP_PLAIN,
                      "last minute: %llu served; median wait %s, median hold %s",
                      (unsigned long long)pool->minute.served,
                      cli_duration((int64_t)pool->minute.waited_ms * 1000000, first, sizeof first),
                      cli_duration((int64_t)pool->minute.held_ms * 1000000, second, sizeof second));
    } else {
        (void)top_put(y++, 2, COLS, 0, TOP_PLAIN, "last minute: %llu served",
                      (unsigned long long)pool->minute.served);
    }
    if (bottom - y < 9) {
        return y;
    }
    (void)top_put(y++, 2, COLS, 0, TOP_PLAIN,
                  "since its creation: %llu served, %llu gave up waiting, %llu died",
                  (unsigned long long)info->served, (unsigned long long)info->gave_up,
                  (unsigned long long)info->reaped);
    return bottom - y > (int)(2 + top->seat_count + top->waiters) ? y + 1 : y;
}

size_t top_detail_wants(const struct top *top)
{
    return 5 + 1 + top->seat_count + 2 + top->waiters;
}

void top_draw_detail(struct top *top, int y, int bottom)
{
    const struct top_pool *pool = top->selected;
    if (bottom - y >= 12) {
        y++;
    }
    if (!pool->open) {
        (void)top_put(y, 0, COLS, TOP_BOLD, TOP_BAD, "%s: %s", pool->name,
                      usher_strerror(pool->error));
        return;
    }
    place_columns(any_label(top), pool->watch != NULL);
    y = put_summary(top, y, bottom);
    size_t left = bottom > y ? (size_t)(bottom - y) : 0;
    size_t seats = 1 + top->seat_count;
    size_t line = 1 + top->waiters;
    if (seats + line > left) { /* half for each list, unless one needs less */
        size_t half = left / 2;
        seats = seats <= half || left < 4 ? seats : line <= left - half ? left - line : half;
        seats = seats > left ? left : seats;
    }
    int middle = y + (int)seats;
    size_t furthest = 0;
    if (seats > 0) {
        put_heading(y, "SEAT", "LABEL", "HELD");
        furthest = put_list(top, top->seat_count, y, middle, put_seat);
    }
    if (middle + 1 < bottom && top->waiters > 0) {
        put_heading(middle, "IN LINE", "", "WAITED");
        size_t also = put_list(top, top->waiters, middle, bottom, put_waiter);
        furthest = also > furthest ? also : furthest;
    } else if (middle < bottom && top->waiters == 0) {
        (void)top_put(middle, 2, COLS, TOP_DIM, TOP_PLAIN, "no waiters");
    }
    top->page = left > 6 ? left / 2 - 2 : 1;
    top->scroll = top->scroll > furthest ? furthest : top->scroll;
}
