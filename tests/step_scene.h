/*
 * A pool and all processes present when a process is killed or stopped in the middle of a call: the
 * host (the judging process), which may hold seats; guests that wait in line and pass through; the
 * victim; a process that is dead and not reaped; a process to assign a seat to.
 */
#ifndef USHER_STEP_SCENE_H
#define USHER_STEP_SCENE_H

#include "pool_support.h"
#include "step_trace.h"

enum { SCENE_ROWS = 16, SCENE_WAITERS = 4 };

enum act {
    ACT_OPEN,
    ACT_ACQUIRE,
    ACT_FIRST,  /* the thread's first acquire */
    ACT_UNTIL,  /* acquire_until, a past time */
    ACT_ASLEEP, /* acquire_until, a time that passes during the sleep */
    ACT_TRY,
    ACT_RELEASE,
    ACT_RELEASE_THREAD, /* a seat that another thread acquired */
    ACT_PAIR,           /* acquire and release */
    ACT_RESIZE,
    ACT_REAP,
    ACT_ASSIGN,
    ACT_RELEASE_FOR,
    ACT_CLOSE, /* with a held seat */
    ACT_REMOVE
};

enum dead { DEAD_NOBODY, DEAD_HOLDER, DEAD_WAITER };

struct situation {
    const char *call, *name;
    enum act act;
    uint32_t seats;
    uint32_t held;          /* seats held by the host until the victim sleeps, is dead or is
                               stopped */
    uint32_t ahead, behind; /* waiters: since before the call; from that moment on */
    uint32_t resize_to;
    enum dead dead;
    bool sleeps;    /* the victim may sleep in the call */
    bool missing;   /* no pool exists yet */
    bool asked;     /* another process began to remove the pool, and died or gave up */
    uint32_t least; /* expected minimum number of instructions */
};

/* Shared by all processes. */
struct board {
    atomic_uint done;     /* the victim's call is over */
    atomic_uint finished; /* and it has recorded its seat, if it got one */
    atomic_uint leave;    /* the victim may end */
    atomic_uint ready, dead, entered;
    atomic_int result;
    _Atomic uint64_t ticket; /* the victim's */
    atomic_int sits[SUPPORT_SEATS];
    struct {
        atomic_uint entry; /* order of entry, from 1 */
        _Atomic uint64_t ticket;
    } waiter[SCENE_WAITERS];
};
extern struct board *step_board;

struct party {
    const struct situation *s;
    struct usher_pool *pool; /* the host's */
    ino_t file;              /* the pool's; 0: it may change */
    struct tracee t;
    struct child victim, keeper, corpse, waiters[SCENE_WAITERS];
    uint32_t waiting; /* waiters that have arrived */
    struct usher_seat held[SUPPORT_SEATS];
    uint32_t holds;
    bool served; /* the victim slept, and a seat was given back for it */
    bool before; /* the victim was in line before the waiters behind it */
};

/* Set the scene and stop the victim just before its call. False: ptrace is not permitted. */
bool party_begin(struct party *p, const struct situation *s);
/* The inode that the pool's name refers to now. */
ino_t file_named(struct usher_pool *pool);
/* Start the waiters behind the victim. */
void party_follow(struct party *p);
/* The host gives back its seats. */
void party_let_go(struct party *p);
/* The host takes all free seats. */
void party_take_all(struct party *p);
/* Clear the seats of a dead process on the board. */
void party_clear_seats(pid_t pid);
/* Return whether all waiters have come and gone. A waiter that failed a check fails the test. */
bool party_all_gone(struct party *p);
/* Return whether this act gives the victim a seat if its result is 0. */
bool act_acquires(enum act act);

#endif
