/*
 * usher_spawn: the program holds the seat from before exec until it ends, even if the process that
 * started it ends first. After a failure the caller still holds the seat.
 */
#include "mortals.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static char *const sleeper[] = {(char[]){"sleep"}, (char[]){"60"}, NULL};

/* getppid returns another pid, as if the parent had been killed. */
static bool orphaned;
pid_t __real_getppid(void);
pid_t __wrap_getppid(void);
pid_t __wrap_getppid(void)
{
    return orphaned ? 1 : __real_getppid();
}

static pid_t spawn(struct usher_pool *pool, struct usher_seat *seat, char *const *argv)
{
    struct usher_command command = {.argv = argv};
    pid_t child = 0;
    EXPECT_EQ(usher_spawn(pool, seat, &command, &child), 0);
    EXPECT(child > 0);
    return child;
}

static void the_program_holds_the_seat(void)
{
    static const unsigned flags[] = {0, USHER_KEEP, USHER_PROCESS_SEATS};
    for (int f = 0; f < 3; f++) {
        struct usher_pool *pool;
        struct usher_options options = {.seats = 1, .flags = flags[f]};
        struct usher_guest guest;
        EXPECT_EQ(usher_open(&pool, "spawn", &options), 0);
        struct usher_pool *other = scene_open("spawn", 0);
        struct usher_seat seat = scene_acquire(pool);
        pid_t child = spawn(pool, &seat, sleeper);
        EXPECT_EQ(usher_release(pool, &seat), -EPERM);
        expect_taken(pool);
        expect_taken(other);
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        EXPECT_EQ(guest.pid, child);
        EXPECT_EQ(guest.alive, 1);
        EXPECT_EQ(usher_release_for(other, child), 0); /* it runs: only its parent may release */
        expect_taken(other);
        scene_kill(child);
        seat = get_soon(other);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        EXPECT_EQ(usher_release(other, &seat), 0);
        usher_close(other);
        finish(pool, "spawn", 1);
    }
}

static void a_program_that_ends_by_itself_leaves_a_sound_seat(void)
{
    struct usher_pool *pool = scene_open("spawn", 1);
    for (int round = 0; round < 40; round++) {
        struct usher_seat seat = scene_acquire(pool);
        EXPECT_EQ(seat.flags, 0);
        pid_t child = spawn(pool, &seat, (char *const[]){(char[]){"true"}, NULL});
        if (round % 2 == 0) {
            EXPECT_EQ(scene_end(child), 0);
            EXPECT_EQ(usher_release_for(pool, child), 1);
        } else { /* a waiter finds the end before the parent calls waitpid */
            seat = get_soon(pool);
            EXPECT_EQ(seat.flags, 0);
            EXPECT_EQ(usher_release(pool, &seat), 0);
            EXPECT_EQ(scene_end(child), 0);
        }
    }
    EXPECT_EQ(scene_info(pool).reaped, 0);
    EXPECT(scene_info(pool).guests_used <= 2); /* rows are used again */
    finish(pool, "spawn", 1);
}

/* Start a program in our seat and end: 0 by returning, 1 after closing the pool, 2 by SIGKILL. */
static void spawn_and_end(void *context)
{
    const int *way = context;
    struct usher_pool *pool = scene_open("spawn", 0);
    struct usher_seat seat = scene_acquire(pool);
    atomic_store(&board->flags[0], spawn(pool, &seat, sleeper));
    if (*way == 1) {
        usher_close(pool);
    }
    if (*way == 2) {
        (void)raise(SIGKILL);
    }
}

static void the_program_keeps_its_seat_when_its_parent_ends(void)
{
    for (int way = 0; way < 3; way++) {
        struct usher_pool *pool = scene_open("spawn", 1);
        scene_clear();
        EXPECT_EQ(scene_end(scene_start(spawn_and_end, &way)), way == 2 ? SIGKILL : 0);
        pid_t child = atomic_load(&board->flags[0]);
        EXPECT_EQ(kill(child, 0), 0);
        expect_taken(pool);
        EXPECT_EQ(kill(child, SIGKILL), 0);
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        finish(pool, "spawn", 1);
    }
}

static int refuse(void *context)
{
    return *(int *)context;
}

static void after_a_failure_the_caller_holds_the_seat(void)
{
    struct usher_pool *pool = scene_open("spawn", 1);
    struct usher_lease lease;
    struct usher_guest guest;
    struct usher_seat seat = scene_acquire(pool);
    char *const argv[] = {(char[]){"true"}, NULL};
    int refusal = -ENOTTY;
    pid_t child = 4711;
    const struct {
        struct usher_command command;
        int error;
    } cases[] = {{{.argv = (char *const[]){(char[]){"/no/such/program"}, NULL}}, -ENOENT},
                 {{.file = "usher-no-such-program", .argv = argv}, -ENOENT},
                 {{.file = scene_directory(), .argv = argv}, -EACCES},
                 {{.argv = argv, .prepare = refuse, .context = &refusal}, -ENOTTY},
                 {{.argv = argv, .reserved = {0, 0, 1}}, -EINVAL},
                 {{.argv = (char *const[]){NULL}}, -EINVAL},
                 {{.file = "true"}, -EINVAL}};
    int open_before = scene_descriptors();
    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        EXPECT_EQ(usher_spawn(pool, &seat, &cases[c].command, &child), cases[c].error);
        EXPECT_EQ(child, 4711);
        EXPECT_EQ(waitpid(-1, NULL, WNOHANG), -1);
        EXPECT_EQ(errno, ECHILD);
        EXPECT_EQ(usher_check(pool, &seat, &lease), 0);
        EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
        EXPECT_EQ(guest.pid, getpid());
        expect_taken(pool);
    }
    orphaned = true;
    EXPECT_EQ(usher_spawn(pool, &seat, &(struct usher_command){.argv = argv}, &child), -ESRCH);
    orphaned = false;
    EXPECT_EQ(scene_descriptors(), open_before);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_spawn(pool, &seat, &(struct usher_command){.argv = argv}, &child), -EPERM);
    EXPECT_EQ(scene_info(pool).reaped, 0);
    finish(pool, "spawn", 1);
    struct usher_pool *threads;
    EXPECT_EQ(usher_open(&threads, NULL, NULL), 0);
    seat = scene_acquire(threads);
    EXPECT_EQ(usher_spawn(threads, &seat, &(struct usher_command){.argv = argv}, &child), -EINVAL);
    usher_close(threads);
}

/* What the program gets: arguments, environment, the effect of `prepare`, signals. */
static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

static int prepare(void *context)
{
    *(pid_t *)context = getpid();
    return dup2(STDOUT_FILENO, 77) == 77 ? 0 : -errno;
}

static void the_program_gets_what_the_command_says(void)
{
    static const char script[] = "test \"$0\" = zero && test \"$1\" = one && test \"$A\" = b && "
                                 "test -z \"$HOME\" && test -e /proc/$$/fd/77 && kill -USR2 $$; "
                                 "kill -USR1 $$; exit 3";
    char *const argv[] = {(char[]){"sh"},   (char[]){"-c"},  (char *)(uintptr_t)script,
                          (char[]){"zero"}, (char[]){"one"}, NULL};
    char *const envp[] = {(char[]){"A=b"}, (char[]){"PATH=/bin:/usr/bin"}, NULL};
    pid_t prepared = 0;
    struct usher_command command = {
        .file = "/bin/sh", .argv = argv, .envp = envp, .prepare = prepare, .context = &prepared};
    struct usher_pool *pool = scene_open("spawn", 1);
    struct usher_seat seat = scene_acquire(pool);
    sigset_t mask;
    sigset_t after;
    pid_t child;
    (void)signal(SIGUSR1, handle);
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGUSR2);
    (void)sigprocmask(SIG_BLOCK, &mask, NULL);
    EXPECT_EQ(usher_spawn(pool, &seat, &command, &child), 0);
    (void)sigprocmask(SIG_UNBLOCK, &mask, &after);
    EXPECT_EQ(sigismember(&after, SIGUSR2), 1);
    EXPECT_EQ(sigismember(&after, SIGUSR1), 0);
    EXPECT_EQ(prepared, child);
    EXPECT_EQ(scene_end(child), SIGUSR1); /* SIGUSR2 is blocked there; SIGUSR1 has no handler */
    EXPECT_EQ(handled, 0);
    (void)signal(SIGUSR1, SIG_DFL);
    EXPECT_EQ(usher_release_for(pool, child), 1);
    finish(pool, "spawn", 1);
}

/* Kill the child before exec. It has held the seat. */
static int die(void *unused)
{
    (void)unused;
    return kill(getpid(), SIGKILL); /* raise(3) of musl would signal the parent after vfork */
}

static void a_child_killed_before_exec_has_held_the_seat(void)
{
    struct usher_pool *pool = scene_open("spawn", 1);
    struct usher_seat seat = scene_acquire(pool);
    struct usher_command command = {.argv = sleeper, .prepare = die};
    pid_t child;
    EXPECT_EQ(usher_spawn(pool, &seat, &command, &child), 0);
    EXPECT_EQ(usher_release(pool, &seat), -EPERM);
    seat = get_soon(pool);
    EXPECT_EQ(seat.flags, USHER_INHERITED);
    EXPECT_EQ(scene_end(child), SIGKILL);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool, "spawn", 1);
}

/* Several threads start programs in one pool that has too few seats for all. */
enum { STARTERS = 4, STARTS = 40 };

static void *start_many(void *pool)
{
    for (int i = 0; i < STARTS; i++) {
        struct usher_seat seat = scene_acquire(pool);
        struct usher_command command = {.argv = (char *const[]){(char[]){"true"}, NULL},
                                        .file = i % 4 == 3 ? "/no/such/program" : NULL};
        pid_t child;
        int status;
        int error = usher_spawn(pool, &seat, &command, &child);
        EXPECT_EQ(error, i % 4 == 3 ? -ENOENT : 0);
        if (error != 0) {
            EXPECT_EQ(usher_release(pool, &seat), 0);
        } else {
            EXPECT_EQ(waitpid(child, &status, 0), child);
            EXPECT_EQ(status, 0);
            (void)usher_release_for(pool, child); /* a waiter may have freed it already */
        }
    }
    return NULL;
}

static void threads_start_programs_at_once(void)
{
    struct usher_pool *pool = scene_open("spawn", 2);
    pthread_t threads[STARTERS];
    for (int t = 0; t < STARTERS; t++) {
        EXPECT_EQ(pthread_create(&threads[t], NULL, start_many, pool), 0);
    }
    for (int t = 0; t < STARTERS; t++) {
        EXPECT_EQ(pthread_join(threads[t], NULL), 0);
    }
    EXPECT_EQ(usher_verify(pool, NULL, NULL), 0);
    finish(pool, "spawn", 2);
}

static void *spawn_of_another(void *context)
{
    struct usher_seat *seat = context;
    struct usher_pool *pool = scene_open("spawn", 0);
    pid_t child;
    struct usher_command command = {.argv = sleeper};
    /* it was acquired through another handle */
    EXPECT_EQ(usher_spawn(pool, seat, &command, &child), -EPERM);
    usher_close(pool);
    return NULL;
}

struct passed {
    struct usher_pool *pool;
    struct usher_seat seat;
    const char *file;
    int result;
    pid_t child;
};

static void *spawn_passed(void *context)
{
    struct passed *passed = context;
    struct usher_command command = {.file = passed->file, .argv = sleeper};
    passed->result = usher_spawn(passed->pool, &passed->seat, &command, &passed->child);
    return NULL;
}

static void another_thread_may_spawn_in_a_seat(void)
{
    struct passed passed = {.pool = scene_open("spawn", 1), .file = "/no/such/program"};
    pthread_t thread;
    passed.seat = scene_acquire(passed.pool);
    EXPECT_EQ(pthread_create(&thread, NULL, spawn_of_another, &passed.seat), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT_EQ(pthread_create(&thread, NULL, spawn_passed, &passed), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT_EQ(passed.result, -ENOENT);
    EXPECT_EQ(usher_release(passed.pool, &passed.seat), 0); /* this thread still holds it */
    passed.seat = scene_acquire(passed.pool);
    passed.file = NULL;
    EXPECT_EQ(pthread_create(&thread, NULL, spawn_passed, &passed), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT_EQ(passed.result, 0);
    EXPECT_EQ(usher_release(passed.pool, &passed.seat), -EPERM);
    scene_kill(passed.child);
    EXPECT_EQ(usher_release_for(passed.pool, passed.child), 1);
    finish(passed.pool, "spawn", 1);
}

static void use_a_handle_from_before_fork(void *pool)
{
    struct usher_seat seat = {0};
    pid_t child;
    struct usher_command command = {.argv = sleeper};
    EXPECT_EQ(usher_spawn(pool, &seat, &command, &child), -USHER_EFORKED);
    EXPECT_EQ(usher_spawn(pool, &seat, &command, &child), -USHER_EFORKED);
}

static void a_forked_handle_is_refused(void)
{
    struct usher_pool *pool = scene_open("spawn", 1);
    scene_in_child(use_a_handle_from_before_fork, pool);
    finish(pool, "spawn", 1);
}

/* The process that spawns is killed at a random moment. Then the program runs and holds the seat,
   or it does not run. */
static void spawn_for_ever(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("spawn", 0);
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"},
                          (char[]){"echo $$ > \"$USHER_DIR/ran\"; exec sleep 60"}, NULL};
    struct usher_seat seat = scene_acquire(pool);
    struct usher_command command = {.argv = argv};
    pid_t child;
    atomic_store(&board->flags[0], 1);
    EXPECT_EQ(usher_spawn(pool, &seat, &command, &child), 0);
    stay();
}

static void a_killed_parent_leaves_a_holder_or_no_program(void)
{
    struct usher_pool *pool = scene_open("spawn", 1);
    for (int round = 0; round < 60; round++) {
        scene_clear();
        pid_t parent = scene_start(spawn_for_ever, NULL);
        UNTIL(atomic_load(&board->flags[0]) == 1);
        scene_pause_us((long)(scene_random() % 1500));
        scene_kill(parent);
        struct usher_seat seat;
        struct timespec soon = scene_in_ms(20);
        struct usher_guest guest = {.pid = 0};
        int count = usher_inspect(pool, NULL, &guest, 1);
        int got = usher_acquire_until(pool, &seat, &soon);
        if (got == 0) { /* no program: if it ran, it would hold the seat */
            scene_pause_us(20000);
            EXPECT(access(scene_path("ran"), F_OK) != 0);
        } else {
            EXPECT_EQ(got, -ETIMEDOUT);
            EXPECT(count == 1 || usher_inspect(pool, NULL, &guest, 1) == 1);
            EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
            UNTIL(access(scene_path("ran"), F_OK) == 0);
            EXPECT_EQ(kill(guest.pid, SIGKILL), 0);
            seat = get_soon(pool);
            (void)unlink(scene_path("ran"));
        }
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    finish(pool, "spawn", 1);
}

int main(void)
{
    scene_begin();
    RUN(the_program_holds_the_seat);
    RUN(a_program_that_ends_by_itself_leaves_a_sound_seat);
    RUN(the_program_keeps_its_seat_when_its_parent_ends);
    RUN(after_a_failure_the_caller_holds_the_seat);
    RUN(the_program_gets_what_the_command_says);
    RUN(a_child_killed_before_exec_has_held_the_seat);
    RUN(threads_start_programs_at_once);
    RUN(another_thread_may_spawn_in_a_seat);
    RUN(a_forked_handle_is_refused);
    RUN(a_killed_parent_leaves_a_holder_or_no_program);
    return 0;
}
