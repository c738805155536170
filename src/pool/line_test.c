/* usher__line_waiters and usher__line_ahead, with free seats, with waiters, and with a long line.
   */
#include "pool/pool.h"
#include "sitters.h"

enum { SEATS = 7, WAITERS = 5, MANY = 200 };

/* With free seats VALID is beyond ISSUE: the line has a negative length. */
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

static void waiters_are_counted(void)
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

/* A line that is longer than the sample is extrapolated. */
static void a_long_line_is_extrapolated(void)
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
    RUN_BOTH(waiters_are_counted);
    RUN_BOTH(a_long_line_is_extrapolated);
    return 0;
}
