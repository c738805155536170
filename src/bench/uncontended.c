/* One acquire and one release with nobody else about: what the atomics cost, and nothing more. */
#include "bench/bench.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>

enum { SEATS = 4 };

static sem_t *semaphore;

static int sem_t_open(void)
{
    semaphore = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return semaphore == MAP_FAILED ? -1 : sem_init(semaphore, 1, SEATS);
}

static void sem_t_run(uint64_t times)
{
    while (times-- > 0) {
        (void)sem_wait(semaphore);
        (void)sem_post(semaphore);
    }
}

static void sem_t_close(void)
{
    (void)sem_destroy(semaphore);
    (void)munmap(semaphore, 4096);
}

static int sysv = -1;

static int sysv_open(void)
{
    sysv = semget(IPC_PRIVATE, 1, 0600);
    return sysv < 0 ? -1 : semctl(sysv, 0, SETVAL, SEATS);
}

static void sysv_run(uint64_t times)
{
    while (times-- > 0) {
        struct sembuf wait = {0, -1, SEM_UNDO};
        struct sembuf post = {0, 1, SEM_UNDO};
        (void)semop(sysv, &wait, 1);
        (void)semop(sysv, &post, 1);
    }
}

static void sysv_close(void)
{
    (void)semctl(sysv, 0, IPC_RMID);
}

static pthread_mutex_t *mutex;

static int robust_open(void)
{
    pthread_mutexattr_t robust;
    mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)pthread_mutexattr_init(&robust);
    (void)pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
    (void)pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    return mutex == MAP_FAILED ? -1 : pthread_mutex_init(mutex, &robust);
}

static void robust_run(uint64_t times)
{
    while (times-- > 0) {
        (void)pthread_mutex_lock(mutex);
        (void)pthread_mutex_unlock(mutex);
    }
}

static void robust_close(void)
{
    (void)munmap(mutex, 4096);
}

static struct usher_pool *pool;

static int pool_open(void)
{
    struct usher_options options = {.seats = SEATS};
    return usher_open(&pool, bench_pool(), &options);
}

static int pool_open_one(void)
{
    struct usher_options options = {.seats = 1};
    return usher_open(&pool, bench_pool(), &options);
}

static void pool_run(uint64_t times)
{
    struct usher_seat seat;
    while (times-- > 0) {
        (void)usher_acquire(pool, &seat);
        (void)usher_release(pool, &seat);
    }
}

static void pool_close(void)
{
    usher_close(pool);
    (void)usher_remove(bench_pool());
}

static struct usher_gate gate;

static int gate_open(void)
{
    return usher_gate_init(&gate, 16, SEATS);
}

static void gate_run(uint64_t times)
{
    struct usher_pass pass;
    while (times-- > 0) {
        (void)usher_gate_enter(&gate, &pass);
        (void)usher_gate_leave(&gate, &pass);
    }
}

static void nothing(void)
{
}

void bench_uncontended(void)
{
    static const struct bench_peer four[] = {
        {"POSIX sem_t", sem_t_open, sem_t_run, sem_t_close},
        {"SysV semop, SEM_UNDO", sysv_open, sysv_run, sysv_close},
        {"usher pool", pool_open, pool_run, pool_close},
        {"usher gate", gate_open, gate_run, nothing},
    };
    static const struct bench_budget budgets[] = {
        {"usher pool", "POSIX sem_t", 2},
        {"usher pool", "SysV semop, SEM_UNDO", 0.125},
        {"usher gate", "POSIX sem_t", 1.2},
    };
    static const struct bench_peer one[] = {
        {"robust mutex", robust_open, robust_run, robust_close},
        {"usher pool", pool_open_one, pool_run, pool_close},
    };
    bench_table("acquire and release, uncontended, k = 4", four, 4, 200000, budgets, 3);
    bench_table("acquire and release, uncontended, k = 1", one, 2, 200000, NULL, 0);
}
