/*
 * The gate's word, unit tests: every word of small shapes against tickets/colored.h, long walks of
 * large shapes against plain numbers, misuse, and words that no gate can have.
 *
 * gate_word_test tests; gate_word_test sizes prints which sizes fit.
 */
#include "gate/gate_word.h"

#include "test.h"

#include <string.h>

static uint64_t seed = 1;

static uint64_t random_word(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void the_shapes_are_those_that_fit_a_word(void)
{
    for (uint32_t shape = 0; shape < GATE_SHAPES; shape++) {
        struct colored_shape s;
        uint32_t k = shape & 15;
        uint32_t b = shape >> 4;
        bool fits = k >= 1 && b >= 1 && b <= 22 && 1U << b > k &&
                    colored_shape_with(&s, k + (1U << b) - 1, k, 1U << b) == 0;
        EXPECT_EQ(gate__masks[shape], fits ? colored__mask(&s) : 0);
        EXPECT(!fits || s.value_bits == b);
    }
}

static void a_gate_has_room_for_its_guests_and_the_largest_blocks(void)
{
    static const uint32_t most_bits[GATE_MOST_SEATS + 1] = {0,  22, 21, 21, 20, 20, 19,
                                                            17, 14, 12, 10, 8,  6,  4};
    for (uint32_t k = 1; k <= GATE_MOST_SEATS; k++) {
        uint32_t room = k + (1U << most_bits[k]) - 1;
        uint64_t word = 0;
        EXPECT_EQ(gate_start(&word, 1, k, 0), 0);
        EXPECT_EQ(gate_room(word), room);
        EXPECT_EQ(gate_start(&word, room, k, 0), 0);
        EXPECT_EQ(gate_view(word).bits, most_bits[k]);
        EXPECT_EQ(gate_view(word).seats, k);
        EXPECT_EQ(gate_start(&word, room + 1, k, 0), -ERANGE);
        EXPECT_EQ(gate_start(&word, UINT32_MAX, k, 0), -ERANGE);
        unsigned least = gate_least_bits(k + 1, k);
        EXPECT_EQ(gate_start(&word, k + 1, k, least), 0);
        EXPECT_EQ(gate_room(word), k + (1U << least) - 1);
        EXPECT(least == 1 || gate_start(&word, k + 1, k, least - 1) == -ERANGE);
        EXPECT_EQ(gate_start(&word, k + 1, k, most_bits[k] + 1), -ERANGE);
        EXPECT_EQ(gate_start(&word, k + 1, k, 40), -ERANGE);
    }
}

static void sizes_that_do_not_fit_are_refused_and_change_nothing(void)
{
    uint64_t word = 42;
    EXPECT_EQ(gate_start(&word, 0, 1, 0), -EINVAL);
    EXPECT_EQ(gate_start(&word, 1, 0, 0), -EINVAL);
    EXPECT_EQ(gate_start(&word, 1, 14, 0), -ERANGE);
    EXPECT_EQ(gate_start(&word, 1, UINT32_MAX, 0), -ERANGE);
    EXPECT_EQ(word, 42);
}

/* Is a ticket in hand valid, by the low half alone? The equation of gate_word.h. */
static bool valid_by_low_half(const struct colored_shape *s, uint64_t word, uint32_t ticket)
{
    uint32_t valid = colored_valid(s, word);
    uint32_t color = colored_color(s, ticket);
    if (color == colored_color(s, valid)) {
        return ticket <= valid;
    }
    return color <= s->k &&
           quant_count(s->k, quant_unrank(s->k, colored_quant(s, word)), color) > 0;
}

/* Does the word satisfy the equations of gate_word.h, reachable or not? */
static bool is_sound(const struct colored_shape *s, uint64_t word)
{
    uint32_t issue = colored_issue(s, word);
    uint32_t valid = colored_valid(s, word);
    uint32_t row = quant_unrank(s->k, colored_quant(s, word));
    if (colored_color(s, issue) > s->k || colored_color(s, valid) > s->k ||
        colored_quant(s, word) >= quant_rows(s->k)) {
        return false;
    }
    if (quant_count(s->k, row, colored_color(s, valid)) == 0) {
        return false;
    }
    if (issue != valid && colored_value(s, issue) == colored_value(s, valid)) {
        return false; /* M apart */
    }
    if (colored_color(s, issue) != colored_color(s, valid) && colored_leads(s, issue, valid, 0) &&
        quant_count(s->k, row, colored_color(s, issue)) > 0) {
        return false; /* no ticket is valid in a block that VALID has not reached */
    }
    return !colored_leads(s, valid, issue, 0) || ((valid - issue) & (s->m - 1)) <= s->k;
}

static void expect_take(const struct colored_shape *s, uint64_t word)
{
    struct gate_step taken = gate_take(word, 0);
    struct gate_step tried = gate_try(word, 0);
    uint32_t issue = colored_issue(s, word);
    uint32_t valid = colored_valid(s, word);
    uint64_t next = colored_take(s, word, 0);
    uint32_t ticket = colored_issue(s, next);
    if (colored_leads(s, issue, valid, 0) && ((issue - valid) & (s->m - 1)) == s->m - 1) {
        EXPECT(taken.result == -EUSERS && taken.word == word);
        EXPECT(tried.result == -EAGAIN && tried.word == word);
        return;
    }
    bool at_once = colored_is_valid(s, next, ticket, 0);
    EXPECT_EQ(taken.result, at_once ? 0 : 1);
    EXPECT_EQ(taken.word, next);
    EXPECT_EQ(taken.ticket, ticket);
    EXPECT_EQ(tried.result, at_once ? 0 : -EAGAIN);
    EXPECT_EQ(tried.word, at_once ? next : word);
    EXPECT(at_once == (issue != valid && colored_leads(s, valid, issue, 0)));
    if (!at_once) {
        EXPECT_EQ(gate_places(next, ticket), (ticket - valid) & (s->m - 1));
    }
}

static void expect_leave(const struct colored_shape *s, uint64_t word, uint32_t ticket)
{
    struct gate_step left = gate_leave(word, ticket, 0);
    uint32_t issue = colored_issue(s, word);
    uint32_t valid = colored_valid(s, word);
    bool empty = colored_leads(s, valid, issue, 0) && ((valid - issue) & (s->m - 1)) == s->k;
    if (empty || !valid_by_low_half(s, word, ticket)) {
        EXPECT_EQ(left.result, -EPERM);
        EXPECT_EQ(left.word, word);
        return;
    }
    uint64_t next = colored_validate(s, word, ticket, 0);
    uint32_t now = colored_valid(s, next);
    EXPECT_EQ(left.result, 0);
    EXPECT_EQ(left.word, next);
    EXPECT_EQ(left.wakes, colored_leads(s, issue, now, 0) ? gate_bit(now) : 0);
}

/* Check all words of a shape: sound words behave as in colored.h; the others are refused or not
   changed. */
static unsigned expect_all(uint32_t k, unsigned bits)
{
    struct colored_shape s;
    uint64_t start;
    unsigned sound = 0;
    EXPECT_EQ(gate_start(&start, 1, k, bits), 0);
    EXPECT_EQ(colored_shape_with(&s, gate_room(start), k, 1U << bits), 0);
    uint32_t tickets = 1U << (s.value_bits + s.color_bits);
    for (uint32_t issue = 0; issue < tickets; issue++) {
        for (uint32_t valid = 0; valid < tickets; valid++) {
            for (uint32_t rank = 0; rank <= quant_rows(k); rank++) {
                uint64_t word = colored_word(&s, issue, valid, rank) |
                                start >> GATE_SEATS_SHIFT << GATE_SEATS_SHIFT;
                if (is_sound(&s, word)) {
                    sound++;
                    expect_take(&s, word);
                    for (uint32_t ticket = 0; ticket < tickets; ticket++) {
                        expect_leave(&s, word, ticket);
                    }
                }
            }
        }
    }
    return sound;
}

static void every_word_of_a_small_shape_behaves_as_in_colored_h(void)
{
    EXPECT(expect_all(1, 1) > 0);
    EXPECT(expect_all(1, 2) > 0);
    EXPECT(expect_all(1, 4) > 0);
    EXPECT(expect_all(2, 2) > 0);
    EXPECT(expect_all(2, 3) > 0);
    EXPECT(expect_all(3, 2) > 0);
    EXPECT(expect_all(3, 3) > 0);
    EXPECT(expect_all(4, 3) > 0);
}

/* Guests that enter and leave at random, beside plain numbers: ISSUE, VALID, and each guest's
   ticket. */
enum { MOST_HELD = 40 };

static void walk(uint32_t k, unsigned bits, unsigned steps)
{
    uint64_t word;
    uint64_t issue = 0;
    uint64_t valid = k;
    struct {
        uint32_t ticket;
        uint64_t number;
    } held[MOST_HELD];
    unsigned count = 0;
    EXPECT_EQ(gate_start(&word, k + 1, k, bits), 0);
    uint64_t shape = word >> GATE_SEATS_SHIFT;
    uint32_t most = gate_room(word) < MOST_HELD ? gate_room(word) : MOST_HELD;
    for (unsigned step = 0; step < steps; step++) {
        unsigned which = count == 0 ? 0 : (unsigned)(random_word() % count);
        if (count > 0 && held[which].number <= valid && (count == most || random_word() % 2)) {
            struct gate_step left = gate_leave(word, held[which].ticket, 0);
            EXPECT_EQ(left.result, 0);
            EXPECT_EQ(left.wakes != 0, issue > valid);
            word = left.word;
            valid++;
            held[which] = held[--count];
        } else if (count < most) {
            struct gate_step taken = gate_take(word, 0);
            issue++;
            EXPECT_EQ(taken.result, issue <= valid ? 0 : 1);
            word = taken.word;
            held[count].ticket = taken.ticket;
            held[count++].number = issue;
        } else if (most == gate_room(word)) {
            EXPECT_EQ(gate_take(word, 0).result, -EUSERS);
        }
        EXPECT_EQ(word >> GATE_SEATS_SHIFT, shape);
        for (unsigned i = step % 16 == 0 ? 0 : count; i < count; i++) {
            EXPECT_EQ(gate_is_valid(word, held[i].ticket), held[i].number <= valid);
            EXPECT(held[i].number <= valid ||
                   gate_places(word, held[i].ticket) == held[i].number - valid);
        }
    }
}

static void long_walks_agree_with_plain_numbers(void)
{
    for (uint32_t k = 1; k <= GATE_MOST_SEATS; k++) {
        walk(k, gate_least_bits(k + 1, k), 100000);
        walk(k, 0, 100000);
    }
    walk(7, 8, 300000);
}

static void a_large_block_is_crossed_as_a_small_one(void)
{
    uint64_t word;
    EXPECT_EQ(gate_start(&word, 2, 1, 0), 0);
    for (uint32_t number = 1; number < (1U << 23) + 10; number++) {
        struct gate_step step = gate_take(word, 0);
        EXPECT_EQ(step.result, 0);
        EXPECT_EQ(step.ticket, number & ((1U << 23) - 1)); /* two colours, taken in turn */
        step = gate_leave(step.word, step.ticket, 0);
        EXPECT_EQ(step.result, 0);
        word = step.word;
    }
}

static void a_word_of_no_possible_shape_is_refused_and_not_changed(void)
{
    unsigned refused = 0;
    for (uint64_t shape = 0; shape < GATE_SHAPES; shape++) {
        for (unsigned i = 0; gate__masks[shape] == 0 && i < 200; i++) {
            uint64_t word = shape << GATE_SEATS_SHIFT | random_word() >> (64 - GATE_SEATS_SHIFT);
            uint32_t ticket = (uint32_t)random_word() >> random_word() % 32;
            word = i == 0 ? shape << GATE_SEATS_SHIFT : word;
            ticket = i == 0 ? 0 : ticket;
            struct gate_step steps[] = {gate_take(word, 0), gate_try(word, 0),
                                        gate_leave(word, ticket, 0)};
            for (unsigned s = 0; s < 3; s++) {
                EXPECT_EQ(steps[s].result, -EINVAL);
                EXPECT_EQ(steps[s].word, word);
            }
            EXPECT_EQ(gate_is_valid(word, ticket), -EINVAL);
            EXPECT_EQ(gate_room(word), 0);
            refused++;
        }
    }
    EXPECT(refused > 10000);
}

/* Colours and ranks that do not exist are refused, or treated as another word, but the shape stays.
   */
static void a_damaged_word_does_no_harm_beyond_itself(void)
{
    unsigned refused = 0;
    unsigned done = 0;
    for (unsigned i = 0; i < 2000000; i++) {
        uint64_t word = random_word();
        uint32_t ticket = (uint32_t)random_word() >> random_word() % 32;
        struct gate_step steps[] = {gate_take(word, 0), gate_try(word, 0),
                                    gate_leave(word, ticket, 0)};
        for (unsigned s = 0; s < 3; s++) {
            EXPECT(steps[s].result >= 0 || steps[s].word == word);
            EXPECT_EQ(steps[s].word >> GATE_SEATS_SHIFT, word >> GATE_SEATS_SHIFT);
            (*(steps[s].result == -EINVAL ? &refused : &done))++;
        }
        (void)gate_is_valid(word, ticket);
        (void)gate_places(word, ticket);
    }
    EXPECT(refused > 0 && done > 0);
}

static void leaving_an_empty_gate_is_refused(void)
{
    uint64_t word;
    EXPECT_EQ(gate_start(&word, 4, 2, 0), 0);
    struct gate_step in = gate_take(word, 0);
    struct gate_step out = gate_leave(in.word, in.ticket, 0);
    EXPECT_EQ(out.result, 0);
    EXPECT_EQ(gate_leave(out.word, in.ticket, 0).result, -EPERM);
    /* without the guard the second leave would make a third seat */
    struct gate_step made = gate_leave(out.word, in.ticket, GATE_NOBODY_IN);
    EXPECT_EQ(made.result, 0);
    unsigned inside = 0;
    for (struct gate_step t = gate_take(made.word, 0); t.result == 0; t = gate_take(t.word, 0)) {
        inside++;
    }
    EXPECT_EQ(inside, 3);
}

static void leaving_with_a_ticket_that_is_not_valid_is_refused(void)
{
    uint64_t word;
    EXPECT_EQ(gate_start(&word, 8, 1, 3), 0);
    struct gate_step first = gate_take(word, 0);
    struct gate_step second = gate_take(first.word, 0);
    EXPECT_EQ(second.result, 1);
    EXPECT_EQ(gate_leave(second.word, second.ticket, 0).result, -EPERM);
    EXPECT_EQ(gate_leave(second.word, 1U << 31 | first.ticket, 0).result, -EPERM);
    EXPECT_EQ(gate_leave(second.word, UINT32_MAX, 0).result, -EPERM);
    /* without the guard a waiting guest would let another in beside the one inside */
    struct gate_step forged = gate_leave(second.word, second.ticket, GATE_LEAVE_VALID);
    EXPECT_EQ(forged.result, 0);
    EXPECT_EQ(gate_is_valid(forged.word, second.ticket), 1);
}

static void up_to_32_waiting_tickets_have_a_bit_each(void)
{
    uint32_t bits = 0;
    for (uint32_t ticket = 100; ticket < 132; ticket++) {
        EXPECT_EQ(bits & gate_bit(ticket), 0);
        bits |= gate_bit(ticket);
    }
    EXPECT_EQ(bits, UINT32_MAX);
}

static void show_sizes(void)
{
    for (uint32_t k = 1; k <= GATE_MOST_SEATS; k++) {
        uint64_t word;
        EXPECT_EQ(gate_start(&word, 1, k, 0), 0);
        unsigned bits = gate_view(word).bits;
        (void)printf("k=%u b=%u M=%u guests=%u\n", k, bits, 1U << bits, gate_room(word));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "sizes") == 0) {
        show_sizes();
        return 0;
    }
    RUN(the_shapes_are_those_that_fit_a_word);
    RUN(a_gate_has_room_for_its_guests_and_the_largest_blocks);
    RUN(sizes_that_do_not_fit_are_refused_and_change_nothing);
    RUN(every_word_of_a_small_shape_behaves_as_in_colored_h);
    RUN(long_walks_agree_with_plain_numbers);
    RUN(a_large_block_is_crossed_as_a_small_one);
    RUN(a_word_of_no_possible_shape_is_refused_and_not_changed);
    RUN(a_damaged_word_does_no_harm_beyond_itself);
    RUN(leaving_an_empty_gate_is_refused);
    RUN(leaving_with_a_ticket_that_is_not_valid_is_refused);
    RUN(up_to_32_waiting_tickets_have_a_bit_each);
    return 0;
}
