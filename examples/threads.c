/*
 * Threads of one process share three licences: with a pool without a file, and with the gate, which
 * needs eight bytes and does not recover from a crash.
 */
#include <pthread.h>
#include <stdio.h>
#include <usher.h>

enum { THREADS = 6, ROUNDS = 1000, LICENCES = 3 };

static struct usher_pool *pool;
static struct usher_gate gate;
static int busy[LICENCES]; /* each touched only by the holder of that seat */

static void *use_licences(void *failed)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct usher_seat seat;
        struct usher_pass pass;
        if (usher_acquire(pool, &seat) != 0) {
            *(int *)failed = 1;
            return NULL;
        }
        busy[seat.number]++;
        if (busy[seat.number] != 1) {
            *(int *)failed = 1;
        }
        busy[seat.number]--;
        (void)usher_release(pool, &seat);

        (void)usher_gate_enter(&gate, &pass);
        (void)usher_gate_leave(&gate, &pass);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int failed[THREADS] = {0};
    struct usher_options options = {.seats = LICENCES};
    int error = usher_open(&pool, NULL, &options);
    if (error == 0) {
        error = usher_gate_init(&gate, THREADS, LICENCES);
    }
    if (error != 0) {
        (void)fprintf(stderr, "threads: %s\n", usher_strerror(error));
        return 1;
    }
    for (int t = 0; t < THREADS; t++) {
        if (pthread_create(&threads[t], NULL, use_licences, &failed[t]) != 0) {
            return 1;
        }
    }
    for (int t = 0; t < THREADS; t++) {
        (void)pthread_join(threads[t], NULL);
        error |= failed[t];
    }
    usher_close(pool);
    (void)printf("%d threads, %d licences, %d rounds: %s\n", THREADS, LICENCES, ROUNDS,
                 error == 0 ? "never two with one licence" : "something went wrong");
    return error;
}
