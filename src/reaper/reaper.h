/*
 * Who is certainly dead, who scans for the dead and when, and the watchdog.
 *
 * A waiter is granted its seat and woken: nothing else is needed as long as no process dies. For
 * the dead, waiters scan the table (scan.c). How often a waiter scans depends on its duty, and the
 * duty on its place in the line (duty.c):
 *
 *                 first scan is due                      granted, or gives up
 *          NEW ─────────────────────┐          any duty ──────────────────────> leaves the line:
 *                                   v                                           a scanner sees that
 *          OTHER <─────────> THIRD, SECOND, FIRST                               another one scans
 *            ^   moves forward, or a waiter                                     soon
 *            │   before it leaves or stops
 *   asked to │ ^
 *   scan     v │ has scanned
 *          SCOUT
 *
 *     NEW      has not scanned yet; most seats come back before there is any need to. When its
 *              first scan is due and it stands far back, it only sees that one in front scans
 *     FIRST    the first in line: every SCAN_FIRST_NS, or less often with a watchdog
 *     SECOND   the next waiter of another process, for threads die together: every SCAN_SECOND_NS
 *     THIRD    the next waiter of a third process: every SCAN_THIRD_NS
 *     OTHER    all others: about one of them scans in SCAN_EACH_NS, however many they are
 *     SCOUT    was woken to scan within SCAN_NEXT_NS, wherever it stands
 *
 * FIRST, SECOND and THIRD are the scanners. Each has a watchdog (watchdog.c) once it has been one
 * for a moment: a thread that wakes it when a process whose death matters ends. So a death is
 * noticed at once, and within 100 ms even if two of the three are stopped. A stopped waiter is no
 * scanner: the next one takes its place.
 */
#ifndef USHER_REAPER_H
#define USHER_REAPER_H

#include <stdbool.h>
#include <stdint.h>

struct pool_act;
struct pollfd;
struct usher_pool;

/* alive.c: who is dead */

/* For asking about many rows, one after the other: each process is asked about once, and where
   there are many rows about `locks` of their locks. To be freed. NULL: each row by itself. */
struct alive_round;
struct alive_round *usher__alive_round(const struct usher_pool *pool, uint32_t locks);
/* A round that asks about no locks. Not to be freed. */
struct alive_round *usher__alive_round_without_locks(void);
/* Whether the owner of a row lives: 1 it does, 0 certainly dead, -1 cannot tell. */
int usher__alive(const struct usher_pool *pool, struct alive_round *round, uint32_t row);

/* reap_dead.c: what the dead leave */

/* Reap a row if its owner is certainly dead. Whether it was. */
bool usher__reap_row(struct pool_act *act, struct alive_round *round, uint32_t row);
/* The same for a row that was granted a seat and did not sleep: nearly always its owner has just
   woken by itself, so only the cheap questions are asked. */
bool usher__reap_absent(struct pool_act *act, uint32_t row);
/* Count a guest once, whichever process reaps it or gives its seat back. Return whether the caller
   is the first in this cycle. */
bool usher__reap_first(struct usher_pool *pool, uint32_t row, uint32_t cycle);
/* Finish what a dead guest has begun and give its seat back. The cycle was read by core_watch
   before its death was found out, or the row is act->by itself. `gently`: it is not counted as a
   death. */
void usher__reap_finish(struct pool_act *act, uint32_t row, uint32_t cycle, bool gently);

/* scan.c: one scan, and who scans */

/* Finish what is published, reap dead holders and the dead at the front of the line, wake granted
   waiters that still sleep. How many were dead. */
unsigned usher__scan(struct pool_act *act);
/* See that the first `count` scanners scan. `own` is a waiter that scans now: CORE_NOBODY, or its
   row. */
void usher__scan_appoint(struct usher_pool *pool, uint32_t own, unsigned count);
/* A scanner leaves the line: see that a waiter near its front scans soon. */
void usher__scan_pass_on(struct usher_pool *pool);
/* The place of a waiter among the scanners. */
enum scan_place { SCAN_FIRST = 1, SCAN_SECOND, SCAN_THIRD, SCAN_OTHER };
enum scan_place usher__scan_place(struct usher_pool *pool, uint32_t row);

/* watch.c: scan cheaply */

/* Scan for the waiter in act->by, or only poll what it watches if nothing has happened. *kept is
   NULL before the first time. After how many nanoseconds FIRST should scan again. */
struct watch;
int64_t usher__watch_scan(struct pool_act *act, struct watch **kept, enum scan_place place,
                          int64_t now);
/* Has its watchdog seen a death since the last scan? */
bool usher__watch_barked(const struct watch *watch);
bool usher__watch_has_watchdog(const struct watch *watch);
void usher__watch_end(struct watch *watch);

/* watchdog.c */

/* Start a thread that sleeps until one of these processes ends and then wakes the waiter that
   sleeps on `word`. NULL: no thread can be started. */
struct watchdog;
struct watchdog *usher__watchdog_begin(const _Atomic uint64_t *word, const struct pollfd *processes,
                                       unsigned count);
bool usher__watchdog_barked(const struct watchdog *watchdog);
void usher__watchdog_end(struct watchdog *watchdog);

/* duty.c: when a waiter scans */

struct duty {
    struct usher_pool *pool;
    uint32_t row;
    int64_t next_ns;       /* of the next scan; 0: the wait has just begun */
    enum scan_place place; /* as of the last wake-up; NEW counts as FIRST */
    bool fresh;            /* NEW: its first scan has not been due yet */
    bool scanned;          /* once at least */
    bool asked;            /* SCOUT: was woken to scan */
    bool counted_on;       /* the process that woke it relies on its scan */
    struct watch *watch;
};
void usher__duty_begin(struct duty *duty, struct usher_pool *pool, uint32_t row);
/* Scan if it is time to. When to scan next. `last_wait_ns`: how long the guest waited the last
   time; 0: not known. */
int64_t usher__duty_run(struct duty *duty, int64_t now, int64_t last_wait_ns);
/* What its row says while it sleeps (enum format_watch), if it sleeps until `until_ns` at most. */
uint32_t usher__duty_marks(const struct duty *duty, int64_t until_ns);
/* Does the waiter stand further in front than its duty says? Then it must not sleep yet. */
bool usher__duty_is_behind(const struct duty *duty);
/* The waiter woke; `marks` are what its row said then. `woken`: by a process, not by time. */
void usher__duty_woke(struct duty *duty, uint32_t marks, bool woken);
/* The wait is over, after so long. `gave_up`: without a grant. */
void usher__duty_end(struct duty *duty, bool gave_up, int64_t waited_ns, int64_t now);

#endif
