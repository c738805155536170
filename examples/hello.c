/*
 * One pool, one seat: run several at once and see them take turns, in order of arrival.
 *
 *     cc hello.c $(pkg-config --cflags --libs usher) -o hello
 *     ./hello greetings 2 & ./hello greetings 2 & ./hello greetings 2
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <usher.h>

int main(int argc, char **argv)
{
    struct usher_pool *pool;
    struct usher_seat seat;
    struct usher_options options = {.seats = argc > 2 ? (uint32_t)atoi(argv[2]) : 1};
    if (argc < 2) {
        (void)fprintf(stderr, "usage: %s POOL [SEATS]\n", argv[0]);
        return 64;
    }
    int error = usher_open(&pool, argv[1], &options);
    if (error == 0) {
        error = usher_acquire(pool, &seat);
        if (error == 0) {
            (void)printf("process %ld has seat %u with ticket %llu\n", (long)getpid(), seat.number,
                         (unsigned long long)seat.ticket);
            (void)fflush(stdout);
            /* ... use it; if this process is killed here, the next in line has the seat ... */
            (void)usher_release(pool, &seat);
        }
        usher_close(pool);
    }
    if (error != 0) {
        (void)fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], usher_strerror(error));
        return 1;
    }
    return 0;
}
