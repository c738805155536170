/*
 * QUANT, unit tests: packed rows against a plain array of k+1 counters, and ranks and colours that
 * no correct word holds.
 */
#include "tickets/quant.h"

#include "test.h"

#include <stdbool.h>

/* QUANT as a plain array, to compare with. */
struct counters {
    unsigned k;
    unsigned count[QUANT_MAX_K + 1];
};

/* The row of a multiset, built from the picture in quant.h: stars, bar, stars, .., stars. */
static uint32_t row_of(const struct counters *c)
{
    uint32_t row = 0;
    unsigned at = 0;
    for (unsigned color = 0; color <= c->k; color++) {
        for (unsigned star = 0; star < c->count[color]; star++) {
            row |= 1U << at++;
        }
        at++; /* a bar is a zero */
    }
    return row;
}

static unsigned free_color_of(const struct counters *c)
{
    unsigned color = 0;
    while (c->count[color] > 0) {
        color++;
    }
    return color;
}

static void expect_same(const struct counters *c, uint32_t row)
{
    EXPECT_EQ(row, row_of(c));
    for (unsigned color = 0; color <= c->k; color++) {
        EXPECT_EQ(quant_count(c->k, row, color), c->count[color]);
    }
    EXPECT_EQ(quant_free_color(c->k, row), free_color_of(c));
}

static bool is_a_row(unsigned k, uint32_t row)
{
    return (uint64_t)row < 1ULL << 2 * k && (unsigned)__builtin_popcount(row) == k;
}

/* The next multiset in the order of an odometer; false after the last. */
static bool next_multiset(struct counters *c)
{
    for (;;) {
        unsigned sum = 0;
        unsigned color = 0;
        while (color <= c->k && ++c->count[color] > c->k) {
            c->count[color++] = 0;
        }
        if (color > c->k) {
            return false;
        }
        for (color = 0; color <= c->k; color++) {
            sum += c->count[color];
        }
        if (sum == c->k) {
            return true;
        }
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void there_are_as_many_rows_as_multisets(void)
{
    static const uint32_t central[] = {1,       2,        6,        20,       70,     252,
                                       924,     3432,     12870,    48620,    184756, 705432,
                                       2704156, 10400600, 40116600, 155117520};
    for (unsigned k = 1; k <= QUANT_MAX_K; k++) {
        EXPECT_EQ(quant_rows(k), central[k]);
    }
    EXPECT_EQ(quant_binom(3, 4), 0);
    EXPECT_EQ(quant_binom(0, 0), 1);
}

static void rank_and_unrank_are_inverse(void)
{
    for (unsigned k = 1; k <= 8; k++) {
        uint32_t last = 0;
        for (uint32_t rank = 0; rank < quant_rows(k); rank++) {
            uint32_t row = quant_unrank(k, rank);
            EXPECT(is_a_row(k, row));
            EXPECT(rank == 0 || row > last); /* "in increasing order" */
            EXPECT_EQ(quant_rank(row), rank);
            last = row;
        }
    }
}

static void rank_counts_the_rows_below(void)
{
    for (unsigned k = 1; k <= 8; k++) {
        uint32_t below = 0;
        for (uint32_t row = 0; row < 1U << 2 * k; row++) {
            if (is_a_row(k, row)) {
                EXPECT_EQ(quant_rank(row), below);
                EXPECT_EQ(quant_unrank(k, below), row);
                below++;
            }
        }
        EXPECT_EQ(below, quant_rows(k));
    }
}

static void the_largest_k_ranks_its_ends_right(void)
{
    for (unsigned k = 9; k <= QUANT_MAX_K; k++) {
        uint32_t rows = quant_rows(k);
        EXPECT_EQ(quant_rank(quant_all_first(k)), 0);
        EXPECT_EQ(quant_unrank(k, 0), quant_all_first(k));
        EXPECT_EQ(quant_unrank(k, rows - 1), quant_all_first(k) << k);
        for (uint32_t rank = 0; rank < rows; rank += rows / 1000 + 1) {
            EXPECT(is_a_row(k, quant_unrank(k, rank)));
            EXPECT_EQ(quant_rank(quant_unrank(k, rank)), rank);
        }
    }
}

static void every_multiset_is_counted_and_moved_as_counters_are(void)
{
    for (unsigned k = 1; k <= 5; k++) {
        struct counters c = {.k = k};
        uint32_t multisets = 0;
        while (next_multiset(&c)) {
            uint32_t row = row_of(&c);
            expect_same(&c, row);
            multisets++;
            for (unsigned from = 0; from <= k; from++) {
                for (unsigned to = 0; to <= k; to++) {
                    struct counters moved = c;
                    if (c.count[from] > 0) {
                        moved.count[from]--;
                        moved.count[to]++;
                    }
                    expect_same(&moved, quant_move(k, row, from, to));
                }
            }
        }
        EXPECT_EQ(multisets, quant_rows(k));
    }
}

static void random_walks_agree_with_counters(void)
{
    uint64_t seed = 20240229;
    for (unsigned k = 1; k <= QUANT_MAX_K; k++) {
        struct counters c = {.k = k, .count = {k}};
        uint32_t row = quant_all_first(k);
        for (unsigned step = 0; step < 20000; step++) {
            unsigned from = (unsigned)(next_random(&seed) % (k + 1));
            unsigned to = (unsigned)(next_random(&seed) % (k + 1));
            if (c.count[from] > 0) {
                c.count[from]--;
                c.count[to]++;
            }
            row = quant_move(k, quant_unrank(k, quant_rank(row)), from, to);
            expect_same(&c, row);
        }
    }
}

static void colours_that_do_not_exist_move_nothing(void)
{
    for (unsigned k = 1; k <= QUANT_MAX_K; k++) {
        uint32_t row = quant_all_first(k);
        static const unsigned past[] = {1, 2, 100, 1U << 16, UINT32_MAX - QUANT_MAX_K};
        for (unsigned i = 0; i < sizeof past / sizeof past[0]; i++) {
            EXPECT_EQ(quant_move(k, row, k + past[i], 0), row);
            EXPECT_EQ(quant_move(k, row, 0, k + past[i]), row);
            EXPECT_EQ(quant_move(k, row, k + past[i], k + past[i]), row);
        }
        EXPECT_EQ(quant_move(k, row, 1, 0), row); /* none of its tickets left */
    }
}

/* A rank out of range has no meaning; unrank must still end and return a row. */
static void ranks_out_of_range_unrank_to_some_row(void)
{
    uint64_t seed = 7;
    for (unsigned k = 1; k <= QUANT_MAX_K; k++) {
        for (unsigned i = 0; i < 2000; i++) {
            uint32_t past = i < 10 ? i : (uint32_t)next_random(&seed);
            uint32_t rank = past > UINT32_MAX - quant_rows(k) ? past : quant_rows(k) + past;
            uint32_t row = quant_unrank(k, rank);
            EXPECT(is_a_row(k, row));
            EXPECT(quant_rank(row) < quant_rows(k));
            EXPECT(quant_free_color(k, row) <= k);
            for (unsigned color = 0; color <= k; color++) {
                EXPECT(quant_count(k, row, color) <= k);
                EXPECT(is_a_row(k, quant_move(k, row, color, k - color)));
            }
        }
    }
}

int main(void)
{
    RUN(there_are_as_many_rows_as_multisets);
    RUN(rank_and_unrank_are_inverse);
    RUN(rank_counts_the_rows_below);
    RUN(the_largest_k_ranks_its_ends_right);
    RUN(every_multiset_is_counted_and_moved_as_counters_are);
    RUN(random_walks_agree_with_counters);
    RUN(colours_that_do_not_exist_move_nothing);
    RUN(ranks_out_of_range_unrank_to_some_row);
    return 0;
}
