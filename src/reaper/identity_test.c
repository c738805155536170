/*
 * The library distinguishes processes that have the same pid: a later one, one of an earlier boot,
 * one in a container. No live process loses a seat because of a pid, and no seat stays held because
 * another process has the pid of its dead holder. Needs the right to create namespaces. fork_test
 * and process_test cover fork, exec and zombies.
 */
#include "mortals.h"
#include "spaces.h"

#include "pool/pool.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static void idle(void *unused)
{
    (void)unused;
    stay();
}

/* Create a child without calling fork handlers: it keeps the lock of its parent's row. */
static pid_t bare_clone(void)
{
#ifdef __s390x__ /* the stack comes before the flags */
    return (pid_t)syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0);
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

/* Ways to be in the pool and die: flags[1] is the process. */
enum dying { HOLDER, HOLDER_WITH_ORPHAN, WAITER, HEIR, DYING };

static void hold_and_leave_an_orphan(void *unused)
{
    (void)unused;
    (void)scene_acquire(scene_open("again", 0));
    pid_t child = bare_clone();
    EXPECT(child >= 0);
    if (child == 0) {
        atomic_store(&board->flags[2], 1);
        stay();
    }
    stay();
}

static pid_t begin_dying(struct usher_pool *pool, enum dying how)
{
    pid_t child;
    switch (how) {
    case HOLDER:
        return scene_holder(0, "again");
    case HOLDER_WITH_ORPHAN:
        child = scene_start(hold_and_leave_an_orphan, NULL);
        UNTIL(atomic_load(&board->flags[2]) == 1);
        return child;
    case WAITER:
        return scene_waiter(1, "again", 1);
    case HEIR:
    case DYING:
        break;
    }
    child = scene_start(idle, NULL);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, child), 0);
    return child;
}

/* Another process gets the pid of the dead one. It holds nothing. A seat that it acquires is its
   own. */
static void reuse(struct usher_pool *pool, enum dying how)
{
    struct usher_seat held = {0};
    scene_clear();
    if (how == WAITER) {
        held = scene_acquire(pool);
    }
    pid_t dead = begin_dying(pool, how);
    EXPECT_EQ(usher_reap(pool), 0);
    scene_kill(dead);
    if (!space_next_pid(dead)) {
        _exit(77);
    }
    /* In another clock tick; witness_test has the same one. */
    scene_pause_us(2000000 / sysconf(_SC_CLK_TCK));
    pid_t next = scene_start(idle, NULL);
    EXPECT_EQ(next, dead);
    EXPECT_EQ(usher_reap(pool), 1);
    EXPECT_EQ(usher_reap(pool), 0);
    EXPECT_EQ(scene_info(pool).waiters, 0);
    if (how == WAITER) {
        EXPECT_EQ(usher_release(pool, &held), 0);
    }
    struct usher_seat seat;
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    EXPECT_EQ(seat.flags, how == WAITER ? 0 : USHER_INHERITED);
    EXPECT_EQ(usher_release_for(pool, next), 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    scene_kill(next);
    /* A third process with this pid becomes a guest. */
    EXPECT(space_next_pid(dead));
    EXPECT_EQ(scene_holder(3, "again"), dead);
    expect_taken(pool);
    scene_leave(3, dead);
}

static void reuse_pids(void *unused)
{
    struct usher_pool *pool = scene_open("again", 0);
    (void)unused;
    for (int round = 0; round < 3; round++) {
        for (enum dying how = HOLDER; how < DYING; how++) {
            /* An old kernel knows processes by /proc alone, and this one may be another's. */
            bool by_lock = how == HOLDER || how == WAITER;
            if (by_lock || pool->self.identity.witness != OS_UNKNOWN) {
                reuse(pool, how);
            }
        }
    }
    usher_close(pool);
}

static void a_process_with_the_pid_of_a_dead_one_holds_nothing_of_it(void)
{
    struct usher_pool *pool = scene_open("again", 1);
    for (int proc = 0; proc < 2; proc++) {
        int status = scene_end(space_start(reuse_pids, NULL, proc != 0));
        EXPECT(status == 0 || WEXITSTATUS(status) == 77);
    }
    finish(pool, "again", 1);
}

/* The same seen from another pid namespace, where neither pid is known: only the lock shows the
   death. */
static void die_and_be_followed(void *unused)
{
    (void)unused;
    pid_t holder = scene_holder(0, "outside");
    atomic_store(&board->flags[0], 1);
    UNTIL(atomic_load(&board->flags[1]) == 1);
    scene_kill(holder);
    bool chosen = space_next_pid(holder);
    pid_t next = scene_start(idle, NULL);
    EXPECT(!chosen || next == holder);
    atomic_store(&board->flags[0], 2);
    stay();
}

static void from_outside_only_the_lock_shows_a_death(void)
{
    struct usher_pool *pool = scene_open("outside", 1);
    scene_clear();
    pid_t container = space_start(die_and_be_followed, NULL, true);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    expect_taken(pool);
    atomic_store(&board->flags[1], 1);
    UNTIL(atomic_load(&board->flags[0]) == 2);
    EXPECT_EQ(usher_reap(pool), 1);
    struct usher_seat seat;
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    scene_kill(container);
    finish(pool, "outside", 1);
}

/* In a container: wait for a seat whose holder is outside. Its pid is unknown here. */
static void wait_inside(void *unused)
{
    struct usher_pool *pool = scene_open("both", 0);
    struct usher_guest guest;
    (void)unused;
    for (int i = 0; i < 200; i++) {
        EXPECT_EQ(usher_reap(pool), 0);
    }
    expect_taken(pool);
    EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
    EXPECT_EQ(guest.pid, 0);
    EXPECT_EQ(guest.alive, 1);
    atomic_store(&board->flags[0], 1);
    board->seat[0] = scene_acquire(pool);
    atomic_store(&board->flags[0], 2);
    stay(); /* until the container is killed */
}

static void a_container_and_the_outside_see_each_other_live_and_die(void)
{
    struct usher_pool *pool = scene_open("both", 1);
    for (int round = 0; round < 4; round++) {
        scene_clear();
        pid_t holder = scene_holder(1, "both");
        pid_t container = space_start(wait_inside, NULL, round % 2 == 0);
        UNTIL(atomic_load(&board->flags[0]) == 1 && scene_info(pool).waiters == 1);
        if (round < 2) {
            scene_kill(holder);
        } else {
            scene_leave(1, holder);
        }
        UNTIL(atomic_load(&board->flags[0]) == 2);
        EXPECT_EQ(board->seat[0].flags, round < 2 ? USHER_INHERITED : 0);
        expect_taken(pool); /* the same from outside */
        scene_kill(container);
        struct usher_seat seat = get_soon(pool);
        EXPECT_EQ(seat.flags, USHER_INHERITED);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    finish(pool, "both", 1);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    ssize_t got;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    EXPECT(in >= 0 && out >= 0);
    while ((got = read(in, bytes, sizeof bytes)) > 0) {
        EXPECT_EQ(write(out, bytes, (size_t)got), got);
    }
    EXPECT_EQ(close(in), 0);
    EXPECT_EQ(close(out), 0);
}

/* A process records the boot when it first opens a pool. So the processes that are to see another
   boot are started before this process opens one. */
enum { AFTER_REBOOT, VIEWS, VIEWERS = VIEWS + 2 };
static pid_t viewers[VIEWERS];

struct viewer {
    int number;
    void (*body)(void *);
    void *context;
};

static void await_begin(void *context)
{
    struct viewer *viewer = context;
    UNTIL(atomic_load(&board->flags[8 + viewer->number]) == 1);
    viewer->body(viewer->context);
}

static pid_t begin_viewer(int number)
{
    atomic_store(&board->flags[8 + number], 1);
    return viewers[number];
}

/* boot_id shows another text, from a file that is also on procfs. */
static void see_another_boot(void)
{
    EXPECT(own_mounts());
    EXPECT_EQ(mount("/proc/version", BOOT_ID, NULL, MS_BIND, NULL), 0);
}

static void after_the_reboot(void *unused)
{
    (void)unused;
    see_another_boot();
    scene_expect_whole("after", 3);
}

static void the_same_boot(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("same", 3);
    EXPECT_EQ(usher_reap(pool), 2);
    EXPECT_EQ(scene_info(pool).holders, 1); /* the heir, which has no lock */
    usher_close(pool);
}

/* The file as a disk keeps it: the locks are gone, and each pid and each identity in it happens to
   belong to a process that lives now. None of these is in the pool. */
static void a_pool_older_than_the_boot_has_only_dead_guests(void)
{
    struct usher_pool *pool = scene_open("disk", 3);
    scene_clear();
    pid_t heir = scene_start(idle, NULL);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
    pid_t holder = scene_holder(0, "disk");
    struct usher_seat own = scene_acquire(pool);
    pid_t waiter = scene_waiter(1, "disk", 1);
    EXPECT_EQ(usher_release(pool, &own), 0);
    UNTIL(atomic_load(&board->step[1]) == SCENE_DONE);
    copy_file(scene_path("disk"), scene_path("after"));
    copy_file(scene_path("disk"), scene_path("same"));
    scene_in_child(the_same_boot, NULL);
    EXPECT_EQ(scene_end(begin_viewer(AFTER_REBOOT)), 0);
    EXPECT_EQ(usher_discard("same"), 0);
    EXPECT_EQ(usher_remove("after"), 0);
    EXPECT_EQ(usher_reap(pool), 0); /* live guests of the original keep their seats */
    scene_leave(0, holder);
    scene_leave(1, waiter);
    scene_kill(heir);
    EXPECT_EQ(usher_reap(pool), 1);
    finish(pool, "disk", 3);
}

/* A container may show an invented boot_id, also to processes of our pid namespace. */
static void see_a_made_up_boot(void)
{
    EXPECT(own_mounts());
    FILE *file = fopen(scene_path("made-up"), "we");
    EXPECT(file != NULL && fputs("01234567-89ab-cdef-0123-456789abcdef\n", file) >= 0);
    EXPECT_EQ(fclose(file), 0);
    EXPECT_EQ(mount(scene_path("made-up"), BOOT_ID, NULL, MS_BIND, NULL), 0);
}

struct view {
    void (*change)(void);
    bool heir; /* an heir is known by its pid and identity alone */
};

static void look_from_another_boot(void *context)
{
    struct view *view = context;
    view->change();
    struct usher_pool *pool = scene_open("boots", 2);
    EXPECT_EQ(usher_reap(pool), 0);
    expect_taken(pool);
    EXPECT_EQ(scene_info(pool).holders, 2);
    atomic_store(&board->flags[0], 1);
    UNTIL(atomic_load(&board->flags[1]) == 1);
    EXPECT_EQ(usher_reap(pool), 2);
    struct usher_seat seat = scene_acquire(pool);
    if (view->heir) {
        pid_t heir = scene_start(idle, NULL);
        EXPECT_EQ(usher_assign(pool, &seat, heir), 0);
        atomic_store(&board->flags[2], heir);
    }
    atomic_store(&board->flags[0], 2);
    UNTIL(atomic_load(&board->flags[1]) == 2);
}

static struct view views[] = {{see_another_boot, false}, {see_a_made_up_boot, true}};

static void a_process_that_sees_another_boot_reaps_no_live_guest(void)
{
    for (int v = 0; v < 2; v++) {
        struct usher_pool *pool = scene_open("boots", 2);
        scene_clear();
        pid_t holder = scene_holder(1, "boots");
        pid_t second = views[v].heir ? scene_start(idle, NULL) : scene_holder(2, "boots");
        if (views[v].heir) {
            struct usher_seat seat = scene_acquire(pool);
            EXPECT_EQ(usher_assign(pool, &seat, second), 0);
        }
        pid_t other = begin_viewer(VIEWS + v);
        UNTIL(atomic_load(&board->flags[0]) == 1);
        scene_kill(holder);
        scene_kill(second);
        atomic_store(&board->flags[1], 1);
        UNTIL(atomic_load(&board->flags[0]) == 2);
        EXPECT_EQ(usher_reap(pool), 0); /* the same from here */
        EXPECT_EQ(scene_info(pool).holders, 1);
        if (views[v].heir) {
            EXPECT_EQ(kill((pid_t)atomic_load(&board->flags[2]), SIGKILL), 0);
        } else {
            atomic_store(&board->flags[1], 2);
            EXPECT_EQ(scene_end(other), 0);
        }
        UNTIL(usher_reap(pool) == 1);
        if (views[v].heir) {
            scene_kill(other);
        }
        finish(pool, "boots", 2);
    }
    (void)unlink(scene_path("made-up"));
}

/* Without /proc a process does not know its pid namespace, so it can use no pid. Then the locks
   decide. */
static void hold_without_proc(void *unused)
{
    (void)unused;
    EXPECT_EQ(chroot(scene_directory()), 0);
    EXPECT_EQ(chdir("/"), 0);
    struct usher_pool *pool = scene_open("/bare", 0);
    EXPECT_EQ(usher_reap(pool), 0);
    expect_taken(pool);
    atomic_store(&board->flags[0], 1);
    board->seat[0] = scene_acquire(pool);
    atomic_store(&board->flags[0], 2);
    stay();
}

static void without_proc_the_locks_show_who_is_dead(void)
{
    struct usher_pool *pool = scene_open("bare", 1);
    scene_clear();
    pid_t holder = scene_holder(1, "bare");
    pid_t bare = scene_start(hold_without_proc, NULL);
    UNTIL(atomic_load(&board->flags[0]) == 1 && scene_info(pool).waiters == 1);
    scene_kill(holder);
    UNTIL(atomic_load(&board->flags[0]) == 2);
    EXPECT_EQ(board->seat[0].flags, USHER_INHERITED);
    expect_taken(pool);
    scene_kill(bare);
    struct usher_seat seat;
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool, "bare", 1);
}

int main(void)
{
    scene_begin();
    if (!space_allowed()) {
        return 77;
    }
    struct viewer all[] = {{AFTER_REBOOT, after_the_reboot, NULL},
                           {VIEWS, look_from_another_boot, &views[0]},
                           {VIEWS + 1, look_from_another_boot, &views[1]}};
    for (int v = 0; v < VIEWERS; v++) {
        viewers[v] = scene_start(await_begin, &all[v]);
    }
    RUN(a_process_with_the_pid_of_a_dead_one_holds_nothing_of_it);
    RUN(from_outside_only_the_lock_shows_a_death);
    RUN(a_container_and_the_outside_see_each_other_live_and_die);
    RUN(a_pool_older_than_the_boot_has_only_dead_guests);
    RUN(a_process_that_sees_another_boot_reaps_no_live_guest);
    RUN(without_proc_the_locks_show_who_is_dead);
    return 0;
}
