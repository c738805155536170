/*
 * A pool as a whole: open, close, resize, reap. In and out is acquire.c and release.c. Seats and
 * tickets are the core's (src/core); rows are guest.c's; waiting is wait.c's.
 */
#include "pool/pool.h"

#include "wait/act.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_threads(struct usher_pool *pool, const struct usher_options *options)
{
    struct format_shape shape;
    if (usher__format_shape(&shape, options->seats == 0 ? 1 : options->seats, options->guests)) {
        return -ERANGE;
    }
    void *memory =
        mmap(NULL, shape.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    pool->header = memory;
    pool->header->shape = pool->shape = shape;
    pool->size = shape.size;
    pool->path = strdup("");
    return pool->path == NULL ? -ENOMEM : 0;
}

static void lay_out(struct usher_pool *pool)
{
    assert(pool->header != NULL);
    pool->rows = (void *)((char *)pool->header + pool->shape.rows_at);
    pool->core = usher__format_core(pool->header, &pool->shape);
}

static void discard(struct usher_pool *pool)
{
    if (pool->remote != NULL) { /* before there is a generation it is ours, too */
        pool->module->close(pool->remote,
                            pool->generation == 0 || pool->generation == *usher__generation);
    }
    if (pool->header != NULL) {
        (void)munmap(pool->header, pool->size);
    }
    if (pool->fd >= 0) {
        (void)close(pool->fd);
    }
    free(pool->path);
    free(pool->labels);
    free(pool);
}

static bool acceptable(const struct usher_options *options)
{
    const unsigned known = USHER_EXISTING | USHER_EXCLUSIVE | USHER_KEEP | USHER_TIMES |
                           USHER_NO_WATCHDOG | USHER_PROCESS_SEATS | USHER_KEEPER | USHER_INSPECT |
                           USHER_DEFINED;
    uint32_t rest = 0;
    for (unsigned i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++) {
        rest |= options->reserved[i];
    }
    return (options->flags & ~known) == 0 && rest == 0 &&
           (options->flags & (USHER_EXISTING | USHER_EXCLUSIVE)) !=
               (USHER_EXISTING | USHER_EXCLUSIVE) &&
           (!(options->flags & USHER_INSPECT) || (options->flags & USHER_EXISTING));
}

int usher_open(struct usher_pool **opened, const char *name, const struct usher_options *options)
{
    static const struct usher_options plain;
    options = options == NULL ? &plain : options;
    if (opened == NULL) {
        return -EINVAL;
    }
    *opened = NULL;
    if (!acceptable(options)) {
        return -EINVAL;
    }
    struct usher_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return -ENOMEM;
    }
    pool->fd = -1;
    pool->flags = options->flags;
    pool->waiting = options->waiting;
    pool->context = options->context;
    pool->waiting_ms = options->waiting_ms;
    pool->shared = name != NULL;
    bool remote = pool->shared && usher__remote_is(name);
    int cancel = os_cancel_off();
    int error = remote         ? usher__remote_open(pool, name, options)
                : pool->shared ? usher__file_open(pool, name, options)
                               : open_threads(pool, options);
    if (error == 0 && !remote) {
        lay_out(pool);
        if (!pool->shared) {
            core_init(&pool->core, pool->shape.seats);
        }
    }
    error = error == 0 ? usher__guest_attach(pool) : error;
    if (error == 0) {
        *opened = pool;
    } else {
        discard(pool);
    }
    os_cancel_restore(cancel);
    return error;
}

void usher_close(struct usher_pool *pool)
{
    if (pool != NULL) {
        int cancel = os_cancel_off();
        usher__guest_detach(pool);
        discard(pool);
        os_cancel_restore(cancel);
    }
}

const char *usher_path(const struct usher_pool *pool)
{
    return pool->path;
}

int usher__pool_usable(const struct usher_pool *pool)
{
    if (pool->generation != *usher__generation) {
        return -USHER_EFORKED;
    }
    return atomic_load_explicit(&pool->header->removed, memory_order_relaxed) != 0 ? -USHER_EREMOVED
                                                                                   : 0;
}

/* A resize whose process died is finished when the process is reaped. Reap it before this resize:
   otherwise it would change the number of seats afterwards. */
static void reap_resizers(struct usher_pool *pool, uint32_t by)
{
    struct pool_act act;
    usher__act_begin(&act, pool, by);
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        enum core_state state = core_row_state(usher__row_word(pool, row));
        if (state == CORE_GROWING || state == CORE_SHRINKING) {
            (void)usher__reap_row(&act, NULL, row);
        }
    }
    usher__act_end(&act);
}

int usher_resize(struct usher_pool *pool, uint32_t seats)
{
    struct guest *guest;
    if (pool->module != NULL) {
        int refused = usher__remote_usable(pool);
        return refused != 0 ? refused : pool->module->resize(pool->remote, seats);
    }
    int error = usher__pool_usable(pool);
    if (error != 0) {
        return error;
    }
    if (seats > pool->core.seats) {
        return -ERANGE;
    }
    /* From a number that no pool has it would be a long way. */
    if (core_k_seats(atomic_load(&pool->core.words[CORE_AT_K(&pool->core)])) > pool->core.seats) {
        return -USHER_EDAMAGED;
    }
    error = usher__guest_get(pool, &guest);
    if (error == 0) {
        reap_resizers(pool, guest->row);
    }
    /* A seat at a time, so that wherever this ends the pool is right. */
    while (error == 0 && usher__seats(pool) != seats) {
        struct core_resize resize;
        CORE_FRESH(resize);
        resize.row = guest->row;
        resize.run = usher__guest_cycles(guest);
        resize.grow = usher__seats(pool) < seats;
        resize.to = seats;
        struct pool_act act;
        usher__act_begin(&act, pool, guest->row);
        (void)core_resize(&act.core, &resize);
        usher__act_end(&act);
        usher__guest_began(guest, &resize.run);
        error = resize.full ? -USHER_EFULL : 0;
    }
    return error;
}

int usher_reap(struct usher_pool *pool)
{
    uint32_t by;
    int reaped = 0;
    if (pool->module != NULL) {
        int refused = usher__remote_usable(pool);
        return refused != 0 ? refused : pool->module->reap(pool->remote);
    }
    int error = usher__pool_usable(pool);
    error = error == 0 ? usher__visit(pool, &by) : error;
    if (error != 0) {
        return error;
    }
    struct pool_act act;
    usher__act_begin(&act, pool, by);
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        reaped += usher__reap_row(&act, NULL, row);
    }
    reaped += (int)usher__scan(&act); /* one may have died since its row was asked about */
    usher__act_end(&act);
    usher__visit_end(pool, by);
    return reaped;
}
