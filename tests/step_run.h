/* Kill and stop a process at every point of a call, or at some of them; a row of the table each. */
#ifndef USHER_STEP_RUN_H
#define USHER_STEP_RUN_H

#include "step_scene.h"

struct tally {
    uint32_t instructions;
    uint32_t killed, stopped, failed;
    uint32_t astray;  /* times that it went another way, and was killed there */
    uint32_t shorter; /* points that it did not come to at all: the call was over before */
    double seconds;
};

/* About that many points a situation, spread evenly from a random first one; 0: every so manieth,
   from a random first one. */
extern uint32_t step_most, step_every;

/* A random number below a limit. */
uint32_t step_below(uint32_t limit);
/* What is being tried, for whoever reads that it failed. */
void step_doing(const char *call, const char *name, uint32_t seats, const char *how,
                uint32_t point);
/* Is it of any use to tell how far it is? */
void step_progress(const char *call, const char *name, uint32_t at, uint32_t of);

void step_table_begin(void);
void step_table_row(const char *call, const char *name, uint32_t seats, const struct tally *tally,
                    bool stops);

/* Try a situation. False: ptrace is not permitted. */
bool step_try(const struct situation *s, struct tally *tally);

/* Other ways to have one permit, at every point of taking it and giving it back: killed there, the
   permit is lost, or not. false: ptrace is not permitted. lost: of sem_t, whose loss is certain. */
bool step_peers(struct tally *sem);

extern const struct situation step_situations[];
extern const uint32_t step_situation_count;

#endif
