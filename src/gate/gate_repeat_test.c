/*
 * The gate's word repeats, after as few as (k + 1) M tickets, and that is harmless. Each operation
 * is a function of the word and of its guest's ticket, and of nothing else. So a compare-and-swap
 * that succeeds on a word that was replaced and came back does what is right at that moment.
 *
 * The test explores all interleavings of guests that read the word and swap it in two steps, with
 * any number of operations of the others in between. The gate is so small that its word repeats. At
 * most k guests are inside, tickets become valid in the order in which they were taken, and k are
 * valid when all guests have left. The exploration counts the swaps on a word that was replaced:
 * there are some.
 */
#include "gate/gate_word.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_GUESTS = 3, SLOTS = 1 << 21 };

enum where { OUT, TAKES, WAITS, INSIDE, LEAVES };

struct guest {
    uint64_t read; /* TAKES, LEAVES: the word as it was read */
    uint32_t ticket;
    uint8_t where, order; /* order: number of guests before it in line when it took its ticket */
    bool replaced;        /* the word has changed since it was read */
    uint8_t unused;       /* in the place of padding: states are compared as bytes */
};

struct state {
    uint64_t word;
    struct guest guests[MOST_GUESTS];
};

/* All states found, by open addressing. The unexplored ones are the last ones. */
static struct state *states;
static uint32_t *slots;
static uint32_t count;
static unsigned guests, seats;
static uint64_t came_back;

static void meet(const struct state *state)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    const unsigned char *bytes = (const void *)state;
    for (size_t b = 0; b < sizeof *state; b++) {
        hash = (hash ^ bytes[b]) * 0x100000001b3ULL;
    }
    uint32_t at = (uint32_t)(hash >> 20) % SLOTS;
    for (; slots[at] != 0; at = (at + 1) % SLOTS) {
        if (memcmp(&states[slots[at] - 1], state, sizeof *state) == 0) {
            return;
        }
    }
    EXPECT(count < SLOTS / 2);
    states[count++] = *state;
    slots[at] = count;
}

/* Set the word to `to` if it still is what the guest has read. */
static bool swap(struct state *s, struct guest *g, uint64_t to)
{
    if (s->word != g->read) {
        return false;
    }
    came_back += g->replaced;
    for (unsigned o = 0; o < guests; o++) {
        struct guest *other = &s->guests[o];
        bool relies = other != g && (other->where == TAKES || other->where == LEAVES);
        other->replaced = other->replaced || (relies && to != s->word);
    }
    s->word = to;
    return true;
}

static void begin(struct state *s, struct guest *g, enum where where)
{
    g->where = (uint8_t)where;
    g->read = s->word;
    g->replaced = false;
}

static void rest(struct guest *g, enum where where)
{
    g->where = (uint8_t)where;
    g->read = 0;
    g->replaced = false;
}

/* The guest enters: the tickets of all guests that took one before it are valid. */
static void enter(struct state *s, struct guest *g)
{
    for (unsigned o = 0; o < guests; o++) {
        EXPECT(s->guests[o].where != WAITS || s->guests[o].order >= g->order ||
               gate_is_valid(s->word, s->guests[o].ticket) == 1);
    }
    for (unsigned o = 0; o < guests; o++) {
        bool behind = s->guests[o].where == WAITS && s->guests[o].order > g->order;
        s->guests[o].order = (uint8_t)(s->guests[o].order - behind);
    }
    g->order = 0;
    rest(g, INSIDE);
}

static void took(struct state *s, struct guest *g, const struct gate_step *step)
{
    uint8_t before = 0;
    for (unsigned o = 0; o < guests; o++) {
        before = (uint8_t)(before + (s->guests[o].where == WAITS));
    }
    g->ticket = step->ticket;
    g->order = before;
    if (step->result == 0) {
        enter(s, g);
    } else {
        rest(g, WAITS);
    }
}

static void step_of(struct state *s, struct guest *g)
{
    struct gate_step step;
    switch ((enum where)g->where) {
    case OUT:
        begin(s, g, TAKES);
        break;
    case TAKES:
        step = gate_take(g->read, 0);
        if (step.result < 0) {
            EXPECT_EQ(step.result, -EUSERS);
            rest(g, OUT);
        } else if (swap(s, g, step.word)) {
            took(s, g, &step);
        } else {
            begin(s, g, TAKES);
        }
        break;
    case WAITS:
        if (gate_is_valid(s->word, g->ticket) == 1) {
            enter(s, g);
        }
        break;
    case INSIDE:
        begin(s, g, LEAVES);
        break;
    case LEAVES:
        step = gate_leave(g->read, g->ticket, 0);
        EXPECT_EQ(step.result, 0);
        if (swap(s, g, step.word)) {
            g->ticket = 0;
            rest(g, OUT);
        } else {
            begin(s, g, LEAVES);
        }
        break;
    }
}

static void judge(const struct state *s)
{
    unsigned inside = 0;
    unsigned out = 0;
    for (unsigned g = 0; g < guests; g++) {
        inside += s->guests[g].where == INSIDE || s->guests[g].where == LEAVES;
        out += s->guests[g].where == OUT;
    }
    EXPECT(inside <= seats);
    if (out == guests) {
        struct gate_step step = {.word = s->word};
        for (unsigned k = 0; k < seats; k++) {
            step = gate_take(step.word, 0);
            EXPECT_EQ(step.result, 0);
        }
        EXPECT(gate_take(step.word, 0).result != 0);
    }
}

static void explore(unsigned n, unsigned k)
{
    struct state first;
    memset(&first, 0, sizeof first);
    guests = n;
    seats = k;
    count = 0;
    came_back = 0;
    memset(slots, 0, SLOTS * sizeof *slots);
    EXPECT_EQ(gate_start(&first.word, n, k, gate_least_bits(n, k)), 0);
    meet(&first);
    for (uint32_t s = 0; s < count; s++) {
        for (unsigned g = 0; g < guests; g++) {
            struct state next = states[s];
            step_of(&next, &next.guests[g]);
            judge(&next);
            meet(&next);
        }
    }
    (void)printf("  n=%u k=%u: %u states, %llu swaps on a word that came back\n", n, k, count,
                 (unsigned long long)came_back);
    EXPECT(came_back > 0);
}

static void a_swap_on_a_word_that_came_back_is_the_operation_of_that_moment(void)
{
    explore(2, 1);
    explore(2, 2);
    explore(3, 1);
}

int main(void)
{
    states = malloc((size_t)SLOTS / 2 * sizeof *states);
    slots = malloc((size_t)SLOTS * sizeof *slots);
    EXPECT(states != NULL && slots != NULL);
    RUN(a_swap_on_a_word_that_came_back_is_the_operation_of_that_moment);
    free(slots);
    free(states);
    return 0;
}
