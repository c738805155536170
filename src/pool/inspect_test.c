/*
 * What usher.h promises of usher_inspect, usher_history and usher_verify; tickets and times.
 */
#include "sitters.h"

#include <limits.h>
#include <unistd.h>

/* Every field of every guest. */
static void inspecting_shows_holders_by_seat_and_waiters_in_order(void)
{
    int64_t began = scene_now_ns();
    struct usher_pool *pool = open_with((struct usher_options){.seats = 3, .flags = USHER_TIMES});
    struct usher_seat held[3] = {scene_acquire(pool), scene_acquire(pool), scene_acquire(pool)};
    struct sitter waiters[5];
    struct usher_guest guests[12];
    struct usher_info info;
    for (int i = 0; i < 5; i++) {
        queue_up(&waiters[i], pool);
    }
    bool noted;
    do { /* each waiter records its time as soon as it waits */
        memset(guests, 0xff, sizeof guests);
        memset(&info, 0xff, sizeof info);
        EXPECT_EQ(usher_inspect(pool, &info, guests, 12), 8);
        noted = true;
        for (int g = 0; g < 8; g++) {
            noted = noted && guests[g].since_ns != 0;
        }
    } while (!noted);
    EXPECT_EQ(info.seats, 3);
    EXPECT_EQ(info.free, 0);
    EXPECT_EQ(info.owed, 0);
    EXPECT_EQ(info.holders, 3);
    EXPECT_EQ(info.waiters, 5);
    EXPECT_EQ(info.guests, 1024);
    EXPECT_EQ(info.guests_used, with_file ? 8 : 0);
    EXPECT(info.most_seats >= 3);
    EXPECT_EQ(info.served + info.gave_up + info.reaped, 0);
    for (uint32_t g = 0; g < 8; g++) {
        EXPECT_EQ(guests[g].pid, with_file ? getpid() : 0);
        EXPECT_EQ(guests[g].alive, 1);
        EXPECT(guests[g].since_ns >= began && guests[g].since_ns <= scene_now_ns());
        EXPECT_EQ(guests[g].position, g < 3 ? 0 : g - 2);
        EXPECT_EQ(guests[g].seat, g < 3 ? g : UINT32_MAX);
        EXPECT_EQ(guests[g].reserved[0] | guests[g].fence, 0);
        if (g >= 3) { /* the first in line has waited longest */
            EXPECT(guests[g].ticket > guests[g - 1].ticket || g == 3);
            EXPECT(g == 3 || guests[g].since_ns >= guests[g - 1].since_ns);
        } else {
            for (int h = 0; h < 3; h++) {
                EXPECT(held[h].number != g || held[h].ticket == guests[g].ticket);
            }
        }
    }
    EXPECT_EQ(guests[8].position, UINT32_MAX); /* no entry beyond is written */
    memset(guests, 0xff, sizeof guests);
    /* more guests than the array has room for */
    EXPECT_EQ(usher_inspect(pool, NULL, guests, 5), 8);
    EXPECT_EQ(guests[4].position, 2);
    EXPECT_EQ(guests[5].position, UINT32_MAX);
    EXPECT_EQ(usher_inspect(pool, NULL, NULL, 0), 8);
    EXPECT_EQ(usher_inspect(pool, NULL, NULL, 99), 8);
    EXPECT_EQ(usher_inspect(pool, &info, guests, 0), 8);
    for (int h = 0; h < 3; h++) {
        EXPECT_EQ(usher_release(pool, &held[h]), 0);
    }
    for (int i = 0; i < 5; i++) {
        UNTIL(atomic_load(&waiters[i].done));
        leave(&waiters[i]);
    }
    info = scene_info(pool);
    EXPECT_EQ(info.served, 8);
    EXPECT_EQ(info.gave_up, 0);
    EXPECT_EQ(info.holders + info.waiters, 0);
    finish(pool);
}

static void since_ns_is_right_or_zero(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_guest guest;
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
    EXPECT_EQ(guest.since_ns, 0); /* it did not wait, and the pool records no times */
    struct sitter waiter;
    queue_up(&waiter, pool);
    int64_t before = scene_now_ns();
    EXPECT_EQ(usher_release(pool, &seat), 0);
    UNTIL(atomic_load(&waiter.done));
    EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
    /* when it began to hold, not when it began to wait */
    EXPECT(guest.since_ns == 0 || guest.since_ns >= before);
    leave(&waiter);
    /* The same guest enters without waiting. The time of its earlier wait is not reported. */
    before = scene_now_ns();
    struct sitter again = {.pool = pool};
    again.thread = start(sit, &again);
    UNTIL(atomic_load(&again.done));
    EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
    EXPECT(guest.since_ns == 0 || guest.since_ns >= before);
    leave(&again);
    finish(pool);
}

static void the_history_has_the_last_released_seats(void)
{
    struct usher_past past[300];
    struct usher_pool *pool = open_with((struct usher_options){.seats = 2, .flags = USHER_TIMES});
    int64_t began = scene_now_ns();
    EXPECT_EQ(usher_history(pool, past, 300), 0);
    for (int i = 0; i < 300; i++) {
        struct usher_seat seat = scene_acquire(pool);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        int recorded = usher_history(pool, past, 300);
        EXPECT_EQ(recorded, i < 219 ? i + 1 : 220);
        EXPECT(past[0].ended_ns >= began && past[0].ended_ns <= scene_now_ns());
        EXPECT(past[recorded - 1].ended_ns >= began &&
               past[recorded - 1].ended_ns <= past[0].ended_ns);
        EXPECT_EQ(past[0].waited_ms, 0);
    }
    struct usher_seat seats[2] = {scene_acquire(pool), scene_acquire(pool)};
    struct sitter waiter;
    queue_up(&waiter, pool);
    struct usher_guest guests[3];
    do { /* the wait is measured from the time that is recorded then */
        EXPECT_EQ(usher_inspect(pool, NULL, guests, 3), 3);
    } while (guests[2].since_ns == 0);
    scene_pause_us(31000);
    EXPECT_EQ(usher_release(pool, &seats[0]), 0);
    EXPECT_EQ(usher_history(pool, past, 1), 220);
    EXPECT(past[0].held_ms >= 30 && past[0].waited_ms == 0);
    UNTIL(atomic_load(&waiter.done));
    leave(&waiter);
    EXPECT_EQ(usher_history(pool, past, 2), 220);
    EXPECT(past[0].waited_ms >= 30);
    EXPECT(past[0].ended_ns >= past[1].ended_ns);
    EXPECT_EQ(usher_release(pool, &seats[1]), 0);
    EXPECT_EQ(usher_history(pool, NULL, 0), 220);
    finish(pool);
    pool = open_pool(1); /* a handle without USHER_TIMES adds nothing to the history */
    seats[0] = scene_acquire(pool);
    EXPECT_EQ(usher_release(pool, &seats[0]), 0);
    EXPECT_EQ(usher_history(pool, past, 300), 0);
    finish(pool);
}

static void usher_directory_returns_the_directory_of_names(void)
{
    char path[256];
    EXPECT_EQ(usher_directory(path, sizeof path), 0);
    EXPECT(strcmp(path, scene_directory()) == 0);
    size_t length = strlen(path);
    for (size_t room = 0; room <= length; room++) {
        EXPECT_EQ(usher_directory(path, room), -ENAMETOOLONG);
    }
    EXPECT_EQ(usher_directory(path, length + 1), 0);
}

static void the_path_of_a_pool_is_relative_if_its_name_is(void)
{
    struct usher_pool *pool;
    char before[PATH_MAX];
    EXPECT(getcwd(before, sizeof before) != NULL);
    EXPECT_EQ(chdir(scene_directory()), 0);
    EXPECT_EQ(usher_open(&pool, "./relative", NULL), 0);
    EXPECT(strcmp(usher_path(pool), "./relative") == 0);
    usher_close(pool);
    EXPECT_EQ(usher_remove("./relative"), 0);
    EXPECT_EQ(chdir(before), 0);
}

static void a_local_seat_is_never_lost(void)
{
    struct usher_pool *pool = open_pool(2);
    struct usher_seat seat = scene_acquire(pool);
    struct usher_seat other = seat;
    struct usher_lease lease = {0};
    EXPECT_EQ(usher_check(pool, &seat, &lease), 0);
    EXPECT_EQ(lease.fence, seat.ticket);
    EXPECT_EQ(lease.left_ns, INT64_MAX);
    other.number++;
    EXPECT_EQ(usher_check(pool, &other, &lease), -EPERM);
    EXPECT_EQ(usher_check(pool, &(struct usher_seat){0}, &lease), -EPERM);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    EXPECT_EQ(usher_check(pool, &seat, &lease), -EPERM);
    finish(pool);
}

static void hear(void *context, const char *sentence)
{
    (void)sentence;
    ++*(int *)context;
}

static void a_pool_in_use_passes_verify(void)
{
    struct usher_pool *pool = open_pool(3);
    struct usher_seat seats[3];
    struct sitter waiters[3];
    int heard = 0;
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(usher_verify(pool, hear, &heard), 0);
        seats[i] = scene_acquire(pool);
    }
    for (int i = 0; i < 3; i++) {
        queue_up(&waiters[i], pool);
        EXPECT_EQ(usher_verify(pool, hear, &heard), 0);
    }
    EXPECT_EQ(usher_resize(pool, 1), 0);
    EXPECT_EQ(usher_verify(pool, hear, &heard), 0);
    EXPECT_EQ(usher_resize(pool, 5), 0);
    UNTIL(atomic_load(&waiters[0].done) && atomic_load(&waiters[1].done));
    EXPECT_EQ(usher_verify(pool, hear, &heard), 0);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(usher_release(pool, &seats[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        UNTIL(atomic_load(&waiters[i].done));
        leave(&waiters[i]);
    }
    EXPECT_EQ(usher_verify(pool, NULL, NULL), 0);
    EXPECT_EQ(heard, 0);
    finish(pool);
}

static void the_tickets_of_holders_and_waiters_count_up(void)
{
    struct usher_pool *pool = open_pool(2);
    struct usher_seat seat;
    uint64_t last = 0;
    for (int i = 0; i < 70000; i++) { /* more than 16 bits can count */
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
        EXPECT_EQ(seat.ticket, last + 1);
        last = seat.ticket;
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
    struct usher_guest guest;
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
    EXPECT_EQ(guest.ticket, seat.ticket);
    EXPECT_EQ(scene_info(pool).served, 70000);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    finish(pool);
}

int main(void)
{
    scene_begin();
    RUN_BOTH(inspecting_shows_holders_by_seat_and_waiters_in_order);
    RUN_BOTH(since_ns_is_right_or_zero);
    RUN_BOTH(the_history_has_the_last_released_seats);
    RUN(usher_directory_returns_the_directory_of_names);
    RUN(the_path_of_a_pool_is_relative_if_its_name_is);
    RUN_BOTH(a_local_seat_is_never_lost);
    RUN_BOTH(a_pool_in_use_passes_verify);
    RUN_BOTH(the_tickets_of_holders_and_waiters_count_up);
    return 0;
}
