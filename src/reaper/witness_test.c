/*
 * What a process without the kernel's identities (before Linux 6.9) knows of others it reads in
 * /proc, and what it reads there may be shifted, hidden, another pid namespace's or made up. Then
 * it cannot tell, and nobody alive loses a seat. Built three times: with pidfs, without it, and
 * without pidfds; what is expected is the same, except where two processes began in one clock tick.
 *
 * The holder is always an heir (usher_assign): it has no lock, so that its pid alone decides.
 */
#include "mortals.h"
#include "spaces.h"

#include "pool/pool.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static void idle(void *unused)
{
    (void)unused;
    stay();
}

static pid_t begin_heir(struct usher_pool *pool)
{
    pid_t heir = scene_start(idle, NULL);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
    return heir;
}

/* The start time of a process in clock ticks, as /proc shows it here. */
static unsigned long long start_of(pid_t pid)
{
    char path[64];
    char text[1024] = "";
    unsigned long long start = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    EXPECT(file != NULL && fgets(text, sizeof text, file) != NULL);
    EXPECT_EQ(fclose(file), 0);
    char *at = strrchr(text, ')');
    EXPECT(at != NULL);
    EXPECT_EQ(sscanf(at,
                     ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                     "%*d %*d %llu",
                     &start),
              1);
    return start;
}

/* Kill an heir and have another process begin with its pid in the same tick. False: never so. */
static bool follow_in_the_same_tick(struct usher_pool *pool, pid_t *next)
{
    for (int tries = 0; tries < 200; tries++) {
        pid_t heir = begin_heir(pool);
        unsigned long long start = start_of(heir);
        scene_kill(heir);
        if (!space_next_pid(heir)) {
            return false;
        }
        *next = scene_start(idle, NULL);
        EXPECT_EQ(*next, heir);
        if (start_of(*next) == start) {
            return true;
        }
        scene_kill(*next);
        EXPECT_EQ(usher_reap(pool), 1); /* nobody has its pid now */
    }
    (void)printf("  SKIPPED: no two processes began in one clock tick\n");
    return false;
}

static void reuse_in_one_tick(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("tick", 1);
    bool by_start = pool->self.identity.witness == OS_BY_START;
    pid_t next;
    if (follow_in_the_same_tick(pool, &next)) {
        EXPECT_EQ(usher_reap(pool), by_start ? 0 : 1); /* errs towards "alive" */
        scene_kill(next);
        EXPECT_EQ(usher_reap(pool), by_start ? 1 : 0);
    }
    usher_close(pool);
}

static void who_gets_a_pid_within_one_tick_is_taken_for_its_owner(void)
{
    EXPECT_EQ(scene_end(space_start(reuse_in_one_tick, NULL, true)), 0);
    struct usher_pool *pool = scene_open("tick", 1);
    finish(pool, "tick", 1);
}

/* A process that looks at the heir from a place of its own: it opens the pool, changes what it sees
   and says that it is ready, scans until told[0], and then once more. flags[1] and flags[2]: how
   many it found dead before and after. */
struct view {
    void (*before)(void); /* it opens the pool */
    void (*after)(void);
    const char *pool;
};

static void look(void *context)
{
    const struct view *view = context;
    if (view->before != NULL) {
        view->before();
    }
    struct usher_pool *pool = scene_open(view->pool, 0);
    if (view->after != NULL) {
        view->after();
    }
    int found = 0;
    for (int i = 0; i < 50; i++) {
        found += usher_reap(pool);
    }
    atomic_store(&board->flags[1], found);
    atomic_store(&board->flags[0], 1);
    UNTIL(atomic_load(&board->order[0]) == SCENE_LEAVE);
    atomic_store(&board->flags[2], usher_reap(pool));
    atomic_store(&board->flags[0], 2);
    stay();
}

/* The viewer takes no living heir for dead, and finds a dead heir. */
static void expect_right(struct usher_pool *pool, struct view *view)
{
    view->pool = "view";
    scene_clear();
    pid_t heir = begin_heir(pool);
    pid_t viewer = scene_start(look, view);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    EXPECT_EQ(atomic_load(&board->flags[1]), 0);
    EXPECT_EQ(scene_info(pool).holders, 1);
    expect_taken(pool);
    scene_kill(heir);
    atomic_store(&board->order[0], SCENE_LEAVE);
    UNTIL(atomic_load(&board->flags[0]) == 2);
    EXPECT_EQ(atomic_load(&board->flags[2]), 1);
    EXPECT_EQ(scene_info(pool).holders, 0);
    scene_kill(viewer);
}

static void no_proc(void)
{
    EXPECT_EQ(chroot(scene_directory()), 0);
    EXPECT_EQ(chdir("/"), 0);
}

/* Beneath the /proc of this pid namespace is that of the one around it, where the pids are those of
   other processes. */
static void proc_of_another_namespace(void)
{
    EXPECT(own_mounts());
    EXPECT_EQ(umount2("/proc", MNT_DETACH), 0);
    EXPECT_EQ(access("/proc/self/stat", R_OK), 0);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    EXPECT(file != NULL && fputs(text, file) >= 0);
    EXPECT_EQ(fclose(file), 0);
}

/* What looks like a procfs, and says that every process began in tick 1. */
static void made_up_proc(void)
{
    char path[64];
    char text[512];
    EXPECT(own_mounts());
    EXPECT_EQ(mount("none", "/proc", "tmpfs", 0, NULL), 0);
    EXPECT_EQ(mkdir("/proc/self", 0755), 0);
    (void)snprintf(text, sizeof text, "Name:\tx\nTgid:\t%ld\nNSpid:\t%ld\n", (long)getpid(),
                   (long)getpid());
    write_file("/proc/self/status", text);
    for (int pid = 1; pid < 100; pid++) {
        (void)snprintf(path, sizeof path, "/proc/%d", pid);
        EXPECT_EQ(mkdir(path, 0755), 0);
        (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
        (void)snprintf(
            text, sizeof text,
            "%d (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
            "0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
            pid);
        write_file(path, text);
    }
}

/* /proc shows this user none of the processes of others. */
static void hidden_processes(void)
{
    EXPECT(own_mounts());
    EXPECT_EQ(mount("proc", "/proc", "proc", 0, "hidepid=2"), 0);
    EXPECT_EQ(setresgid(65534, 65534, 65534), 0);
    EXPECT_EQ(setresuid(65534, 65534, 65534), 0);
    EXPECT(access("/proc/1/stat", R_OK) != 0);
}

static void look_from_odd_places(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("view", 1);
    struct view views[] = {{.after = NULL},
                           {.after = no_proc},
                           {.after = proc_of_another_namespace},
                           {.after = made_up_proc},
                           {.after = hidden_processes}};
    for (unsigned v = 0; v < sizeof views / sizeof views[0]; v++) {
        expect_right(pool, &views[v]);
    }
    usher_close(pool);
}

static void who_sees_no_proc_or_another_or_a_part_of_it_takes_nobody_alive_for_dead(void)
{
    struct usher_pool *pool = scene_open("view", 1);
    EXPECT_EQ(scene_end(space_start(look_from_odd_places, NULL, true)), 0);
    finish(pool, "view", 1);
}

/* What cannot be proved is refused. (With pidfs /proc is needed only for the pid namespace.) */
static void assign_with_the_proc_of_another(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("foreign", 1);
    pid_t heir = scene_start(idle, NULL);
    struct usher_seat seat = scene_acquire(pool);
    bool known = pool->self.identity.witness == OS_BY_INODE;
    EXPECT_EQ(usher_assign(pool, &seat, heir), known ? 0 : -ENOSYS);
    EXPECT_EQ(known ? usher_release_assigned(pool, &seat) : usher_release(pool, &seat), 0);
    scene_kill(heir);
    usher_close(pool);
}

static void a_seat_is_not_assigned_where_death_could_not_be_proved(void)
{
    EXPECT_EQ(scene_end(space_start(assign_with_the_proc_of_another, NULL, false)), 0);
    struct usher_pool *pool = scene_open("foreign", 1);
    finish(pool, "foreign", 1);
}

/* In a time namespace in which the machine began 1000 s earlier. */
static void run_shifted(void (*body)(void *), void *context)
{
    int file;
    EXPECT_EQ(unshare(CLONE_NEWTIME), 0);
    file = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    EXPECT(file >= 0 && write(file, "boottime 1000 0", 15) == 15);
    EXPECT_EQ(close(file), 0);
    int status = scene_end(scene_start(body, context)); /* the child is in the namespace */
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void look_shifted(void *context)
{
    run_shifted(look, context);
}

static void assign_shifted(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("time", 0);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, (pid_t)atomic_load(&board->flags[3])), 0);
    usher_close(pool);
}

static void begin_shifted(void *body)
{
    run_shifted((void (*)(void *))(uintptr_t)body, NULL);
}

static bool may_shift(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(unshare(CLONE_NEWTIME) == 0 ? 0 : 77);
    }
    bool may = scene_end(child) == 0;
    if (!may) {
        (void)printf("  SKIPPED: no time namespaces here\n");
    }
    return may;
}

/* A process in another time namespace reads another start time of the same process. */
static void start_times_of_another_time_namespace_prove_nothing(void)
{
    struct usher_pool *pool = scene_open("time", 1);
    struct view view = {.pool = "time"};
    for (int round = 0; round < 2 && may_shift(); round++) {
        scene_clear();
        pid_t heir = scene_start(idle, NULL);
        atomic_store(&board->flags[3], heir);
        if (round == 0) { /* signed here, seen from there */
            struct usher_seat seat = scene_acquire(pool);
            EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
        } else { /* the way back */
            EXPECT_EQ(scene_end(scene_start(begin_shifted, (void *)(uintptr_t)assign_shifted)), 0);
        }
        pid_t viewer = scene_start(look_shifted, &view);
        UNTIL(atomic_load(&board->flags[0]) == 1);
        EXPECT_EQ(atomic_load(&board->flags[1]), 0);
        EXPECT_EQ(usher_reap(pool), 0);
        expect_taken(pool);
        scene_kill(heir);
        if (round == 0) {
            atomic_store(&board->order[0], SCENE_LEAVE);
            UNTIL(atomic_load(&board->flags[0]) == 2);
            EXPECT_EQ(atomic_load(&board->flags[2]), 1);
        } else {
            EXPECT_EQ(usher_reap(pool), 1);
        }
        scene_kill(viewer);
    }
    finish(pool, "time", 1);
}

static uint32_t flags_of_row(const struct usher_pool *pool, pid_t pid)
{
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        uint64_t owner = atomic_load(&pool->rows[row].owner);
        if (format_owner_pid(owner) == (uint32_t)pid &&
            (format_owner_flags(owner) & FORMAT_ASSIGNED)) {
            return format_owner_flags(owner);
        }
    }
    return 0;
}

/* A process that may not call pidfd_open, beside others that may. flags[3]: an heir of ours;
   flags[4]: one of its own. */
static void beside_pidfs(void *unused)
{
    (void)unused;
    if (!scene_refuse(SYS_pidfd_open, -1, 0, 0, ENOSYS)) {
        atomic_store(&board->flags[0], -1);
        return;
    }
    struct usher_pool *pool = scene_open("mixed", 0);
    EXPECT_EQ(pool->self.identity.witness, OS_BY_START);
    atomic_store(&board->flags[4], begin_heir(pool));
    atomic_store(&board->flags[0], 1);
    int found = 0;
    while (atomic_load(&board->order[0]) != SCENE_LEAVE) {
        found += usher_reap(pool);
        scene_pause_us(1000);
    }
    EXPECT_EQ(found, 0);
    scene_kill((pid_t)atomic_load(&board->flags[4]));
}

/* A row says which identity its owner has. Programs that know only one kind ignore the other. */
static void two_kinds_of_identities_in_one_pool_are_never_compared(void)
{
    struct usher_pool *pool = scene_open("mixed", 2);
    bool by_start = pool->self.identity.witness == OS_BY_START;
    scene_clear();
    pid_t heir = begin_heir(pool);
    pid_t other = scene_start(beside_pidfs, NULL);
    UNTIL(atomic_load(&board->flags[0]) != 0);
    uint32_t kinds = FORMAT_BY_PID | FORMAT_BY_START;
    EXPECT_EQ(flags_of_row(pool, heir) & kinds, by_start ? FORMAT_BY_START : FORMAT_BY_PID);
    if (atomic_load(&board->flags[0]) == 1) {
        pid_t second = (pid_t)atomic_load(&board->flags[4]);
        EXPECT_EQ(flags_of_row(pool, second) & kinds, FORMAT_BY_START);
        for (int i = 0; i < 100; i++) {
            EXPECT_EQ(usher_reap(pool), 0);
        }
        EXPECT_EQ(scene_info(pool).holders, 2);
        scene_pause_us(20000); /* so that the other one scans, too */
        EXPECT_EQ(scene_info(pool).holders, 2);
        atomic_store(&board->order[0], SCENE_LEAVE);
        EXPECT_EQ(scene_end(other), 0);
        EXPECT_EQ(usher_reap(pool), 1); /* the second heir: by its start time */
    }
    scene_kill(heir);
    EXPECT_EQ(usher_reap(pool), 1);
    finish(pool, "mixed", 2);
}

static void *outlive(void *unused)
{
    (void)unused;
    stay();
    return NULL;
}

/* Its first thread is a zombie. */
static void end_the_first_thread(void *unused)
{
    (void)unused;
    pthread_t thread;
    EXPECT_EQ(pthread_create(&thread, NULL, outlive, NULL), 0);
    pthread_exit(NULL);
}

static bool is_zombie(pid_t pid)
{
    char path[64];
    char text[1024] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    EXPECT(file != NULL && fgets(text, sizeof text, file) != NULL);
    EXPECT_EQ(fclose(file), 0);
    char *at = strrchr(text, ')');
    return at != NULL && at[2] == 'Z';
}

static void a_process_whose_first_thread_has_ended_lives(void)
{
    struct usher_pool *pool = scene_open("threads", 1);
    struct usher_seat seat = scene_acquire(pool);
    pid_t heir = scene_start(end_the_first_thread, NULL);
    UNTIL(is_zombie(heir));
    EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
    for (int i = 0; i < 10; i++) {
        expect_taken(pool);
    }
    kill_to_zombie(heir);
    EXPECT_EQ(usher_reap(pool), 1);
    EXPECT_EQ(scene_end(heir), SIGKILL);
    finish(pool, "threads", 1);
}

int main(void)
{
    scene_begin();
    if (!space_allowed()) {
        return 77;
    }
    RUN(who_gets_a_pid_within_one_tick_is_taken_for_its_owner);
    RUN(who_sees_no_proc_or_another_or_a_part_of_it_takes_nobody_alive_for_dead);
    RUN(a_seat_is_not_assigned_where_death_could_not_be_proved);
    RUN(start_times_of_another_time_namespace_prove_nothing);
    RUN(two_kinds_of_identities_in_one_pool_are_never_compared);
    RUN(a_process_whose_first_thread_has_ended_lives);
    return 0;
}
