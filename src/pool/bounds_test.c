/*
 * Row and seat numbers in the file that are out of range, at the places where the library uses them
 * as an index and that few pools reach. Each would lead beyond the pool, which lies between two
 * fences. damage_test and the fuzz targets write random words and hardly ever reach these places.
 */
#include "sitters.h"

#include "pool/pool.h"

enum { BEYOND = 60000 };

static struct usher_pool *open_fenced(uint32_t seats, uint32_t guests)
{
    struct usher_options options = {.seats = seats, .guests = guests};
    struct usher_pool *pool;
    EXPECT_EQ(usher_open(&pool, "pool", &options), 0);
    scene_fence(pool);
    return pool;
}

static void discard(struct usher_pool *pool)
{
    usher_close(pool);
    EXPECT_EQ(usher_discard("pool"), 0);
}

/* With many seats, usher_try_acquire first checks whether a seat seems free. */
static void a_seat_that_names_no_row_leads_nowhere(void)
{
    enum { SEATS = 70 };
    struct usher_pool *pool = open_fenced(SEATS, 2 * SEATS);
    struct usher_seat seat;
    _Atomic uint64_t *seats = &pool->core.words[pool->core.at_seat];
    for (uint32_t s = 0; s < SEATS; s++) {
        atomic_store(&seats[s], core_seat(BEYOND, CORE_NOBODY, 0));
    }
    int error = usher_try_acquire(pool, &seat);
    EXPECT(error == -EUCLEAN || (error == 0 && seat.number < SEATS));
    discard(pool);
}

/* The repeat path compares I and V with what the guest published last. A guest that has published
   nothing compares them with POOL_NOTHING, and here I and V have that value. The seat hint of its
   row is out of range. */
static void a_seat_hint_out_of_range_is_not_used(void)
{
    struct usher_pool *pool = open_fenced(1, 8);
    struct sitter holder = {.pool = pool};
    struct usher_seat seat;
    holder.thread = start(sit, &holder);
    UNTIL(atomic_load(&holder.done));
    for (uint32_t row = 1; row < 8; row++) {
        atomic_store(&pool->rows[row].seat_hint, core_hint(BEYOND, 0));
    }
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EAGAIN);
    /* the next ticket is 0, and its place in the line is recent */
    atomic_store(&pool->core.words[pool->core.at_line], core_line(5, CORE_NOBODY, 0, CORE_SERVED));
    uint64_t i = atomic_exchange(&pool->core.words[CORE_AT_I(&pool->core)], POOL_NOTHING);
    uint64_t v = atomic_exchange(&pool->core.words[CORE_AT_V(&pool->core)], POOL_NOTHING);
    int error = usher_try_acquire(pool, &seat);
    EXPECT(error != 0 || seat.number < pool->core.seats);
    atomic_store(&pool->core.words[CORE_AT_I(&pool->core)], i);
    atomic_store(&pool->core.words[CORE_AT_V(&pool->core)], v);
    leave(&holder);
    discard(pool);
}

/* The place in line of the waiter in row 0 names a row that does not exist. Row 0 is granted the
   seat, but the row to wake is unknown. */
static void a_waiter_whose_place_names_no_row_is_served(void)
{
    struct usher_pool *pool = open_fenced(1, 8);
    const struct core *core = &pool->core;
    struct sitter waiter;
    struct sitter holder = {.pool = pool};
    /* owned for the moment, so that the holder takes another row */
    atomic_store(&pool->rows[0].owner, 1);
    holder.thread = start(sit, &holder);
    UNTIL(atomic_load(&holder.done));
    atomic_store(&pool->rows[0].owner, 0);
    pool->claimed = 0;
    queue_up(&waiter, pool);
    UNTIL(atomic_load(&pool->rows[0].watch) & FORMAT_WAITS); /* the waiter sleeps, or is about to */
    uint32_t ticket = core_i_issue(atomic_load(&core->words[CORE_AT_I(core)]));
    _Atomic uint64_t *place = &core->words[core->at_line + (ticket & core->line_mask)];
    uint64_t entry = atomic_load(place);
    EXPECT_EQ(core_line_row(entry), 0);
    atomic_store(
        place, core_line(core_line_ticket(entry), BEYOND, core_line_cycle(entry), CORE_UNDECIDED));
    leave(&holder);
    UNTIL(atomic_load(&waiter.done)); /* it finds the grant by itself */
    EXPECT_EQ(waiter.result, 0);
    leave(&waiter);
    discard(pool);
}

static void a_pool_with_too_many_seats_is_not_resized(void)
{
    struct usher_pool *pool = open_fenced(1, 8);
    _Atomic uint64_t *k = &pool->core.words[CORE_AT_K(&pool->core)];
    uint64_t before = atomic_exchange(k, core_k(pool->core.seats + 1, CORE_NOBODY, 0));
    for (uint32_t seats = 0; seats <= pool->core.seats; seats++) {
        EXPECT_EQ(usher_resize(pool, seats), -EUCLEAN);
    }
    EXPECT_EQ(usher_resize(pool, pool->core.seats + 1), -ERANGE);
    EXPECT_EQ(core_k_seats(atomic_exchange(k, before)), pool->core.seats + 1);
    EXPECT_EQ(usher_resize(pool, 2), 0);
    discard(pool);
}

int main(void)
{
    scene_begin();
    RUN(a_seat_that_names_no_row_leads_nowhere);
    RUN(a_seat_hint_out_of_range_is_not_used);
    RUN(a_waiter_whose_place_names_no_row_is_served);
    RUN(a_pool_with_too_many_seats_is_not_resized);
    return 0;
}
