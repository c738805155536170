/*
 * A process under ptrace: its way through one call, instruction by instruction, and how to bring
 * another process to any point of the same way.
 *
 * A point is a number of machine instructions since the beginning, system calls being one each.
 * Point i is after exactly i of them, so just before instruction i+1; when that is a system call in
 * which it goes to sleep there is one more point, asleep in it. Going there is quick: a debug
 * register of the processor stops it at the instruction it has to come to, at the right one of its
 * visits, and only the last few instructions are stepped. x86-64 only.
 */
#ifndef USHER_STEP_TRACE_H
#define USHER_STEP_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process that calls, and whoever watches it. */
struct tracee {
    pid_t pid;
    atomic_uint *done;             /* the call is over: in shared memory, the process says so */
    void (*asleep)(void *context); /* it sleeps in a system call: wake it. NULL: it never does */
    void *context;
    bool loose; /* it was let go, to sleep */
};

/* One way through a call. */
struct way {
    uint64_t *at;  /* at[i]: the instruction that it comes to after i */
    uint32_t *nth; /* for the how manieth time */
    bool *sleeps;  /* that is a system call, and it sleeps in it */
    uint32_t length, room;
};

/* The calling process: be traced, and stop until the tracer goes on. False: not permitted. */
bool tracee_begin(void);
/* The tracer: wait for that. False: not permitted. */
bool tracee_await(struct tracee *t);

/* It is at the end of the way as far as that is known: step it on, at most so far, and note that.
   Being stepped takes so long that what depends on time goes otherwise: so a little at a time, each
   with another process. False: the call is over. */
bool way_extend(struct way *way, struct tracee *t, uint32_t most);
void way_free(struct way *way);

/* Bring it to a point. False: it did not come there, its way was another; it is somewhere on its
   way, or through. */
bool tracee_go_to(struct tracee *t, const struct way *way, uint32_t point);
/* The same by stepping all instructions. False: the call was over before. */
bool tracee_step_to(struct tracee *t, uint32_t point);
/* The next instruction is a system call that sleeps: go to sleep. False: it does not. */
bool tracee_fall_asleep(struct tracee *t);

/* Stop it where it is, by a SIGSTOP like anybody's, and trace it no more. */
void tracee_stop(struct tracee *t);

/* Is the call over? */
static inline bool tracee_done(const struct tracee *t)
{
    return atomic_load(t->done) != 0;
}

#endif
