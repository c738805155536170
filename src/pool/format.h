/*
 * The pool file, byte by byte: docs/pool-format.md in C. One page of header, then the guest rows,
 * the line, the seats; behind them the labels, if the pool has any. Fixed widths, this machine's
 * byte order (the stamp tells).
 *
 *     0      64       128        192          3904                 4096
 *    +--------+--------+----------+----   ---+---------------------+------+------+-------+
 *    | shape  | checks | counters |   past   | I ..  V ..  K ..    | rows | line | seats |
 *    +--------+--------+----------+----   ---+---------------------+------+------+-------+
 *     written once, checked at open           the core's words (core/words.h) begin here
 *
 * 4096 + 64 (guests + 8) + 8 places + 8 most_seats bytes, and never more than 80 bytes for each
 * guest and 64 for each of the first seats, plus the page and 512.
 */
#ifndef USHER_LIB_FORMAT_H
#define USHER_LIB_FORMAT_H

#include "core/core.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_MAGIC 0x0a0d726568737500ULL /* "\0usher\r\n": no text file begins so */

enum {
    FORMAT_VERSION = 6,
    FORMAT_ORDER = 0x01020304,
    FORMAT_PAGE = 4096,
    FORMAT_PAST_AT = 192,
    FORMAT_PAST = 220,
    FORMAT_WORDS = 3904, /* where the core's words begin: 24 of them, then the rows */
    FORMAT_VISITORS = 8, /* rows behind the guests' */
    FORMAT_DEFAULT_GUESTS = 1024,
    FORMAT_MAX_LABELS = 65536, /* bytes of labels: 1638 seats with a label of 40 characters */
    FORMAT_MAX_GUESTS = 65535
};

/* Written before anyone sees the file, and never again. */
struct format_shape {
    uint64_t magic;
    uint32_t version, order;
    uint32_t guests, places, most_seats,
        seats; /* rows; places of the line; room for seats; first k */
    uint64_t rows_at, line_at, seats_at, size; /* bytes from the beginning of the file */
};

struct format_header {
    struct format_shape shape;
    uint64_t check; /* of the shape: format_check */
    uint64_t unused[5];
    uint64_t labels_at;       /* names of the seats, behind the pool: equal to shape.size; and .. */
    uint64_t labels_size;     /* .. how many bytes; both 0: none. Written once, like the shape */
    _Atomic uint32_t removed; /* enum format_removed; by usher_remove, its byte locked */
    _Atomic uint32_t rows_used;  /* rows from here on have never had an owner */
    _Atomic uint64_t reaped;     /* guests reaped */
    _Atomic uint64_t past_count; /* seats given back with times noted: the last ones are below */
    uint64_t unused_too[5];
};

/* A seat given back: FORMAT_PAST_AT and on, the newest at past_count - 1 mod FORMAT_PAST. */
struct format_past {
    _Atomic int64_t ended_ns;
    _Atomic uint64_t durations; /* waited, in ms, 32 | held, in ms, 32 */
};

/* Whose a row is: how a guest is found to be dead (reaper/alive.c). The owner writes these, holding
   the row's lock; `owner` last, and 0 while the others change. */
struct format_row {
    _Atomic uint64_t word;      /* the core's; this and the next are in one cache line, always */
    _Atomic uint64_t seat_hint; /* the core's, 16 | seats given back by this row, 48 */
    _Atomic int64_t since_ns;   /* CLOCK_MONOTONIC when it began to wait or to hold; 0: not noted */
    _Atomic uint32_t watch;     /* enum format_watch: the sleeper's notes for its wakers */
    _Atomic uint32_t gave_up;
    _Atomic uint64_t owner;                 /* pid namespace 32 | flags 8 | pid 24 */
    _Atomic uint64_t identity;              /* of the process (os.h); 0: none */
    _Atomic uint32_t announced[CORE_SLOTS]; /* the core's: what the owner relies on */
};

enum format_removed {
    FORMAT_ASKED = 1, /* no guest enters any more; the remover checks whether there are holders */
    FORMAT_GONE = 2   /* it is removed, and its name is unlinked now */
};

enum format_owner_flags {
    FORMAT_BY_LOCK = 1,  /* dead if the row's lock is free */
    FORMAT_BY_PID = 2,   /* dead if, seen from the same pid namespace, the process is gone */
    FORMAT_ASSIGNED = 4, /* the seat was assigned to that process (usher_assign) */
    FORMAT_BY_START = 8, /* as FORMAT_BY_PID, but the identity is OS_BY_START. Never together: a
                            program of format 6 that does not know this flag asks the lock only */
    FORMAT_KEPT = 16     /* the lock is that of a keeper, which stays as long as the process */
};

enum format_watch {
    FORMAT_WAITS = 1,  /* waits for a grant, asleep or about to sleep */
    FORMAT_SCANS = 2,  /* sleeps for a short time only, and scans then: FIRST, SECOND or SCOUT */
    FORMAT_SELDOM = 4, /* the time is short enough for SECOND, not for FIRST; without FORMAT_SCANS:
                          THIRD, and a watchdog wakes it */
    FORMAT_BRIEF = 8,  /* may give up before it scans */
    FORMAT_SUMMONED = 16 /* has been asked to scan, and wakes */
};
#define FORMAT_REAPED 0xffffff00U /* beside them: the low bits of the cycle that was reaped last */

_Static_assert(sizeof(struct format_shape) == 64, "the shape is one cache line");
_Static_assert(sizeof(struct format_header) == 192, "no holes");
_Static_assert(sizeof(struct format_row) == 8 * CORE_ROW_STRIDE(0), "a row is eight words");
_Static_assert(offsetof(struct format_row, seat_hint) == 8 * (CORE_AT_HINT(0) - CORE_AT_ROWS(0)),
               "the core finds the seat hint");
_Static_assert(offsetof(struct format_row, announced) ==
                   8 * (CORE_AT_ANNOUNCED(0) - CORE_AT_ROWS(0)),
               "and the announcements");

static inline uint64_t format_served(uint64_t seat_hint)
{
    return seat_hint & ((1ULL << 48) - 1);
}

static inline uint64_t format_owner(uint32_t namespace_, uint32_t flags, uint32_t pid)
{
    return (uint64_t)namespace_ << 32 | (flags & 0xff) << 24 | (pid & 0xffffff);
}

static inline uint32_t format_owner_namespace(uint64_t owner)
{
    return (uint32_t)(owner >> 32);
}

static inline uint32_t format_owner_flags(uint64_t owner)
{
    return owner >> 24 & 0xff;
}

static inline uint32_t format_owner_pid(uint64_t owner)
{
    return owner & 0xffffff;
}

/* FNV-1a over the shape. Not against malice: against bad copies and bad disks. */
static inline uint64_t format_check(const struct format_shape *shape)
{
    const unsigned char *bytes = (const unsigned char *)shape;
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (unsigned i = 0; i < sizeof *shape; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
    }
    return hash;
}

/* The shape of a pool. 0, or -1 if there cannot be one. */
int usher__format_shape(struct format_shape *shape, uint32_t seats, uint32_t guests);

/* The core's words of a pool. Pass a shape that was checked: the shape in the file may have changed
   since. */
struct core usher__format_core(struct format_header *header, const struct format_shape *shape);

/* Is what stands in a file of that size a pool that can be used? 0 or -errno, see usher_open. */
int usher__format_verify(const struct format_header *header, uint64_t size);

#endif
