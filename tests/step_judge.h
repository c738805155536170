/*
 * The rules for a process that is dead or stopped in the middle of a call: the others progress,
 * waiters enter in order, no two guests have one seat, and at the end the pool has exactly its
 * seats and usher_verify succeeds.
 */
#ifndef USHER_STEP_JUDGE_H
#define USHER_STEP_JUDGE_H

#include "step_scene.h"

/* Kill the victim and check the rules. helped: the host reaps; otherwise the other guests do. */
void judge_death(struct party *p, bool helped);
/* Stop the victim, check, continue it, and check again. */
void judge_stop(struct party *p, bool helped);

#endif
