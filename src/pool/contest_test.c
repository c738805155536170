/*
 * Several threads give back, or make over, one and the same seat at once: one of them does, the
 * others are told that it is not theirs. With the kernel's barrier for all threads (release.c), and
 * where that cannot be had.
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

/* Three threads give back the same seats, one after the other, as fast as they are acquired. */
enum { CONTESTED = 20000, CONTESTANTS = 3 };

struct contest {
    struct usher_pool *pool;
    struct usher_seat seats[CONTESTED];
    atomic_int given_back[CONTESTED]; /* how often */
    atomic_int acquired;              /* seats so far */
    atomic_int at[CONTESTANTS];       /* how far each is */
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
        atomic_fetch_add(&c->given_back[i], result == 0);
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
        /* Now and then all wait for the slowest; otherwise the seat is had again while one of them
           is about to give it back for the time before. */
        for (int t = 0; t < CONTESTANTS && i % 50 == 0; t++) {
            while (atomic_load(&c.at[t]) < i) {
                (void)sched_yield();
            }
        }
        EXPECT_EQ(usher_acquire(c.pool, &c.seats[i]), 0);
        atomic_store(&c.acquired, i + 1);
        if (i % 7 < 4) { /* the thread that has it, too */
            atomic_fetch_add(&c.given_back[i], usher_release(c.pool, &c.seats[i]) == 0);
        }
    }
    for (int t = 0; t < CONTESTANTS; t++) {
        join(threads[t]);
    }
    for (int i = 0; i < CONTESTED; i++) {
        EXPECT_EQ(atomic_load(&c.given_back[i]), 1);
    }
    EXPECT_EQ(scene_info(c.pool).served, CONTESTED);
    EXPECT_EQ(scene_info(c.pool).free, 1);
    finish(c.pool);
}

static void of_those_who_give_back_the_same_seat_one_does(void)
{
    contest_for_seats();
}

/* A kernel, or a sandbox, that does not lead our threads through a barrier. */
static void so_it_is_without_the_kernels_help(void)
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

/* One thread gives its seats back, another makes them over to a process, at the same time. */
enum { MADE_OVER = 2000 };

struct rivals {
    struct usher_pool *pool;
    struct usher_seat seat;
    atomic_int acquired, tried;
    int made_over; /* how often it was the faster one */
    pid_t process;
};

static void *make_over(void *context)
{
    struct rivals *rivals = context;
    for (int i = 0; i < MADE_OVER; i++) {
        while (atomic_load(&rivals->acquired) <= i) {
            (void)sched_yield();
        }
        int result = usher_assign(rivals->pool, &rivals->seat, rivals->process);
        EXPECT(result == 0 || result == -EPERM);
        rivals->made_over += result == 0;
        atomic_store(&rivals->tried, i + 1);
    }
    return NULL;
}

static void a_seat_is_given_back_or_made_over_but_not_both(void)
{
    struct rivals rivals = {.pool = open_pool(1), .process = fork()};
    if (rivals.process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            (void)pause();
        }
    }
    int given_back = 0;
    int64_t delay_ns = 0; /* becomes such that now the one and now the other is faster */
    pthread_t thread = start(make_over, &rivals);
    for (int i = 0; i < MADE_OVER; i++) {
        EXPECT_EQ(usher_acquire(rivals.pool, &rivals.seat), 0);
        atomic_store(&rivals.acquired, i + 1);
        int64_t until = scene_now_ns() + delay_ns;
        while (scene_now_ns() < until) {
        }
        struct usher_seat seat = rivals.seat;
        bool first = usher_release(rivals.pool, &seat) == 0;
        given_back += first;
        delay_ns += first || delay_ns < 3000 ? 2000 : -3000;
        while (atomic_load(&rivals.tried) <= i) {
            (void)sched_yield();
        }
        EXPECT_EQ(scene_info(rivals.pool).free, first ? 1 : 0);
        EXPECT_EQ(usher_release_for(rivals.pool, rivals.process), first ? 0 : 1);
    }
    join(thread);
    EXPECT_EQ(given_back + rivals.made_over, MADE_OVER);
    (void)printf("  %d given back, %d made over\n", given_back, rivals.made_over);
    EXPECT(given_back > 0 && rivals.made_over > 0);
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
    while (!atomic_load(&leaver->go)) { /* awake, so that it sleeps for one reason only */
    }
    return NULL;
}

/* Is that thread of ours asleep? */
static bool sleeps(int tid)
{
    char path[64];
    char state = 0;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "re");
    EXPECT(file != NULL);
    EXPECT_EQ(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
    (void)fclose(file);
    return state == 'S';
}

/* Between the moment when another thread has taken a seat over and the one when it is given back,
   the pool's mutex is held: as we do here. Its own thread ends just then. */
static void a_thread_that_ends_waits_for_who_takes_its_seat_over(void)
{
    struct leaver leaver = {.pool = open_pool(1)};
    pthread_t thread = start(end_with_a_seat, &leaver);
    UNTIL(atomic_load(&leaver.tid) != 0);
    (void)pthread_mutex_lock(&leaver.pool->mutex);
    atomic_store(&leaver.go, 1);
    UNTIL(sleeps(atomic_load(&leaver.tid)));
    EXPECT_EQ(usher_release(leaver.pool, &leaver.seat), 0); /* ours: it could not */
    (void)pthread_mutex_unlock(&leaver.pool->mutex);
    join(thread);
    EXPECT_EQ(usher_release(leaver.pool, &leaver.seat), -EPERM);
    finish(leaver.pool);
}

int main(void)
{
    scene_begin();
    RUN(so_it_is_without_the_kernels_help); /* before this process has asked for it */
    RUN_BOTH(of_those_who_give_back_the_same_seat_one_does);
    RUN_BOTH(a_thread_that_ends_waits_for_who_takes_its_seat_over);
    with_file = true;
    RUN(a_seat_is_given_back_or_made_over_but_not_both);
    return 0;
}
