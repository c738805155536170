/*
 * Remove pools: the remover locks a byte of the file, sets `removed` in the header, and unlinks the
 * name only if it still belongs to that file. file.c finishes what a killed remover left.
 */
#include "pool/pool.h"

#include <errno.h>
#include <unistd.h>

/* Does a live guest hold a seat or wait? Reaps dead ones first. */
static bool in_use(struct usher_pool *pool)
{
    (void)usher_reap(pool);
    /* A guest writes its row, swaps I and then reads `removed`. If this I has that swap in it, the
       row read below has the write; if not, the guest reads `removed` after it was set. */
    (void)atomic_load(&pool->core.words[CORE_AT_I(&pool->core)]);
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        if (core_row_state(usher__row_word(pool, row)) != CORE_IDLE) {
            return true;
        }
    }
    return false;
}

/* Unlink a file that was a pool and cannot be opened any more. */
static int unlink_unusable(const struct name *name, int why)
{
    const struct name_place *place;
    int directory;
    int error = usher__name_find(name, &directory, &place);
    if (error == 0) {
        error = unlinkat(directory, name->last, 0) == 0 ? 0 : why;
        (void)close(directory);
    }
    return error;
}

/* The remove byte is locked. Guests that arrive while `removed` is set are refused, so a second
   check after setting it is final. */
static int remove_locked(struct usher_pool *pool, int directory, const char *name, bool force)
{
    if (!force && in_use(pool)) {
        return -EBUSY;
    }
    if (force) {
        atomic_store(&pool->header->removed, FORMAT_GONE);
    } else {
        uint32_t asked = FORMAT_ASKED;
        atomic_store(&pool->header->removed, asked);
        bool used = in_use(pool);
        /* Removed if it was not in use, and no usher_open has taken the mark back. */
        if (!atomic_compare_exchange_strong(&pool->header->removed, &asked,
                                            used ? 0 : FORMAT_GONE) ||
            used) {
            return -EBUSY; /* a guest or an opener was faster */
        }
    }
    int error = usher__file_unlink(pool, directory, name);
    if (error != 0) {
        atomic_store(&pool->header->removed, 0); /* the name still exists */
        return error;
    }
    usher__wake_all(pool);
    return 0;
}

static int remove_named(const char *text, bool force)
{
    struct name name;
    const struct name_place *place;
    int directory;
    struct usher_pool *pool;
    struct usher_options existing = {.flags = USHER_EXISTING};
    if (text == NULL) {
        return -EINVAL;
    }
    if (usher__remote_is(text)) {
        return usher__remote_remove(text, force);
    }
    int error = usher__name_parse(text, &name);
    error = error == 0 ? usher_open(&pool, text, &existing) : error;
    if (force &&
        (error == -USHER_EDAMAGED || error == -USHER_ETRUNCATED || error == -USHER_EFORMAT)) {
        return unlink_unusable(&name, error);
    }
    if (error != 0) {
        return error;
    }
    usher__guest_unreserve(pool); /* the directory needs a descriptor, too */
    error = usher__name_find(&name, &directory, &place);
    if (error == 0 || error == -ENOENT) { /* -ENOENT: the pool has lost its name already */
        error = os_lock(pool->fd, POOL_LOCK_REMOVE);
        error = error == -EAGAIN ? -EBUSY : error; /* another process is removing it */
        error = error == 0 ? remove_locked(pool, directory, name.last, force) : error;
    }
    if (directory >= 0) {
        (void)close(directory);
    }
    usher_close(pool);
    return error;
}

int usher_remove(const char *name)
{
    int cancel = os_cancel_off();
    int error = remove_named(name, false);
    os_cancel_restore(cancel);
    return error;
}

int usher_discard(const char *name)
{
    int cancel = os_cancel_off();
    int error = remove_named(name, true);
    os_cancel_restore(cancel);
    return error;
}
