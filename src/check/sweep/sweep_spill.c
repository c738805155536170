/* States in a file: see sweep_spill.h. */
#include "check/sweep/sweep_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int check_spill_init(struct check_spill *spill, const char *directory)
{
    char path[4096];
    *spill = (struct check_spill){.fd = -1};
    (void)pthread_mutex_init(&spill->lock, NULL);
    if (directory == NULL) {
        return 0;
    }
    int length = snprintf(path, sizeof path, "%s/usher-sweep-XXXXXX", directory);
    if (length < 0 || (size_t)length >= sizeof path) {
        return -ENAMETOOLONG;
    }
    spill->fd = mkostemp(path, O_CLOEXEC);
    if (spill->fd < 0) {
        return -errno;
    }
    (void)unlink(path);
    return 0;
}

void check_spill_free(struct check_spill *spill)
{
    if (spill->fd >= 0) {
        (void)close(spill->fd);
    }
    (void)pthread_mutex_destroy(&spill->lock);
}

static int write_all(int fd, const void *bytes, size_t size, uint64_t offset)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t done = pwrite(fd, at, size, (off_t)offset);
        if (done < 0 && errno != EINTR) {
            return -errno;
        }
        if (done > 0) {
            at += done;
            size -= (size_t)done;
            offset += (uint64_t)done;
        }
    }
    return 0;
}

static int read_all(int fd, void *bytes, size_t size, uint64_t offset)
{
    char *at = bytes;
    while (size > 0) {
        ssize_t done = pread(fd, at, size, (off_t)offset);
        if (done == 0 || (done < 0 && errno != EINTR)) {
            return done == 0 ? -EIO : -errno;
        }
        if (done > 0) {
            at += done;
            size -= (size_t)done;
            offset += (uint64_t)done;
        }
    }
    return 0;
}

/* Write all states of a group, under the locks of the file and of the group. */
static int put_away(struct check_spill *spill, struct check_groups *groups,
                    struct check_group *group)
{
    size_t size = (size_t)group->count * groups->width * sizeof *group->keys;
    struct check_spilled *spilled = malloc(sizeof *spilled);
    if (spilled == NULL) {
        return -ENOMEM;
    }
    int error = write_all(spill->fd, group->keys, size, spill->end);
    if (error != 0) {
        free(spilled);
        return error;
    }
    *spilled = (struct check_spilled){group->spilled, spill->end, group->count};
    spill->end += size;
    spill->keys += group->count;
    spill->on_disk += group->count;
    group->spilled = spilled;
    group->spilled_count += group->count;
    check_group_empty(groups, group);
    return 0;
}

int check_spill_beyond(struct check_spill *spill, struct check_groups *groups, unsigned sum,
                       size_t use)
{
    int error = 0;
    if (spill->fd < 0 || pthread_mutex_trylock(&spill->lock) != 0) {
        return 0;
    }
    for (unsigned s = CHECK_GROUP_SUMS - 1; s > sum && error == 0; s--) {
        (void)pthread_mutex_lock(&groups->lock);
        struct check_group *group = groups->sums[s];
        (void)pthread_mutex_unlock(&groups->lock);
        for (; group != NULL && error == 0 && groups->used > use; group = group->next_in_sum) {
            (void)pthread_mutex_lock(&group->lock);
            error = group->count == 0 ? 0 : put_away(spill, groups, group);
            (void)pthread_mutex_unlock(&group->lock);
        }
    }
    (void)pthread_mutex_unlock(&spill->lock);
    return error;
}

bool check_spill_back(struct check_spill *spill, struct check_groups *groups,
                      struct check_group *group, int *error)
{
    enum { BLOCK = 1 << 15 };
    struct check_spilled *spilled = group->spilled;
    *error = 0;
    if (spilled == NULL) {
        return false;
    }
    size_t each = groups->width * sizeof *group->keys;
    uint32_t count = spilled->count < BLOCK ? spilled->count : BLOCK;
    uint32_t *keys = malloc(count * each);
    *error = keys == NULL ? -ENOMEM : read_all(spill->fd, keys, count * each, spilled->offset);
    for (uint32_t s = 0; s < count && *error == 0; s++) {
        const uint32_t *key = keys + (size_t)s * groups->width;
        if (check_group_put(groups, group, key, check_group_hash(groups, key)) == CHECK_NO_ROOM) {
            *error = -ENOMEM;
        }
    }
    free(keys);
    (void)fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)spilled->offset,
                    (off_t)(count * each)); /* frees disk space where the file system can */
    spilled->offset += count * each;
    spilled->count -= count;
    group->spilled_count -= count;
    spill->on_disk -= count;
    if (spilled->count == 0) {
        group->spilled = spilled->next;
        free(spilled);
    }
    return *error == 0;
}
