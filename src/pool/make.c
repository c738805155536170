/*
 * Create pool files, complete or not at all. A new pool is written without a name, or under a
 * temporary one, and then linked to its name. So a name always stands for a complete pool, and if
 * two processes create it at once, one link fails with EEXIST.
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

/* What a new pool is made of. */
struct plan {
    struct format_shape shape;
    mode_t mode;
    gid_t group; /* 0: as the file system chooses */
    const char *labels;
};

/* Write a whole pool into an empty file. */
static int fill(int fd, const struct plan *plan)
{
    const struct format_shape *shape = &plan->shape;
    size_t labels = plan->labels == NULL ? 0 : strlen(plan->labels);
    int error = posix_fallocate(fd, 0, (off_t)(shape->size + labels)); /* a full disk shows here */
    if (error != 0) {
        return -error;
    }
    if (plan->group != 0 && fchown(fd, (uid_t)-1, plan->group) != 0) {
        return -errno;
    }
    if (fchmod(fd, plan->mode) != 0) {
        return -errno;
    }
    void *memory = mmap(NULL, shape->size + labels, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    struct format_header *header = memory;
    header->shape = *shape;
    header->check = format_check(shape);
    if (labels > 0) {
        header->labels_at = shape->size;
        header->labels_size = labels;
        memcpy((char *)memory + shape->size, plan->labels, labels);
    }
    struct core core = usher__format_core(header, shape);
    core_init(&core, shape->seats);
    (void)munmap(memory, shape->size + labels);
    return 0;
}

/* Create without a name until it is complete. -EOPNOTSUPP: this file system cannot, or there is no
   /proc. */
static int create_nameless(int directory, const char *name, const struct plan *plan)
{
    char path[64];
    int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno == EISDIR || errno == EINVAL || errno == ENOENT ? -EOPNOTSUPP : -errno;
    }
    int error = fill(fd, plan);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (error == 0 && linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) != 0) {
        error = errno == ENOENT ? -EOPNOTSUPP : -errno;
    }
    (void)close(fd);
    return error;
}

/* Create under a temporary name until it is complete. */
static int create_temporary(int directory, const char *name, const struct plan *plan)
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
    int error = fill(fd, plan);
    if (error == 0 && linkat(directory, temporary, directory, name, 0) != 0) {
        error = -errno;
    }
    (void)unlinkat(directory, temporary, 0);
    (void)close(fd);
    return error;
}

static int create_in(int directory, const char *name, const struct plan *plan)
{
    int error = create_nameless(directory, name, plan);
    return error == -EOPNOTSUPP ? create_temporary(directory, name, plan) : error;
}

bool usher__are_labels(const char *labels, uint32_t seats)
{
    uint32_t count = 1;
    size_t length = 0; /* of the current one */
    for (const char *at = labels; *at != '\0'; at++) {
        bool ends = *at == ',';
        if ((unsigned char)*at < ' ' || *at == 127 || (ends && length == 0)) {
            return false;
        }
        count += ends;
        length = ends ? 0 : length + 1;
    }
    return length > 0 && count == seats && strlen(labels) <= FORMAT_MAX_LABELS;
}

/* Complete the options by the definition of the name. An explicit creation needs none. -ENOENT:
   nothing says how many seats, and the library must not choose. */
static int complete(const struct name *name, struct usher_options *options,
                    struct definition *definition)
{
    bool explicit = (options->flags & USHER_EXCLUSIVE) && options->seats != 0;
    int error = name->places[0].kind == NAME_PATH || explicit
                    ? -ENOENT
                    : usher__definition(name->last, definition);
    if (error == -ENOENT) {
        return (options->flags & USHER_DEFINED) && options->seats == 0 ? -ENOENT : 0;
    }
    if (error != 0) {
        return error;
    }
    if (options->seats != 0 && options->seats != definition->seats) {
        return -USHER_ESEATS;
    }
    options->seats = definition->seats;
    options->guests = options->guests != 0 ? options->guests : definition->guests;
    options->mode = options->mode != 0 ? options->mode : definition->mode;
    options->group = options->group != 0 ? options->group : definition->group;
    options->labels = options->labels != NULL ? options->labels : definition->labels;
    return 0;
}

/* The place of a new pool. NULL: it is for a group, and there is no directory for such pools. */
static const struct name_place *choose_place(const struct name *name, gid_t group)
{
    const struct name_place *last = &name->places[name->count - 1];
    return group == 0 || name->places[0].kind != NAME_OWN ? &name->places[0]
           : last->kind == NAME_SHARED                    ? last
                                                          : NULL;
}

int usher__make(const struct name *name, const struct usher_options *asked)
{
    struct usher_options options = *asked;
    struct definition definition = {.seats = 0};
    struct plan plan = {.mode = 0};
    int error = complete(name, &options, &definition);
    uint32_t seats = options.seats == 0 ? 1 : options.seats;
    if (error == 0 && usher__format_shape(&plan.shape, seats, options.guests) != 0) {
        error = -ERANGE;
    }
    if (error == 0 && options.labels != NULL && !usher__are_labels(options.labels, seats)) {
        error = -EINVAL;
    }
    const struct name_place *place = choose_place(name, (gid_t)options.group);
    if (error == 0 && place == NULL) {
        error = -ENOENT;
    }
    int directory = error == 0 ? usher__place_open(place, true) : -1;
    if (error == 0 && directory < 0) {
        error = directory;
    }
    if (error == 0) {
        plan.group = (gid_t)options.group;
        plan.labels = options.labels;
        plan.mode = options.mode != 0 ? options.mode : plan.group != 0 ? 0660 : 0600;
        error = create_in(directory, name->last, &plan);
        (void)close(directory);
    }
    free(definition.labels);
    return error;
}
