/*
 * A waiter of a pool sleeps in the line until its row is granted a seat. It sleeps on its own row's
 * word, whose high half a grant changes, and the granting process wakes it. Meanwhile it scans for
 * the dead when its duty says so (reaper/duty.c). The policy is in wait.h.
 */
#include "pool/pool.h"
#include "wait/act.h"
#include "wait/wait.h"

#include <errno.h>

/* A waiter, while it waits. */
struct waiter {
    struct usher_pool *pool;
    struct guest *guest;
    struct format_row *row;
    int64_t began_ns, deadline_ns;
    int64_t tell_ns; /* when to call pool->waiting next */
    struct duty duty;
    bool interrupted; /* a signal ended its last sleep */
};

void usher__wake_all(struct usher_pool *pool)
{
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        if (atomic_load(&pool->rows[row].watch) & FORMAT_WAITS) {
            (void)os_wake(&pool->rows[row].word, pool->shared);
        }
    }
}

static bool is_granted(const void *waiter)
{
    const struct waiter *w = waiter;
    return core_row_state(atomic_load(&w->row->word)) == CORE_GRANTED;
}

/* Leave the line. 0: too late, the seat is granted. */
static int give_up(struct waiter *w, int why)
{
    struct core_give_up give_up = {.row = w->guest->row, .cycle = core_row_cycle(w->guest->r)};
    struct pool_act act;
    usher__act_begin(&act, w->pool, w->guest->row);
    (void)core_give_up(&act.core, &give_up);
    usher__act_end(&act);
    if (give_up.granted) {
        return 0;
    }
    atomic_fetch_add_explicit(&w->row->gave_up, 1, memory_order_relaxed);
    return why;
}

/* Why the waiter must stop waiting: 0 or -errno. */
static int reason_to_leave(struct waiter *w, int64_t now)
{
    struct usher_pool *pool = w->pool;
    if (atomic_load(&pool->header->removed) != 0) {
        return -USHER_EREMOVED;
    }
    if (w->deadline_ns <= now) {
        return -ETIMEDOUT;
    }
    if (pool->waiting != NULL && (w->interrupted || w->tell_ns <= now)) {
        w->tell_ns = w->tell_ns <= now ? now + (int64_t)pool->waiting_ms * 1000000 : w->tell_ns;
        return pool->waiting(pool, pool->context) != 0 ? -ECANCELED : 0;
    }
    return 0;
}

/* Sleep until woken or until `until_ns`, unless the row has been granted since `word` was read, or
   the waiter has become a scanner. */
static void sleep_once(struct waiter *w, uint64_t word, int64_t until_ns)
{
    uint32_t reaped = atomic_load(&w->row->watch) & FORMAT_REAPED;
    bool woken = false;
    w->interrupted = false;
    atomic_store(&w->row->watch,
                 reaped | FORMAT_WAITS | usher__duty_marks(&w->duty, w->deadline_ns));
    if (!usher__duty_is_behind(&w->duty) && !is_granted(w)) {
        int slept = os_sleep(&w->row->word, word, until_ns, w->pool->shared);
        w->interrupted = slept == -EINTR;
        woken = slept == 0;
    }
    /* Awake: no process need wake it now, or wonder that it did not sleep. One step, so that a
       FORMAT_SUMMONED set until then is not lost. */
    uint32_t marks = atomic_fetch_and(&w->row->watch, FORMAT_REAPED);
    usher__duty_woke(&w->duty, marks, woken);
}

/* Until the row is granted a seat, or the waiter leaves the line. */
static int wait_in_line(struct waiter *w)
{
    for (int64_t now = w->began_ns;; now = os_now_ns()) {
        uint64_t word = atomic_load(&w->row->word);
        if (core_row_state(word) == CORE_GRANTED) {
            return 0;
        }
        int why = reason_to_leave(w, now);
        if (why == -ETIMEDOUT && !w->duty.scanned) {
            /* No waiter times out because of a dead holder that nobody looked for. */
            struct pool_act act;
            w->duty.scanned = true;
            usher__act_begin(&act, w->pool, w->guest->row);
            (void)usher__scan(&act);
            usher__act_end(&act);
            continue;
        }
        if (why != 0) {
            return give_up(w, why);
        }
        int64_t until = usher__duty_run(&w->duty, now, w->guest->wait.last_ns);
        until = until < w->deadline_ns ? until : w->deadline_ns;
        sleep_once(w, word, until < w->tell_ns ? until : w->tell_ns);
    }
}

/* A waiter with a deadline sleeps at once: a yield may take long. */
static bool stay_awake(struct waiter *w)
{
    struct wait_turn turn = {is_granted, w};
    return w->deadline_ns == INT64_MAX && w->pool->waiting == NULL &&
           usher__wait_awake(&turn, &w->guest->wait, usher__seats(w->pool), w->began_ns);
}

int usher__park(struct usher_pool *pool, struct guest *guest, int64_t deadline_ns)
{
    struct waiter w = {.pool = pool,
                       .guest = guest,
                       .row = &pool->rows[guest->row],
                       .began_ns = os_now_ns(),
                       .deadline_ns = deadline_ns,
                       .tell_ns = INT64_MAX};
    usher__duty_begin(&w.duty, pool, guest->row);
    if (pool->waiting != NULL && pool->waiting_ms != 0) {
        w.tell_ns = w.began_ns + (int64_t)pool->waiting_ms * 1000000;
    }
    guest->noted = true; /* for usher_inspect */
    atomic_store_explicit(&w.row->since_ns, w.began_ns, memory_order_relaxed);
    int error = stay_awake(&w) ? 0 : wait_in_line(&w);
    int64_t ended = os_now_ns();
    int64_t waited = ended - w.began_ns;
    atomic_store_explicit(&w.row->since_ns, error == 0 ? ended : 0, memory_order_relaxed);
    guest->waited_ns = error == 0 ? waited : guest->waited_ns;
    if (error == 0) {
        usher__wait_ended(&guest->wait, waited);
    }
    usher__duty_end(&w.duty, error != 0, waited, ended);
    return error;
}
