/*
 * Colored tickets against numbered ones. In every reachable state the coloured word must say of
 * each held ticket what plain numbers say, and keep the equations of the first comment in
 * colored.h. Small sizes are explored completely; large sizes get long random walks.
 *
 * The reachable states are finite: a held ticket that is valid stays valid, so its number can be
 * dropped and only its coloured form is kept.
 */
#include "tickets/colored.h"

#include "test.h"

#include <string.h>

enum { MOST_HELD = 32, TABLE = 1 << 20 };

/* A ticket that a process holds. The field widths leave no padding, so states compare as bytes. */
struct held {
    int32_t ahead; /* its number minus VALID's; 0 for every valid ticket */
    uint32_t ticket;
};

/* The coloured word, and the numbers it must agree with. */
struct place {
    uint64_t word;
    int32_t ahead; /* number of ISSUE minus number of VALID */
    uint32_t count;
    struct held held[MOST_HELD];
};

static uint64_t spare_of(uint64_t word)
{
    return word >> 55;
}

static struct place start_of(const struct colored_shape *s, uint64_t spare)
{
    return (struct place){.word = colored_start(s) | spare << 55, .ahead = -(int32_t)s->k};
}

/* Insert in order, so that places that differ only in the order of holders are equal. */
static void insert(struct place *p, struct held held)
{
    unsigned at = p->count++;
    while (at > 0 &&
           (p->held[at - 1].ahead > held.ahead ||
            (p->held[at - 1].ahead == held.ahead && p->held[at - 1].ticket > held.ticket))) {
        p->held[at] = p->held[at - 1];
        at--;
    }
    p->held[at] = held;
}

static void take(const struct colored_shape *s, struct place *p, unsigned broken)
{
    p->word = colored_take(s, p->word, broken);
    p->ahead++;
    insert(p, (struct held){p->ahead > 0 ? p->ahead : 0, colored_issue(s, p->word)});
}

/* Discard the valid ticket held[which] and validate the next one. */
static void validate(const struct colored_shape *s, struct place *p, unsigned which,
                     unsigned broken)
{
    struct place old = *p;
    p->word = colored_validate(s, p->word, old.held[which].ticket, broken);
    p->ahead--;
    p->count = 0;
    for (unsigned i = 0; i < old.count; i++) {
        if (i != which) {
            int32_t ahead = old.held[i].ahead > 0 ? old.held[i].ahead - 1 : 0;
            insert(p, (struct held){ahead, old.held[i].ticket});
        }
    }
}

/* Tickets between a pointer and another pointer ahead of it. */
static int64_t distance(const struct colored_shape *s, uint32_t from, uint32_t to)
{
    int64_t same = (int64_t)colored_value(s, to) - colored_value(s, from);
    return colored_color(s, from) == colored_color(s, to) ? same : same + s->m;
}

/* The expected QUANT: valid tickets that are held, and valid tickets not yet taken. */
static void count_valid(const struct colored_shape *s, const struct place *p, unsigned *counts)
{
    uint32_t valid = colored_valid(s, p->word);
    uint32_t issue = colored_issue(s, p->word);
    memset(counts, 0, (QUANT_MAX_K + 1) * sizeof *counts);
    for (unsigned i = 0; i < p->count; i++) {
        counts[colored_color(s, p->held[i].ticket)] += p->held[i].ahead <= 0;
    }
    for (int64_t back = 0; back < -p->ahead; back++) {
        bool in_last_block = back <= colored_value(s, valid);
        counts[colored_color(s, in_last_block ? valid : issue)]++;
    }
}

/* The fault in a place, or NULL. */
static const char *fault(const struct colored_shape *s, const struct place *p)
{
    uint32_t issue = colored_issue(s, p->word);
    uint32_t valid = colored_valid(s, p->word);
    unsigned counts[QUANT_MAX_K + 1];
    for (unsigned i = 0; i < p->count; i++) {
        if (colored_is_valid(s, p->word, p->held[i].ticket, 0) != (p->held[i].ahead <= 0)) {
            return "a held ticket has the wrong validity";
        }
    }
    if (colored_value(s, issue) >= s->m || colored_value(s, valid) >= s->m ||
        colored_color(s, issue) > s->k || colored_color(s, valid) > s->k) {
        return "a pointer has a value or colour out of range";
    }
    if (p->ahead >= 0 ? distance(s, valid, issue) != p->ahead
                      : distance(s, issue, valid) != -p->ahead) {
        return "ISSUE and VALID are not as far apart as they should be";
    }
    if (colored_quant(s, p->word) >= quant_rows(s->k)) {
        return "QUANT is not a rank";
    }
    count_valid(s, p, counts);
    uint32_t row = quant_unrank(s->k, colored_quant(s, p->word));
    unsigned sum = 0;
    for (unsigned color = 0; color <= s->k; color++) {
        sum += quant_count(s->k, row, color);
        if (quant_count(s->k, row, color) != counts[color]) {
            return "QUANT does not count the valid tickets of a colour";
        }
    }
    if (sum != s->k || quant_count(s->k, row, colored_color(s, valid)) < 1) {
        return "QUANT does not sum to k, or has none of VALID's colour";
    }
    return NULL;
}

/* As `fault`, and with the mutant's own is_valid: some mutants differ there only. */
static const char *fault_of(const struct colored_shape *s, const struct place *p, unsigned broken)
{
    for (unsigned i = 0; i < p->count; i++) {
        if (colored_is_valid(s, p->word, p->held[i].ticket, broken) != (p->held[i].ahead <= 0)) {
            return "a held ticket has the wrong validity";
        }
    }
    return fault(s, p);
}

/* All places seen; the unexplored ones follow those explored. */
static struct place queue[TABLE / 2];
static uint32_t slots[TABLE];
static uint32_t queued;

static void add_place(const struct place *p)
{
    uint64_t hash = p->word * 0x9e3779b97f4a7c15ULL;
    for (unsigned i = 0; i < p->count; i++) {
        hash = (hash ^ (uint64_t)(uint32_t)p->held[i].ahead << 32 ^ p->held[i].ticket) *
               0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    }
    uint32_t at = (uint32_t)(hash >> 20) % TABLE;
    while (slots[at] != 0 && memcmp(&queue[slots[at] - 1], p, sizeof *p) != 0) {
        at = (at + 1) % TABLE;
    }
    if (slots[at] == 0) {
        EXPECT(queued < TABLE / 2);
        queue[queued++] = *p;
        slots[at] = queued;
    }
}

/* Clear unused holders, so that places compare as bytes. */
static void clear_unused(struct place *p)
{
    memset(p->held + p->count, 0, (MOST_HELD - p->count) * sizeof p->held[0]);
}

/* Explore every place of n processes, k seats and blocks of m. Return the first fault, or NULL. */
static const char *explore_with(uint32_t n, uint32_t k, uint32_t m, uint64_t spare, unsigned broken)
{
    struct colored_shape s;
    EXPECT_EQ(colored_shape_with(&s, n, k, m), 0);
    struct place first = start_of(&s, spare);
    memset(slots, 0, sizeof slots);
    queued = 0;
    add_place(&first);
    for (uint32_t next = 0; next < queued; next++) {
        struct place here = queue[next];
        const char *wrong = fault_of(&s, &here, broken);
        if (wrong != NULL) {
            return wrong;
        }
        EXPECT_EQ(spare_of(here.word), spare);
        if (here.count < n) {
            struct place there = here;
            take(&s, &there, broken);
            EXPECT_EQ((uint32_t)there.word, (uint32_t)here.word);
            add_place(&there);
        }
        for (unsigned i = 0; i < here.count && here.held[i].ahead <= 0; i++) {
            struct place there = here;
            validate(&s, &there, i, broken);
            EXPECT_EQ(there.word >> 32, here.word >> 32);
            clear_unused(&there);
            add_place(&there);
        }
    }
    return NULL;
}

static const char *explore(uint32_t n, uint32_t k, uint64_t spare, unsigned broken)
{
    return explore_with(n, k, colored_paper_m(n, k), spare, broken);
}

static void coloured_tickets_are_valid_when_numbered_ones_are(void)
{
    for (uint32_t k = 1; k <= 4; k++) {
        for (uint32_t n = 1; n <= 6; n++) {
            const char *wrong = explore(n, k, 0, 0);
            if (wrong != NULL) {
                (void)fprintf(stderr, "n=%u k=%u: %s\n", n, k, wrong);
            }
            EXPECT(wrong == NULL);
        }
    }
}

static void the_exploration_is_not_vacuous(void)
{
    struct colored_shape s;
    uint32_t colours = 0;
    EXPECT_EQ(colored_shape_for(&s, 4, 2), 0);
    EXPECT(explore(4, 2, 0, 0) == NULL);
    for (uint32_t i = 0; i < queued; i++) {
        colours |= 1U << colored_color(&s, colored_valid(&s, queue[i].word));
    }
    EXPECT_EQ(colours, 7); /* all three colours are reused */
    EXPECT(queued > 200);
}

static void the_spare_bits_are_kept(void)
{
    static const uint64_t patterns[] = {1, 0x100, 0x155, 0x1ff};
    for (unsigned i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        EXPECT(explore(3, 2, patterns[i], 0) == NULL);
    }
}

static void each_guard_is_needed(void)
{
    for (unsigned broken = 1; broken <= COLORED_OLD_BLOCK_INVALID; broken *= 2) {
        bool caught = false;
        for (uint32_t k = 1; k <= 3 && !caught; k++) {
            for (uint32_t n = 2; n <= 4 && !caught; n++) {
                caught = explore(n, k, 0, broken) != NULL;
            }
        }
        if (!caught) {
            (void)fprintf(stderr, "mutant %u is not caught\n", broken);
        }
        EXPECT(caught);
    }
}

/* The paper's footnote 2. This is the only size at which LEADS needs < for different colours. */
static void blocks_of_n_minus_k_are_enough_and_one_less_is_not(void)
{
    for (uint32_t k = 1; k <= 2; k++) {
        for (uint32_t n = 2 * k + 2; n <= 6; n++) {
            EXPECT(explore_with(n, k, n - k, 0, 0) == NULL);
            EXPECT(explore_with(n, k, n - k - 1, 0, 0) != NULL);
        }
    }
}

static void long_walks_agree_at_large_sizes(void)
{
    static const struct {
        uint32_t n, k;
    } sizes[] = {{28, 13}, {20, 5}, {32, 1}, {9, 9}, {30, 12}, {12, 6}};
    uint64_t seed = 1989;
    for (unsigned z = 0; z < sizeof sizes / sizeof sizes[0]; z++) {
        struct colored_shape s;
        EXPECT_EQ(colored_shape_for(&s, sizes[z].n, sizes[z].k), 0);
        struct place p = start_of(&s, 0x0aa);
        for (unsigned step = 0; step < 50000; step++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            unsigned valid = 0;
            while (valid < p.count && p.held[valid].ahead <= 0) {
                valid++;
            }
            /* For 64 steps at a time only take, or only validate, to drive the pointers apart. */
            bool taking = step / 64 % 3 == 0 ? seed >> 63 : step / 64 % 3 == 1;
            if (p.count < s.n && (taking || valid == 0)) {
                take(&s, &p, 0);
            } else if (valid > 0) {
                validate(&s, &p, (unsigned)((seed >> 33) % valid), 0);
            }
            EXPECT(fault(&s, &p) == NULL);
            EXPECT_EQ(spare_of(p.word), 0x0aa);
        }
    }
}

static void the_largest_sizes_that_fit_are_these(void)
{
    static const uint32_t largest_n[] = {0,       4194304, 2097153, 2097154, 1048579,
                                         1048580, 524293,  131078,  16391,   4104,
                                         1033,    266,     75,      28};
    struct colored_shape s;
    for (uint32_t k = 1; k <= 13; k++) {
        EXPECT_EQ(colored_shape_for(&s, largest_n[k], k), 0);
        EXPECT_EQ(s.n, largest_n[k]);
        EXPECT_EQ(s.k, k);
        EXPECT_EQ(s.m, largest_n[k] - k + 1);
        EXPECT(s.m <= 1U << s.value_bits && k < 1U << s.color_bits);
        EXPECT(quant_rows(k) <= 1U << s.quant_bits);
        EXPECT(s.value_bits + s.color_bits <= 23);
        EXPECT(s.value_bits + s.color_bits + s.quant_bits <= 32);
        EXPECT_EQ(colored_shape_for(&s, largest_n[k] + 1, k), -ERANGE);
    }
}

static void sizes_that_do_not_fit_are_refused_and_change_nothing(void)
{
    struct colored_shape s;
    struct colored_shape before;
    memset(&s, 0x5a, sizeof s);
    before = s;
    EXPECT_EQ(colored_shape_for(&s, 4, 0), -ERANGE);
    EXPECT_EQ(colored_shape_for(&s, 0, 1), -ERANGE);
    EXPECT_EQ(colored_shape_for(&s, 1, 14), -ERANGE);
    EXPECT_EQ(colored_shape_for(&s, 1, 15), -ERANGE);
    EXPECT_EQ(colored_shape_for(&s, 100, 16), -ERANGE);
    EXPECT_EQ(colored_shape_for(&s, UINT32_MAX, 1), -ERANGE);
    EXPECT_EQ(colored_shape_for(&s, 2, UINT32_MAX), -ERANGE);
    EXPECT_EQ(colored_shape_for(&s, UINT32_MAX, UINT32_MAX), -ERANGE);
    EXPECT_EQ(colored_shape_with(&s, 4, 1, 0), -ERANGE);
    EXPECT(s.n == before.n && s.k == before.k && s.m == before.m);
    EXPECT_EQ(s.value_bits, before.value_bits);
    EXPECT_EQ(s.color_bits, before.color_bits);
    EXPECT_EQ(s.quant_bits, before.quant_bits);
}

int main(void)
{
    RUN(coloured_tickets_are_valid_when_numbered_ones_are);
    RUN(the_exploration_is_not_vacuous);
    RUN(the_spare_bits_are_kept);
    RUN(each_guard_is_needed);
    RUN(blocks_of_n_minus_k_are_enough_and_one_less_is_not);
    RUN(long_walks_agree_at_large_sizes);
    RUN(the_largest_sizes_that_fit_are_these);
    RUN(sizes_that_do_not_fit_are_refused_and_change_nothing);
    return 0;
}
