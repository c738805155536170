/*
 * Which thread of this process uses which of its rows (claim.c). A thread keeps its rows for its
 * next request. When the thread ends, it gives back the seats that it holds (not with
 * USHER_PROCESS_SEATS), and its rows become spare.
 *
 * The mutexes here belong to this process alone: no other process waits for them.
 */
#include "pool/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Thread_local struct mine usher__mine;

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static struct usher_pool *open_pools;
uint64_t *usher__generation;
static uint64_t last_generation, last_id;
static pthread_key_t thread_end;
/* Preparing the process may fail for want of memory and succeed the next time: each attempt has a
   `once` of its own, all zero, which is PTHREAD_ONCE_INIT. */
static _Atomic int prepared = -EAGAIN;
static pthread_once_t attempts[256];
static _Atomic uint32_t attempt;

void usher__guest_left(struct usher_pool *pool, struct guest *guest)
{
    uint64_t idle = GUEST_IDLE;
    (void)pthread_mutex_lock(&pool->mutex);
    if (guest->ended && atomic_compare_exchange_strong(&guest->state, &idle, GUEST_SPARE)) {
        usher__claim_spare(pool, guest);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

/* A thread ends: release its seats, unless they belong to the process. Such a seat's row becomes
   spare when the seat is released. */
static void give_back(void *context)
{
    struct mine *list = context;
    int cancel = os_cancel_off();
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
        if (!(pool->flags & USHER_PROCESS_SEATS)) {
            usher__pool_leave(pool, guest);
        }
        uint64_t away = GUEST_AWAY;
        (void)pthread_mutex_lock(&pool->mutex);
        guest->ended = true;
        pool->orphans += atomic_compare_exchange_strong(&guest->state, &away, GUEST_ORPHAN);
        (void)pthread_mutex_unlock(&pool->mutex);
        usher__guest_left(pool, guest);
    }
    (void)pthread_mutex_unlock(&registry);
    free(list->entries);
    memset(list, 0, sizeof *list);
    os_cancel_restore(cancel);
}

static void before_fork(void)
{
    (void)pthread_mutex_lock(&registry);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&registry);
}

/* The child holds no seat of its parent, and must not keep the parent's locks alive. They live as
   long as the open description does, and a mapping keeps it open, too. */
static void in_child(void)
{
    int cancel = os_cancel_off();
    *usher__generation = 0;
    for (struct usher_pool *pool = open_pools; pool != NULL; pool = pool->next) {
        if (pool->fd >= 0 && !(pool->flags & USHER_KEEP)) {
            (void)munmap(pool->header, pool->size); /* first: a mapping has a descriptor */
            (void)close(pool->fd);
            pool->fd = -1;
            pool->header = NULL;
        }
    }
    (void)pthread_mutex_unlock(&registry);
    os_cancel_restore(cancel);
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
    if (error == 0) {
        pool->ours = calloc(pool->core.rows + 1, sizeof *pool->ours);
        error = pool->ours == NULL ? -ENOMEM : 0;
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
    pool->reserved = pool->shared && pool->module == NULL;
    if (pool->reserved) {
        os_reserve();
    }
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

void usher__guest_unreserve(struct usher_pool *pool)
{
    if (pool->reserved) {
        os_unreserve();
    }
    pool->reserved = false;
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
    /* Giving a seat back may scan all guests of this process: free none before all have left. */
    for (struct guest *guest = pool->guests; ours && guest != NULL; guest = guest->next) {
        usher__pool_leave(pool, guest);
    }
    struct guest *next;
    for (struct guest *guest = pool->guests; guest != NULL; guest = next) {
        uint64_t state = atomic_load(&guest->state);
        next = guest->next;
        /* The row of an assigned seat is the witness of its new holder's life. */
        bool away = state == GUEST_AWAY || state == GUEST_ORPHAN;
        if (ours && pool->shared &&
            (!away || core_row_state(usher__row_word(pool, guest->row)) == CORE_IDLE)) {
            atomic_store(&pool->rows[guest->row].owner, 0);
        }
        free(guest);
    }
    (void)pthread_mutex_unlock(&registry);
    (void)pthread_mutex_destroy(&pool->mutex);
    usher__guest_unreserve(pool);
    free(pool->ours);
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
            usher__claim_sign(pool, (*guest)->row);
            usher__claim_resume(pool, *guest);
            atomic_store(&(*guest)->state, GUEST_IDLE);
            return 0;
        }
        if (state == GUEST_IDLE) {
            usher__mine.last.key = usher__key(pool);
            usher__mine.last.guest = *guest;
            return 0;
        }
    }
    if (pool->flags & USHER_INSPECT) {
        return -EPERM;
    }
    /* usher__claim asks whether owners of rows are dead, with the mutex locked. */
    int cancel = os_cancel_off();
    (void)pthread_mutex_lock(&pool->mutex);
    int error = usher__claim(pool, guest);
    (void)pthread_mutex_unlock(&pool->mutex);
    if (error == 0) {
        error = remember(pool, *guest);
        if (error != 0) {
            (void)pthread_mutex_lock(&pool->mutex);
            atomic_store(&(*guest)->state, GUEST_SPARE);
            usher__claim_spare(pool, *guest);
            (void)pthread_mutex_unlock(&pool->mutex);
        }
    }
    os_cancel_restore(cancel);
    return error;
}
