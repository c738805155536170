/*
 * Processes that share a pool and die, fork, exec, are stopped, become zombies, and live in other
 * pid namespaces: who is dead is found out, who lives is never taken for dead, and the others lose
 * nothing by it. Real processes, real kills.
 */
#include "scene.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void stay(void)
{
    for (;;) {
        (void)pause();
    }
}

/* Let a process die by SIGKILL, but do not wait for it: it is a zombie then. */
static void kill_to_zombie(pid_t child)
{
    siginfo_t info;
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

/* The seat can be had, now or as soon as somebody finds out. */
static struct usher_seat get_soon(struct usher_pool *pool)
{
    struct usher_seat seat;
    struct timespec deadline = scene_in_ms(30000);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &deadline), 0);
    return seat;
}

static void expect_taken(struct usher_pool *pool)
{
    struct usher_seat seat;
    struct timespec soon = scene_in_ms(5);
    EXPECT_EQ(usher_reap(pool), 0);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EAGAIN);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ETIMEDOUT);
}

static void finish(struct usher_pool *pool, const char *name, uint32_t seats)
{
    usher_close(pool);
    scene_expect_whole(name, seats);
    EXPECT_EQ(usher_remove(name), 0);
}

static void a_killed_holder_leaves_its_seat_to_the_next_who_is_told(void)
{
    struct usher_pool *pool = scene_open("kill", 1);
    for (int round = 1; round <= 10; round++) {
        scene_clear();
        pid_t holder = scene_holder(0, "kill");
        pid_t first = scene_waiter(1, "kill", 1);
        pid_t second = scene_waiter(2, "kill", 2);
        EXPECT_EQ(board->seat[0].flags, 0);
        scene_kill(holder);
        UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
        EXPECT_EQ(atomic_load(&board->result[1]), 0);
        EXPECT_EQ(board->seat[1].flags, USHER_INHERITED);
        EXPECT_EQ(scene_info(pool).reaped, (uint64_t)round);
        EXPECT(atomic_load(&board->step[2]) != SCENE_DONE);
        scene_leave(1, first);
        UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
        EXPECT_EQ(board->seat[2].flags, 0); /* it was given back by one who lives */
        scene_leave(2, second);
        struct usher_seat seat = scene_acquire(pool);
        EXPECT_EQ(seat.flags, 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    finish(pool, "kill", 1);
}

static void only_the_seat_that_somebody_died_in_is_inherited(void)
{
    struct usher_pool *pool = scene_open("three", 3);
    struct usher_seat seats[3];
    pid_t holders[3];
    for (int i = 0; i < 3; i++) {
        holders[i] = scene_holder(i, "three");
    }
    scene_kill(holders[1]);
    scene_leave(0, holders[0]);
    scene_leave(2, holders[2]);
    EXPECT_EQ(usher_reap(pool), 1);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            seats[i] = scene_acquire(pool);
            EXPECT_EQ(seats[i].flags,
                      round == 0 && seats[i].number == board->seat[1].number ? USHER_INHERITED : 0);
        }
        for (int i = 0; i < 3; i++) {
            EXPECT_EQ(usher_release(pool, &seats[i]), 0);
        }
    }
    finish(pool, "three", 3);
}

static void acquire_and_exit(void *name)
{
    (void)scene_acquire(scene_open(name, 0));
}

static void a_holder_that_just_ends_has_died_in_its_seat(void)
{
    struct usher_pool *pool = scene_open("exit", 1);
    for (int round = 0; round < 20; round++) {
        scene_in_child(acquire_and_exit, "exit");
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    EXPECT_EQ(scene_info(pool).reaped, 20);
    finish(pool, "exit", 1);
}

/* A seat whose holder is dead is free, whoever asks, and however short the time is. */
static void the_seat_of_the_dead_is_had_without_waiting(void)
{
    struct timespec past = {1, 0};
    struct usher_pool *pool = scene_open("dead", 1);
    struct usher_seat seat;
    scene_kill(scene_holder(0, "dead"));
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    scene_kill(scene_holder(0, "dead"));
    EXPECT_EQ(usher_acquire_until(pool, &seat, &past), 0);
    EXPECT_EQ(seat.flags, USHER_INHERITED);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(scene_info(pool).gave_up, 0);
    finish(pool, "dead", 1);
}

static void a_zombie_is_dead(void)
{
    struct usher_pool *pool = scene_open("zombie", 1);
    struct usher_guest guest;
    for (int round = 0; round < 5; round++) {
        pid_t holder = scene_holder(0, "zombie");
        kill_to_zombie(holder);
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1); /* inspecting changes nothing */
        EXPECT_EQ(guest.pid, holder);
        EXPECT_EQ(guest.alive, 0);
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        if (round % 2 == 0) {
            EXPECT_EQ(usher_reap(pool), 1);
            EXPECT_EQ(usher_reap(pool), 0);
            EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 0);
        }
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(scene_end(holder), SIGKILL);
    }
    finish(pool, "zombie", 1);
}

static void who_is_stopped_keeps_what_it_has_and_delays_nobody(void)
{
    struct usher_pool *pool = scene_open("stop", 2);
    pid_t stopped = scene_holder(0, "stop");
    pid_t holder = scene_holder(1, "stop");
    pid_t waiter = scene_waiter(2, "stop", 1);
    pid_t next = scene_waiter(3, "stop", 2);
    struct timespec soon = scene_in_ms(400);
    struct usher_seat seat;
    EXPECT_EQ(kill(stopped, SIGSTOP), 0);
    EXPECT_EQ(kill(waiter, SIGSTOP), 0);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ETIMEDOUT); /* many have looked by now */
    EXPECT_EQ(usher_reap(pool), 0);
    EXPECT_EQ(scene_info(pool).holders, 2);
    scene_leave(1, holder); /* its seat is the stopped waiter's, and stays so */
    soon = scene_in_ms(400);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ETIMEDOUT);
    EXPECT(atomic_load(&board->step[3]) != SCENE_DONE);
    EXPECT_EQ(usher_resize(pool, 3), 0); /* one more: past the stopped ones it goes */
    UNTIL(atomic_load(&board->step[3]) == SCENE_DONE);
    EXPECT_EQ(kill(stopped, SIGCONT), 0);
    EXPECT_EQ(kill(waiter, SIGCONT), 0);
    UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
    scene_leave(0, stopped);
    scene_leave(2, waiter);
    scene_leave(3, next);
    EXPECT_EQ(scene_info(pool).reaped, 0);
    finish(pool, "stop", 3);
}

static void the_dead_in_line_are_passed_over_and_the_order_stays(void)
{
    enum { LINE = 24 };
    struct usher_pool *pool = scene_open("line", 1);
    struct usher_seat seat = scene_acquire(pool);
    pid_t waiters[LINE];
    int last = 0;
    unsigned dead = 0;
    scene_clear();
    for (int i = 0; i < LINE; i++) {
        waiters[i] = scene_waiter(i, "line", (uint32_t)i + 1);
    }
    for (int i = 0; i < LINE; i++) { /* some alone, some side by side, the first and the last */
        if (i < 3 || i % 5 == 0 || i == LINE - 1) {
            scene_kill(waiters[i]);
            waiters[i] = 0;
            dead++;
        }
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < LINE; i++) {
        if (waiters[i] != 0) {
            UNTIL(atomic_load(&board->step[i]) == SCENE_DONE);
            EXPECT(atomic_load(&board->turn[i]) == ++last);
            EXPECT_EQ(board->seat[i].flags, 0); /* nobody sat down and died */
            scene_leave(i, waiters[i]);
        }
    }
    EXPECT(usher_reap(pool) >= 0);
    EXPECT_EQ(scene_info(pool).reaped, dead);
    EXPECT_EQ(scene_info(pool).waiters, 0);
    finish(pool, "line", 1);
}

static void fill_and_stay(void *context)
{
    struct usher_pool *pool = scene_open("full", 0);
    struct usher_seat seat;
    (void)context;
    for (int i = 0; i < 5; i++) {
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
    }
    atomic_store(&board->flags[0], 1);
    EXPECT_EQ(usher_acquire(pool, &seat), 0); /* waits for ever, in the last row */
    EXPECT(false);
}

static void a_table_full_of_the_dead_is_not_full(void)
{
    struct usher_options options = {.seats = 5, .guests = 6};
    struct usher_pool *pool;
    struct usher_seat seat;
    EXPECT_EQ(usher_open(&pool, "full", &options), 0);
    for (int round = 0; round < 10; round++) {
        scene_clear();
        pid_t child = scene_start(fill_and_stay, NULL);
        UNTIL(atomic_load(&board->flags[0]) == 1 && scene_info(pool).waiters == 1);
        EXPECT_EQ(usher_try_acquire(pool, &seat), -EUSERS);
        EXPECT_EQ(usher_acquire(pool, &seat), -EUSERS);
        if (round % 2 == 0) {
            scene_kill(child);
        } else {
            kill_to_zombie(child);
        }
        EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT(round % 2 == 0 || scene_end(child) == SIGKILL);
        usher_close(pool); /* so that the next has all six rows */
        EXPECT_EQ(usher_open(&pool, "full", &options), 0);
    }
    finish(pool, "full", 5);
}

/* One large pool, all of whose guests have died, then a small one: what is left to do in the first
   is not done in the second, where there is no such guest. */
static void hold_99_and_wait(void *unused)
{
    struct usher_pool *pool = scene_open("large", 0);
    struct usher_seat seat;
    (void)unused;
    for (int i = 0; i < 99; i++) {
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
    }
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
}

static void what_is_left_to_do_in_one_pool_is_not_done_in_another(void)
{
    struct usher_options options = {.seats = 99, .guests = 100};
    struct usher_pool *large;
    struct usher_pool *small;
    struct usher_seat seat;
    EXPECT_EQ(usher_open(&large, "large", &options), 0);
    options = (struct usher_options){.seats = 1, .guests = 1};
    EXPECT_EQ(usher_open(&small, "small", &options), 0);
    scene_fence(small);
    for (int round = 0; round < 3; round++) {
        pid_t child = scene_start(hold_99_and_wait, NULL);
        UNTIL(scene_info(large).waiters == 1);
        scene_pause_us(2000); /* so that it sleeps, most likely */
        scene_kill(child);
        EXPECT_EQ(usher_resize(large, 99),
                  0); /* takes a row from the dead, and does nothing else */
        EXPECT_EQ(usher_try_acquire(small, &seat), 0);
        EXPECT_EQ(usher_release(small, &seat), 0);
        EXPECT(usher_reap(large) >= 0);
        EXPECT_EQ(scene_info(large).free, 99);
        usher_close(large);
        EXPECT_EQ(usher_open(&large, "large", NULL), 0);
    }
    usher_close(large);
    EXPECT_EQ(usher_discard("large"), 0);
    finish(small, "small", 1);
}

/* Every call on a handle that came through fork. */
static void expect_stale(struct usher_pool *pool, struct usher_seat *held)
{
    struct usher_seat seat = {0};
    struct usher_info info;
    struct timespec soon = scene_in_ms(10);
    EXPECT_EQ(usher_acquire(pool, &seat), -ESTALE);
    EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ESTALE);
    EXPECT_EQ(usher_acquire_until(pool, &seat, NULL), -ESTALE);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -ESTALE);
    EXPECT_EQ(usher_release(pool, held), -ESTALE);
    EXPECT_EQ(usher_release(pool, &seat), -ESTALE);
    EXPECT_EQ(usher_assign(pool, held, getpid()), -ESTALE);
    EXPECT_EQ(usher_release_for(pool, getppid()), -ESTALE);
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
        expect_stale(from->pool, &from->seat); /* also with one of its own */
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
            EXPECT_EQ(scene_info(handle.pool).holders, 1); /* nothing has happened to ours */
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

/* A child that no fork handler has heard of. */
static pid_t bare_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
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

/* Holds a seat, and has a child that lives on when it is killed; way says how it was made. */
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

static void the_death_of_a_holder_is_noticed_though_its_child_lives(void)
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
        EXPECT_EQ(kill(atomic_load(&board->flags[0]), 0), 0); /* it lives still */
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

static void open_anew(void *unused)
{
    (void)unused;
    struct usher_pool *own = scene_open("storm", 0);
    struct usher_seat seat = scene_acquire(own);
    EXPECT_EQ(usher_release(own, &seat), 0);
    usher_close(own);
}

static void forking_among_busy_threads_stops_nobody(void)
{
    struct usher_pool *pool = scene_open("storm", 2);
    pthread_t threads[3];
    atomic_store(&stop, 0);
    for (int t = 0; t < 3; t++) {
        EXPECT_EQ(pthread_create(&threads[t], NULL, use_on_and_on, pool), 0);
    }
    for (int round = 0; round < 100; round++) {
        scene_in_child(open_anew, NULL);
    }
    atomic_store(&stop, 1);
    for (int t = 0; t < 3; t++) {
        EXPECT_EQ(pthread_join(threads[t], NULL), 0);
    }
    finish(pool, "storm", 2);
}

static void *exec_from_a_thread(void *unused)
{
    (void)unused;
    (void)execl("/proc/self/exe", "process_test", "stay", NULL);
    EXPECT(false);
    return NULL;
}

static void hold_and_exec(void *context)
{
    const unsigned *flags = context; /* and USHER_EXISTING: from another thread than the first */
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

static void exec_gives_the_seat_back_unless_it_is_kept(void)
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
    scene_pause_us(20000); /* the first thread ends: it looks like a zombie now */
    for (int i = 0; i < 20; i++) {
        expect_taken(pool);
    }
    scene_kill(child);
    struct usher_seat seat = get_soon(pool);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool, "leader", 1);
}

static void idle(void *unused)
{
    (void)unused;
    stay();
}

/* Acquires, assigns to the process told, and then ends in some way. */
static void acquire_and_assign(void *context)
{
    const int *way = context;
    struct usher_pool *pool;
    struct usher_options options = {.flags = *way == 3 ? USHER_KEEP : 0};
    pid_t heir = (pid_t)atomic_load(&board->flags[0]);
    EXPECT_EQ(usher_open(&pool, "assign", &options), 0);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
    EXPECT_EQ(usher_release(pool, &seat), -EPERM);
    EXPECT_EQ(usher_assign(pool, &seat, heir), -EPERM);
    if (*way == 1) {
        usher_close(pool);
    }
    if (*way == 2) {
        (void)raise(SIGKILL);
    }
}

static void an_assigned_seat_stays_until_that_process_ends(void)
{
    struct usher_pool *pool = scene_open("assign", 1);
    struct usher_guest guest;
    for (int way = 0; way < 4;
         way++) { /* ends; closes and ends; is killed; ends, with USHER_KEEP */
        scene_clear();
        pid_t heir = scene_start(idle, NULL);
        atomic_store(&board->flags[0], heir);
        EXPECT_EQ(scene_end(scene_start(acquire_and_assign, &way)), way == 2 ? SIGKILL : 0);
        for (int i = 0; i < 10; i++) {
            expect_taken(pool);
        }
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        EXPECT_EQ(guest.pid, heir);
        EXPECT_EQ(guest.alive, 1);
        kill_to_zombie(heir);
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT_EQ(scene_end(heir), SIGKILL);
    }
    finish(pool, "assign", 1);
}

static void release_for_the_heir(void *unused)
{
    (void)unused;
    struct usher_pool *own = scene_open("assign", 0);
    EXPECT_EQ(usher_release_for(own, getpid()), 0);
    EXPECT_EQ(usher_release_for(own, 0), 0);
    EXPECT_EQ(usher_release_for(own, -1), 0);
    EXPECT_EQ(usher_release_for(own, INT_MIN), 0);
    EXPECT_EQ(usher_release_for(own, (pid_t)atomic_load(&board->flags[0])), 2);
    EXPECT_EQ(usher_release_for(own, (pid_t)atomic_load(&board->flags[0])), 0);
    usher_close(own);
}

static void anybody_may_give_back_what_is_assigned(void)
{
    struct usher_pool *pool = scene_open("assign", 3);
    pid_t heir = scene_start(idle, NULL);
    struct usher_seat seats[3];
    uint64_t used = 0;
    scene_clear();
    atomic_store(&board->flags[0], heir);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 3; i++) {
            seats[i] = scene_acquire(pool);
            EXPECT_EQ(seats[i].flags, 0); /* given back, nobody died */
        }
        EXPECT_EQ(usher_assign(pool, &seats[0], heir), 0);
        EXPECT_EQ(usher_assign(pool, &seats[2], heir), 0);
        scene_in_child(release_for_the_heir, NULL);
        EXPECT_EQ(usher_release(pool, &seats[0]), -EPERM);
        EXPECT_EQ(scene_info(pool).free, 2);
        EXPECT_EQ(usher_release(pool, &seats[1]), 0);
        used = round == 0 ? scene_info(pool).guests_used : used;
        EXPECT_EQ(scene_info(pool).guests_used, used); /* their rows are ours again */
    }
    EXPECT_EQ(scene_info(pool).served, 60);
    EXPECT_EQ(scene_info(pool).reaped, 0);
    /* By the process itself that has assigned it, and with others waiting. */
    struct usher_seat last[3] = {scene_acquire(pool), scene_acquire(pool), scene_acquire(pool)};
    EXPECT_EQ(usher_assign(pool, &last[1], heir), 0);
    pid_t waiter = scene_waiter(1, "assign", 1);
    EXPECT_EQ(usher_release_for(pool, heir), 1);
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    EXPECT_EQ(board->seat[1].number, last[1].number);
    scene_leave(1, waiter);
    scene_kill(heir);
    finish(pool, "assign", 3);
}

static void *be_a_thread(void *unused)
{
    (void)unused;
    atomic_store(&board->flags[2], (int)syscall(SYS_gettid));
    while (atomic_load(&board->flags[3]) == 0) {
        scene_pause_us(500);
    }
    return NULL;
}

static void a_seat_is_assigned_to_living_processes_only(void)
{
    struct usher_pool *pool = scene_open("assign", 1);
    struct usher_seat seat = scene_acquire(pool);
    struct usher_seat copy = seat;
    pthread_t thread;
    pid_t gone = scene_start(open_anew, NULL); /* of another pool: it just ends */
    EXPECT_EQ(scene_end(gone), 0);
    scene_clear();
    EXPECT_EQ(usher_assign(pool, &seat, gone), -ESRCH);
    EXPECT_EQ(usher_assign(pool, &seat, 0), -EINVAL);
    EXPECT_EQ(usher_assign(pool, &seat, -1), -EINVAL);
    EXPECT_EQ(usher_assign(pool, &seat, INT_MIN), -EINVAL);
    EXPECT_EQ(usher_assign(pool, &seat, INT_MAX), -ESRCH);
    EXPECT_EQ(pthread_create(&thread, NULL, be_a_thread, NULL), 0);
    UNTIL(atomic_load(&board->flags[2]) != 0);
    int error = usher_assign(pool, &seat, (pid_t)atomic_load(&board->flags[2]));
    EXPECT(error == -ESRCH || error == -EINVAL); /* a thread is no process */
    atomic_store(&board->flags[3], 1);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    pid_t zombie = scene_start(idle, NULL);
    kill_to_zombie(zombie);
    EXPECT_EQ(usher_assign(pool, &seat, zombie), -ESRCH); /* it must be alive */
    EXPECT_EQ(scene_end(zombie), SIGKILL);
    copy.cycle++;
    EXPECT_EQ(usher_assign(pool, &copy, getppid()), -EPERM);
    EXPECT_EQ(scene_info(pool).holders, 1); /* and it is ours still */
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_assign(pool, &seat, getppid()), -EPERM);
    /* To ourselves: it stays until we end, or give it back as assigned. */
    usher_close(pool);
    for (unsigned keep = 0; keep <= USHER_KEEP; keep += USHER_KEEP) {
        struct usher_options options = {.flags = keep};
        EXPECT_EQ(usher_open(&pool, "assign", &options), 0);
        seat = scene_acquire(pool);
        EXPECT_EQ(usher_assign(pool, &seat, getpid()), 0);
        expect_taken(pool);
        usher_close(pool);
        pool = scene_open("assign", 1);
        expect_taken(pool);
        EXPECT_EQ(usher_release_for(pool, getpid()), 1);
        usher_close(pool);
    }
    pool = scene_open("assign", 1);
    finish(pool, "assign", 1);
}

static void compete_to_release(void *unused)
{
    (void)unused;
    struct usher_pool *own = scene_open("compete", 0);
    for (int round = 1; round <= 200; round++) {
        while (atomic_load(&board->flags[1]) < round) {
            (void)sched_yield();
        }
        int released = usher_release_for(own, (pid_t)atomic_load(&board->flags[0]));
        EXPECT(released >= 0);
        atomic_fetch_add(&board->flags[2], released);
        atomic_fetch_add(&board->flags[3], 1);
    }
    usher_close(own);
}

static void what_several_give_back_at_once_is_counted_once(void)
{
    struct usher_pool *pool = scene_open("compete", 2);
    scene_clear();
    atomic_store(&board->flags[0], getppid());
    pid_t children[3];
    for (int c = 0; c < 3; c++) {
        children[c] = scene_start(compete_to_release, NULL);
    }
    for (int round = 1; round <= 200; round++) {
        for (int i = 0; i < 2; i++) {
            struct usher_seat seat = scene_acquire(pool);
            EXPECT_EQ(usher_assign(pool, &seat, getppid()), 0);
        }
        atomic_store(&board->flags[1], round);
        UNTIL(atomic_load(&board->flags[3]) == 3 * round);
    }
    for (int c = 0; c < 3; c++) {
        EXPECT_EQ(scene_end(children[c]), 0);
    }
    EXPECT_EQ(atomic_load(&board->flags[2]), 400);
    EXPECT_EQ(scene_info(pool).served, 400);
    finish(pool, "compete", 2);
}

static void a_pool_that_only_the_dead_use_can_be_removed(void)
{
    struct usher_pool *pool = scene_open("tomb", 2);
    struct usher_pool *next;
    pid_t holders[2] = {scene_holder(0, "tomb"), scene_holder(1, "tomb")};
    pid_t waiter = scene_waiter(2, "tomb", 1);
    EXPECT_EQ(usher_remove("tomb"), -EBUSY);
    scene_kill(holders[0]);
    scene_kill(holders[1]);
    UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
    EXPECT_EQ(usher_remove("tomb"), -EBUSY);
    scene_kill(waiter);
    EXPECT_EQ(usher_remove("tomb"), 0);
    EXPECT_EQ(usher_open(&next, "tomb", &(struct usher_options){.seats = 7}), 0);
    usher_close(next);
    usher_close(pool);
    EXPECT_EQ(usher_remove("tomb"), 0);
}

static void a_discarded_pool_ends_the_waits_of_other_processes(void)
{
    struct usher_pool *pool = scene_open("discard", 1);
    struct usher_seat seat;
    scene_clear();
    pid_t holder = scene_holder(0, "discard");
    pid_t waiters[4];
    for (int i = 0; i < 4; i++) {
        waiters[i] = scene_waiter(i + 1, "discard", (uint32_t)i + 1);
    }
    EXPECT_EQ(usher_discard("discard"), 0);
    for (int i = 0; i < 4; i++) {
        UNTIL(atomic_load(&board->step[i + 1]) == SCENE_DONE);
        EXPECT_EQ(atomic_load(&board->result[i + 1]), -EIDRM);
        scene_leave(i + 1, waiters[i]);
    }
    struct usher_pool *next = scene_open("discard", 1);
    EXPECT_EQ(usher_try_acquire(next, &seat), 0); /* though the other holds its own still */
    scene_leave(0, holder);                       /* and can give it back */
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EIDRM);
    usher_close(pool);
    usher_close(next);
    EXPECT_EQ(usher_remove("discard"), 0);
}

static void use_whatever_pool_there_is(void *unused)
{
    (void)unused;
    scene_seed ^= (uint64_t)getpid() << 32;
    for (int round = 0; round < 500; round++) {
        struct usher_seat seat;
        struct usher_pool *pool = scene_open("again", 1);
        int error = usher_acquire(pool, &seat);
        if (error == 0) {
            if (atomic_fetch_add(&board->inside, 1) != 0) {
                atomic_fetch_add(&board->most_inside, 1);
            }
            scene_pause_us((long)(scene_random() % 100));
            atomic_fetch_sub(&board->inside, 1);
            EXPECT_EQ(usher_release(pool, &seat), 0);
        } else {
            EXPECT_EQ(error, -EIDRM);
        }
        usher_close(pool);
        scene_pause_us((long)(scene_random() % 500));
    }
}

static void remove_on_and_on(void *unused)
{
    (void)unused;
    while (atomic_load(&board->flags[0]) == 0) {
        int error = usher_remove("again");
        EXPECT(error == 0 || error == -EBUSY || error == -ENOENT);
        atomic_fetch_add(&board->flags[1], error == 0);
    }
}

static void removing_never_makes_two_holders_of_one_seat(void)
{
    pid_t users[3];
    pid_t removers[2];
    scene_clear();
    for (int i = 0; i < 3; i++) {
        users[i] = scene_start(use_whatever_pool_there_is, NULL);
    }
    for (int i = 0; i < 2; i++) {
        removers[i] = scene_start(remove_on_and_on, NULL);
    }
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(scene_end(users[i]), 0);
    }
    atomic_store(&board->flags[0], 1);
    EXPECT_EQ(scene_end(removers[0]), 0);
    EXPECT_EQ(scene_end(removers[1]), 0);
    (void)printf("  removed %d times\n", atomic_load(&board->flags[1]));
    EXPECT_EQ(atomic_load(&board->most_inside), 0);
    (void)usher_remove("again");
}

static void inspecting_shows_the_processes_and_counts_what_they_did(void)
{
    struct usher_pool *pool = scene_open("look", 2);
    struct usher_guest guests[8];
    struct usher_info info;
    scene_clear();
    pid_t holders[2] = {scene_holder(0, "look"), scene_holder(1, "look")};
    pid_t waiters[3];
    for (int i = 0; i < 3; i++) {
        waiters[i] = scene_waiter(i + 2, "look", (uint32_t)i + 1);
    }
    do { /* when it began to wait is noted as soon as it does */
        EXPECT_EQ(usher_inspect(pool, &info, guests, 8), 5);
    } while (guests[2].since_ns == 0 || guests[3].since_ns == 0 || guests[4].since_ns == 0);
    EXPECT_EQ(guests[board->seat[0].number].pid, holders[0]);
    EXPECT_EQ(guests[board->seat[1].number].pid, holders[1]);
    EXPECT_EQ(guests[0].ticket, board->seat[board->seat[0].number == 0 ? 0 : 1].ticket);
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(guests[2 + i].pid, waiters[i]);
        EXPECT_EQ(guests[2 + i].position, i + 1);
        EXPECT_EQ(guests[2 + i].seat, UINT32_MAX);
        EXPECT(guests[2 + i].since_ns > 0 && guests[2 + i].since_ns <= scene_now_ns());
    }
    for (int i = 0; i < 5; i++) {
        EXPECT_EQ(guests[i].alive, 1);
    }
    EXPECT_EQ(info.guests_used, 5);
    scene_kill(waiters[1]);
    EXPECT(usher_inspect(pool, &info, guests, 8) == 4 || guests[3].alive == 0);
    UNTIL(usher_reap(pool) >= 0 && scene_info(pool).reaped == 1); /* by us, or by one who waits */
    EXPECT_EQ(usher_inspect(pool, &info, guests, 8), 4);
    EXPECT_EQ(guests[3].pid, waiters[2]);
    EXPECT_EQ(guests[3].position, 2);
    scene_leave(0, holders[0]);
    UNTIL(atomic_load(&board->step[2]) == SCENE_DONE);
    scene_leave(2, waiters[0]);
    UNTIL(atomic_load(&board->step[4]) == SCENE_DONE);
    scene_kill(holders[1]);
    EXPECT_EQ(usher_reap(pool), 1);
    scene_leave(4, waiters[2]);
    struct usher_seat both[2] = {scene_acquire(pool), scene_acquire(pool)};
    struct usher_seat seat;
    EXPECT_EQ(usher_acquire_until(pool, &seat, &(struct timespec){0, 0}), -ETIMEDOUT);
    EXPECT_EQ(usher_release(pool, &both[0]), 0);
    EXPECT_EQ(usher_release(pool, &both[1]), 0);
    info = scene_info(pool);
    EXPECT_EQ(info.served, 5); /* two holders are dead, three left, and two of ours */
    EXPECT_EQ(info.reaped, 2);
    EXPECT_EQ(info.gave_up, 1);
    finish(pool, "look", 2);
}

/* A kernel that has no pidfd: then the locks have to do. */
static void without_pidfds(void *unused)
{
    struct usher_seat seat;
    (void)unused;
    if (!scene_refuse(SYS_pidfd_open, -1, 0, 0, ENOSYS)) {
        return;
    }
    struct usher_pool *pool = scene_open("old", 1);
    for (int round = 0; round < 3; round++) {
        pid_t holder = scene_holder(0, "old");
        for (int i = 0; i < 10; i++) {
            expect_taken(pool);
        }
        scene_kill(holder);
        seat = get_soon(pool);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        EXPECT_EQ(usher_assign(pool, &seat, getppid()), -ENOSYS);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    usher_close(pool);
}

static void an_old_kernel_will_do(void)
{
    struct usher_pool *pool = scene_open("old", 1);
    scene_in_child(without_pidfds, NULL);
    finish(pool, "old", 1);
}

static void without_descriptors(void *unused)
{
    struct usher_pool *pool = scene_open("poor", 0);
    struct usher_seat seat;
    struct rlimit none = {0, 64};
    pid_t holder = (pid_t)atomic_load(&board->flags[0]);
    (void)unused;
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    none.rlim_cur = 0;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_EQ(usher_assign(pool, &seat, getppid()), -EMFILE);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    seat = scene_acquire(pool);
    for (int i = 0; i < 10; i++) { /* who cannot tell does not say dead */
        expect_taken(pool);
    }
    EXPECT_EQ(kill(holder, SIGKILL), 0);
    atomic_store(&board->flags[1], 1);
    seat = get_soon(pool); /* but the lock tells */
    EXPECT_EQ(seat.flags, USHER_INHERITED);
}

static void without_descriptors_nobody_is_taken_for_dead(void)
{
    struct usher_pool *pool = scene_open("poor", 2);
    scene_clear();
    pid_t holder = scene_holder(0, "poor");
    atomic_store(&board->flags[0], holder);
    pid_t child = scene_start(without_descriptors, NULL);
    EXPECT_EQ(scene_end(child), 0);
    EXPECT_EQ(scene_end(holder), SIGKILL);
    finish(pool, "poor", 2);
}

static void waiting_keeps_no_descriptors(void)
{
    struct usher_pool *pool = scene_open("watch", 1);
    struct usher_seat seat;
    pid_t holder = scene_holder(0, "watch");
    int before = scene_descriptors();
    for (int round = 0; round < 3; round++) {
        struct timespec soon = scene_in_ms(200);
        EXPECT_EQ(usher_acquire_until(pool, &seat, &soon), -ETIMEDOUT);
        EXPECT_EQ(scene_descriptors(), before);
    }
    scene_leave(0, holder);
    finish(pool, "watch", 1);
}

/* In a new pid namespace: `body` is its process 1. False: not allowed here. */
struct in_namespace {
    void (*body)(void *);
    void *context;
};

static void enter_namespace(void *context)
{
    struct in_namespace *inside = context;
    if (unshare(CLONE_NEWPID) != 0) {
        _exit(77);
    }
    _exit(WEXITSTATUS(scene_end(scene_start(inside->body, inside->context))));
}

static pid_t start_in_namespace(void (*body)(void *), void *context)
{
    struct in_namespace inside = {body, context};
    return scene_start(enter_namespace, &inside);
}

static bool may_make_namespaces(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(unshare(CLONE_NEWPID) == 0 ? 0 : 77);
    }
    bool may = scene_end(child) == 0;
    if (!may) {
        (void)printf("  SKIPPED: may not make a pid namespace\n");
    }
    return may;
}

static void hold_as_process_1(void *context)
{
    const int *i = context;
    struct usher_pool *own = scene_open("space", 0);
    EXPECT_EQ(getpid(), 1);
    EXPECT_EQ(usher_acquire(own, &board->seat[*i]), 0);
    atomic_store(&board->step[*i], SCENE_DONE);
    while (atomic_load(&board->told[*i]) == SCENE_STAY) {
        scene_pause_us(500);
    }
    if (atomic_load(&board->told[*i]) == SCENE_LEAVE) {
        EXPECT_EQ(usher_release(own, &board->seat[*i]), 0);
        usher_close(own);
    }
}

static void a_holder_in_another_namespace_is_alive_until_it_dies(void)
{
    struct usher_pool *pool = scene_open("space", 1);
    struct usher_guest guest;
    int zero = 0;
    if (!may_make_namespaces()) {
        usher_close(pool);
        EXPECT_EQ(usher_remove("space"), 0);
        return;
    }
    for (int round = 0; round < 4; round++) {
        scene_clear();
        pid_t child = start_in_namespace(hold_as_process_1, &zero);
        UNTIL(atomic_load(&board->step[0]) == SCENE_DONE);
        for (int i = 0; i < 1000; i++) { /* process 1 of ours is another */
            EXPECT_EQ(usher_reap(pool), 0);
        }
        expect_taken(pool);
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        EXPECT_EQ(guest.pid, 0); /* its number there is somebody else's here */
        EXPECT_EQ(guest.alive, 1);
        pid_t waiter = scene_waiter(1, "space", 1);
        if (round % 2 == 0) {
            atomic_store(&board->told[0], SCENE_LEAVE);
            EXPECT_EQ(scene_end(child), 0);
        } else {
            scene_kill(child); /* and with it process 1, its child */
        }
        UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
        EXPECT_EQ(board->seat[1].flags, round % 2 == 0 ? 0 : USHER_INHERITED);
        scene_leave(1, waiter);
    }
    finish(pool, "space", 1);
}

/* Process 1 of a namespace, and process 2: look at a holder that is process 1 of another, and come
   and die beside it. */
static void hold_and_be_killed(void *unused)
{
    (void)unused;
    (void)scene_acquire(scene_open("space", 0));
    (void)raise(SIGKILL);
}

static void collide(void *unused)
{
    (void)unused;
    EXPECT_EQ(getpid(), 1);
    EXPECT_EQ(scene_end(scene_start(hold_and_be_killed, NULL)), SIGKILL); /* process 2 */
    struct usher_pool *own = scene_open("space", 0);
    EXPECT_EQ(usher_reap(own), 1);
    for (int i = 0; i < 300; i++) {
        EXPECT_EQ(usher_reap(own), 0);
    }
    EXPECT_EQ(scene_info(own).holders, 2);
    struct usher_seat seat = scene_acquire(own);
    EXPECT_EQ(seat.flags, USHER_INHERITED);
    struct usher_seat other;
    EXPECT_EQ(usher_try_acquire(own, &other), -EAGAIN);
    (void)raise(SIGKILL); /* is ignored: process 1 */
    _exit(0);             /* with the seat */
}

static void pids_that_collide_are_never_mixed_up(void)
{
    int zero = 0;
    int one = 1;
    struct usher_pool *pool = scene_open("space", 3);
    if (!may_make_namespaces()) {
        usher_close(pool);
        EXPECT_EQ(usher_remove("space"), 0);
        return;
    }
    scene_clear();
    pid_t first = start_in_namespace(hold_as_process_1, &zero);
    pid_t second = start_in_namespace(hold_as_process_1, &one);
    UNTIL(atomic_load(&board->step[0]) == SCENE_DONE && atomic_load(&board->step[1]) == SCENE_DONE);
    for (int round = 0; round < 10; round++) {
        pid_t third = start_in_namespace(collide, NULL);
        EXPECT_EQ(scene_end(third), 0);
        EXPECT_EQ(usher_reap(pool), 1);
        for (int i = 0; i < 200; i++) {
            EXPECT_EQ(usher_reap(pool), 0);
        }
        struct usher_seat seat = scene_acquire(pool);
        EXPECT(seat.number != board->seat[0].number && seat.number != board->seat[1].number);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    atomic_store(&board->told[0], SCENE_LEAVE);
    EXPECT_EQ(scene_end(first), 0);
    scene_kill(second);
    UNTIL(usher_reap(pool) == 1);
    EXPECT_EQ(scene_info(pool).reaped, 21);
    finish(pool, "space", 3);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "stay") == 0) { /* what an exec leads to */
        stay();
    }
    scene_begin();
    RUN(a_killed_holder_leaves_its_seat_to_the_next_who_is_told);
    RUN(only_the_seat_that_somebody_died_in_is_inherited);
    RUN(a_holder_that_just_ends_has_died_in_its_seat);
    RUN(the_seat_of_the_dead_is_had_without_waiting);
    RUN(a_zombie_is_dead);
    RUN(who_is_stopped_keeps_what_it_has_and_delays_nobody);
    RUN(the_dead_in_line_are_passed_over_and_the_order_stays);
    RUN(a_table_full_of_the_dead_is_not_full);
    RUN(what_is_left_to_do_in_one_pool_is_not_done_in_another);
    RUN(a_handle_is_not_inherited_by_a_forked_child);
    RUN(a_pool_of_threads_is_not_inherited_either);
    RUN(a_child_made_without_fork_handlers_is_refused_too);
    RUN(the_death_of_a_holder_is_noticed_though_its_child_lives);
    RUN(forking_among_busy_threads_stops_nobody);
    RUN(exec_gives_the_seat_back_unless_it_is_kept);
    RUN(a_process_lives_as_long_as_one_of_its_threads);
    RUN(an_assigned_seat_stays_until_that_process_ends);
    RUN(anybody_may_give_back_what_is_assigned);
    RUN(a_seat_is_assigned_to_living_processes_only);
    RUN(what_several_give_back_at_once_is_counted_once);
    RUN(a_pool_that_only_the_dead_use_can_be_removed);
    RUN(a_discarded_pool_ends_the_waits_of_other_processes);
    RUN(removing_never_makes_two_holders_of_one_seat);
    RUN(inspecting_shows_the_processes_and_counts_what_they_did);
    RUN(an_old_kernel_will_do);
    RUN(without_descriptors_nobody_is_taken_for_dead);
    RUN(waiting_keeps_no_descriptors);
    RUN(a_holder_in_another_namespace_is_alive_until_it_dies);
    RUN(pids_that_collide_are_never_mixed_up);
    return 0;
}
