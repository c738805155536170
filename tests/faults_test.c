/*
 * Each call of libusher that can fail, fails: the first, the second, .. until a run has fewer
 * calls. Each time the result is that error or a success in spite of it. Nothing is left behind
 * (descriptors, memory, files, seats, locks), no live guest counts as dead, and a second run
 * succeeds.
 */
#include "faults.h"
#include "mortals.h"

#include <string.h>

static pid_t heir;

static int open_and_use(const char *name, const struct usher_options *options, unsigned seats)
{
    struct usher_pool *pool;
    struct usher_seat seat[8];
    unsigned had = 0;
    int error = usher_open(&pool, name, options);
    if (error != 0) {
        EXPECT(pool == NULL);
        return error;
    }
    while (error == 0 && had < seats) {
        error = usher_acquire(pool, &seat[had]);
        had += error == 0;
    }
    for (unsigned s = 0; s < had; s++) {
        EXPECT_EQ(usher_release(pool, &seat[s]), 0);
    }
    usher_close(pool);
    return error;
}

static int make_and_use(void)
{
    return open_and_use("made", &(struct usher_options){.seats = 2}, 2);
}

static int create_new(void)
{
    return open_and_use("made", &(struct usher_options){.flags = USHER_EXCLUSIVE}, 1);
}

static int use_existing(void)
{
    return open_and_use("there", &(struct usher_options){.flags = USHER_EXISTING}, 6);
}

static int use_threads(void)
{
    return open_and_use(NULL, &(struct usher_options){.seats = 6}, 6);
}

static int wait_for(uint32_t ms, int expected)
{
    struct usher_pool *pool;
    struct usher_seat seat;
    int error = usher_open(&pool, "held", NULL);
    if (error != 0) {
        return error;
    }
    struct timespec deadline = scene_in_ms(ms);
    error = usher_acquire_until(pool, &seat, &deadline);
    EXPECT(error != 0 || usher_release(pool, &seat) == 0);
    usher_close(pool);
    EXPECT(expected == 0 || error != 0); /* the holder lives */
    return error == expected ? 0 : error;
}

static int wait_for_the_living(void)
{
    return wait_for(100, -ETIMEDOUT);
}

static int wait_for_the_dead(void)
{
    return wait_for(20000, 0);
}

static int assign(void)
{
    struct usher_pool *pool;
    struct usher_seat seat;
    int error = usher_open(&pool, "there", NULL);
    if (error != 0) {
        return error;
    }
    error = usher_acquire(pool, &seat);
    if (error == 0) {
        error = usher_assign(pool, &seat, heir);
        EXPECT_EQ(usher_release(pool, &seat), error == 0 ? -EPERM : 0);
        EXPECT_EQ(usher_release_for(pool, heir), error == 0 ? 1 : 0);
    }
    usher_close(pool);
    return error;
}

static int inspect_and_resize(void)
{
    struct usher_pool *pool;
    struct usher_info info;
    int error = usher_open(&pool, "there", NULL);
    if (error != 0) {
        return error;
    }
    EXPECT_EQ(usher_inspect(pool, &info, NULL, 0), 0);
    EXPECT_EQ(usher_verify(pool, NULL, NULL), 0);
    error = usher_resize(pool, 7);
    EXPECT_EQ(usher_inspect(pool, &info, NULL, 0), 0);
    EXPECT_EQ(info.seats, error == 0 ? 7 : 6);
    EXPECT(error != 0 || usher_resize(pool, 6) == 0);
    EXPECT_EQ(usher_reap(pool), 0);
    usher_close(pool);
    return error;
}

static int remove_it(void)
{
    int error = usher_remove("there");
    return error == -ENOENT ? 0 : error; /* removed by the first run */
}

static int discard_it(void)
{
    int error = usher_discard("there");
    return error == -ENOENT ? 0 : error;
}

struct scenario {
    const char *name;
    int (*run)(void);
    unsigned nth; /* the call that fails */
};

/* Count the leftover files. A pool that was created or removed does not count. */
static int leftover_files(void)
{
    int known = access(scene_path("made"), F_OK) == 0;
    known += access(scene_path("there"), F_OK) == 0;
    known += access(scene_path("held"), F_OK) == 0;
    return scene_files(scene_directory()) - known;
}

/* Run in a process that has not used the library yet. Exits 0, or 1 if there was no nth call. */
static void fail_once(void *context)
{
    struct scenario *scenario = context;
    const char *what;
    int error;
    int descriptors = scene_descriptors();
    fault_begin(scenario->nth);
    int got = scenario->run();
    bool failed = fault_end(&what, &error);
    if (!failed) {
        EXPECT_EQ(got, 0);
        _exit(99);
    }
    /* the call's own error, or what the header documents instead: no identity, no locks */
    bool right = got == 0 || got == -error || (strcmp(what, "fcntl") == 0 && got == -ENOLCK) ||
                 (scenario->run == assign && got == -ENOSYS);
    if (!right) {
        (void)fprintf(stderr,
                      "%s, call %u: %s failed with errno %d, and the scenario returned %d: %s\n",
                      scenario->name, scenario->nth, what, error, got, usher_strerror(got));
        exit(1);
    }
    EXPECT(strcmp(usher_strerror(got), "unknown error") != 0);
    EXPECT_EQ(scene_descriptors(), descriptors);
    EXPECT(fault_memory() <= 1); /* memory that a thread keeps until it ends */
    EXPECT_EQ(leftover_files(), 0);
    if (scenario->run == create_new && got == 0) {
        EXPECT_EQ(usher_remove("made"), 0);
    }
    got = scenario->run();
    if (scenario->run == create_new && got == -EEXIST) { /* created, but not used */
        EXPECT_EQ(usher_remove("made"), 0);
        got = scenario->run();
    }
    if (got != 0) {
        (void)fprintf(stderr, "%s, call %u: %s failed, and the next run returned %d: %s\n",
                      scenario->name, scenario->nth, what, got, usher_strerror(got));
        exit(1);
    }
    EXPECT_EQ(scene_descriptors(), descriptors);
    EXPECT(fault_memory() <= 1);
}

/* Only children use the library, so that each child starts with it unused. */
static void make_pools(void *unused)
{
    (void)unused;
    usher_close(scene_open("there", 6));
    usher_close(scene_open("held", 1));
}

static void expect_all_whole(void *unused)
{
    (void)unused;
    scene_expect_whole("there", 6);
    scene_expect_whole("held", 1);
}

static void try_each(const char *name, int (*run)(void), bool dead)
{
    struct scenario scenario = {name, run, 0};
    int status = 0;
    while (status == 0) {
        scenario.nth++;
        (void)unlink(scene_path("made"));
        scene_in_child(make_pools, NULL);
        scene_clear();
        pid_t holder = scene_holder(0, "held");
        heir = getppid();
        if (dead) {
            scene_kill(holder);
        }
        status = scene_end(scene_start(fail_once, &scenario));
        if (!dead) {
            scene_leave(0, holder);
        }
        scene_in_child(make_pools, NULL); /* a removed pool, and an existing one */
        scene_in_child(expect_all_whole, NULL);
    }
    EXPECT_EQ(WEXITSTATUS(status), 99);
    EXPECT(scenario.nth > 5);
    (void)printf("  %s: %u calls failed\n", name, scenario.nth - 1);
}

#define TRY(run, dead) try_each(#run, run, dead)

static void after_any_failure_nothing_is_lost_and_the_next_call_works(void)
{
    TRY(make_and_use, false);
    TRY(create_new, false);
    TRY(use_existing, false);
    TRY(use_threads, false);
    TRY(wait_for_the_living, false);
    TRY(wait_for_the_dead, true);
    TRY(assign, false);
    TRY(inspect_and_resize, false);
    TRY(remove_it, false);
    TRY(discard_it, false);
}

static void only_the_monotonic_clock_is_read(void)
{
    fault_begin(0);
    EXPECT_EQ(make_and_use(), 0);
    EXPECT_EQ(usher_remove("made"), 0);
    EXPECT_EQ(fault_clocks(), 0);
}

int main(void)
{
    scene_begin();
    RUN(after_any_failure_nothing_is_lost_and_the_next_call_works);
    RUN(only_the_monotonic_clock_is_read);
    (void)usher_remove("there");
    (void)usher_remove("held");
    return 0;
}
