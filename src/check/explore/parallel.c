/* Parts of a task on several threads: see parallel.h. */
#include "check/explore/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

struct work {
    check_task *task;
    void *context;
    unsigned parts;
    atomic_uint next;
    atomic_int error;
};

static void *worker(void *argument)
{
    struct work *work = argument;
    for (;;) {
        unsigned part = atomic_fetch_add(&work->next, 1);
        if (part >= work->parts) {
            return NULL;
        }
        int error = work->task(work->context, part);
        int none = 0;
        if (error != 0) {
            atomic_compare_exchange_strong(&work->error, &none, error);
        }
    }
}

unsigned check_parallel_threads(unsigned threads, unsigned parts)
{
    if (threads == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        threads = processors < 1 ? 1 : (unsigned)processors;
    }
    return threads < parts ? threads : parts;
}

int check_parallel(unsigned threads, unsigned parts, check_task *task, void *context)
{
    struct work work = {.task = task, .context = context, .parts = parts};
    pthread_t helpers[MOST_THREADS];
    unsigned started = 0;
    threads = check_parallel_threads(threads, parts);
    /* If a thread cannot be started, the others do its parts: this thread works too. */
    while (started + 1 < threads && started < MOST_THREADS - 1 &&
           pthread_create(&helpers[started], NULL, worker, &work) == 0) {
        started++;
    }
    (void)worker(&work);
    while (started > 0) {
        (void)pthread_join(helpers[--started], NULL);
    }
    return atomic_load(&work.error);
}
