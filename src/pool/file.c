/*
 * Open pool files, and check them. make.c creates them, remove.c removes them.
 *
 * Before a name is created, deleted.c looks for a pool that had it and is still in use: such a pool
 * is opened instead.
 */
#include "pool/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long usher_open waits for a remover: LONG_MS to decide, TRIES_MS to finish. */
enum { LONG_MS = 50, TRIES_MS = 1000 };

/* The owner of a file can truncate it while we use it. So the owner must be us or root, or the file
   must be shared on purpose: others may write to it. Root may look at any pool, if it says so. */
static int trusted(const struct usher_pool *pool, const struct stat *status)
{
    if (!S_ISREG(status->st_mode)) {
        return -ENODEV;
    }
    bool shared = (status->st_mode & (S_IWGRP | S_IWOTH)) != 0;
    bool looks = (pool->flags & USHER_INSPECT) && geteuid() == 0;
    return status->st_uid == geteuid() || status->st_uid == 0 || shared || looks
               ? 0
               : -USHER_EUNTRUSTED;
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

/* Read the labels, which never change. What does not look like labels counts as none. */
static int read_labels(struct usher_pool *pool, const struct stat *status)
{
    uint64_t size = pool->header->labels_size;
    if (size == 0 || size > FORMAT_MAX_LABELS || pool->header->labels_at != pool->shape.size ||
        (uint64_t)status->st_size < pool->shape.size + size) {
        return 0;
    }
    char *labels = calloc(1, size + 1);
    if (labels == NULL) {
        return -ENOMEM;
    }
    ssize_t got = pread(pool->fd, labels, size, (off_t)pool->shape.size);
    labels[got > 0 ? got : 0] = '\0';
    if ((size_t)got != size || !usher__are_labels(labels, pool->shape.seats)) {
        free(labels);
        labels = NULL;
    }
    pool->labels = labels;
    return 0;
}

/* Check and map the file that pool->fd is open for. */
static int attach_open(struct usher_pool *pool)
{
    struct stat status;
    if (fstat(pool->fd, &status) != 0) {
        return -errno;
    }
    int error = trusted(pool, &status);
    if (error == 0) {
        error = map(pool, &status);
    }
    if (error == 0) {
        error = read_labels(pool, &status);
    }
    if (error == 0) {
        error = os_locked(pool->fd, POOL_LOCK_REMOVE);
        error = error < 0 ? -ENOLCK : 0;
    }
    return error;
}

/* Open the pool of that name in a directory. -ENOENT: there is none. */
static int attach(struct usher_pool *pool, int directory, const char *name)
{
    int keep = pool->flags & USHER_KEEP ? 0 : O_CLOEXEC;
    int looks = pool->flags & USHER_INSPECT ? DELETED_INSPECTOR : 0;
    pool->fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | keep | looks);
    if (pool->fd < 0) {
        return errno == EISDIR || errno == ENXIO ? -ENODEV : -errno;
    }
    return attach_open(pool);
}

/* Open the pool that had this name until its file was deleted. -ENOENT: no process uses one. */
static int attach_deleted(struct usher_pool *pool, const struct name *name)
{
    struct deleted found;
    int keep = pool->flags & USHER_KEEP ? 0 : O_CLOEXEC;
    int looks = pool->flags & USHER_INSPECT ? DELETED_INSPECTOR : 0;
    int error = usher__deleted_find(name, keep | looks, &found);
    free(found.pids);
    if (error != 0) {
        free(found.path);
        return error;
    }
    pool->fd = found.fd;
    pool->path = found.path;
    return attach_open(pool);
}

static void detach(struct usher_pool *pool)
{
    free(pool->labels);
    free(pool->path);
    pool->labels = pool->path = NULL;
    if (pool->header != NULL) {
        (void)munmap(pool->header, pool->size);
        pool->header = NULL;
    }
    if (pool->fd >= 0) {
        (void)close(pool->fd);
        pool->fd = -1;
    }
}

int usher__file_unlink(const struct usher_pool *pool, int directory, const char *name)
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
        int error = is_gone ? usher__file_unlink(pool, directory, name) : 0;
        (void)os_unlock(pool->fd, POOL_LOCK_REMOVE);
        return error;
    }
    struct timespec moment = {0, 1000000};
    (void)nanosleep(&moment, NULL);
    return 0;
}

/* The pool is open, and its header says "removed": finish that, and forget it. */
static int retry_removed(struct usher_pool *pool, int directory, const char *name, int tries)
{
    int error = finish_removing(pool, directory, name, tries);
    detach(pool);
    return error;
}

/* Open the file that a place has. *again: it is gone, or was being removed. */
static int open_found(struct usher_pool *pool, const struct name *name, int directory,
                      const struct name_place *place, int tries, bool *again)
{
    int error = attach(pool, directory, name->last);
    *again = error == -ENOENT;
    if (error == 0 && atomic_load(&pool->header->removed) != 0) {
        *again = true;
        return retry_removed(pool, directory, name->last, tries);
    }
    if (error == 0) {
        pool->path = usher__name_path(name, place);
        error = pool->path == NULL ? -ENOMEM : 0;
    }
    return error;
}

/* No place has the name. Open the deleted pool that had it, or create one. *again: it was
   created. */
static int open_missing(struct usher_pool *pool, const struct name *name,
                        const struct usher_options *options, int tries, bool *again)
{
    int error = attach_deleted(pool, name);
    *again = false;
    if (error == 0 && atomic_load(&pool->header->removed) != 0) {
        *again = true;
        return retry_removed(pool, -1, name->last, tries);
    }
    if (error == 0) {
        return options->flags & USHER_EXCLUSIVE ? -EEXIST : 0;
    }
    if (error != -ENOENT || (options->flags & USHER_EXISTING)) {
        return error;
    }
    error = usher__make(name, options);
    *again = error == 0 || error == -EEXIST;
    return error;
}

static int open_somewhere(struct usher_pool *pool, const struct name *name,
                          const struct usher_options *options)
{
    bool made = false;
    for (int tries = 0; tries < TRIES_MS; tries++) {
        const struct name_place *place;
        int directory;
        bool again = false;
        int error = usher__name_find(name, &directory, &place);
        if (error == 0) {
            error = open_found(pool, name, directory, place, tries, &again);
            (void)close(directory);
            if (!again) { /* something exists, even if it is not a pool */
                return (options->flags & USHER_EXCLUSIVE) && !made ? -EEXIST : error;
            }
        } else if (error == -ENOENT) {
            error = open_missing(pool, name, options, tries, &again);
            made = made || (again && error == 0);
        }
        if (!again || (error != 0 && error != -ENOENT && error != -EEXIST)) {
            return error;
        }
    }
    return -EBUSY;
}

int usher__file_open(struct usher_pool *pool, const char *text, const struct usher_options *options)
{
    struct name name;
    if (options->seats > FORMAT_MAX_GUESTS || options->guests > FORMAT_MAX_GUESTS ||
        (options->guests != 0 && options->seats > options->guests)) {
        return -ERANGE;
    }
    int error = usher__name_parse(text, &name);
    if (error == 0) {
        error = open_somewhere(pool, &name, options);
    }
    if (error == 0 && options->seats != 0) {
        const _Atomic uint64_t *words = (const void *)((char *)pool->header + FORMAT_WORDS);
        uint32_t seats = core_k_seats(atomic_load(&words[CORE_AT_K(0)]));
        error = seats == options->seats || seats == 0
                    ? 0
                    : -USHER_ESEATS; /* 0: a drained pool, in which one can wait */
    }
    return error;
}

int usher_labels(const struct usher_pool *pool, char *labels, size_t room)
{
    const char *own = pool->labels == NULL ? "" : pool->labels;
    size_t length = strlen(own);
    if (room > 0) {
        (void)snprintf(labels, room, "%s", own);
    }
    return (int)length;
}
