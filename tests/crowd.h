/*
 * A crowd on one pool: what crowd_test.c, who directs it, and crowd_guest.c, who is in it, share.
 * The board is kept outside the pool, and says who sits where by their own word. It is a file, so
 * that it is still there after exec.
 */
#ifndef USHER_CROWD_H
#define USHER_CROWD_H

#define SUPPORT_PATIENCE_S 240 /* so many take their time, on a busy machine */
#include "pool_support.h"

enum {
    CROWD_SEATS = 32,
    CROWD_PROCESSES = 64,
    CROWD_THREADS = 256,
    CROWD_SLOTS = 64,      /* more seats than there ever are */
    CROWD_LIVES = 1 << 18, /* processes of one act */
    CROWD_PIDS = 1 << 22,
    CROWD_TICKETS = 1 << 24,
    CROWD_LISTED = 1024
};

/* A process. Numbers come back, lives do not. */
struct crowd_life {
    _Atomic pid_t pid;
    atomic_uint parent; /* its life; it ends with it. 0: the director's */
    atomic_uint doomed; /* set before it is killed, or ends with a seat */
    atomic_uint gentle; /* it ends by itself: nobody need be told that it died */
    atomic_uint buried; /* the kernel's word that it is gone */
};

struct crowd_counts {
    atomic_ulong entries, inherited, gave_up, turned_away, full;
    atomic_ulong by_others, heirs, children, execs, reopened, threads_ended, ended, orders;
};

struct crowd_board {
    _Atomic uint64_t owner[CROWD_SLOTS]; /* by its own word: life 32 | thread 32; 0: nobody */
    atomic_uint seats;                   /* numbers from here on are nobody's */
    atomic_uint one;                     /* one seat all the time: entries are in order */
    atomic_uint tight;                   /* the guest table may be full */
    atomic_uint stop;
    atomic_uint lives;
    _Atomic uint64_t last_ticket;
    struct crowd_counts counts;
    struct crowd_life life[CROWD_LIVES];
    atomic_uint life_of[CROWD_PIDS];
    _Atomic uint64_t had[CROWD_TICKETS / 64]; /* tickets that were entered with */
};
extern struct crowd_board *board;

/* The board of that descriptor, which is to stay open across exec. */
void crowd_map(int fd);
extern int crowd_fd;

/* A new life; crowd_live: this process leads it. */
uint32_t crowd_birth(uint32_t parent);
void crowd_live(uint32_t life);
/* It will die, and is dead by the kernel's word. */
void crowd_doom(uint32_t life);
void crowd_bury(pid_t pid);

/* A thread that comes. */
struct visitor {
    uint32_t thread; /* its number, from 1 */
    uint64_t dice;
    struct usher_pool *own; /* a handle of its own, if it has one */
};
extern uint32_t crowd_self; /* the life that this process leads */

/* Who is in a seat, as the board has it. */
uint64_t crowd_word(uint32_t life, uint32_t thread);
/* Come in, by any way. Patient: it may be for long. 0, or why not; in order: nobody who was before
   is waiting still. */
int crowd_come(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat, bool patient);
int crowd_come_in_order(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat);
void crowd_stay(struct visitor *v);
/* Say that the seat is left, before it is. */
void crowd_unseat(uint32_t number, uint64_t word);

/* Lead the life of a guest with so many threads until the board says stop. */
void crowd_guest(uint32_t life, unsigned threads, uint64_t dice);
/* What an exec leads to: crowd_test exec .. */
int crowd_execed(int argc, char **argv);

#endif
