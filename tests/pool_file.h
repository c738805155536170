/*
 * Helpers for tests of pool files: pools that can be created, pools that cannot be opened, and
 * other files.
 */
#ifndef USHER_POOL_FILE_H
#define USHER_POOL_FILE_H

#include "scene.h"

#include <fcntl.h>
#include <unistd.h>

static inline bool root(void)
{
    return geteuid() == 0;
}

/* Check that the pool cannot be opened, with this error, and that the attempt leaves nothing
   behind. */
static inline void refused_with(const char *name, const struct usher_options *options, int error)
{
    struct usher_pool *pool = (struct usher_pool *)board; /* anything but NULL */
    int descriptors = scene_descriptors();
    int got = usher_open(&pool, name, options);
    if (got != error) {
        (void)fprintf(stderr, "usher_open(\"%.60s\"): %d (%s), not %d (%s)\n", name, got,
                      usher_strerror(got), error, usher_strerror(error));
        exit(1);
    }
    EXPECT(pool == NULL);
    EXPECT_EQ(scene_descriptors(), descriptors);
}

static inline void refused(const char *name, int error)
{
    int files = scene_files(scene_directory());
    refused_with(name, NULL, error);
    EXPECT_EQ(scene_files(scene_directory()), files);
}

static inline void make_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    EXPECT(fd >= 0);
    EXPECT_EQ(write(fd, bytes, size), (ssize_t)size);
    EXPECT_EQ(close(fd), 0);
}

static inline void make_pool(const char *name, const struct usher_options *options)
{
    struct usher_pool *pool;
    EXPECT_EQ(usher_open(&pool, name, options), 0);
    usher_close(pool);
}

#endif
