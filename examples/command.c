/*
 * At most k of these commands at a time, on this machine. The command holds the seat itself: if
 * this program is killed, the command keeps its seat until it ends.
 *
 *     cc command.c $(pkg-config --cflags --libs usher) -o command
 *     ./command encoders 2 ffmpeg -i in.mov out.mp4
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <usher.h>

static int run(struct usher_pool *pool, char **argv, int *status)
{
    struct usher_seat seat;
    struct usher_command command = {.argv = argv};
    pid_t pid;
    int error = usher_acquire(pool, &seat);
    if (error != 0) {
        return error;
    }
    error = usher_spawn(pool, &seat, &command, &pid);
    if (error != 0) {
        (void)usher_release(pool, &seat); /* it is still ours */
        return error;
    }
    if (waitpid(pid, status, 0) < 0) {
        *status = 0;
    }
    (void)usher_release_for(pool, pid); /* a waiter would find out by itself */
    return 0;
}

int main(int argc, char **argv)
{
    struct usher_pool *pool;
    int status = 0;
    if (argc < 4) {
        (void)fprintf(stderr, "usage: %s POOL SEATS COMMAND [ARGUMENT..]\n", argv[0]);
        return 64;
    }
    struct usher_options options = {.seats = (uint32_t)atoi(argv[2])};
    int error = usher_open(&pool, argv[1], &options);
    if (error == 0) {
        error = run(pool, argv + 3, &status);
        usher_close(pool);
    }
    if (error != 0) {
        (void)fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], usher_strerror(error));
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
