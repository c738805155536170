/*
 * A process under ptrace: record its path through one call, instruction by instruction, and bring
 * another process to any point of the same path.
 *
 * A point is a number of machine instructions since the start; a system call counts as one. Point i
 * is after exactly i of them, just before instruction i+1. If that instruction is a system call
 * that sleeps, there is one more point: asleep in it. To get to a point fast, a debug register
 * stops the process at the right visit of a nearby instruction, and only the last few instructions
 * are stepped. x86-64 only.
 */
#ifndef USHER_STEP_TRACE_H
#define USHER_STEP_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process that makes the call, and its tracer. */
struct tracee {
    pid_t pid;
    atomic_uint *done;             /* in shared memory; the process sets it when the call is over */
    void (*asleep)(void *context); /* called when it sleeps in a system call, to wake it. NULL:
                                      it never sleeps */
    void *context;
    bool loose; /* running freely, to sleep */
};

/* One path through a call. */
struct way {
    uint64_t *at;  /* at[i]: address of the instruction after i instructions */
    uint32_t *nth; /* number of that visit to it, from 1 */
    bool *sleeps;  /* that instruction is a system call that sleeps */
    uint32_t length, room;
};

/* Called by the process: be traced, and stop until the tracer continues it. False: not
   permitted. */
bool tracee_begin(void);
/* Called by the tracer: wait until the process has stopped. False: not permitted. */
bool tracee_await(struct tracee *t);

/* The process is at the end of the known path: step it further, at most `most` instructions, and
   record them. Stepping is slow, and code that depends on time then takes another path. So
   extend a little at a time, each time with a new process. False: the call is over. */
bool way_extend(struct way *way, struct tracee *t, uint32_t most);
void way_free(struct way *way);

/* Bring it to a point. False: it took another path; it is somewhere on it, or finished. */
bool tracee_go_to(struct tracee *t, const struct way *way, uint32_t point);
/* The same by stepping all instructions. False: the call ended before. */
bool tracee_step_to(struct tracee *t, uint32_t point);
/* The next instruction is a system call that sleeps: let it fall asleep. False: it did not. */
bool tracee_fall_asleep(struct tracee *t);

/* Stop it with a normal SIGSTOP, and end the trace. */
void tracee_stop(struct tracee *t);

/* Return whether the call is over. */
static inline bool tracee_done(const struct tracee *t)
{
    return atomic_load(t->done) != 0;
}

#endif
