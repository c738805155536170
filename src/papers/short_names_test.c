/* A map distinguishes all numbers of its set, with at most one bit fewer than there are numbers. */
#include "papers/short_names.h"
#include "test.h"

enum { MOST = SHORT_NAMES_MOST };

static void expect_apart(const unsigned *numbers, unsigned count)
{
    struct short_names map = short_names_of(numbers, count);
    EXPECT_EQ(map.count, count);
    for (unsigned i = 0; i < count; i++) {
        EXPECT_EQ(short_name(&map, numbers[i]), i + 1);
    }
    /* a name depends only on the bits at the positions of the map */
    unsigned mask = 0;
    for (unsigned j = 0; j + 1 < count; j++) {
        mask |= 1U << map.position[j];
    }
    EXPECT(__builtin_popcount(mask) < (int)count || count == 1);
    for (unsigned i = 0; i < count; i++) {
        EXPECT_EQ(short_name(&map, numbers[i] ^ (0x5a5a5a5aU & ~mask)), i + 1);
    }
    for (unsigned j = count; j < MOST; j++) {
        EXPECT_EQ(map.position[j - 1], 0); /* unused positions are zero */
    }
}

/* Every sequence of different numbers 1..most, of 1 to MOST of them. */
static unsigned long all_sets_up_to(unsigned most)
{
    unsigned long sets = 0;
    for (unsigned a = 1; a <= most; a++) {
        expect_apart((unsigned[]){a}, 1);
        for (unsigned b = 1; b <= most; b++) {
            if (b == a) {
                continue;
            }
            expect_apart((unsigned[]){a, b}, 2);
            for (unsigned c = 1; c <= most; c++) {
                if (c == a || c == b) {
                    continue;
                }
                expect_apart((unsigned[]){a, b, c}, 3);
                for (unsigned d = 1; d <= most; d++) {
                    if (d != a && d != b && d != c) {
                        expect_apart((unsigned[]){a, b, c, d}, 4);
                        sets++;
                    }
                }
            }
        }
    }
    return sets;
}

static void every_small_set_is_told_apart(void)
{
    EXPECT_EQ(all_sets_up_to(20), 20UL * 19 * 18 * 17);
}

static unsigned long seed = 20261116;

static unsigned random_below(unsigned bound)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)((seed >> 33) % bound);
}

static void random_sets_of_large_numbers_are_told_apart(void)
{
    printf("seed %lu\n", seed);
    for (unsigned round = 0; round < 200000; round++) {
        unsigned numbers[MOST];
        unsigned count = 1 + random_below(MOST);
        unsigned range = 2U << (4 + random_below(26));
        for (unsigned i = 0; i < count;) {
            numbers[i] = 1 + random_below(range);
            unsigned other = 0;
            while (other < i && numbers[other] != numbers[i]) {
                other++;
            }
            i += other == i;
        }
        expect_apart(numbers, count);
    }
}

static void a_number_outside_the_set_has_some_name(void)
{
    unsigned numbers[] = {4, 6, 1};
    struct short_names map = short_names_of(numbers, 3);
    for (unsigned number = 1; number < 1000; number++) {
        unsigned name = short_name(&map, number);
        EXPECT(name >= 1 && name <= 3);
    }
}

/* The maps of the numbers 1..2^bits-1 are no more than the formula says. */
static void maps_are_as_few_as_counted(void)
{
    enum { BITS = 4 };
    static unsigned char seen[BITS * BITS * 4096];
    unsigned maps = 1 + 1; /* the empty map, and the map of one name */
    unsigned most = (1U << BITS) - 1;
    for (unsigned a = 1; a <= most; a++) {
        for (unsigned b = 1; b <= most; b++) {
            for (unsigned c = 0; c <= most; c++) { /* 0: two numbers only */
                if (a == b || b == c || a == c) {
                    continue;
                }
                struct short_names map = short_names_of((unsigned[]){a, b, c}, c == 0 ? 2 : 3);
                unsigned at = ((unsigned)map.position[0] * BITS + map.position[1]) * 4096 +
                              (map.codes & 7U) + (map.codes >> 4 & 7U) * 8 +
                              (map.codes >> 8 & 7U) * 64 + (c == 0 ? 512U : 0);
                maps += !seen[at];
                seen[at] = 1;
            }
        }
    }
    printf("%u maps reached, at most %.0f\n", maps, short_names_maps(3, BITS));
    EXPECT(maps <= short_names_maps(3, BITS));
}

int main(void)
{
    RUN(every_small_set_is_told_apart);
    RUN(random_sets_of_large_numbers_are_told_apart);
    RUN(a_number_outside_the_set_has_some_name);
    RUN(maps_are_as_few_as_counted);
    return 0;
}
