/* Which seat a guest gets: the one released last; a guest that has held a seat before gets that one
   again if it is free. */
#include "pool/pool.h"
#include "sitters.h"

enum { SEATS = 3, ROUNDS = 6 };

struct visitor {
    struct usher_pool *pool;
    atomic_int asked, done;
    uint32_t seats[ROUNDS];
    pthread_t thread;
};

/* Acquire and release once for each command. */
static void *visit(void *context)
{
    struct visitor *self = context;
    for (int round = 0; round < ROUNDS; round++) {
        while (atomic_load(&self->asked) <= round) {
            scene_pause_us(50);
        }
        struct usher_seat seat = scene_acquire(self->pool);
        self->seats[round] = seat.number;
        EXPECT_EQ(usher_release(self->pool, &seat), 0);
        atomic_store(&self->done, round + 1);
    }
    return NULL;
}

static void in_turns(struct visitor *visitors, int count, struct usher_pool *pool)
{
    memset((void *)visitors, 0, (size_t)count * sizeof *visitors);
    for (int v = 0; v < count; v++) {
        visitors[v].pool = pool;
        visitors[v].thread = start(visit, &visitors[v]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int v = 0; v < count; v++) {
            atomic_store(&visitors[v].asked, round + 1);
            UNTIL(atomic_load(&visitors[v].done) == round + 1);
        }
    }
    for (int v = 0; v < count; v++) {
        join(visitors[v].thread);
    }
}

/* A guest that enters for the first time gets the seat that was released last. Later each guest has
   a seat of its own: sharing one would cost a cache miss each time. */
static void guests_that_take_turns_get_a_seat_each(void)
{
    struct usher_pool *pool = open_pool(SEATS);
    struct visitor visitors[SEATS];
    in_turns(visitors, SEATS, pool);
    for (int v = 0; v < SEATS; v++) {
        EXPECT_EQ(visitors[v].seats[0], 0);
        EXPECT_EQ(visitors[v].seats[ROUNDS - 1], visitors[v].seats[ROUNDS - 2]);
        for (int other = 0; other < v; other++) {
            EXPECT(visitors[v].seats[ROUNDS - 1] != visitors[other].seats[ROUNDS - 1]);
        }
    }
    finish(pool);
}

/* With fewer seats than guests some must share. */
static void guests_that_outnumber_the_seats_share_them(void)
{
    struct usher_pool *pool = open_pool(SEATS - 1);
    struct visitor visitors[SEATS];
    in_turns(visitors, SEATS, pool);
    for (int v = 0; v < SEATS; v++) {
        EXPECT_EQ(visitors[v].seats[0], 0);
        for (int round = 0; round < ROUNDS; round++) {
            EXPECT(visitors[v].seats[round] < SEATS - 1);
        }
    }
    finish(pool);
}

/* Without an I that it has published, a guest has no repeat path. */
static void *wait_then_come_again(void *context)
{
    struct visitor *self = context;
    struct usher_seat seat = scene_acquire(self->pool); /* it waits */
    EXPECT_EQ(usher_release(self->pool, &seat), 0);
    const struct guest *guest = usher__mine.last.guest;
    EXPECT(guest->i == POOL_NOTHING && guest->v == POOL_NOTHING);
    seat = scene_acquire(self->pool);
    EXPECT_EQ(usher_release(self->pool, &seat), 0);
    EXPECT(guest->i != POOL_NOTHING && guest->v != POOL_NOTHING);
    return NULL;
}

static void a_guest_that_waited_does_not_take_the_repeat_path_next(void)
{
    struct usher_pool *pool = open_pool(1);
    struct usher_seat seat = scene_acquire(pool);
    struct visitor visitor = {.pool = pool};
    pthread_t thread = start(wait_then_come_again, &visitor);
    UNTIL(scene_info(pool).waiters == 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    join(thread);
    finish(pool);
}

int main(void)
{
    scene_begin();
    RUN_BOTH(guests_that_take_turns_get_a_seat_each);
    RUN_BOTH(guests_that_outnumber_the_seats_share_them);
    RUN_BOTH(a_guest_that_waited_does_not_take_the_repeat_path_next);
    return 0;
}
