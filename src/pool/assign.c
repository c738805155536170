/* Seats that are assigned to other processes: usher_assign, usher_release_for. */
#include "pool/pool.h"
#include "wait/act.h"

#include <errno.h>
#include <unistd.h>

/* Whether the row's lock says of the process that it lives. A child that assigns the seat to itself
   before exec has it, too, with USHER_KEEP; a keeper has it in the place of the process. Of any
   other process that is not known. */
static uint32_t lock_flags(const struct usher_pool *pool, pid_t pid)
{
    if (pid == getpid()) {
        return pool->flags & USHER_KEEP ? FORMAT_BY_LOCK : 0;
    }
    return pool->flags & USHER_KEEPER ? FORMAT_BY_LOCK | FORMAT_KEPT : 0;
}

int usher_assign(struct usher_pool *pool, struct usher_seat *seat, pid_t pid)
{
    struct os_identity identity;
    if (pool->generation != *usher__generation) {
        return -USHER_EFORKED;
    }
    if (pool->module != NULL) {
        return -EOPNOTSUPP;
    }
    if (!pool->shared || pid <= 0) {
        return -EINVAL;
    }
    struct guest *guest = usher__held_by(pool, seat);
    if (guest == NULL) {
        return -EPERM;
    }
    int error = os_identify(pid, &identity);
    if (error != 0) {
        return error;
    }
    uint32_t flags = FORMAT_ASSIGNED | lock_flags(pool, pid);
    bool known = identity.witness != OS_UNKNOWN && pool->self.pid_namespace != 0;
    if (!known && (flags & (FORMAT_BY_LOCK | FORMAT_KEPT)) != FORMAT_BY_LOCK) {
        return -ENOSYS; /* its death could not be proved */
    }
    if (known && os_process_ended(pid, &identity) == OS_ENDED) {
        return -ESRCH;
    }
    guest = usher__take_over(pool, seat, &error);
    if (guest != NULL) {
        usher__guest_sign(pool, guest->row, &identity, flags, (uint32_t)pid);
    }
    usher__take_over_done(pool, guest, GUEST_AWAY);
    return guest != NULL ? 0 : error;
}

bool usher__release_assigned(struct pool_act *act, uint32_t row, uint32_t cycle)
{
    struct usher_pool *pool = act->pool;
    bool first = usher__reap_first(pool, row, cycle);
    if (first) {
        int64_t since = usher__noted_ns(atomic_load(&pool->rows[row].since_ns));
        struct guest *guest = usher__guest_with(pool, row);
        usher__past_note(pool, guest == NULL ? 0 : guest->waited_ns,
                         since == 0 ? 0 : os_now_ns() - since);
        atomic_fetch_add(&pool->rows[row].seat_hint, 1);
    }
    usher__reap_finish(act, row, cycle, true);
    return first;
}

/* A seat that a child assigned to itself, with the lock that it inherited, is given back by its
   parent: usher release in a command of usher run does not take the seat away. */
static bool guarded(struct usher_pool *pool, uint32_t row, uint64_t owner)
{
    return (format_owner_flags(owner) & (FORMAT_BY_LOCK | FORMAT_KEPT)) == FORMAT_BY_LOCK &&
           usher__guest_with(pool, row) == NULL &&
           os_locked(pool->fd, (off_t)POOL_LOCK_ROW + row) == 1;
}

/* Which seats to give back: those of a process, or the one of a request. */
struct wanted {
    uint32_t pid;
    uint64_t request; /* 0: any */
};

static bool is_wanted(struct usher_pool *pool, const struct wanted *wanted, uint32_t row,
                      uint64_t owner, uint32_t cycle)
{
    if (wanted->request != 0) { /* the row is ours: no other request can be in it */
        return core_i_tag(wanted->request >> 1) == (cycle & CORE_TAG_MASK);
    }
    return format_owner_pid(owner) == wanted->pid &&
           format_owner_namespace(owner) == pool->self.pid_namespace && !guarded(pool, row, owner);
}

/* Give back the seat of a row that is assigned. Whether the caller is the first. */
static bool release_row(struct pool_act *act, uint32_t row, const struct wanted *wanted)
{
    struct usher_pool *pool = act->pool;
    struct core_watch watch;
    CORE_FRESH(watch);
    watch.by = act->by;
    watch.row = row;
    (void)core_watch(&act->core, &watch);
    uint64_t owner = atomic_load(&pool->rows[row].owner);
    enum core_state state = core_row_state(watch.r);
    bool released = (format_owner_flags(owner) & FORMAT_ASSIGNED) &&
                    (state == CORE_GRANTED || state == CORE_ENTERING) &&
                    is_wanted(pool, wanted, row, owner, core_row_cycle(watch.r)) &&
                    usher__release_assigned(act, row, core_row_cycle(watch.r));
    core_unwatch(&act->core, act->by);
    return released;
}

static int release_rows(struct usher_pool *pool, uint32_t first, uint32_t end,
                        const struct wanted *wanted)
{
    uint32_t by;
    int released = 0;
    int error = usher__visit(pool, &by);
    if (error != 0) {
        return error;
    }
    struct pool_act act;
    usher__act_begin(&act, pool, by);
    for (uint32_t row = first; row < end; row++) {
        uint64_t owner = atomic_load(&pool->rows[row].owner);
        if ((format_owner_flags(owner) & FORMAT_ASSIGNED) &&
            (wanted->request != 0 || format_owner_pid(owner) == wanted->pid)) {
            released += release_row(&act, row, wanted);
        }
    }
    usher__act_end(&act);
    usher__visit_end(pool, by);
    return released;
}

int usher_release_for(struct usher_pool *pool, pid_t pid)
{
    if (pool->generation != *usher__generation) {
        return -USHER_EFORKED;
    }
    if (pool->module != NULL) {
        return -EOPNOTSUPP;
    }
    return release_rows(pool, 0, usher__rows_used(pool), &(struct wanted){(uint32_t)pid, 0});
}

int usher_release_assigned(struct usher_pool *pool, const struct usher_seat *seat)
{
    if (pool->generation != *usher__generation) {
        return -USHER_EFORKED;
    }
    if (pool->module != NULL) {
        return -EOPNOTSUPP;
    }
    uint32_t row = usher__request_row(seat->request);
    struct guest *guest = usher__is_held(seat->request) ? usher__guest_with(pool, row) : NULL;
    uint64_t state = guest == NULL ? GUEST_IDLE : atomic_load(&guest->state);
    if (state != GUEST_AWAY && state != GUEST_ORPHAN) {
        return -EPERM;
    }
    int released = release_rows(pool, row, row + 1, &(struct wanted){0, seat->request});
    return released > 0 ? 0 : released == 0 ? -EPERM : released;
}
