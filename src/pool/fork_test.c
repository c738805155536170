/*
 * Processes that fork, clone, exec and have threads. A handle is valid only in the process that
 * opened it. exec frees a seat unless USHER_KEEP is set. A process is alive until its last thread
 * ends, whether its children live or not.
 */
#include "mortals.h"

#include "pool/pool.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

/* Make every call on a handle that was opened before fork. */
static void expect_stale(struct usher_pool *pool, struct usher_seat *held)
{
    struct usher_seat seat = {0};
    struct usher_info info;
    struct usher_lease lease;
    struct timespec soon = scene_in_ms(10);
    EXPECT_EQ(usher_acquire(pool, &seat), -ESTALE);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ESTALE);
    EXPECT_EQ(usher_acquire_until(pool, &seat, NULL), -ESTALE);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -ESTALE);
    EXPECT_EQ(usher_release(pool, held), -ESTALE);
    EXPECT_EQ(usher_release(pool, &seat), -ESTALE);
    EXPECT_EQ(usher_assign(pool, held, getpid()), -ESTALE);
    EXPECT_EQ(usher_release_for(pool, getppid()), -ESTALE);
    EXPECT_EQ(usher_check(pool, held, &lease), -ESTALE);
    EXPECT_EQ(usher_reap(pool), -ESTALE);
    EXPECT_EQ(usher_resize(pool, 7), -ESTALE);
    EXPECT_EQ(usher_inspect(pool, &info, NULL, 0), -ESTALE);
    EXPECT_EQ(usher_history(pool, NULL, 0), -ESTALE);
    EXPECT_EQ(usher_verify(pool, NULL, NULL), -ESTALE);
    EXPECT(usher_path(pool) != NULL);
}

struct inherited {
    struct usher_pool *pool;
    struct usher_seat seat;
    int way;
};

static void grandchild(void *context)
{
    struct inherited *from = context;
    expect_stale(from->pool, &from->seat);
    usher_close(from->pool);
}

static void use_inherited(void *context)
{
    struct inherited *from = context;
    struct usher_seat seat;
    expect_stale(from->pool, &from->seat);
    if (from->way == 0) {
        usher_close(from->pool);
    }
    struct usher_pool *own = scene_open("fork", 0);
    EXPECT_EQ(usher_try_acquire(own, &seat), 0);
    EXPECT(seat.number != from->seat.number);
    EXPECT_EQ(usher_release(own, &from->seat), -EPERM);
    EXPECT_EQ(usher_reap(own), 0); /* the parent lives */
    if (from->way == 1) {
        expect_stale(from->pool, &from->seat); /* also while the child has a handle of its own */
        usher_close(from->pool);
        EXPECT_EQ(scene_info(own).holders, 2);
    }
    struct inherited mine = {own, seat, 0};
    scene_in_child(grandchild, &mine);
    EXPECT_EQ(scene_info(own).holders, 2);
    EXPECT_EQ(usher_release(own, &seat), 0);
    if (from->way < 3) {
        usher_close(own);
    }
}

static void a_handle_is_not_inherited_by_a_forked_child(void)
{
    for (unsigned keep = 0; keep <= USHER_KEEP; keep += USHER_KEEP) {
        struct inherited handle = {0};
        struct usher_options options = {.seats = 2, .flags = keep};
        EXPECT_EQ(usher_open(&handle.pool, "fork", &options), 0);
        handle.seat = scene_acquire(handle.pool);
        for (handle.way = 0; handle.way < 4; handle.way++) {
            scene_in_child(use_inherited, &handle);
            EXPECT_EQ(scene_info(handle.pool).holders, 1); /* the parent's seat is still held */
        }
        EXPECT_EQ(usher_release(handle.pool, &handle.seat), 0);
        EXPECT_EQ(scene_info(handle.pool).reaped, 0);
        finish(handle.pool, "fork", 2);
    }
}

static void a_pool_of_threads_is_not_inherited_either(void)
{
    struct inherited handle = {0};
    EXPECT_EQ(usher_open(&handle.pool, NULL, &(struct usher_options){.seats = 2}), 0);
    handle.seat = scene_acquire(handle.pool);
    scene_in_child(grandchild, &handle);
    EXPECT_EQ(scene_info(handle.pool).holders, 1);
    EXPECT_EQ(usher_release(handle.pool, &handle.seat), 0);
    usher_close(handle.pool);
}

/* Create a child without calling fork handlers. */
static pid_t bare_clone(void)
{
#ifdef __s390x__ /* the stack comes before the flags */
    return (pid_t)syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0);
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

static void a_child_made_without_fork_handlers_is_refused_too(void)
{
    struct inherited handle = {0};
    handle.pool = scene_open("clone", 2);
    handle.seat = scene_acquire(handle.pool);
    for (int round = 0; round < 5; round++) {
        pid_t child = bare_clone();
        EXPECT(child >= 0);
        if (child == 0) {
            expect_stale(handle.pool, &handle.seat);
            usher_close(handle.pool);
            _exit(0);
        }
        EXPECT_EQ(scene_end(child), 0);
        EXPECT_EQ(usher_reap(handle.pool), 0);
        EXPECT_EQ(scene_info(handle.pool).holders, 1);
    }
    EXPECT_EQ(usher_release(handle.pool, &handle.seat), 0);
    finish(handle.pool, "clone", 2);
}

/* Hold a seat, and have a child that lives on when the holder is killed. `way` says how the child
   is created. */
static void hold_with_a_child(void *context)
{
    const int *way = context;
    struct usher_pool *pool;
    struct usher_options options = {.flags = *way == 2 ? USHER_KEEP : 0};
    EXPECT_EQ(usher_open(&pool, "orphan", &options), 0);
    (void)scene_acquire(pool);
    pid_t child = *way == 1 ? bare_clone() : fork();
    EXPECT(child >= 0);
    if (child == 0) {
        atomic_store(&board->flags[0], getpid());
        stay();
    }
    stay();
}

static void the_death_of_a_holder_is_found_while_its_child_lives(void)
{
    struct usher_pool *pool = scene_open("orphan", 1);
    for (int way = 0; way < 3; way++) { /* forked; cloned; forked with USHER_KEEP */
        scene_clear();
        pid_t parent = scene_start(hold_with_a_child, &way);
        UNTIL(atomic_load(&board->flags[0]) != 0);
        expect_taken(pool);
        scene_kill(parent);
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        EXPECT_EQ(kill(atomic_load(&board->flags[0]), 0), 0); /* the child still lives */
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(kill(atomic_load(&board->flags[0]), SIGKILL), 0);
    }
    finish(pool, "orphan", 1);
}

static atomic_int stop;

static void *use_on_and_on(void *context)
{
    struct usher_pool *pool = context;
    while (!atomic_load(&stop)) {
        struct usher_seat seat = scene_acquire(pool);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        struct usher_pool *other = scene_open("storm", 0);
        usher_close(other);
    }
    return NULL;
}

static void forking_among_busy_threads_stops_no_thread(void)
{
    struct usher_pool *pool = scene_open("storm", 2);
    pthread_t threads[3];
    atomic_store(&stop, 0);
    for (int t = 0; t < 3; t++) {
        EXPECT_EQ(pthread_create(&threads[t], NULL, use_on_and_on, pool), 0);
    }
    for (int round = 0; round < 100; round++) {
        scene_in_child(come_and_go, "storm");
    }
    atomic_store(&stop, 1);
    for (int t = 0; t < 3; t++) {
        EXPECT_EQ(pthread_join(threads[t], NULL), 0);
    }
    finish(pool, "storm", 2);
}

static void *end_on_command(void *pool)
{
    (void)scene_acquire(pool);
    atomic_store(&board->flags[0], gettid());
    while (atomic_load(&board->flags[1]) == 0) { /* busy: it sleeps for one reason only */
    }
    return NULL; /* its exit releases the seat, and waits for the mutex */
}

static void come_and_go_soon(void *name)
{
    (void)alarm(20);
    come_and_go(name);
}

static void *fork_now(void *unused)
{
    (void)unused;
    atomic_store(&board->flags[2], gettid());
    scene_in_child(come_and_go_soon, "middle");
    return NULL;
}

/* fork waits until no thread of this process is inside the library's own data. So the data are
   consistent in the child. */
static void fork_waits_for_a_thread_inside_the_library(void)
{
    struct usher_pool *pool = scene_open("middle", 2);
    pthread_t ends;
    pthread_t forks;
    scene_clear();
    EXPECT_EQ(pthread_create(&ends, NULL, end_on_command, pool), 0);
    UNTIL(atomic_load(&board->flags[0]) != 0);
    EXPECT_EQ(pthread_mutex_lock(&pool->mutex), 0);
    atomic_store(&board->flags[1], 1);
    UNTIL(process_state(atomic_load(&board->flags[0])) == 'S');
    EXPECT_EQ(pthread_create(&forks, NULL, fork_now, NULL), 0);
    UNTIL(atomic_load(&board->flags[2]) != 0);
    UNTIL(process_state(atomic_load(&board->flags[2])) == 'S');
    EXPECT_EQ(pthread_mutex_unlock(&pool->mutex), 0);
    EXPECT_EQ(pthread_join(forks, NULL), 0);
    EXPECT_EQ(pthread_join(ends, NULL), 0);
    finish(pool, "middle", 2);
}

static void *exec_from_a_thread(void *unused)
{
    (void)unused;
    (void)execl("/proc/self/exe", "fork_test", "stay", NULL);
    EXPECT(false);
    return NULL;
}

static void hold_and_exec(void *context)
{
    const unsigned *flags = context; /* with USHER_EXISTING: a second thread calls exec */
    struct usher_pool *pool;
    struct usher_options options = {.flags = *flags & USHER_KEEP};
    EXPECT_EQ(usher_open(&pool, "exec", &options), 0);
    (void)scene_acquire(pool);
    atomic_store(&board->flags[0], 1);
    while (atomic_load(&board->flags[1]) == 0) {
        scene_pause_us(200);
    }
    if (*flags & USHER_EXISTING) {
        pthread_t thread;
        EXPECT_EQ(pthread_create(&thread, NULL, exec_from_a_thread, NULL), 0);
        stay();
    }
    (void)exec_from_a_thread(NULL);
}

static bool has_execed(pid_t pid)
{
    char path[64];
    char command[256] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)pid);
    FILE *file = fopen(path, "re");
    size_t got = file == NULL ? 0 : fread(command, 1, sizeof command - 1, file);
    EXPECT(file == NULL || fclose(file) == 0);
    return memmem(command, got, "\0stay", 6) != NULL;
}

static void exec_frees_the_seat_unless_it_is_kept(void)
{
    static unsigned ways[] = {0, USHER_EXISTING, USHER_KEEP, USHER_KEEP | USHER_EXISTING};
    for (int way = 0; way < 4; way++) {
        struct usher_pool *pool = scene_open("exec", 1);
        scene_clear();
        pid_t child = scene_start(hold_and_exec, &ways[way]);
        UNTIL(atomic_load(&board->flags[0]) == 1);
        expect_taken(pool);
        atomic_store(&board->flags[1], 1);
        UNTIL(has_execed(child));
        if (ways[way] & USHER_KEEP) {
            for (int i = 0; i < 20; i++) {
                expect_taken(pool);
            }
            scene_kill(child);
        }
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        if (!(ways[way] & USHER_KEEP)) {
            scene_kill(child); /* it has lived all the time */
        }
        finish(pool, "exec", 1);
    }
}

static void hold_fork_and_exec(void *unused)
{
    (void)unused;
    (void)scene_acquire(scene_open("exec", 0));
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        atomic_store(&board->flags[0], getpid());
        stay();
    }
    UNTIL(atomic_load(&board->flags[0]) != 0);
    (void)exec_from_a_thread(NULL);
}

/* After exec the process lives and its lock is gone. The child must not have inherited the lock. */
static void exec_frees_the_seat_while_a_child_lives(void)
{
    struct usher_pool *pool = scene_open("exec", 1);
    scene_clear();
    pid_t child = scene_start(hold_fork_and_exec, NULL);
    UNTIL(atomic_load(&board->flags[0]) != 0 && has_execed(child));
    struct usher_seat seat = get_soon(pool);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(kill(atomic_load(&board->flags[0]), SIGKILL), 0); /* both have lived all the time */
    scene_kill(child);
    finish(pool, "exec", 1);
}

static void *hold_in_a_thread(void *unused)
{
    (void)unused;
    (void)scene_acquire(scene_open("leader", 0));
    atomic_store(&board->flags[0], 1);
    stay();
    return NULL;
}

static void end_the_first_thread(void *unused)
{
    pthread_t thread;
    (void)unused;
    EXPECT_EQ(pthread_create(&thread, NULL, hold_in_a_thread, NULL), 0);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    pthread_exit(NULL);
}

static void a_process_lives_as_long_as_one_of_its_threads(void)
{
    struct usher_pool *pool = scene_open("leader", 1);
    scene_clear();
    pid_t child = scene_start(end_the_first_thread, NULL);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    UNTIL(process_state(child) == 'Z'); /* its first thread has ended */
    for (int i = 0; i < 20; i++) {
        expect_taken(pool);
    }
    scene_kill(child);
    struct usher_seat seat = get_soon(pool);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool, "leader", 1);
}

static void end_this_thread(void *unused)
{
    (void)unused;
    pthread_exit(NULL); /* the last thread: the process exits with 0 */
}

static void a_forked_child_whose_thread_ends_releases_nothing(void)
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    (void)printf(
        "  not tried: the sanitizer has a thread of its own, with which the child goes on\n");
    return;
#endif
#endif
    struct usher_pool *pool = scene_open("thread", 1);
    struct usher_seat seat = scene_acquire(pool);
    scene_in_child(end_this_thread, NULL);
    EXPECT_EQ(usher_check(pool, &seat, &(struct usher_lease){0}), 0);
    EXPECT_EQ(scene_info(pool).free, 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool, "thread", 1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "stay") == 0) { /* the program that exec starts */
        stay();
    }
    scene_begin();
    RUN(a_handle_is_not_inherited_by_a_forked_child);
    RUN(a_pool_of_threads_is_not_inherited_either);
    RUN(a_child_made_without_fork_handlers_is_refused_too);
    RUN(the_death_of_a_holder_is_found_while_its_child_lives);
    RUN(forking_among_busy_threads_stops_no_thread);
    RUN(fork_waits_for_a_thread_inside_the_library);
    RUN(exec_frees_the_seat_unless_it_is_kept);
    RUN(exec_frees_the_seat_while_a_child_lives);
    RUN(a_process_lives_as_long_as_one_of_its_threads);
    RUN(a_forked_child_whose_thread_ends_releases_nothing);
    return 0;
}
