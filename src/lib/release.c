/* The way out: usher_release; and seats made over to other processes. */
#include "core/again.h"
#include "core/fast.h"
#include "lib/lib.h"

#include <errno.h>
#include <unistd.h>

/* It has been given back: the times are for usher_history, and not for the next one in this row. */
static __attribute__((noinline)) void note_times(struct usher_pool *pool, struct guest *guest,
                                                 int64_t since)
{
    if (pool->flags & USHER_TIMES) {
        usher__past_note(pool, guest->waited_ns, os_now_ns() - since);
    }
    guest->waited_ns = 0;
    atomic_store(&pool->rows[guest->row].since_ns, 0);
}

/* Its seat is free, its row is LEAVING, and V may have been published. */
static __attribute__((noinline)) void leave_slowly(struct usher_pool *pool, struct guest *guest,
                                                   bool published, uint64_t v)
{
    struct core_leave_slowly slow = {.leave = {.row = guest->row, .published = published, .v = v}};
    slow.leave.r = core_row(CORE_LEAVING, guest->cycle, guest->ticket);
    guest->v = LIB_NOTHING;
    (void)core_leave_slowly(&pool->core, &slow);
    usher__pool_settle(pool);
}

static inline void left(struct usher_pool *pool, struct guest *guest)
{
    struct format_row *row = &pool->rows[guest->row];
    uint64_t served = atomic_load_explicit(&row->served, memory_order_relaxed);
    atomic_store_explicit(&row->served, served + 1, memory_order_relaxed);
    int64_t since = atomic_load_explicit(&row->since_ns, memory_order_relaxed);
    if (since != 0) {
        note_times(pool, guest, since);
    }
    atomic_store_explicit(&guest->state, GUEST_IDLE, memory_order_release);
}

/* For a guest that was not the last to leave. */
static __attribute__((noinline)) int leave(struct usher_pool *pool, struct guest *guest)
{
    struct core_leave f;
    f.row = guest->row;
    f.r = core_row(CORE_LEAVING, guest->cycle, guest->ticket);
    f.seat = guest->seat;
    (void)core_leave(&pool->core, &f);
    if (!f.ours) {
        return -EPERM;
    }
    if (!f.done) {
        leave_slowly(pool, guest, f.published, f.v);
    } else {
        /* A seat beyond those that a shrunk pool has is not for the next time. */
        guest->v = core_v_owed(f.v) == 0 && guest->seat < usher__seats(pool) ? f.v : LIB_NOTHING;
    }
    left(pool, guest);
    return 0;
}

static inline __attribute__((always_inline)) int leave_again(struct usher_pool *pool,
                                                             struct guest *guest)
{
    struct core_again f;
    if (guest->v == LIB_NOTHING) {
        return leave(pool, guest);
    }
    f.row = guest->row;
    f.seat = guest->seat;
    f.cycle = guest->cycle;
    f.ticket = guest->ticket;
    f.v = guest->v;
    (void)core_leave_again(&pool->core, &f);
    if (!f.ours) {
        return -EPERM;
    }
    if (!f.done) {
        leave_slowly(pool, guest, f.published, f.v);
    } else {
        guest->v = f.v;
    }
    left(pool, guest);
    return 0;
}

int usher__pool_leave(struct usher_pool *pool, struct guest *guest, uint64_t cycle)
{
    return guest->cycle == cycle ? leave_again(pool, guest) : -EPERM;
}

/* A seat that another thread had, perhaps; and several may be giving it back at once, while its
   own has it anew. So all is known from shared words: what the guest notes for itself may be
   changing. */
static __attribute__((noinline)) int release_for_another(struct usher_pool *pool,
                                                         const struct usher_seat *seat)
{
    struct guest *guest = usher__guest_with(pool, seat->guest);
    if (guest == NULL || atomic_load(&guest->state) != GUEST_HELD ||
        seat->number >= pool->core.seats) {
        return -EPERM;
    }
    uint64_t word = usher__row_word(pool, guest->row);
    struct core_leave_slowly slow = {.leave = {.row = guest->row, .seat = seat->number}};
    slow.leave.r = core_row(CORE_LEAVING, seat->cycle, core_row_ticket(word));
    if (core_row_cycle(word) != seat->cycle) {
        return -EPERM;
    }
    (void)core_leave(&pool->core, &slow.leave);
    if (!slow.leave.ours) {
        return -EPERM;
    }
    if (!slow.leave.done) {
        (void)core_leave_slowly(&pool->core, &slow);
        usher__pool_settle(pool);
    }
    left(pool, guest);
    usher__guest_left(pool, guest);
    return 0;
}

int usher_release(struct usher_pool *pool, struct usher_seat *seat)
{
    struct guest *guest = usher__mine.last.guest;
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    if (usher__mine.last.pool_id != pool->id || guest->row != seat->guest) {
        return release_for_another(pool, seat);
    }
    if (atomic_load_explicit(&guest->state, memory_order_acquire) != GUEST_HELD ||
        guest->cycle != seat->cycle || guest->seat != seat->number) {
        return -EPERM;
    }
    return leave_again(pool, guest);
}

int usher_assign(struct usher_pool *pool, struct usher_seat *seat, pid_t pid)
{
    uint64_t identity;
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    if (!pool->shared || pid <= 0) {
        return -EINVAL;
    }
    struct guest *guest = usher__guest_with(pool, seat->guest);
    if (guest == NULL || atomic_load(&guest->state) != GUEST_HELD || guest->cycle != seat->cycle) {
        return -EPERM;
    }
    int error = os_identity(pid, &identity);
    if (error != 0) {
        return error;
    }
    /* A child that assigns the seat to itself, before exec, has the row's lock with USHER_KEEP,
       too; of any other process we do not know that. */
    bool has_lock = (pool->flags & USHER_KEEP) && pid == getpid();
    bool known = identity != 0 && pool->self.pid_namespace != 0;
    if (!known && !has_lock) {
        return -ENOSYS; /* its death could not be proved */
    }
    if (known && os_process_ended(pid, identity)) {
        return -ESRCH;
    }
    usher__guest_sign(pool, guest->row, identity,
                      FORMAT_ASSIGNED | (known ? FORMAT_BY_PID : 0) |
                          (has_lock ? FORMAT_BY_LOCK : 0),
                      (uint32_t)pid);
    atomic_store(&guest->state, GUEST_AWAY);
    return 0;
}

/* Give back a seat that is assigned, in the cycle read before. Whether we were the first to. */
bool usher__release_assigned(struct usher_pool *pool, uint32_t row, uint64_t cycle)
{
    bool first = usher__alive_first(pool, row, cycle);
    if (first) {
        int64_t since = atomic_load(&pool->rows[row].since_ns);
        struct guest *guest = usher__guest_with(pool, row);
        usher__past_note(pool, guest == NULL ? 0 : guest->waited_ns,
                         since == 0 ? 0 : os_now_ns() - since);
        atomic_fetch_add(&pool->rows[row].served, 1);
    }
    usher__alive_bury(pool, row, cycle, true);
    return first;
}

/* What a child has assigned to itself, with the lock it inherited, is for its parent to give back:
   usher release in a command of usher run does not take the seat away from under it. */
static bool guarded(struct usher_pool *pool, uint32_t row, uint64_t owner)
{
    return (format_owner_flags(owner) & FORMAT_BY_LOCK) && usher__guest_with(pool, row) == NULL &&
           os_locked(pool->fd, (off_t)LIB_LOCK_ROW + row) == 1;
}

int usher_release_for(struct usher_pool *pool, pid_t pid)
{
    int released = 0;
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        uint64_t word = usher__row_word(pool, row);
        uint64_t owner = atomic_load(&pool->rows[row].owner);
        if ((format_owner_flags(owner) & FORMAT_ASSIGNED) &&
            format_owner_pid(owner) == (uint32_t)pid &&
            format_owner_namespace(owner) == pool->self.pid_namespace &&
            (core_row_state(word) == CORE_GRANTED || core_row_state(word) == CORE_ENTERING) &&
            !guarded(pool, row, owner)) {
            released += usher__release_assigned(pool, row, core_row_cycle(word));
        }
    }
    usher__pool_settle(pool);
    return released;
}
