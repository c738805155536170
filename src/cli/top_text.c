/* Text that fits its columns, and the commands of guests: see top.h. */
#include "cli/top.h"

#include <langinfo.h>
#include <ncurses.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

enum { LONGEST_LINE = 1024 };

/* Append the next character of *text, or '?' if it is not printable, to `out`. Returns its columns;
   -1 at the end. */
static int next_character(const char **text, mbstate_t *state, char *out)
{
    wchar_t wide;
    size_t length = mbrtowc(&wide, *text, MB_CUR_MAX, state);
    if (length == 0) {
        return -1;
    }
    int columns = length <= MB_CUR_MAX && iswprint((wint_t)wide) ? wcwidth(wide) : -1;
    if (columns < 0) { /* not a character of this locale, or a control character */
        memset(state, 0, sizeof *state);
        *text += length <= MB_CUR_MAX ? length : 1;
        memcpy(out, "?", 2);
        return 1;
    }
    memcpy(out, *text, length);
    out[length] = '\0';
    *text += length;
    return columns;
}

/* Copy as much of the text as fits `width` columns. Returns its columns. */
static int copy_fitting(const char *text, int width, char *out, size_t room)
{
    mbstate_t state = {0};
    char one[MB_LEN_MAX + 1];
    size_t used = 0;
    size_t cut = 0; /* where the mark goes if the text does not fit */
    int columns = 0;
    int cut_columns = 0;
    int next;
    while ((next = next_character(&text, &state, one)) >= 0) {
        if (columns + next > width || used + strlen(one) + MB_LEN_MAX >= room) {
            const char *mark = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "…" : "~";
            (void)snprintf(out + cut, room - cut, "%s", mark);
            return cut_columns + 1;
        }
        memcpy(out + used, one, strlen(one) + 1);
        used += strlen(one);
        columns += next;
        if (columns < width) {
            cut = used;
            cut_columns = columns;
        }
    }
    out[used] = '\0';
    return columns;
}

int top_put(int y, int x, int width, unsigned style, enum top_colour colour, const char *format,
            ...)
{
    char text[LONGEST_LINE];
    char fitting[LONGEST_LINE + MB_LEN_MAX] = "";
    va_list arguments;
    width = x + width > COLS ? COLS - x : width;
    if (y < 0 || y >= LINES || width <= 0) {
        return 0;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int columns = copy_fitting(text, width, fitting, sizeof fitting);
    int before = style & TOP_RIGHT ? width - columns : 0;
    (void)attr_set((style & TOP_BOLD ? A_BOLD : 0) | (style & TOP_DIM ? A_DIM : 0) |
                       (style & TOP_REVERSE ? A_REVERSE : 0),
                   has_colors() ? (short)colour : 0, NULL);
    (void)mvprintw(y, x, "%*s%s%*s", before, "", fitting, width - columns - before, "");
    (void)attr_set(A_NORMAL, 0, NULL);
    return columns;
}

const char *top_count(uint64_t count, char *text, size_t room)
{
    if (count < 10000000) {
        (void)snprintf(text, room, "%llu", (unsigned long long)count);
    } else if (count < 10000000000) {
        (void)snprintf(text, room, "%llu M", (unsigned long long)(count / 1000000));
    } else {
        (void)snprintf(text, room, "%.0f G", (double)count / 1e9);
    }
    return text;
}

static bool is_stopped(pid_t pid)
{
    struct cli_process process;
    return cli_process(pid, &process) && (process.state == 'T' || process.state == 't');
}

/* The command without the directories of its program. */
static const char *without_directories(const char *command)
{
    const char *shown = command;
    size_t program = strcspn(command, " ");
    for (size_t c = 0; c + 1 < program; c++) {
        if (command[c] == '/') {
            shown = command + c + 1;
        }
    }
    return shown;
}

/* The COMMAND of a waiting `usher run [OPTION..] POOL [OPTION..] [--] COMMAND`; the whole line if
   it cannot be found. */
static const char *command_to_run(const char *command, const char *pool)
{
    char name[256];
    int length = snprintf(name, sizeof name, " %s ", pool);
    const char *at = strncmp(command, "usher run ", 10) == 0 ? strstr(command + 9, name) : NULL;
    if (at == NULL || length >= (int)sizeof name) {
        return command;
    }
    at += length;
    if (at[0] != '-') {
        return at;
    }
    at = strstr(at - 1, " -- ");
    return at == NULL ? command : at + 4;
}

void top_command(const struct usher_guest *guest, const char *pool, char *text, size_t room)
{
    char command[512];
    if (guest->alive == 0) {
        (void)snprintf(text, room, "(dead)");
        return;
    }
    if (guest->where[0] == '\0' &&
        (guest->pid <= 0 || guest->alive < 0)) { /* its pid has no meaning in our pid namespace */
        (void)snprintf(text, room, "(cannot be seen from here)");
        return;
    }
    const char *shown = without_directories(cli_command(guest, command, sizeof command));
    shown = guest->position == 0 ? shown : command_to_run(shown, pool);
    (void)snprintf(text, room, "%s%s", guest->pid > 0 && is_stopped(guest->pid) ? "(stopped) " : "",
                   shown);
}
