/* The way out: usher_release; and seats made over to other processes. */
#include "core/again.h"
#include "core/fast.h"
#include "pool/pool.h"

#include <errno.h>
#include <unistd.h>

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

/* The same, of one that may have waited. */
static void count_and_note(struct usher_pool *pool, struct guest *guest)
{
    struct format_row *row = &pool->rows[guest->row];
    count_one(&row->own);
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
    guest->v = LIB_NOTHING;
    usher__pool_wake_later(guest);
    (void)core_leave_slowly(&pool->core, &slow);
    usher__pool_settle(pool, guest->row);
    count_and_note(pool, guest);
    usher__ready_call(pool, guest);
    return 0;
}

/* For a guest that was not the last to leave. Who was, V says, and then its row must be looked at;
   but most likely it is who came just before us, so that both can be fetched at once. */
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
    /* Only who entered, and did not wait, has published an I to go by. A seat beyond those that a
       shrunk pool has is not for the next time; and who notes times does that on the long way. */
    bool again = guest->i != LIB_NOTHING && core_v_owed(f.v) == 0 &&
                 guest->seat < usher__seats(pool) && !(pool->flags & USHER_TIMES);
    guest->v = again ? f.v : LIB_NOTHING;
    count_and_note(pool, guest);
    return 0;
}

/* The calls are its last, so that on the common way there is nothing to save. */
static inline __attribute__((always_inline)) int leave_again(struct usher_pool *pool,
                                                             struct guest *guest)
{
    struct core_again f;
    if (guest->v == LIB_NOTHING) {
        return leave(pool, guest);
    }
    struct core core = {.words = pool->core.words}; /* stays in a register */
    f.row_at = guest->row_at;
    f.r = guest->r;
    f.v = guest->v;
    (void)core_leave_again(&core, &f);
    if (!f.published) {
        return leave_slowly(pool, guest, false, 0);
    }
    if (!f.done) {
        return leave_slowly(pool, guest, true, f.v);
    }
    guest->v = f.v;
    count_one(&core.words[f.row_at] + CORE_AT_OWN(&core) - CORE_AT_ROWS(&core));
    return 0;
}

/* The guest that has the seat, if one has. */
static struct guest *held_by(const struct usher_pool *pool, const struct usher_seat *seat)
{
    if (!usher__is_held(seat->request)) {
        return NULL;
    }
    struct guest *guest = usher__guest_with(pool, usher__request_row(seat->request));
    bool held = guest != NULL && atomic_load(&guest->state) == seat->request &&
                core_own_seat(atomic_load(&pool->rows[guest->row].own)) == seat->number;
    return held ? guest : NULL;
}

/*
 * A seat is given back, or made over, once, whoever does it. Its own thread says that it leaves and
 * looks then whether another wants the seat: a store and a load with no barrier between them, as
 * nearly always nobody does. Another thread makes up for that: it says that it wants the seat, has
 * the kernel lead every thread of this process through a barrier, and looks then whether the seat's
 * own leaves. One of them sees the other. Others are one at a time, under the pool's mutex, which
 * is held here until usher__take_over_done.
 *
 * A careful guest's thread leaves under the mutex, and no barrier is needed. If the kernel refuses
 * the barrier the seat stays where it is (NULL, *error -ENOSYS). When its own thread leaves next,
 * it finds that the seat was wanted, and is careful from then on.
 */
struct guest *usher__take_over(struct usher_pool *pool, const struct usher_seat *seat, int *error)
{
    *error = -EPERM;
    (void)pthread_mutex_lock(&pool->mutex);
    struct guest *guest = held_by(pool, seat);
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
            return NULL; /* its own was faster */
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

/* Its own thread, when another wants the seat; always, where there is no such barrier. */
static __attribute__((noinline)) int release_disputed(struct usher_pool *pool, struct guest *guest,
                                                      uint64_t request)
{
    (void)pthread_mutex_lock(&pool->mutex); /* until the other knows */
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

/* For a thread that ends or a pool that is closed, and not in a hurry: the mutex decides between us
   and a thread that takes the seat over meanwhile. */
void usher__pool_leave(struct usher_pool *pool, struct guest *guest)
{
    (void)pthread_mutex_lock(&pool->mutex);
    if (usher__is_held(atomic_load(&guest->state))) {
        atomic_store(&guest->state, GUEST_IDLE);
        (void)leave_again(pool, guest);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

/* A seat that another thread had. Its guest's notes are for that thread alone. */
static __attribute__((noinline)) int release_for_another(struct usher_pool *pool,
                                                         const struct usher_seat *seat)
{
    if (pool->generation != *pool->now) {
        return -ESTALE;
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
        (void)core_leave_slowly(&pool->core, &slow);
        usher__pool_settle(pool, guest->row);
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

int usher_assign(struct usher_pool *pool, struct usher_seat *seat, pid_t pid)
{
    uint64_t identity;
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    if (pool->module != NULL) {
        return -EOPNOTSUPP;
    }
    if (!pool->shared || pid <= 0) {
        return -EINVAL;
    }
    struct guest *guest = held_by(pool, seat);
    if (guest == NULL) {
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
    if (known && os_process_ended(pid, identity) == OS_ENDED) {
        return -ESRCH;
    }
    guest = usher__take_over(pool, seat, &error);
    if (guest != NULL) {
        usher__guest_sign(pool, guest->row, identity,
                          FORMAT_ASSIGNED | (known ? FORMAT_BY_PID : 0) |
                              (has_lock ? FORMAT_BY_LOCK : 0),
                          (uint32_t)pid);
    }
    usher__take_over_done(pool, guest, GUEST_AWAY);
    return guest != NULL ? 0 : error;
}

/* Give back a seat that is assigned, in the cycle read before. Whether we were the first to. */
bool usher__release_assigned(struct usher_pool *pool, uint32_t by, uint32_t row, uint32_t cycle)
{
    bool first = usher__alive_first(pool, row, cycle);
    if (first) {
        int64_t since = usher__noted_ns(atomic_load(&pool->rows[row].since_ns));
        struct guest *guest = usher__guest_with(pool, row);
        usher__past_note(pool, guest == NULL ? 0 : guest->waited_ns,
                         since == 0 ? 0 : os_now_ns() - since);
        atomic_fetch_add(&pool->rows[row].own, 1);
    }
    usher__alive_bury(pool, by, row, cycle, true);
    return first;
}

/* What a child has assigned to itself, with the lock it inherited, is for its parent to give back:
   usher release in a command of usher run does not take the seat away from under it. */
static bool guarded(struct usher_pool *pool, uint32_t row, uint64_t owner)
{
    return (format_owner_flags(owner) & FORMAT_BY_LOCK) && usher__guest_with(pool, row) == NULL &&
           os_locked(pool->fd, (off_t)LIB_LOCK_ROW + row) == 1;
}

/* Give back the seat of a row that is assigned to the process. Whether we were the first to. */
static bool release_row_for(struct usher_pool *pool, uint32_t by, uint32_t row, uint32_t pid)
{
    struct core_watch watch;
    CORE_FRESH(watch);
    watch.by = by;
    watch.row = row;
    (void)core_watch(&pool->core, &watch);
    uint64_t owner = atomic_load(&pool->rows[row].owner);
    enum core_state state = core_row_state(watch.r);
    bool released =
        (format_owner_flags(owner) & FORMAT_ASSIGNED) && format_owner_pid(owner) == pid &&
        format_owner_namespace(owner) == pool->self.pid_namespace &&
        (state == CORE_GRANTED || state == CORE_ENTERING) && !guarded(pool, row, owner) &&
        usher__release_assigned(pool, by, row, core_row_cycle(watch.r));
    core_unwatch(&pool->core, by);
    usher__pool_settle(pool, by);
    return released;
}

int usher_release_for(struct usher_pool *pool, pid_t pid)
{
    uint32_t by;
    int released = 0;
    int error;
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    if (pool->module != NULL) {
        return -EOPNOTSUPP;
    }
    error = usher__visit(pool, &by);
    for (uint32_t row = 0; error == 0 && row < usher__rows_used(pool); row++) {
        uint64_t owner = atomic_load(&pool->rows[row].owner);
        if ((format_owner_flags(owner) & FORMAT_ASSIGNED) &&
            format_owner_pid(owner) == (uint32_t)pid) {
            released += release_row_for(pool, by, row, (uint32_t)pid);
        }
    }
    if (error == 0) {
        usher__visit_end(pool, by);
    }
    return error != 0 ? error : released;
}

int usher_check(const struct usher_pool *pool, const struct usher_seat *seat,
                struct usher_lease *lease)
{
    *lease = (struct usher_lease){.fence = seat->ticket, .left_ns = INT64_MAX};
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    if (pool->module != NULL) {
        return pool->module->lease(pool->remote, seat, lease);
    }
    return held_by(pool, seat) != NULL ? 0 : -EPERM;
}
