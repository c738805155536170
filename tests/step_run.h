/* Kill and stop a process at each point of a call, or at some; one table row for each situation. */
#ifndef USHER_STEP_RUN_H
#define USHER_STEP_RUN_H

#include "step_scene.h"

struct tally {
    uint32_t instructions;
    uint32_t killed, stopped, failed;
    uint32_t astray;  /* times it took another path and was killed there */
    uint32_t shorter; /* points not reached: the call ended before */
    double seconds;
};

/* step_most: about this many points for each situation, evenly spaced from a random first one;
   0: use every step_every-th point from a random first one. */
extern uint32_t step_most, step_every;

/* A random number below `limit`. */
uint32_t step_below(uint32_t limit);
/* Record what is being tried, for the failure message. */
void step_doing(const char *call, const char *name, uint32_t seats, const char *how,
                uint32_t point);
/* Print progress, if a terminal reads it. */
void step_progress(const char *call, const char *name, uint32_t at, uint32_t of);

void step_table_begin(void);
void step_table_row(const char *call, const char *name, uint32_t seats, const struct tally *tally,
                    bool stops);

/* Try a situation. False: ptrace is not permitted. */
bool step_try(const struct situation *s, struct tally *tally);

/* Other mechanisms with one permit: kill at each point of take and give back, and see whether
   the permit is lost. False: ptrace is not permitted. `sem`: the tally of sem_t, which certainly
   loses some. */
bool step_peers(struct tally *sem);

extern const struct situation step_situations[];
extern const uint32_t step_situation_count;

#endif
