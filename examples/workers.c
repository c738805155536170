/*
 * Pre-forked workers that share a resource: eight processes, at most two of which talk to the
 * database at once. Each opens the pool after the fork. A crash loses no seat: every third worker
 * kills itself while it holds one, and the others continue.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <usher.h>

enum { WORKERS = 8, JOBS = 20, CONNECTIONS = 2 };

static int work(const char *name, int worker)
{
    struct usher_pool *pool;
    struct usher_seat seat;
    struct usher_options options = {.seats = CONNECTIONS};
    int error = usher_open(&pool, name, &options);
    for (int job = 0; job < JOBS && error == 0; job++) {
        error = usher_acquire(pool, &seat);
        if (error == 0 && job == JOBS / 2 && worker % 3 == 0) {
            (void)raise(SIGKILL); /* while it holds a connection */
        }
        if (error == 0) {
            /* ... use connection seat.number; after a crash it needs a reset: ... */
            if (seat.flags & USHER_INHERITED) {
                (void)printf("worker %d resets connection %u\n", worker, seat.number);
            }
            error = usher_release(pool, &seat);
        }
    }
    if (error != 0) {
        (void)fprintf(stderr, "worker %d: %s\n", worker, usher_strerror(error));
    }
    return error != 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "workers-example";
    int finished = 0;
    int killed = 0;
    for (int worker = 0; worker < WORKERS; worker++) {
        pid_t child = fork();
        if (child == 0) {
            int failed = work(name, worker);
            (void)fflush(stdout);
            _exit(failed);
        }
        if (child < 0) {
            perror("fork");
            return 1;
        }
    }
    for (int worker = 0; worker < WORKERS; worker++) {
        int status;
        if (wait(&status) < 0 || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
            return 1;
        }
        finished += WIFEXITED(status);
        killed += WIFSIGNALED(status);
    }
    (void)printf("%d workers finished, %d were killed\n", finished, killed);
    return usher_remove(name) == 0 ? 0 : 1;
}
