/*
 * Several threads release or assign the same seat at once. One succeeds, the others get -EPERM.
 * Tested with the kernel's barrier for all threads (release.c), and on a kernel that refuses it.
 */
#include "pool/pool.h"
#include "sitters.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Three threads release the same seats, one after the other, as fast as they are acquired. */
enum { CONTESTED = 20000, CONTESTANTS = 3 };

struct contest {
    struct usher_pool *pool;
    struct usher_seat seats[CONTESTED];
    atomic_int released[CONTESTED]; /* number of releases that succeeded */
    atomic_int acquired;            /* number of seats so far */
    atomic_int at[CONTESTANTS];     /* number of seats that each thread has tried */
    atomic_int contestants;
};

static void *contest(void *context)
{
    struct contest *c = context;
    int self = atomic_fetch_add(&c->contestants, 1);
    for (int i = 0; i < CONTESTED; i++) {
        while (atomic_load(&c->acquired) <= i) {
            (void)sched_yield();
        }
        int result = usher_release(c->pool, &c->seats[i]);
        EXPECT(result == 0 || result == -EPERM);
        atomic_fetch_add(&c->released[i], result == 0);
        atomic_store(&c->at[self], i + 1);
    }
    return NULL;
}

static void contest_for_seats(void)
{
    static struct contest c;
    pthread_t threads[CONTESTANTS];
    memset((void *)&c, 0, sizeof c);
    c.pool = open_pool(1);
    for (int t = 0; t < CONTESTANTS; t++) {
        threads[t] = start(contest, &c);
    }
    for (int i = 0; i < CONTESTED; i++) {
        /* In 1 of 50 rounds all threads wait for the slowest one. In the others the seat can be
           acquired again while a thread is about to release it for the round before. */
        for (int t = 0; t < CONTESTANTS && i % 50 == 0; t++) {
            while (atomic_load(&c.at[t]) < i) {
                (void)sched_yield();
            }
        }
        EXPECT_EQ(usher_acquire(c.pool, &c.seats[i]), 0);
        atomic_store(&c.acquired, i + 1);
        if (i % 7 < 4) { /* the thread that holds it releases it, too */
            atomic_fetch_add(&c.released[i], usher_release(c.pool, &c.seats[i]) == 0);
        }
    }
    for (int t = 0; t < CONTESTANTS; t++) {
        join(threads[t]);
    }
    for (int i = 0; i < CONTESTED; i++) {
        EXPECT_EQ(atomic_load(&c.released[i]), 1);
    }
    EXPECT_EQ(scene_info(c.pool).served, CONTESTED);
    EXPECT_EQ(scene_info(c.pool).free, 1);
    finish(c.pool);
}

static void one_of_several_releases_of_a_seat_succeeds(void)
{
    contest_for_seats();
}

/* A kernel or a sandbox that refuses membarrier(2). */
static void one_of_several_releases_succeeds_without_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
        EXPECT(syscall(SYS_membarrier, 0, 0, 0) < 0);
        contest_for_seats();
        _exit(0);
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
}

/* One thread releases its seats while another thread assigns them to a process. */
enum { ASSIGNED = 2000 };

struct rivals {
    struct usher_pool *pool;
    struct usher_seat seat;
    atomic_int acquired, tried;
    int assigned; /* number of times that usher_assign was first */
    pid_t process;
};

static void *assign_seats(void *context)
{
    struct rivals *rivals = context;
    for (int i = 0; i < ASSIGNED; i++) {
        while (atomic_load(&rivals->acquired) <= i) {
            (void)sched_yield();
        }
        int result = usher_assign(rivals->pool, &rivals->seat, rivals->process);
        EXPECT(result == 0 || result == -EPERM);
        rivals->assigned += result == 0;
        atomic_store(&rivals->tried, i + 1);
    }
    return NULL;
}

static void a_seat_is_released_or_assigned_but_not_both(void)
{
    struct rivals rivals = {.pool = open_pool(1), .process = fork()};
    if (rivals.process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            (void)pause();
        }
    }
    int released = 0;
    int64_t delay_ns = 0; /* adjusted so that each of the two is first in some rounds */
    pthread_t thread = start(assign_seats, &rivals);
    for (int i = 0; i < ASSIGNED; i++) {
        EXPECT_EQ(usher_acquire(rivals.pool, &rivals.seat), 0);
        atomic_store(&rivals.acquired, i + 1);
        int64_t until = scene_now_ns() + delay_ns;
        while (scene_now_ns() < until) {
        }
        struct usher_seat seat = rivals.seat;
        bool first = usher_release(rivals.pool, &seat) == 0;
        released += first;
        delay_ns += first || delay_ns < 3000 ? 2000 : -3000;
        while (atomic_load(&rivals.tried) <= i) {
            (void)sched_yield();
        }
        EXPECT_EQ(scene_info(rivals.pool).free, first ? 1 : 0);
        EXPECT_EQ(usher_release_for(rivals.pool, rivals.process), first ? 0 : 1);
    }
    join(thread);
    EXPECT_EQ(released + rivals.assigned, ASSIGNED);
    (void)printf("  %d released, %d assigned\n", released, rivals.assigned);
    EXPECT(released > 0 && rivals.assigned > 0);
    (void)kill(rivals.process, SIGKILL);
    (void)waitpid(rivals.process, NULL, 0);
    finish(rivals.pool);
}

struct leaver {
    struct usher_pool *pool;
    struct usher_seat seat;
    _Atomic int tid, go;
};

static void *end_with_a_seat(void *context)
{
    struct leaver *leaver = context;
    EXPECT_EQ(usher_acquire(leaver->pool, &leaver->seat), 0);
    atomic_store(&leaver->tid, (int)syscall(SYS_gettid));
    while (!atomic_load(&leaver->go)) { /* busy: it sleeps for one reason only, the mutex */
    }
    return NULL;
}

/* A thread that takes over another thread's seat holds the pool's mutex until it has released the
   seat. The test holds the mutex instead, while the thread that acquired the seat ends. */
static void a_thread_that_ends_waits_for_a_thread_that_takes_over_its_seat(void)
{
    struct leaver leaver = {.pool = open_pool(1)};
    pthread_t thread = start(end_with_a_seat, &leaver);
    UNTIL(atomic_load(&leaver.tid) != 0);
    (void)pthread_mutex_lock(&leaver.pool->mutex);
    atomic_store(&leaver.go, 1);
    UNTIL(process_state(atomic_load(&leaver.tid)) == 'S');
    /* the thread that ends could not release it */
    EXPECT_EQ(usher_release(leaver.pool, &leaver.seat), 0);
    (void)pthread_mutex_unlock(&leaver.pool->mutex);
    join(thread);
    EXPECT_EQ(usher_release(leaver.pool, &leaver.seat), -EPERM);
    finish(leaver.pool);
}

int main(void)
{
    scene_begin();
    RUN(one_of_several_releases_succeeds_without_membarrier); /* before others use membarrier(2) */
    RUN_BOTH(one_of_several_releases_of_a_seat_succeeds);
    RUN_BOTH(a_thread_that_ends_waits_for_a_thread_that_takes_over_its_seat);
    with_file = true;
    RUN(a_seat_is_released_or_assigned_but_not_both);
    return 0;
}
