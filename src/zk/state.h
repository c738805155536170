/*
 * What a pool on ZooKeeper is made of, and what follows from it: pure functions of text and numbers
 * that know nothing of servers. protocol.h says how they are used.
 *
 *   P              the pool: "usher 1 SEATS GRANTED REAPED FIRST LAST PAST HOLDER.. [/ NEXT..]"
 *   P/tR           roll R of tickets, FIRST <= R <= LAST: new tickets come from the last one
 *   P/tR/NAME      a ticket, from arrival to release; "" while it waits, "SEAT FENCE" once granted
 *   P/w/SESSION    who that session is: zk_print_who
 *
 * HOLDER s is the number of the ticket in seat s, or "-". A ticket's NAME is the session, the
 * number of the request in that session, and the sequence number that ZooKeeper has given it: 22
 * bytes or a few more. Its number is 2^31 R + sequence number, so numbers are in order of creation.
 *
 * NEXT, only if the line is long: the names, with their rolls, of the oldest who wait. It spares
 * listing the line.
 *
 * Always:
 *   a ticket is in at most one seat
 *   a ticket that waits has a higher number than any that was ever granted
 *   who waits and is not in NEXT has a higher number than all in NEXT
 *   in a roll before LAST no ticket is created any more
 */
#ifndef USHER_ZK_STATE_H
#define USHER_ZK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ZK_MOST_SEATS = 4096, /* so that the data of a pool stays small: 20 bytes for each at most */
    ZK_MOST_ROLLS = 8,    /* at a time */
    ZK_MOST_GRANTS = 64,  /* in one transaction */
    ZK_MOST_NEXT = 32,
    ZK_LONG_LINE = 64, /* from so many who wait on there is NEXT */
    ZK_NAME_ROOM = 32,
    ZK_STATE_ROOM = 160 + 21 * ZK_MOST_SEATS + (12 + ZK_NAME_ROOM) * ZK_MOST_NEXT,
    ZK_PATH_ROOM = 540 + ZK_NAME_ROOM, /* of a ticket's path */
    ZK_WHO_ROOM = 4096
};

#define ZK_NOBODY UINT32_MAX    /* no seat */
#define ZK_NO_TICKET UINT64_MAX /* no number of a ticket */

/* A ticket, from its roll and its name. */
struct zk_ticket {
    char name[ZK_NAME_ROOM];
    uint64_t session, number;
    uint32_t n; /* which request of that session */
    uint32_t roll;
    uint32_t seat; /* zk_settle fills it in; ZK_NOBODY: it waits */
};

struct zk_state {
    uint32_t seats;       /* k */
    uint64_t granted;     /* seats, since the pool was made; never decreases */
    uint64_t reaped;      /* of these, whose holders ended without giving them back */
    uint32_t first, last; /* rolls */
    uint64_t past;        /* tickets of rolls before the first */
    uint32_t count;       /* entries of holder: k, or more if it has shrunk and they are held */
    uint64_t holder[ZK_MOST_SEATS];
    uint32_t next_count;
    struct zk_ticket next[ZK_MOST_NEXT];
};

/* Tickets, the oldest first: all there are, or those of NEXT. */
struct zk_line {
    struct zk_ticket *tickets;
    size_t count;
    bool whole;
};

struct zk_grant {
    const struct zk_ticket *ticket;
    uint32_t seat;
    uint64_t fence;
};

/* What is to be done: the grants, and the state with them. */
struct zk_plan {
    struct zk_state state;
    struct zk_grant grants[ZK_MOST_GRANTS];
    unsigned count;
};

/* Who a session is. */
struct zk_who {
    int32_t pid;
    uint64_t pid_namespace;
    char host[65];
    const char *labels, *note; /* of zk_print_who: or NULL; of zk_parse_who: in its text */
};

/* state.c: 0, or -EBADMSG: not a pool, -EPROTONOSUPPORT: of another version, -EUCLEAN: damaged. */
int zk_parse_state(const char *text, size_t length, struct zk_state *state);
/* Into ZK_STATE_ROOM; the length. */
size_t zk_print_state(const struct zk_state *state, char *text);

/* names.c. Whether it is the name of a ticket. */
bool zk_parse_ticket(uint32_t roll, const char *name, struct zk_ticket *ticket);
/* All but the sequence number, into ZK_NAME_ROOM. */
void zk_print_ticket(char *name, uint64_t session, uint32_t n);
/* The name of a session below P/w, into ZK_NAME_ROOM. */
void zk_print_session(char *name, uint64_t session);
/* The data of a ticket that was granted. Whether it is that. */
bool zk_parse_grant(const char *text, size_t length, uint32_t *seat, uint64_t *fence);
size_t zk_print_grant(const struct zk_grant *grant, char *text, size_t room);
/* Into ZK_WHO_ROOM, in what fits; the length. */
size_t zk_print_who(const struct zk_who *who, char *text);
/* Whether it is that. `text` is a string, and is taken apart; nothing in it would garble a
   terminal then. */
bool zk_parse_who(char *text, struct zk_who *who);
/* The label of a seat, as much of it as fits; "" if there is none. */
void zk_label(const char *labels, uint32_t seat, char *label, size_t room);
/* zk://HOST[:PORT],../PATH: hosts with their ports, and the path. Freed by the caller. 0, -EINVAL
   or -ENOMEM. */
int zk_parse_name(const char *name, char **hosts, char **path);

/* plan.c. Sort a line, then say who is in which seat. */
void zk_settle(struct zk_line *line, const struct zk_state *state);
/* How many hold a seat, in a whole line that is settled. */
uint32_t zk_holders(const struct zk_line *line);
/* Fewer seats than there are have somebody in them, as far as the state says. */
bool zk_has_room(const struct zk_state *state);
/* None has, and there are some in NEXT. */
bool zk_is_crowded(const struct zk_state *state);

/*
 * Plan what is to be done next. If the line is whole it was listed after the state was read: a
 * ticket named in the state and not in the line is gone, and its seat is empty. Empty seats are for
 * the oldest of those who wait, while fewer than k hold one. `leaving` is the number of a ticket
 * whose seat is to be given on, or ZK_NO_TICKET. Fences count up from `base`.
 */
void zk_make_plan(struct zk_plan *plan, const struct zk_state *state, const struct zk_line *line,
                  uint64_t leaving, uint64_t base);

#endif
