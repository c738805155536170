/*
 * usher top inside. cmd_top.c has the terminal and the keys, top_pools.c what is known of the
 * pools, top_watch.c of one that is elsewhere, top_draw.c the screen, top_detail.c its part about
 * one pool, top_text.c text that fits.
 */
#ifndef USHER_CLI_TOP_H
#define USHER_CLI_TOP_H

#include "cli/cli.h"

#include <limits.h>
#include <sys/types.h>

enum { TOP_SAMPLES = 64, TOP_MINUTE_S = 60 };

enum top_pool_order { TOP_BY_NAME, TOP_BY_WAITING, TOP_BY_FREE };
enum top_seat_order { TOP_BY_SEAT, TOP_BY_TIME };

/* What happened in the last minute. */
struct top_minute {
    uint64_t served;
    bool timed; /* some of those noted times: the medians are known */
    uint32_t waited_ms, held_ms;
};

/* A pool on the screen. */
struct top_pool {
    char *name;
    struct usher_pool *handle; /* NULL: it is watched, or cannot be looked at */
    struct top_watch *watch;   /* if it is elsewhere */
    bool open;                 /* it can be looked at; if not, error says why */
    int error;
    int64_t seen_ns; /* when it was as it is shown */
    int64_t due_ns;  /* when it is looked at again */
    dev_t device;    /* which file the handle is of: another may come under the name */
    ino_t inode;
    bool listed; /* found by the latest look at the directory */
    struct usher_info info;
    struct top_minute minute;
    struct { /* info.served in the last minute, once a second; a ring */
        int64_t at_ns;
        uint64_t served;
    } samples[TOP_SAMPLES];
    unsigned sampled;
};

/* A row of the list of seats: a holder, or seats first to last that are free. */
struct top_seat {
    const struct usher_guest *holder; /* NULL: free */
    uint32_t first, last;             /* UINT32_MAX: it is not known which */
};

struct top {
    bool named; /* the user said which pools; otherwise those of the directory */
    char directory[PATH_MAX];
    int directory_error; /* errno, or 0 */
    struct top_pool **pools;
    size_t count;
    struct top_pool *picked;    /* one of them; NULL if there is none */
    struct usher_guest *guests; /* of the picked pool: holders, then the line */
    size_t guest_room, holders, waiters;
    struct top_seat *seats; /* of the picked pool, in the order of the screen */
    size_t seat_room, seat_count;
    enum top_pool_order pool_order;
    enum top_seat_order seat_order;
    size_t first;  /* the first pool on the screen */
    size_t scroll; /* how far the lists of the picked pool are scrolled */
    size_t page;   /* by how much a key scrolls them: set by top_draw */
    bool help;
};

/* top_pools.c */
/* Add a pool by name, unless it is there. NULL: no memory. */
struct top_pool *top_add(struct top *top, const char *name);
/* Look again: which pools there are, how each stands, who is in the picked one. False: no
   memory. */
bool top_look(struct top *top);
/* Pick the pool so many places further, as far as there are any. */
void top_pick(struct top *top, long by);
void top_free(struct top *top);

/* top_watch.c: a pool that is elsewhere, watched by a thread: its servers may be silent long. */
struct top_watch;
/* Begin; it waits a moment for the first look. NULL: no memory. */
struct top_watch *top_watch_start(const char *name);
/* What was seen last, when, and when the next look is due: how many guests, of whom at most `room`
   are filled in; or -errno. */
int top_watch_read(struct top_watch *watch, struct usher_info *info, struct usher_guest *guests,
                   size_t room, int64_t *seen_ns, int64_t *due_ns);
void top_watch_stop(struct top_watch *watch);

/* top_draw.c: all of the screen, as large as it is. */
void top_colours(void);
void top_draw(struct top *top);

/* top_detail.c: the picked pool, in the lines y to bottom - 1. */
void top_draw_detail(struct top *top, int y, int bottom);
/* How many lines it could use. */
size_t top_detail_wants(const struct top *top);

/* top_text.c */
enum top_colour { TOP_PLAIN, TOP_GOOD, TOP_BUSY, TOP_BAD };
enum top_style { TOP_NORMAL = 0, TOP_BOLD = 1, TOP_DIM = 2, TOP_REVERSE = 4, TOP_RIGHT = 8 };
/* Write in the columns x to x + width - 1 of line y, filled up with blanks; what does not fit is
   cut off and marked, what would not print is a '?'. How many columns the text takes. */
__attribute__((format(printf, 6, 7))) int top_put(int y, int x, int width, unsigned style,
                                                  enum top_colour colour, const char *format, ...);
/* A count in at most 7 columns. */
const char *top_count(uint64_t count, char *text, size_t room);
/* What a guest of that pool is running, or will run, and whether anything is the matter with it. */
void top_command(const struct usher_guest *guest, const char *pool, char *text, size_t room);

#endif
