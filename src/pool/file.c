/*
 * Pool files: created complete or not at all, checked when opened, removed once.
 *
 * Creating: a new pool is written without a name, or under a temporary one, and then linked to its
 * name. So a name always stands for a complete pool, and if two processes create it at once, one
 * link fails with EEXIST. Removing: the remover locks a byte of the file, sets `removed` in the
 * header, and unlinks the name only if it still belongs to that file.
 */
#include "pool/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long usher_open waits for a remover: LONG_MS to decide, TRIES_MS to finish. */
enum { LONG_MS = 50, TRIES_MS = 1000 };

/* Write a whole pool into an empty file. */
static int fill(int fd, const struct format_shape *shape, mode_t mode)
{
    int error = posix_fallocate(fd, 0, (off_t)shape->size); /* a full disk shows here */
    if (error != 0) {
        return -error;
    }
    if (fchmod(fd, mode == 0 ? 0600 : mode) != 0) {
        return -errno;
    }
    void *memory = mmap(NULL, shape->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    struct format_header *header = memory;
    header->shape = *shape;
    header->check = format_check(shape);
    struct core core = usher__format_core(header, shape);
    core_init(&core, shape->seats);
    (void)munmap(memory, shape->size);
    return 0;
}

/* Create without a name until it is complete. -EOPNOTSUPP: this file system cannot, or there is no
   /proc. */
static int create_nameless(int directory, const char *name, const struct format_shape *shape,
                           mode_t mode)
{
    char path[64];
    int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno == EISDIR || errno == EINVAL || errno == ENOENT ? -EOPNOTSUPP : -errno;
    }
    int error = fill(fd, shape, mode);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (error == 0 && linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) != 0) {
        error = errno == ENOENT ? -EOPNOTSUPP : -errno;
    }
    (void)close(fd);
    return error;
}

/* Create under a temporary name until it is complete. */
static int create_temporary(int directory, const char *name, const struct format_shape *shape,
                            mode_t mode)
{
    char temporary[64];
    uint64_t random;
    int fd;
    do { /* a name that no other process can guess */
        if (getrandom(&random, sizeof random, 0) != sizeof random) {
            return -errno;
        }
        (void)snprintf(temporary, sizeof temporary, ".usher-%016" PRIx64, random);
        fd = openat(directory, temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (fd < 0 && errno == EEXIST);
    if (fd < 0) {
        return -errno;
    }
    int error = fill(fd, shape, mode);
    if (error == 0 && linkat(directory, temporary, directory, name, 0) != 0) {
        error = -errno;
    }
    (void)unlinkat(directory, temporary, 0);
    (void)close(fd);
    return error;
}

static int create(int directory, const char *name, const struct usher_options *options)
{
    struct format_shape shape;
    if (usher__format_shape(&shape, options->seats == 0 ? 1 : options->seats, options->guests)) {
        return -ERANGE;
    }
    int error = create_nameless(directory, name, &shape, options->mode);
    return error == -EOPNOTSUPP ? create_temporary(directory, name, &shape, options->mode) : error;
}

/* The owner of a file can truncate it while we use it. So the owner must be us or root, or the file
   must be shared on purpose: others may write to it. */
static int trusted(const struct stat *status)
{
    if (!S_ISREG(status->st_mode)) {
        return -ENODEV;
    }
    bool shared = (status->st_mode & (S_IWGRP | S_IWOTH)) != 0;
    return status->st_uid == geteuid() || status->st_uid == 0 || shared ? 0 : -USHER_EUNTRUSTED;
}

/* Map and check what is in the file. */
static int map(struct usher_pool *pool, const struct stat *status)
{
    struct format_header header;
    memset((void *)&header, 0, sizeof header);
    if (status->st_size == 0) {
        return -USHER_EEMPTY;
    }
    ssize_t got = pread(pool->fd, (void *)&header, sizeof header, 0);
    if (got < 0) {
        return -errno;
    }
    if (header.shape.magic == FORMAT_MAGIC && (size_t)got < sizeof header) {
        return -USHER_ETRUNCATED;
    }
    int error = usher__format_verify(&header, (uint64_t)status->st_size);
    if (error != 0) {
        return error;
    }
    pool->shape = header.shape;
    pool->size = header.shape.size;
    void *memory = mmap(NULL, pool->size, PROT_READ | PROT_WRITE, MAP_SHARED, pool->fd, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    pool->header = memory;
    const _Atomic uint64_t *words = (const void *)((const char *)memory + FORMAT_WORDS);
    uint32_t seats = core_k_seats(atomic_load(&words[CORE_AT_K(0)]));
    /* The mapping must contain what was just checked: another process may be writing. */
    return memcmp(&pool->header->shape, &header.shape, sizeof header.shape) != 0 ||
                   seats > header.shape.most_seats ||
                   atomic_load(&pool->header->removed) > FORMAT_GONE
               ? -USHER_EDAMAGED
               : 0;
}

/* Open the pool of that name in a directory. -ENOENT: there is none. */
static int attach(struct usher_pool *pool, int directory, const char *name)
{
    struct stat status;
    int keep = pool->flags & USHER_KEEP ? 0 : O_CLOEXEC;
    pool->fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | keep);
    if (pool->fd < 0) {
        return errno == EISDIR || errno == ENXIO ? -ENODEV : -errno;
    }
    if (fstat(pool->fd, &status) != 0) {
        return -errno;
    }
    int error = trusted(&status);
    if (error == 0) {
        error = map(pool, &status);
    }
    if (error == 0) {
        error = os_locked(pool->fd, POOL_LOCK_REMOVE);
        error = error < 0 ? -ENOLCK : 0;
    }
    return error;
}

static void detach(struct usher_pool *pool)
{
    if (pool->header != NULL) {
        (void)munmap(pool->header, pool->size);
        pool->header = NULL;
    }
    if (pool->fd >= 0) {
        (void)close(pool->fd);
        pool->fd = -1;
    }
}

/* Unlink the name if it still belongs to this file. The remove byte is locked: no other process
   unlinks it. */
static int unlink_own(const struct usher_pool *pool, int directory, const char *name)
{
    struct stat own;
    struct stat named;
    if (fstat(pool->fd, &own) != 0) {
        return -errno;
    }
    if (fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) != 0 || own.st_ino != named.st_ino ||
        own.st_dev != named.st_dev) {
        return 0; /* unlinked already */
    }
    return unlinkat(directory, name, 0) == 0 || errno == ENOENT ? 0 : -errno;
}

/* The header says "removed", and the name still exists: the remover died, runs, or is stopped. If
   it has not yet made sure that the pool is not in use, and is dead or slow, take the mark back:
   the remover notices, and the pool stays. Otherwise finish the removal, or wait a moment. */
static int finish_removing(struct usher_pool *pool, int directory, const char *name, int tries)
{
    uint32_t asked = FORMAT_ASKED;
    bool alone = os_lock(pool->fd, POOL_LOCK_REMOVE) == 0;
    if ((alone || tries >= LONG_MS) &&
        atomic_compare_exchange_strong(&pool->header->removed, &asked, 0)) {
        if (alone) {
            (void)os_unlock(pool->fd, POOL_LOCK_REMOVE);
        }
        return 0;
    }
    if (alone) {
        /* Since we looked its remover may have found that it is in use, and left it. */
        bool is_gone = atomic_load(&pool->header->removed) == FORMAT_GONE;
        int error = is_gone ? unlink_own(pool, directory, name) : 0;
        (void)os_unlock(pool->fd, POOL_LOCK_REMOVE);
        return error;
    }
    struct timespec moment = {0, 1000000};
    (void)nanosleep(&moment, NULL);
    return 0;
}

static int open_in(struct usher_pool *pool, int directory, const char *name,
                   const struct usher_options *options)
{
    for (int tries = 0; tries < TRIES_MS; tries++) {
        int made = options->flags & USHER_EXCLUSIVE ? create(directory, name, options) : 0;
        if (made != 0 && made != -EEXIST) {
            return made;
        }
        int error = attach(pool, directory, name);
        if (error == -ENOENT && !(options->flags & (USHER_EXISTING | USHER_EXCLUSIVE))) {
            detach(pool);
            error = create(directory, name, options);
            if (error != 0 && error != -EEXIST) {
                return error;
            }
            continue;
        }
        if (error != 0 || atomic_load(&pool->header->removed) == 0) {
            return made != 0 ? made : error; /* something exists, even if it is not a pool */
        }
        error = finish_removing(pool, directory, name, tries);
        detach(pool);
        if (error != 0) {
            return error;
        }
    }
    return -EBUSY;
}

int usher__file_open(struct usher_pool *pool, const char *name, const struct usher_options *options)
{
    char path[PATH_MAX];
    const char *last;
    int directory;
    bool may_create = !(options->flags & USHER_EXISTING);
    if (options->seats > FORMAT_MAX_GUESTS || options->guests > FORMAT_MAX_GUESTS ||
        (options->guests != 0 && options->seats > options->guests)) {
        return -ERANGE;
    }
    int error = usher__name_resolve(name, may_create, path, &directory, &last);
    if (error != 0) {
        return error;
    }
    error = open_in(pool, directory, last, options);
    (void)close(directory);
    if (error == 0 && options->seats != 0) {
        const _Atomic uint64_t *words = (const void *)((char *)pool->header + FORMAT_WORDS);
        uint32_t seats = core_k_seats(atomic_load(&words[CORE_AT_K(0)]));
        error = seats == options->seats || seats == 0
                    ? 0
                    : -USHER_ESEATS; /* 0: a drained pool, in which one can wait */
    }
    if (error == 0) {
        pool->path = strdup(path);
        error = pool->path == NULL ? -ENOMEM : 0;
    }
    return error;
}

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
static int unlink_unusable(const char *name, int why)
{
    char path[PATH_MAX];
    const char *last;
    int directory;
    int error = usher__name_resolve(name, false, path, &directory, &last);
    if (error == 0) {
        error = unlinkat(directory, last, 0) == 0 ? 0 : why;
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
    int error = unlink_own(pool, directory, name);
    if (error != 0) {
        atomic_store(&pool->header->removed, 0); /* the name still exists */
        return error;
    }
    usher__wake_all(pool);
    return 0;
}

static int remove_named(const char *name, bool force)
{
    char path[PATH_MAX];
    const char *last;
    int directory;
    struct usher_pool *pool;
    struct usher_options existing = {.flags = USHER_EXISTING};
    if (name == NULL) {
        return -EINVAL;
    }
    if (usher__remote_is(name)) {
        return usher__remote_remove(name, force);
    }
    int error = usher_open(&pool, name, &existing);
    if (force &&
        (error == -USHER_EDAMAGED || error == -USHER_ETRUNCATED || error == -USHER_EFORMAT)) {
        return unlink_unusable(name, error);
    }
    if (error != 0) {
        return error;
    }
    usher__guest_unreserve(pool); /* the directory needs a descriptor, too */
    error = usher__name_resolve(name, false, path, &directory, &last);
    if (error == 0) {
        error = os_lock(pool->fd, POOL_LOCK_REMOVE);
        error = error == -EAGAIN ? -EBUSY : error; /* another process is removing it */
        error = error == 0 ? remove_locked(pool, directory, last, force) : error;
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
