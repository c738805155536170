/*
 * A pool, and everybody who is there when a process is killed or stopped in the middle of a call:
 * the host (the process that judges), who may hold seats; guests, who wait in line and go through;
 * the victim; somebody who has died, and whom nobody has reaped; somebody to assign a seat to.
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
    ACT_UNTIL,  /* acquire_until, a time that is past */
    ACT_ASLEEP, /* acquire_until, a time that comes while it sleeps */
    ACT_TRY,
    ACT_RELEASE,
    ACT_RELEASE_THREAD, /* what another thread has acquired */
    ACT_PAIR,           /* acquire and release */
    ACT_RESIZE,
    ACT_REAP,
    ACT_ASSIGN,
    ACT_RELEASE_FOR,
    ACT_CLOSE, /* with a seat that is held */
    ACT_REMOVE
};

enum dead { DEAD_NOBODY, DEAD_HOLDER, DEAD_WAITER };

struct situation {
    const char *call, *name;
    enum act act;
    uint32_t seats;
    uint32_t held;          /* by the host, until the victim sleeps, is dead or is stopped */
    uint32_t ahead, behind; /* who wait: since before the call, and from then on */
    uint32_t resize_to;
    enum dead dead;
    bool sleeps;    /* the victim may sleep in the call */
    bool missing;   /* there is no pool yet */
    bool asked;     /* somebody asked to remove the pool, and died of it, or thinks better of it */
    uint32_t least; /* so many instructions there are at least */
};

/* What the processes tell each other. */
struct board {
    atomic_uint done;     /* the victim's call is over */
    atomic_uint finished; /* and it has sat down, if it got a seat */
    atomic_uint leave;    /* the victim may go */
    atomic_uint ready, dead, entered;
    atomic_int result;
    _Atomic uint64_t ticket; /* the victim's */
    atomic_int sits[SUPPORT_SEATS];
    struct {
        atomic_uint entry; /* who entered first has 1 */
        _Atomic uint64_t ticket;
    } waiter[SCENE_WAITERS];
};
extern struct board *step_board;

struct party {
    const struct situation *s;
    struct usher_pool *pool; /* the host's */
    ino_t file;              /* the pool's, 0: it may be another one later */
    struct tracee t;
    struct child victim, keeper, corpse, waiters[SCENE_WAITERS];
    uint32_t waiting; /* waiters that have come */
    struct usher_seat held[SUPPORT_SEATS];
    uint32_t holds;
    bool served; /* the victim slept, and a seat was given back for it */
    bool before; /* the victim was in line before those behind it came */
};

/* Set the scene; the victim is stopped just before its call. False: ptrace is not permitted. */
bool party_begin(struct party *p, const struct situation *s);
/* The file that has the pool's name now. */
ino_t file_named(struct usher_pool *pool);
/* Those behind come. */
void party_follow(struct party *p);
/* The host gives back what it holds. */
void party_let_go(struct party *p);
/* The host takes all it can get. */
void party_take_all(struct party *p);
/* Nobody sits where this process sat: it is dead. */
void party_clear_seats(pid_t pid);
/* Have those who wait all come and gone? Whoever failed a check has failed this test. */
bool party_all_gone(struct party *p);
/* The victim has got a seat by this, if the result is 0. */
bool act_acquires(enum act act);

#endif
