/*
 * What must be so when a process is dead, or stopped, in the middle of a call: the others go on,
 * those who wait enter in order, no two have one seat, and in the end the pool has exactly its
 * seats and every relation of usher_verify holds.
 */
#ifndef USHER_STEP_JUDGE_H
#define USHER_STEP_JUDGE_H

#include "step_scene.h"

/* Kill the victim, and see. helped: the host reaps; otherwise that is left to whoever looks. */
void judge_death(struct party *p, bool helped);
/* Stop the victim, see, let it continue, and see. */
void judge_stop(struct party *p, bool helped);

#endif
