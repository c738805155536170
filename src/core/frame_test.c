/*
 * An operation uses nothing in its frame that its caller has not set. This test is built with
 * CORE_COUNTED, in which CORE_FRESH fills frames with a pattern. It covers those fields of
 * core_take that matter only on paths that libusher hardly ever takes.
 */
#include "core/core.h"

#include "core/fast.h"
#include "core/small_core.h"
#include "test.h"

enum { ROWS = 8, SEATS = 2, LINE = 4, WORDS = SMALL_CORE_WORDS(ROWS, LINE, SEATS) };

static _Atomic uint64_t words[WORDS];
static struct core core;

void core_counted(void)
{
}

static void lay_out(void)
{
    core = small_core(words, ROWS, LINE, SEATS, SEATS);
}

static uint64_t row_word(uint32_t row)
{
    return atomic_load(&words[core__row_at(&core, row)]);
}

static struct core_take take(uint32_t row)
{
    struct core_take f;
    CORE_FRESH(f);
    f.row = row;
    uint32_t cycle = core_row_cycle(row_word(row));
    f.run = (struct core_run){cycle, cycle, false};
    f.seat = CORE_NO_SEAT;
    (void)core_take(&core, &f);
    return f;
}

/* All seats are taken, and every place has a waiter. The first waiter is row SEATS. */
static void fill_the_line(void)
{
    lay_out();
    for (uint32_t row = 0; row < SEATS + LINE - 1; row++) {
        struct core_take f = take(row);
        EXPECT(!f.full);
        EXPECT_EQ(f.granted, row < SEATS);
    }
}

/* If a ticket is valid, a guest enters with it: not as core_enter with `absorb`, and without a
   place in the line. */
static void a_free_ticket_needs_no_place(void)
{
    lay_out();
    for (uint32_t row = 0; row < SEATS; row++) {
        struct core_take f = take(row);
        EXPECT(f.granted && f.enter.granted && !f.full);
        EXPECT_EQ(core_row_state(row_word(row)), CORE_ENTERING);
        EXPECT_EQ(f.ticket, row + 1);
    }
}

static void a_full_line_is_reported(void)
{
    fill_the_line();
    struct core_take f = take(ROWS - 1);
    EXPECT(f.full && !f.granted);
    EXPECT_EQ(core_row_state(row_word(ROWS - 1)), CORE_IDLE);
}

/* A waiter in the middle gave up, and died before it moved its hole to the end of the line. The
   next guest moves the hole and adopts it. */
static void a_line_with_a_hole_is_not_full(void)
{
    fill_the_line();
    uint64_t second = row_word(SEATS + 1);
    EXPECT_EQ(core_row_state(second), CORE_WAITING);
    atomic_store(&words[core__row_at(&core, SEATS + 1)],
                 core_row(CORE_IDLE, core_row_cycle(second), 0));
    struct core_take f = take(ROWS - 1);
    EXPECT(!f.full && !f.granted);
    EXPECT_EQ(core_row_state(row_word(ROWS - 1)), CORE_WAITING);
    f = take(SEATS + 1);
    EXPECT(f.full);
}

int main(void)
{
    RUN(a_free_ticket_needs_no_place);
    RUN(a_full_line_is_reported);
    RUN(a_line_with_a_hole_is_not_full);
    return 0;
}
