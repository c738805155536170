/* POSIX peers: the semaphore, the mutex (plain and robust), and k permits under a robust mutex. */
#include "bench/bench.h"
#include "bench/peers.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t *semaphore;

static int sem_t_open(unsigned seats, unsigned guests)
{
    (void)guests;
    semaphore = bench_shared(sizeof *semaphore);
    return sem_init(semaphore, 1, seats);
}

static inline void sem_t_get(void)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR) {
    }
}

static inline void sem_t_pass(void)
{
    (void)sem_post(semaphore);
}

BENCH_RUN(sem_t)

static void sem_t_close(void)
{
    (void)sem_destroy(semaphore);
    bench_unshare(semaphore, sizeof *semaphore);
}

const struct bench_peer bench_sem_t = {
    "sem_t",    PEER_KEY,  sem_t_open,      bench_no_attach, sem_t_get,
    sem_t_pass, sem_t_run, bench_no_detach, sem_t_close,     NULL,
};

static int init_mutex(pthread_mutex_t *mutex, int robustness)
{
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    (void)pthread_mutexattr_setrobust(&attributes, robustness);
    return pthread_mutex_init(mutex, &attributes) == 0 ? 0 : -1;
}

static pthread_mutex_t *plain;

static int mutex_open(unsigned seats, unsigned guests)
{
    (void)guests;
    plain = bench_shared(sizeof(pthread_mutex_t));
    return seats == 1 ? init_mutex(plain, PTHREAD_MUTEX_STALLED) : -1;
}

static inline void mutex_get(void)
{
    (void)pthread_mutex_lock(plain);
}

static inline void mutex_pass(void)
{
    (void)pthread_mutex_unlock(plain);
}

BENCH_RUN(mutex)

static void mutex_close(void)
{
    bench_unshare(plain, sizeof(pthread_mutex_t));
}

const struct bench_peer bench_mutex = {
    "mutex",    PEER_ONE,  mutex_open,      bench_no_attach, mutex_get,
    mutex_pass, mutex_run, bench_no_detach, mutex_close,     NULL,
};

static pthread_mutex_t *robust;

static int robust_open(unsigned seats, unsigned guests)
{
    (void)guests;
    robust = bench_shared(sizeof(pthread_mutex_t));
    return seats == 1 ? init_mutex(robust, PTHREAD_MUTEX_ROBUST) : -1;
}

static inline void lock_robust(pthread_mutex_t *mutex)
{
    if (pthread_mutex_lock(mutex) == EOWNERDEAD) {
        (void)pthread_mutex_consistent(mutex);
    }
}

static inline void robust_get(void)
{
    lock_robust(robust);
}

static inline void robust_pass(void)
{
    (void)pthread_mutex_unlock(robust);
}

BENCH_RUN(robust)

static void robust_close(void)
{
    bench_unshare(robust, sizeof(pthread_mutex_t));
}

const struct bench_peer bench_robust = {
    "robust mutex", PEER_ONE | PEER_SURVIVES | PEER_KEY,
    robust_open,    bench_no_attach,
    robust_get,     robust_pass,
    robust_run,     bench_no_detach,
    robust_close,   NULL,
};

static struct permits {
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    unsigned free;
} * permits;

static int condition_open(unsigned seats, unsigned guests)
{
    pthread_condattr_t attributes;
    (void)guests;
    permits = bench_shared(sizeof *permits);
    permits->free = seats;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    return pthread_cond_init(&permits->freed, &attributes) == 0
               ? init_mutex(&permits->mutex, PTHREAD_MUTEX_ROBUST)
               : -1;
}

static inline void condition_get(void)
{
    lock_robust(&permits->mutex);
    while (permits->free == 0) {
        if (pthread_cond_wait(&permits->freed, &permits->mutex) == EOWNERDEAD) {
            (void)pthread_mutex_consistent(&permits->mutex);
        }
    }
    permits->free--;
    (void)pthread_mutex_unlock(&permits->mutex);
}

static inline void condition_pass(void)
{
    lock_robust(&permits->mutex);
    permits->free++;
    (void)pthread_cond_signal(&permits->freed);
    (void)pthread_mutex_unlock(&permits->mutex);
}

BENCH_RUN(condition)

static void condition_close(void)
{
    bench_unshare(permits, sizeof *permits);
}

const struct bench_peer bench_condition = {
    "robust mutex + cond", 0,
    condition_open,        bench_no_attach,
    condition_get,         condition_pass,
    condition_run,         bench_no_detach,
    condition_close,       NULL,
};
