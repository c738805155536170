/*
 * Test the set of states: every state is found under its number and unpacks unchanged, while fields
 * widen, keys grow to several words, and memory runs out.
 */
#include "check/explore/seen.h"

#include "test.h"

#include <errno.h>
#include <string.h>

enum { WORDS = 2, BYTES = 5, MOST_STATES = 120000 };

/* A whole state, unpacked. */
struct whole {
    uint64_t words[WORDS];
    unsigned char states[CHECK_MAX_PROCESSES * BYTES];
};

static struct whole remembered[MOST_STATES];

static struct step_system system_of(unsigned n)
{
    return (struct step_system){.n = n, .k = 1, .shared_words = WORDS, .private_bytes = BYTES};
}

/* The state number `index` of a family: different for different indices below
   shared * private, and all n processes different from each other. */
static struct whole make(unsigned n, uint32_t index, uint32_t shared, uint32_t private)
{
    struct whole w;
    memset(&w, 0, sizeof w);
    uint32_t x = index / shared;
    w.words[0] = (uint64_t)(index % shared) << 40;
    w.words[1] = ~w.words[0];
    for (unsigned i = 0; i < n; i++) {
        uint32_t value = (x + i * 7) % private;
        memcpy(w.states + i * BYTES + 1, &value, sizeof value); /* the last bytes differ */
    }
    return w;
}

/* Number the parts of a state and pack its key, as the explorer does. 0 or -ENOMEM. */
static int pack(struct check_seen *seen, struct whole *w, uint64_t *key)
{
    uint32_t numbers[1 + CHECK_MAX_PROCESSES];
    int error = check_parts_number(seen, &seen->shared, w->words, &numbers[0]);
    for (unsigned i = 0; i < seen->system->n && error == 0; i++) {
        error = check_parts_number(seen, &seen->private, step_state_of(seen->system, w->states, i),
                                   &numbers[1 + i]);
    }
    if (error == 0) {
        error = check_seen_widen(seen);
    }
    memset(key, 0, CHECK_KEY_WORDS * sizeof *key);
    for (unsigned i = 0; i <= seen->system->n && error == 0; i++) {
        check_seen_set_part(seen, key, i, numbers[i]);
    }
    return error;
}

static int put(struct check_seen *seen, struct whole *w, uint32_t *number, bool *fresh)
{
    uint64_t key[CHECK_KEY_WORDS];
    int error = pack(seen, w, key);
    if (error == 0) {
        error = check_seen_reserve(seen, 1);
    }
    if (error == 0) {
        *number = check_seen_put(seen, key, check_seen_hash(seen, key), fresh);
    }
    return error;
}

static void expect_put(struct check_seen *seen, struct whole w, uint32_t expected,
                       bool expect_fresh)
{
    uint32_t number = 0;
    bool fresh = false;
    EXPECT_EQ(put(seen, &w, &number, &fresh), 0);
    EXPECT_EQ(number, expected);
    EXPECT_EQ(fresh, expect_fresh);
}

/* The first `count` remembered states are in the set, under their numbers, and unpack unchanged. */
static void expect_all_there(const struct check_seen *seen, uint32_t count)
{
    EXPECT_EQ(seen->count, count);
    for (uint32_t s = 0; s < count; s++) {
        struct whole back;
        memset(&back, 0, sizeof back);
        check_seen_get(seen, s, back.words, back.states);
        EXPECT_EQ(memcmp(&back, &remembered[s], sizeof back), 0);
        const uint64_t *key = check_seen_key(seen, s);
        EXPECT_EQ(check_seen_find(seen, key, check_seen_hash(seen, key)), s);
    }
}

static void expect_no_field_straddles(const struct check_seen *seen)
{
    uint64_t taken[CHECK_KEY_WORDS] = {0};
    for (unsigned f = 0; f <= seen->system->n; f++) {
        struct check_field field = seen->fields[f];
        EXPECT(field.bits >= 1 && field.shift + field.bits <= 64);
        EXPECT(field.word < seen->key_words);
        uint64_t mask = ((1ULL << field.bits) - 1) << field.shift;
        EXPECT_EQ(taken[field.word] & mask, 0);
        taken[field.word] |= mask;
    }
}

static void states_are_numbered_in_the_order_put(void)
{
    struct step_system system = system_of(2);
    struct check_budget budget = {.limit = SIZE_MAX};
    struct check_seen seen;
    EXPECT_EQ(check_seen_init(&seen, &system, &budget), 0);
    for (uint32_t s = 0; s < MOST_STATES; s++) {
        /* in an order unrelated to the values */
        remembered[s] = make(2, (uint32_t)((uint64_t)s * 77773 % MOST_STATES), 300, 1000);
        expect_put(&seen, remembered[s], s, true);
    }
    for (uint32_t s = MOST_STATES; s-- > 0;) {
        expect_put(&seen, remembered[s], s, false);
    }
    expect_all_there(&seen, MOST_STATES);
    EXPECT_EQ(seen.key_words, 1);
    check_seen_free(&seen);
    EXPECT_EQ(budget.used, 0);
}

static void fields_widen_and_nothing_is_lost(void)
{
    struct step_system system = system_of(3);
    struct check_budget budget = {.limit = SIZE_MAX};
    struct check_seen seen;
    unsigned widened = 0;
    EXPECT_EQ(check_seen_init(&seen, &system, &budget), 0);
    EXPECT_EQ(seen.key_words, 1);
    for (uint32_t s = 0; s < 3000; s++) {
        unsigned before = seen.fields[0].bits * 100U + seen.fields[1].bits;
        /* each state has new parts of both kinds */
        remembered[s] = make(3, s * 2 + s * 5000, 5000, 3000);
        expect_put(&seen, remembered[s], s, true);
        expect_no_field_straddles(&seen);
        if (before != seen.fields[0].bits * 100U + seen.fields[1].bits) {
            widened++;
            expect_all_there(&seen, s + 1);
        }
    }
    expect_all_there(&seen, 3000);
    EXPECT(widened >= 12); /* from one bit to twelve */
    EXPECT_EQ(seen.fields[1].bits, 12);
    check_seen_free(&seen);
}

static void keys_of_several_words_hold_sixteen_processes(void)
{
    struct step_system system = system_of(CHECK_MAX_PROCESSES);
    struct check_budget budget = {.limit = SIZE_MAX};
    struct check_seen seen;
    unsigned key_words = 1;
    EXPECT_EQ(check_seen_init(&seen, &system, &budget), 0);
    for (uint32_t s = 0; s < 6000; s++) {
        remembered[s] = make(CHECK_MAX_PROCESSES, s, 3, 2000);
        expect_put(&seen, remembered[s], s, true);
        expect_no_field_straddles(&seen);
        if (seen.key_words != key_words) {
            EXPECT(seen.key_words > key_words);
            key_words = seen.key_words;
            expect_all_there(&seen, s + 1);
        }
    }
    EXPECT(key_words >= 3); /* 16 fields of 11 bits */
    expect_all_there(&seen, 6000);
    for (uint32_t s = 0; s < 6000; s++) {
        expect_put(&seen, remembered[s], s, false);
    }
    check_seen_free(&seen);
    EXPECT_EQ(budget.used, 0);
}

static void states_that_differ_in_one_process_are_different(void)
{
    struct step_system system = system_of(CHECK_MAX_PROCESSES);
    struct check_budget budget = {.limit = SIZE_MAX};
    struct check_seen seen;
    EXPECT_EQ(check_seen_init(&seen, &system, &budget), 0);
    struct whole base = make(CHECK_MAX_PROCESSES, 0, 1, 1);
    remembered[0] = base;
    expect_put(&seen, base, 0, true);
    for (unsigned i = 0; i < CHECK_MAX_PROCESSES; i++) {
        struct whole other = base;
        other.states[i * BYTES + BYTES - 1] = 1;
        remembered[1 + i] = other;
        expect_put(&seen, other, 1 + i, true);
    }
    base.words[WORDS - 1] ^= 1ULL << 63;
    remembered[1 + CHECK_MAX_PROCESSES] = base;
    expect_put(&seen, base, 1 + CHECK_MAX_PROCESSES, true);
    expect_all_there(&seen, 2 + CHECK_MAX_PROCESSES);
    check_seen_free(&seen);
}

static void looking_up_puts_nothing(void)
{
    struct step_system system = system_of(2);
    struct check_budget budget = {.limit = SIZE_MAX};
    struct check_seen seen;
    EXPECT_EQ(check_seen_init(&seen, &system, &budget), 0);
    for (uint32_t s = 0; s < 500; s++) {
        uint64_t key[CHECK_KEY_WORDS];
        remembered[s] = make(2, s, 25, 40);
        EXPECT_EQ(pack(&seen, &remembered[s], key), 0);
        EXPECT_EQ(check_seen_find(&seen, key, check_seen_hash(&seen, key)), CHECK_NO_STATE);
        EXPECT_EQ(seen.count, s);
        expect_put(&seen, remembered[s], s, true);
    }
    check_seen_free(&seen);
}

/* Put states until memory runs out or `most` are in the set. Return their number. */
static uint32_t fill(struct check_seen *seen, uint32_t most)
{
    uint32_t s = 0;
    for (; s < most; s++) {
        uint32_t number = 0;
        bool fresh = false;
        remembered[s] = make(seen->system->n, s, 50, 2000);
        int error = put(seen, &remembered[s], &number, &fresh);
        EXPECT(error == 0 || error == -ENOMEM);
        if (error != 0) {
            break;
        }
        EXPECT(fresh && number == s);
    }
    return s;
}

static void running_out_of_memory_loses_nothing(void)
{
    enum { STATES = 4000, STEP = 499 };
    struct step_system system = system_of(12);
    uint32_t last = 0;
    unsigned cut_short = 0;
    for (size_t limit = 0; last < STATES; limit += STEP) {
        struct check_budget budget = {.limit = limit};
        struct check_seen seen;
        EXPECT(limit < 64U << 20);
        int error = check_seen_init(&seen, &system, &budget);
        EXPECT(error == 0 || error == -ENOMEM);
        if (error == 0) {
            uint32_t count = fill(&seen, STATES);
            cut_short += count > 0 && count < STATES;
            expect_all_there(&seen, count);
            /* it refuses again, and keeps all states */
            if (count < STATES) {
                uint32_t number;
                bool fresh;
                EXPECT_EQ(put(&seen, &remembered[count], &number, &fresh), -ENOMEM);
                expect_all_there(&seen, count);
            }
            last = count;
        }
        EXPECT(budget.used <= limit && budget.most <= limit);
        check_seen_free(&seen);
        EXPECT_EQ(budget.used, 0);
    }
    EXPECT(cut_short > 50);
}

static void a_lifted_limit_lets_it_go_on(void)
{
    struct step_system system = system_of(4);
    struct check_budget budget = {.limit = 200000};
    struct check_seen seen;
    EXPECT_EQ(check_seen_init(&seen, &system, &budget), 0);
    uint32_t count = fill(&seen, 50000);
    EXPECT(count > 0 && count < 50000);
    budget.limit = SIZE_MAX;
    for (uint32_t s = 0; s < 50000; s++) {
        remembered[s] = make(4, s, 50, 2000);
        expect_put(&seen, remembered[s], s, s >= count);
    }
    expect_all_there(&seen, 50000);
    check_seen_free(&seen);
}

static void room_for_more_states_than_can_be_numbered_is_refused(void)
{
    struct step_system system = system_of(2);
    struct check_budget budget = {.limit = SIZE_MAX / 4};
    struct check_seen seen;
    EXPECT_EQ(check_seen_init(&seen, &system, &budget), 0);
    EXPECT_EQ(check_seen_reserve(&seen, UINT32_MAX), -ENOMEM);
    remembered[0] = make(2, 0, 1, 1);
    expect_put(&seen, remembered[0], 0, true);
    expect_all_there(&seen, 1);
    check_seen_free(&seen);
}

int main(void)
{
    RUN(states_are_numbered_in_the_order_put);
    RUN(fields_widen_and_nothing_is_lost);
    RUN(keys_of_several_words_hold_sixteen_processes);
    RUN(states_that_differ_in_one_process_are_different);
    RUN(looking_up_puts_nothing);
    RUN(running_out_of_memory_loses_nothing);
    RUN(a_lifted_limit_lets_it_go_on);
    RUN(room_for_more_states_than_can_be_numbered_is_refused);
    return 0;
}
