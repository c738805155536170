/*
 * An operation relies on nothing in its frame but what its caller has set. This is built with
 * CORE_COUNTED, where CORE_FRESH fills frames with what would be noticed; here are those of
 * core_take's fields that matter only where libusher hardly ever comes.
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

/* The seats are taken, and as many wait as there are places; the first to wait is row SEATS. */
static void fill_the_line(void)
{
    lay_out();
    for (uint32_t row = 0; row < SEATS + LINE - 1; row++) {
        struct core_take f = take(row);
        EXPECT(!f.full);
        EXPECT_EQ(f.granted, row < SEATS);
    }
}

/* Where a ticket is free it is entered with at once: not taken for nobody, as what is owed is, nor
   by way of a place in line. */
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

static void a_full_line_is_said_to_be(void)
{
    fill_the_line();
    struct core_take f = take(ROWS - 1);
    EXPECT(f.full && !f.granted);
    EXPECT_EQ(core_row_state(row_word(ROWS - 1)), CORE_IDLE);
}

/* One in the middle gave up, and died before it made its place the last: whoever comes next does
   that, and has it. */
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
    RUN(a_full_line_is_said_to_be);
    RUN(a_line_with_a_hole_is_not_full);
    return 0;
}
