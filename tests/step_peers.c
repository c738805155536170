/*
 * The same for other mechanisms: one permit, taken and given back without contention. A process is
 * killed at each point; afterwards the permit is available or lost.
 */
#include "step_run.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/sem.h>

enum { PEER_MOST = 10000 };

/* In shared memory. */
struct permit {
    sem_t sem;
    pthread_mutex_t robust;
    int set;
    atomic_uint done;
};

struct peer {
    const char *call;
    void (*begin)(struct permit *permit);
    void (*pair)(struct permit *permit);
    bool (*there)(struct permit *permit);
    void (*end)(struct permit *permit);
};

static void sem_begin(struct permit *permit)
{
    EXPECT_EQ(sem_init(&permit->sem, 1, 1), 0);
}

static void sem_pair(struct permit *permit)
{
    (void)sem_wait(&permit->sem);
    (void)sem_post(&permit->sem);
}

static bool sem_there(struct permit *permit)
{
    return sem_trywait(&permit->sem) == 0;
}

static void sem_end(struct permit *permit)
{
    EXPECT_EQ(sem_destroy(&permit->sem), 0);
}

static bool change(int set, short by, short flags)
{
    struct sembuf operation = {.sem_num = 0, .sem_op = by, .sem_flg = flags};
    return semop(set, &operation, 1) == 0;
}

static void set_begin(struct permit *permit)
{
    permit->set = semget(IPC_PRIVATE, 1, 0600);
    EXPECT(permit->set >= 0);
    EXPECT(change(permit->set, 1, 0));
}

static void set_pair(struct permit *permit)
{
    (void)change(permit->set, -1, SEM_UNDO);
    (void)change(permit->set, 1, SEM_UNDO);
}

static bool set_there(struct permit *permit)
{
    return change(permit->set, -1, IPC_NOWAIT);
}

static void set_end(struct permit *permit)
{
    EXPECT_EQ(semctl(permit->set, 0, IPC_RMID), 0);
}

static void robust_begin(struct permit *permit)
{
    pthread_mutexattr_t attributes;
    EXPECT_EQ(pthread_mutexattr_init(&attributes), 0);
    EXPECT_EQ(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    EXPECT_EQ(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
    EXPECT_EQ(pthread_mutex_init(&permit->robust, &attributes), 0);
    EXPECT_EQ(pthread_mutexattr_destroy(&attributes), 0);
}

static void robust_pair(struct permit *permit)
{
    (void)pthread_mutex_lock(&permit->robust);
    (void)pthread_mutex_unlock(&permit->robust);
}

static bool robust_there(struct permit *permit)
{
    int error = pthread_mutex_trylock(&permit->robust);
    if (error == EOWNERDEAD) {
        error = pthread_mutex_consistent(&permit->robust);
    }
    return error == 0 && pthread_mutex_unlock(&permit->robust) == 0;
}

static void robust_end(struct permit *permit)
{
    (void)pthread_mutex_destroy(&permit->robust); /* otherwise it may stay locked for ever */
}

static bool begin_victim(const struct peer *peer, struct permit *permit, struct child *victim,
                         struct tracee *t)
{
    memset(permit, 0, sizeof *permit);
    peer->begin(permit);
    if (begin_child(victim)) {
        if (!tracee_begin()) {
            _exit(77);
        }
        peer->pair(permit);
        atomic_store(&permit->done, 1);
        for (;;) {
            (void)pause();
        }
    }
    *t = (struct tracee){.pid = victim->pid, .done = &permit->done};
    return tracee_await(t);
}

/* Kill the process there. Return whether the permit is available afterwards. */
static bool survives(const struct peer *peer, struct permit *permit, struct child *victim)
{
    kill_child(victim);
    bool there = peer->there(permit);
    peer->end(permit);
    return there;
}

static bool try_peer(const struct peer *peer, struct permit *permit, struct tally *tally)
{
    struct child victim;
    struct tracee t;
    struct way way = {0};
    int64_t began = now_ns();
    *tally = (struct tally){0};
    if (!begin_victim(peer, permit, &victim, &t)) {
        return false;
    }
    EXPECT(!way_extend(&way, &t, PEER_MOST));
    EXPECT(survives(peer, permit, &victim)); /* it had finished */
    for (uint32_t point = 0; point < way.length; point++) {
        EXPECT(begin_victim(peer, permit, &victim, &t));
        EXPECT(tracee_go_to(&t, &way, point));
        tally->killed++;
        tally->failed += !survives(peer, permit, &victim);
    }
    tally->instructions = way.length;
    tally->seconds = (double)(now_ns() - began) / 1e9;
    way_free(&way);
    return true;
}

bool step_peers(struct tally *sem)
{
    static const struct peer peers[] = {
        {"sem_wait, sem_post", sem_begin, sem_pair, sem_there, sem_end},
        {"semop, SEM_UNDO", set_begin, set_pair, set_there, set_end},
        {"robust mutex", robust_begin, robust_pair, robust_there, robust_end},
    };
    struct permit *permit = share(sizeof *permit);
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        struct tally tally;
        if (!try_peer(&peers[i], permit, &tally)) {
            return false;
        }
        step_table_row(peers[i].call, "take and give back", 1, &tally, false);
        if (i == 0) {
            *sem = tally;
        }
    }
    return true;
}
