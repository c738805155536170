/* usher_release and usher_check. (assign.c has seats that are assigned to other processes.) */
#include "core/fast.h"
#include "core/repeat.h"
#include "pool/pool.h"
#include "wait/act.h"

#include <errno.h>

/* It has been given back: the times are for usher_history, and not for the next one in this row. */
static void note_times(struct usher_pool *pool, struct guest *guest, int64_t since)
{
    if (pool->flags & USHER_TIMES) {
        usher__past_note(pool, guest->waited_ns, os_now_ns() - usher__noted_ns(since));
    }
    guest->waited_ns = 0;
    guest->noted = false;
    atomic_store(&pool->rows[guest->row].since_ns, 0);
}

/* One more given back. */
static inline void count_one(_Atomic uint64_t *own)
{
    uint64_t before = atomic_load_explicit(own, memory_order_relaxed);
    atomic_store_explicit(own, before + 1, memory_order_relaxed);
}

/* The same for a guest that may have waited. */
static void count_and_note(struct usher_pool *pool, struct guest *guest)
{
    struct format_row *row = &pool->rows[guest->row];
    count_one(&row->seat_hint);
    int64_t since = guest->noted ? atomic_load_explicit(&row->since_ns, memory_order_relaxed) : 0;
    if (since != 0) {
        note_times(pool, guest, since);
    }
}

/* Its row is LEAVING, and V may have been published. */
static __attribute__((noinline)) int leave_slowly(struct usher_pool *pool, struct guest *guest,
                                                  bool published, uint64_t v)
{
    struct core_leave_slowly slow;
    CORE_FRESH(slow);
    slow.leave.row = guest->row;
    slow.leave.r = core_row_leaves(guest->r);
    slow.leave.published = published;
    slow.leave.v = v;
    guest->v = POOL_NOTHING;
    struct pool_act act;
    usher__act_begin(&act, pool, guest->row);
    (void)core_leave_slowly(&act.core, &slow);
    usher__act_end(&act);
    count_and_note(pool, guest);
    return 0;
}

/* For a guest that was not the last to leave. V names the guest that was, and its row must be read
   then; most likely it is the guest that entered before this one, so its row is fetched ahead. */
static __attribute__((noinline)) int leave(struct usher_pool *pool, struct guest *guest)
{
    struct core_leave f;
    __builtin_prefetch((const void *)&pool->rows[guest->before]);
    f.row = guest->row;
    f.r = core_row_leaves(guest->r);
    (void)core_leave(&pool->core, &f);
    if (!f.done) {
        return leave_slowly(pool, guest, f.published, f.v);
    }
    /* The repeat path needs an I that this guest published: only a guest that did not wait has one.
       It is not for a seat beyond a shrunk pool's k, nor for a guest that notes times. */
    bool again = guest->i != POOL_NOTHING && core_v_owed(f.v) == 0 &&
                 guest->seat < usher__seats(pool) && !(pool->flags & USHER_TIMES);
    guest->v = again ? f.v : POOL_NOTHING;
    count_and_note(pool, guest);
    return 0;
}

/* The calls come last, so that the common path has no registers to save. */
static inline __attribute__((always_inline)) int leave_again(struct usher_pool *pool,
                                                             struct guest *guest)
{
    struct core_repeat f;
    if (guest->v == POOL_NOTHING) {
        return leave(pool, guest);
    }
    struct core core = {.words = pool->core.words}; /* stays in a register */
    f.row_at = guest->row_at;
    f.r = guest->r;
    f.v = guest->v;
    (void)core_repeat_leave(&core, &f);
    if (!f.published) {
        return leave_slowly(pool, guest, false, 0);
    }
    if (!f.done) {
        return leave_slowly(pool, guest, true, f.v);
    }
    guest->v = f.v;
    count_one(&core.words[f.row_at] + CORE_AT_HINT(&core) - CORE_AT_ROWS(&core));
    return 0;
}

struct guest *usher__held_by(const struct usher_pool *pool, const struct usher_seat *seat)
{
    if (!usher__is_held(seat->request)) {
        return NULL;
    }
    struct guest *guest = usher__guest_with(pool, usher__request_row(seat->request));
    bool held = guest != NULL && atomic_load(&guest->state) == seat->request &&
                core_hint_seat(atomic_load(&pool->rows[guest->row].seat_hint)) == seat->number;
    return held ? guest : NULL;
}

/*
 * A seat is given back or assigned once, whichever thread does it. The thread that holds it says
 * that it leaves and checks then whether another thread wants the seat: a store and a load without
 * a barrier between them, because nearly always no thread does. The other thread pays for the
 * barrier: it says that it wants the seat, has the kernel lead every thread of this process through
 * a barrier, and checks then whether the holding thread leaves. One of the two sees the other.
 * Other threads come one at a time, under the pool's mutex, which is held until
 * usher__take_over_done.
 *
 * The thread of a careful guest leaves under the mutex, and no barrier is needed. If the kernel
 * refuses the barrier, the seat stays where it is (NULL, *error -ENOSYS). When its thread leaves
 * next, it finds that the seat was wanted, and is careful from then on.
 */
struct guest *usher__take_over(struct usher_pool *pool, const struct usher_seat *seat, int *error)
{
    *error = -EPERM;
    (void)pthread_mutex_lock(&pool->mutex);
    struct guest *guest = usher__held_by(pool, seat);
    if (guest == NULL) {
        return NULL;
    }
    if (!usher__guest_is_mine(pool, guest)) {
        if (atomic_load(&guest->wanted) != GUEST_CAREFUL) {
            atomic_store(&guest->wanted, GUEST_WANTED);
            int refused = os_barrier();
            if (refused != 0) {
                *error = refused;
                return NULL;
            }
        }
        if (atomic_load(&guest->state) != seat->request) {
            return NULL; /* the holding thread was faster */
        }
        guest->taken = seat->request;
    }
    return guest;
}

void usher__take_over_done(struct usher_pool *pool, struct guest *guest, enum guest_state state)
{
    if (guest != NULL) {
        if (state == GUEST_AWAY && guest->ended) { /* USHER_PROCESS_SEATS */
            state = GUEST_ORPHAN;
            pool->orphans++;
        }
        guest->taken_state = state;
        atomic_store(&guest->state, state);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

/* The holding thread leaves and another wants the seat; always, where there is no barrier. */
static __attribute__((noinline)) int release_disputed(struct usher_pool *pool, struct guest *guest,
                                                      uint64_t request)
{
    (void)pthread_mutex_lock(&pool->mutex); /* the other thread decides under it */
    bool lost = guest->taken == request;
    if (lost) {
        atomic_store(&guest->state, guest->taken_state);
    } else {
        atomic_store(&guest->wanted, usher__guest_care(pool));
        atomic_store(&guest->state, GUEST_IDLE); /* a failed usher_spawn may have set it back */
        (void)leave_again(pool, guest);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return lost ? -EPERM : 0;
}

/* For a thread that ends or a pool that is closed: the mutex decides between this thread and one
   that takes the seat over meanwhile. */
void usher__pool_leave(struct usher_pool *pool, struct guest *guest)
{
    (void)pthread_mutex_lock(&pool->mutex);
    if (usher__is_held(atomic_load(&guest->state))) {
        atomic_store(&guest->state, GUEST_IDLE);
        (void)leave_again(pool, guest);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

/* Give back a seat that another thread holds. The guest's notes belong to that thread alone. */
static __attribute__((noinline)) int release_for_another(struct usher_pool *pool,
                                                         const struct usher_seat *seat)
{
    if (pool->generation != *pool->now) {
        return -USHER_EFORKED;
    }
    if (pool->module != NULL) {
        return pool->module->release(pool->remote, seat);
    }
    int error;
    struct guest *guest = usher__take_over(pool, seat, &error);
    if (guest == NULL) {
        usher__take_over_done(pool, NULL, GUEST_IDLE);
        return error;
    }
    uint64_t word = usher__row_word(pool, guest->row);
    struct core_leave_slowly slow = {.leave = {.row = guest->row}};
    slow.leave.r = core_row(CORE_LEAVING, core_row_cycle(word), core_row_ticket(word));
    (void)core_leave(&pool->core, &slow.leave);
    if (!slow.leave.done) {
        struct pool_act act;
        usher__act_begin(&act, pool, guest->row);
        (void)core_leave_slowly(&act.core, &slow);
        usher__act_end(&act);
    }
    count_and_note(pool, guest);
    usher__take_over_done(pool, guest, GUEST_IDLE);
    usher__guest_left(pool, guest);
    return 0;
}

int usher_release(struct usher_pool *pool, struct usher_seat *seat)
{
    struct guest *guest = usher__mine.last.guest;
    uint64_t request = seat->request;
    if (usher__mine.last.key != usher__key(pool) || !usher__is_held(request) ||
        atomic_load_explicit(&guest->state, memory_order_relaxed) != request ||
        guest->seat != seat->number) {
        return release_for_another(pool, seat);
    }
    atomic_store_explicit(&guest->state, GUEST_IDLE, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&guest->wanted, memory_order_relaxed) != 0) {
        return release_disputed(pool, guest, request);
    }
    return leave_again(pool, guest);
}

int usher_check(const struct usher_pool *pool, const struct usher_seat *seat,
                struct usher_lease *lease)
{
    *lease = (struct usher_lease){.fence = seat->ticket, .left_ns = INT64_MAX};
    if (pool->generation != *usher__generation) {
        return -USHER_EFORKED;
    }
    if (pool->module != NULL) {
        return pool->module->lease(pool->remote, seat, lease);
    }
    return usher__held_by(pool, seat) != NULL ? 0 : -EPERM;
}
