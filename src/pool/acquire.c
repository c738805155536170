/*
 * The way in: usher_acquire. First as if nothing had happened since this guest left (core/again.h),
 * then as if nobody waited (core/fast.h), then the long way: a place in the line, and wait.c.
 */
#include "core/again.h"
#include "core/fast.h"
#include "pool/pool.h"

#include <errno.h>
#include <string.h>

/* So often each seat is looked at before a pool is taken for damaged. Tests have less patience. */
#ifndef ACQUIRE_ROUNDS
#define ACQUIRE_ROUNDS 10000
#endif

/* Two neighbours in one store: what costs is the stores that the next compare-and-swap must wait
   for. */
static inline uint64_t both(uint32_t first, uint32_t second)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint64_t)second << 32 | first
                                                     : (uint64_t)first << 32 | second;
}

/* The guest has a ticket, the one that i says, and a seat: that is what the caller gets. */
static inline void fill(struct guest *guest, struct usher_seat *seat, uint64_t i, uint32_t flags)
{
    const uint64_t first = both(guest->seat, flags);
    memcpy(&seat->number, &first, sizeof first); /* and .flags */
    seat->ticket = core_i_issue(i);
    seat->request = usher__request(i);
    seat->reserved[0] = 0;
    atomic_store_explicit(&guest->state, usher__request(i), memory_order_release);
}

/* The same on the way of those who do not come in again. */
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

/* How many seats to look at for a free one: the pool's k; and if those will not do, as many as a
   shrinking pool still has. Among these there is one for everybody who is granted a ticket. */
static uint32_t seats_to_look_at(const struct usher_pool *pool, unsigned round)
{
    uint32_t seats = usher__seats(pool);
    uint32_t owed = core_v_owed(atomic_load(&pool->core.words[CORE_AT_V(&pool->core)]));
    if (round < 20 || owed == 0) {
        return seats;
    }
    return owed < pool->core.seats - seats ? seats + owed : pool->core.seats;
}

enum { FEW_SEATS = 64 };

/* Is nobody in this seat, as far as one can see? */
static bool seems_free(const struct usher_pool *pool, uint32_t seat)
{
    uint32_t row = core_seat_row(atomic_load(&pool->core.words[pool->core.at_seat + seat]));
    if (row >= pool->core.rows) {
        return true;
    }
    enum core_state state = core_row_state(usher__row_word(pool, row));
    return (state != CORE_GRANTED && state != CORE_ENTERING) ||
           core_own_seat(atomic_load(&pool->rows[row].own)) != seat;
}

/*
 * Where to begin to look for a seat: with the one it had, if that is still its by name; if another
 * has come to it meanwhile, with the one after it, so that those who come in turns end up with a
 * seat each, and do not take it from each other every time; otherwise with that of whoever left
 * last, who has most likely made room for it; or, where many come and nobody has left, with one
 * that no other of them begins with. So the search is short, however many seats there are.
 */
static uint32_t where_to_look(const struct usher_pool *pool, const struct guest *guest,
                              uint32_t seats, uint32_t ticket)
{
    const struct core *core = &pool->core;
    if (guest->seat < seats &&
        core_seat_row(atomic_load(&core->words[core->at_seat + guest->seat])) == guest->row) {
        return guest->seat;
    }
    uint32_t next = guest->seat + 1U < seats ? guest->seat + 1U : 0;
    if (guest->came && seats == usher__seats(pool) && seems_free(pool, next)) {
        return next;
    }
    uint32_t left = core_v_row(atomic_load(&core->words[CORE_AT_V(core)]));
    uint32_t seat =
        left < core->rows ? core_own_seat(atomic_load(&pool->rows[left].own)) : CORE_NO_SEAT;
    seat = seat < seats ? seat : 0;
    /* In a small pool one gets what people expect: the next seat that is free. */
    return seats <= FEW_SEATS || seems_free(pool, seat) ? seat : (ticket - 1) % seats;
}

/* Claim a seat for a granted guest: it may take more than one look, if they are taken and freed
   around us. A pool in which there is none has been damaged; -EUSERS: too many guests are stopped
   in the middle of an operation (core_reserve). */
static int claim(struct usher_pool *pool, struct guest *guest, uint32_t ticket, bool *inherited)
{
    bool full = false;
    for (unsigned round = 0; round < ACQUIRE_ROUNDS; round++) {
        struct core_claim claim;
        CORE_FRESH(claim);
        claim.row = guest->row;
        claim.run = guest->questions;
        claim.seats = seats_to_look_at(pool, round);
        claim.first = where_to_look(pool, guest, claim.seats, ticket);
        (void)core_claim(&pool->core, &claim);
        guest->questions = claim.run;
        full = claim.full;
        if (claim.ok) {
            usher__guest_sits(pool, guest, claim.seat);
            guest->came = true;
            *inherited = claim.inherited;
            return 0;
        }
        if (full) {
            break;
        }
        struct core_help help = {.by = guest->row}; /* a resizer may not have counted a seat yet */
        (void)core_help(&pool->core, &help);
    }
    usher__alive_bury(pool, guest->row, guest->row, core_row_cycle(guest->r), true);
    return full ? -EUSERS : -EUCLEAN;
}

/* The seat that it had before, unless the pool has shrunk below it. */
static inline uint32_t last_seat(const struct usher_pool *pool, const struct guest *guest)
{
    return guest->seat < usher__seats(pool) ? guest->seat : CORE_NO_SEAT;
}

/* A granted guest without a seat. */
static __attribute__((noinline)) int sit(struct usher_pool *pool, struct guest *guest,
                                         struct usher_seat *seat, uint32_t ticket)
{
    bool inherited = false;
    int error = claim(pool, guest, ticket, &inherited);
    if (error == 0) {
        seated(pool, guest, seat, ticket, inherited);
    }
    return error;
}

/* The row that I names: a guess, and it need not be a row that there is. */
static inline uint32_t last_to_come(const struct usher_pool *pool)
{
    return core_i_row(
        atomic_load_explicit(&pool->core.words[CORE_AT_I(&pool->core)], memory_order_relaxed));
}

/* Try to enter with a ticket that is valid. 0; -EAGAIN: there is none; -EALREADY: another has taken
   it meanwhile; -EBUSY: something is to be tidied up first. */
static inline __attribute__((always_inline)) int enter(struct usher_pool *pool, struct guest *guest,
                                                       struct usher_seat *seat)
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
        return f.again ? -EALREADY : f.untidy ? -EBUSY : -EAGAIN;
    }
    guest->r = core_row(CORE_ENTERING, f.run.last, f.ticket);
    guest->i = core_i(f.ticket, guest->row, f.run.last);
    guest->until = core_again_until(&pool->core, guest->i, guest->r, &f.run);
    if (!f.seated) {
        return sit(pool, guest, seat, f.ticket);
    }
    seated(pool, guest, seat, f.ticket, false);
    return 0;
}

/* Enter, whatever has to be tidied up first; but do not wait. */
static int enter_now(struct usher_pool *pool, struct guest *guest, struct usher_seat *seat)
{
    for (;;) {
        int error = enter(pool, guest, seat);
        if (error != -EBUSY && error != -EALREADY) {
            return error;
        }
        struct core_tidy tidy;
        CORE_FRESH(tidy);
        tidy.row = guest->row;
        tidy.run = usher__guest_cycles(guest);
        (void)core_tidy(&pool->core, &tidy);
        usher__guest_began(guest, &tidy.run);
        usher__pool_settle(pool, guest->row);
        if (tidy.full) {
            return -EUSERS;
        }
    }
}

/* Take a place in line and wait. */
static int queue(struct usher_pool *pool, struct guest *guest, struct usher_seat *seat,
                 int64_t deadline_ns)
{
    struct core_take take;
    unsigned tries = 0;
    do {
        if (tries++ == 100) {
            return -EUSERS; /* as many wait as there are places */
        }
        CORE_FRESH(take);
        take.row = guest->row;
        take.run = usher__guest_cycles(guest);
        take.seat = last_seat(pool, guest);
        usher__pool_wake_later(guest);
        (void)core_take(&pool->core, &take);
        usher__pool_settle(pool, guest->row);
        usher__guest_began(guest, &take.run);
    } while (take.full);
    if (take.granted && take.enter.granted && take.enter.seated) {
        guest->r = core_row(CORE_ENTERING, take.run.last, take.ticket);
        seated(pool, guest, seat, take.ticket, false);
        return 0;
    }
    if (!take.granted) {
        int error = usher__wait(pool, guest, deadline_ns);
        if (error != 0) {
            return error;
        }
        take.ticket = core_row_ticket(usher__row_word(pool, guest->row));
    }
    /* The row keeps few bits of a ticket; I has more of them, and is not far ahead. */
    uint32_t issue = core_i_issue(atomic_load(&pool->core.words[CORE_AT_I(&pool->core)]));
    guest->r = core_row(CORE_ENTERING, take.run.last, take.ticket);
    return sit(pool, guest, seat, issue - (uint32_t)core_ticket_after(issue, take.ticket));
}

/* Inside. But the pool may have been removed meanwhile: whoever removes it says so first and looks
   then whether anybody is in, and we are in first and look then. */
static __attribute__((noinline)) int leave_removed(struct usher_pool *pool, struct guest *guest)
{
    usher__pool_leave(pool, guest);
    return -EIDRM;
}

static inline int unless_removed(struct usher_pool *pool, struct guest *guest)
{
    return atomic_load(&pool->header->removed) == 0 ? 0 : leave_removed(pool, guest);
}

/* `so_far` is what trying to enter has said: -EAGAIN, there is no valid ticket; or -EBUSY, it is to
   be tried. */
static __attribute__((noinline)) int acquire_slowly(struct usher_pool *pool, struct guest *guest,
                                                    struct usher_seat *seat, int64_t deadline_ns,
                                                    int so_far)
{
    int cancel;
    int error = usher__pool_usable(pool);
    if (error != 0) {
        return error;
    }
    /* A thread cancelled in the middle would leave its row as if it waited on. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = so_far == -EAGAIN ? so_far : enter_now(pool, guest, seat);
    if (error == -EAGAIN && deadline_ns == INT64_MIN) {
        usher__look(pool, guest->row); /* a holder may be dead */
        error = enter_now(pool, guest, seat);
    } else if (error == -EAGAIN) {
        error = queue(pool, guest, seat, deadline_ns);
    }
    usher__pool_settle(pool, guest->row);
    (void)pthread_setcancelstate(cancel, NULL);
    return error == 0 ? unless_removed(pool, guest) : error;
}

static __attribute__((noinline)) int sit_or_leave(struct usher_pool *pool, struct guest *guest,
                                                  struct usher_seat *seat)
{
    int error = sit(pool, guest, seat, core_i_issue(guest->i));
    return error == 0 ? unless_removed(pool, guest) : error;
}

/* Whoever came last may not be quite in yet: then nobody can come after it, but anybody can see it
   in. That is most of what there is to tidy up. */
static void see_in_the_last(struct usher_pool *pool, const struct guest *guest)
{
    struct core_help help;
    CORE_FRESH(help);
    help.by = guest->row;
    help.only_i = true;
    (void)core_help(&pool->core, &help);
    usher__pool_settle(pool, guest->row);
}

/* A run of cycles is spent every few thousand requests. If no other can be reserved, the long way
   says so. */
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

enum { ENTER_TRIES = 3 }; /* before the long way */

/* The guest was not the last to come and go. */
static __attribute__((noinline)) int acquire_after(struct usher_pool *pool, struct guest *guest,
                                                   struct usher_seat *seat, int64_t deadline_ns)
{
    if (core_row_cycle(guest->r) == guest->cycle_end) {
        reserve(pool, guest);
    }
    int error = enter(pool, guest, seat);
    for (unsigned tries = 1; tries < ENTER_TRIES && (error == -EALREADY || error == -EBUSY);
         tries++) {
        if (!usher__rivals_aside(&guest->rival, error == -EALREADY, issued, pool) &&
            error == -EBUSY) {
            see_in_the_last(pool, guest);
        }
        error = enter(pool, guest, seat);
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
        return -ESTALE;
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
    struct core_again f;
    f.i = guest->i;
    if (!core_again_may(&pool->core, f.i, guest->until)) {
        return acquire_after(pool, guest, seat, deadline_ns);
    }
    f.row_at = guest->row_at;
    f.r = guest->r;
    f.v = guest->v;
    (void)core_enter_again(&pool->core, &f);
    if (!f.granted) {
        return acquire_after(pool, guest, seat, deadline_ns);
    }
    guest->i = f.i;
    guest->r = f.r;
    f.mark = guest->mark;
    f.seat_at = guest->seat_at;
    (void)core_sit_again(&pool->core, &f);
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
