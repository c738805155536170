/*
 * A crowd on one pool, shared by crowd_test.c (the director) and crowd_guest.c (the guests). The
 * board is outside the pool; on it the guests themselves record who holds which seat. It is a file,
 * so that it survives exec.
 */
#ifndef USHER_CROWD_H
#define USHER_CROWD_H

#define SUPPORT_PATIENCE_S 240 /* a large crowd on a busy machine is slow */
#include "pool_support.h"

enum {
    CROWD_SEATS = 32,
    CROWD_PROCESSES = 64,
    CROWD_THREADS = 256,
    CROWD_SLOTS = 64,      /* more than the pool ever has */
    CROWD_LIVES = 1 << 18, /* processes of one act */
    CROWD_PIDS = 1 << 22,
    CROWD_TICKETS = 1 << 24,
    CROWD_LISTED = 1024
};

/* One process. Pids repeat, lives do not. */
struct crowd_life {
    _Atomic pid_t pid;
    atomic_uint parent; /* the life that this one ends with; 0: the director */
    atomic_uint doomed; /* set before it is killed or ends with a seat */
    atomic_uint gentle; /* it ends by itself, so no death need be reported */
    atomic_uint ended;  /* the kernel has reported its end */
};

struct crowd_counts {
    atomic_ulong entries, inherited, gave_up, turned_away, full;
    atomic_ulong by_others, heirs, children, execs, reopened, threads_ended, ended, orders;
};

struct crowd_board {
    _Atomic uint64_t owner[CROWD_SLOTS]; /* written by the holder: life 32 | thread 32; 0: none */
    atomic_uint seats;                   /* seat numbers from here on are invalid */
    atomic_uint one;                     /* one seat for the whole act: entries are in order */
    atomic_uint tight;                   /* the guest table may be full */
    atomic_uint stop;
    atomic_uint lives;
    _Atomic uint64_t last_ticket;
    struct crowd_counts counts;
    struct crowd_life life[CROWD_LIVES];
    atomic_uint life_of[CROWD_PIDS];
    _Atomic uint64_t had[CROWD_TICKETS / 64]; /* tickets that have entered; one bit each */
};
extern struct crowd_board *board;

/* Map the board of this descriptor, which stays open across exec. */
void crowd_map(int fd);
extern int crowd_fd;

/* crowd_birth creates a life; crowd_live: this process leads it. */
uint32_t crowd_birth(uint32_t parent);
void crowd_live(uint32_t life);
/* crowd_doom: it will die; crowd_note_end: the kernel has reported its death. */
void crowd_doom(uint32_t life);
void crowd_note_end(pid_t pid);

/* A thread of a guest. */
struct visitor {
    uint32_t thread; /* its number, from 1 */
    uint64_t dice;
    struct usher_pool *own; /* its own handle, or NULL */
};
extern uint32_t crowd_self; /* the life of this process */

/* The board's word for a holder. */
uint64_t crowd_word(uint32_t life, uint32_t thread);
/* Acquire by any of the ways in. `patient`: may wait for long. 0 or -errno. crowd_come_in_order
   also checks that no earlier waiter still waits. */
int crowd_come(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat, bool patient);
int crowd_come_in_order(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat);
void crowd_stay(struct visitor *v);
/* Clear the seat on the board before it is released. */
void crowd_unseat(uint32_t number, uint64_t word);

/* Live as a guest with `threads` threads until the board says stop. */
void crowd_guest(uint32_t life, unsigned threads, uint64_t dice);
/* The entry point after exec: crowd_test exec .. */
int crowd_execed(int argc, char **argv);

#endif
