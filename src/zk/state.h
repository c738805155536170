/*
 * What a pool on ZooKeeper is made of, and what follows from it: pure functions of text and numbers
 * that know nothing of servers. protocol.h says how they are used.
 *
 *   the pool's node     data: "usher 1 SEATS GRANTED REAPED HOLDER.."; HOLDER s is the sequence
 *                       number of the ticket in seat s, or "-"
 *   a ticket, below it  name: SESSION-N-PID.NAMESPACE@HOST-SEQUENCE, from arrival to release
 *                       data: "" while it waits; "SEAT FENCE" once granted
 *
 * Always: a ticket is in at most one seat; a ticket that waits has a higher sequence number than
 * any that was ever granted, since tickets are granted in that order.
 */
#ifndef USHER_ZK_STATE_H
#define USHER_ZK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ZK_MOST_SEATS = 4096, /* so that the data of a pool stays small: 11 bytes for each */
    ZK_STATE_ROOM = 80 + 11 * ZK_MOST_SEATS,
    ZK_NAME_ROOM = 160,
    ZK_PATH_ROOM = 520 + ZK_NAME_ROOM, /* of a ticket's path */
    ZK_MOST_GRANTS = 64                /* in one transaction */
};

#define ZK_NOBODY UINT32_MAX /* no ticket: sequence numbers are at most INT32_MAX */

struct zk_state {
    uint32_t seats;   /* k */
    uint64_t granted; /* seats, since the pool was made; never decreases */
    uint64_t reaped;  /* of these, whose holders ended without giving them back */
    uint32_t count;   /* entries of holder: k, or more if it has shrunk and they are held */
    uint32_t holder[ZK_MOST_SEATS];
};

/* A ticket, from its name. */
struct zk_ticket {
    char name[ZK_NAME_ROOM];
    uint64_t session, pid_namespace;
    uint32_t n, sequence;
    int32_t pid;
    const char *host; /* in name, up to host_length */
    size_t host_length;
    uint32_t seat; /* zk_settle fills it in; ZK_NOBODY: it waits */
};

/* All tickets there are, the oldest first. */
struct zk_line {
    struct zk_ticket *tickets;
    size_t count;
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

/* 0, or -EBADMSG: not a pool, -EPROTONOSUPPORT: of another version, -EUCLEAN: damaged. */
int zk_parse_state(const char *text, size_t length, struct zk_state *state);
/* Into ZK_STATE_ROOM; the length. */
size_t zk_print_state(const struct zk_state *state, char *text);
/* Whether it is the name of a ticket. */
bool zk_parse_ticket(const char *name, struct zk_ticket *ticket);
/* All but the sequence number. */
void zk_print_ticket(char *name, uint64_t session, uint32_t n, int32_t pid, uint64_t pid_namespace,
                     const char *host);
/* The data of a ticket that was granted. Whether it is that. */
bool zk_parse_grant(const char *text, size_t length, uint32_t *seat, uint64_t *fence);
size_t zk_print_grant(const struct zk_grant *grant, char *text, size_t room);
/* zk://HOST[:PORT],../PATH: hosts with their ports, and the path. Freed by the caller. 0, -EINVAL
   or -ENOMEM. */
int zk_parse_name(const char *name, char **hosts, char **path);

/* Sort a line, then say who is in which seat. */
void zk_settle(struct zk_line *line, const struct zk_state *state);
/* How many hold a seat, in a line that is settled. */
uint32_t zk_holders(const struct zk_line *line);

/*
 * Plan what is to be done next, if the line was listed after the state was read: a ticket named in
 * the state and not in the line is gone, and its seat is empty. Empty seats are for the oldest of
 * those who wait, while fewer than k hold one. `leaving` is a sequence number whose seat is to be
 * given on, or ZK_NOBODY. Fences count up from `base`.
 */
void zk_make_plan(struct zk_plan *plan, const struct zk_state *state, const struct zk_line *line,
                  uint32_t leaving, uint64_t base);

#endif
