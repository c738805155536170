/* What follows from the state of a pool on ZooKeeper: texts, and who is granted what. */
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
    static const char *const texts[] = {"usher 1 1 0 0 -", "usher 1 3 17 2 14 - 16",
                                        "usher 1 0 5 0", "usher 1 1 9 0 - 2147483647"};
    char text[ZK_STATE_ROOM];
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        struct zk_state state = parsed(texts[t]);
        EXPECT_EQ(zk_print_state(&state, text), strlen(texts[t]));
        EXPECT_EQ(strcmp(text, texts[t]), 0);
    }
}

static void what_is_no_state_is_refused(void)
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
        {"usher 1 1 0 0", -EUCLEAN}, /* fewer entries than seats */
        {"usher 1 1 0 0 - x", -EUCLEAN},
        {"usher 1 1 0 0 -1", -EUCLEAN},
        {"usher 1 1 0 0 2147483648", -EUCLEAN},
        {"usher 1 5000 0 0 -", -EUCLEAN},
        {"usher 1 1 -1 0 -", -EUCLEAN},
    };
    struct zk_state state;
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
        EXPECT_EQ(zk_parse_state(wrong[w].text, strlen(wrong[w].text), &state), wrong[w].error);
    }
    static char full[2 * ZK_STATE_ROOM];
    size_t used = (size_t)snprintf(full, sizeof full, "usher 1 1 0 0");
    while (used < ZK_STATE_ROOM - 10) {
        used += (size_t)snprintf(full + used, sizeof full - used, " -");
    }
    EXPECT_EQ(zk_parse_state(full, used, &state), -EUCLEAN); /* more than there can be */
}

static void a_ticket_is_known_by_its_name(void)
{
    char name[ZK_NAME_ROOM];
    char whole[ZK_NAME_ROOM + 16];
    struct zk_ticket ticket;
    zk_print_ticket(name, 0x100000abcdef0001, 7, 4321, 4026531836, "node-1.example/@");
    (void)snprintf(whole, sizeof whole, "%s%010d", name, 42);
    EXPECT(zk_parse_ticket(whole, &ticket));
    EXPECT(ticket.session == 0x100000abcdef0001);
    EXPECT_EQ(ticket.n, 7);
    EXPECT_EQ(ticket.pid, 4321);
    EXPECT_EQ(ticket.pid_namespace, 4026531836);
    EXPECT_EQ(ticket.sequence, 42);
    EXPECT_EQ(ticket.host_length, strlen("node-1.example__"));
    EXPECT_EQ(strncmp(ticket.host, "node-1.example__", ticket.host_length), 0);
    (void)snprintf(whole, sizeof whole, "%s%d", name, INT32_MIN); /* as it is after the last one */
    EXPECT(!zk_parse_ticket(whole, &ticket));
    EXPECT(!zk_parse_ticket("somebody else's", &ticket));
    EXPECT(!zk_parse_ticket("1-2-3.4@-0000000001", &ticket)); /* no host */
}

/* A line of tickets with these numbers, in any order, settled. */
static struct zk_line line_of(const uint32_t *numbers, size_t count, const struct zk_state *state)
{
    static struct zk_ticket tickets[16];
    struct zk_line line = {tickets, count};
    for (size_t t = 0; t < count; t++) {
        char name[ZK_NAME_ROOM];
        (void)snprintf(name, sizeof name, "1-2-3.4@h-%010u", numbers[t]);
        EXPECT(zk_parse_ticket(name, &tickets[t]));
    }
    zk_settle(&line, state);
    return line;
}

static void expect_plan(const char *before, const uint32_t *numbers, size_t count, uint32_t leaving,
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
        EXPECT_EQ(plan.state.holder[plan.grants[g].seat], plan.grants[g].ticket->sequence);
        EXPECT(g == 0 || plan.grants[g].ticket->sequence > plan.grants[g - 1].ticket->sequence);
    }
}

static void empty_seats_are_for_the_oldest(void)
{
    const uint32_t line[] = {9, 7, 8, 5, 6};
    expect_plan("usher 1 2 0 0 - -", line, 5, ZK_NOBODY, "usher 1 2 2 0 5 6", 2);
    expect_plan("usher 1 2 2 0 5 6", line, 5, ZK_NOBODY, "usher 1 2 2 0 5 6", 0);
    expect_plan("usher 1 2 2 0 5 6", line, 5, 5, "usher 1 2 3 0 7 6", 1); /* 5 leaves */
    expect_plan("usher 1 3 3 0 5 4 6", line, 5, ZK_NOBODY, "usher 1 3 4 1 5 7 6",
                1); /* 4 is gone */
    expect_plan("usher 1 9 0 0 - - - - - - - - -", line, 5, ZK_NOBODY,
                "usher 1 9 5 0 5 6 7 8 9 - - - -", 5);
    expect_plan("usher 1 2 0 0 - -", line, 0, ZK_NOBODY, "usher 1 2 0 0 - -", 0);
}

static void a_pool_that_has_shrunk_grants_nothing_until_it_may(void)
{
    const uint32_t line[] = {5, 6, 7, 8};
    expect_plan("usher 1 1 2 0 - 5 6", line, 4, ZK_NOBODY, "usher 1 1 2 0 - 5 6", 0);
    expect_plan("usher 1 1 2 0 - 5 6", line, 4, 6, "usher 1 1 2 0 - 5", 0);
    expect_plan("usher 1 1 2 0 - 5", line, 4, 5, "usher 1 1 3 0 6", 1);
    expect_plan("usher 1 0 2 0 5", line, 4, 5, "usher 1 0 2 0", 0);
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
    RUN(what_is_no_state_is_refused);
    RUN(a_ticket_is_known_by_its_name);
    RUN(empty_seats_are_for_the_oldest);
    RUN(a_pool_that_has_shrunk_grants_nothing_until_it_may);
    RUN(a_name_has_hosts_and_a_path);
    return 0;
}
