/*
 * Reading a word to rely on it, and reserving tags, while other guests change what is read. Built
 * with CORE_COUNTED: core_counted is called before each access, and makes the change.
 *
 * Built without one of the guards (tests/CMakeLists.txt: get_without_*), this test must fail.
 */
#include "core/core.h"

#include "core/parts.h"
#include "core/small_core.h"
#include "test.h"

enum { ROWS = 8, SEATS = 2, LINE = 4, WORDS = SMALL_CORE_WORDS(ROWS, LINE, SEATS), OWN = 5 };

static _Atomic uint64_t words[WORDS];
static struct core core;

static unsigned accesses, at_access;
static void (*change)(void);

void core_counted(void)
{
    if (++accesses == at_access && change != NULL) {
        change();
    }
}

/* Call `happens` before the n-th access from now on. */
static void before_access(unsigned n, void (*happens)(void))
{
    accesses = 0;
    at_access = n;
    change = happens;
}

static void lay_out(void)
{
    core = small_core(words, ROWS, LINE, SEATS, SEATS);
}

/* A word of one kind, with the values of two authors, and the announcement of the second. */
struct subject {
    enum core_kind kind;
    enum core_slot slot;
    uint32_t at, row;
    uint64_t first, second;
    uint32_t announced;
};

static const struct subject *subject;

static void replace(void)
{
    atomic_store(&words[subject->at], subject->second);
}

/* A word is replaced after the first read and before the announcement. The value returned was in
   the word after its author was announced. */
static void a_word_is_relied_on_only_if_it_was_there_after_it_was_announced(void)
{
    lay_out();
    const uint32_t cycle = core_announced_cycle(2, 22);
    const struct subject subjects[] = {
        {CORE_WORD_I, CORE_SLOT_TOP, CORE_AT_I(&core), 0, core_i(7, 1, 11), core_i(8, 2, 22),
         cycle},
        {CORE_WORD_V, CORE_SLOT_TOP, CORE_AT_V(&core), 0, core_v(7, 0, 1, 11), core_v(8, 0, 2, 22),
         cycle},
        {CORE_WORD_K, CORE_SLOT_PLACE, CORE_AT_K(&core), 0, core_k(2, 1, 11), core_k(1, 2, 22),
         cycle},
        {CORE_WORD_LINE, CORE_SLOT_PLACE, core__line_at(&core, 3), 0,
         core_line(3, 1, 11, CORE_UNDECIDED), core_line(3, 2, 22, CORE_SERVED), cycle},
        {CORE_WORD_SEAT, CORE_SLOT_PLACE, core.at_seat + 1, 0, core_seat(3, 1, 11),
         core_seat(3, 2, 22), core_announced_question(2, 22)},
        {CORE_WORD_ROW, CORE_SLOT_DEAD, core__row_at(&core, 2), 2, core_row(CORE_WAITING, 11, 3),
         core_row(CORE_GRANTED, 22, 3), cycle},
    };
    for (size_t s = 0; s < sizeof subjects / sizeof subjects[0]; s++) {
        struct core_get get;
        uint64_t x;
        subject = &subjects[s];
        lay_out();
        atomic_store(&words[subject->at], subject->first);
        before_access(2, replace);
        (void)core__get(&core, &get, OWN, subject->slot, subject->kind, subject->row, subject->at,
                        &x);
        EXPECT_EQ(x, subject->second);
        EXPECT_EQ(atomic_load(core__announced(&core, OWN, subject->slot)), subject->announced);
    }
}

/* A word that the guest itself published cannot return, so it is not announced. */
static void ones_own_words_are_not_announced(void)
{
    struct core_get get;
    uint64_t x;
    lay_out();
    atomic_store(&words[CORE_AT_I(&core)], core_i(7, OWN, 11));
    before_access(0, NULL);
    (void)core__get_i(&core, &get, OWN, &x);
    EXPECT_EQ(accesses, 1);
    EXPECT_EQ(atomic_load(core__announced(&core, OWN, CORE_SLOT_TOP)), 0);
}

static struct core_run reserve(enum core_purpose purpose, uint32_t last)
{
    bool full;
    struct core_run run = small_core_reserve(&core, OWN, purpose, last, &full);
    EXPECT(!full);
    return run;
}

static bool may_use(const struct core_run *run, uint32_t number)
{
    return number > run->last && number <= run->end;
}

/* core_slide in another guest writes a place of ours behind the scan, and withdraws its
   announcement. */
static void copy_late(void)
{
    atomic_store(&words[core__line_at(&core, 0)], core_line(0, OWN, 105, CORE_UNDECIDED));
    atomic_store(core__announced(&core, 2, CORE_SLOT_NEXT), 0);
}

static void a_place_that_is_copied_behind_the_scan_of_the_line_counts(void)
{
    unsigned first_place = 1;
#ifndef CORE_BROKEN
    first_place += (ROWS - 1) * CORE_SLOTS; /* the announcements are scanned first */
#endif
    lay_out();
    atomic_store(core__announced(&core, 2, CORE_SLOT_NEXT), core_announced_cycle(OWN, 105));
    before_access(first_place + 1, copy_late);
    struct core_run run = reserve(CORE_TO_WAIT, 100);
    EXPECT(!may_use(&run, 105));
    EXPECT(may_use(&run, 104));
}

/* A guest announces K's author, which is us, and K is replaced. */
static void rely_on_k(void)
{
    atomic_store(core__announced(&core, 1, CORE_SLOT_PLACE), core_announced_cycle(OWN, 105));
    atomic_store(&words[CORE_AT_K(&core)], core_k(2, 3, 7));
}

static void an_announcement_that_is_made_while_the_words_are_scanned_counts(void)
{
    unsigned reads_k = 3; /* I, V, K */
#ifdef CORE_BROKEN
    reads_k += CORE_BROKEN == CORE_GUARD_SCAN_ORDER ? (ROWS - 1) * CORE_SLOTS : 0;
#endif
    lay_out();
    atomic_store(&words[CORE_AT_K(&core)], core_k(1, OWN, 105));
    before_access(reads_k, rely_on_k);
    struct core_run run = reserve(CORE_TO_ENTER, 100);
    EXPECT(!may_use(&run, 105));
    EXPECT(may_use(&run, 104));
}

static void no_question_has_a_number_that_a_seat_has(void)
{
    lay_out();
    atomic_store(&words[core.at_seat + 1], core_seat(1, OWN, 105));
    before_access(0, NULL);
    struct core_run run = reserve(CORE_TO_ASK, 100);
    EXPECT(!may_use(&run, 105));
    EXPECT(may_use(&run, 104));
}

int main(void)
{
    RUN(a_word_is_relied_on_only_if_it_was_there_after_it_was_announced);
    RUN(ones_own_words_are_not_announced);
    RUN(no_question_has_a_number_that_a_seat_has);
    RUN(an_announcement_that_is_made_while_the_words_are_scanned_counts);
    RUN(a_place_that_is_copied_behind_the_scan_of_the_line_counts);
    return 0;
}
