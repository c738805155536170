/*
 * usher_acquire, in three stages. The repeat path (core/repeat.h) enters if nothing has happened
 * since this guest left. The fast path (core/fast.h) enters if a ticket is free. The slow path
 * takes a place in the line and waits (wait/park.c).
 */
#include "core/fast.h"
#include "core/repeat.h"
#include "pool/pool.h"
#include "wait/act.h"

#include <errno.h>
#include <string.h>

/* Two neighbouring fields in one store: the next compare-and-swap waits for every store before it.
   */
static inline uint64_t both(uint32_t first, uint32_t second)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint64_t)second << 32 | first
                                                     : (uint64_t)first << 32 | second;
}

/* The guest has the ticket that i says and a seat: fill in what the caller gets. */
static inline void fill(struct guest *guest, struct usher_seat *seat, uint64_t i, uint32_t flags)
{
    const uint64_t first = both(guest->seat, flags);
    memcpy(&seat->number, &first, sizeof first); /* and .flags */
    seat->ticket = core_i_issue(i);
    seat->request = usher__request(i);
    seat->reserved[0] = 0;
    atomic_store_explicit(&guest->state, usher__request(i), memory_order_release);
}

/* The same on the fast and the slow path. */
static void seated(struct usher_pool *pool, struct guest *guest, struct usher_seat *seat,
                   uint32_t ticket, bool inherited)
{
    fill(guest, seat, core_i(ticket, guest->row, core_row_cycle(guest->r)),
         inherited ? USHER_INHERITED : 0);
    if (pool->flags & USHER_TIMES) {
        guest->noted = true;
        atomic_store(&pool->rows[guest->row].since_ns, os_now_ns());
    }
}

/* The guest's last seat, unless the pool has shrunk below it. */
static inline uint32_t last_seat(const struct usher_pool *pool, const struct guest *guest)
{
    return guest->seat < usher__seats(pool) ? guest->seat : CORE_NO_SEAT;
}

/* Find a seat for a granted guest. */
static __attribute__((noinline)) int sit(struct usher_pool *pool, struct guest *guest,
                                         struct usher_seat *seat, uint32_t ticket)
{
    bool inherited = false;
    int error = usher__sit(pool, guest, ticket, &inherited);
    if (error == 0) {
        seated(pool, guest, seat, ticket, inherited);
    }
    return error;
}

/* The row that I names now; it need not be a valid row. */
static inline uint32_t last_to_come(const struct usher_pool *pool)
{
    return core_i_row(
        atomic_load_explicit(&pool->core.words[CORE_AT_I(&pool->core)], memory_order_relaxed));
}

/* Try to enter with a ticket that is valid already. 0; -EAGAIN: there is none; -EALREADY: another
   guest took it meanwhile; -EBUSY: an unfinished operation must be helped first. */
static inline __attribute__((always_inline)) int
enter_fast(struct usher_pool *pool, struct guest *guest, struct usher_seat *seat)
{
    struct core_enter f;
    f.row = guest->row;
    f.run = usher__guest_cycles(guest);
    f.absorb = false;
    f.seat = last_seat(pool, guest);
    const uint32_t before = last_to_come(pool);
    (void)core_enter(&pool->core, &f);
    usher__guest_began(guest, &f.run);
    guest->before = before;
    if (!f.granted) {
        return f.lost_race ? -EALREADY : f.needs_help ? -EBUSY : -EAGAIN;
    }
    guest->r = core_row(CORE_ENTERING, f.run.last, f.ticket);
    guest->i = core_i(f.ticket, guest->row, f.run.last);
    guest->until = core_repeat_until(&pool->core, guest->i, guest->r, &f.run);
    if (!f.seated) {
        return sit(pool, guest, seat, f.ticket);
    }
    seated(pool, guest, seat, f.ticket, false);
    return 0;
}

/* Enter if a ticket is valid, and help whatever is in the way; but do not wait. */
static int enter_now(struct usher_pool *pool, struct guest *guest, struct usher_seat *seat)
{
    for (;;) {
        int error = enter_fast(pool, guest, seat);
        if (error != -EBUSY && error != -EALREADY) {
            return error;
        }
        struct core_help_enter helped;
        CORE_FRESH(helped);
        helped.row = guest->row;
        helped.run = usher__guest_cycles(guest);
        struct pool_act act;
        usher__act_begin(&act, pool, guest->row);
        (void)core_help_enter(&act.core, &helped);
        usher__act_end(&act);
        usher__guest_began(guest, &helped.run);
        if (helped.full) {
            return -USHER_EFULL;
        }
    }
}

/* Take a place in the line and wait. */
static int queue(struct usher_pool *pool, struct guest *guest, struct usher_seat *seat,
                 int64_t deadline_ns)
{
    struct core_take take;
    unsigned tries = 0;
    do {
        if (tries++ == 100) {
            return -USHER_EFULL; /* the line is full */
        }
        CORE_FRESH(take);
        take.row = guest->row;
        take.run = usher__guest_cycles(guest);
        take.seat = last_seat(pool, guest);
        struct pool_act act;
        usher__act_begin(&act, pool, guest->row);
        (void)core_take(&act.core, &take);
        usher__act_end(&act);
        usher__guest_began(guest, &take.run);
    } while (take.full);
    if (take.granted && take.enter.granted && take.enter.seated) {
        guest->r = core_row(CORE_ENTERING, take.run.last, take.ticket);
        seated(pool, guest, seat, take.ticket, false);
        return 0;
    }
    if (!take.granted) {
        int error = usher__park(pool, guest, deadline_ns);
        if (error != 0) {
            return error;
        }
        take.ticket = core_row_ticket(usher__row_word(pool, guest->row));
    }
    /* The row has the low bits of the ticket only. I has all of them, and is not far ahead. */
    uint32_t issue = core_i_issue(atomic_load(&pool->core.words[CORE_AT_I(&pool->core)]));
    guest->r = core_row(CORE_ENTERING, take.run.last, take.ticket);
    return sit(pool, guest, seat, issue - (uint32_t)core_ticket_after(issue, take.ticket));
}

/* Inside. But the pool may have been removed meanwhile: the remover says so first and checks then
   whether there are holders; a guest enters first and checks then whether the pool is removed. One
   of the two sees the other. */
static __attribute__((noinline)) int leave_removed(struct usher_pool *pool, struct guest *guest)
{
    usher__pool_leave(pool, guest);
    return -USHER_EREMOVED;
}

static inline int unless_removed(struct usher_pool *pool, struct guest *guest)
{
    return atomic_load(&pool->header->removed) == 0 ? 0 : leave_removed(pool, guest);
}

/* `so_far` is what the fast path returned: -EAGAIN, no ticket is valid; or -EBUSY, it must be
   tried. */
static __attribute__((noinline)) int acquire_slowly(struct usher_pool *pool, struct guest *guest,
                                                    struct usher_seat *seat, int64_t deadline_ns,
                                                    int so_far)
{
    int cancel;
    int error = usher__pool_usable(pool);
    if (error != 0) {
        return error;
    }
    /* A thread cancelled in the middle would leave a row that seems to wait. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = so_far == -EAGAIN ? so_far : enter_now(pool, guest, seat);
    if (error == -EAGAIN && deadline_ns == INT64_MIN) {
        struct pool_act act;
        usher__act_begin(&act, pool, guest->row);
        (void)usher__scan(&act); /* a holder may be dead */
        usher__act_end(&act);
        error = enter_now(pool, guest, seat);
    } else if (error == -EAGAIN) {
        error = queue(pool, guest, seat, deadline_ns);
    }
    (void)pthread_setcancelstate(cancel, NULL);
    return error == 0 ? unless_removed(pool, guest) : error;
}

static __attribute__((noinline)) int sit_or_leave(struct usher_pool *pool, struct guest *guest,
                                                  struct usher_seat *seat)
{
    int error = sit(pool, guest, seat, core_i_issue(guest->i));
    return error == 0 ? unless_removed(pool, guest) : error;
}

/* A run of cycles is spent every few thousand requests. If no other can be reserved, the slow path
   reports it. */
static __attribute__((noinline)) void reserve(struct usher_pool *pool, struct guest *guest)
{
    struct core_reserve reserve;
    CORE_FRESH(reserve);
    reserve.by = guest->row;
    reserve.purpose = CORE_TO_ENTER;
    reserve.run = usher__guest_cycles(guest);
    (void)core_reserve(&pool->core, &reserve);
    usher__guest_began(guest, &reserve.run);
}

static uint32_t issued(const void *line)
{
    const struct usher_pool *pool = line;
    return core_i_issue(atomic_load(&pool->core.words[CORE_AT_I(&pool->core)]));
}

enum { ENTER_TRIES = 3 }; /* on the fast path: a race that is lost once is often won next time */

/* The fast path: the guest was not the last to enter and leave. */
static __attribute__((noinline)) int acquire_after(struct usher_pool *pool, struct guest *guest,
                                                   struct usher_seat *seat, int64_t deadline_ns)
{
    if (core_row_cycle(guest->r) == guest->cycle_end) {
        reserve(pool, guest);
    }
    int error = enter_fast(pool, guest, seat);
    for (unsigned tries = 1; tries < ENTER_TRIES && (error == -EALREADY || error == -EBUSY);
         tries++) {
        if (!usher__backoff(&guest->backoff, error == -EALREADY, issued, pool) && error == -EBUSY) {
            usher__help(pool, guest, true); /* most often the last guest to come is not quite in */
        }
        error = enter_fast(pool, guest, seat);
    }
    if (error == 0) {
        return unless_removed(pool, guest);
    }
    return error == -EAGAIN || error == -EALREADY || error == -EBUSY
               ? acquire_slowly(pool, guest, seat, deadline_ns, error)
               : error;
}

static __attribute__((noinline)) int first_acquire(struct usher_pool *pool, struct usher_seat *seat,
                                                   int64_t deadline_ns)
{
    struct guest *guest;
    if (pool->generation != *pool->now) {
        return -USHER_EFORKED;
    }
    if (pool->module != NULL) {
        return pool->module->acquire(pool->remote, seat, deadline_ns);
    }
    int error = usher__guest_get(pool, &guest);
    return error != 0 ? error : acquire_slowly(pool, guest, seat, deadline_ns, -EBUSY);
}

/* deadline_ns INT64_MIN: do not wait at all. */
static inline __attribute__((always_inline)) int
acquire(struct usher_pool *pool, struct usher_seat *seat, int64_t deadline_ns)
{
    struct guest *guest = usher__mine.last.guest;
    if (usher__mine.last.key != usher__key(pool) ||
        atomic_load_explicit(&guest->state, memory_order_acquire) != GUEST_IDLE) {
        return first_acquire(pool, seat, deadline_ns);
    }
    struct core_repeat f;
    f.i = guest->i;
    if (!core_repeat_may(&pool->core, f.i, guest->until)) {
        return acquire_after(pool, guest, seat, deadline_ns);
    }
    f.row_at = guest->row_at;
    f.r = guest->r;
    f.v = guest->v;
    (void)core_repeat_enter(&pool->core, &f);
    if (!f.granted) {
        return acquire_after(pool, guest, seat, deadline_ns);
    }
    guest->i = f.i;
    guest->r = f.r;
    f.mark = guest->mark;
    f.seat_at = guest->seat_at;
    (void)core_repeat_sit(&pool->core, &f);
    if (!f.seated) {
        return sit_or_leave(pool, guest, seat);
    }
    fill(guest, seat, f.i, 0);
    return unless_removed(pool, guest);
}

int usher_acquire(struct usher_pool *pool, struct usher_seat *seat)
{
    return acquire(pool, seat, INT64_MAX);
}

int usher_acquire_until(struct usher_pool *pool, struct usher_seat *seat,
                        const struct timespec *deadline)
{
    int64_t deadline_ns = INT64_MAX;
    if (deadline != NULL) {
        if (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000) {
            return -EINVAL;
        }
        if (deadline->tv_sec < 0) {
            deadline_ns = 0;
        } else if (deadline->tv_sec < INT64_MAX / 1000000000 - 1) {
            deadline_ns = (int64_t)deadline->tv_sec * 1000000000 + deadline->tv_nsec;
        }
    }
    return acquire(pool, seat, deadline_ns);
}

int usher_try_acquire(struct usher_pool *pool, struct usher_seat *seat)
{
    return acquire(pool, seat, INT64_MIN);
}
