/*
 * The rows that this process owns. A row is claimed by locking its byte of the pool file, so the
 * kernel sees to it that a row has one owner, and the lock is the owner's sign of life (alive.c).
 * Each thread keeps its rows for its next request; when it ends, it gives back what it holds and
 * its rows become spare. In a pool without a file rows are simply counted.
 *
 * The mutexes here are of this process alone: nothing that another process waits for.
 */
#include "lib/lib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Thread_local struct mine usher__mine;

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static struct usher_pool *open_pools;
uint64_t *usher__generation;
static uint64_t last_generation, last_id;
static pthread_key_t thread_end;
/* What is done once for the process may fail, for want of memory, and succeed the next time: each
   attempt has a `once` of its own, all zero, which is PTHREAD_ONCE_INIT. */
static _Atomic int prepared = -EAGAIN;
static pthread_once_t attempts[256];
static _Atomic uint32_t attempt;

void usher__guest_left(struct usher_pool *pool, struct guest *guest)
{
    uint64_t idle = GUEST_IDLE;
    (void)pthread_mutex_lock(&pool->mutex);
    if (guest->ended) {
        (void)atomic_compare_exchange_strong(&guest->state, &idle, GUEST_SPARE);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

/* A thread ends: nothing is lost, not even if it forgot. */
static void give_back(void *context)
{
    struct mine *list = context;
    (void)pthread_mutex_lock(&registry);
    for (unsigned e = 0; e < list->count; e++) {
        struct usher_pool *pool = open_pools;
        while (pool != NULL && pool->id != list->entries[e].pool_id) {
            pool = pool->next;
        }
        if (pool == NULL || pool->generation != *usher__generation) {
            continue;
        }
        struct guest *guest = list->entries[e].guest;
        usher__pool_leave(pool, guest);
        uint64_t away = GUEST_AWAY;
        (void)pthread_mutex_lock(&pool->mutex);
        guest->ended = true;
        (void)atomic_compare_exchange_strong(&guest->state, &away, GUEST_ORPHAN);
        (void)pthread_mutex_unlock(&pool->mutex);
        usher__guest_left(pool, guest);
    }
    (void)pthread_mutex_unlock(&registry);
    free(list->entries);
    memset(list, 0, sizeof *list);
}

static void before_fork(void)
{
    (void)pthread_mutex_lock(&registry);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&registry);
}

/* The child has nothing of what its parent holds, and must not keep its locks. */
static void in_child(void)
{
    *usher__generation = 0;
    for (struct usher_pool *pool = open_pools; pool != NULL; pool = pool->next) {
        if (pool->fd >= 0 && !(pool->flags & USHER_KEEP)) {
            (void)close(pool->fd);
            pool->fd = -1;
        }
    }
    (void)pthread_mutex_unlock(&registry);
}

static void prepare(void)
{
    static bool keyed;
    int error = 0;
    if (usher__generation == NULL) {
        usher__generation = os_forget_on_fork();
        error = usher__generation == NULL ? -ENOMEM : 0;
    }
    if (error == 0 && !keyed) {
        error = -pthread_key_create(&thread_end, give_back);
        keyed = error == 0;
    }
    if (error == 0) {
        error = -pthread_atfork(before_fork, after_fork, in_child);
    }
    atomic_store(&prepared, error);
}

int usher__guest_attach(struct usher_pool *pool)
{
    uint32_t now = atomic_load(&attempt);
    (void)pthread_once(&attempts[now], prepare);
    int error = atomic_load(&prepared);
    if (error != 0 && now + 1 < sizeof attempts / sizeof attempts[0]) {
        (void)atomic_compare_exchange_strong(&attempt, &now, now + 1);
    }
    if (error != 0) {
        return error;
    }
    pthread_mutexattr_t recursive;
    (void)pthread_mutexattr_init(&recursive);
    (void)pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&pool->mutex, &recursive);
    (void)pthread_mutexattr_destroy(&recursive);
    os_self(&pool->self);
    (void)pthread_mutex_lock(&registry);
    if (*usher__generation == 0) {
        *usher__generation = ++last_generation;
    }
    pool->generation = *usher__generation;
    pool->now = usher__generation;
    pool->id = ++last_id << 32;
    pool->next = open_pools;
    open_pools = pool;
    (void)pthread_mutex_unlock(&registry);
    return 0;
}

void usher__guest_detach(struct usher_pool *pool)
{
    (void)pthread_mutex_lock(&registry);
    for (struct usher_pool **at = &open_pools; *at != NULL; at = &(*at)->next) {
        if (*at == pool) {
            *at = pool->next;
            break;
        }
    }
    bool ours = pool->generation == *usher__generation;
    /* Giving back may look at all of them, to see who is dead: none is freed before all have. */
    for (struct guest *guest = pool->guests; ours && guest != NULL; guest = guest->next) {
        usher__pool_leave(pool, guest);
    }
    struct guest *next;
    for (struct guest *guest = pool->guests; guest != NULL; guest = next) {
        uint64_t state = atomic_load(&guest->state);
        next = guest->next;
        /* a row whose seat is another's now is its sign of life */
        bool away = state == GUEST_AWAY || state == GUEST_ORPHAN;
        if (ours && pool->shared &&
            (!away || core_row_state(usher__row_word(pool, guest->row)) == CORE_IDLE)) {
            atomic_store(&pool->rows[guest->row].owner, 0);
        }
        free(guest);
    }
    (void)pthread_mutex_unlock(&registry);
    (void)pthread_mutex_destroy(&pool->mutex);
}

void usher__guest_sign(struct usher_pool *pool, uint32_t row, uint64_t identity, uint32_t flags,
                       uint32_t pid)
{
    struct format_row *signed_ = &pool->rows[row];
    atomic_store(&signed_->owner, 0);
    atomic_store(&signed_->identity, identity);
    atomic_store(&signed_->owner, format_owner(pool->self.pid_namespace, flags, pid));
}

static void sign_as_ours(struct usher_pool *pool, uint32_t row)
{
    atomic_store(&pool->rows[row].since_ns, 0);
    usher__guest_sign(pool, row, pool->self.identity, FORMAT_BY_LOCK | FORMAT_BY_PID,
                      pool->self.pid);
}

struct guest *usher__guest_with(struct usher_pool *pool, uint32_t row)
{
    struct guest *guest;
    (void)pthread_mutex_lock(&pool->mutex);
    for (guest = pool->guests; guest != NULL && guest->row != row; guest = guest->next) {
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return guest;
}

bool usher__guest_is_mine(const struct usher_pool *pool, const struct guest *guest)
{
    for (unsigned e = 0; e < usher__mine.count; e++) {
        if (usher__mine.entries[e].pool_id == pool->id && usher__mine.entries[e].guest == guest) {
            return true;
        }
    }
    return false;
}

static bool ours_already(const struct usher_pool *pool, uint32_t row)
{
    for (const struct guest *guest = pool->guests; guest != NULL; guest = guest->next) {
        if (guest->row == row) {
            return true;
        }
    }
    return false;
}

/* Take a row that nobody owns, or whose owner is dead: with its lock in our hands that is certain,
   unless its seat was made over to a process that has no lock. 0, -EAGAIN: not this one. */
static int take_row(struct usher_pool *pool, uint32_t row)
{
    int error = os_lock(pool->fd, (off_t)LIB_LOCK_ROW + row);
    if (error != 0) {
        return error;
    }
    uint64_t word = usher__row_word(pool, row);
    uint64_t owner = atomic_load(&pool->rows[row].owner);
    if ((format_owner_flags(owner) & FORMAT_ASSIGNED) && core_row_state(word) != CORE_IDLE &&
        usher__alive(pool, row) != 0) {
        (void)os_unlock(pool->fd, (off_t)LIB_LOCK_ROW + row);
        return -EAGAIN;
    }
    if (core_row_state(word) != CORE_IDLE) {
        usher__alive_bury(pool, row, core_row_cycle(word), false);
    }
    sign_as_ours(pool, row);
    return 0;
}

/* Find a row: first among those that say they are nobody's, then among all. */
static int claim(struct usher_pool *pool, uint32_t *found)
{
    for (int pass = pool->shared ? 0 : 1; pass < 2; pass++) {
        for (uint32_t row = 0; row < pool->core.rows; row++) {
            if ((pass == 0 && atomic_load(&pool->rows[row].owner) != 0) ||
                ours_already(pool, row)) {
                continue;
            }
            int error = pool->shared ? take_row(pool, row) : 0;
            if (error == 0) {
                uint32_t used = atomic_load(&pool->header->rows_used);
                while (used < row + 1 &&
                       !atomic_compare_exchange_strong(&pool->header->rows_used, &used, row + 1)) {
                }
                *found = row;
                return 0;
            }
            if (error != -EAGAIN) {
                return error;
            }
        }
    }
    return -EUSERS;
}

/* Go on where the row is. The seat is an index, and whoever may write the pool may have written it;
   a row that has had none yet may as well begin to look at the first. */
static void resume(const struct usher_pool *pool, struct guest *guest)
{
    uint32_t seat = core_own_seat(atomic_load(&pool->rows[guest->row].own));
    usher__guest_began(guest, core_row_cycle(usher__row_word(pool, guest->row)));
    guest->seat = seat < pool->core.seats ? seat : 0;
    guest->row_at = CORE_AT_ROWS(&pool->core) + guest->row * CORE_ROW_STRIDE(&pool->core);
}

/* A spare guest, one that has come back from where it was assigned, or a new one. */
static int provide(struct usher_pool *pool, struct guest **provided)
{
    struct guest *guest;
    for (guest = pool->guests; guest != NULL; guest = guest->next) {
        uint64_t state = atomic_load(&guest->state);
        if (state == GUEST_ORPHAN &&
            core_row_state(usher__row_word(pool, guest->row)) == CORE_IDLE) {
            sign_as_ours(pool, guest->row);
            break;
        }
        if (state == GUEST_SPARE) {
            break;
        }
    }
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
    }
    resume(pool, guest);
    guest->ended = false;
    atomic_store(&guest->wanted, os_has_barrier() ? 0 : GUEST_CAREFUL);
    atomic_store(&guest->state, GUEST_IDLE);
    *provided = guest;
    return 0;
}

/* Drop what this thread remembers of pools that are closed. */
static void forget_closed(void)
{
    unsigned kept = 0;
    (void)pthread_mutex_lock(&registry);
    for (unsigned e = 0; e < usher__mine.count; e++) {
        struct usher_pool *pool = open_pools;
        while (pool != NULL && pool->id != usher__mine.entries[e].pool_id) {
            pool = pool->next;
        }
        if (pool != NULL) {
            usher__mine.entries[kept++] = usher__mine.entries[e];
        }
    }
    usher__mine.count = kept;
    (void)pthread_mutex_unlock(&registry);
}

static int remember(struct usher_pool *pool, struct guest *guest)
{
    if (usher__mine.count == usher__mine.room) {
        forget_closed();
    }
    if (usher__mine.count == usher__mine.room) {
        unsigned room = usher__mine.room == 0 ? 4 : 2 * usher__mine.room;
        struct mine_entry *entries = realloc(usher__mine.entries, room * sizeof *entries);
        if (entries == NULL || pthread_setspecific(thread_end, &usher__mine) != 0) {
            usher__mine.entries = entries != NULL ? entries : usher__mine.entries;
            return -ENOMEM;
        }
        usher__mine.entries = entries;
        usher__mine.room = room;
    }
    usher__mine.last.key = usher__key(pool);
    usher__mine.last.guest = guest;
    usher__mine.entries[usher__mine.count++] = (struct mine_entry){pool->id, guest};
    return 0;
}

int usher__guest_get(struct usher_pool *pool, struct guest **guest)
{
    for (unsigned e = 0; e < usher__mine.count; e++) {
        if (usher__mine.entries[e].pool_id != pool->id) {
            continue;
        }
        *guest = usher__mine.entries[e].guest;
        uint64_t state = atomic_load(&(*guest)->state);
        if (state == GUEST_AWAY &&
            core_row_state(usher__row_word(pool, (*guest)->row)) == CORE_IDLE) {
            sign_as_ours(pool, (*guest)->row);
            resume(pool, *guest);
            atomic_store(&(*guest)->state, GUEST_IDLE);
            return 0;
        }
        if (state == GUEST_IDLE) {
            usher__mine.last.key = usher__key(pool);
            usher__mine.last.guest = *guest;
            return 0;
        }
    }
    (void)pthread_mutex_lock(&pool->mutex);
    int error = provide(pool, guest);
    (void)pthread_mutex_unlock(&pool->mutex);
    usher__pool_settle(pool); /* the row may have been taken from a dead one */
    if (error == 0) {
        error = remember(pool, *guest);
        if (error != 0) {
            atomic_store(&(*guest)->state, GUEST_SPARE);
        }
    }
    return error;
}
