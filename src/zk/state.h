/*
 * The stored state of a pool on ZooKeeper, and what follows from it. These are pure functions of
 * text and numbers; they do not know servers. protocol.h says how they are used.
 *
 *   P              the pool: "usher 1 SEATS GRANTED REAPED FIRST LAST PAST HOLDER.. [/ NEXT..]"
 *   P/tR           roll R, the parent of tickets, FIRST <= R <= LAST; new tickets go to roll LAST
 *   P/tR/NAME      a ticket, from arrival to release: "" while it waits, "SEAT FENCE" once granted
 *   P/w/SESSION    who that session is: zk_print_who
 *
 * HOLDER s is the number of the ticket in seat s, or "-". NAME is the session, the number of the
 * request in that session, and ZooKeeper's sequence number: 22 bytes for the first 64 requests of a
 * session, then a few more. A ticket's number is 2^31 R + sequence number, so numbers are in order
 * of creation.
 *
 * NEXT exists only if the line is long: the names of the oldest waiters, each with its roll. It
 * saves clients from listing the line.
 *
 * Invariants, for tickets that exist:
 *   HOLDER s != HOLDER t                                  for s != t, unless both are "-"
 *   number of a waiter > number of each ticket ever granted
 *   number of a waiter outside NEXT > all numbers in NEXT
 *   GRANTED >= REAPED + number of seats with a holder     the rest were given back
 *   no ticket is created in a roll R < LAST
 */
#ifndef USHER_ZK_STATE_H
#define USHER_ZK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ZK_MOST_SEATS = 4096, /* bounds the data of a pool to 21 bytes a seat */
    ZK_MOST_ROLLS = 8,    /* at a time; bounds the lists of one read */
    ZK_MOST_GRANTS = 64,  /* bounds one transaction */
    ZK_MOST_NEXT = 32,
    ZK_LONG_LINE = 64, /* NEXT is written if at least this many wait */
    ZK_NAME_ROOM = 32,
    ZK_STATE_ROOM = 160 + 21 * ZK_MOST_SEATS + (12 + ZK_NAME_ROOM) * ZK_MOST_NEXT,
    ZK_PATH_ROOM = 540 + ZK_NAME_ROOM, /* room for a ticket's path: a pool's path has at most 512
                                          bytes */
    ZK_WHO_ROOM = 4096
};

#define ZK_NO_SEAT UINT32_MAX   /* not a seat: the ticket waits */
#define ZK_NO_TICKET UINT64_MAX /* not a ticket number */

/* A ticket: its roll and its parsed name. */
struct zk_ticket {
    char name[ZK_NAME_ROOM];
    uint64_t session, number;
    uint32_t n; /* number of the request in that session */
    uint32_t roll;
    uint32_t seat; /* written by zk_sort_line; ZK_NO_SEAT: it waits */
};

struct zk_state {
    uint32_t seats;       /* k */
    uint64_t granted;     /* grants since the pool was created; never decreases */
    uint64_t reaped;      /* grants whose holder ended without giving the seat back */
    uint32_t first, last; /* rolls; first <= last < first + ZK_MOST_ROLLS */
    uint64_t past;        /* tickets created in rolls before the first */
    uint32_t count;       /* entries of holder; seats <= count; more than seats only if the pool
                             shrank while they were held */
    uint64_t holder[ZK_MOST_SEATS];
    uint32_t next_count;
    struct zk_ticket next[ZK_MOST_NEXT];
};

/* Tickets in order of number: all of them (whole), or those in NEXT. */
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

/* What one transaction will change: the grants, and the state that includes them. */
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
    const char *labels, *note; /* zk_print_who: may be NULL; zk_parse_who: point into its text */
};

/* state.c. Parse a pool's data. 0; -EBADMSG: not a pool; -EPROTONOSUPPORT: another format
   version; -EUCLEAN: damaged. */
int zk_parse_state(const char *text, size_t length, struct zk_state *state);
/* Print it; `text` has ZK_STATE_ROOM bytes. Return the length. */
size_t zk_print_state(const struct zk_state *state, char *text);

/* names.c. Parse a ticket's name. False: it is none. */
bool zk_parse_ticket(uint32_t roll, const char *name, struct zk_ticket *ticket);
/* Print a ticket's name without the sequence number; `name` has ZK_NAME_ROOM bytes. */
void zk_print_ticket(char *name, uint64_t session, uint32_t n);
/* Print the name of a session's node below P/w; `name` has ZK_NAME_ROOM bytes. */
void zk_print_session(char *name, uint64_t session);
/* Parse the data of a granted ticket. False: it is none. */
bool zk_parse_grant(const char *text, size_t length, uint32_t *seat, uint64_t *fence);
size_t zk_print_grant(const struct zk_grant *grant, char *text, size_t room);
/* Print who a session is, cut to fit; `text` has ZK_WHO_ROOM bytes. Return the length. */
size_t zk_print_who(const struct zk_who *who, char *text);
/* Parse the same. False: it is none. Changes `text`, a string: ends its parts and replaces
   control characters, so that each part is safe to print. */
bool zk_parse_who(char *text, struct zk_who *who);
/* Copy the label of a seat, cut to fit; "" if it has none. */
void zk_label(const char *labels, uint32_t seat, char *label, size_t room);
/* Split zk://HOST[:PORT],../PATH into hosts, each with a port, and the path. 0, -EINVAL or
   -ENOMEM; the caller frees both strings in each case. */
int zk_parse_name(const char *name, char **hosts, char **path);

/* plan.c. Sort a line by number and write each ticket's seat. */
void zk_sort_line(struct zk_line *line, const struct zk_state *state);
/* Count the holders in a whole, sorted line. */
uint32_t zk_holders(const struct zk_line *line);
/* Return true if the state names fewer than k holders. */
bool zk_has_free_seat(const struct zk_state *state);
/* Return true if the state names at least k holders and NEXT is not empty. */
bool zk_is_full_and_long(const struct zk_state *state);

/*
 * Plan the next transaction. A whole line must have been listed after the state was read: then a
 * ticket in the state and not in the line is gone, and its seat is empty. Empty seats go to the
 * oldest waiters while fewer than k seats are held. `leaving` is the number of a ticket that gives
 * its seat back, or ZK_NO_TICKET. The fence of a grant is `base` plus its number in the count of
 * grants.
 */
void zk_make_plan(struct zk_plan *plan, const struct zk_state *state, const struct zk_line *line,
                  uint64_t leaving, uint64_t base);

#endif
