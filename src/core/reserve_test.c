/*
 * Reserved runs of cycles and questions: no number that a word names or a guest has announced, each
 * number once, and no run if every tag is announced. The shipping build.
 */
#include "core/core.h"

#include "core/fast.h"
#include "core/small_core.h"
#include "test.h"

enum {
    ROWS = 2048,
    SEATS = 4,
    LINE = 8,
    TAGS = 1 << 12,
    WORDS = SMALL_CORE_WORDS(ROWS, LINE, SEATS),
    OWN = 7 /* the row that reserves */
};

static _Atomic uint64_t words[WORDS];
static struct core core;

static void lay_out(void)
{
    core = small_core(words, ROWS, LINE, SEATS, SEATS);
}

/* Reserve the run after `last`. *full: no run exists. */
static struct core_run reserve(enum core_purpose purpose, uint32_t last, bool *full)
{
    return small_core_reserve(&core, OWN, purpose, last, full);
}

/* Is the number in the run? */
static bool has(const struct core_run *run, uint32_t number)
{
    return ((number - run->last - 1) & CORE_CYCLE_MASK) <
           ((run->end - run->last) & CORE_CYCLE_MASK);
}

static void announce(uint32_t row, enum core_slot slot, uint32_t announced)
{
    atomic_store(core__announced(&core, row, slot), announced);
}

/* Reserve runs from `last` on until every tag was met once: exactly the tags not named are in a
   run. */
static void expect_all_but(enum core_purpose purpose, uint32_t last, const bool *named)
{
    uint32_t begin = last;
    while (last - begin < TAGS) {
        bool full;
        struct core_run run = reserve(purpose, last, &full);
        EXPECT(!full);
        EXPECT(run.end != run.last);
        for (uint32_t number = last + 1; number != run.end + 1; number++) {
            EXPECT_EQ(has(&run, number), !named[number % TAGS] && number > run.last);
        }
        for (uint32_t skipped = last + 1; skipped <= run.last; skipped++) {
            EXPECT(named[skipped % TAGS]);
        }
        last = run.end;
    }
}

static void a_run_has_no_tag_that_is_announced(void)
{
    static bool named[TAGS];
    static const uint32_t tags[] = {0, 1, 2, 77, 78, 500, 4094, 4095};
    lay_out();
    for (unsigned t = 0; t < sizeof tags / sizeof tags[0]; t++) {
        named[tags[t]] = true;
        announce(100 * t, (enum core_slot)(t % CORE_SLOTS), core_announced_cycle(OWN, tags[t]));
        /* announcements of another row, or of questions, do not matter */
        announce(100 * t + 1, CORE_SLOT_TOP, core_announced_cycle(OWN + 1, 300));
        announce(100 * t + 2, CORE_SLOT_TOP, core_announced_question(OWN, 300));
    }
    expect_all_but(CORE_TO_ENTER, 10, named);
    expect_all_but(CORE_TO_WAIT, 3 * TAGS + 76, named);
}

static void a_run_has_no_tag_that_i_v_or_k_name(void)
{
    static bool named[TAGS];
    lay_out();
    atomic_store(&words[CORE_AT_I(&core)], core_i(9, OWN, 20));
    atomic_store(&words[CORE_AT_V(&core)], core_v(9, 0, OWN, 30));
    atomic_store(&words[CORE_AT_K(&core)], core_k(4, OWN, 40));
    named[20] = named[30] = named[40] = true;
    expect_all_but(CORE_TO_ENTER, 5 * TAGS, named);
}

static void nobody_waits_in_a_cycle_that_the_line_names(void)
{
    bool full;
    lay_out();
    for (uint32_t verdict = CORE_UNDECIDED; verdict <= CORE_CLEARED; verdict++) {
        uint32_t cycle = 1000 + 100 * verdict;
        atomic_store(&words[core.at_line + 3],
                     core_line(3, OWN, cycle, (enum core_verdict)verdict));
        struct core_run run = reserve(CORE_TO_WAIT, 900, &full);
        EXPECT(!full && run.line);
        EXPECT_EQ(run.end, cycle - 1);
        run = reserve(CORE_TO_WAIT, cycle - 1, &full);
        EXPECT(!full && !has(&run, cycle) && has(&run, cycle + 1));
        run = reserve(CORE_TO_ENTER, 900, &full);
        EXPECT(!run.line && has(&run, cycle));
        /* another cycle with the same tag is allowed */
        run = reserve(CORE_TO_WAIT, 900 + TAGS, &full);
        EXPECT(has(&run, cycle + TAGS));
    }
}

static void no_question_has_a_number_that_a_seat_has(void)
{
    bool full;
    lay_out();
    atomic_store(&words[core.at_seat + 2], core_seat(1, OWN, 50));
    atomic_store(&words[core.at_seat + 3], core_seat(OWN, 1, 45));
    announce(3, CORE_SLOT_PLACE, core_announced_question(OWN, 60));
    announce(4, CORE_SLOT_PLACE, core_announced_cycle(OWN, 40));
    struct core_run run = reserve(CORE_TO_ASK, 30, &full);
    EXPECT_EQ(run.end, 49);
    run = reserve(CORE_TO_ASK, 49, &full);
    EXPECT_EQ(run.last, 50);
    EXPECT_EQ(run.end, 59);
}

/* Cycles wrap. */
static void the_last_cycle_is_followed_by_the_first(void)
{
    bool full;
    lay_out();
    struct core_run run = reserve(CORE_TO_WAIT, CORE_CYCLE_MASK - 2, &full);
    EXPECT_EQ(run.end, CORE_CYCLE_MASK);
    run = reserve(CORE_TO_WAIT, CORE_CYCLE_MASK, &full);
    EXPECT(!full && has(&run, 0) && has(&run, 100) && !has(&run, CORE_CYCLE_MASK));
}

static void no_run_exists_while_every_tag_is_announced(void)
{
    bool full;
    lay_out();
    for (uint32_t tag = 0; tag < TAGS; tag++) {
        announce(OWN + 1 + tag / CORE_SLOTS, (enum core_slot)(tag % CORE_SLOTS),
                 core_announced_cycle(OWN, tag));
    }
    struct core_run run = reserve(CORE_TO_ENTER, 5, &full);
    EXPECT(full && run.last == 5 && run.end == 5);
    struct core_take take;
    CORE_FRESH(take);
    take.row = OWN;
    take.run = (struct core_run){5, 5, false};
    take.seat = CORE_NO_SEAT;
    (void)core_take(&core, &take);
    EXPECT(take.full && !take.granted);
    EXPECT_EQ(core_row_state(atomic_load(&words[core__row_at(&core, OWN)])), CORE_IDLE);
    announce(OWN + 1 + 300 / CORE_SLOTS, (enum core_slot)(300 % CORE_SLOTS), 0);
    run = reserve(CORE_TO_ENTER, 5, &full);
    EXPECT(!full && run.last == 299 && run.end == 300);
    CORE_FRESH(take);
    take.row = OWN;
    take.run = (struct core_run){5, 5, false};
    take.seat = CORE_NO_SEAT;
    (void)core_take(&core, &take);
    EXPECT(take.granted && take.run.last == 300);
}

int main(void)
{
    RUN(a_run_has_no_tag_that_is_announced);
    RUN(a_run_has_no_tag_that_i_v_or_k_name);
    RUN(nobody_waits_in_a_cycle_that_the_line_names);
    RUN(no_question_has_a_number_that_a_seat_has);
    RUN(the_last_cycle_is_followed_by_the_first);
    RUN(no_run_exists_while_every_tag_is_announced);
    return 0;
}
