/*
 * Many guests: the rows of a process with hundreds of threads, and dead processes among many live
 * ones, where one scan cannot check everything about every guest.
 */
#include "mortals.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 60, PROCESSES = 3, MANY = THREADS * PROCESSES };

static void *sit_and_stay(void *pool)
{
    (void)scene_acquire(pool);
    atomic_fetch_add(&board->inside, 1);
    stay();
    return NULL;
}

static void sit_with_threads(void *name)
{
    struct usher_pool *own = scene_open(name, 0);
    pthread_t thread;
    for (int t = 0; t < THREADS; t++) {
        EXPECT_EQ(pthread_create(&thread, NULL, sit_and_stay, own), 0);
    }
    stay();
}

static void sit_and_exec(void *name)
{
    struct usher_pool *own = scene_open(name, 0);
    (void)scene_acquire(own);
    atomic_fetch_add(&board->inside, 1);
    UNTIL(atomic_load(&board->flags[0]) == 1);
    (void)execl("/proc/self/exe", "many_test", "stay", NULL);
}

static struct usher_pool *open_for_many(const char *name, uint32_t seats)
{
    struct usher_options options = {.seats = seats, .guests = 2 * MANY};
    struct usher_pool *pool;
    EXPECT_EQ(usher_open(&pool, name, &options), 0);
    scene_clear();
    return pool;
}

/* All seats are free again, and usher_verify finds no fault. */
static void end_for_many(struct usher_pool *pool, const char *name, uint32_t seats)
{
    EXPECT_EQ(scene_info(pool).free, seats);
    EXPECT_EQ(usher_verify(pool, NULL, NULL), 0);
    usher_close(pool);
    EXPECT_EQ(usher_remove(name), 0);
}

static void seat_many(char *name, pid_t *processes)
{
    for (int p = 0; p < PROCESSES; p++) {
        processes[p] = scene_start(sit_with_threads, name);
    }
    UNTIL(atomic_load(&board->inside) == MANY);
}

static int count_dead(struct usher_pool *pool, pid_t dead)
{
    struct usher_guest guests[2 * MANY];
    int found = usher_inspect(pool, NULL, guests, 2 * MANY);
    int count = 0;
    for (int g = 0; g < found; g++) {
        EXPECT(guests[g].pid != 0 && guests[g].alive == (guests[g].pid != dead));
        count += guests[g].pid == dead;
    }
    return count;
}

static void the_dead_are_found_among_many_live_guests(void)
{
    char name[] = "many";
    pid_t processes[PROCESSES];
    struct usher_pool *pool = open_for_many(name, MANY + 1);
    seat_many(name, processes);
    EXPECT_EQ(count_dead(pool, 0), 0);
    kill_to_zombie(processes[1]);
    EXPECT_EQ(count_dead(pool, processes[1]), THREADS);
    EXPECT_EQ(scene_info(pool).holders, MANY);
    EXPECT_EQ(usher_reap(pool), THREADS);
    EXPECT_EQ(scene_info(pool).holders, MANY - THREADS);
    EXPECT_EQ(count_dead(pool, processes[1]), 0);
    for (int p = 0; p < PROCESSES; p++) {
        scene_kill(processes[p]);
    }
    EXPECT_EQ(usher_reap(pool), MANY - THREADS);
    end_for_many(pool, name, MANY + 1);
}

static void a_waiter_finds_every_dead_guest_among_many(void)
{
    char name[] = "all";
    pid_t processes[PROCESSES];
    struct usher_seat seats[THREADS];
    struct usher_pool *pool = open_for_many(name, MANY);
    seat_many(name, processes);
    scene_kill(processes[2]);
    for (int s = 0; s < THREADS; s++) {
        seats[s] = get_soon(pool);
        EXPECT_EQ(seats[s].flags, USHER_INHERITED);
    }
    expect_taken(pool);
    for (int s = 0; s < THREADS; s++) {
        EXPECT_EQ(usher_release(pool, &seats[s]), 0);
    }
    scene_kill(processes[0]);
    scene_kill(processes[1]);
    EXPECT_EQ(usher_reap(pool), MANY - THREADS);
    end_for_many(pool, name, MANY);
}

/* The process lives; only its lock shows that it has called exec. */
static void a_holder_among_many_that_called_exec_is_found(void)
{
    char name[] = "exec";
    pid_t processes[PROCESSES];
    struct usher_pool *pool = open_for_many(name, MANY + 1);
    seat_many(name, processes);
    pid_t other = scene_start(sit_and_exec, name);
    UNTIL(atomic_load(&board->inside) == MANY + 1);
    atomic_store(&board->flags[0], 1);
    struct usher_seat seat = get_soon(pool); /* the seat that exec freed */
    EXPECT_EQ(usher_release(pool, &seat), 0);
    scene_kill(other);
    for (int p = 0; p < PROCESSES; p++) {
        scene_kill(processes[p]);
    }
    EXPECT_EQ(usher_reap(pool), MANY);
    end_for_many(pool, name, MANY + 1);
}

static void *come_and_meet(void *pool)
{
    struct usher_seat seat = scene_acquire(pool);
    atomic_fetch_add(&board->inside, 1);
    UNTIL(atomic_load(&board->inside) >= MANY);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    return NULL;
}

static void rows_of_ended_threads_are_used_again(void)
{
    pthread_t threads[MANY];
    struct usher_pool *pool = open_for_many("rows", MANY);
    for (int round = 0; round < 3; round++) {
        atomic_store(&board->inside, 0);
        for (int t = 0; t < MANY; t++) {
            EXPECT_EQ(pthread_create(&threads[t], NULL, come_and_meet, pool), 0);
        }
        for (int t = 0; t < MANY; t++) {
            EXPECT_EQ(pthread_join(threads[t], NULL), 0);
        }
        EXPECT_EQ(scene_info(pool).guests_used, MANY);
    }
    EXPECT_EQ(scene_info(pool).served, 3 * MANY);
    end_for_many(pool, "rows", MANY);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        stay();
    }
    scene_begin();
    RUN(the_dead_are_found_among_many_live_guests);
    RUN(a_waiter_finds_every_dead_guest_among_many);
    RUN(a_holder_among_many_that_called_exec_is_found);
    RUN(rows_of_ended_threads_are_used_again);
    return 0;
}
