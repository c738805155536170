/*
 * A valid pool and a hostile peer that writes to it. An input is: the numbers of guests and seats,
 * the locks of the peer, the calls, and the edits with their times (stage.h).
 *
 *     shape 1 | locked 1 | calls 1 | the calls, a byte each | edits, 13 bytes each
 */
#include "calls.h"
#include "stage.h"
#include "target.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct usher_options shapes[] = {
        {.seats = 1, .guests = 1}, {.seats = 1, .guests = 3},  {.seats = 2, .guests = 4},
        {.seats = 2, .guests = 5}, {.seats = 3, .guests = 16}, {.seats = 16, .guests = 16}};
    struct usher_pool *pool;
    if (size < 3 || (size_t)data[2] % CALLS_MOST + 3 > size) {
        return 0;
    }
    size_t calls = data[2] % CALLS_MOST;
    stage_begin();
    if (usher_open(&pool, calls_path(), &shapes[data[0] % 6]) != 0) {
        stage_fail("no pool");
    }
    usher_close(pool);
    stage_locked = data[1];
    stage_edits(data + 3 + calls, size - 3 - calls);
    calls_make(data + 3, calls);
    stage_quiet();
    (void)unlink(calls_path());
    return 0;
}
