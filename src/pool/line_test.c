/* About how many wait, for every number of seats that are free, taken, and waited for. */
#include "pool/pool.h"
#include "sitters.h"

enum { SEATS = 7, WAITERS = 5, MANY = 200 };

/* With seats free the line's end is before its beginning, by as many places. */
static void free_seats_are_no_waiters(void)
{
    struct usher_pool *pool = open_pool(SEATS);
    struct sitter sitters[SEATS];
    for (int held = 0; held <= SEATS; held++) {
        EXPECT_EQ(usher__line_waiters(pool), 0);
        EXPECT_EQ(usher__line_ahead(pool), 0);
        if (held < SEATS) {
            memset((void *)&sitters[held], 0, sizeof sitters[held]);
            sitters[held].pool = pool;
            sitters[held].thread = start(sit, &sitters[held]);
            UNTIL(atomic_load(&sitters[held].done) != 0);
        }
    }
    for (int held = 0; held < SEATS; held++) {
        leave(&sitters[held]);
        EXPECT_EQ(usher__line_waiters(pool), 0);
    }
    finish(pool);
}

static void those_who_wait_are_counted(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct sitter sitters[WAITERS];
    for (unsigned i = 0; i < WAITERS; i++) {
        queue_up(&sitters[i], pool);
        EXPECT_EQ(usher__line_waiters(pool), i + 1);
        EXPECT_EQ(usher__line_ahead(pool), i + 1);
    }
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < WAITERS; i++) {
        leave(&sitters[i]);
    }
    EXPECT_EQ(usher__line_waiters(pool), 0);
    finish(pool);
}

/* Of a line longer than what is looked at, the rest is reckoned. */
static void of_a_long_line_the_rest_is_reckoned(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    static struct sitter sitters[MANY];
    for (int i = 0; i < MANY; i++) {
        queue_up(&sitters[i], pool);
    }
    uint32_t about = usher__line_waiters(pool);
    EXPECT(about >= MANY && about <= MANY + 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (int i = 0; i < MANY; i++) {
        leave(&sitters[i]);
    }
    finish(pool);
}

int main(void)
{
    scene_begin();
    RUN_BOTH(free_seats_are_no_waiters);
    RUN_BOTH(those_who_wait_are_counted);
    RUN_BOTH(of_a_long_line_the_rest_is_reckoned);
    return 0;
}
