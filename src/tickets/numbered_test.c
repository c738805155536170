/*
 * Numbered tickets, unit tests: what taking and validating change, and that tickets keep their
 * order when 32 bits wrap.
 */
#include "tickets/numbered.h"

#include "test.h"

/* Numbers at which 32-bit tickets could fail: zero, the sign bit, the wrap. */
static const uint32_t corners[] = {0,           1,           2,           0x7ffffffe, 0x7fffffff,
                                   0x80000000U, 0x80000001U, 0xfffffffeU, 0xffffffffU};

enum { CORNERS = sizeof corners / sizeof corners[0] };

static void the_first_k_tickets_are_valid_before_they_are_taken(void)
{
    for (uint32_t k = 1; k <= 20; k++) {
        uint64_t word = numbered_start(k);
        EXPECT_EQ(numbered_issue(word), 0);
        EXPECT_EQ(numbered_valid(word), k);
        for (uint32_t ticket = 1; ticket <= k; ticket++) {
            EXPECT(numbered_is_valid(word, ticket));
        }
        EXPECT(!numbered_is_valid(word, k + 1));
    }
}

static void taking_changes_issue_only(void)
{
    for (unsigned a = 0; a < CORNERS; a++) {
        for (unsigned b = 0; b < CORNERS; b++) {
            uint64_t word = numbered_take(numbered_word(corners[a], corners[b]));
            EXPECT_EQ(numbered_issue(word), (uint32_t)(corners[a] + 1));
            EXPECT_EQ(numbered_valid(word), corners[b]);
        }
    }
}

static void validating_changes_valid_only(void)
{
    for (unsigned a = 0; a < CORNERS; a++) {
        for (unsigned b = 0; b < CORNERS; b++) {
            uint64_t word = numbered_validate(numbered_word(corners[a], corners[b]));
            EXPECT_EQ(numbered_issue(word), corners[a]);
            EXPECT_EQ(numbered_valid(word), (uint32_t)(corners[b] + 1));
        }
    }
}

static void tickets_are_taken_in_order_across_the_wrap(void)
{
    uint64_t word = numbered_word(UINT32_MAX - 1, 1);
    word = numbered_take(word);
    EXPECT_EQ(numbered_issue(word), UINT32_MAX);
    word = numbered_take(word);
    EXPECT_EQ(numbered_issue(word), 0);
    word = numbered_take(word);
    EXPECT_EQ(numbered_issue(word), 1);
}

static void a_ticket_is_valid_up_to_valid_and_no_further_wherever_valid_is(void)
{
    for (unsigned b = 0; b < CORNERS; b++) {
        uint64_t word = numbered_word(0, corners[b]);
        for (uint32_t age = 0; age <= 1000; age++) {
            EXPECT(numbered_is_valid(word, corners[b] - age));
            EXPECT(!numbered_is_valid(word, corners[b] + 1 + age));
        }
    }
}

static void a_ticket_is_compared_right_until_it_is_2_to_the_31_old(void)
{
    for (unsigned b = 0; b < CORNERS; b++) {
        uint64_t word = numbered_word(0, corners[b]);
        EXPECT(numbered_is_valid(word, corners[b] - 0x7fffffffU));
        EXPECT(!numbered_is_valid(word, corners[b] + 0x7fffffffU));
    }
}

static void a_valid_ticket_stays_valid(void)
{
    for (unsigned b = 0; b < CORNERS; b++) {
        uint32_t ticket = corners[b];
        uint64_t word = numbered_word(ticket + 3, ticket - 5);
        for (unsigned step = 0; step < 5; step++) {
            EXPECT(!numbered_is_valid(word, ticket));
            word = numbered_validate(word);
        }
        for (unsigned step = 0; step < 100; step++) {
            EXPECT(numbered_is_valid(word, ticket));
            word = step % 3 == 0 ? numbered_take(word) : numbered_validate(word);
        }
    }
}

int main(void)
{
    RUN(the_first_k_tickets_are_valid_before_they_are_taken);
    RUN(taking_changes_issue_only);
    RUN(validating_changes_valid_only);
    RUN(tickets_are_taken_in_order_across_the_wrap);
    RUN(a_ticket_is_valid_up_to_valid_and_no_further_wherever_valid_is);
    RUN(a_ticket_is_compared_right_until_it_is_2_to_the_31_old);
    RUN(a_valid_ticket_stays_valid);
    return 0;
}
