/*
 * Scanning cheaply. A scanner scans several times a second, and nearly always nothing has happened.
 * Then a scan is one poll of descriptors that it keeps, of the processes whose death would matter.
 * A full scan (usher__scan) follows when I or V have changed, when a descriptor becomes readable,
 * and once a second in any case. What is watched stays as it is if the full scan finds the same
 * processes. Waiters that are no scanners scan too seldom to keep descriptors.
 *
 * A scanner for which nothing has happened from one scan to the next has a watchdog at those
 * descriptors: a death wakes it at once, and it scans less often by itself. A watchdog costs about
 * as much as one or two hand-overs: short waits do without.
 */
#include "reaper/reaper.h"

#include "pool/pool.h"
#include "wait/act.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    WATCH_AGAIN_NS = 4 * 1000 * 1000,  /* after the first scan: then a watchdog may pay */
    WATCH_FIRST_NS = 85 * 1000 * 1000, /* FIRST without a watchdog: less than 100 ms */
    WATCH_DOG_NS = 300 * 1000 * 1000,  /* FIRST with one, and between two questions about exec */
    WATCH_ALL_NS = 1000 * 1000 * 1000, /* between two full scans */
    WATCH_MOST = 128,                  /* processes; with more, each scan is a full one */
    WATCH_EXEC = 8                     /* processes that are asked whether they have called exec */
};

#define WATCH_POLLED 0x80000000U

struct watch {
    uint64_t i, v;
    uint64_t who;       /* matters: who_matters, as they were when they were found */
    int64_t scanned_ns; /* at everything */
    bool all;           /* all that matter are watched */
    bool polled;        /* all that are watched have a descriptor */
    bool died;          /* a process that matters has ended since the last look */
    struct watchdog *watchdog;
    int64_t asked_ns; /* for the locks of those that may have called exec */
    unsigned count, locks;
    struct pollfd processes[WATCH_MOST];
    uint32_t locked[WATCH_MOST]; /* rows, with WATCH_POLLED if the process is watched, too */
};

static uint64_t word_at(const struct usher_pool *pool, uint32_t at)
{
    return atomic_load(&pool->core.words[at]);
}

static void forget(struct watch *watch)
{
    usher__watchdog_end(watch->watchdog);
    watch->watchdog = NULL;
    for (unsigned p = 0; p < watch->count; p++) {
        (void)close(watch->processes[p].fd);
    }
    watch->count = watch->locks = 0;
}

/* Watch the owner of a row, if it is another process. */
static void add(struct usher_pool *pool, struct watch *watch, uint32_t row)
{
    uint64_t owner = atomic_load(&pool->rows[row].owner);
    struct os_identity identity =
        usher__row_identity(owner, atomic_load(&pool->rows[row].identity));
    bool by_pid = usher__is_askable(pool, owner, &identity);
    if (watch->count == WATCH_MOST || watch->locks == WATCH_MOST) {
        watch->all = false;
        return;
    }
    if (usher__is_self(pool, owner, &identity)) {
        return;
    }
    if (!by_pid) {
        watch->locked[watch->locks++] = row;
        watch->polled = false;
        return;
    }
    int fd = os_watch_process((pid_t)format_owner_pid(owner), &identity);
    if (fd < 0) { /* dead by now, or no descriptor to be had */
        watch->all = false;
        watch->died = watch->died || fd == -ESRCH;
        return;
    }
    watch->processes[watch->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    /* A process that has called exec lives, but its lock is free. Asking costs more the more locks
       there are, and it is no death: now and then must do; if there are many, once a second. */
    if ((format_owner_flags(owner) & FORMAT_BY_LOCK) && watch->count <= WATCH_EXEC) {
        watch->locked[watch->locks++] = row | WATCH_POLLED;
    }
}

/* A row into a hash of many: whose it is. */
static uint64_t mix(const struct usher_pool *pool, uint64_t hash, uint32_t row)
{
    const uint64_t parts[] = {row, atomic_load(&pool->rows[row].owner),
                              atomic_load(&pool->rows[row].identity)};
    for (unsigned p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        hash = (hash ^ parts[p]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    }
    return hash;
}

/* A hash of all guests whose death would matter: those that hold, leave or resize, and the first
   two in line. `watch`, if it is not NULL, watches them. The hash is made first: if a seat is
   assigned meanwhile, the hash has the old owner, and the next hash differs. */
static uint64_t who_matters(struct usher_pool *pool, struct watch *watch)
{
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    uint64_t hash = 1;
    for (row = 0; row < usher__rows_used(pool); row++) {
        enum core_state state = core_row_state(usher__row_word(pool, row));
        if (state != CORE_IDLE && state != CORE_WAITING) {
            hash = mix(pool, hash, row);
            if (watch != NULL) {
                add(pool, watch, row);
            }
        }
    }
    usher__line_begin(pool, &walk);
    for (unsigned front = 0; front < 2 && usher__line_next(pool, &walk, &row, &word, &ticket);
         front++) {
        hash = mix(pool, hash, row);
        if (watch != NULL) {
            add(pool, watch, row);
        }
    }
    return hash;
}

static void begin(struct usher_pool *pool, struct watch *watch, int64_t now)
{
    forget(watch);
    watch->scanned_ns = now;
    watch->i = word_at(pool, CORE_AT_I(&pool->core));
    watch->v = word_at(pool, CORE_AT_V(&pool->core));
    watch->all = watch->polled = true;
    watch->died = false;
    watch->who = who_matters(pool, watch);
}

static bool quiet(struct usher_pool *pool, struct watch *watch, int64_t now)
{
    if (!watch->all || now - watch->scanned_ns >= WATCH_ALL_NS ||
        watch->i != word_at(pool, CORE_AT_I(&pool->core)) ||
        watch->v != word_at(pool, CORE_AT_V(&pool->core)) ||
        poll(watch->processes, watch->count, 0) != 0) {
        return false;
    }
    bool execs = now - watch->asked_ns >= WATCH_DOG_NS;
    watch->asked_ns = execs ? now : watch->asked_ns;
    for (unsigned l = 0; l < watch->locks; l++) {
        uint32_t row = watch->locked[l] & ~WATCH_POLLED;
        if ((execs || row == watch->locked[l]) &&
            os_locked(pool->fd, (off_t)POOL_LOCK_ROW + row) == 0) {
            return false;
        }
    }
    return true;
}

/* A guest has arrived, and nothing else has happened: what is watched can stay as it is. */
static bool only_come(struct usher_pool *pool, struct watch *watch, int64_t now)
{
    watch->i = word_at(pool, CORE_AT_I(&pool->core));
    return quiet(pool, watch, now);
}

/* After a full scan: are the guests that matter the same, and alive? */
static bool same(struct usher_pool *pool, struct watch *watch, int64_t now)
{
    watch->scanned_ns = now;
    watch->i = word_at(pool, CORE_AT_I(&pool->core));
    watch->v = word_at(pool, CORE_AT_V(&pool->core));
    return watch->who == who_matters(pool, NULL) && !usher__watchdog_barked(watch->watchdog) &&
           quiet(pool, watch, now);
}

static int64_t next_scan(const struct watch *watch)
{
    return watch->watchdog != NULL && watch->all && watch->polled ? WATCH_DOG_NS : WATCH_FIRST_NS;
}

/* Where not all that matter can be watched, what is watched begins anew with each look: no thread
   is started each time. */
static void keep_watchdog(struct usher_pool *pool, struct watch *watch, uint32_t row)
{
    if (watch->watchdog == NULL && watch->count > 0 && watch->all &&
        !(pool->flags & USHER_NO_WATCHDOG)) {
        watch->watchdog =
            usher__watchdog_begin(&pool->rows[row].word, watch->processes, watch->count);
    }
}

int64_t usher__watch_scan(struct pool_act *act, struct watch **kept, enum scan_place place,
                          int64_t now)
{
    struct usher_pool *pool = act->pool;
    struct watch *watch = *kept;
    if (!pool->shared) {
        (void)usher__scan(act);
        return WATCH_FIRST_NS;
    }
    if (watch != NULL && quiet(pool, watch, now)) {
        if (place < SCAN_OTHER) {
            keep_watchdog(pool, watch, act->by);
        }
        return next_scan(watch);
    }
    (void)usher__scan(act);
    usher__scan_appoint(pool, place < SCAN_OTHER ? act->by : CORE_NOBODY, 3);
    if (watch == NULL) {
        watch = *kept = place < SCAN_OTHER ? calloc(1, sizeof *watch) : NULL;
        if (watch == NULL) {
            return WATCH_FIRST_NS;
        }
        begin(pool, watch, now);
        return WATCH_AGAIN_NS;
    }
    if (!only_come(pool, watch, now) && !same(pool, watch, now)) {
        bool kept_watchdog = watch->watchdog != NULL;
        begin(pool, watch, now);
        if (watch->died || (place == SCAN_FIRST && watch->all && !kept_watchdog)) {
            return WATCH_AGAIN_NS; /* most likely it has just become the first */
        }
        if (place < SCAN_OTHER && kept_watchdog) {
            keep_watchdog(pool, watch, act->by);
        }
    }
    return next_scan(watch);
}

bool usher__watch_has_watchdog(const struct watch *watch)
{
    return watch != NULL && watch->watchdog != NULL;
}

bool usher__watch_barked(const struct watch *watch)
{
    return watch != NULL && usher__watchdog_barked(watch->watchdog);
}

void usher__watch_end(struct watch *watch)
{
    if (watch != NULL) {
        forget(watch);
        free(watch);
    }
}
