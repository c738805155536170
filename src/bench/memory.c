/* The size of a pool's file, and of each additional guest. */
#include "bench/bench.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

static double pool_size(uint32_t guests, uint32_t seats)
{
    struct usher_options options = {.seats = seats, .guests = guests};
    struct usher_pool *pool;
    struct stat status = {.st_size = 0};
    if (usher_open(&pool, bench_pool(), &options) == 0) {
        (void)stat(bench_pool(), &status);
        usher_close(pool);
    }
    (void)usher_remove(bench_pool());
    return (double)status.st_size;
}

void bench_memory(void)
{
    static const struct {
        uint32_t guests, seats;
    } sizes[] = {{16, 4}, {100, 10}, {1024, 1}, {1024, 8}, {10000, 8}, {65535, 1000}};
    bench_table("memory", "file", "size of a pool", "bytes", "less");
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char where[64];
        double bytes = pool_size(sizes[s].guests, sizes[s].seats);
        (void)snprintf(where, sizeof where, "%u guests, k=%u", sizes[s].guests, sizes[s].seats);
        bench_row(where, sizes[s].guests, "usher pool", &bytes, 1);
    }
    double gate = sizeof(struct usher_gate);
    bench_row("any", 0, "usher gate", &gate, 1);
    bench_show();
    double each = (pool_size(10000, 1) - pool_size(1000, 1)) / 9000;
    bench_want("usher pool, bytes for each more guest", bench_summarise(&each, 1), true, 64);
}
