/* When a waiter scans for the dead: the state machine of reaper.h. */
#include "reaper/reaper.h"

#include "pool/pool.h"
#include "wait/act.h"

enum {
    /* A guest's first wait: the processes before it may all be dead, and `usher run` waits once. */
    SCAN_SOON_NS = 2 * 1000 * 1000,
    /* Later waits, if the last one was short: beyond the kernel's next tick, which is at most 10 ms
       away. An earlier timer must be programmed; in a virtual machine that costs as much as a
       hand-over. */
    SCAN_TICK_NS = 12 * 1000 * 1000,
    SCAN_LATER_NS = 60 * 1000 * 1000, /* at the latest, so that a death costs less than 100 ms */
    SCAN_NEAR = 2,                    /* tickets ahead of a waiter that may have to scan first */
    SCAN_FIRST_NS = 85 * 1000 * 1000, /* less than 100 ms, with time for the scan */
    SCAN_SECOND_NS = 300 * 1000 * 1000,
    SCAN_THIRD_NS = 1000 * 1000 * 1000,
    SCAN_EACH_NS = 1000 * 1000 * 1000, /* times the number of waiters, for OTHER */
    /* A new FIRST, and SCOUT: half of 100 ms. If the line goes on to move, they have left by then.
       */
    SCAN_NEXT_NS = 50 * 1000 * 1000,
    SCAN_ANY = 8 /* one in 8 waiters that leave checks that there are scanners */
};

/* A number that differs between threads and moments, without shared state. */
static uint32_t scatter(uint32_t row, int64_t now)
{
    uint64_t x = ((uint64_t)row << 40) ^ (uint64_t)now;
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(x >> 32);
}

/* A waiter whose last wait is known scans first when this one lasts twice as long: then something
   may be wrong. */
static int64_t first_scan(const struct duty *duty, int64_t last_wait_ns)
{
    if (last_wait_ns == 0) {
        return usher__line_ahead(duty->pool) > SCAN_NEAR ? SCAN_LATER_NS : SCAN_SOON_NS;
    }
    return last_wait_ns < SCAN_TICK_NS / 2    ? SCAN_TICK_NS
           : last_wait_ns > SCAN_LATER_NS / 2 ? SCAN_LATER_NS
                                              : 2 * last_wait_ns;
}

/* OTHER sleeps for a time without memory (exponentially distributed): however few or many began to
   sleep together, one of them wakes in SCAN_EACH_NS on average. -ln of a random number below 1, by
   way of its binary logarithm. */
static int64_t other_sleeps(struct usher_pool *pool, uint32_t row, int64_t now)
{
    uint32_t random = scatter(row, now) | 1;
    unsigned zeros = (unsigned)__builtin_clz(random);
    int64_t log2_1024 = (int64_t)(zeros + 1) * 1024 - ((random << zeros) >> 21) % 1024;
    int64_t each = (int64_t)SCAN_EACH_NS * usher__line_waiters(pool);
    return each / 1024 * (log2_1024 * 710 / 1024);
}

/* When the duty scans next by itself. THIRD does as SECOND until it has a watchdog. */
static int64_t next_scan(const struct duty *duty, int64_t now)
{
    switch (duty->place) {
    case SCAN_FIRST:
        return now + SCAN_FIRST_NS;
    case SCAN_SECOND:
        return now + SCAN_SECOND_NS;
    case SCAN_THIRD:
        return now +
               (usher__watch_has_watchdog(duty->watch) ? SCAN_THIRD_NS : (int64_t)SCAN_SECOND_NS);
    case SCAN_OTHER:
    default:
        return now + other_sleeps(duty->pool, duty->row, now);
    }
}

void usher__duty_begin(struct duty *duty, struct usher_pool *pool, uint32_t row)
{
    *duty = (struct duty){.pool = pool, .row = row, .place = SCAN_FIRST, .fresh = true};
}

int64_t usher__duty_run(struct duty *duty, int64_t now, int64_t last_wait_ns)
{
    if (duty->next_ns == 0) {
        duty->next_ns = now + first_scan(duty, last_wait_ns);
        return duty->next_ns;
    }
    bool was_first = duty->place == SCAN_FIRST;
    duty->place = usher__scan_place(duty->pool, duty->row);
    bool is_new = duty->place == SCAN_FIRST ? !was_first : duty->asked;
    int64_t next = is_new ? now + SCAN_NEXT_NS : next_scan(duty, now);
    bool due = duty->next_ns <= now || usher__watch_barked(duty->watch);
    if (due && duty->fresh && !duty->asked && duty->place == SCAN_OTHER) {
        /* NEW far from the front: see that another waiter scans, and leave it at that. */
        duty->fresh = false;
        usher__scan_pass_on(duty->pool);
        duty->next_ns = next;
        return next;
    }
    if (due) {
        struct pool_act act;
        usher__act_begin(&act, duty->pool, duty->row);
        int64_t first = usher__watch_scan(&act, &duty->watch, duty->place, now);
        usher__act_end(&act);
        duty->scanned = true;
        duty->fresh = false;
        duty->asked = false; /* it has appointed the scanners */
        duty->next_ns = duty->place == SCAN_FIRST ? now + first : next_scan(duty, now);
        return duty->next_ns;
    }
    duty->next_ns = duty->next_ns > next ? next : duty->next_ns;
    return duty->next_ns;
}

uint32_t usher__duty_marks(const struct duty *duty, int64_t until_ns)
{
    if (duty->next_ns > until_ns) {
        return FORMAT_BRIEF;
    }
    if (duty->asked || duty->place == SCAN_FIRST) {
        return FORMAT_SCANS;
    }
    if (duty->place == SCAN_SECOND) {
        return FORMAT_SCANS | FORMAT_SELDOM;
    }
    return duty->place == SCAN_THIRD && usher__watch_has_watchdog(duty->watch) ? FORMAT_SELDOM : 0;
}

/* A waiter that left the front just now found this one awake, and has not appointed it. */
bool usher__duty_is_behind(const struct duty *duty)
{
    return duty->place > SCAN_FIRST && usher__scan_place(duty->pool, duty->row) < duty->place;
}

void usher__duty_woke(struct duty *duty, uint32_t marks, bool woken)
{
    duty->counted_on = duty->counted_on || (marks & FORMAT_SUMMONED) != 0;
    /* Woken without a grant: it is asked to scan. */
    bool waits = core_row_state(usher__row_word(duty->pool, duty->row)) != CORE_GRANTED;
    duty->asked = duty->asked || (woken && waits && duty->place >= SCAN_THIRD);
}

/* A waiter that has waited for less than SCAN_SOON_NS leaves others behind that have yet to scan
   for the first time. One in SCAN_ANY of the other waiters also passes the duty on: the waiter that
   should have done so may have been killed. */
void usher__duty_end(struct duty *duty, bool gave_up, int64_t waited_ns, int64_t now)
{
    bool sees = duty->place <= SCAN_SECOND || scatter(duty->row, now) % SCAN_ANY == 0;
    if (duty->counted_on || duty->asked || gave_up || (sees && waited_ns >= SCAN_SOON_NS)) {
        usher__scan_pass_on(duty->pool);
    }
    usher__watch_end(duty->watch);
}
