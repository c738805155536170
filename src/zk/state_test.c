/* Tests of the stored state of a pool on ZooKeeper: its texts, and the plans made from it. */
#include "zk/state.h"

#include "test.h"

#include <errno.h>
#include <string.h>

static struct zk_state parsed(const char *text)
{
    struct zk_state state;
    EXPECT_EQ(zk_parse_state(text, strlen(text), &state), 0);
    return state;
}

static void a_state_is_printed_as_it_was_read(void)
{
    static const char waits[] = "usher 1 1 0 0 0 0 0 - / 0.0000000000100000000042 "
                                "1.0000000000100000000001";
    static const char *const texts[] = {"usher 1 1 0 0 0 0 0 -",
                                        "usher 1 3 17 2 0 0 0 14 - 16",
                                        "usher 1 0 5 0 0 0 0",
                                        "usher 1 1 9 0 0 0 0 - 2147483647",
                                        "usher 1 1 9 0 3 5 8589934592 10737418241",
                                        waits};
    char text[ZK_STATE_ROOM];
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        struct zk_state state = parsed(texts[t]);
        EXPECT_EQ(zk_print_state(&state, text), strlen(texts[t]));
        EXPECT_EQ(strcmp(text, texts[t]), 0);
    }
}

static void a_text_that_is_no_state_is_refused(void)
{
    static const struct {
        const char *text;
        int error;
    } wrong[] = {
        {"", -EBADMSG},
        {"hello", -EBADMSG},
        {"usher x", -EBADMSG},
        {"usher 2 1 0 0 -", -EPROTONOSUPPORT},
        {"usher 1", -EUCLEAN},
        {"usher 1 1 0 0 0 0 0", -EUCLEAN}, /* fewer entries than seats */
        {"usher 1 1 0 0 0 0 0 - x", -EUCLEAN},
        {"usher 1 1 0 0 0 0 0 -1", -EUCLEAN},
        {"usher 1 1 0 0 0 0 0 9223372036854775808", -EUCLEAN},
        {"usher 1 5000 0 0 0 0 0 -", -EUCLEAN},
        {"usher 1 1 -1 0 0 0 0 -", -EUCLEAN},
        /* first roll after the last */
        {"usher 1 1 0 0 1 0 0 -", -EUCLEAN},
        {"usher 1 1 0 0 0 9 0 -", -EUCLEAN},                          /* too many rolls */
        {"usher 1 1 0 0 0 0 0 - /", -EUCLEAN},                        /* NEXT is empty */
        {"usher 1 1 0 0 0 0 0 - / 0.somebody", -EUCLEAN},             /* not a ticket */
        {"usher 1 1 0 0 0 0 0 - / 0000000000100000000042", -EUCLEAN}, /* no roll */
    };
    struct zk_state state;
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
        EXPECT_EQ(zk_parse_state(wrong[w].text, strlen(wrong[w].text), &state), wrong[w].error);
    }
    static char full[2 * ZK_STATE_ROOM];
    size_t used = (size_t)snprintf(full, sizeof full, "usher 1 1 0 0 0 0 0");
    while (used < ZK_STATE_ROOM - 10) {
        used += (size_t)snprintf(full + used, sizeof full - used, " -");
    }
    EXPECT_EQ(zk_parse_state(full, used, &state), -EUCLEAN); /* too many seats */
}

static void a_ticket_is_known_by_its_name(void)
{
    char name[ZK_NAME_ROOM];
    char whole[ZK_NAME_ROOM + 16];
    struct zk_ticket ticket;
    const uint32_t requests[] = {0, 7, 63, 64, UINT32_MAX};
    for (size_t r = 0; r < sizeof requests / sizeof requests[0]; r++) {
        zk_print_ticket(name, 0xf00000abcdef0001, requests[r]);
        (void)snprintf(whole, sizeof whole, "%s%010d", name, 42);
        EXPECT(zk_parse_ticket(3, whole, &ticket));
        EXPECT(ticket.session == 0xf00000abcdef0001);
        EXPECT_EQ(ticket.n, requests[r]);
        EXPECT_EQ(ticket.roll, 3);
        EXPECT_EQ(ticket.number, 3 * 2147483648 + 42);
        EXPECT_EQ(strcmp(ticket.name, whole), 0);
    }
    zk_print_ticket(name, 0x100000abcdef0001, 7);
    (void)snprintf(whole, sizeof whole, "%s%010d", name, 42);
    EXPECT_EQ(strlen(whole), 22);
    /* the name after the counter wrapped */
    (void)snprintf(whole, sizeof whole, "%s%d", name, INT32_MIN);
    EXPECT(!zk_parse_ticket(0, whole, &ticket));
    EXPECT(!zk_parse_ticket(0, "somebody else's", &ticket));
    EXPECT(!zk_parse_ticket(0, "000000000000000000042", &ticket)); /* no request number */
}

static void the_identity_of_a_ticket_is_read_as_it_was_written(void)
{
    char text[ZK_WHO_ROOM];
    char label[8];
    struct zk_who said = {.pid = 4321,
                          .pid_namespace = 4026531836,
                          .host = "node-1.example",
                          .labels = "A,Bee,a long label",
                          .note = "make\n-j 4\x1b"};
    struct zk_who heard;
    EXPECT_EQ(zk_print_who(&said, text), strlen(text));
    EXPECT(zk_parse_who(text, &heard));
    EXPECT_EQ(heard.pid, 4321);
    EXPECT_EQ(heard.pid_namespace, 4026531836);
    EXPECT_EQ(strcmp(heard.host, "node-1.example"), 0);
    EXPECT_EQ(strcmp(heard.note, "make -j 4 "), 0);
    static const char *const labels[] = {"A", "Bee", "a long ", "", ""};
    for (uint32_t s = 0; s < 5; s++) {
        zk_label(heard.labels, s, label, sizeof label);
        EXPECT_EQ(strcmp(label, labels[s]), 0);
    }
    said.labels = NULL;
    said.note = NULL;
    (void)zk_print_who(&said, text);
    EXPECT(zk_parse_who(text, &heard));
    EXPECT_EQ(heard.labels[0] | heard.note[0], 0);
    static const char *const wrong[] = {"", "1 2 h", "1 2 h\n", "x 2 h\n\n", "-1 2 h\n\n", "1\n\n"};
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
        (void)snprintf(text, sizeof text, "%s", wrong[w]);
        EXPECT(!zk_parse_who(text, &heard));
    }
}

/* Return a sorted line of tickets with these numbers, given in any order. */
static struct zk_line line_of(const uint32_t *numbers, size_t count, const struct zk_state *state)
{
    static struct zk_ticket tickets[100];
    struct zk_line line = {tickets, count, true};
    for (size_t t = 0; t < count; t++) {
        char name[ZK_NAME_ROOM];
        (void)snprintf(name, sizeof name, "000000000010%010u", numbers[t]);
        EXPECT(zk_parse_ticket(0, name, &tickets[t]));
    }
    zk_sort_line(&line, state);
    return line;
}

static void expect_plan(const char *before, const uint32_t *numbers, size_t count, uint64_t leaving,
                        const char *after, unsigned grants)
{
    static struct zk_plan plan;
    char text[ZK_STATE_ROOM];
    struct zk_state state = parsed(before);
    struct zk_line line = line_of(numbers, count, &state);
    zk_make_plan(&plan, &state, &line, leaving, 1000);
    (void)zk_print_state(&plan.state, text);
    if (strcmp(text, after) != 0) {
        (void)fprintf(stderr, "%s becomes %s, not %s\n", before, text, after);
        exit(1);
    }
    EXPECT_EQ(plan.count, grants);
    for (unsigned g = 0; g < plan.count; g++) {
        EXPECT_EQ(plan.grants[g].fence, 1000 + state.granted + g + 1);
        EXPECT_EQ(plan.state.holder[plan.grants[g].seat], plan.grants[g].ticket->number);
        EXPECT(g == 0 || plan.grants[g].ticket->number > plan.grants[g - 1].ticket->number);
    }
}

static void empty_seats_are_for_the_oldest(void)
{
    const uint32_t line[] = {9, 7, 8, 5, 6};
    expect_plan("usher 1 2 0 0 0 0 0 - -", line, 5, ZK_NO_TICKET, "usher 1 2 2 0 0 0 0 5 6", 2);
    expect_plan("usher 1 2 2 0 0 0 0 5 6", line, 5, ZK_NO_TICKET, "usher 1 2 2 0 0 0 0 5 6", 0);
    expect_plan("usher 1 2 2 0 0 0 0 5 6", line, 5, 5, "usher 1 2 3 0 0 0 0 7 6", 1); /* 5 leaves */
    expect_plan("usher 1 3 3 0 0 0 0 5 4 6", line, 5, ZK_NO_TICKET, "usher 1 3 4 1 0 0 0 5 7 6",
                1); /* 4 is not in the list */
    expect_plan("usher 1 9 0 0 0 0 0 - - - - - - - - -", line, 5, ZK_NO_TICKET,
                "usher 1 9 5 0 0 0 0 5 6 7 8 9 - - - -", 5);
    expect_plan("usher 1 2 0 0 0 0 0 - -", line, 0, ZK_NO_TICKET, "usher 1 2 0 0 0 0 0 - -", 0);
}

static void a_pool_that_has_shrunk_grants_nothing_until_it_may(void)
{
    const uint32_t line[] = {5, 6, 7, 8};
    expect_plan("usher 1 1 2 0 0 0 0 - 5 6", line, 4, ZK_NO_TICKET, "usher 1 1 2 0 0 0 0 - 5 6", 0);
    expect_plan("usher 1 1 2 0 0 0 0 - 5 6", line, 4, 6, "usher 1 1 2 0 0 0 0 - 5", 0);
    expect_plan("usher 1 1 2 0 0 0 0 - 5", line, 4, 5, "usher 1 1 3 0 0 0 0 6", 1);
    expect_plan("usher 1 0 2 0 0 0 0 5", line, 4, 5, "usher 1 0 2 0 0 0 0", 0);
}

static void there_is_room_if_fewer_seats_are_named_than_there_are(void)
{
    static const struct {
        const char *text;
        bool room;
    } states[] = {{"usher 1 1 0 0 0 0 0 -", true},
                  {"usher 1 1 9 0 0 0 0 8", false},
                  {"usher 1 3 17 2 0 0 0 14 - 16", true},
                  {"usher 1 0 5 0 0 0 0", false},
                  {"usher 1 1 9 0 0 0 0 - 2147483647", false} /* the pool has shrunk */};
    for (size_t s = 0; s < sizeof states / sizeof states[0]; s++) {
        struct zk_state state = parsed(states[s].text);
        EXPECT_EQ(zk_has_free_seat(&state), states[s].room);
    }
}

static void in_a_long_line_the_next_tickets_are_known(void)
{
    static struct zk_plan plan;
    static struct zk_plan later;
    uint32_t numbers[90];
    for (uint32_t t = 0; t < 90; t++) {
        numbers[t] = 5 + t;
    }
    struct zk_state state = parsed("usher 1 2 2 0 0 0 0 5 6");
    EXPECT(!zk_is_full_and_long(&state));
    struct zk_line line = line_of(numbers, 90, &state);
    zk_make_plan(&plan, &state, &line, 5, 1000);
    EXPECT_EQ(plan.count, 1);
    EXPECT_EQ(plan.state.next_count, ZK_MOST_NEXT);
    EXPECT_EQ(plan.state.next[0].number, 8);
    EXPECT(zk_is_full_and_long(&plan.state));
    struct zk_line next = {plan.state.next, plan.state.next_count, false};
    zk_make_plan(&later, &plan.state, &next, 6, 1000);
    EXPECT_EQ(later.count, 1);
    EXPECT_EQ(later.state.holder[0], 7); /* a holder outside NEXT does not count as gone */
    EXPECT_EQ(later.state.holder[1], 8);
    EXPECT_EQ(later.state.reaped, 0);
    EXPECT_EQ(later.state.next_count, ZK_MOST_NEXT - 1);
    EXPECT_EQ(later.state.next[0].number, 9);
    line = line_of(numbers, 20, &state);
    zk_make_plan(&plan, &state, &line, 5, 1000);
    EXPECT_EQ(plan.state.next_count, 0);
}

/* Change a state at random, as a faulty client might. */
static size_t damage_text(char *text, size_t length, uint64_t *seed)
{
    static const char some[] = "0123456789 -/.x";
    for (int changes = 0; changes < 3; changes++) {
        *seed = *seed * 6364136223846793005 + 1442695040888963407;
        size_t at = (size_t)(*seed >> 33) % length;
        text[at] = some[(*seed >> 20) % (sizeof some - 1)];
        if ((*seed >> 12) % 8 == 0) {
            length = at + 1;
        }
    }
    return length;
}

/* For each damaged state that parses: the plan prints, parses again, and grants at most k seats. */
static void any_state_is_refused_or_makes_a_plan(void)
{
    static struct zk_plan plan;
    static struct zk_state again;
    static char text[ZK_STATE_ROOM];
    static char printed[ZK_STATE_ROOM];
    const uint32_t numbers[] = {5, 6, 7, 8, 9};
    uint64_t seed = 1;
    int planned = 0;
    for (int round = 0; round < 100000; round++) {
        size_t length = (size_t)snprintf(text, sizeof text,
                                         "usher 1 3 17 2 0 1 0 5 - 7 / 0.0000000000100000000008 "
                                         "0.0000000000100000000009");
        length = damage_text(text, length, &seed);
        static struct zk_state state;
        if (zk_parse_state(text, length, &state) != 0) {
            continue;
        }
        struct zk_line line = line_of(numbers, 5, &state);
        struct zk_line next = {state.next, state.next_count, false};
        zk_make_plan(&plan, &state, round % 2 == 0 ? &line : &next, 5, 1000);
        EXPECT(plan.count <= state.seats);
        length = zk_print_state(&plan.state, printed);
        EXPECT_EQ(zk_parse_state(printed, length, &again), 0);
        EXPECT_EQ(again.granted, state.granted + plan.count);
        planned++;
    }
    EXPECT(planned > 1000);
}

static void a_name_has_hosts_and_a_path(void)
{
    char *hosts;
    char *path;
    EXPECT_EQ(zk_parse_name("zk://a,b:7,[::1],[::1]:9/pools/gpu", &hosts, &path), 0);
    EXPECT_EQ(strcmp(hosts, "a:2181,b:7,[::1]:2181,[::1]:9"), 0);
    EXPECT_EQ(strcmp(path, "/pools/gpu"), 0);
    free(hosts);
    free(path);
}

int main(void)
{
    RUN(a_state_is_printed_as_it_was_read);
    RUN(a_text_that_is_no_state_is_refused);
    RUN(a_ticket_is_known_by_its_name);
    RUN(the_identity_of_a_ticket_is_read_as_it_was_written);
    RUN(there_is_room_if_fewer_seats_are_named_than_there_are);
    RUN(in_a_long_line_the_next_tickets_are_known);
    RUN(empty_seats_are_for_the_oldest);
    RUN(a_pool_that_has_shrunk_grants_nothing_until_it_may);
    RUN(any_state_is_refused_or_makes_a_plan);
    RUN(a_name_has_hosts_and_a_path);
    return 0;
}
