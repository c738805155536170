/*
 * Staying awake before sleeping (awake.c): when a waiter yields, for how long, and that futile
 * attempts take little of its time. The test replaces the clock, yields and the number of
 * processors (-Wl,--wrap), so the load of the machine does not matter.
 */
#include "os/os.h"
#include "test.h"
#include "wait/wait.h"

enum { PROCESSORS = 4, YIELD_NS = 1000, SECOND_NS = 1000000000 };

static int64_t clock_ns;
static int64_t yield_ns = YIELD_NS;
static unsigned yields;
static unsigned comes_after; /* the turn comes after this many yields; 0: never */

int64_t __wrap_os_now_ns(void);
void __wrap_os_yield(void);
unsigned __wrap_os_processors(void);

int64_t __wrap_os_now_ns(void)
{
    return clock_ns;
}

void __wrap_os_yield(void)
{
    yields++;
    clock_ns += yield_ns;
}

unsigned __wrap_os_processors(void)
{
    return PROCESSORS;
}

static bool has_come(const void *context)
{
    (void)context;
    return comes_after != 0 && yields >= comes_after;
}

static bool stay_awake(struct wait_memory *memory, uint32_t seats)
{
    const struct wait_turn turn = {has_come, NULL};
    yields = 0;
    return usher__wait_awake(&turn, memory, seats, clock_ns);
}

/* A waiter whose last wait took `wait_ns`. */
static struct wait_memory after(int64_t wait_ns)
{
    struct wait_memory memory = {0};
    clock_ns += SECOND_NS;
    usher__wait_ended(&memory, wait_ns);
    return memory;
}

static void the_first_wait_is_asleep(void)
{
    struct wait_memory memory = {0};
    comes_after = 1;
    EXPECT(!stay_awake(&memory, 1));
    EXPECT_EQ(yields, 0);
}

static void a_wait_after_a_short_one_is_awake(void)
{
    struct wait_memory memory = after(1);
    comes_after = 7;
    EXPECT(stay_awake(&memory, 1));
    EXPECT_EQ(yields, 7);
    EXPECT(stay_awake(&memory, PROCESSORS - 1)); /* it paid, so it stays awake again at once */
}

static void a_wait_after_a_long_one_is_asleep(void)
{
    for (uint32_t seats = 1; seats < 2 * PROCESSORS; seats++) {
        struct wait_memory memory = after(SECOND_NS / 100);
        comes_after = 1;
        EXPECT(!stay_awake(&memory, seats));
        EXPECT_EQ(yields, 0);
    }
}

static void with_as_many_seats_as_processors_a_waiter_sleeps_at_once(void)
{
    struct wait_memory memory = after(1);
    comes_after = 1;
    EXPECT(!stay_awake(&memory, PROCESSORS));
    EXPECT_EQ(yields, 0);
}

static void with_more_seats_than_processors_a_waiter_yields_once(void)
{
    struct wait_memory memory = after(1);
    comes_after = 1;
    EXPECT(stay_awake(&memory, PROCESSORS + 1));
    EXPECT_EQ(yields, 1);
    comes_after = 2;
    EXPECT(!stay_awake(&memory, PROCESSORS + 1));
    EXPECT_EQ(yields, 1);
}

static void a_futile_attempt_ends_and_is_not_repeated_at_once(void)
{
    struct wait_memory memory = after(1);
    comes_after = 0;
    int64_t began = clock_ns;
    EXPECT(!stay_awake(&memory, 1));
    EXPECT(yields > 0);
    EXPECT(clock_ns - began < SECOND_NS / 1000); /* far less than a time slice */
    EXPECT(!stay_awake(&memory, 1));
    EXPECT_EQ(yields, 0);
    clock_ns += SECOND_NS;
    EXPECT(!stay_awake(&memory, 1)); /* but later */
    EXPECT(yields > 0);
}

static void futile_attempts_take_little_time(void)
{
    struct wait_memory memory = after(1);
    int64_t began = clock_ns;
    int64_t awake = 0;
    comes_after = 0;
    for (int wait = 0; wait < 20000; wait++) {
        int64_t before = clock_ns;
        EXPECT(!stay_awake(&memory, 1));
        awake += clock_ns - before;
        clock_ns += 50000; /* it sleeps until it is granted a seat */
        usher__wait_ended(&memory, 50000);
    }
    EXPECT(awake > 0);
    EXPECT(awake * 20 < clock_ns - began);
}

/* A yield after which another program keeps the processor for a time slice is futile, even if the
   turn has come. */
static void a_yield_that_costs_a_time_slice_is_futile(void)
{
    static const uint32_t seats[] = {1, PROCESSORS + 1};
    for (int k = 0; k < 2; k++) {
        struct wait_memory memory = after(1);
        comes_after = 1;
        yield_ns = 3000000;
        EXPECT(stay_awake(&memory, seats[k]));
        yield_ns = YIELD_NS;
        EXPECT(!stay_awake(&memory, seats[k]));
        EXPECT_EQ(yields, 0);
    }
}

int main(void)
{
    RUN(the_first_wait_is_asleep);
    RUN(a_wait_after_a_short_one_is_awake);
    RUN(a_wait_after_a_long_one_is_asleep);
    RUN(with_as_many_seats_as_processors_a_waiter_sleeps_at_once);
    RUN(with_more_seats_than_processors_a_waiter_yields_once);
    RUN(a_futile_attempt_ends_and_is_not_repeated_at_once);
    RUN(futile_attempts_take_little_time);
    RUN(a_yield_that_costs_a_time_slice_is_futile);
    return 0;
}
