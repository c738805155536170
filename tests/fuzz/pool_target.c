/*
 * Open and use a pool file that was written by another process. An input is
 *
 *     kind 1 | locked 1 | calls 1 | the calls, a byte each | the rest
 *
 * Kind 0: the rest is the file itself. Otherwise a real pool of one of a few shapes is created, and
 * the rest are edits of it, 13 bytes each (stage.h). Then the header's checksum is corrected,
 * unless the kind says not to, and the file is truncated if the kind says so.
 */
#include "calls.h"
#include "pool/format.h"
#include "stage.h"
#include "target.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static uint8_t bytes[1 << 16];

static void store(const uint8_t *content, size_t size)
{
    int fd = open(calls_path(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, content, size) != (ssize_t)size) {
        stage_fail("no file");
    }
    (void)close(fd);
}

/* Create a real pool; return its size in bytes. */
static size_t real(unsigned shape)
{
    static const struct usher_options shapes[] = {
        {.seats = 1, .guests = 1}, {.seats = 2, .guests = 5}, {.seats = 3, .guests = 16}, {0}};
    struct usher_pool *pool;
    stage_call("usher_open");
    if (usher_open(&pool, calls_path(), &shapes[shape % 4]) != 0) {
        stage_fail("no pool");
    }
    usher_close(pool);
    int fd = open(calls_path(), O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, bytes, sizeof bytes);
    (void)close(fd);
    (void)unlink(calls_path());
    return got > 0 ? (size_t)got : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || (size_t)data[2] % CALLS_MOST + 3 > size) {
        return 0;
    }
    size_t calls = data[2] % CALLS_MOST;
    size_t rest = 3 + calls;
    stage_begin();
    if (data[0] % 8 == 0) {
        store(data + rest, size - rest);
    } else {
        struct format_header *header = (void *)bytes;
        size_t length = real(data[0] / 8);
        for (; rest + STAGE_EDIT <= size; rest += STAGE_EDIT) {
            stage_edit_bytes(bytes, length, data + rest);
        }
        if (data[0] % 8 != 1) {
            header->check = format_check(&header->shape);
        }
        store(bytes, data[0] % 8 == 2 ? length - data[1] : length);
    }
    stage_locked = data[1];
    calls_make(data + 3, calls);
    (void)unlink(calls_path());
    return 0;
}
