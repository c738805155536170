/*
 * A crowd: processes with a herd of threads each. Member m is a thread of process m % processes, so
 * a small number of members is spread over all processes.
 */
#ifndef USHER_BENCH_CROWD_H
#define USHER_BENCH_CROWD_H

#include "bench/herd.h"

struct crowd;

/* Start `processes` processes with `threads` threads each. Each process calls prepare first.
   NULL: failed. */
struct crowd *crowd_new(unsigned processes, unsigned threads, int (*prepare)(void));
/* Run the job in the first `members` members. */
void crowd_tell(struct crowd *crowd, unsigned members, herd_job *job);
/* Wait until the job is done. */
void crowd_await(struct crowd *crowd);
/* Wait until all members have been asleep for a while, whatever they are doing. */
void crowd_settle(struct crowd *crowd);
/* The number of times members have gone to sleep, counted by the kernel. */
long crowd_sleeps(struct crowd *crowd);
/* Kill all processes. */
void crowd_end(struct crowd *crowd);

#endif
