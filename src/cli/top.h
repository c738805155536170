/*
 * What the files of usher top share: cmd_top.c (terminal and keys), top_pools.c (the state of the
 * pools), top_watch.c (the state of a remote pool), top_draw.c (the screen), top_detail.c (the part
 * of the screen about the selected pool), top_text.c (text that fits its columns).
 */
#ifndef USHER_CLI_TOP_H
#define USHER_CLI_TOP_H

#include "cli/cli.h"

#include <limits.h>
#include <sys/types.h>

enum { TOP_SAMPLES = 64, TOP_MINUTE_S = 60 };

enum top_pool_order { TOP_BY_NAME, TOP_BY_WAITING, TOP_BY_FREE };
enum top_seat_order { TOP_BY_SEAT, TOP_BY_TIME };

/* The last minute of a pool. */
struct top_minute {
    uint64_t served;
    bool timed; /* the medians are known: some of these holders recorded times (USHER_TIMES) */
    uint32_t waited_ms, held_ms;
};

/* A pool on the screen. */
struct top_pool {
    char *name;
    struct usher_pool *handle; /* NULL: remote, or it cannot be opened */
    struct top_watch *watch;   /* of a remote pool; otherwise NULL */
    bool open;                 /* it can be inspected; if not, `error` says why */
    int error;
    int64_t seen_ns; /* when `info` was read */
    int64_t due_ns;  /* when it is read next */
    dev_t device;    /* the file of the handle: the name may get a new file */
    ino_t inode;
    bool listed; /* the last scan of the directory found it */
    struct usher_info info;
    struct top_minute minute;
    struct { /* ring of info.served, once a second, over the last minute */
        int64_t at_ns;
        uint64_t served;
    } samples[TOP_SAMPLES];
    unsigned sampled;
};

/* An entry in the list of seats: a holder, or the free seats `first` to `last`. */
struct top_seat {
    const struct usher_guest *holder; /* NULL: free */
    uint32_t first, last;             /* UINT32_MAX: unknown */
};

struct top {
    bool named; /* the user named the pools; otherwise all pools of the directory */
    char directory[PATH_MAX];
    int directory_error; /* errno, or 0 */
    struct top_pool **pools;
    size_t count;
    struct top_pool *selected;  /* one of `pools`; NULL if there is none */
    struct usher_guest *guests; /* of the selected pool: holders, then waiters */
    size_t guest_room, holders, waiters;
    struct top_seat *seats; /* of the selected pool, in the order of the screen */
    size_t seat_room, seat_count;
    enum top_pool_order pool_order;
    enum top_seat_order seat_order;
    size_t first;  /* the first pool on the screen */
    size_t scroll; /* how far the lists of the selected pool are scrolled */
    size_t page;   /* how far PgUp and PgDn scroll: set by top_draw */
    bool help;
};

/* top_pools.c */
/* Add a pool by name, unless it was added before. Returns NULL if memory is short. */
struct top_pool *top_add(struct top *top, const char *name);
/* Read the state again: the pools, their counts, the guests of the selected pool. Returns false if
   memory is short. */
bool top_refresh(struct top *top);
/* Select the pool `by` places further down, at most the last. */
void top_select(struct top *top, long by);
void top_free(struct top *top);

/* top_watch.c: a thread asks the servers of a remote pool, because they may take long to answer. */
struct top_watch;
/* Start the thread, and wait up to a second for its first answer. Returns NULL if memory is
   short. */
struct top_watch *top_watch_start(const char *name);
/* Copy the last answer, when it came, and when the next one is due. Returns the number of guests,
   of which at most `room` are filled in; or -errno. */
int top_watch_read(struct top_watch *watch, struct usher_info *info, struct usher_guest *guests,
                   size_t room, int64_t *seen_ns, int64_t *due_ns);
void top_watch_stop(struct top_watch *watch);

/* top_draw.c: draw the whole screen. */
void top_colours(void);
void top_draw(struct top *top);

/* top_detail.c: draw the selected pool in the lines y to bottom - 1. */
void top_draw_detail(struct top *top, int y, int bottom);
/* The number of lines that it can use. */
size_t top_detail_wants(const struct top *top);

/* top_text.c */
enum top_colour { TOP_PLAIN, TOP_GOOD, TOP_BUSY, TOP_BAD };
enum top_style { TOP_NORMAL = 0, TOP_BOLD = 1, TOP_DIM = 2, TOP_REVERSE = 4, TOP_RIGHT = 8 };
/* Write text in the columns x to x + width - 1 of line y, padded with blanks. Text that does not
   fit is truncated and marked; unprintable characters become '?'. Returns the columns of the
   text. */
__attribute__((format(printf, 6, 7))) int top_put(int y, int x, int width, unsigned style,
                                                  enum top_colour colour, const char *format, ...);
/* A count in at most 7 columns. */
const char *top_count(uint64_t count, char *text, size_t room);
/* The command that a guest of that pool runs or will run; or "(dead)", "(stopped) COMMAND" .. */
void top_command(const struct usher_guest *guest, const char *pool, char *text, size_t room);

#endif
