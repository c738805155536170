/*
 * Rows of the guest table that this process owns. A process claims a row by locking the row's byte
 * of the pool file: the kernel makes sure that a row has one owner, and the lock is a witness of
 * the owner's life (reaper/alive.c). In a pool without a file rows are simply counted. The process
 * keeps a row until it closes the pool; which thread uses it, and when, is decided in guest.c.
 */
#include "pool/pool.h"

#include "wait/act.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void usher__guest_sign(struct usher_pool *pool, uint32_t row, const struct os_identity *identity,
                       uint32_t flags, uint32_t pid)
{
    struct format_row *signed_ = &pool->rows[row];
    flags |= identity->witness == OS_BY_INODE   ? FORMAT_BY_PID
             : identity->witness == OS_BY_START ? FORMAT_BY_START
                                                : 0;
    atomic_store(&signed_->owner, 0);
    atomic_store(&signed_->identity, identity->value);
    atomic_store(&signed_->owner, format_owner(pool->self.pid_namespace, flags, pid));
}

void usher__claim_sign(struct usher_pool *pool, uint32_t row)
{
    atomic_store(&pool->rows[row].since_ns, 0);
    usher__guest_sign(pool, row, &pool->self.identity, FORMAT_BY_LOCK, pool->self.pid);
}

struct guest *usher__guest_with(const struct usher_pool *pool, uint32_t row)
{
    return row < pool->core.rows ? atomic_load(&pool->ours[row]) : NULL;
}

/* Take a row that has no owner, or a dead one: since we have its lock that is certain, unless its
   seat was assigned to a process that has no lock. 0; -EAGAIN: not this row. */
static int take_row(struct usher_pool *pool, uint32_t row)
{
    int error = os_lock(pool->fd, (off_t)POOL_LOCK_ROW + row);
    if (error != 0) {
        return error;
    }
    uint64_t word = usher__row_word(pool, row);
    uint64_t owner = atomic_load(&pool->rows[row].owner);
    if ((format_owner_flags(owner) & FORMAT_ASSIGNED) && core_row_state(word) != CORE_IDLE &&
        usher__alive(pool, NULL, row) != 0) {
        (void)os_unlock(pool->fd, (off_t)POOL_LOCK_ROW + row);
        return -EAGAIN;
    }
    core_disown(&pool->core, row); /* what its dead owner announced */
    if (core_row_state(word) != CORE_IDLE) {
        struct pool_act act;
        usher__act_begin(&act, pool, row);
        usher__reap_finish(&act, row, core_row_cycle(word), false);
        usher__act_end(&act);
    }
    usher__claim_sign(pool, row);
    return 0;
}

/* Find a row: first among the rows that say that they have no owner, then among all. The search
   goes on after the row that was found last. */
static int claim(struct usher_pool *pool, uint32_t *found)
{
    for (int pass = pool->shared ? 0 : 1; pass < 2; pass++) {
        for (uint32_t n = 0; n < pool->core.rows; n++) {
            uint32_t row = (pool->claimed + n) % pool->core.rows;
            if ((pass == 0 && atomic_load(&pool->rows[row].owner) != 0) ||
                usher__guest_with(pool, row) != NULL) {
                continue;
            }
            int error = pool->shared ? take_row(pool, row) : 0;
            if (error == 0) {
                uint32_t used = atomic_load(&pool->header->rows_used);
                while (used < row + 1 &&
                       !atomic_compare_exchange_strong(&pool->header->rows_used, &used, row + 1)) {
                }
                *found = row;
                pool->claimed = row + 1;
                return 0;
            }
            if (error != -EAGAIN) {
                return error;
            }
        }
    }
    return -USHER_EFULL;
}

/* Go on in the row's cycle. The seat is an index that any writer of the pool file may have set, so
   it is checked. */
void usher__claim_resume(const struct usher_pool *pool, struct guest *guest)
{
    uint32_t seat = core_hint_seat(atomic_load(&pool->rows[guest->row].seat_hint));
    uint32_t cycle = core_row_cycle(usher__row_word(pool, guest->row));
    usher__guest_began(guest, &(struct core_run){cycle, cycle, false});
    guest->questions = (struct core_run){0, 0, false};
    usher__guest_sits(pool, guest, seat < pool->core.seats ? seat : 0);
    guest->came = false;
    guest->waited_ns = 0;
    guest->mark = core_seat_mark(guest->row);
    guest->row_at = CORE_AT_ROWS(&pool->core) + guest->row * CORE_ROW_STRIDE(&pool->core);
}

void usher__claim_spare(struct usher_pool *pool, struct guest *guest)
{
    guest->next_spare = pool->spares;
    pool->spares = guest;
}

/* A spare guest, or an orphan whose assigned seat has been given back; NULL: neither. */
static struct guest *reuse(struct usher_pool *pool)
{
    struct guest *guest = pool->spares;
    if (guest != NULL) {
        pool->spares = guest->next_spare;
        return guest;
    }
    for (guest = pool->orphans > 0 ? pool->guests : NULL; guest != NULL; guest = guest->next) {
        if (atomic_load(&guest->state) == GUEST_ORPHAN &&
            core_row_state(usher__row_word(pool, guest->row)) == CORE_IDLE) {
            pool->orphans--;
            usher__claim_sign(pool, guest->row);
            return guest;
        }
    }
    return NULL;
}

int usher__claim(struct usher_pool *pool, struct guest **claimed)
{
    struct guest *guest = reuse(pool);
    if (guest == NULL) {
        guest = aligned_alloc(_Alignof(struct guest), sizeof *guest);
        if (guest == NULL) {
            return -ENOMEM;
        }
        memset(guest, 0, sizeof *guest);
        int error = claim(pool, &guest->row);
        if (error != 0) {
            free(guest);
            return error;
        }
        guest->next = pool->guests;
        pool->guests = guest;
        atomic_store(&pool->ours[guest->row], guest);
    }
    usher__claim_resume(pool, guest);
    guest->ended = false;
    atomic_store(&guest->wanted, usher__guest_care(pool));
    atomic_store(&guest->state, GUEST_IDLE);
    *claimed = guest;
    return 0;
}

/* A visitor's row that is free. -EAGAIN: there is none; or why the last one cannot be locked. */
static int claim_visitor(struct usher_pool *pool, uint32_t *by)
{
    int error = -EAGAIN;
    for (uint32_t v = 0; v < FORMAT_VISITORS && error != 0; v++) {
        *by = pool->core.rows + v;
        error = pool->shared ? os_lock(pool->fd, (off_t)POOL_LOCK_ROW + *by) : 0;
    }
    if (error == 0) {
        core_disown(&pool->core, *by); /* what a dead visitor announced */
    }
    return error;
}

int usher__visit(struct usher_pool *pool, uint32_t *by)
{
    int cancel = os_cancel_off();
    (void)pthread_mutex_lock(&pool->mutex);
    assert(!pool->visited); /* a second visit would withdraw what the first one announces */
    int error = claim_visitor(pool, by);
    if (error != 0) { /* all are in use, perhaps by stopped processes: be a guest */
        struct guest *guest;
        error = usher__claim(pool, &guest);
        *by = error == 0 ? guest->row : *by;
    }
    if (error == 0) {
        pool->visited = true;
        pool->visit_cancel = cancel;
        return 0;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    os_cancel_restore(cancel);
    return error;
}

void usher__visit_end(struct usher_pool *pool, uint32_t by)
{
    int cancel = pool->visit_cancel;
    pool->visited = false;
    if (by < pool->core.rows) {
        struct guest *guest = usher__guest_with(pool, by);
        atomic_store(&guest->state, GUEST_SPARE);
        usher__claim_spare(pool, guest);
    } else if (pool->shared) {
        (void)os_unlock(pool->fd, (off_t)POOL_LOCK_ROW + by);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    os_cancel_restore(cancel);
}
